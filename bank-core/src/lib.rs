//! The rules of the allocation bank.
//!
//! A command goes in, facts come out. [`need::need`] lists the rows that a command must see, and the shell
//! loads them into a [`view::View`]. [`rules::decide`] answers with [`effects::Effects`] or a
//! [`refusal::Refusal`], and the shell writes the effects. Nothing here reads a file, a clock or a database,
//! and the same input gives the same output.
//!
//! Start reading at [`ledger::execute`], then [`rules`], then [`select`].
#![warn(missing_docs)]
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]
#![deny(
    clippy::float_arithmetic,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]

pub use bank_core_values::{
    amount, calendar, clock, decimal, domain, exact, host, ids, mapping, months, period, phrases,
    rate, reconcile, refusal, reservation, time, usage,
};

pub mod access;
pub mod attention;
pub mod attribute;
pub mod book;
pub mod command;
pub mod directory;
pub mod effects;
pub mod history;
pub mod invariant;
pub mod kind;
pub mod ledger;
pub mod model;
pub mod need;
pub mod partner;
pub mod policy;
pub mod postings;
pub mod price;
pub mod role;
pub mod rules;
pub mod select;
pub mod terms;
pub mod view;
mod words;
