//! The contributor of a project, and the directory as the rules of kinds see it.

use super::Directory;
use crate::kind::{Objects, Record, Records};
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

impl Objects for Directory {
    fn has(&self, kind: &str, key: &str) -> bool {
        match kind {
            "project" => self.project_named(key).is_some(),
            "user" => self.user_named(key).is_some(),
            "machine" => self.machine_named(key).is_some(),
            "account" => self.account_named(key).is_some(),
            kind => {
                let of = self.records.kind(kind);
                let key = of.and_then(|of| of.read_key(key));
                key.is_some_and(|key| self.records.get(kind, &key).is_some())
            }
        }
    }

    fn records(&self) -> &Records {
        &self.records
    }
}
