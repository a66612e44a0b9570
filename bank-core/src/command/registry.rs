//! Commands about members, accounts, rates, cycles and keys.

use crate::amount::Amount;
use crate::calendar::Calendar;
use crate::kind::Value;
use crate::model::{Constraint, Dimension, Every, MemberRole, Overflow};
use crate::rate::{Per, RateKind, RateValue};
use crate::time::Timestamp;

/// An entry from a directory of people, merged into the stored user. It adds data and never removes any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergeUser {
    /// The name of the user, or another name.
    pub name: String,
    /// New values by field. Empty values change nothing.
    pub values: Vec<(String, Value)>,
    /// Other names, added to the stored ones.
    pub aliases: Vec<String>,
    /// If no user has the name, the only user with the mail address is meant, and the name becomes another
    /// name of that user.
    pub by_email: bool,
    /// Make no user of a name that nobody has.
    pub known_only: bool,
    /// Stored values stay, even if the entry differs.
    pub keep: bool,
}

/// A membership.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetMember {
    /// The project's name.
    pub project: String,
    /// The user's name.
    pub user: String,
    /// Whether they count as `MEMBERS`; as it is without, and yes for a new one.
    pub active: Option<bool>,
    /// The member's role. Without one, an existing role stays and a new member is a plain member.
    pub role: Option<MemberRole>,
}

/// A new account, or changes to one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetAccount {
    /// Its name.
    pub name: String,
    /// Replaces all its lists.
    pub constraints: Option<Vec<Constraint>>,
    /// Replaces single lists with their rows; the others stay.
    pub lists: Vec<(Dimension, Vec<Constraint>)>,
    /// Lower is spent first.
    pub priority: Option<i64>,
    /// A fallback account by name or `+suffix`, or none.
    pub fallback: Option<Option<String>>,
    /// Free text.
    pub description: Option<String>,
    /// The account above it by name, or none.
    pub parent: Option<Option<String>>,
    /// Percent of deposits into the parent that go on to it, 0 to 100; 0 for a new link.
    pub share: Option<i64>,
    /// Whether the parent pays where it is short; `No` for a new link.
    pub overflow: Option<Overflow>,
    /// Whether a lien or charge uses one of its allocations whole.
    pub discrete: Option<bool>,
}

/// A new rate (ledger.md 3.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetRate {
    /// Its family.
    pub kind: RateKind,
    /// The property.
    pub name: String,
    /// The value of name-based kinds.
    pub instance: String,
    /// The number.
    pub value: RateValue,
    /// Per which time.
    pub per: Per,
    /// For one machine only, by name.
    pub machine: Option<String>,
    /// When it begins; now by default.
    pub from: Option<Timestamp>,
    /// When it ends by itself.
    pub until: Option<Timestamp>,
    /// In which hours it holds; always without.
    pub when: Option<Calendar>,
    /// Free text.
    pub description: String,
}

/// A new cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddCycle {
    /// Its name.
    pub name: String,
    /// An account, else a project with one account.
    pub account: String,
    /// The interval.
    pub every: Every,
    /// The amount of each period; above zero.
    pub amount: Amount,
    /// Per cent of the rest that go over, 0 to 100.
    pub rollover: i64,
    /// The first boundary; the beginning of the next calendar period in UTC by default.
    pub start: Option<Timestamp>,
    /// Free text.
    pub note: String,
}

/// Changes to a cycle, from its next boundary on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetCycle {
    /// Its name.
    pub name: String,
    /// Switch it on or off.
    pub active: Option<bool>,
    /// The interval.
    pub every: Option<Every>,
    /// The amount of each period.
    pub amount: Option<Amount>,
    /// Per cent of the rest that go over.
    pub rollover: Option<i64>,
    /// Free text.
    pub note: Option<String>,
}

/// Changes to a key. Roles and scopes belong to its client: they cannot change while the client has
/// other keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetKey {
    /// Its id.
    pub id: String,
    /// Words for what the client may do.
    pub roles: Option<Vec<String>>,
    /// Projects it may touch; empty for all.
    pub projects: Option<Vec<String>>,
    /// Machines in its scope; empty for all.
    pub machines: Option<Vec<String>>,
    /// When it ends, or never.
    pub until: Option<Option<Timestamp>>,
    /// Switch it off or on.
    pub disabled: Option<bool>,
}
