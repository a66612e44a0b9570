//! The caller of a command and its scope.

use crate::directory::Directory;
use crate::ids::ProjectId;
use crate::role::Who;
use std::sync::Arc;

/// The caller of a command, and the caller's scope (http-auth.md 4). Empty lists mean everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// Projects by name; their descendants belong to them.
    pub projects: Vec<String>,
    /// Machines by name.
    pub machines: Vec<String>,
    /// The caller; none for the bank itself.
    pub who: Option<Arc<Who>>,
}

impl Scope {
    /// The only machine that it is for: what is meant where a request names none.
    pub fn only_machine(&self) -> Option<&str> {
        match self.machines.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Whether a machine is in it; the machine need not exist.
    pub fn has_machine(&self, name: &str) -> bool {
        self.machines.is_empty() || self.machines.iter().any(|m| m == name)
    }

    /// Whether a project is in it: the scope names the project or one above it. `name` comes from the
    /// request; `project` is the stored project of that name.
    pub fn has_project(
        &self,
        directory: &Directory,
        project: Option<ProjectId>,
        name: &str,
    ) -> bool {
        let allowed = &self.projects;
        if allowed.is_empty() {
            return true;
        }
        let above = project.map(|id| directory.lineage(id)).unwrap_or_default();
        allowed.iter().any(|a| a == name) || above.iter().any(|p| allowed.contains(&p.name))
    }
}
