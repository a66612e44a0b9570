//! `bank` at a terminal, through the real daemon: what an account manager sees, exit codes, hints;
//! `bankd` itself; and the quick start of the README, word by word.

mod accounts;
mod after;
mod bad_input;
mod bad_input_after;
mod case;
mod case_after;
mod case_money;
mod cycle;
mod daemon;
mod explain;
mod gold;
mod hold;
mod import;
mod mapping;
mod money;
mod monitor;
mod open_ends;
mod paged;
mod past;
mod play;
mod proof;
mod rates;
mod readme;
mod sample;
mod statement;
mod watch;
