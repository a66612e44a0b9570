//! Which accounts may pay, and which allocation pays first (ledger.md 2.6).
//!
//! The most-read file of the bank: keep it short.

mod lists;
mod names;

use crate::command::{Scope, Whose};
use crate::directory::Directory;
use crate::ids::{AccountId, AllocationId, MachineId, ProjectId, UserId};
use crate::model::{Account, Allocation, Dimension, Project, Traits};
use crate::refusal::{Refusal, short};
use crate::time::Timestamp;
use crate::usage::Usage;
use lists::{User, matching};
use std::cmp::Reverse;

pub(crate) use names::Names;

/// The payer, resolved from names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Payer {
    /// The project; none for usage that no project could be found for.
    pub project: Option<ProjectId>,
    /// The user, if known.
    pub user: Option<UserId>,
    /// The machine, if known.
    pub machine: Option<MachineId>,
    /// The only account that may pay, where the request named one (decisions.md 16).
    pub only: Option<AccountId>,
    /// An administrative reservation, or one without a user under its machine's reservation account: any
    /// member will do.
    pub any_member: bool,
    /// The project's name, or what was given for it.
    pub project_name: String,
    /// Further traits of the request, if any account's lists check them.
    pub traits: Option<Box<Traits>>,
}

impl Payer {
    /// Adds class, quality of service, attributes and group of the request. They are kept only if an
    /// account's lists check them: most banks have no such lists.
    #[must_use]
    pub fn knowing(mut self, directory: &Directory, usage: &Usage, group: &str) -> Payer {
        if directory.looks_at_traits() {
            self.traits = Some(Box::new(Traits {
                usage: usage.clone(),
                group: group.to_owned(),
            }));
        }
        self
    }
}

/// An account that may pay, and how closely its lists fit: 1 by name, 2 by `MEMBERS`, 3 by `ANY`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The account.
    pub account: AccountId,
    /// Lower is spent first, before the end time.
    pub priority: i64,
    /// 0 for the project's own account, 1 for one of the project above it, and so on; an account
    /// that pays as another one's parent is one step farther than that.
    pub distance: usize,
    /// The criterion before the end time: the distance in order `hierarchy-first`, else 0.
    pub level: usize,
    /// The closeness of the project, user and machine lists.
    pub fit: [u8; 3],
    /// The number of other properties that its lists check: more are closer.
    pub others: usize,
    /// One of its allocations pays whole, or none.
    pub discrete: bool,
}

impl Candidate {
    /// An account that pays before all others, independent of its lists.
    pub fn only(account: &Account) -> Candidate {
        Candidate {
            account: account.id,
            priority: 0,
            distance: 0,
            level: 0,
            fit: [1, 1, 1],
            others: 0,
            discrete: account.discrete,
        }
    }
}

/// Finds project, user and machine of a request that may be refused (quote, create, reserve). Refuses unknown
/// or disabled ones, in the order of ledger.md 2.6. A user who is hidden from the caller counts as missing
/// (docs/reference/roles.md).
pub fn resolve(directory: &Directory, scope: &Scope, whose: &Whose) -> Result<Payer, Refusal> {
    let mut payer = find(directory, whose);
    if is_hidden(directory, scope, &payer) {
        payer.user = None;
    }
    if let (None, Some(project)) = (payer.project, &whose.project) {
        return Err(Refusal::ProjectUnknown {
            project: short(project),
        });
    }
    let user_name = whose.user.as_deref().unwrap_or_default();
    if whose.user.is_some() && payer.user.is_none() && !payer.any_member {
        return Err(Refusal::UserUnknown {
            user: short(user_name),
        });
    }
    let Some(project) = payer.project.and_then(|id| directory.project(id)) else {
        return Err(Refusal::NoDefaultProject);
    };
    let machine = payer.machine.and_then(|id| directory.machine(id));
    let machine = machine.filter(|machine| !machine.deleted);
    let is_there = || directory.is_machine_of_partner(&whose.machine);
    if machine.is_none() && !whose.machine.is_empty() && !is_there() {
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
    let given = whose.project.as_deref().unwrap_or_default();
    let there = directory
        .at_partner(given)
        .filter(|_| given != project.name);
    if !project.active || there.is_some_and(|there| !there.partner.flag("active")) {
        return Err(Refusal::ProjectInactive {
            project: payer.project_name,
        });
    }
    if machine.is_some_and(|m| !m.active) {
        return Err(Refusal::MachineInactive {
            machine: short(&whose.machine),
        });
    }
    Ok(payer)
}

/// Whether the user of a request is hidden from a caller with single projects: no member of these projects,
/// and not allowed to spend by any account of the named project.
fn is_hidden(directory: &Directory, scope: &Scope, payer: &Payer) -> bool {
    let Some(user) = payer.user.filter(|_| !scope.projects.is_empty()) else {
        return false;
    };
    let is_member = |project: ProjectId| directory.membership(project, user).is_some();
    if payer.project.is_some_and(is_member) {
        return false;
    }
    let all = directory.projects().filter(|p| is_member(p.id));
    let default = directory.user(user).and_then(|u| u.default_project);
    let mut theirs = all.map(|p| p.id).chain(default);
    let is_seen = |id: ProjectId| scope.has_project(directory, Some(id), "");
    !theirs.any(is_seen) && matching(directory, payer, User::AsIs).is_empty()
}

/// Finds what can be found of a request: usage is never lost (ledger.md 2.8).
pub fn find(directory: &Directory, whose: &Whose) -> Payer {
    Names::of(whose).payer(directory)
}

/// The project of a name; else that of the account of that name, which is then the only one that may
/// pay (decisions.md 16).
pub fn named<'a>(directory: &'a Directory, name: &str) -> Option<(&'a Project, Option<AccountId>)> {
    let account = || {
        let (account, project) = account_with_one_project(directory, name)?;
        Some((project, Some(account)))
    };
    let project = directory.project_named(name);
    project.map(|project| (project, None)).or_else(account)
}

/// Whether a name is that of a project here, or at a partner bank whose projects may run here.
pub fn is_payer(directory: &Directory, name: &str) -> bool {
    named(directory, name).is_some() || directory.at_partner(name).is_some()
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

/// The accounts whose lists match, or the reason why none does (ledger.md 2.6).
pub fn candidates(
    directory: &Directory,
    payer: &Payer,
    user: &str,
) -> Result<Vec<Candidate>, Refusal> {
    if payer.any_member {
        return for_any_member(directory, payer);
    }
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

/// The accounts to bill for past usage: those whose lists match, else all of the project's, for any user. The
/// project is billed for an unknown user, not only its accounts that are open to every project (ledger.md
/// 2.8).
pub fn billable(directory: &Directory, payer: &Payer) -> Vec<Candidate> {
    let how = if payer.any_member {
        User::AsMember
    } else {
        User::AsIs
    };
    let mut found = matching(directory, payer, how);
    let has_own = || found.iter().any(|candidate| candidate.fit[0] == 1);
    if found.is_empty() || !(payer.user.is_some() || has_own()) {
        let all = matching(directory, payer, User::Anybody);
        let more = |c: &Candidate| found.iter().all(|known| known.account != c.account);
        let more: Vec<Candidate> = all.into_iter().filter(more).collect();
        found.extend(more);
    }
    found
}

/// All accounts of the project, for any user: billed if nobody else can be.
pub fn anybody(directory: &Directory, payer: &Payer) -> Vec<Candidate> {
    matching(directory, payer, User::Anybody)
}

/// The accounts near the project that do not pay for a request, each with its list that excludes the request.
/// There is no list if the request names another account as the only one. `billed`: for past usage, not for
/// permission to spend.
pub fn unfit(
    directory: &Directory,
    payer: &Payer,
    billed: bool,
) -> Vec<(AccountId, Option<Dimension>)> {
    let user = if payer.any_member {
        User::AsMember
    } else {
        User::AsIs
    };
    let mut found = lists::unfit(directory, payer, user);
    if billed {
        let fit = billable(directory, payer);
        found.retain(|(id, _)| fit.iter().all(|candidate| candidate.account != *id));
    } else {
        let fit = matching(directory, payer, user);
        found.retain(|(id, _)| fit.iter().all(|candidate| candidate.account != *id));
    }
    found
}

/// The first link that keeps money above these accounts out of reach: an account that overflows into its
/// parent, and that parent, whose own lists exclude the request.
pub fn held_back<'a>(
    directory: &'a Directory,
    candidates: &[Candidate],
) -> Option<(&'a Account, &'a Account)> {
    lists::held_back(directory, candidates)
}

/// The allocations that are billed, in the order in which they pay. Where those that match have
/// none to bill, all of the project's do.
pub fn billing_order(
    directory: &Directory,
    payer: &Payer,
    allocations: &[Allocation],
    at: Timestamp,
) -> Vec<AllocationId> {
    let order = paying_order(&billable(directory, payer), allocations, at);
    if order.is_empty() {
        let all = matching(directory, payer, User::Anybody);
        return paying_order(&all, allocations, at);
    }
    order
}

/// Keeps the allocations of a paying order that existed at an instant: one without a start pays from its
/// creation on. If later ones may pay, they follow the others.
pub fn in_time(
    order: &[AllocationId],
    allocations: &[Allocation],
    at: Timestamp,
    may_be_later: bool,
) -> Vec<AllocationId> {
    let find = |id: &AllocationId| allocations.iter().find(|a| a.id == *id);
    let is_later = |id: &AllocationId| find(id).is_some_and(|a| a.is_later_than(at));
    let (later, mut there): (Vec<_>, Vec<_>) = order.iter().copied().partition(is_later);
    if may_be_later {
        there.extend(later);
    }
    there
}

/// The allocations of these accounts that are usable at an instant, in the order in which they pay:
/// priority, earliest end, distance, closeness of project, user and machine, other properties asked
/// for, start, number; in order `hierarchy-first` the distance goes before the end.
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
        let closeness = (by.distance, by.fit, Reverse(by.others));
        Some(((by.priority, by.level, end, closeness, start, a.id), a.id))
    });
    let mut ranked: Vec<_> = ranked.collect();
    ranked.sort_unstable_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, id)| id).collect()
}

/// The first payer of these: the account of the first allocation in paying order, or the closest one if none
/// has an allocation.
pub fn first_payer(
    candidates: &[Candidate],
    allocations: &[Allocation],
    at: Timestamp,
) -> Option<AccountId> {
    let first = paying_order(candidates, allocations, at).first().copied();
    let paying = first.and_then(|id| allocations.iter().find(|a| a.id == id));
    let closest = || {
        let by = |c: &&Candidate| (c.priority, c.distance, c.fit, Reverse(c.others), c.account);
        candidates.iter().min_by_key(by).map(|c| c.account)
    };
    paying.map(|a| a.account).or_else(closest)
}

/// The distribution of a deposit into an account over it and those below it: children in the order of their
/// numbers, each before its parent. Every share is rounded down to the bank's smallest unit. If the shares
/// make 100, the last child takes the rest (ledger.md 2.1). Parts of zero are left out.
pub fn spread(directory: &Directory, account: AccountId, amount: i64) -> Vec<(AccountId, i64)> {
    let mut parts = Vec::new();
    spread_below(directory, account, amount, 0, &mut parts);
    if parts.is_empty() {
        parts.push((account, amount));
    }
    parts
}

fn spread_below(
    directory: &Directory,
    account: AccountId,
    amount: i64,
    depth: usize,
    parts: &mut Vec<(AccountId, i64)>,
) {
    let share = |a: &Account| a.link.map_or(0, |l| l.share);
    let children: Vec<&Account> = directory
        .children_of(account)
        .filter(|a| share(a) > 0 && depth < crate::directory::DEPTH_MAX)
        .collect();
    let sum: u32 = children.iter().map(|a| u32::from(share(a))).sum();
    let mut left = amount;
    for (n, child) in (1_usize..).zip(&children) {
        let whole = i128::from(amount).saturating_mul(i128::from(share(child)));
        let part = i64::try_from(whole.div_euclid(100)).unwrap_or(left);
        let takes_rest = sum == 100 && n == children.len();
        let part = if takes_rest { left } else { part.min(left) };
        left = left.saturating_sub(part);
        spread_below(directory, child.id, part, depth.saturating_add(1), parts);
    }
    if left > 0 {
        parts.push((account, left));
    }
}

/// The account a person means by a name: the account, else the project's only one (decisions.md 16).
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

/// Every account that may pay for a request, fallback accounts included: these must be loaded before any
/// decision.
pub fn possible_payers(directory: &Directory, whose: &Whose) -> Vec<AccountId> {
    let payer = Names::of(whose).numbers(directory);
    let mut ids: Vec<AccountId> = Vec::new();
    for candidate in matching(directory, &payer, User::Anybody) {
        ids.push(candidate.account);
        let account = directory.account(candidate.account);
        let fallback = account.and_then(|a| directory.fallback_of(a, payer.machine));
        ids.extend(fallback.map(|f| f.id));
    }
    ids
}

#[cfg(test)]
mod tests;
