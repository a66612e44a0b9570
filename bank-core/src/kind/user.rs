//! Users: people as schedulers name them (ledger.md 1.1, collectors.md g).

use super::project::{DESCRIPTION_MAX, organization};
use super::{
    Concern, Field, KeyType, Kind, OBJECTS_MAX, Objects, Record, Records, Type, Value, Whose,
};
use crate::domain::is_address;
use crate::ids::{NAME_BYTES_MAX, ProjectId, UserId, check_listed_name, check_new_name};
use crate::model::{ALIASES_MAX, User};
use crate::refusal::{Refusal, short};
use std::borrow::Cow;

pub(super) fn kind() -> Kind {
    let ops = ["user_add", "user_set", "user_rm"];
    let about = "Users and their names in sources of usage";
    let projects = Type::References("project".into(), usize::MAX);
    let kind = Kind {
        key: KeyType::Object,
        key_rule: |name| Ok(check_new_name(name)?),
        most: OBJECTS_MAX,
        deleted_after: 1,
        concerns: Some(|own| Concern {
            whose: Whose::User(Cow::Borrowed(own.name())),
            ..Concern::default()
        }),
        of_jobs: true,
        derived: vec![Field::new(
            "projects",
            projects,
            "Projects that the user is a member of",
        )],
        listed: vec![
            "active",
            "common_name",
            "email",
            "default_project",
            "projects",
            "organization",
            "phone",
            "description",
            "aliases",
        ],
        help: [
            "Add a user".into(),
            "Change a user".into(),
            "Remove a user, with their memberships".into(),
            "no users".into(),
        ],
        normalize,
        check,
        ..Kind::new("user", "users", ops, about)
    };
    with_fields(kind)
}

fn with_fields(kind: Kind) -> Kind {
    let active = "Enable the user; an inactive user gets no quotes and no liens";
    let text = |name, help| Field::new(name, Type::Text(256), help).private();
    let default = Type::Reference("project".into());
    let aliases = Type::Texts(ALIASES_MAX, NAME_BYTES_MAX);
    kind.with(Field::new("active", Type::Flag, active).default(Value::Flag(true)))
        .with(text("common_name", "Full name"))
        .with(text("email", "Mail address").rule(address))
        .with(
            Field::new(
                "default_project",
                default,
                "Project for requests that name none",
            )
            .absent("none")
            .numbered()
            .secondary(),
        )
        .with(organization("Organization of the user"))
        .with(text("phone", "Telephone number").secondary().if_any())
        .with(Field {
            of: Type::Text(DESCRIPTION_MAX),
            ..Field::description().private()
        })
        .with(
            Field::new(
                "aliases",
                aliases,
                "Another name that sources of usage have for the user",
            )
            .label("Other names")
            .absent("none")
            .private()
            .column("alias")
            .rows("user_alias")
            .commas()
            .rule(|text, _| {
                check_listed_name(text)?;
                Ok(text.to_owned())
            })
            .secondary()
            .if_any(),
        )
}

/// An address that mail can be sent to.
fn address(text: &str, _: &dyn Objects) -> Result<String, Refusal> {
    let text = text.trim();
    let given = short(text);
    let expected = format!("a mail address such as amy@example.org, not {given:?}");
    let good = is_address(text).then(|| text.to_owned());
    good.ok_or_else(|| Refusal::bad_field("email", expected))
}

/// Other names are in order, each once, and not the login name. A removed user has none.
fn normalize(own: &mut Record) {
    let mut aliases = own.list("aliases").to_vec();
    if own.deleted {
        own.set("active", Value::Flag(false));
        aliases.clear();
    }
    aliases.retain(|alias| alias != own.name());
    aliases.sort_unstable();
    aliases.dedup();
    own.set("aliases", Value::List(aliases));
}

/// A name or other name is that of one user.
fn check(own: &Record, objects: &dyn Objects) -> Result<(), Refusal> {
    let name = own.name();
    let is_other = |other: &&str| *other != name;
    if let Some(owner) = objects.user_with_alias(name).filter(is_other) {
        return Err(Refusal::in_use(
            name,
            format!("user {owner} as another name"),
        ));
    }
    for alias in own.list("aliases") {
        let user = objects.records().named("user", alias).map(Record::name);
        let owner = user.or_else(|| objects.user_with_alias(alias));
        if let Some(owner) = owner.filter(is_other) {
            return Err(Refusal::InUse {
                name: alias.clone(),
                by: format!("user {owner}"),
                field: Some("aliases"),
            });
        }
    }
    Ok(())
}

impl User {
    /// The user of a record of the kind `user`; the others give the number of the default project.
    pub fn of(record: &Record, others: &Records) -> User {
        let text = |field: &str| record.text(field).to_owned();
        User {
            id: UserId(record.id),
            name: record.name().to_owned(),
            active: record.flag("active"),
            deleted: record.deleted,
            common_name: text("common_name"),
            email: text("email"),
            default_project: others
                .number_of("project", record.text("default_project"))
                .map(ProjectId),
            organization: text("organization"),
            phone: text("phone"),
            description: text("description"),
            aliases: record.list("aliases").to_vec(),
        }
    }
}
