//! The slice of the ledger that one command sees.

use crate::amount::Amount;
use crate::attention::Open;
use crate::directory::Directory;
use crate::effects::{KnownUse, OtherUse, UsageRow};
use crate::history::{Paid, PastTx, Placed};
use crate::ids::{AccountId, AllocationId, InstanceId, Next, ProjectId};
use crate::model::{Allocation, Cycle, Instance, Lien, Proposal, Quote};
use crate::period::{ClosedPeriod, PeriodTotal};
use crate::reservation::ReservationTime;
use crate::terms::Span;
use crate::time::Timestamp;
use std::collections::BTreeSet;

/// The rows that [`crate::need::need`] lists, as they are before the command.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// The uses of the object's id, newest first, at most [`crate::need::INSTANCES_MAX`].
    pub instances: Vec<Instance>,
    /// The allocations of the requested accounts, and those of the newest liens.
    pub allocations: Vec<Allocation>,
    /// The quote of the TID.
    pub quote: Option<Quote>,
    /// Open liens on the allocations asked about.
    pub liens: Vec<Lien>,
    /// The number of open instances of the requested project, user or machine.
    pub open_instances: i64,
    /// Cycles with a boundary that is due.
    pub cycles: Vec<Cycle>,
    /// The requested transaction, the one that it reverses, and so on.
    pub past: Vec<PastTx>,
    /// The account that the requested transaction removed.
    pub removed: Option<AccountId>,
    /// The charges of the one instance in view, and their later changes, in order.
    pub history: Vec<Placed>,
    /// Its usage rows, in order.
    pub usages: Vec<UsageRow>,
    /// Instances with open liens on allocations that are removed or restored.
    pub holders: Vec<Instance>,
    /// The time of the newest quote, if requested.
    pub newest_quote: Option<Timestamp>,
    /// The numbers that new rows get.
    pub next: Next,
    /// The billed windows of the instances, in order.
    pub windows: Vec<(InstanceId, Vec<Span>)>,
    /// The time of the requested reservation and of its jobs, and of the instances, if requested; each row once.
    pub times: Vec<ReservationTime>,
    /// The time of the last refused start of the object, if requested.
    pub refused: Option<Timestamp>,
    /// The amounts that allocations have paid for the newest instances.
    pub paid: Vec<Paid>,
    /// Amounts that came into allocations without a start after the requested instant; allocations without
    /// such an amount are left out.
    pub came_after: Vec<(AllocationId, Amount)>,
    /// The finished use of the requested identity; its instance is among those above.
    pub known: Option<KnownUse>,
    /// The finished uses of the object, from any source.
    pub others: Vec<OtherUse>,
    /// The stored data for each report of a chunk, in their order.
    pub already: Vec<Already>,
    /// Of the machines of a chunk that no source has claimed, those on which something was charged.
    pub charged_machines: BTreeSet<String>,
    /// Something was charged on the machine asked about.
    pub machine_charged: bool,
    /// The period that was closed last.
    pub closed: Option<ClosedPeriod>,
    /// The totals of accounts at the requested instant.
    pub totals: Vec<PeriodTotal>,
    /// The raised alerts of the requested topics.
    pub attention: Vec<Open>,
    /// The requested proposal.
    pub proposal: Option<Proposal>,
    /// Open requests of the caller.
    pub open_requests: i64,
    /// The number of the last message of the requested partner; 0 before the first.
    pub last_of_partner: i64,
    /// Whether there is a message to or from the requested partner, or an open use of it.
    pub has_messages: bool,
    /// Whether the requested transaction, or the one that it is an opposite of, was delivered by a partner.
    pub is_delivered: bool,
    /// The sum of the messages that charged the use of the requested transaction; none for a use of this bank.
    pub delivered: Option<i64>,
    /// The amounts that the caller moved today, if requested.
    pub moved: MovedBefore,
    /// The amounts that the proposer of the command moved today, likewise.
    pub moved_by_proposer: MovedBefore,
}

/// The amounts that a caller has moved on a day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MovedBefore {
    /// All keys, tokens and sockets of the person or program together.
    pub by_human: i128,
    /// This key, token or person alone.
    pub by_actor: i128,
}

/// The stored data for a report of a chunk.
#[derive(Clone, Debug, Default)]
pub struct Already {
    /// The finished use of its identity.
    pub known: Option<KnownUse>,
    /// There is an instance of its object.
    pub has_instance: bool,
    /// The finished uses of its object that other sources reported.
    pub others: Vec<OtherUse>,
}

impl View {
    /// The use whose history is requested: the one that is named, else the stored one of an identity, else the only one.
    pub fn requested_instance(&self, named: Option<InstanceId>) -> Option<&Instance> {
        let known = || self.known.as_ref().and_then(|known| known.instance);
        match (named.or_else(known), self.instances.as_slice()) {
            (Some(id), all) => all.iter().find(|i| i.id == id),
            (None, [only]) => Some(only),
            (None, _) => None,
        }
    }

    /// An allocation by number.
    pub fn allocation(&self, id: AllocationId) -> Option<&Allocation> {
        self.allocations.iter().find(|a| a.id == id)
    }

    /// The allocations of an account.
    pub fn of_account(&self, account: AccountId) -> impl Iterator<Item = &Allocation> {
        self.allocations
            .iter()
            .filter(move |a| a.account == account)
    }
}

/// The input of a rule besides the rows.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// Reference data.
    pub directory: &'a Directory,
    /// The ledger clock: never before the last recorded transaction (decisions.md 9).
    pub now: Timestamp,
    /// The scope of the caller.
    pub scope: &'a crate::command::Scope,
}

impl Context<'_> {
    /// Whether a project is in the caller's scope: the scope names it or one above it.
    pub(crate) fn may_touch(&self, project: Option<ProjectId>, name: &str) -> bool {
        self.scope.has_project(self.directory, project, name)
    }
}
