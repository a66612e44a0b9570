//! The figures of reports: shares of usage and contributions, utilisation, efficiency, priorities and forecasts; and
//! the division of usage into hours that a store adds up for them.
//!
//! Everything here is computed of what the rules of the bank wrote, for reports, alerts and lists of priorities. No
//! rule of the ledger uses it, and it has no input, output or clock.
#![warn(missing_docs)]
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]
#![deny(
    clippy::float_arithmetic,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]

pub mod contribution;
pub mod forecast;
pub mod natural;
pub mod priority;
pub mod records;
pub mod reserved;
pub mod rollup;
pub mod sizes;
