//! The answers to commands about periods of the books.

use crate::ids::TxId;
use crate::period::{ClosedPeriod, PeriodClose};

/// The answer to a close.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeriodClosed {
    /// The transaction.
    pub tx: TxId,
    /// The period, with the totals by account at its end.
    pub close: PeriodClose,
    /// No close was in force before, so the time before its start is closed with it.
    pub is_first: bool,
}

/// The answer to opening a period again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeriodReopened {
    /// The transaction.
    pub tx: TxId,
    /// The revoked close.
    pub close: ClosedPeriod,
}
