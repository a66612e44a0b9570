//! The objects of the ledger: plain facts with public fields.

use crate::amount::Amount;
use crate::ids::{
    AccountId, AllocationId, EntryId, InstanceId, LienId, MachineId, ProjectId, QuoteId, UsageId,
    UserId,
};
use crate::time::{Seconds, Timestamp, Window};
use crate::usage::Usage;

/// How far a project or machine is enforced (decision 18, ledger.md 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Quotes and liens are tested, charges move money: the default.
    #[default]
    Strict,
    /// No lien; a charge that leaves the account below zero blocks it until a deposit.
    Fast,
    /// Priced and journalled in shadow totals; nothing is refused, no money moves.
    Notional,
    /// As notional, and every cost is reported as zero: monitor-only.
    Track,
}

/// Every mode with its word.
pub const MODES: [(Mode, &str); 4] = [
    (Mode::Strict, "strict"),
    (Mode::Fast, "fast"),
    (Mode::Notional, "notional"),
    (Mode::Track, "track"),
];

impl Mode {
    /// Its word.
    pub fn word(self) -> &'static str {
        MODES
            .iter()
            .find(|(mode, _)| *mode == self)
            .map_or("strict", |(_, word)| word)
    }

    /// From its word.
    pub fn parse(word: &str) -> Option<Mode> {
        MODES
            .iter()
            .find(|(_, w)| *w == word)
            .map(|(mode, _)| *mode)
    }

    /// Whether only the shadow totals move.
    pub fn is_shadow(self) -> bool {
        matches!(self, Mode::Notional | Mode::Track)
    }
}

/// A project: who may be billed together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// Its number.
    pub id: ProjectId,
    /// Its name.
    pub name: String,
    /// The project above it.
    pub parent: Option<ProjectId>,
    /// Quotes and liens are refused while it is not.
    pub active: bool,
    /// Removed; the name is free no more (ledger.md 2.11: nothing is physically removed).
    pub deleted: bool,
    /// Overrides the machine's mode.
    pub mode: Option<Mode>,
    /// Free text.
    pub description: String,
}

/// A person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// Their number.
    pub id: UserId,
    /// The login name.
    pub name: String,
    /// Quotes and liens are refused while they are not.
    pub active: bool,
    /// Removed.
    pub deleted: bool,
    /// Full name.
    pub common_name: String,
    /// Mail address.
    pub email: String,
    /// Billed where a request names no project.
    pub default_project: Option<ProjectId>,
}

/// A cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Its number.
    pub id: MachineId,
    /// Its name.
    pub name: String,
    /// Quotes and liens are refused while it is not.
    pub active: bool,
    /// Removed.
    pub deleted: bool,
    /// Its mode; the bank's default where it has none.
    pub mode: Option<Mode>,
    /// The scheduler's flush interval (decision 12), 3600 s by default.
    pub flush_interval: Seconds,
    /// The account that pays where an account without a fallback of its own is short
    /// (nami.md 5): a name, or `+suffix`.
    pub fallback: Option<String>,
    /// Free text.
    pub description: String,
}

/// A user's place in a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// The project.
    pub project: ProjectId,
    /// The user.
    pub user: UserId,
    /// Only active members satisfy `MEMBERS`.
    pub active: bool,
}

/// What a constraint row looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dimension {
    /// The project.
    Project,
    /// The user.
    User,
    /// The machine.
    Machine,
}

/// One row of an account's lists (ledger.md 4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// What it looks at.
    pub dimension: Dimension,
    /// A name, `ANY` or `MEMBERS`.
    pub value: String,
    /// Allows, or denies.
    pub allow: bool,
    /// A project row that matches the project's descendants too.
    pub subtree: bool,
}

/// An account: who may spend its allocations. It has no money of its own (ledger.md 0, fact 1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Its number.
    pub id: AccountId,
    /// Its name, unique (decision 16).
    pub name: String,
    /// Lower is spent first, before the end time.
    pub priority: i64,
    /// The account that pays where this one is short (nami.md 5): a name, or `+suffix`.
    pub fallback: Option<String>,
    /// Set by a charge in mode `fast` that left it below zero; a deposit clears it.
    pub blocked: bool,
    /// Removed.
    pub deleted: bool,
    /// Free text.
    pub description: String,
    /// Its lists.
    pub constraints: Vec<Constraint>,
}

/// How far the journal has followed an allocation through its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Not started.
    Future,
    /// Started, not ended.
    Active,
    /// Ended.
    Expired,
}

/// Every phase with its word.
pub const PHASES: [(Phase, &str); 3] = [
    (Phase::Future, "future"),
    (Phase::Active, "active"),
    (Phase::Expired, "expired"),
];

impl Phase {
    /// Its word.
    pub fn word(self) -> &'static str {
        PHASES
            .iter()
            .find(|(phase, _)| *phase == self)
            .map_or("active", |(_, word)| word)
    }

    /// From its word.
    pub fn parse(word: &str) -> Option<Phase> {
        PHASES
            .iter()
            .find(|(_, w)| *w == word)
            .map(|(phase, _)| *phase)
    }

    /// Where a window stands at an instant.
    pub fn of(window: &Window, at: Timestamp) -> Phase {
        if window.is_over(at) {
            Phase::Expired
        } else if window.contains(at) {
            Phase::Active
        } else {
            Phase::Future
        }
    }
}

/// Money with a window: what an account spends from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// Its number.
    pub id: AllocationId,
    /// The account it belongs to, for ever.
    pub account: AccountId,
    /// When it may be spent.
    pub window: Window,
    /// How far the journal has followed it.
    pub phase: Phase,
    /// What is left; may be negative.
    pub amount: Amount,
    /// What liens hold on it; never negative.
    pub held: Amount,
    /// How far below zero liens and withdrawals may take it.
    pub credit_limit: Amount,
    /// The sum of its deposits.
    pub deposited: Amount,
    /// What shadow charges took; zero or below (decision 18).
    pub shadow: Amount,
    /// What shadow liens hold.
    pub shadow_held: Amount,
    /// The latest journal entry about it.
    pub last_entry: Option<EntryId>,
}

impl Allocation {
    /// What may still be taken: amount + credit limit − held, and with the shadow totals in the
    /// shadow modes (decision 18).
    pub fn free(&self, shadow: bool) -> i128 {
        let real = i128::from(self.amount.0)
            .saturating_add(i128::from(self.credit_limit.0))
            .saturating_sub(i128::from(self.held.0));
        if !shadow {
            return real;
        }
        real.saturating_add(i128::from(self.shadow.0))
            .saturating_sub(i128::from(self.shadow_held.0))
    }

    /// The next instant at which the journal has something to say about it.
    pub fn next_boundary(&self) -> Option<Timestamp> {
        match self.phase {
            Phase::Future => self.window.start,
            Phase::Active => self.window.end,
            Phase::Expired => None,
        }
    }
}

/// What kind of scheduler object an instance is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ObjectType {
    /// A job.
    #[default]
    Job,
    /// A reservation of the scheduler.
    Reservation,
}

impl ObjectType {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            ObjectType::Job => "job",
            ObjectType::Reservation => "reservation",
        }
    }

    /// From its word.
    pub fn parse(word: &str) -> Option<ObjectType> {
        [ObjectType::Job, ObjectType::Reservation]
            .into_iter()
            .find(|t| t.word() == word)
    }
}

/// Which scheduler object: the same key names every reuse of its id.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InstanceKey {
    /// The machine's name as given, known or not.
    pub machine: String,
    /// Job or reservation.
    pub object_type: ObjectType,
    /// The scheduler's id, 1 to 256 bytes.
    pub object_id: String,
}

/// What closed an instance (decision 13).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// The scheduler destroyed the object.
    Delete,
    /// Its use ended.
    End,
    /// Its lien expired and the grace passed, or it had none and seven days went by.
    Expiry,
}

/// Every closing with its word.
pub const CLOSINGS: [(Closing, &str); 3] = [
    (Closing::Delete, "delete"),
    (Closing::End, "end"),
    (Closing::Expiry, "expiry"),
];

impl Closing {
    /// Its word.
    pub fn word(self) -> &'static str {
        CLOSINGS
            .iter()
            .find(|(closing, _)| *closing == self)
            .map_or("end", |(_, word)| word)
    }

    /// From its word.
    pub fn parse(word: &str) -> Option<Closing> {
        CLOSINGS
            .iter()
            .find(|(_, w)| *w == word)
            .map(|(closing, _)| *closing)
    }
}

/// What the scheduler said about an object, kept with the instance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The project as named.
    pub project: String,
    /// The user as named; empty where none was.
    pub user: String,
    /// The group as named.
    pub group: String,
    /// Quantities and classes.
    pub usage: Usage,
    /// The wall duration asked for.
    pub wall: Option<Seconds>,
    /// The object's own times.
    pub start: Option<Timestamp>,
    /// The object's own end.
    pub end: Option<Timestamp>,
    /// When it was submitted.
    pub submit: Option<Timestamp>,
    /// The scheduler's word for its state.
    pub state: String,
    /// Its exit code.
    pub exit_code: Option<i64>,
    /// Everything else of the document, verbatim, at most 64 KiB (nami.md 3.1).
    pub other: Vec<(String, String)>,
}

/// One use of a scheduler object's id: what its lien, its quote and its charges belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// Its number.
    pub id: InstanceId,
    /// Which object.
    pub key: InstanceKey,
    /// Which reuse of the id, from 1.
    pub number: i64,
    /// First document, at its event time.
    pub opened: Timestamp,
    /// When and by what it was closed.
    pub closed: Option<(Timestamp, Closing)>,
    /// The account that pays; kept through fallback and expiry.
    pub account: Option<AccountId>,
    /// The account that was short when the fallback took over.
    pub fallback_from: Option<AccountId>,
    /// What the scheduler said last.
    pub facts: Facts,
    /// The price in trillionths so far, without the once-only part.
    pub exact_sum: i128,
    /// The once-only part (fees, per-use charges) in trillionths so far.
    pub once_sum: i128,
    /// The sum of its charges.
    pub billed: Amount,
    /// The sum of its shadow charges.
    pub shadow_billed: Amount,
    /// Seconds charged so far.
    pub charged: Seconds,
    /// Processor-seconds charged so far, in billionths: the weight of FILE's PROCCRATE.
    pub processor_seconds: i128,
    /// The first usage row: the record id of the whole (usage-records.md 1.8).
    pub record: Option<UsageId>,
    /// The latest usage row.
    pub last_usage: Option<UsageId>,
    /// A bound quote: prices are those of this instant.
    pub rates_at: Option<Timestamp>,
    /// The quote bound to it.
    pub quote: Option<QuoteId>,
    /// A start after the end was absorbed already (decision 13).
    pub absorbed: bool,
    /// When the sweeper looks at it next: its lien's end, or its closing.
    pub due: Option<Timestamp>,
    /// Its live lien.
    pub lien: Option<Lien>,
}

impl Instance {
    /// Whether nothing closed it yet.
    pub fn is_open(&self) -> bool {
        self.closed.is_none()
    }

    /// Whether it was open at an instant.
    pub fn was_open(&self, at: Timestamp) -> bool {
        self.opened <= at && self.closed.is_none_or(|(closed, _)| at < closed)
    }
}

/// What ended a lien.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LienState {
    /// It holds.
    Open,
    /// Charged away.
    Settled,
    /// The rest was given back at the close.
    Released,
    /// A later one of the same instance took its place.
    Replaced,
    /// Its end passed.
    Expired,
}

/// Every state with its word.
pub const LIEN_STATES: [(LienState, &str); 5] = [
    (LienState::Open, "open"),
    (LienState::Settled, "settled"),
    (LienState::Released, "released"),
    (LienState::Replaced, "replaced"),
    (LienState::Expired, "expired"),
];

impl LienState {
    /// Its word.
    pub fn word(self) -> &'static str {
        LIEN_STATES
            .iter()
            .find(|(state, _)| *state == self)
            .map_or("open", |(_, word)| word)
    }

    /// From its word.
    pub fn parse(word: &str) -> Option<LienState> {
        LIEN_STATES
            .iter()
            .find(|(_, w)| *w == word)
            .map(|(state, _)| *state)
    }
}

/// Money held for an instance (decision 12).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lien {
    /// Its number.
    pub id: LienId,
    /// Its instance.
    pub instance: InstanceId,
    /// Open, or what ended it.
    pub state: LienState,
    /// What it was placed for.
    pub placed: Amount,
    /// When it was placed, at the event time.
    pub start: Timestamp,
    /// When it expires.
    pub end: Timestamp,
    /// It holds shadow money only.
    pub shadow: bool,
    /// What it still holds, in the order in which it pays.
    pub portions: Vec<Portion>,
}

/// What a lien holds on one allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Portion {
    /// The allocation.
    pub allocation: AllocationId,
    /// How much is left of it.
    pub amount: Amount,
}

impl Lien {
    /// What it still holds in all.
    pub fn remaining(&self) -> i128 {
        self.portions.iter().map(|p| i128::from(p.amount.0)).sum()
    }
}

/// A price with a promise: only one with a TID or a guarantee is a row (decision 15).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quote {
    /// Its number.
    pub id: QuoteId,
    /// The text that travels with the job, `[A-Za-z0-9_-]{1,32}` (nami.md 2).
    pub tid: String,
    /// For whom.
    pub project: ProjectId,
    /// For whom.
    pub user: Option<UserId>,
    /// For which machine.
    pub machine: Option<MachineId>,
    /// The price.
    pub amount: Amount,
    /// The duration it was asked for.
    pub duration: Seconds,
    /// When it holds; its rates are those of the start.
    pub window: Window,
    /// The instance it is bound to.
    pub instance: Option<InstanceId>,
}

/// A signing key's public half: whose it is and what it may touch (http-auth.md 4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its id, `[A-Za-z0-9._-]{1,64}`.
    pub id: String,
    /// The client it belongs to; the scope of idempotency keys.
    pub client: String,
    /// Words for what the client may do.
    pub roles: Vec<String>,
    /// Projects it may touch; empty for all.
    pub projects: Vec<String>,
    /// Machines it may speak for; empty for all.
    pub machines: Vec<String>,
    /// When it is valid.
    pub window: Window,
    /// Switched off.
    pub disabled: bool,
    /// Removed.
    pub deleted: bool,
}
