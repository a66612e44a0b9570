//! Projects: the people who may be billed together (ledger.md 1.1, nami.md 4.3).

use super::{
    Concern, Field, KeyType, Kind, OBJECTS_MAX, Objects, Record, Records, Screen, Type, Value,
    Whose, choice,
};
use crate::ids::{MachineId, ProjectId, check_listed_name, check_new_name};
use crate::model::{MODES, Mode, Project};
use crate::refusal::Refusal;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Most member machines of a project.
const MACHINES_MAX: usize = 10_000;
/// Most members that a new project gets.
const MEMBERS_MAX: usize = 10_000;
/// Most levels of a tree of projects.
const LEVELS_MAX: usize = 64;
/// Longest description of a project or user, in bytes.
pub(super) const DESCRIPTION_MAX: usize = 1024;
/// The word for the mode of the machine or bank.
const DEFAULT: &str = "default";

pub(super) fn kind() -> Kind {
    let ops = ["project_add", "project_set", "project_rm"];
    let about = "Projects, their members and their place in the hierarchy";
    let kind = Kind {
        key: KeyType::Object,
        alias: Some("proj"),
        key_rule: |name| Ok(check_new_name(name)?),
        most: OBJECTS_MAX,
        deleted_after: 2,
        concerns: Some(|own| Concern {
            whose: Whose::Project(Cow::Borrowed(own.name())),
            ..Concern::default()
        }),
        of_jobs: true,
        arguments: arguments(),
        derived: derived(),
        listed: vec![
            "active",
            "mode",
            "parent",
            "members",
            "accounts",
            "machines",
            "organization",
            "description",
        ],
        help: [
            "Create a project, and an account of its name for its members".into(),
            "Change a project".into(),
            "Remove a project that nothing refers to".into(),
            "no projects".into(),
        ],
        normalize: |own| {
            if own.deleted {
                own.set("active", Value::Flag(false));
            }
        },
        check,
        removable,
        ..Kind::new("project", "projects", ops, about)
    };
    with_fields(kind)
}

fn with_fields(kind: Kind) -> Kind {
    let modes = MODES.map(|(_, word)| word);
    let modes = choice(modes.into_iter().chain([DEFAULT]));
    let active = "Enable the project; an inactive project gets no quotes and no liens";
    let mode = "Mode; it takes precedence over that of the machine";
    let machines = "Member machine: MEMBERS in the machine list of an account";
    kind.with(
        Field::new(
            "parent",
            Type::Reference("project".into()),
            "Parent project",
        )
        .absent("none")
        .numbered()
        .secondary(),
    )
    .with(Field::new("active", Type::Flag, active).default(Value::Flag(true)))
    .with(
        Field::new("mode", modes, mode)
            .default(Value::Text(DEFAULT.to_owned()))
            .nullable(),
    )
    .with(Field {
        screen: Screen::Always,
        of: Type::Text(DESCRIPTION_MAX),
        ..Field::description()
    })
    .with(organization("Organization of the project"))
    .with(
        Field::new(
            "machines",
            Type::References("machine".into(), MACHINES_MAX),
            machines,
        )
        .absent("none")
        .column("machine")
        .rows("project_machine")
        .commas()
        .numbered()
        .secondary()
        .if_any(),
    )
}

/// The members of a new project, and whether it gets no account.
fn arguments() -> Vec<Field> {
    let members = Type::References("user".into(), MEMBERS_MAX);
    vec![
        Field::new("members", members, "Member; the user must exist")
            .label("Users")
            .absent("none")
            .commas()
            .alias("users"),
        Field::new(
            "no_account",
            Type::Flag,
            "Create no account of the same name",
        )
        .default(Value::Flag(false)),
    ]
}

fn derived() -> Vec<Field> {
    let names = |of: &str| Type::References(of.to_owned(), usize::MAX);
    vec![
        Field::new(
            "accounts",
            names("account"),
            "Accounts whose project list names the project",
        )
        .secondary(),
        Field::new("members", names("member"), "Members with their roles").label("Users"),
    ]
}

/// The organization that lists of accounts name.
pub(super) fn organization(help: &str) -> Field {
    Field::new("organization", Type::Text(256), help)
        .absent("none")
        .rule(|text, _| {
            check_listed_name(text)?;
            Ok(text.to_owned())
        })
        .secondary()
        .if_any()
}

/// A project is not below itself, and a tree has a limited number of levels.
fn check(own: &Record, objects: &dyn Objects) -> Result<(), Refusal> {
    let records = objects.records();
    let bank = own.name().rsplit_once('@').map(|(_, bank)| bank);
    let is_new = records.named("project", own.name()).is_none();
    if is_new && bank.is_some_and(|bank| records.named("partner", bank).is_some()) {
        let rule =
            "a name that ends in @ and the name of a partner bank is that of a project there";
        return Err(Refusal::bad_name(own.name(), rule));
    }
    let mut above = own.text("parent");
    let mut depth = match records.named("project", own.name()) {
        None => 1,
        // An older bank may have deeper trees.
        Some(before) if before.text("parent") == above => return Ok(()),
        Some(_) => levels(own, objects),
    };
    for _ in 0..=records.count("project") {
        if above.is_empty() && depth > LEVELS_MAX {
            let expected = format!("a project at a higher level: a tree has at most {LEVELS_MAX}");
            return Err(Refusal::bad_field("parent", expected));
        }
        if above.is_empty() {
            return Ok(());
        }
        if above == own.name() {
            break;
        }
        let parent = records.named("project", above);
        above = parent.map_or("", |parent| parent.text("parent"));
        depth = depth.saturating_add(1);
    }
    let name = own.name().to_owned();
    Err(Refusal::Cycle { name })
}

/// The levels of the tree below a project, with its own; at most one more than are allowed.
fn levels(own: &Record, objects: &dyn Objects) -> usize {
    let records = objects.records();
    let mut level: BTreeSet<&str> = BTreeSet::from([own.name()]);
    let mut levels = 0_usize;
    while !level.is_empty() && levels <= LEVELS_MAX {
        levels = levels.saturating_add(1);
        let below = records.all("project");
        let below = below.filter(|project| level.contains(project.text("parent")));
        level = below.map(Record::name).collect();
    }
    levels
}

/// A project stays while something refers to it.
fn removable(own: &Record, objects: &dyn Objects) -> Result<(), Refusal> {
    let (name, records) = (own.name(), objects.records());
    let that = |kind: &'static str, field: &'static str| {
        let mut all = records.all(kind);
        let other = all.find(|other| other.text(field) == name);
        other.map(|other| format!("{kind} {}", other.key))
    };
    let by = that("project", "parent")
        .or_else(|| {
            let account = objects.account_listing(name);
            account.map(|account| format!("account {account}"))
        })
        .or_else(|| that("user", "default_project"))
        .or_else(|| {
            let machine = that("machine", "reservation_account");
            machine.map(|machine| format!("{machine} for its reservations"))
        });
    match by {
        Some(by) => Err(Refusal::in_use(name, by)),
        None => Ok(()),
    }
}

impl Project {
    /// The project of a record of the kind `project`; the others give the numbers of what it refers to.
    pub fn of(record: &Record, others: &Records) -> Project {
        let machines = record.list("machines").iter();
        let mut machines: Vec<MachineId> = machines
            .filter_map(|name| others.number_of("machine", name).map(MachineId))
            .collect();
        machines.sort_unstable();
        Project {
            id: ProjectId(record.id),
            name: record.name().to_owned(),
            parent: others
                .number_of("project", record.text("parent"))
                .map(ProjectId),
            active: record.flag("active"),
            deleted: record.deleted,
            mode: Mode::parse(record.text("mode")),
            description: record.text("description").to_owned(),
            organization: record.text("organization").to_owned(),
            machines,
        }
    }
}
