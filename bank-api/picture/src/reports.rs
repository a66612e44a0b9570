//! What answers of the API are as charts: usage, contributions and utilisation, and money over a time. The command
//! line and the pages of the daemon draw with the same functions. Nothing here asks for anything.

pub mod contribution;
pub mod money;
pub mod usage;

use bank_api::text::parse_rfc3339;

use super::data::Span;

/// The period between two times of the API.
fn span(from: &str, to: &str) -> Option<Span> {
    let (from, to) = (parse_rfc3339(from)?, parse_rfc3339(to)?);
    Some(Span { from, to })
}
