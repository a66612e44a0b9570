//! The rights of a role, and the projects over which a caller holds it (ledger.md 8).
//!
//! A command needs an [`Act`], and each act belongs to some roles. A role covers either the full scope of a
//! key, or single projects and all projects below them. Roles add up. Without a role, a caller may do
//! nothing. The bank itself is no caller and may do everything.

use crate::command::{Access, After, Command, Promise, Scope};
use crate::directory::Directory;
use crate::kind::Writers;
use crate::model::{Grant, MemberRole};
use crate::refusal::Refusal;
use crate::role::{ROLES, Role, Roles, Who};
use crate::time::Timestamp;
use crate::view::Context;
use std::borrow::Cow;
use std::sync::Arc;

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

/// The kinds of commands that roles distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Puts money into an account or takes it out.
    Money,
    /// Moves money between accounts.
    Transfer,
    /// Changes the members of a project.
    Members,
    /// Changes the role of a member in a project.
    Places,
    /// Adds, changes or removes accounts.
    Accounts,
    /// Reports from a scheduler: liens, charges, jobs.
    Schedule,
    /// Reports finished usage.
    Ingest,
    /// Changes records of a kind that operators may change.
    Records,
    /// Asks for a price.
    Quote,
    /// Asks for what somebody else may do.
    Ask,
    /// Everything else.
    Administer,
}

impl Act {
    /// The act of a command.
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
            Command::Record(change) if change.writers == Writers::Operators => Act::Records,
            Command::Usage(_) | Command::Import(_) => Act::Ingest,
            Command::Access(Access::Propose(propose)) if propose.asked.is_some() => Act::Ask,
            Command::Access(Access::Reject(reject)) if reject.is_withdrawal => Act::Ask,
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
            Act::Money | Act::Places | Act::Records => &[Role::Operator],
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
            Act::Ask => &[Role::Operator, Role::Manager, Role::Pi, Role::User],
            Act::Administer => &[],
        }
    }
}

/// The scope that the caller may use with commands of this kind: narrowed down to the projects over which the
/// caller holds a suitable role.
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
    let act = match Act::of(command) {
        Act::Members if ends_role(command, ctx.directory) => Act::Places,
        act => act,
    };
    // The handler of quotes decides who may read one; reading changes nothing.
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

/// Whether a command ends the role of a member in a project, by the end of the membership.
fn ends_role(command: &Command, directory: &Directory) -> bool {
    let (project, user) = match command {
        Command::RemoveMember(project, user) => (project, user),
        Command::SetMember(set) if set.active == Some(false) => (&set.project, &set.user),
        Command::Access(access) => {
            let inner = match access {
                Access::Reject(reject) => reject.command.as_deref(),
                access => access.inner(),
            };
            return inner.is_some_and(|inner| ends_role(inner, directory));
        }
        _ => return false,
    };
    let project = directory.project_named(project);
    let both = project.zip(directory.user_named(user));
    let member = both.and_then(|(project, user)| directory.membership(project.id, user.id));
    member.is_some_and(|member| member.role != MemberRole::Member)
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
