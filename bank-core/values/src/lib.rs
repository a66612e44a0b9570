//! The values of the bank: amounts, decimals and exact fractions, times and months,
//! rates and their hours of the week, the ledger clock, hosts, numbers and names of objects, mappings of names, cycles of
//! deposits, closed periods, windows, the time in reservations, values of fields, the resources of a use, the stored form of answers, refusals, and the comparison of two records of one use.
//!
//! The rules compute with them. They do not depend on accounts or jobs, and have no input, output or clock.
//! `bank-core` re-exports every module, so that all other crates use them from there.
#![warn(missing_docs)]
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]
#![deny(
    clippy::float_arithmetic,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]

pub mod amount;
pub mod calendar;
pub mod clock;
pub mod cycle;
pub mod decimal;
pub mod domain;
pub mod exact;
pub mod host;
pub mod ids;
pub mod mapping;
pub mod months;
pub mod period;
pub mod phrases;
pub mod rate;
pub mod reconcile;
pub mod refusal;
pub mod reservation;
pub mod span;
pub mod time;
pub mod usage;
pub mod value;
