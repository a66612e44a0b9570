//! The contributor of a project.

use super::Directory;
use crate::kind::Record;
use std::collections::BTreeSet;

impl Directory {
    /// The contributor that the usage of a project is credited to: the one that names it, else the nearest
    /// of those that name a project above it. None where there is none.
    pub fn contributor_of(&self, project: &str) -> Option<&Record> {
        let mut name = project;
        let mut seen = BTreeSet::new();
        while seen.insert(name) {
            if let Some(own) = self.records.holder(name) {
                return Some(own);
            }
            let above = self.project_named(name).and_then(|own| own.parent);
            let Some(above) = above.and_then(|id| self.project(id)) else {
                break;
            };
            name = &above.name;
        }
        None
    }
}
