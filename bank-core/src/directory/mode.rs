//! Modes of projects on machines, and fallback accounts there.

use super::Directory;
use crate::ids::{MachineId, ProjectId};
use crate::model::Mode;

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
}
