//! Mappings: whom usage is for, where its source says it in names of its own. Administrators and
//! auditors see them as far as their scope covers them, administrators change them.

use std::collections::BTreeMap;

use axum::response::IntoResponse;
use bank_api::v1::{self, List, MappingTest, MappingTested, NewMapping, PatchMapping};
use bank_core::command::{Command, SetMapping};
use bank_core::directory::Directory;
use bank_core::effects::Outcome;
use bank_core::ids::MappingId;
use bank_core::mapping::{Condition, Field, Mapped, Mapping, Naming, Template};
use bank_core::refusal::Refusal;
use bank_core::select;
use bankd_ledger::writer::Decided;
use bankd_store::answer::Answer;

use super::call::{Call, Handled, new_state, ok, removed, rendered};
use super::covered;
use super::json::{self, cleared};
use super::pages::Turn;
use super::path::Path;
use super::project::Empty;
use super::share::whole;
use crate::error::Failure;

/// `GET /api/v1/mappings`: in the order in which they are asked.
pub(super) async fn list(call: Call) -> Handled {
    let turn = Turn::read(&call)?;
    let mut all = call.directory().mappings.in_order();
    all.retain(|mapping| covered::mapping(&call.view, mapping));
    let page = turn.behind(all, |mapping| mapping.id.0);
    let (all, next) = page.map_err(|refusal| call.refused(&refusal))?;
    ok(&List {
        items: all.into_iter().map(shaped).collect(),
        next,
    })
}

/// `GET /api/v1/mappings/{id}`
pub(super) async fn show(Path(id): Path<String>, call: Call) -> Handled {
    let unknown = || call.refused(&Refusal::not_found("mapping", &id));
    let known = call.directory().mappings.get(number(&call, &id)?);
    let known = known.filter(|mapping| covered::mapping(&call.view, mapping));
    ok(&shaped(known.ok_or_else(unknown)?))
}

/// `POST /api/v1/mappings`
pub(super) async fn add(call: Call) -> Handled {
    let new: NewMapping = call.json()?;
    let patch = PatchMapping {
        priority: new.priority,
        when: Some(new.when),
        project: new.project,
        user: new.user,
        description: new.description,
    };
    let set = read(None, patch).map_err(|r| call.refused(&r))?;
    let command = Command::AddMapping(set);
    Ok(call.write(command, render_added).await?.into_response())
}

/// `PATCH /api/v1/mappings/{id}`: usage that was taken in before stays as it is.
pub(super) async fn set(Path(id): Path<String>, call: Call) -> Handled {
    let id = number(&call, &id)?;
    let set = read(Some(id), call.json()?).map_err(|r| call.refused(&r))?;
    let command = Command::SetMapping(set);
    Ok(call.write(command, render).await?.into_response())
}

/// `DELETE /api/v1/mappings/{id}`
pub(super) async fn remove(Path(id): Path<String>, call: Call) -> Handled {
    let command = Command::RemoveMapping(number(&call, &id)?);
    Ok(call.write(command, removed).await?.into_response())
}

/// `POST /api/v1/mappings/test`: whom usage would be for, and why. It writes nothing, and asks all mappings
/// of the bank.
pub(super) async fn test(call: Call) -> Handled {
    whole(&call)?;
    call.query::<Empty>()?;
    let MappingTest { says } = call.json()?;
    let (mut words, mut attributes) = (BTreeMap::new(), BTreeMap::new());
    for (word, value) in says {
        match Field::parse(&word) {
            Some(Field::Attribute(name)) => attributes.insert(name, value),
            Some(_) => words.insert(word, value),
            None => return Err(call.refused(&bad_field())),
        };
    }
    let say = |word: &str| words.get(word).map(String::as_str).unwrap_or_default();
    let naming = Naming {
        source: say("source"),
        machine: say("machine"),
        user: say("user"),
        group: say("group"),
        account: say("account"),
        queue: say("queue"),
        qos: say("qos"),
        namespace: say("namespace"),
        attributes: Some(&attributes),
    };
    ok(&tested(call.directory(), &naming))
}

fn tested(directory: &Directory, naming: &Naming<'_>) -> MappingTested {
    let Mapped {
        project,
        user,
        rule,
        user_rule,
    } = directory.mapped(naming);
    let project_known = select::named(directory, &project).is_some();
    let mut why = vec![match rule {
        Some(id) => format!("project: mapping {id} gives {project:?}"),
        None if project.is_empty() => {
            "project: no mapping gives one, and no account is named".to_owned()
        }
        None => format!("project: no mapping gives one, the account names {project:?}"),
    }];
    if !project_known {
        let waits = "there is no such project or account: the usage waits in `bank unmapped`";
        why.push(format!("project: {waits}"));
    }
    why.push(match user_rule {
        Some(id) => format!("user: mapping {id} gives {user:?}"),
        None if user == naming.user => format!("user: as named, {user:?}"),
        None => format!("user: {:?} is another name of {user:?}", naming.user),
    });
    MappingTested {
        user_known: directory.user_named(&user).is_some(),
        project: json::some(&project),
        project_by: rule,
        project_known,
        user: json::some(&user),
        user_by: user_rule,
        why,
    }
}

/// What a request says of a mapping.
fn read(id: Option<MappingId>, patch: PatchMapping) -> Result<SetMapping, Refusal> {
    let named = |text: Option<String>| text.as_deref().map(template).transpose();
    Ok(SetMapping {
        id,
        priority: patch.priority,
        conditions: patch.when.as_deref().map(conditions).transpose()?,
        project: named(patch.project)?,
        user: named(patch.user)?,
        description: patch.description,
    })
}

/// Conditions as they are typed.
pub(super) fn conditions(texts: &[String]) -> Result<Vec<Condition>, Refusal> {
    let read = |text: &String| Condition::parse(text).ok_or_else(bad_field);
    texts.iter().map(read).collect()
}

/// A name with places to fill; the empty text is none.
pub(super) fn template(text: &str) -> Result<Option<Template>, Refusal> {
    let bad = || Refusal::BadValue {
        field: "project",
        expected: "a name, with places such as {account} or {account.1}; {{ is a brace",
    };
    let read = |text: String| Template::parse(&text).ok_or_else(bad);
    cleared(text.to_owned()).map(read).transpose()
}

fn bad_field() -> Refusal {
    Refusal::BadValue {
        field: "when",
        expected: "FIELD=PATTERN with source, machine, user, group, account, queue, qos, namespace \
                   or attr.NAME; * stands for any text, \\* for a star",
    }
}

fn number(call: &Call, id: &str) -> Result<MappingId, Failure> {
    let unknown = |_| call.refused(&Refusal::not_found("mapping", id));
    id.parse().map(MappingId).map_err(unknown)
}

fn shaped(mapping: &Mapping) -> v1::Mapping {
    let text = |template: &Option<Template>| template.as_ref().map(|t| t.text().to_owned());
    v1::Mapping {
        id: mapping.id.0,
        priority: mapping.priority,
        when: mapping.conditions.iter().map(ToString::to_string).collect(),
        project: text(&mapping.project),
        user: text(&mapping.user),
        description: json::some(&mapping.description),
    }
}

fn written(decided: &Decided<'_>, status: u16) -> Answer {
    rendered(decided, status, |outcome| match outcome {
        Outcome::Mapping(mapping) => Some(new_state(shaped(mapping), decided)),
        _ => None,
    })
}

fn render_added(decided: &Decided<'_>) -> Answer {
    written(decided, 201)
}

fn render(decided: &Decided<'_>) -> Answer {
    written(decided, 200)
}
