//! The accounts from which a caller may spend, with incomplete facts about the caller (ledger.md 2.5, 2.6):
//! for questions only. The rules, with complete facts, decide for commands.

use bank_core::command::Whose;
use bank_core::directory::Directory;
use bank_core::model::{Account, Constraint, Dimension, Machine, Overflow, Project, User};
use bank_core::select;
use bankd_store::read::fallback::ShortJob;

/// The project, user and machine of a question; an absent one is a wildcard.
#[derive(Clone, Copy, Debug, Default)]
pub struct By<'a> {
    /// For which project.
    pub project: Option<&'a Project>,
    /// Which user.
    pub user: Option<&'a User>,
    /// On which machine.
    pub machine: Option<&'a Machine>,
}

/// Whether these may spend from an account: its lists allow them, or it pays after an account below it,
/// independent of its own lists.
pub fn usable(directory: &Directory, account: &Account, by: By<'_>) -> bool {
    let listed = |account: &Account| by.is_listed(directory, account);
    listed(account) || is_behind(directory, account, &[Overflow::Any], &listed)
}

/// Whether one of the accounts below lets them spend and overflows into this one.
fn is_behind(
    directory: &Directory,
    account: &Account,
    over: &[Overflow],
    listed: &impl Fn(&Account) -> bool,
) -> bool {
    let both = [Overflow::Listed, Overflow::Any];
    let mut below = directory.children_of(account.id);
    below.any(|child| {
        child.link.is_some_and(|l| over.contains(&l.overflow))
            && (listed(child) || is_behind(directory, child, &both, listed))
    })
}

impl<'a> By<'a> {
    /// Whether both name somebody for the same, and not the same one.
    pub fn contradicts(self, other: By<'_>) -> bool {
        let differ =
            |own: Option<i64>, other: Option<i64>| own.zip(other).is_some_and(|(a, b)| a != b);
        differ(self.project.map(|p| p.id.0), other.project.map(|p| p.id.0))
            || differ(self.user.map(|u| u.id.0), other.user.map(|u| u.id.0))
            || differ(self.machine.map(|m| m.id.0), other.machine.map(|m| m.id.0))
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: By<'a>) -> By<'a> {
        By {
            project: self.project.or(other.project),
            user: self.user.or(other.user),
            machine: self.machine.or(other.machine),
        }
    }

    /// Whether an account's own lists let these spend from it.
    fn is_listed(self, directory: &Directory, account: &Account) -> bool {
        let of_project = |row: &Constraint| self.is_of_project(directory, row);
        (self.project.is_none() || allows(account, &Dimension::Project, of_project))
            && self.user.is_none_or(|user| {
                let of_user = |row: &Constraint| self.is_of_user(directory, account, row, user);
                allows(account, &Dimension::User, of_user)
            })
            && self.machine.is_none_or(|machine| {
                let of_machine = |row: &Constraint| self.is_of_machine(directory, row, machine);
                allows(account, &Dimension::Machine, of_machine)
            })
    }

    fn is_of_project(self, directory: &Directory, row: &Constraint) -> bool {
        match row.value.as_str() {
            "ANY" => true,
            "MEMBERS" => match (self.project, self.user) {
                (Some(project), Some(user)) => directory.is_member(project.id, user.id),
                _ => row.allow,
            },
            _ => {
                let lineage = self.project.map(|p| directory.lineage(p.id));
                let lineage = lineage.unwrap_or_default();
                let place = lineage.iter().position(|p| p.name == row.value);
                place.is_some_and(|at| at == 0 || row.subtree)
            }
        }
    }

    fn is_of_user(
        self,
        directory: &Directory,
        account: &Account,
        row: &Constraint,
        user: &User,
    ) -> bool {
        match (row.value.as_str(), self.project) {
            ("ANY", _) => true,
            ("MEMBERS", Some(project)) => directory.is_member(project.id, user.id),
            ("MEMBERS", None) => directory
                .projects()
                .filter(|project| {
                    let any_user = By {
                        project: Some(project),
                        ..By::default()
                    };
                    any_user.is_listed(directory, account)
                })
                .any(|project| directory.is_member(project.id, user.id)),
            (name, _) => name == user.name,
        }
    }

    fn is_of_machine(self, directory: &Directory, row: &Constraint, machine: &Machine) -> bool {
        match (row.value.as_str(), self.project) {
            ("ANY", _) => true,
            ("MEMBERS", Some(project)) => directory.is_member_machine(project.id, machine.id),
            ("MEMBERS", None) => directory
                .projects()
                .any(|project| directory.is_member_machine(project.id, machine.id)),
            (name, _) => name == machine.name,
        }
    }
}

/// At least one row allows, or there are none that do, and no row denies (ledger.md 4).
fn allows(account: &Account, dimension: &Dimension, fits: impl Fn(&Constraint) -> bool) -> bool {
    let own = |c: &&Constraint| c.dimension == *dimension;
    let mut rows = account.constraints.iter().filter(own);
    if rows.clone().any(|c| !c.allow && fits(c)) {
        return false;
    }
    let mut allowing = rows.clone().filter(|c| c.allow);
    allowing.next().is_none() || rows.any(|c| c.allow && fits(c))
}

/// Whether a job was paid by an account that its first project could not have used by itself.
pub fn ran_elsewhere(directory: &Directory, job: &ShortJob) -> bool {
    let Some(paying) = job.account else {
        return false;
    };
    if job.covered || job.fallback_from.is_some() || job.ran_as != job.project {
        return true;
    }
    let whose = Whose {
        project: Some(job.project.clone()),
        user: Some(job.user.clone()).filter(|user| !user.is_empty()),
        machine: job.machine.clone(),
        ..Whose::default()
    };
    let payer = select::find(directory, &whose);
    let own = select::billable(directory, &payer);
    own.iter().all(|candidate| candidate.account != paying)
}
