//! The names of a request, looked up by reference: several times for each command.

use super::{Payer, named};
use crate::command::Whose;
use crate::directory::{Directory, There};
use crate::model::{Facts, Project};
use crate::refusal::short;

/// The names in a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names<'a> {
    project: Option<&'a str>,
    user: Option<&'a str>,
    /// Empty where nobody named one.
    pub(crate) machine: &'a str,
    /// It is for a reservation: its machine's reservation account pays if no other name decides.
    pub(crate) for_reservation: bool,
}

impl<'a> Names<'a> {
    /// Of nobody, on a machine.
    pub(crate) fn on(machine: &'a str, for_reservation: bool) -> Names<'a> {
        Names {
            project: None,
            user: None,
            machine,
            for_reservation,
        }
    }

    /// Those of a request.
    pub(crate) fn of(whose: &'a Whose) -> Names<'a> {
        Names {
            project: whose.project.as_deref(),
            user: whose.user.as_deref(),
            ..Names::on(&whose.machine, whose.for_reservation)
        }
    }

    /// These names, with missing ones from an instance, as [`Whose::or_of`].
    #[must_use]
    pub(crate) fn or_of(self, facts: &'a Facts) -> Names<'a> {
        let known = |name: &'a String| Some(name.as_str()).filter(|name| !name.is_empty());
        Names {
            project: self.project.or_else(|| known(&facts.project)),
            user: self.user.or_else(|| known(&facts.user)),
            ..self
        }
    }

    /// The payer as far as the names exist: usage is never lost (ledger.md 2.8).
    pub(crate) fn payer(&self, directory: &Directory) -> Payer {
        let (payer, project, name) = self.found(directory);
        let project_name = match (project, name) {
            (Some(project), _) => project.name.clone(),
            (None, Some(name)) => short(name),
            (None, None) => String::new(),
        };
        Payer {
            project_name,
            ..payer
        }
    }

    /// The same without the project's name, which costs a copy.
    pub(crate) fn numbers(&self, directory: &Directory) -> Payer {
        self.found(directory).0
    }

    /// Whether it is an administrative reservation of Moab: its owner is `root`, who is no user of the bank,
    /// and the account that pays is named (nami.md 3.2), or is that of reservations without an account (4.1). Any
    /// member's account may pay.
    fn is_administrative(&self, directory: &Directory, of_reservations: Option<&str>) -> bool {
        let is_default = || of_reservations.is_some() && directory.user_named("root").is_none();
        let is_of_root = self.for_reservation && self.user == Some("root");
        is_of_root && (self.project.is_some() || is_default())
    }

    /// With the project, and the name that it was looked for by. A project of a partner has only that name.
    fn found<'d>(&self, directory: &'d Directory) -> (Payer, Option<&'d Project>, Option<&'a str>)
    where
        'd: 'a,
    {
        let machine = directory.any_machine_named(self.machine);
        let of_reservations = machine
            .filter(|_| self.for_reservation)
            .and_then(|m| m.reservation_account.as_deref());
        let is_administrative = self.is_administrative(directory, of_reservations);
        let user = self.user.filter(|_| !is_administrative);
        let user = user.and_then(|name| directory.user_named(name));
        let by_default = user
            .and_then(|u| u.default_project)
            .and_then(|id| directory.project(id));
        let name = match (self.project, by_default) {
            (None, Some(_)) => None,
            (given, _) => given.or(of_reservations),
        };
        let mut payer = Payer {
            user: user.map(|u| u.id),
            machine: machine.map(|m| m.id),
            any_member: is_administrative
                || (name.is_some() && name == of_reservations && self.user.is_none()),
            ..Payer::default()
        };
        let project = match name {
            Some(name) => {
                let found = named(directory, name);
                payer.only = found.and_then(|(_, only)| only);
                let project = found.map(|(project, _)| project);
                if project.is_none()
                    && let Some(there) = directory.at_partner(name)
                {
                    return (at_partner(payer, &there), None, Some(name));
                }
                project
            }
            None => by_default,
        };
        payer.project = project.map(|project| project.id);
        (payer, project, name)
    }
}

/// The account that has what the partner owes pays for its project. The members of the project are the
/// partner's.
fn at_partner(payer: Payer, there: &There<'_, '_>) -> Payer {
    Payer {
        project: Some(there.payer.id),
        only: Some(there.account.id),
        any_member: true,
        ..payer
    }
}
