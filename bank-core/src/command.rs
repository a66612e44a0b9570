//! Everything that can be asked of the ledger.

use crate::amount::Amount;
use crate::ids::{AllocationId, LienId, QuoteId, RateId};
use crate::model::{Closing, Facts, InstanceKey, Key, ObjectType};
use crate::partner;
use crate::price::Named;
use crate::terms::Terms;
use crate::time::{Seconds, Timestamp, Window};
use crate::usage::Usage;

mod access;
mod assign;
mod attention;
mod check;
mod correction;
mod import;
mod note;
mod object;
mod op;
mod open;
mod period;
mod record;
mod registry;
mod scope;
mod usage;

pub use access::{
    Access, Approve, GrantRole, Propose, Reject, RevokeRole, RotateKey, SetLimit, Start,
};
pub use assign::Assign;
pub use attention::{Ack, Attention, Switch};
pub(crate) use check::check_duration;
pub use correction::{Adjust, After, Refund, RemoveAllocation, Reverse, Settle, Transfer};
pub use import::{Chunk, Reports};
pub use note::NOTE_MAX;
pub use object::Object;
pub(crate) use object::of_stored;
pub use op::OPS;
pub use open::{Open, OpenAllocation};
pub use period::{ClosePeriod, Period};
pub use record::{RecordAction, RecordChange};
pub use registry::{AddCycle, MergeUser, SetAccount, SetCycle, SetKey, SetMember, SetRate};

pub use scope::Scope;
pub use usage::{AsNamed, HISTORY, Identity, NO_CORES, SAMPLED, UsageReport};

/// A command. What it does not name stays as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Merges what a directory of people says of a user.
    MergeUser(Box<MergeUser>),
    /// Adds a member to a project, or switches one on or off.
    SetMember(SetMember),
    /// Takes a member away from a project.
    RemoveMember(String, String),
    /// Adds an account.
    AddAccount(SetAccount),
    /// Changes an account.
    SetAccount(SetAccount),
    /// Removes an account without money and without liens.
    RemoveAccount(String),
    /// Changes an allocation's window, credit limit or description.
    SetAllocation(SetAllocation),
    /// Puts money into an account.
    Deposit(Deposit),
    /// Takes money out of an account.
    Withdraw(Withdraw),
    /// Opens this bank in place of another, or an allocation of that bank.
    Open(Open),
    /// Asks for a price.
    Quote(QuoteRequest),
    /// Makes or finds an instance; holds nothing.
    Create(Create),
    /// Keeps what a document says of an instance; never refused for money or membership.
    Modify(Request),
    /// Places or replaces an instance's lien.
    Reserve(Reserve),
    /// Bills an instance.
    Charge(Charge),
    /// Takes in a finished use, as the machine's policy charges it.
    Usage(Box<UsageReport>),
    /// Takes in finished uses of one source that move no money, in one transaction.
    Import(Box<Chunk>),
    /// Closes an instance and releases its lien.
    Close(Close),
    /// Adds a rate; one about the same subject ends.
    SetRate(SetRate),
    /// Ends a rate.
    RemoveRate(RateId),
    /// Adds a key.
    AddKey(Key),
    /// Changes a key.
    SetKey(SetKey),
    /// Removes a key.
    RemoveKey(String),
    /// Adds a cycle.
    AddCycle(AddCycle),
    /// Changes a cycle.
    SetCycle(SetCycle),
    /// Removes a cycle.
    RemoveCycle(String),
    /// Runs the boundary of a cycle that is due, by name; with `true` whichever is the next, to
    /// show what would happen: such a command must not be written.
    RunCycle(String, bool),
    /// Confirms a jump of the clock to what it shows, with a note.
    ConfirmClock(Timestamp, String),
    /// Moves a lien's end; an expired one holds again.
    ExtendLien(ExtendLien),
    /// Gives back what a lien holds.
    ReleaseLien(LienId),
    /// Moves, gives back, puts right or undoes what was done before.
    After(After),
    /// Raised alerts, or does so no more.
    Attention(Attention),
    /// Ends a quote; what is bound to it keeps its price.
    RemoveQuote(QuoteId),
    /// Journals that a charge came again.
    Repeat(Repeat),
    /// Gives finished usage that no project could be found for to a project.
    Assign(Box<Assign>),
    /// Closes the books of a period, or opens the last one again.
    Period(Period),
    /// Adds, changes or removes a record of reference data.
    Record(Box<RecordChange>),
    /// Says who may do what.
    Access(Access),
}

impl Command {
    /// The word for it in the journal's `op` column.
    pub fn op(&self) -> &'static str {
        match self {
            Command::MergeUser(_) => "user_merge",
            Command::SetMember(_) => "member_set",
            Command::RemoveMember(..) => "member_rm",
            Command::AddAccount(_) => "account_add",
            Command::SetAccount(_) => "account_set",
            Command::RemoveAccount(_) => "account_rm",
            Command::SetAllocation(_) => "allocation_set",
            Command::Deposit(_) => "deposit",
            Command::Withdraw(_) => "withdraw",
            Command::Open(_) => "opening",
            Command::Quote(_) => "quote",
            Command::Create(_) => "create",
            Command::Modify(_) => "modify",
            Command::Reserve(_) => "reserve",
            Command::Charge(_) => "charge",
            Command::Usage(_) => "usage",
            Command::Import(_) => "import",
            Command::Close(_) => "delete",
            Command::SetRate(_) => "rate_set",
            Command::RemoveRate(_) => "rate_rm",
            Command::AddKey(_) => "key_add",
            Command::SetKey(_) => "key_set",
            Command::RemoveKey(_) => "key_rm",
            Command::AddCycle(_) => "cycle_add",
            Command::SetCycle(_) => "cycle_set",
            Command::RemoveCycle(_) => "cycle_rm",
            Command::RunCycle(..) => "cycle_run",
            Command::ConfirmClock(..) => "clock_confirm",
            Command::ExtendLien(_) => "lien_extend",
            Command::ReleaseLien(_) => "lien_rm",
            Command::After(after) => after.op(),
            Command::Attention(attention) => attention.op(),
            Command::RemoveQuote(_) => "quote_rm",
            Command::Repeat(_) => "repeat",
            Command::Assign(_) => "adjust",
            Command::Period(period) => period.op(),
            Command::Record(change) => change.op,
            Command::Access(access) => access.op(),
        }
    }

    /// Whether its answer is kept for ever rather than seven days (decisions.md 22).
    pub fn is_charge(&self) -> bool {
        matches!(self, Command::Charge(_))
    }
}

/// Changes to an allocation. Its amount and its account cannot be set (ledger.md 2.10).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAllocation {
    /// Its number.
    pub id: AllocationId,
    /// A new start, or unbounded.
    pub start: Option<Option<Timestamp>>,
    /// A new end, or unbounded.
    pub end: Option<Option<Timestamp>>,
    /// How far below zero liens and withdrawals may take it.
    pub credit_limit: Option<Amount>,
}

/// Money into an account (ledger.md 2.1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deposit {
    /// An account, else a project with one account (decisions.md 16).
    pub name: String,
    /// Zero or above.
    pub amount: Amount,
    /// Top up this one.
    pub allocation: Option<AllocationId>,
    /// The window; unbounded by default.
    pub window: Window,
    /// The credit limit of the allocation; 0 by default.
    pub credit_limit: Option<Amount>,
    /// Make a new allocation even if one with the same window and limit is there.
    pub always_new: bool,
    /// Accept a window that is over.
    pub allow_past: bool,
    /// Kept in the journal.
    pub note: String,
    /// All of it to this account, nothing to those below it.
    pub no_tree: bool,
    /// When it counts, not later than now; now by default.
    pub effective: Option<Timestamp>,
}

impl Deposit {
    /// Whether accounts below get their shares: where neither an allocation nor a credit limit is
    /// asked for (ledger.md 2.1).
    pub fn is_spread(&self) -> bool {
        self.allocation.is_none() && self.credit_limit.is_none() && !self.no_tree
    }
}

/// Money out of an account (ledger.md 2.2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Withdraw {
    /// An account, else a project with one account.
    pub name: String,
    /// Above zero.
    pub amount: Amount,
    /// From this one only, which may be inactive.
    pub allocation: Option<AllocationId>,
    /// Do not go below zero, whatever the credit limit.
    pub no_credit: bool,
    /// Kept in the journal.
    pub note: String,
}

/// Whom a request is for, by name, as the scheduler or a person says it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Whose {
    /// A project, or an account where no project has that name (decisions.md 16).
    pub project: Option<String>,
    /// The user.
    pub user: Option<String>,
    /// The machine; empty where nobody named one.
    pub machine: String,
    /// It is for a reservation: where neither project nor user tells who pays, the machine's
    /// reservation account does (nami.md 4.1, ALWAYSCHARGERESERVATIONS).
    pub for_reservation: bool,
}

impl Whose {
    /// These names, and where one is missing the one that an instance knows (ledger.md 2.7).
    #[must_use]
    pub fn or_of(&self, facts: &Facts) -> Whose {
        let known = |name: &String| Some(name.clone()).filter(|name| !name.is_empty());
        Whose {
            project: self.project.clone().or_else(|| known(&facts.project)),
            user: self.user.clone().or_else(|| known(&facts.user)),
            machine: self.machine.clone(),
            for_reservation: self.for_reservation,
        }
    }
}

/// How long a quote is valid beyond its duration (decisions.md 15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// No row is written.
    None,
    /// A TID for the scheduler: 24 hours.
    Tid,
    /// A guarantee for a person: duration + 7 days.
    Guarantee,
}

/// Asks for a price (ledger.md 2.9).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuoteRequest {
    /// For whom.
    pub whose: Whose,
    /// Of what.
    pub usage: Usage,
    /// For how long.
    pub duration: Option<Seconds>,
    /// Whether a row is written, and the TID it gets.
    pub promise: Promise,
    /// The TID of the row, made by the shell, for [`Promise::None`] empty.
    pub tid: String,
    /// For how many instances the row holds, 1 to 1000.
    pub uses: i64,
    /// The group, for rates and accounts that ask for one; empty for none.
    pub group: String,
    /// Do not test the balance.
    pub cost_only: bool,
    /// Where no user is named, any member of the project will do: for a person who asks what a job
    /// of the project would cost. A scheduler's quote names its user (nami.md 3.1).
    pub any_member: bool,
}

impl QuoteRequest {
    /// Whose usage it prices, for rates by user, project or group.
    pub fn named<'a>(&'a self, project: &'a str) -> Named<'a> {
        Named {
            user: self.whose.user.as_deref().unwrap_or_default(),
            project,
            group: &self.group,
        }
    }
}

/// What every document about an instance says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Job or reservation.
    pub object_type: ObjectType,
    /// The scheduler's id.
    pub object_id: String,
    /// For whom.
    pub whose: Whose,
    /// Everything that is kept with the instance; its usage is priced.
    pub facts: Facts,
    /// A quote's TID; one that is not ours is kept and ignored (nami.md 3.1).
    pub tid: Option<String>,
    /// When it happened; now by default, never later than now.
    pub event_time: Option<Timestamp>,
    /// What the scheduler says that it costs, a decimal: journalled, and billed only where
    /// [`Terms::amount`] repeats it (nami.md 4.2). Empty for none.
    pub asserted: String,
}

impl Request {
    /// Which object it is about.
    pub fn key(&self) -> InstanceKey {
        InstanceKey {
            machine: self.whose.machine.clone(),
            object_type: self.object_type,
            object_id: self.object_id.clone(),
        }
    }
}

/// Makes or finds an instance (decisions.md 11).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Create {
    /// About what.
    pub request: Request,
    /// The TID that a new quote for it gets, made by the shell; none where none is wanted. A
    /// document with a TID of ours keeps that one, one without a duration gets none (nami.md 2).
    pub tid: Option<String>,
    /// How long that quote is priced for.
    pub duration: Option<Seconds>,
}

/// What becomes of a reserve that comes after the end of the use it belongs to (decisions.md 13): one
/// within the grace whose start does not lie after the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AfterEnd {
    /// It begins a new use.
    #[default]
    Begins,
    /// The first is absorbed, the next begins a new use: a start.
    AbsorbedOnce,
    /// It is absorbed however often it comes: what continues a use cannot begin one.
    Absorbed,
}

/// Places or replaces a lien (ledger.md 2.7).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reserve {
    /// About what.
    pub request: Request,
    /// How long the amount is priced for; the wall duration by default (nami.md 3.1).
    pub charge_duration: Option<Seconds>,
    /// Hold this, whatever the rates say; zero or above.
    pub amount: Option<Amount>,
    /// When the lien starts; its allocations are those usable then.
    pub start: Option<Timestamp>,
    /// When it ends; start + wall duration + grace by default.
    pub end: Option<Timestamp>,
    /// What is added to the grace: for NAMI twice the flush interval (decisions.md 12).
    pub flush_grace: bool,
    /// What becomes of it after the end.
    pub after_end: AfterEnd,
    /// It adds to the older lien, which ends no earlier than before. Gold's own clients expect this
    /// (gold-wire.md 5).
    pub adds: bool,
    /// What the partner said whose project it is for, or the partner that asks; none for a project of this
    /// bank, and for a dry run.
    pub partner: Option<partner::Step>,
}

/// Bills an instance (ledger.md 2.8).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Charge {
    /// About what.
    pub request: Request,
    /// Seconds used since the last charge. Required.
    pub duration: Option<Seconds>,
    /// Close the instance with this charge.
    pub closes: bool,
    /// Give back what the lien holds beyond this charge; the instance stays open: a pause.
    pub releases: bool,
    /// Whether the sum of its durations must be plausible (nami.md 1.4), and a total that is older
    /// than the last one is left out: what only a scheduler's charges need.
    pub is_checked: bool,
    /// What a scheduler's charge leaves at its default.
    pub terms: Terms,
}

impl Charge {
    /// When the use ended: the end of its window, else the event time; never later than now
    /// (ledger.md 2.8, effective time).
    pub fn happened(&self, now: Timestamp) -> Timestamp {
        let end = self.terms.window.map(|window| window.end);
        end.or(self.request.event_time)
            .map_or(now, |at| at.min(now))
    }
}

/// Moves the end of a lien (ledger.md 2.7 d).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtendLien {
    /// Its number.
    pub lien: LienId,
    /// Its new end; later than now.
    pub end: Timestamp,
}

/// Closes an instance (decisions.md 13).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Close {
    /// About what.
    pub key: InstanceKey,
    /// What closes it.
    pub by: Closing,
    /// When it happened.
    pub event_time: Option<Timestamp>,
}

/// A charge that came before, word for word: it is journalled, and moves nothing (decisions.md 22).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// About what.
    pub key: InstanceKey,
    /// The idempotency key of both.
    pub of: String,
}
