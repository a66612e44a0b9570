//! Partner banks by the names of their projects and machines (decision 0174).

use super::Directory;
use crate::kind::{Key, Record};
use crate::model::{Account, Project};

/// A project of a partner, as a request names it.
#[derive(Clone, Copy, Debug)]
pub struct There<'d, 'n> {
    /// The name of the project at the partner.
    pub project: &'n str,
    /// The record of the partner.
    pub partner: &'d Record,
    /// The project here whose account has what the partner owes.
    pub payer: &'d Project,
    /// That account.
    pub account: &'d Account,
}

impl Directory {
    /// The partner and its project that a name such as `chem@physics.example` means. None if no partner has
    /// that name, or if its record names no account here.
    pub fn at_partner<'d, 'n>(&'d self, name: &'n str) -> Option<There<'d, 'n>> {
        let (project, bank) = name.rsplit_once('@')?;
        let partner = self.records.named("partner", bank)?;
        let (payer, account) = self.owed_by(partner)?;
        (!project.is_empty()).then_some(There {
            project,
            partner,
            payer,
            account,
        })
    }

    /// The project at a partner and the partner's name, for a name such as `chem@physics.example` that no project
    /// here has. The partner may have been removed since, or have no account any more: its uses stay its own.
    pub fn used_by_partner<'n>(&self, name: &'n str) -> Option<(&'n str, &'n str)> {
        let (project, bank) = name.rsplit_once('@')?;
        self.records.ever("partner", &Key::Name(bank.to_owned()))?;
        let is_there = !project.is_empty() && self.project_named(name).is_none();
        is_there.then_some((project, bank))
    }

    /// The account that has what a partner owes, with its project.
    pub fn owed_by(&self, partner: &Record) -> Option<(&Project, &Account)> {
        let account = self.account_named(partner.text("account"))?;
        let project = self.project_named(account.only_project()?)?;
        Some((project, account))
    }

    /// Whether a name is that of a machine of a partner, such as `colony@computing.example`.
    pub fn is_machine_of_partner(&self, name: &str) -> bool {
        let partner = name.rsplit_once('@').map(|(_, bank)| bank);
        partner.is_some_and(|bank| self.records.named("partner", bank).is_some())
    }

    /// Whether a partner may charge a project of this bank.
    pub fn is_open_to(&self, partner: &Record, project: &str) -> bool {
        // Nobody charges a third bank through this one.
        if self.project_named(project).is_none() && self.at_partner(project).is_some() {
            return false;
        }
        let open = partner.list("projects");
        if open.is_empty() {
            return true;
        }
        let own = self.project_named(project).map(|own| self.lineage(own.id));
        let above = own.unwrap_or_default();
        above.iter().any(|one| open.contains(&one.name))
    }
}
