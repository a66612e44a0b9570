//! Changes of a transaction beyond money, on which balances of the past depend: windows and credit limits of
//! allocations; added and removed accounts (decision note 0021); closed periods (decision note 0054); the
//! input and settings of a choice among accounts (decision note 0082); and alerts.

use super::{Choice, DirectoryRow, Effects, Settings};
use crate::amount::Amount;
use crate::attention::Event;
use crate::directory::Directory;
use crate::ids::{AccountId, AllocationId, TxId};
use crate::model::Allocation;
use crate::period::PeriodClose;
use crate::time::Window;

/// All of it; most transactions have none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traces {
    /// Allocations that are new, or have another window or limit.
    pub shapes: Vec<Shape>,
    /// Accounts that came, went or came back.
    pub presences: Vec<Presence>,
    /// The period that it closed.
    pub closed: Option<Box<PeriodClose>>,
    /// The transaction whose close is revoked.
    pub reopened: Option<TxId>,
    /// The raised, cleared or acknowledged alert: one at most.
    pub attention: Option<Box<Event>>,
    /// The settings that hold from it on, where they are others than before.
    pub settings: Option<Box<Settings>>,
    /// The input of a choice in the transaction, if its entries do not contain it.
    pub choice: Option<Box<Choice>>,
}

/// The limits of an allocation from a transaction on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Which.
    pub allocation: AllocationId,
    /// When it may be spent.
    pub window: Window,
    /// The limit below zero for liens and withdrawals.
    pub credit_limit: Amount,
}

impl Shape {
    /// That of an allocation as it is.
    pub fn of(allocation: &Allocation) -> Shape {
        Shape {
            allocation: allocation.id,
            window: allocation.window,
            credit_limit: allocation.credit_limit,
        }
    }
}

/// A change of an allocation's window or limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reshaped {
    /// Before; none where the transaction made the allocation.
    pub before: Option<Shape>,
    /// After.
    pub after: Shape,
}

/// Whether an account is there, from a transaction on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Presence {
    /// Which.
    pub account: AccountId,
    /// Whether it is.
    pub there: bool,
}

impl Effects {
    /// Writes down the accounts that come, go or come back, given those that were there before.
    pub(crate) fn trace_accounts(&mut self, before: &Directory) {
        let was = |id: AccountId| before.account(id).is_some_and(|a| !a.deleted);
        let rows = self.directory.iter();
        let changed = rows.filter_map(|row| match row {
            DirectoryRow::Account(a) if was(a.id) == a.deleted => Some(Presence {
                account: a.id,
                there: !a.deleted,
            }),
            _ => None,
        });
        if let Some(first) = self.transactions.first_mut() {
            first.traces.presences.extend(changed);
        }
    }
}
