//! What is asked about periods of the books.

use crate::time::Timestamp;

/// Closes the books of a period (ledger.md 7).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClosePeriod {
    /// Where it begins: the end of the close before, or anything where there is none; none for
    /// whatever is open.
    pub start: Option<Timestamp>,
    /// Where it ends, exclusive; it has passed.
    pub end: Timestamp,
    /// Kept in the journal.
    pub note: String,
}
