//! `bank project tree`.

use bank_api::v1::{List, Project};
use bank_core::kind::Kind;

use super::{Record, sheet, whole};
use crate::{cli::AtArgs, context::Context, fail::Failure, out::text};

/// Projects below their parents; with `top` only that one and what is below it.
pub(super) fn show(
    context: &Context,
    kind: &Kind,
    top: Option<&str>,
    then: &AtArgs,
) -> Result<String, Failure> {
    let then = context.past(then)?;
    let mut list: List<Record> = context.all(&["projects"], &then)?;
    if let Some(name) = top {
        // The answer of the daemon for a missing project has a hint with the nearest name.
        let _: Project = context.get(&["projects", name], &then)?;
    }
    let order = ordered(&list.items, top);
    let rows = order.iter().map(|(project, depth)| {
        let mut row = (*project).clone();
        row.insert("depth".to_owned(), (*depth).into());
        row
    });
    let rows: Vec<Record> = rows.collect();
    let sheet = sheet(&whole(context, kind, &then, &rows), &rows);
    list.items = order
        .into_iter()
        .map(|(project, _)| project.clone())
        .collect();
    context.form.list(&list, &sheet)
}

/// Depth first, siblings in the order received. A parent that the caller may not see counts as
/// none.
fn ordered<'a>(projects: &'a [Record], top: Option<&str>) -> Vec<(&'a Record, usize)> {
    let name = |project: &Record| text(project, "name");
    let parent = |project: &Record| text(project, "parent");
    let is_root = |project: &Record| match top {
        Some(top) => name(project) == top,
        None => !projects.iter().any(|other| name(other) == parent(project)),
    };
    let mut waiting: Vec<_> = projects
        .iter()
        .rev()
        .filter(|project| is_root(project))
        .map(|root| (root, 0))
        .collect();
    let mut order = Vec::new();
    while let Some((project, depth)) = waiting.pop() {
        if order.len() >= projects.len() {
            break;
        }
        order.push((project, depth));
        let own = name(project);
        let children = projects.iter().rev().filter(|child| parent(child) == own);
        waiting.extend(children.map(|child| (child, depth + 1)));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(name: &str, parent: Option<&str>) -> Record {
        let mut project = Record::new();
        project.insert("name".to_owned(), name.into());
        project.insert("parent".to_owned(), parent.into());
        project
    }

    #[test]
    fn children_are_below_their_parents() {
        let projects = [
            project("bio", None),
            project("chem", None),
            project("chem/gpu", Some("chem")),
            project("chem/gpu/a", Some("chem/gpu")),
            project("lost", Some("hidden")),
            project("sub", Some("bio")),
        ];
        let names = |top| {
            let order = ordered(&projects, top);
            order
                .iter()
                .map(|(p, depth)| format!("{}:{depth}", text(p, "name")))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            names(None),
            [
                "bio:0",
                "sub:1",
                "chem:0",
                "chem/gpu:1",
                "chem/gpu/a:2",
                "lost:0"
            ]
        );
        assert_eq!(names(Some("chem/gpu")), ["chem/gpu:0", "chem/gpu/a:1"]);
    }
}
