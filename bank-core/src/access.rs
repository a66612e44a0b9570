//! Who a caller is to the rules, and what a role lets them do (ledger.md 8).
//!
//! What nobody was given is refused: a command asks for an [`Act`], an act belongs to some roles, and a
//! role is held over all that a key's scope has, or over single projects with all below them. Several
//! roles add up. The bank itself, which is no caller, may do everything.

use crate::command::{Access, After, Command, Promise, Scope};
use crate::directory::Directory;
use crate::model::{Grant, MemberRole};
use crate::refusal::Refusal;
use crate::time::Timestamp;
use crate::view::Context;
use std::borrow::Cow;
use std::sync::Arc;

/// What somebody may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Everything.
    Admin,
    /// Money, members and accounts of single projects and those below them.
    Operator,
    /// Members and accounts of their own projects, and transfers inside one of them.
    Manager,
    /// Reading all of their own projects.
    Pi,
    /// Reading everything.
    Auditor,
    /// The routes of the scheduler: quotes, liens, charges.
    Scheduler,
    /// Reporting usage, and nothing else.
    Collector,
    /// Their own balance, usage and quotes.
    User,
}

/// Every role with its word.
pub const ROLES: [(Role, &str); 8] = [
    (Role::Admin, "admin"),
    (Role::Operator, "operator"),
    (Role::Manager, "manager"),
    (Role::Pi, "pi"),
    (Role::Auditor, "auditor"),
    (Role::Scheduler, "scheduler"),
    (Role::Collector, "collector"),
    (Role::User, "user"),
];

impl Role {
    /// Its word.
    pub fn word(self) -> &'static str {
        ROLES
            .iter()
            .find(|(role, _)| *role == self)
            .map_or("user", |(_, word)| word)
    }

    /// From its word.
    pub fn parse(word: &str) -> Option<Self> {
        ROLES
            .iter()
            .find(|(_, known)| *known == word)
            .map(|(role, _)| *role)
    }

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

    /// Whether they may see what is not their own.
    pub fn see_everything(self) -> bool {
        [Role::Admin, Role::Scheduler, Role::Auditor]
            .into_iter()
            .any(|role| self.has(role))
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

/// Who gives a command, as the rules see them.
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
    /// Whoever is behind the client, whatever key, token or socket they came with: nobody approves
    /// what they proposed themselves.
    pub fn human(&self) -> &str {
        human(&self.client)
    }
}

/// Who is behind a client.
pub fn human(client: &str) -> &str {
    client.strip_prefix("unix:").unwrap_or(client)
}

/// A role, and over what it is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Which.
    pub role: Role,
    /// Over these projects and all below them; empty for all of the scope.
    pub projects: Vec<String>,
}

/// Every role that a caller holds at an instant, with over what.
pub fn held(scope: &Scope, who: &Who, directory: &Directory, now: Timestamp) -> Vec<Held> {
    let own = ROLES.iter().filter(|(role, _)| who.roles.has(*role));
    let named = |role: &Role| !role.is_of_projects() || !scope.projects.is_empty();
    let own = own.map(|(role, _)| *role).filter(named);
    let mut all: Vec<Held> = own
        .map(|role| Held {
            role,
            projects: scope.projects.clone(),
        })
        .collect();
    let Some(person) = &who.person else {
        return all;
    };
    for grant in directory.grants_of(person, now) {
        let project = grant.project.and_then(|id| directory.project(id));
        if grant.project.is_some() && project.is_none_or(|p| p.deleted) {
            continue;
        }
        all.push(Held {
            role: grant.role,
            projects: project.iter().map(|p| p.name.clone()).collect(),
        });
    }
    for (role, place) in [
        (Role::Manager, MemberRole::Manager),
        (Role::Pi, MemberRole::Pi),
    ] {
        let projects = directory.projects_led(person, place);
        if !projects.is_empty() {
            all.push(Held { role, projects });
        }
    }
    all
}

/// The roles that a person has at an instant, wherever they hold them: theirs as everybody's, those
/// that were granted, and what they are in projects.
pub fn roles_of(person: &str, base: Roles, directory: &Directory, now: Timestamp) -> Roles {
    let who = Who {
        roles: base,
        person: Some(person.to_owned()),
        ..Who::default()
    };
    let held = held(&Scope::default(), &who, directory, now);
    held.iter().fold(base, |roles, held| roles.with(held.role))
}

/// What a command does, as far as roles tell commands apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Puts money into an account or takes it out.
    Money,
    /// Moves money between accounts.
    Transfer,
    /// Says who is a member.
    Members,
    /// Says what a member is in a project.
    Places,
    /// Adds, changes or removes accounts.
    Accounts,
    /// What a scheduler says: liens, charges, jobs.
    Schedule,
    /// Reports finished usage.
    Ingest,
    /// Asks for a price.
    Quote,
    /// Everything else.
    Administer,
}

impl Act {
    /// What a command does.
    pub fn of(command: &Command) -> Act {
        match command {
            Command::Deposit(_) | Command::Withdraw(_) => Act::Money,
            Command::After(After::Transfer(_)) => Act::Transfer,
            Command::SetMember(set) if set.role.is_some() => Act::Places,
            Command::SetMember(_) | Command::RemoveMember(..) => Act::Members,
            Command::AddAccount(_) | Command::SetAccount(_) | Command::RemoveAccount(_) => {
                Act::Accounts
            }
            Command::Quote(quote) if quote.promise != Promise::Tid => Act::Quote,
            Command::Quote(_)
            | Command::Create(_)
            | Command::Modify(_)
            | Command::Reserve(_)
            | Command::Charge(_)
            | Command::Close(_)
            | Command::Repeat(_)
            | Command::ExtendLien(_)
            | Command::ReleaseLien(_) => Act::Schedule,
            Command::Usage(_) | Command::Import(_) => Act::Ingest,
            Command::Access(Access::Reject(reject)) => {
                reject.command.as_deref().map_or(Act::Administer, Act::of)
            }
            Command::Access(access) => access.inner().map_or(Act::Administer, Act::of),
            _ => Act::Administer,
        }
    }

    /// The roles beside `admin` that may do it.
    pub fn roles(self) -> &'static [Role] {
        match self {
            Act::Money | Act::Places => &[Role::Operator],
            Act::Transfer | Act::Members | Act::Accounts => &[Role::Operator, Role::Manager],
            Act::Schedule => &[Role::Scheduler],
            Act::Ingest => &[Role::Scheduler, Role::Collector],
            Act::Quote => &[
                Role::Operator,
                Role::Manager,
                Role::Pi,
                Role::Auditor,
                Role::Scheduler,
                Role::User,
            ],
            Act::Administer => &[],
        }
    }
}

/// What the caller may touch with a command of this kind: the scope narrowed down to the projects over
/// which a role is held that may do it.
///
/// # Errors
/// [`Refusal::NotAllowed`] where there is no such role.
pub(crate) fn narrowed<'a>(
    command: &Command,
    ctx: &Context<'a>,
) -> Result<Cow<'a, Scope>, Refusal> {
    let scope = ctx.scope;
    let Some(who) = &scope.who else {
        return Ok(Cow::Borrowed(scope));
    };
    let act = Act::of(command);
    // Whom a quote is shown is decided where it is shown; it changes nothing.
    let roles = act.roles();
    let everywhere = |role: &Role| who.roles.has(*role) && !role.is_of_projects();
    if who.roles.has(Role::Admin) || roles.iter().any(everywhere) {
        return Ok(Cow::Borrowed(scope));
    }
    let held = held(scope, who, ctx.directory, ctx.now);
    let may = |held: &&Held| held.role == Role::Admin || roles.contains(&held.role);
    let fitting: Vec<&Held> = held.iter().filter(may).collect();
    if fitting.is_empty() {
        return Err(Roles::default().require(roles).err().unwrap_or_else(|| {
            let what = "this needs a role".to_owned();
            Refusal::NotAllowed { what }
        }));
    }
    if fitting.iter().any(|held| held.projects.is_empty()) {
        return Ok(Cow::Borrowed(scope));
    }
    let mut projects: Vec<String> = Vec::new();
    for name in fitting.iter().flat_map(|held| &held.projects) {
        if !projects.contains(name) {
            projects.push(name.clone());
        }
    }
    Ok(Cow::Owned(Scope {
        projects,
        machines: scope.machines.clone(),
        who: Some(Arc::clone(who)),
    }))
}

/// Whether a caller holds one of some roles over a project, or `admin`.
pub fn holds(held: &[Held], roles: &[Role], directory: &Directory, name: &str) -> bool {
    let line = directory.project_named(name);
    let line = line.map(|p| directory.lineage(p.id)).unwrap_or_default();
    let may = |h: &&Held| h.role == Role::Admin || roles.contains(&h.role);
    held.iter().filter(may).any(|h| {
        h.projects.is_empty()
            || h.projects.iter().any(|p| p == name)
            || line.iter().any(|p| h.projects.contains(&p.name))
    })
}

impl Grant {
    /// Whether it counts at an instant.
    pub fn counts(&self, now: Timestamp) -> bool {
        !self.revoked && self.until.is_none_or(|until| now < until)
    }
}
