//! The objects of the ledger: plain facts with public fields.

mod access;
mod dimension;
mod instance;
mod machine;

pub use access::{
    Grant, Limit, LimitOf, MEMBER_ROLES, MONEY_KINDS, MemberRole, MoneyKind, PROPOSAL_STATES,
    Proposal, ProposalKind, ProposalState,
};
pub use bank_core_values::cycle::{Cycle, CycleRun, Every};
pub use dimension::{Constraint, Dimension, Traits};
pub use instance::{
    CLOSINGS, Closing, Facts, Instance, InstanceKey, LIEN_STATES, Lien, LienState, ObjectType,
    Portion, Quote, Standing,
};
pub use machine::{
    CHARGE_DURATIONS, ChargeDuration, FLUSH_INTERVAL, Machine, RESERVATION_CHARGES,
    ReservationCharge,
};

use crate::amount::Amount;
use crate::ids::{AccountId, AllocationId, EntryId, MachineId, ProjectId, UserId};
use crate::time::{Timestamp, Window};

/// The enforcement mode of a project or machine (decisions.md 18, ledger.md 5).
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

crate::words!(Mode, MODES, "strict");

impl Mode {
    /// Whether only the shadow totals move.
    pub fn is_shadow(self) -> bool {
        matches!(self, Mode::Notional | Mode::Track)
    }
}

/// A project: the people who may be billed together.
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
    /// Its organisation, as accounts' lists name it; empty for none.
    pub organization: String,
    /// Its member machines: `MEMBERS` in an account's machine list.
    pub machines: Vec<MachineId>,
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
    /// Their organisation, as accounts' lists name it; empty for none.
    pub organization: String,
    /// Telephone number.
    pub phone: String,
    /// Free text.
    pub description: String,
    /// Other names that sources have for them, such as `…@egi.eu`, in order; nobody else has one of
    /// them.
    pub aliases: Vec<String>,
}

/// The most other names of a user.
pub const ALIASES_MAX: usize = 64;

/// A user's place in a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// The project.
    pub project: ProjectId,
    /// The user.
    pub user: UserId,
    /// Only active members satisfy `MEMBERS`.
    pub active: bool,
    /// The role of the member in the project.
    pub role: MemberRole,
}

/// An account: lists that decide who may spend its allocations. It has no money of its own (ledger.md 0, fact
/// 1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Its number.
    pub id: AccountId,
    /// Its name, unique (decisions.md 16).
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
    /// Its place below another account.
    pub link: Option<Link>,
    /// A lien or charge uses one of its allocations whole, never several (decision note 0013).
    pub discrete: bool,
}

impl Account {
    /// The one project that its lists allow; none for several, for none and for `ANY`.
    pub fn only_project(&self) -> Option<&str> {
        let rows = self.constraints.iter();
        let mut allowed = rows.filter(|c| c.dimension == Dimension::Project && c.allow);
        let only = allowed.next()?;
        (allowed.next().is_none() && only.value != "ANY").then_some(only.value.as_str())
    }
}

/// An account's place below its parent (ledger.md 1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The account above.
    pub parent: AccountId,
    /// Percent of every deposit into the parent that goes on to this account, 0 to 100.
    pub share: u8,
    /// Whether the parent pays where this account is short.
    pub overflow: Overflow,
}

/// Whether an account's parent pays after it (ledger.md 2.6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overflow {
    /// It does not.
    #[default]
    No,
    /// It does, for requests that its own lists allow.
    Listed,
    /// It does, independent of its own lists.
    Any,
}

/// Every overflow with its word.
pub const OVERFLOWS: [(Overflow, &str); 3] = [
    (Overflow::No, "no"),
    (Overflow::Listed, "yes"),
    (Overflow::Any, "any"),
];

crate::words!(Overflow, OVERFLOWS, "no");

/// The journalled phase of an allocation in its window.
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

crate::words!(Phase, PHASES, "active");

impl Phase {
    /// The phase of a window at an instant.
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
    /// When it was created. An allocation without a start pays from then on.
    pub opened: Timestamp,
    /// When it entered its present phase; for an expired one, the phase before. No charge on it is
    /// booked earlier, so that its balance and its movements agree at any time.
    pub since: Timestamp,
    /// The phase that the journal has recorded.
    pub phase: Phase,
    /// The rest; may be negative.
    pub amount: Amount,
    /// The amount that liens hold on it; never negative.
    pub held: Amount,
    /// The limit below zero for liens and withdrawals.
    pub credit_limit: Amount,
    /// The sum of its deposits, less those that were undone, with what a cycle carried over into it;
    /// neither transfers nor refunds (ledger.md 1.2).
    pub deposited: Amount,
    /// The amount that charges took of it, less refunds (ledger.md 2.5).
    pub used: Amount,
    /// The amount of shadow charges; zero or below (decisions.md 18).
    pub shadow: Amount,
    /// The amount that shadow liens hold.
    pub shadow_held: Amount,
    /// The latest journal entry about it.
    pub last_entry: Option<EntryId>,
}

impl Allocation {
    /// One with nothing in it.
    pub fn empty(
        id: AllocationId,
        account: AccountId,
        window: Window,
        credit_limit: Amount,
        now: Timestamp,
    ) -> Allocation {
        Allocation {
            id,
            account,
            window,
            opened: now,
            since: now,
            phase: Phase::of(&window, now),
            amount: Amount::ZERO,
            held: Amount::ZERO,
            credit_limit,
            deposited: Amount::ZERO,
            used: Amount::ZERO,
            shadow: Amount::ZERO,
            shadow_held: Amount::ZERO,
            last_entry: None,
        }
    }

    /// The free amount: amount + credit limit − held, and with the shadow totals in the shadow modes
    /// (decisions.md 18).
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

    /// Whether it was created after an instant that its window covers only because it has no start.
    pub fn is_later_than(&self, at: Timestamp) -> bool {
        self.window.start.is_none() && self.opened > at
    }

    /// The next instant at which the journal records a boundary of it.
    pub fn next_boundary(&self) -> Option<Timestamp> {
        match self.phase {
            Phase::Future => self.window.start,
            Phase::Active => self.window.end,
            Phase::Expired => None,
        }
    }
}

/// The figures of one account in minor units: sums over its active allocations (ledger.md 2.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// The rest; may be negative.
    pub amount: i128,
    /// The amount that open liens hold.
    pub held: i128,
    /// The limit below zero for liens and withdrawals.
    pub credit_limit: i128,
}

impl Figures {
    /// The sums over those of an account's allocations that are active.
    pub fn of<'a>(allocations: impl IntoIterator<Item = &'a Allocation>) -> Figures {
        let mut sums = Figures::default();
        let add = |sum: &mut i128, part: Amount| *sum = sum.saturating_add(part.0.into());
        for allocation in allocations {
            if allocation.phase == Phase::Active {
                add(&mut sums.amount, allocation.amount);
                add(&mut sums.held, allocation.held);
                add(&mut sums.credit_limit, allocation.credit_limit);
            }
        }
        sums
    }

    /// Amount − held.
    pub fn balance(&self) -> i128 {
        self.amount.saturating_sub(self.held)
    }

    /// Balance + credit limit: the number that decides.
    pub fn available(&self) -> i128 {
        self.balance().saturating_add(self.credit_limit)
    }
}

/// A signing key's public half: its owner and its scope (http-auth.md 4).
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
    /// Machines in its scope; empty for all.
    pub machines: Vec<String>,
    /// When it is valid.
    pub window: Window,
    /// Switched off.
    pub disabled: bool,
    /// Removed.
    pub deleted: bool,
    /// SHA-256 of the token that is shown instead of a signature; none for a signing key.
    pub token: Option<[u8; 32]>,
}
