//! Which accounts may pay, and which allocation pays first (ledger.md 2.6).
//!
//! The most-read file of the bank: keep it short.

use crate::command::Whose;
use crate::directory::Directory;
use crate::ids::{AccountId, AllocationId, MachineId, ProjectId, UserId};
use crate::model::{Account, Allocation, Constraint, Dimension, Project};
use crate::refusal::{Refusal, short};
use crate::time::Timestamp;

/// Who pays, resolved from names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Payer {
    /// The project; none for usage that no project could be found for.
    pub project: Option<ProjectId>,
    /// The user, if known.
    pub user: Option<UserId>,
    /// The machine, if known.
    pub machine: Option<MachineId>,
    /// The only account that may pay, where the request named one (decision 16).
    pub only: Option<AccountId>,
    /// The project's name, or what was given for it.
    pub project_name: String,
}

/// An account that may pay, and how closely its lists fit: 1 by name, 2 by `MEMBERS`, 3 by `ANY`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The account.
    pub account: AccountId,
    /// Lower is spent first, before the end time.
    pub priority: i64,
    /// 0 for the project's own account, 1 for one of the project above it, and so on.
    pub distance: usize,
    /// How closely the project, user and machine lists fit.
    pub fit: [u8; 3],
}

/// Finds project, user and machine of a request that may be refused (quote, create, reserve), and
/// says what is unknown or switched off, in the order of ledger.md 2.6.
pub fn resolve(directory: &Directory, whose: &Whose) -> Result<Payer, Refusal> {
    let payer = find(directory, whose);
    if let (None, Some(project)) = (payer.project, &whose.project) {
        return Err(Refusal::ProjectUnknown {
            project: short(project),
        });
    }
    let user_name = whose.user.as_deref().unwrap_or_default();
    if whose.user.is_some() && payer.user.is_none() {
        return Err(Refusal::UserUnknown {
            user: short(user_name),
        });
    }
    let Some(project) = payer.project.and_then(|id| directory.project(id)) else {
        return Err(Refusal::NoDefaultProject);
    };
    if payer.machine.is_none() && !whose.machine.is_empty() {
        return Err(Refusal::MachineUnknown {
            machine: short(&whose.machine),
        });
    }
    if payer
        .user
        .and_then(|id| directory.user(id))
        .is_some_and(|u| !u.active)
    {
        return Err(Refusal::UserInactive {
            user: short(user_name),
        });
    }
    if !project.active {
        return Err(Refusal::ProjectInactive {
            project: project.name.clone(),
        });
    }
    if payer
        .machine
        .and_then(|id| directory.machine(id))
        .is_some_and(|m| !m.active)
    {
        return Err(Refusal::MachineInactive {
            machine: short(&whose.machine),
        });
    }
    Ok(payer)
}

/// Finds what can be found of a request: usage is never lost (ledger.md 2.8).
pub fn find(directory: &Directory, whose: &Whose) -> Payer {
    let user = whose
        .user
        .as_deref()
        .and_then(|name| directory.user_named(name));
    let mut payer = Payer {
        user: user.map(|u| u.id),
        machine: directory.machine_named(&whose.machine).map(|m| m.id),
        ..Payer::default()
    };
    let by_default = || {
        user.and_then(|u| u.default_project)
            .and_then(|id| directory.project(id))
    };
    let project = match &whose.project {
        Some(name) => directory.project_named(name).or_else(|| {
            payer.project_name = short(name);
            let named = account_with_one_project(directory, name);
            payer.only = named.map(|(account, _)| account);
            named.map(|(_, project)| project)
        }),
        None => by_default(),
    };
    if let Some(project) = project {
        payer.project = Some(project.id);
        payer.project_name.clone_from(&project.name);
    }
    payer
}

fn account_with_one_project<'a>(
    directory: &'a Directory,
    name: &str,
) -> Option<(AccountId, &'a Project)> {
    let account = directory.account_named(name)?;
    let rows = account.constraints.iter();
    let mut projects = rows.filter(|c| c.dimension == Dimension::Project && c.allow);
    let (only, none) = (projects.next()?, projects.next());
    let project = directory.project_named(&only.value)?;
    none.is_none().then_some((account.id, project))
}

/// The accounts whose lists match, or why none does (ledger.md 2.6).
pub fn candidates(
    directory: &Directory,
    payer: &Payer,
    user: &str,
) -> Result<Vec<Candidate>, Refusal> {
    let found = matching(directory, payer, User::AsIs);
    if !found.is_empty() {
        return Ok(found);
    }
    let project = payer.project_name.clone();
    if matching(directory, payer, User::AsMember).is_empty() {
        return Err(Refusal::NoUsableAccount { project });
    }
    Err(Refusal::NotAMember {
        user: short(user),
        project,
    })
}

/// The accounts that a member of the project may use, or the refusal that there is none.
pub fn for_any_member(directory: &Directory, payer: &Payer) -> Result<Vec<Candidate>, Refusal> {
    let found = matching(directory, payer, User::AsMember);
    if found.is_empty() {
        let project = payer.project_name.clone();
        return Err(Refusal::NoUsableAccount { project });
    }
    Ok(found)
}

/// The accounts that are billed for usage that has happened: those whose lists match, else all of
/// the project's, whoever used it (ledger.md 2.8).
pub fn billable(directory: &Directory, payer: &Payer) -> Vec<Candidate> {
    let found = matching(directory, payer, User::AsIs);
    if found.is_empty() {
        matching(directory, payer, User::Anybody)
    } else {
        found
    }
}

/// How the user list is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum User {
    AsIs,
    AsMember,
    Anybody,
}

fn matching(directory: &Directory, payer: &Payer, user: User) -> Vec<Candidate> {
    let Some(project) = payer.project else {
        return Vec::new();
    };
    let lineage = directory.lineage(project);
    let near = directory.accounts_near(&lineage);
    let wanted = near
        .into_iter()
        .filter(|a| payer.only.is_none_or(|only| only == a.id));
    wanted
        .filter_map(|account| fit(directory, account, payer, &lineage, user))
        .collect()
}

fn fit(
    directory: &Directory,
    account: &Account,
    payer: &Payer,
    lineage: &[&Project],
    how: User,
) -> Option<Candidate> {
    let (project_fit, distance) = fit_project(account, lineage)?;
    let mut candidate = Candidate {
        account: account.id,
        priority: account.priority,
        distance,
        fit: [project_fit, 3, 3],
    };
    if how == User::Anybody {
        return Some(candidate);
    }
    let member = how == User::AsMember
        || payer
            .project
            .zip(payer.user)
            .is_some_and(|(p, u)| directory.is_member(p, u));
    let user_name = payer
        .user
        .and_then(|id| directory.user(id))
        .map(|u| u.name.as_str());
    let user_fit = best(account, Dimension::User, |row| match row.value.as_str() {
        "ANY" => Some(3),
        "MEMBERS" => member.then_some(2),
        name => (Some(name) == user_name).then_some(1),
    })?;
    let machine_name = payer
        .machine
        .and_then(|id| directory.machine(id))
        .map(|m| m.name.as_str());
    let machine_fit = best(account, Dimension::Machine, |row| {
        match row.value.as_str() {
            "ANY" => Some(3),
            name => (Some(name) == machine_name).then_some(1),
        }
    })?;
    candidate.fit = [project_fit, user_fit, machine_fit];
    Some(candidate)
}

fn fit_project(account: &Account, lineage: &[&Project]) -> Option<(u8, usize)> {
    let place = |row: &Constraint| {
        let at = lineage.iter().position(|p| p.name == row.value)?;
        (at == 0 || row.subtree).then_some(at)
    };
    let fit = best(account, Dimension::Project, |row| {
        match row.value.as_str() {
            "ANY" => Some(3),
            _ => place(row).map(|_| 1),
        }
    })?;
    let rows = account.constraints.iter();
    let named = rows
        .filter(|c| c.dimension == Dimension::Project && c.allow)
        .filter_map(place);
    Some((fit, named.min().unwrap_or(0)))
}

/// The closest fit of a list: at least one allow row must match, or only deny rows exist, and no
/// deny row may match; a list without rows matches everything (ledger.md 4).
fn best(
    account: &Account,
    dimension: Dimension,
    fit: impl Fn(&Constraint) -> Option<u8>,
) -> Option<u8> {
    let (mut closest, mut allows) = (None, false);
    for row in account
        .constraints
        .iter()
        .filter(|c| c.dimension == dimension)
    {
        let found = fit(row);
        if !row.allow {
            if found.is_some() {
                return None;
            }
            continue;
        }
        allows = true;
        closest = match (closest, found) {
            (Some(a), Some(b)) => Some(std::cmp::min(a, b)),
            (a, b) => a.or(b),
        };
    }
    if allows { closest } else { Some(3) }
}

/// The allocations of these accounts that are usable at an instant, in the order in which they pay:
/// priority, earliest end, distance, closeness of project, user and machine, start, number.
pub fn paying_order(
    candidates: &[Candidate],
    allocations: &[Allocation],
    at: Timestamp,
) -> Vec<AllocationId> {
    let usable = allocations.iter().filter(|a| a.window.contains(at));
    let ranked = usable.filter_map(|a| {
        let by = candidates.iter().find(|c| c.account == a.account)?;
        let end = a.window.end.map_or(i64::MAX, |e| e.0);
        let start = a.window.start.map_or(i64::MIN, |s| s.0);
        Some(((by.priority, end, by.distance, by.fit, start, a.id), a.id))
    });
    let mut ranked: Vec<_> = ranked.collect();
    ranked.sort_unstable_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, id)| id).collect()
}

/// The account a person means by a name: the account, else the project's only one (decision 16).
pub fn account_by_name<'a>(directory: &'a Directory, name: &str) -> Result<&'a Account, Refusal> {
    if let Some(account) = directory.account_named(name) {
        return Ok(account);
    }
    let unknown = || Refusal::not_found("account or project", name);
    let project = directory.project_named(name).ok_or_else(unknown)?;
    let near = directory.accounts_near(&[project]);
    let own = |a: &&&Account| {
        a.constraints
            .iter()
            .any(|c| c.allow && c.dimension == Dimension::Project && c.value == name)
    };
    let of_project: Vec<&&Account> = near.iter().filter(own).collect();
    match of_project.as_slice() {
        [] => Err(unknown()),
        [only] => Ok(only),
        several => Err(Refusal::Ambiguous {
            candidates: several.iter().map(|a| a.name.clone()).collect(),
        }),
    }
}

/// Every account that may come to pay for a request, fallback accounts included: what must be
/// loaded before anything can be decided.
pub fn possible_payers(directory: &Directory, whose: &Whose) -> Vec<AccountId> {
    let payer = find(directory, whose);
    let mut ids: Vec<AccountId> = Vec::new();
    for candidate in matching(directory, &payer, User::Anybody) {
        ids.push(candidate.account);
        let account = directory.account(candidate.account);
        let fallback = account.and_then(|a| directory.fallback_of(a, payer.machine));
        ids.extend(fallback.map(|f| f.id));
    }
    ids
}
