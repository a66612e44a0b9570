//! The lists of accounts against a request, and the accounts above that pay after them
//! (ledger.md 2.6, 4).

use super::{Candidate, Payer};
use crate::directory::{Directory, SelectionOrder};
use crate::ids::{AccountId, MachineId, ProjectId, UserId};
use crate::model::{Account, Constraint, Dimension, Overflow, Project};

/// The reading of the user list.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum User {
    /// As the request names them.
    AsIs,
    /// As if they were a member.
    AsMember,
    /// Nobody asks: all accounts of the project.
    Anybody,
}

/// The accounts that may pay, in no special order.
pub(super) fn matching(directory: &Directory, payer: &Payer, user: User) -> Vec<Candidate> {
    let Some(project) = payer.project else {
        return Vec::new();
    };
    let lineage = directory.lineage(project);
    let near = directory.accounts_near(&lineage);
    let query = Query {
        directory,
        payer,
        project,
        lineage: &lineage,
        how: user,
    };
    let wanted = near
        .into_iter()
        .filter(|a| payer.only.is_none_or(|only| only == a.id));
    let mut found: Vec<Candidate> = wanted
        .filter_map(|account| query.fit(account).ok())
        .collect();
    if payer.only.is_none() {
        overflow(directory, &mut found);
    }
    if directory.policy.order == SelectionOrder::HierarchyFirst {
        for candidate in &mut found {
            candidate.level = candidate.distance;
        }
    }
    found
}

/// The accounts near a project whose lists exclude the request, each with that list; none if the request
/// names another account as the only one.
pub(super) fn unfit(
    directory: &Directory,
    payer: &Payer,
    user: User,
) -> Vec<(AccountId, Option<Dimension>)> {
    let Some(project) = payer.project else {
        return Vec::new();
    };
    let lineage = directory.lineage(project);
    let query = Query {
        directory,
        payer,
        project,
        lineage: &lineage,
        how: user,
    };
    let near = directory.accounts_near(&lineage).into_iter();
    let no = |account: &Account| {
        if payer.only.is_some_and(|only| only != account.id) {
            return Some((account.id, None));
        }
        let list = query.fit(account).err()?;
        Some((account.id, Some(list)))
    };
    near.filter_map(no).collect()
}

/// Puts the accounts above those found one step farther away than these, as far as the links overflow. An
/// account whose own lists exclude the request pays only over a link that ignores them.
fn overflow(directory: &Directory, found: &mut Vec<Candidate>) {
    let linked = |c: &Candidate| directory.account(c.account).filter(|a| a.link.is_some());
    let below: Vec<(&Account, usize)> = found
        .iter()
        .filter_map(|c| linked(c).map(|a| (a, c.distance)))
        .collect();
    for (account, distance) in below {
        let mut link = account.link;
        for (parent, step) in directory.above(account.id).into_iter().zip(1_usize..) {
            let how = link.map_or(Overflow::No, |l| l.overflow);
            if how == Overflow::No {
                break;
            }
            let far = distance.saturating_add(step);
            match found.iter_mut().find(|c| c.account == parent.id) {
                Some(known) => known.distance = known.distance.max(far),
                None if how == Overflow::Any => found.push(Candidate {
                    priority: parent.priority,
                    distance: far,
                    fit: [3, 3, 3],
                    ..Candidate::only(parent)
                }),
                None => {}
            }
            link = parent.link;
        }
    }
}

/// The first link where the lists of the account above exclude the request: the account below, and the one
/// above, which would pay otherwise.
pub(super) fn held_back<'a>(
    directory: &'a Directory,
    found: &[Candidate],
) -> Option<(&'a Account, &'a Account)> {
    let pays = |id: AccountId| found.iter().any(|c| c.account == id);
    found.iter().find_map(|candidate| {
        let mut below = directory.account(candidate.account)?;
        for parent in directory.above(candidate.account) {
            match below.link?.overflow {
                Overflow::No => return None,
                Overflow::Listed if !pays(parent.id) => return Some((below, parent)),
                Overflow::Listed | Overflow::Any => below = parent,
            }
        }
        None
    })
}

/// One request against the lists.
struct Query<'a> {
    directory: &'a Directory,
    payer: &'a Payer,
    project: ProjectId,
    lineage: &'a [&'a Project],
    how: User,
}

impl Query<'_> {
    /// The closeness of an account's lists, or the first list that excludes the request.
    fn fit(&self, account: &Account) -> Result<Candidate, Dimension> {
        let (project, distance) = self.fit_project(account).ok_or(Dimension::Project)?;
        let mut candidate = Candidate {
            priority: account.priority,
            distance,
            fit: [project, 3, 3],
            ..Candidate::only(account)
        };
        if self.how == User::Anybody {
            return Ok(candidate);
        }
        let payer = self.payer;
        // Where no project is named, a member of any project is one (ledger.md 4).
        let any_project = project == 3;
        let member = self.how == User::AsMember
            || payer.user.is_some_and(|u| self.is_member(u, any_project));
        let user = payer.user.and_then(|id| self.directory.user(id));
        let user_name = user.map(|u| u.name.as_str());
        let user_fit = best(account, &Dimension::User, |row| match row.value.as_str() {
            "ANY" => Some(3),
            "MEMBERS" => member.then_some(2),
            name => (Some(name) == user_name).then_some(1),
        })
        .ok_or(Dimension::User)?;
        let machine = payer.machine.and_then(|id| self.directory.machine(id));
        let machine_name = machine.map(|m| m.name.as_str());
        // Both as members: of the same project.
        let both = user_fit == 2 && self.how == User::AsIs;
        let with = payer.user.filter(|_| both);
        let machine_fit = best(account, &Dimension::Machine, |row| {
            match row.value.as_str() {
                "ANY" => Some(3),
                "MEMBERS" => payer
                    .machine
                    .is_some_and(|m| self.has_machine(m, any_project, with))
                    .then_some(2),
                name => (Some(name) == machine_name).then_some(1),
            }
        })
        .ok_or(Dimension::Machine)?;
        candidate.fit = [project, user_fit, machine_fit];
        candidate.others = self.fit_others(account)?;
        Ok(candidate)
    }

    /// The closeness of the project list, and the distance of the account's own project above it.
    fn fit_project(&self, account: &Account) -> Option<(u8, usize)> {
        let place = |row: &Constraint| {
            let at = self.lineage.iter().position(|p| p.name == row.value)?;
            (at == 0 || row.subtree).then_some(at)
        };
        let member = |row: &Constraint| match self.how {
            User::AsIs => self.payer.user.is_some_and(|u| self.is_member(u, false)),
            User::AsMember => true,
            User::Anybody => row.allow,
        };
        let fit = best(account, &Dimension::Project, |row| {
            match row.value.as_str() {
                "ANY" => Some(3),
                "MEMBERS" => member(row).then_some(2),
                _ => place(row).map(|_| 1),
            }
        })?;
        let rows = account.constraints.iter();
        let named = rows
            .filter(|c| c.dimension == Dimension::Project && c.allow)
            .filter_map(place);
        Some((fit, named.min().unwrap_or(0)))
    }

    fn is_member(&self, user: UserId, any_project: bool) -> bool {
        let directory = self.directory;
        directory.is_member(self.project, user)
            || (any_project
                && directory
                    .projects()
                    .any(|p| directory.is_member(p.id, user)))
    }

    /// Whether a machine belongs to the project, or to any one; `with` a user only to those that
    /// they are a member of.
    fn has_machine(&self, machine: MachineId, any_project: bool, with: Option<UserId>) -> bool {
        let directory = self.directory;
        let has = |p: ProjectId| {
            directory.is_member_machine(p, machine)
                && with.is_none_or(|user| directory.is_member(p, user))
        };
        has(self.project) || (any_project && directory.projects().any(|p| has(p.id)))
    }

    /// The number of further properties that the lists check, or the first that does not match.
    fn fit_others(&self, account: &Account) -> Result<usize, Dimension> {
        let mut names: Vec<&Dimension> = Vec::new();
        for row in &account.constraints {
            if !row.dimension.is_ordinary() && !names.contains(&&row.dimension) {
                names.push(&row.dimension);
            }
        }
        for dimension in &names {
            best(account, dimension, |row| {
                let any = row.value == "ANY";
                (any || self.has(dimension, &row.value)).then_some(1)
            })
            .ok_or_else(|| (*dimension).clone())?;
        }
        Ok(names.len())
    }

    fn has(&self, dimension: &Dimension, value: &str) -> bool {
        if *dimension != Dimension::Organization {
            let traits = self.payer.traits.as_ref();
            return traits.is_some_and(|t| t.has(dimension, value));
        }
        let project = self.directory.project(self.project);
        let user = self.payer.user.and_then(|id| self.directory.user(id));
        let of_project = project.map(|p| p.organization.as_str());
        let of_user = user.map(|u| u.organization.as_str());
        of_project == Some(value) || of_user == Some(value)
    }
}

/// The closest fit of a list: at least one allow row must match, or only deny rows exist, and no
/// deny row may match; a list without rows matches everything (ledger.md 4).
fn best(
    account: &Account,
    dimension: &Dimension,
    fit: impl Fn(&Constraint) -> Option<u8>,
) -> Option<u8> {
    let (mut closest, mut allows) = (None, false);
    for row in account
        .constraints
        .iter()
        .filter(|c| c.dimension == *dimension)
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
