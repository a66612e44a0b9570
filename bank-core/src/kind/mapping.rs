//! Mappings from names in usage to projects, users and PIs (collectors.md g, h.1).

use super::{Concern, Field, Key, Kind, Objects, Readers, Record, Type, Whose};
use crate::ids::{MappingId, NAME_BYTES_MAX};
use crate::mapping::{CONDITIONS_MAX, Condition, Field as Named, Mapping, PRIORITY, Template};
use crate::refusal::Refusal;
use std::borrow::Cow;

/// Longest condition: `attr.NAME!=PATTERN`, with the longest name and pattern.
const CONDITION_BYTES_MAX: usize = 2 * NAME_BYTES_MAX + "attr.!=".len();

pub(super) fn kind() -> Kind {
    let ops = ["mapping_add", "mapping_set", "mapping_rm"];
    let about = "Map names from usage sources to projects, users and PIs";
    let kind = Kind {
        deleted_after: 5,
        readers: Readers::Auditors,
        concerns: Some(concerns),
        ordered_by: Some("priority"),
        help: [
            "Create a mapping from names in usage to a project, user or PI".into(),
            "Change a mapping; usage accepted before stays unchanged".into(),
            "Remove a mapping; usage that it assigned stays assigned".into(),
            "no mappings; usage without one goes to the project with the name of its account"
                .into(),
        ],
        check,
        ..Kind::new("mapping", "mappings", ops, about)
    };
    let when = "Conditions, all required: FIELD=PATTERN or FIELD!=PATTERN; * any text";
    let project = "Project for the usage; {account} and {account.1} are filled in";
    kind.with(Field::priority())
        .with(
            Field::new(
                "when",
                Type::Texts(CONDITIONS_MAX, CONDITION_BYTES_MAX),
                when,
            )
            .column("conditions")
            .required()
            .positional()
            .rule(condition),
        )
        .with(
            Field::new("project", Type::Text(256), project)
                .absent("none")
                .nullable()
                .letter('A')
                .rule(project_template),
        )
        .with(
            Field::new("user", Type::Text(256), "User for the usage")
                .absent("none")
                .nullable()
                .letter('u')
                .rule(user_template),
        )
        .with(Field::description())
        .with(
            Field::new("pi", Type::Text(256), "Principal investigator of the usage")
                .label("PI")
                .absent("none")
                .nullable()
                .rule(pi_template),
        )
}

fn condition(text: &str, _: &dyn Objects) -> Result<String, Refusal> {
    let condition = Condition::parse(text).ok_or_else(|| {
        Refusal::bad_field(
            "when",
            "FIELD=PATTERN with source, machine, user, group, account, queue, qos, namespace \
                   or attr.NAME; * stands for any text, \\* for a star",
        )
    })?;
    Ok(condition.to_string())
}

fn template(text: &str, field: &str) -> Result<Template, Refusal> {
    Template::parse(text).ok_or_else(|| {
        Refusal::bad_field(
            field,
            "a name, with places such as {account} or {account.1}; {{ is a brace",
        )
    })
}

/// A project that is always the same exists now; one that is filled in may come later.
fn project_template(text: &str, objects: &dyn Objects) -> Result<String, Refusal> {
    match template(text, "project")?.always() {
        Some(name) if !objects.has_payer(name) => Err(Refusal::not_found("project", name)),
        _ => Ok(text.to_owned()),
    }
}

fn user_template(text: &str, _: &dyn Objects) -> Result<String, Refusal> {
    template(text, "user")?;
    Ok(text.to_owned())
}

fn pi_template(text: &str, _: &dyn Objects) -> Result<String, Refusal> {
    template(text, "pi")?;
    Ok(text.to_owned())
}

/// A mapping gives something, its templates use stars of its conditions only, and no other one does the same.
fn check(own: &Record, objects: &dyn Objects) -> Result<(), Refusal> {
    let bad = |field: &str, expected: &str| Err(Refusal::bad_field(field, expected));
    let mapping = of_record(own);
    let templates = [
        ("project", &mapping.project),
        ("user", &mapping.user),
        ("pi", &mapping.pi),
    ];
    if templates.iter().all(|(_, template)| template.is_none()) {
        return bad(
            "project",
            "a project, a user or a PI that the mapping gives",
        );
    }
    for (field, template) in templates {
        let mut template = template.iter();
        if template.any(|template| !template.suits(&mapping.conditions)) {
            return bad(field, "no star that the conditions do not have");
        }
    }
    let is_same = |known: &&Record| {
        let same = |field: &str| known.value(field) == own.value(field);
        let gives = ["project", "user", "pi"];
        known.key != own.key && same("when") && gives.into_iter().all(same)
    };
    match objects.records().all("mapping").find(is_same) {
        Some(known) => Err(Refusal::already_exists("mapping", known.key.to_string())),
        None => Ok(()),
    }
}

/// A mapping is about the machines that it names exactly, and about the project that it always gives, else the
/// user. Other templates can give any project.
fn concerns(own: &Record) -> Concern<'_> {
    let mapping = of_record(own);
    let machine = |own: &Condition| {
        let names = own.field == Named::Machine && !own.is_not;
        own.pattern.exactly().filter(|_| names).map(str::to_owned)
    };
    let always = |template: &Template| template.always().map(|name| Cow::Owned(name.to_owned()));
    let whose = match (&mapping.project, &mapping.user) {
        _ if mapping.deleted => None,
        (Some(project), _) => always(project).map(Whose::Project),
        (None, Some(user)) => always(user).map(Whose::User),
        (None, None) => mapping.pi.as_ref().and_then(always).map(Whose::User),
    };
    let machines = mapping.conditions.iter().filter_map(machine);
    Concern {
        machines: machines.map(Cow::Owned).collect(),
        whose: whose.unwrap_or(Whose::Unknown),
    }
}

/// The mapping of a record. One with a part that cannot be read maps nothing; the rules accept none.
pub(crate) fn of_record(record: &Record) -> Mapping {
    let conditions = record.list("when").iter();
    let conditions = conditions.map(|text| Condition::parse(text));
    let conditions: Option<Vec<Condition>> = conditions.collect();
    let template = |field: &str| Template::parse(record.text(field));
    let is_lost = |field: &str| !record.text(field).is_empty() && template(field).is_none();
    let gives = ["project", "user", "pi"];
    let is_readable = conditions.is_some() && !gives.into_iter().any(is_lost);
    Mapping {
        deleted: record.deleted || !is_readable,
        id: MappingId(match record.key {
            Key::Number(number) => number,
            Key::Name(_) => 0,
        }),
        priority: record.whole("priority").unwrap_or(PRIORITY),
        conditions: conditions.unwrap_or_default(),
        project: template("project"),
        user: template("user"),
        pi: template("pi"),
        description: record.text("description").to_owned(),
    }
}
