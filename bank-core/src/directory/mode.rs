//! What holds for a project on a machine, and who steps in for an account there.

use super::Directory;
use crate::ids::{MachineId, ProjectId};
use crate::model::{Account, Mode};

impl Directory {
    /// The mode for a project on a machine: `track` where the machine's scheduler only tries the bank
    /// out, else the project's, else the machine's, else the bank's (ledger.md 5: the project
    /// overrides the machine).
    pub fn mode(&self, project: Option<ProjectId>, machine: Option<MachineId>) -> Mode {
        let own = project
            .and_then(|id| self.projects.get(&id))
            .and_then(|p| p.mode);
        let machine = machine.and_then(|id| self.machines.get(&id));
        if machine.is_some_and(|m| m.test) {
            return Mode::Track;
        }
        let general = machine.and_then(|m| m.mode);
        own.or(general).unwrap_or(self.policy.mode)
    }

    /// The fallback account of an account, on a machine: its own setting, else the machine's; a
    /// value with `+` in front is a suffix to the account's name (nami.md 5).
    pub fn fallback_of(&self, account: &Account, machine: Option<MachineId>) -> Option<&Account> {
        let general = machine
            .and_then(|id| self.machines.get(&id))
            .and_then(|m| m.fallback.as_ref());
        let setting = account.fallback.as_ref().or(general)?;
        let name = match setting.strip_prefix('+') {
            Some(suffix) => format!("{}{suffix}", account.name),
            None => setting.clone(),
        };
        self.account_named(&name).filter(|f| f.id != account.id)
    }
}
