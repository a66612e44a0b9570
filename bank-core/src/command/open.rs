//! The opening of this bank in place of another (decision 0170).

use crate::amount::Amount;
use crate::time::{Timestamp, Window};

/// Opens this bank in place of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Open {
    /// Journals that the other bank closes and this one opens: a transaction without entries.
    Bank {
        /// The name of the other bank.
        source: String,
        /// When; not later than now.
        at: Timestamp,
    },
    /// Takes over an allocation with its money.
    Allocation(OpenAllocation),
}

/// An allocation as the other bank leaves it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenAllocation {
    /// An account, else a project with one account.
    pub account: String,
    /// Its window, which may be over.
    pub window: Window,
    /// The sum of its deposits; zero or above.
    pub deposited: Amount,
    /// The rest of them; below zero for a debt.
    pub amount: Amount,
    /// How far below zero liens and withdrawals may take it.
    pub credit_limit: Amount,
    /// When it counts; not later than now.
    pub at: Timestamp,
    /// Kept in the journal.
    pub note: String,
}
