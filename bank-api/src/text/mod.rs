//! Texts of amounts, durations, times and names, exact in both directions.
//!
//! Amounts are minor units (`i64`) with the bank's precision (0 to 6 decimals), times are µs since 1970
//! UTC. This module uses no floating point and no clock: callers pass the present time.

mod amount;
mod counted;
mod duration;
mod formula;
mod library;
mod percent;
mod suggest;
mod time;

pub use amount::{
    AmountError, MAX_PRECISION, format_amount, format_grouped, format_scaled, format_trimmed,
    parse_amount,
};
pub use counted::{counted, noun_of};
pub use duration::{format_clock, parse_duration};
pub use formula::is_formula;
pub use library::own_words;
pub use percent::percent_encode;
pub use suggest::suggest;
pub use time::{
    Moment, first_of_day, format_rfc3339, format_seconds, parse_event_time, parse_rfc3339,
    parse_time,
};
