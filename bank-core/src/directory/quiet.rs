//! Projects of which nothing is watched for attention.

use super::Directory;
use crate::ids::ProjectId;

impl Directory {
    /// Whether no alerts watch a project; projects below it have their own switch.
    pub fn is_quiet(&self, project: ProjectId) -> bool {
        self.quiet.contains(&project)
    }

    /// Switches a project's attention off, or on again.
    pub fn put_quiet(&mut self, project: ProjectId, quiet: bool) {
        if quiet {
            self.quiet.insert(project);
        } else {
            self.quiet.remove(&project);
        }
    }

    /// The projects that are switched off, by number.
    pub fn quiet(&self) -> impl Iterator<Item = ProjectId> {
        self.quiet.iter().copied()
    }
}
