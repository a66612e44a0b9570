//! `bank project`.

use bank_api::v1::{List, NewProject, PastQuery, PatchProject, Project, Written};
use ureq::http::Method;

use super::{member, nothing_to_set};
use crate::{
    cli::{AddProject, ProjectCommand, SetProject},
    context::Context,
    fail::Failure,
    out::{Column, Kind, Row, Sheet, column, row},
};

pub(super) fn run(context: &Context, command: ProjectCommand) -> Result<String, Failure> {
    match command {
        ProjectCommand::Add(args) => add(context, args),
        ProjectCommand::Ls(then) => {
            let list: List<Project> = context.all(&["projects"], &context.past(&then)?)?;
            let rows = list.items.iter().map(|project| flat(project, 0)).collect();
            context.form.list(&list, &sheet(rows))
        }
        ProjectCommand::Show { name, then } => {
            let query = context.past(&then)?;
            let project: Project = context.get(&["projects", &name], &query)?;
            context.form.one(&project, &sheet(vec![flat(&project, 0)]))
        }
        ProjectCommand::Set(args) => set(context, args),
        ProjectCommand::Rm { name, remove } => {
            let what = format!("remove project {name:?}");
            let answer = context.remove(&["projects", &name], &what, &remove)?;
            context.removed(&answer, &format!("project {name:?} removed"))
        }
        ProjectCommand::Members(command) => member::run(context, command),
        ProjectCommand::Tree { name, then } => {
            tree(context, name.as_deref(), &context.past(&then)?)
        }
    }
}

fn add(context: &Context, args: AddProject) -> Result<String, Failure> {
    let body = NewProject {
        name: args.name,
        parent: args.parent,
        no_account: args.no_account,
        members: args.members,
        mode: args.mode,
        description: args.description,
        organization: args.organization,
        machines: args.machines,
    };
    let answer: Written<Project> = context.send(Method::POST, &["projects"], &body, &args.write)?;
    let with = match answer.object.accounts.as_slice() {
        [] => String::new(),
        accounts => format!(" with account {}", accounts.join(", ")),
    };
    context.written(
        &answer,
        &format!("project {:?} added{with}", answer.object.name),
    )
}

fn set(context: &Context, args: SetProject) -> Result<String, Failure> {
    let body = PatchProject {
        active: args.active.map(bool::from),
        parent: args.parent,
        mode: args.mode,
        description: args.description,
        organization: args.organization,
        machines: args.machines.map(|list| {
            let named = list.into_iter().filter(|name| !name.is_empty());
            named.collect()
        }),
    };
    if body == PatchProject::default() {
        return Err(nothing_to_set());
    }
    let answer: Written<Project> =
        context.send(Method::PATCH, &["projects", &args.name], &body, &args.write)?;
    context.written(&answer, &format!("project {:?} changed", args.name))
}

/// Projects below their parents; with `top` only that one and what is below it.
fn tree(context: &Context, top: Option<&str>, then: &PastQuery) -> Result<String, Failure> {
    let mut list: List<Project> = context.all(&["projects"], then)?;
    if let Some(name) = top {
        // The daemon knows how to say that there is no such project, and which one was meant.
        let _: Project = context.get(&["projects", name], then)?;
    }
    let order = ordered(&list.items, top);
    let rows = order
        .iter()
        .map(|(project, depth)| flat(project, *depth))
        .collect();
    let sheet = sheet(rows);
    list.items = order
        .into_iter()
        .map(|(project, _)| project.clone())
        .collect();
    context.form.list(&list, &sheet)
}

/// Depth first, siblings in the order received. A parent that the caller may not see counts as
/// none.
fn ordered<'a>(projects: &'a [Project], top: Option<&str>) -> Vec<(&'a Project, usize)> {
    let known = |name: &str| projects.iter().any(|project| project.name == name);
    let is_root = |project: &Project| match top {
        Some(name) => project.name == name,
        None => !project.parent.as_deref().is_some_and(known),
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
        let children = projects
            .iter()
            .rev()
            .filter(|child| child.parent.as_deref() == Some(&project.name));
        waiting.extend(children.map(|child| (child, depth + 1)));
    }
    order
}

fn sheet(rows: Vec<Row>) -> Sheet {
    let some = |key: &str| {
        rows.iter()
            .any(|row| !crate::out::text(row, key).is_empty())
    };
    let columns: Vec<Column> = vec![
        column("name", "Name", Kind::Tree),
        column("active", "Active", Kind::Text),
        column("mode", "Mode", Kind::Text),
        column("parent", "Parent", Kind::Text).secondary(),
        column("members", "Users", Kind::Text),
        column("accounts", "Accounts", Kind::Text).secondary(),
        column("machines", "Machines", Kind::Text)
            .secondary()
            .on_screen_if(some("machines")),
        column("organization", "Organization", Kind::Text)
            .secondary()
            .on_screen_if(some("organization")),
        column("description", "Description", Kind::Text),
    ];
    Sheet {
        columns,
        rows,
        empty: "no projects".into(),
        ..Sheet::default()
    }
}

/// A row in which members are names.
fn flat(project: &Project, depth: usize) -> Row {
    let names: Vec<_> = project.members.iter().map(member::mark).collect();
    let mut row = row(project);
    row.insert("members".to_owned(), names.into());
    row.insert("depth".to_owned(), depth.into());
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(name: &str, parent: Option<&str>) -> Project {
        Project {
            name: name.to_owned(),
            parent: parent.map(str::to_owned),
            ..Project::default()
        }
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
                .map(|(p, depth)| format!("{}:{depth}", p.name))
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
