//! `bank` at a terminal, through the real daemon: what an account manager sees, exit codes, hints;
//! `bankd` itself; and the quick start of the README, word by word.

mod daemon;
mod money;
mod rates;
mod readme;
