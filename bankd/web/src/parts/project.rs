//! Names of projects as links. Journals and reports also have names that no project has: of a source that nobody
//! mapped, or of a removed project.

use std::collections::BTreeSet;

use bank_api::v1::Project;
use maud::{Markup, html};

use super::table::{link, name};
use crate::failed::Failed;
use crate::target::Target;
use crate::visit::Visit;

/// Refusals of a name that no visible project has.
const UNKNOWN: [&str; 2] = ["not_found", "project_unknown"];

/// The projects among some names.
#[derive(Clone, Debug)]
pub(crate) struct Projects(BTreeSet<String>);

impl Projects {
    /// Asks for each name once.
    pub(crate) async fn among<'n>(
        visit: &Visit,
        names: impl Iterator<Item = &'n str>,
    ) -> Result<Self, Failed> {
        let names: BTreeSet<&str> = names.filter(|name| !name.is_empty()).collect();
        let mut found = BTreeSet::new();
        for name in names {
            if is_project(visit, name).await? {
                found.insert(name.to_owned());
            }
        }
        Ok(Self(found))
    }

    /// Whether the person sees a project of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }

    /// A name, which leads to its project if there is one.
    pub(crate) fn show(&self, visit: &Visit, project: Option<&str>) -> Markup {
        match project.filter(|project| !project.is_empty()) {
            Some(project) if self.0.contains(project) => {
                link(&visit.link(&["projects", project]), project)
            }
            Some(project) => name(project),
            None => html! { span .none { "–" } },
        }
    }
}

/// Whether the person sees a project of this name.
pub(crate) async fn is_project(visit: &Visit, name: &str) -> Result<bool, Failed> {
    let at = visit.at()?;
    let target = Target::api(&["projects", name]).maybe("at", at.as_deref());
    match visit.get::<Project>(target).await {
        Ok(_) => Ok(true),
        Err(failed) if UNKNOWN.contains(&failed.problem().code.as_str()) => Ok(false),
        Err(failed) => Err(failed),
    }
}
