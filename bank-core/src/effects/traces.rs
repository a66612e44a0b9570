//! What a transaction changed that is no money, and that balances of the past depend on: windows and
//! credit limits of allocations, which accounts there are (decision note 0021), which periods of the
//! books are closed (decision note 0054), what a choice among accounts was asked with and under which
//! settings (decision note 0082); and what it says of attention.

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
    /// The transaction whose close stands no more.
    pub reopened: Option<TxId>,
    /// What was raised, cleared or seen: one at most.
    pub attention: Option<Box<Event>>,
    /// The settings that hold from it on, where they are others than before.
    pub settings: Option<Box<Settings>>,
    /// What a choice of its was asked with, where its entries do not say it.
    pub choice: Option<Box<Choice>>,
}

/// What an allocation lets be done with its money, from a transaction on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Which.
    pub allocation: AllocationId,
    /// When it may be spent.
    pub window: Window,
    /// How far below zero liens and withdrawals may take it.
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
