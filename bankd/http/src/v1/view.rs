//! Objects that a path or a body names, in the view of the caller. A hidden object does not exist for the
//! caller: the same 404, and no hint names it.

use std::sync::Arc;

use bank_core::directory::Directory;
use bank_core::model::{Account, Machine, Project, User};
use bank_core::refusal::Refusal;
use bank_core::time::Timestamp;
pub(super) use bankd_ledger::view::{View, change, readers};

use crate::auth::Authenticated;
use crate::error::Failure;

/// The view of a caller at an instant.
pub(super) fn of(directory: &Arc<Directory>, auth: &Authenticated, now: Timestamp) -> View {
    let view = View::of(directory, &auth.caller.scope, auth.user.clone(), now);
    if auth.of_own_projects {
        return view.of_own_projects();
    }
    view
}

/// Finds objects by name, or refuses.
pub(super) trait Lookup {
    /// A project in view.
    fn project(&self, name: &str) -> Result<&Project, Failure>;

    /// The same, including removed projects.
    fn project_ever(&self, name: &str) -> Result<&Project, Failure>;

    /// A user in view.
    fn user(&self, name: &str) -> Result<&User, Failure>;

    /// A machine in view.
    fn machine(&self, name: &str) -> Result<&Machine, Failure>;

    /// The same, including removed machines.
    fn machine_ever(&self, name: &str) -> Result<&Machine, Failure>;

    /// A visible account, by name, else by number. For a restricted caller, hidden and missing numbers give
    /// the same error (decisions.md 23).
    fn account(&self, name: &str) -> Result<&Account, Failure>;

    /// The same, including removed accounts.
    fn account_ever(&self, name: &str) -> Result<&Account, Failure>;

    /// 404 for a name that is unknown or hidden, with the nearest one in view.
    fn unknown(&self, kind: &str, name: &str) -> Failure;
}

impl Lookup for View {
    fn project(&self, name: &str) -> Result<&Project, Failure> {
        let found = self.project_ever(name)?;
        let found = Some(found).filter(|project| !project.deleted);
        found.ok_or_else(|| self.unknown("project", name))
    }

    fn project_ever(&self, name: &str) -> Result<&Project, Failure> {
        let found = self.directory().any_project_named(name);
        found
            .filter(|p| self.sees_project(p))
            .ok_or_else(|| self.unknown("project", name))
    }

    fn user(&self, name: &str) -> Result<&User, Failure> {
        let found = self.directory().user_named(name);
        found
            .filter(|u| self.sees_user(u))
            .ok_or_else(|| self.unknown("user", name))
    }

    fn machine(&self, name: &str) -> Result<&Machine, Failure> {
        let found = self.machine_ever(name)?;
        let found = Some(found).filter(|machine| !machine.deleted);
        found.ok_or_else(|| self.unknown("machine", name))
    }

    fn machine_ever(&self, name: &str) -> Result<&Machine, Failure> {
        let found = self.directory().any_machine_named(name);
        found
            .filter(|m| self.sees_machine(&m.name))
            .ok_or_else(|| self.unknown("machine", name))
    }

    fn account(&self, name: &str) -> Result<&Account, Failure> {
        account(self, name, |a| !a.deleted)
    }

    fn account_ever(&self, name: &str) -> Result<&Account, Failure> {
        account(self, name, |_| true)
    }

    fn unknown(&self, kind: &str, name: &str) -> Failure {
        let unknown = Refusal::not_found(kind.to_owned(), name);
        let failure = Failure::refused(&unknown, &self.directory().bank);
        match self.did_you_mean(kind, name) {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

fn account<'a>(
    view: &'a View,
    name: &str,
    fits: fn(&Account) -> bool,
) -> Result<&'a Account, Failure> {
    view.find_account(name, fits).ok_or_else(|| {
        if name.parse::<i64>().is_ok() && !view.is_unlimited() {
            let what = format!("account {name}");
            return Failure::refused(&Refusal::NotAllowed { what }, &view.directory().bank);
        }
        view.unknown("account", name)
    })
}
