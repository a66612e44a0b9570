//! Commands about closed periods of the books.

use crate::time::Timestamp;

/// A command about periods of the books (ledger.md 7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Period {
    /// Closes one.
    Close(ClosePeriod),
    /// Opens the one again that was closed last; with a note.
    Reopen(String),
}

impl Period {
    /// The word for it in the journal's `op` column.
    pub fn op(&self) -> &'static str {
        match self {
            Period::Close(_) => "period_close",
            Period::Reopen(_) => "period_reopen",
        }
    }
}

/// Closes the books of a period.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClosePeriod {
    /// Its start: the end of the close before, or unlimited if there is none; none for the full open period.
    pub start: Option<Timestamp>,
    /// Where it ends, exclusive; it has passed.
    pub end: Timestamp,
    /// Kept in the journal.
    pub note: String,
}
