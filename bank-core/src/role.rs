//! Roles, and the caller who holds them (ledger.md 8).

use crate::refusal::Refusal;

/// A role of a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Everything.
    Admin,
    /// Money, members and accounts of single projects and those below them.
    Operator,
    /// Members and accounts of the manager's projects, and transfers inside one of them.
    Manager,
    /// Reading everything of the pi's projects.
    Pi,
    /// Reading everything.
    Auditor,
    /// The routes of the scheduler: quotes, liens, charges.
    Scheduler,
    /// Reporting usage, and nothing else.
    Collector,
    /// A partner bank: holding and charging for its jobs, and nothing else.
    Partner,
    /// Their own balance, usage and quotes.
    User,
}

/// Every role with its word.
pub const ROLES: [(Role, &str); 9] = [
    (Role::Admin, "admin"),
    (Role::Operator, "operator"),
    (Role::Manager, "manager"),
    (Role::Pi, "pi"),
    (Role::Auditor, "auditor"),
    (Role::Scheduler, "scheduler"),
    (Role::Collector, "collector"),
    (Role::Partner, "partner"),
    (Role::User, "user"),
];

crate::words!(Role, ROLES, "user");

impl Role {
    /// Whether it is held over single projects only: without one it is held over none.
    pub fn is_of_projects(self) -> bool {
        matches!(self, Role::Operator | Role::Manager | Role::Pi)
    }

    const fn bit(self) -> u16 {
        1 << (self as u16)
    }
}

/// A set of roles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Roles(u16);

impl Roles {
    /// The set of some roles.
    pub fn of(roles: &[Role]) -> Self {
        Self(roles.iter().fold(0, |bits, role| bits | role.bit()))
    }

    /// The set that words name; what is no role counts for nothing.
    pub fn from_words<S: AsRef<str>>(words: &[S]) -> Self {
        let known = words.iter().filter_map(|word| Role::parse(word.as_ref()));
        Self(known.fold(0, |bits, role| bits | role.bit()))
    }

    /// Adds a role.
    #[must_use]
    pub fn with(self, role: Role) -> Self {
        Self(self.0 | role.bit())
    }

    /// All of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether a role itself is among them.
    pub fn has(self, role: Role) -> bool {
        self.0 & role.bit() != 0
    }

    /// Whether a role, or `admin`, is among them.
    pub fn allow(self, role: Role) -> bool {
        self.0 & (role.bit() | Role::Admin.bit()) != 0
    }

    /// Their words, the mightiest first, with commas between; `none` for none.
    pub fn words(self) -> String {
        let held = ROLES.iter().filter(|(role, _)| self.has(*role));
        let words: Vec<&str> = held.map(|(_, word)| *word).collect();
        if words.is_empty() {
            return "none".to_owned();
        }
        words.join(",")
    }

    /// Refuses with `not_allowed` unless one of the roles, or `admin`, is among them.
    ///
    /// # Errors
    /// [`Refusal::NotAllowed`], which names the roles that would do.
    pub fn require(self, any_of: &[Role]) -> Result<(), Refusal> {
        if self.allow(Role::Admin) || any_of.iter().any(|role| self.allow(*role)) {
            return Ok(());
        }
        let words: Vec<&str> = any_of.iter().map(|role| role.word()).collect();
        let needed = match words.as_slice() {
            [] => Role::Admin.word().to_owned(),
            _ => words.join(" or "),
        };
        Err(Refusal::NotAllowed {
            what: format!("this needs the role {needed}"),
        })
    }
}

/// The caller of a command, as the rules see them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Who {
    /// The key's or token's id, or the person's name.
    pub actor: String,
    /// The client: the person `amy` is `unix:amy`.
    pub client: String,
    /// Roles that are held over all of the scope.
    pub roles: Roles,
    /// The person, where it is one: grants to that name and their places in projects add up.
    pub person: Option<String>,
}

impl Who {
    /// The person behind the client, with any key, token or socket: nobody approves their own proposals.
    pub fn human(&self) -> &str {
        human(&self.client)
    }
}

/// The person or program behind a client.
pub fn human(client: &str) -> &str {
    client.strip_prefix("unix:").unwrap_or(client)
}
