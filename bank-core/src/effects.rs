//! What a command did: facts for the shell to write, and the answer.

use crate::amount::Amount;
use crate::decimal::Decimal;
use crate::ids::{
    AccountId, AllocationId, EntryId, InstanceId, LienId, Next, ProjectId, TxId, UsageId, UserId,
};
use crate::kind::Record;
use crate::model::{
    Account, Allocation, Cycle, Grant, Instance, Key, Lien, Limit, LimitOf, Member, Proposal, Quote,
};
use crate::partner;
use crate::rate::Rate;
use crate::reservation::ReservationTime;
use crate::terms::Span;
use crate::time::{Seconds, Timestamp};

mod assigned;
mod charge;
mod choice;
mod correction;
mod outcome;
mod period;
mod traces;
mod used;

pub use assigned::{Assigned, AssignedUse, ReturnedUse};
pub use charge::Charged;
pub use choice::{Choice, Settings};
pub use correction::{Adjusted, Refunded, Reversed, Settled, Transferred};
pub use outcome::{
    Closed, Created, Deposited, Landed, LienChanged, Merge, Outcome, Outlived, Quoted, Reserved,
    Withdrawn,
};
pub use period::{PeriodClosed, PeriodReopened};
pub use traces::{Presence, Reshaped, Shape, Traces};
pub use used::{
    Became, Fate, Imported, KnownUse, OtherUse, PricedFact, RefusedReserve, Shortage, UseRow, Used,
};

/// Everything a command changes, in the order in which it is written.
#[derive(Clone, Debug)]
pub struct Effects {
    /// Journal transactions, in order.
    pub transactions: Vec<Transaction>,
    /// Allocations as they are after the last entry about them.
    pub allocations: Vec<Allocation>,
    /// Those of them whose window, phase or credit limit may have changed too, not their money only.
    pub reshaped: Vec<AllocationId>,
    /// Instances as they are afterwards.
    pub instances: Vec<InstanceChange>,
    /// Liens as they are afterwards; ended ones first.
    pub liens: Vec<Lien>,
    /// New usage rows.
    pub usages: Vec<UsageRow>,
    /// Quotes as they are afterwards.
    pub quotes: Vec<Quote>,
    /// Reference data that changed.
    pub directory: Vec<DirectoryRow>,
    /// Accounts that were removed, each with the transaction that did it.
    pub removals: Vec<(AccountId, TxId)>,
    /// What the record writers hear of it.
    pub records: Vec<RecordEvent>,
    /// Liens whose end, or whose portions, are other than before: rewritten as a whole.
    pub relaid: Vec<Lien>,
    /// The billed windows of instances, as they are afterwards.
    pub windows: Vec<(InstanceId, Vec<Span>)>,
    /// New rows of time of reservations.
    pub times: Vec<ReservationTime>,
    /// Finished uses that were taken in; one of the same identity is replaced.
    pub uses: Vec<UseRow>,
    /// Finished uses that got their project after all.
    pub assigned: Vec<AssignedUse>,
    /// The finished use of which an undo changed the assignment.
    pub returned: Option<ReturnedUse>,
    /// The instance whose finished use a person gave to its owner.
    pub given: Option<InstanceId>,
    /// Proposals as they are afterwards.
    pub proposals: Vec<Proposal>,
    /// What the caller moved, for the limit of a day.
    pub moved: Option<Moved>,
    /// Accounts that were short where the bank's own fallback stepped in.
    pub shortages: Vec<Shortage>,
    /// Messages to and from partners.
    pub partners: partner::Rows,
    /// The numbers that the next command's rows get.
    pub next: Next,
    /// The answer.
    pub outcome: Outcome,
}

/// An instance after a command.
#[derive(Clone, Debug)]
pub struct InstanceChange {
    /// The instance; its lien is written from [`Effects::liens`].
    pub instance: Instance,
    /// Whether what the scheduler said changed too.
    pub facts_changed: bool,
    /// Whether more than its counts changed: its [`crate::model::Standing`].
    pub standing_changed: bool,
}

/// A row of the reference data.
#[derive(Clone, Debug)]
pub enum DirectoryRow {
    /// A membership.
    Member(Member),
    /// A membership that is gone.
    MemberGone(ProjectId, UserId),
    /// An account with its lists.
    Account(Account),
    /// A rate.
    Rate(Rate),
    /// A key's public half.
    Key(Key),
    /// A cycle.
    Cycle(Cycle),
    /// A record of a declared kind.
    Record(Record),
    /// Whether nothing of a project is watched for attention.
    Quiet(ProjectId, bool),
    /// A role that a person was given, or that was taken back.
    Grant(Grant),
    /// A limit.
    Limit(Limit),
    /// A limit that is gone.
    LimitGone(LimitOf),
}

/// What somebody moved in one command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// On which UTC day of the ledger clock, counted from 1970.
    pub day: i64,
    /// The person or program, with any key, token or socket.
    pub human: String,
    /// The key, the token or the person.
    pub actor: String,
    /// How much; above zero.
    pub amount: Amount,
}

/// A group of entries with one effective time (ledger.md 7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// Its number.
    pub id: TxId,
    /// What was done: a command's word, or `boundary`.
    pub op: &'static str,
    /// When it counts.
    pub at_effective: Timestamp,
    /// The instance it is about.
    pub instance: Option<InstanceId>,
    /// The transaction it corrects.
    pub corrects: Option<TxId>,
    /// The transaction whose opposite it is.
    pub reverses: Option<TxId>,
    /// Why, or what was special: `lien_missing`, `fallback_from=chemistry`, a note.
    pub reason: String,
    /// Its entries; none for changes of reference data.
    pub entries: Vec<Entry>,
    /// What it changed that is no money.
    pub traces: Traces,
}

/// The kinds of journal entries that this version writes (ledger.md 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// Money into an allocation.
    Deposit,
    /// Money out of an allocation.
    Withdraw,
    /// Held for an instance.
    Lien,
    /// Given back because a later lien took its place.
    LienReplace,
    /// Given back at the close.
    LienRelease,
    /// Given back because its end passed.
    LienExpire,
    /// Billed.
    Charge,
    /// The part of a charge that nothing covered.
    ChargeDebt,
    /// Billed in the shadow totals.
    ChargeNotional,
    /// Billed after the close.
    LateCharge,
    /// A window began.
    Activate,
    /// A window ended.
    Expire,
    /// An allocation's window or limit changed; or what was said of an instance, on none.
    Modify,
    /// A quote was bound to an instance.
    QuoteUse,
    /// What strict enforcement would have refused.
    WouldRefuse,
    /// Carried over from one period of a cycle into the next.
    CycleReset,
    /// The machine's clock stepped back.
    ClockBack,
    /// Reported beyond what can have been used (nami.md 1.4).
    Disputed,
    /// The part of a charge that the fallback account covered.
    ChargeFallback,
    /// Out of an allocation, into one of another account.
    TransferOut,
    /// Into an allocation, out of one of another account.
    TransferIn,
    /// Given back to what paid a charge.
    Refund,
    /// Put right by a person, with a reason.
    Adjust,
    /// Gone with its allocation.
    Delete,
    /// The opposite of an entry.
    Reverse,
    /// A threshold was reached, or is so no more: it moves nothing (ux.md 4).
    Attention,
}

/// Every kind with its word.
pub const ENTRY_KINDS: [(EntryKind, &str); 26] = [
    (EntryKind::Deposit, "deposit"),
    (EntryKind::Withdraw, "withdraw"),
    (EntryKind::Lien, "lien"),
    (EntryKind::LienReplace, "lien_replace"),
    (EntryKind::LienRelease, "lien_release"),
    (EntryKind::LienExpire, "lien_expire"),
    (EntryKind::Charge, "charge"),
    (EntryKind::ChargeDebt, "charge_debt"),
    (EntryKind::ChargeNotional, "charge_notional"),
    (EntryKind::LateCharge, "late_charge"),
    (EntryKind::Activate, "activate"),
    (EntryKind::Expire, "expire"),
    (EntryKind::Modify, "modify"),
    (EntryKind::QuoteUse, "quote_use"),
    (EntryKind::WouldRefuse, "would_refuse"),
    (EntryKind::CycleReset, "cycle_reset"),
    (EntryKind::ClockBack, "clock_back"),
    (EntryKind::Disputed, "disputed"),
    (EntryKind::ChargeFallback, "charge_fallback"),
    (EntryKind::TransferOut, "transfer_out"),
    (EntryKind::TransferIn, "transfer_in"),
    (EntryKind::Refund, "refund"),
    (EntryKind::Adjust, "adjust"),
    (EntryKind::Delete, "delete"),
    (EntryKind::Reverse, "reverse"),
    (EntryKind::Attention, "attention"),
];

crate::words!(EntryKind, ENTRY_KINDS, "modify");

impl EntryKind {
    /// Whether an entry of this kind that moves so much counts as a deposit: what a cycle carries
    /// over does, on the allocation that gets it (decision note 0019).
    pub fn deposits(self, amount: i64) -> bool {
        self == EntryKind::Deposit || (self == EntryKind::CycleReset && amount > 0)
    }
}

/// What an entry changes. All zero but for what is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delta {
    /// The allocation's amount.
    pub amount: i64,
    /// What liens hold on it.
    pub held: i64,
    /// The account's active money.
    pub active: i64,
    /// The shadow total.
    pub shadow: i64,
    /// What shadow liens hold.
    pub shadow_held: i64,
}

impl Delta {
    /// A change of what liens hold, in real money or in shadow.
    pub(crate) fn of_lien(held: i64, shadow: bool) -> Delta {
        let (held, shadow_held) = if shadow { (0, held) } else { (held, 0) };
        Delta {
            held,
            shadow_held,
            ..Delta::default()
        }
    }
}

/// One line of the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its number.
    pub id: EntryId,
    /// The previous entry of the same allocation.
    pub prev: Option<EntryId>,
    /// What happened.
    pub kind: EntryKind,
    /// On which account.
    pub account: Option<AccountId>,
    /// On which allocation.
    pub allocation: Option<AllocationId>,
    /// For which lien.
    pub lien: Option<LienId>,
    /// For which usage.
    pub usage: Option<UsageId>,
    /// The charge that a refund gives back, the entry that a reversal is the opposite of.
    pub takes_back: Option<EntryId>,
    /// What it changes.
    pub delta: Delta,
    /// The allocation's amount afterwards.
    pub amount_after: Amount,
    /// What is held on it afterwards.
    pub held_after: Amount,
    /// The project as named.
    pub project: String,
    /// The user as named.
    pub user: String,
    /// The machine as named.
    pub machine: String,
}

impl Entry {
    /// Whether it brings money into an allocation, or takes money out, beside all usage.
    pub fn is_beside_usage(&self) -> bool {
        self.usage.is_none() && self.delta.amount != 0
    }
}

/// How a charge ended (usage-records.md 6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Billing {
    /// The project paid.
    Billed,
    /// The suspense account carries it (decisions.md 14).
    Unbilled,
    /// Only the shadow totals moved.
    Shadow,
    /// No use: money went back to who paid.
    Refund,
}

/// Every one with its word.
const BILLINGS: [(Billing, &str); 4] = [
    (Billing::Billed, "billed"),
    (Billing::Unbilled, "unbilled"),
    (Billing::Shadow, "shadow"),
    (Billing::Refund, "refund"),
];

crate::words!(Billing, BILLINGS, "billed");

/// One charge as usage: what was used and what it came to; or what went back, without use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageRow {
    /// Its number: the record id of an adjustment.
    pub id: UsageId,
    /// The previous usage row of the same instance.
    pub prev: Option<UsageId>,
    /// Whose.
    pub instance: InstanceId,
    /// The transaction that billed it.
    pub tx: TxId,
    /// The end of use.
    pub at: Timestamp,
    /// Seconds charged.
    pub charged: Seconds,
    /// Processors.
    pub processors: Decimal,
    /// What was billed; the shadow price in the shadow modes.
    pub amount: Amount,
    /// How it ended.
    pub billing: Billing,
    /// It came after the close.
    pub late: bool,
    /// What was priced beside the processors, as [`crate::usage::text`] writes it: with it and the
    /// versions of the rates the arithmetic of the charge can be shown again.
    pub facts: String,
    /// A bound quote: the rates of this instant counted.
    pub rates_at: Option<Timestamp>,
}

/// Something that FILE or GGF writes about (usage-records.md 1.8, 4.5).
#[derive(Clone, Debug)]
pub enum RecordEvent {
    /// One charge of an instance, as the instance is after it.
    Charged {
        /// The instance.
        instance: Box<Instance>,
        /// The charge.
        usage: UsageRow,
        /// What its record says it cost: 0 in mode `track`.
        amount: Amount,
        /// When the record was made.
        created: Timestamp,
    },
    /// Money of a charge went back, or a charge was taken back after its record was written.
    Adjusted {
        /// The instance.
        instance: Box<Instance>,
        /// What changed: its amount is what its record says.
        usage: UsageRow,
        /// When the record was made.
        created: Timestamp,
    },
    /// An instance that was charged has closed.
    Closed {
        /// The instance.
        instance: Box<Instance>,
        /// What its record says it cost.
        amount: Amount,
        /// When the record was made.
        created: Timestamp,
    },
}
