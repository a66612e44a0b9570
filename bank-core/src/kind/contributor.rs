//! Contributors: people and groups that fund hardware, with their projects (reports.md 1.7).

use super::{Field, Key, KeyType, Kind, Objects, Readers, Record, Type, Value};
use crate::refusal::Refusal;

/// Most projects of one contributor.
const PROJECTS_MAX: usize = 1_000;

/// The row of what belongs to nobody, in reports.
pub const UNASSIGNED: &str = "unassigned";

pub(super) fn kind() -> Kind {
    let ops = ["contributor_add", "contributor_set", "contributor_rm"];
    let about = "People and groups who fund hardware";
    let kind = Kind {
        deleted_after: 4,
        key: KeyType::Name,
        readers: Readers::Auditors,
        help: [
            "Add a person or group that contributions are credited to".into(),
            "Change a contributor".into(),
            "Remove a contributor without contributions".into(),
            "no contributors".into(),
        ],
        check,
        removable,
        ..Kind::new("contributor", "contributors", ops, about)
    };
    let projects = Type::References("project".into(), PROJECTS_MAX);
    kind.with(
        Field::new("user", Type::Text(256), "Login name")
            .absent("none")
            .letter('u'),
    )
    .with(
        Field::new(
            "exempt",
            Type::Flag,
            "Exclude the contributor from subscriptions",
        )
        .default(Value::Flag(false)),
    )
    .with(
        Field::new("projects", projects, "Project, with those below it")
            .absent("none")
            .option("project")
            .letter('A'),
    )
    .with(Field::description())
}

/// Reports have a row of the reserved name. A project of two contributors would count twice.
fn check(own: &Record, objects: &dyn Objects) -> Result<(), Refusal> {
    let Key::Name(name) = &own.key else {
        return Ok(());
    };
    if name == UNASSIGNED {
        return Err(Refusal::bad_name(
            name,
            "reports have a row of this name for projects without a contributor",
        ));
    }
    for project in own.list("projects") {
        let holder = objects.records().holder(project);
        if let Some(other) = holder.filter(|other| other.key != own.key) {
            return Err(Refusal::InUse {
                name: project.clone(),
                by: format!("contributor {}", other.key),
                field: Some("projects"),
            });
        }
    }
    Ok(())
}

/// A contributor with contributions stays: they would be credited to nobody.
fn removable(own: &Record, objects: &dyn Objects) -> Result<(), Refusal> {
    let name = own.key.to_string();
    let all = objects.records().all("contribution");
    match all
        .filter(|other| other.text("contributor") == name)
        .count()
    {
        0 => Ok(()),
        count => Err(Refusal::in_use(name, format!("{count} contributions"))),
    }
}
