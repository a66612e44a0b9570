//! Commands about what is registered: projects, users, machines, accounts, rates, cycles, keys.

use crate::amount::Amount;
use crate::calendar::Calendar;
use crate::model::{Constraint, Dimension, Every, MemberRole, Mode, Overflow};
use crate::rate::{Per, RateKind, RateValue};
use crate::time::Timestamp;

/// A new project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddProject {
    /// Its name.
    pub name: String,
    /// The project above it, by name.
    pub parent: Option<String>,
    /// Make an account of the same name, usable by its members.
    pub with_account: bool,
    /// Its first members, by name.
    pub members: Vec<String>,
    /// Its mode.
    pub mode: Option<Mode>,
    /// Free text.
    pub description: String,
    /// Its organisation; empty for none.
    pub organization: String,
    /// Its member machines, by name.
    pub machines: Vec<String>,
}

/// Changes to a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetProject {
    /// Its name.
    pub name: String,
    /// Switch it on or off.
    pub active: Option<bool>,
    /// A new parent, or none.
    pub parent: Option<Option<String>>,
    /// An own mode, or the machine's mode.
    pub mode: Option<Option<Mode>>,
    /// Free text.
    pub description: Option<String>,
    /// Its organisation; empty for none.
    pub organization: Option<String>,
    /// Replaces all its member machines, by name.
    pub machines: Option<Vec<String>>,
}

/// A new user, or changes to one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetUser {
    /// Their login name.
    pub name: String,
    /// Switch them on or off.
    pub active: Option<bool>,
    /// Full name.
    pub common_name: Option<String>,
    /// Mail address.
    pub email: Option<String>,
    /// The project billed where a request names none, or none.
    pub default_project: Option<Option<String>>,
    /// Their organisation; empty for none.
    pub organization: Option<String>,
    /// Telephone number.
    pub phone: Option<String>,
    /// Free text.
    pub description: Option<String>,
    /// Replaces all its other names.
    pub aliases: Option<Vec<String>>,
}

/// An entry from a directory of people, merged into the stored user. It adds data and never removes any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergeUser {
    /// The user and the new data: name or other name. Empty fields change nothing; other names are added to
    /// the stored ones.
    pub set: SetUser,
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
