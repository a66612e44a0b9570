//! Who may pay, and in which order (ledger.md 2.6 and 4).

use super::journal::end_of;
use super::{Account, Facts, Naive, UNBILLED};
use crate::ledger::reply::refused;
use bank_core::command::Whose;
use bank_core::directory::SelectionOrder;
use bank_core::model::{Constraint, Dimension, Mode, Overflow};
use bank_core::time::Timestamp;
use std::cmp::Reverse;

/// Who asks, as far as it is known.
#[derive(Clone, Debug, Default)]
pub(super) struct Payer {
    pub(super) project: Option<String>,
    pub(super) user: Option<String>,
    pub(super) machine: Option<String>,
    /// The one account that the request names in place of a project.
    pub(super) only: Option<usize>,
    /// The project, or what was given for one.
    pub(super) named: String,
}

/// How the lists of users are read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    AsIs,
    /// As if the user were a member.
    AsMember,
    /// Nobody asks for the user or the machine.
    ProjectOnly,
}

/// An account that may pay, and how closely its lists fit: lower is closer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fit {
    pub(super) account: usize,
    pub(super) priority: i64,
    pub(super) distance: usize,
    pub(super) lists: [u8; 3],
    pub(super) others: usize,
}

impl Naive {
    pub(super) fn find(&self, whose: &Whose) -> Payer {
        let user = whose.user.as_deref().and_then(|name| self.user(name));
        let mut payer = Payer {
            user: user.map(|u| u.name.clone()),
            machine: self.machine(&whose.machine).map(|m| m.name.clone()),
            ..Payer::default()
        };
        match &whose.project {
            Some(name) if self.project(name).is_some() => payer.project = Some(name.clone()),
            Some(name) => {
                payer.named.clone_from(name);
                if let Some((account, project)) = self.account_for_a_project(name) {
                    payer.only = Some(account);
                    payer.project = Some(project);
                }
            }
            None => {
                let usual = user.and_then(|u| u.default_project.clone());
                payer.project = usual.filter(|name| self.project(name).is_some());
            }
        }
        if let Some(project) = &payer.project {
            payer.named.clone_from(project);
        }
        payer
    }

    /// An account whose only project constraint is one project (decisions.md 16).
    fn account_for_a_project(&self, name: &str) -> Option<(usize, String)> {
        let account = self.account(name)?;
        let lists = self.accounts[account].lists.iter();
        let named: Vec<&Constraint> = lists
            .filter(|c| c.dimension == Dimension::Project && c.allow)
            .collect();
        let [only] = named.as_slice() else {
            return None;
        };
        self.project(&only.value)?;
        Some((account, only.value.clone()))
    }

    /// The same for requests that may be refused, in the order of ledger.md 2.6.
    pub(super) fn resolve(&self, whose: &Whose) -> Result<Payer, String> {
        let payer = self.find(whose);
        let is_known =
            |name: &Option<String>, found: &Option<String>| name.is_none() || found.is_some();
        if !is_known(&whose.project, &payer.project) {
            return Err(refused("project_unknown"));
        }
        if !is_known(&whose.user, &payer.user) {
            return Err(refused("user_unknown"));
        }
        let Some(project) = payer.project.as_deref().and_then(|name| self.project(name)) else {
            return Err(refused("no_default_project"));
        };
        if self.machine_at(&whose.machine).is_err() {
            return Err(refused("machine_unknown"));
        }
        let user = payer.user.as_deref().and_then(|name| self.user(name));
        if user.is_some_and(|u| !u.is_active) {
            return Err(refused("user_inactive"));
        }
        if !project.is_active {
            return Err(refused("project_inactive"));
        }
        let machine = payer.machine.as_deref().and_then(|name| self.machine(name));
        if machine.is_some_and(|m| !m.is_active) {
            return Err(refused("machine_inactive"));
        }
        Ok(payer)
    }

    pub(super) fn mode(&self, payer: &Payer) -> Mode {
        let project = payer.project.as_deref().and_then(|name| self.project(name));
        let machine = payer.machine.as_deref().and_then(|name| self.machine(name));
        if machine.is_some_and(|m| m.is_test) {
            return Mode::Track;
        }
        let own = project.and_then(|p| p.mode);
        own.or(machine.and_then(|m| m.mode))
            .unwrap_or(self.policy.mode)
    }

    /// The accounts that may pay for a request, or why there is none.
    pub(super) fn usable(&self, whose: &Whose, facts: &Facts) -> Result<Vec<Fit>, String> {
        let payer = self.resolve(whose)?;
        let found = self.fitting(&payer, facts, Reading::AsIs);
        if !found.is_empty() {
            return Ok(found);
        }
        if self.fitting(&payer, facts, Reading::AsMember).is_empty() {
            return Err(refused("no_usable_account"));
        }
        Err(refused("not_a_member"))
    }

    /// Those that no charge in mode `fast` has blocked.
    pub(super) fn unblocked(&self, mut fits: Vec<Fit>) -> Result<Vec<Fit>, String> {
        fits.retain(|f| !self.accounts[f.account].is_blocked);
        if fits.is_empty() {
            return Err(refused("account_blocked"));
        }
        Ok(fits)
    }

    /// Who is billed for what was used: those who may pay, else every account of the project. For
    /// an unknown user every account of the project is billed, unless one of its own may pay.
    pub(super) fn billable(&self, payer: &Payer, facts: &Facts) -> Vec<Fit> {
        let mut found = self.fitting(payer, facts, Reading::AsIs);
        let is_own = |fit: &Fit| fit.lists[0] == 1;
        if found.is_empty() || (payer.user.is_none() && !found.iter().any(is_own)) {
            let all = self.fitting(payer, facts, Reading::ProjectOnly);
            let is_new = |fit: &Fit| found.iter().all(|known| known.account != fit.account);
            let more: Vec<Fit> = all.into_iter().filter(is_new).collect();
            found.extend(more);
        }
        found
    }

    /// The allocations that are billed. Where those who may pay have none then, every account of the
    /// project is.
    pub(super) fn billing_order(&self, payer: &Payer, facts: &Facts, at: Timestamp) -> Vec<usize> {
        let order = self.order(&self.billable(payer, facts), at);
        if order.is_empty() {
            return self.order(&self.fitting(payer, facts, Reading::ProjectOnly), at);
        }
        order
    }

    pub(super) fn fitting(&self, payer: &Payer, facts: &Facts, how: Reading) -> Vec<Fit> {
        if payer.project.is_none() {
            return Vec::new();
        }
        let mut found: Vec<Fit> = Vec::new();
        for (at, account) in self.accounts.iter().enumerate() {
            let wanted = payer.only.is_none_or(|only| only == at);
            if at != UNBILLED && !account.is_gone && wanted {
                found.extend(self.fit(at, account, payer, facts, how));
            }
        }
        if payer.only.is_none() {
            self.add_those_above(&mut found);
        }
        found
    }

    /// Accounts above those found, generation by generation, as far as links overflow.
    fn add_those_above(&self, found: &mut Vec<Fit>) {
        for child in found.clone() {
            let (mut below, mut far) = (child.account, child.distance);
            while let Some(above) = self.above(below) {
                let link = self.accounts[below].overflow;
                if link == Overflow::No {
                    break;
                }
                far += 1;
                match found.iter_mut().find(|f| f.account == above) {
                    Some(known) => known.distance = known.distance.max(far),
                    None if link == Overflow::Any => found.push(Fit {
                        account: above,
                        priority: self.accounts[above].priority,
                        distance: far,
                        lists: [3; 3],
                        others: 0,
                    }),
                    None => {}
                }
                below = above;
            }
        }
    }

    /// The account above one, if it is there.
    pub(super) fn above(&self, account: usize) -> Option<usize> {
        let parent = self.accounts[account].parent?;
        (!self.accounts[parent].is_gone).then_some(parent)
    }

    /// A project and those above it.
    pub(super) fn line_of(&self, project: &str) -> Vec<String> {
        let mut line = vec![project.to_owned()];
        let parent = |name: &str| {
            let found = self.projects.iter().find(|p| p.name == name);
            found.and_then(|p| p.parent.clone())
        };
        while let Some(next) = line.last().and_then(|last| parent(last)) {
            line.push(next);
        }
        line
    }

    fn is_member(&self, user: Option<&str>, project: Option<&str>) -> bool {
        let mut there = self.projects.iter().filter(|p| !p.is_gone);
        there.any(|p| {
            let is_requested = project.is_none_or(|name| name == p.name);
            is_requested
                && p.members
                    .iter()
                    .any(|(u, on)| *on && Some(u.as_str()) == user)
        })
    }

    fn fit(
        &self,
        at: usize,
        account: &Account,
        payer: &Payer,
        facts: &Facts,
        how: Reading,
    ) -> Option<Fit> {
        let project = payer.project.as_deref()?;
        let line = self.line_of(project);
        let place = |c: &Constraint| {
            let place = line.iter().position(|name| *name == c.value)?;
            (place == 0 || c.subtree).then_some(place)
        };
        let of_project = closest(account, &Dimension::Project, |c| match c.value.as_str() {
            "ANY" => Some(3),
            "MEMBERS" => match how {
                Reading::AsIs => self.is_member(payer.user.as_deref(), Some(project)),
                Reading::AsMember => true,
                Reading::ProjectOnly => c.allow,
            }
            .then_some(2),
            _ => place(c).map(|_| 1),
        })?;
        let named = account.lists.iter();
        let named = named.filter(|c| c.dimension == Dimension::Project && c.allow);
        let mut fit = Fit {
            account: at,
            priority: account.priority,
            distance: named.filter_map(place).min().unwrap_or(0),
            lists: [of_project, 3, 3],
            others: 0,
        };
        if how == Reading::ProjectOnly {
            return Some(fit);
        }
        // With any project, a member of any one is a member.
        let considered = Some(project).filter(|_| of_project != 3);
        let is_member =
            how == Reading::AsMember || self.is_member(payer.user.as_deref(), considered);
        fit.lists[1] = closest(account, &Dimension::User, |c| match c.value.as_str() {
            "ANY" => Some(3),
            "MEMBERS" => is_member.then_some(2),
            name => (Some(name) == payer.user.as_deref()).then_some(1),
        })?;
        // Both as members: of the same project.
        let with_user = fit.lists[1] == 2 && how == Reading::AsIs && payer.user.is_some();
        fit.lists[2] = closest(account, &Dimension::Machine, |c| match c.value.as_str() {
            "ANY" => Some(3),
            "MEMBERS" => self.has_machine(payer, considered, with_user).then_some(2),
            name => (Some(name) == payer.machine.as_deref()).then_some(1),
        })?;
        fit.others = self.others(account, payer, facts)?;
        Some(fit)
    }

    fn has_machine(&self, payer: &Payer, project: Option<&str>, with_user: bool) -> bool {
        let mut there = self.projects.iter().filter(|p| !p.is_gone);
        there.any(|p| {
            let is_requested = project.is_none_or(|name| name == p.name);
            let has = p.machines.iter().any(|m| Some(m) == payer.machine.as_ref());
            is_requested
                && has
                && (!with_user || self.is_member(payer.user.as_deref(), Some(&p.name)))
        })
    }

    /// How many further properties the lists ask for; none where one does not fit.
    fn others(&self, account: &Account, payer: &Payer, facts: &Facts) -> Option<usize> {
        let mut names: Vec<Dimension> = Vec::new();
        for c in &account.lists {
            if !c.dimension.is_ordinary() && !names.contains(&c.dimension) {
                names.push(c.dimension.clone());
            }
        }
        for name in &names {
            let is = |c: &Constraint| c.value == "ANY" || self.has(name, &c.value, payer, facts);
            closest(account, name, |c| is(c).then_some(1))?;
        }
        Some(names.len())
    }

    fn has(&self, name: &Dimension, value: &str, payer: &Payer, facts: &Facts) -> bool {
        match name {
            Dimension::Class => facts.usage.class.as_deref() == Some(value),
            Dimension::Qos => facts.usage.qos.as_deref() == Some(value),
            Dimension::Group => facts.group == value,
            Dimension::Organization => {
                let project = payer.project.as_deref().and_then(|p| self.project(p));
                let user = payer.user.as_deref().and_then(|u| self.user(u));
                project.is_some_and(|p| p.organization == value)
                    || user.is_some_and(|u| u.organization == value)
            }
            Dimension::Attribute(name) => {
                let mut given = facts.usage.attributes.iter();
                given.any(|(n, v)| n.eq_ignore_ascii_case(name) && v == value)
            }
            Dimension::Project | Dimension::User | Dimension::Machine => unreachable!("ordinary"),
        }
    }

    /// The allocations of these accounts that are usable then, in paying order.
    pub(super) fn order(&self, fits: &[Fit], at: Timestamp) -> Vec<usize> {
        let is_first = self.policy.order == SelectionOrder::HierarchyFirst;
        let mut order = Vec::new();
        for fit in fits {
            for id in self.of_account(fit.account) {
                let allocation = &self.allocations[id];
                if !allocation.window.contains(at) {
                    continue;
                }
                let level = if is_first { fit.distance } else { 0 };
                let start = allocation.window.start.map_or(i64::MIN, |t| t.0);
                let close = (fit.distance, fit.lists, Reverse(fit.others));
                let end = end_of(allocation);
                order.push(((fit.priority, level, end, close, start, id), id));
            }
        }
        order.sort_unstable();
        order.into_iter().map(|(_, id)| id).collect()
    }

    /// The account that would pay first.
    pub(super) fn first_payer(&self, fits: &[Fit], at: Timestamp) -> Option<usize> {
        let first = self.order(fits, at).first().copied();
        let by = |f: &&Fit| {
            (
                f.priority,
                f.distance,
                f.lists,
                Reverse(f.others),
                f.account,
            )
        };
        let closest = || fits.iter().min_by_key(by).map(|f| f.account);
        first
            .map(|id| self.allocations[id].account)
            .or_else(closest)
    }
}

impl Fit {
    /// An account that pays whatever its lists say.
    pub(super) fn only(account: usize) -> Fit {
        Fit {
            account,
            priority: 0,
            distance: 0,
            lists: [1; 3],
            others: 0,
        }
    }
}

/// The closest row of a list: at least one allow row must match, or only deny rows exist, and no
/// deny row may; a list that is not there matches everything (ledger.md 4).
fn closest(
    account: &Account,
    dimension: &Dimension,
    matches: impl Fn(&Constraint) -> Option<u8>,
) -> Option<u8> {
    let rows: Vec<&Constraint> = account
        .lists
        .iter()
        .filter(|c| c.dimension == *dimension)
        .collect();
    if rows.iter().any(|c| !c.allow && matches(c).is_some()) {
        return None;
    }
    if rows.iter().all(|c| !c.allow) {
        return Some(3);
    }
    let allowed = rows.iter().filter(|c| c.allow);
    allowed.filter_map(|c| matches(c)).min()
}
