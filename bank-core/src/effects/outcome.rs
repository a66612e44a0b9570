//! The answers to commands, as the shell words them.

use super::{
    Adjusted, Assigned, Charged, Imported, PeriodClosed, PeriodReopened, Refunded, Reversed,
    Settled, Transferred, Used,
};
use crate::amount::Amount;
use crate::ids::{AccountId, AllocationId, InstanceId, LienId, TxId};
use crate::kind::Record;
use crate::model::{
    Account, Allocation, Closing, Cycle, CycleRun, Figures, Grant, Instance, InstanceKey, Key,
    Lien, Limit, Member, Proposal, Quote,
};
use crate::rate::Rate;
use crate::refusal::Refusal;
use crate::time::Timestamp;

/// The answer to a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A membership was added or changed.
    Member(Member),
    /// An account was added or changed; its figures afterwards.
    Account(Account, Figures),
    /// An allocation was changed; the liens that now outlive it are named.
    Allocation(Allocation, Vec<Outlived>),
    /// A rate was added.
    Rate(Rate),
    /// A key was added or changed.
    Key(Key),
    /// Something is gone: its name, or its number where it has no name.
    Removed(String),
    /// Boundaries that had passed were journalled; no request was needed.
    Swept,
    /// A finished use was taken in.
    Used(Box<Used>),
    /// A chunk of finished uses was taken in.
    Imported(Box<Imported>),
    /// Money came in.
    Deposited(Deposited),
    /// Money went out.
    Withdrawn(Withdrawn),
    /// A price.
    Quoted(Quoted),
    /// The instance is known; nothing is held.
    Created(Created),
    /// The facts of the document are kept with the instance.
    Modified(InstanceId),
    /// A lien holds.
    Reserved(Reserved),
    /// A charge was taken.
    Charged(Charged),
    /// The instance is closed.
    Closed(Closed),
    /// A cycle was added or changed.
    Cycle(Cycle),
    /// A cycle was run.
    CycleRun(CycleRun),
    /// A jump of the clock to this instant was confirmed.
    ClockConfirmed(Timestamp),
    /// A lien has another end, holds again, or gave its money back.
    LienChanged(Box<LienChanged>),
    /// Money went from one account to another.
    Transferred(Transferred),
    /// Amounts went back to the accounts that had paid.
    Refunded(Refunded),
    /// An account was corrected.
    Adjusted(Adjusted),
    /// A transaction has its opposite.
    Reversed(Reversed),
    /// A project pays for what was unbilled.
    Settled(Settled),
    /// So much was raised, cleared, seen, or switched.
    Attention(usize),
    /// A record was added or changed.
    Record(Box<Record>),
    /// An entry of a directory of people was merged into the user of this name.
    Merged(String, Merge),
    /// Finished usage has its project.
    Assigned(Box<Assigned>),
    /// A charge of this instance came again, and is journalled.
    Repeated(InstanceId),
    /// The books of a period are closed.
    PeriodClosed(Box<PeriodClosed>),
    /// The period that was closed last is open again.
    PeriodReopened(PeriodReopened),
    /// A person has a role.
    Granted(Grant),
    /// There is a limit.
    Limited(Limit),
    /// Somebody else has to approve it.
    Proposed(Box<Proposal>),
    /// A proposal was approved and done, or rejected.
    Decided(Box<Proposal>),
}

/// The effect of a merge on a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merge {
    /// They were not known.
    Added,
    /// Something is new of them.
    Changed,
    /// All of it was known.
    Unchanged,
}

/// An open lien on an allocation that ends before the lien (`outlives_allocation`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outlived {
    /// Which.
    pub lien: LienId,
    /// The instance of the lien.
    pub instance: InstanceKey,
}

impl Outlived {
    /// The lien of an instance, if its allocation ends before the lien does.
    pub(crate) fn on(allocation: &Allocation, holder: &Instance) -> Option<Outlived> {
        let end = allocation.window.end?;
        let lien = holder.lien.as_ref().filter(|lien| lien.end > end)?;
        let mut portions = lien.portions.iter();
        let lies_there = portions.any(|portion| portion.allocation == allocation.id);
        lies_there.then(|| Outlived {
            lien: lien.id,
            instance: holder.key.clone(),
        })
    }
}

/// The answer to a deposit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deposited {
    /// The transaction.
    pub tx: TxId,
    /// The deposited amount.
    pub amount: Amount,
    /// The allocation afterwards; of a deposit that was spread, the last.
    pub allocation: Allocation,
    /// Whether it is new.
    pub created: bool,
    /// The account's figures afterwards.
    pub figures: Figures,
    /// The account that was named.
    pub account: AccountId,
    /// Every allocation that got money, in the order of the journal; one, but for a deposit that
    /// went on to accounts below.
    pub parts: Vec<Landed>,
}

/// One part of a deposit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Landed {
    /// The deposited amount.
    pub amount: Amount,
    /// The allocation afterwards.
    pub allocation: Allocation,
    /// Whether it is new.
    pub created: bool,
}

/// The answer to a withdrawal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Withdrawn {
    /// The transaction.
    pub tx: TxId,
    /// The account.
    pub account: AccountId,
    /// The withdrawn amount.
    pub amount: Amount,
    /// Where it came from.
    pub parts: Vec<(AllocationId, Amount)>,
    /// The allocation afterwards, where only one paid.
    pub only: Option<Allocation>,
    /// The account's figures afterwards.
    pub figures: Figures,
}

/// The answer to a quote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quoted {
    /// The price; 0 in mode `track`.
    pub cost: Amount,
    /// The available amount.
    pub available: Amount,
    /// The row, if one was written.
    pub quote: Option<Quote>,
    /// When it was priced: the rates in force at this instant counted.
    pub at: Timestamp,
    /// A multiplier exists whose value is not defined.
    pub undefined_instance: bool,
    /// The account that would pay first; none where nobody may.
    pub account: Option<AccountId>,
    /// No rate found anything to count.
    pub unpriced: bool,
}

/// The answer to a create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Created {
    /// The instance.
    pub instance: InstanceId,
    /// The TID of its quote, if the request needs one.
    pub tid: Option<String>,
}

/// The answer to a reserve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reserved {
    /// The instance.
    pub instance: InstanceId,
    /// The number of this use of the object's id.
    pub number: i64,
    /// The lien; none where the cost is 0, in mode `fast`, and for an absorbed start.
    pub lien: Option<Lien>,
    /// The held amount: 0 in the shadow modes.
    pub held: Amount,
    /// The part that an older lien held already, if this lien was added to it.
    pub added_to: Amount,
    /// The account that was short, where the fallback pays.
    pub fallback_from: Option<AccountId>,
    /// The refusal of strict enforcement.
    pub would_refuse: Option<Refusal>,
    /// Some portions are on allocations that end before the lien does.
    pub outlives_allocation: bool,
    /// The TID is a quote of ours that does not hold for this request.
    pub quote_invalid: bool,
    /// The start came after the end and was absorbed (decisions.md 13).
    pub absorbed: bool,
    /// The accounts of its portions, the first to pay first.
    pub accounts: Vec<AccountId>,
}

impl Reserved {
    /// A reserve that holds nothing.
    pub(crate) fn nothing(instance: InstanceId) -> Reserved {
        Reserved {
            instance,
            number: 0,
            lien: None,
            held: Amount::ZERO,
            added_to: Amount::ZERO,
            fallback_from: None,
            would_refuse: None,
            outlives_allocation: false,
            quote_invalid: false,
            absorbed: false,
            accounts: Vec::new(),
        }
    }
}

/// The answer to a change of a lien.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LienChanged {
    /// The lien afterwards.
    pub lien: Lien,
    /// Its instance.
    pub instance: Instance,
    /// The accounts of its portions.
    pub accounts: Vec<AccountId>,
    /// The released amount.
    pub released: Amount,
    /// It had expired and holds again.
    pub revived: bool,
    /// Some portions are on allocations that end before the lien does.
    pub outlives_allocation: bool,
}

/// The answer to a close.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closed {
    /// The instance; none where nothing was open.
    pub instance: Option<InstanceId>,
    /// The event that closed it.
    pub by: Closing,
    /// The amount that the lien released.
    pub released: Amount,
}
