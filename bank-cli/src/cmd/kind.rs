//! The commands of declared kinds: add, list, show, change and remove records.

mod duration;
mod import;
mod pattern;
mod table;
#[cfg(test)]
mod tests;
mod tree;

use bank_api::v1::{Member, PastQuery, Written};
use bank_core::kind::{Field, Kind, Screen, Type, Value as Own, decimal, declared};
use serde_json::{Map, Value};
use ureq::http::Method;

use super::{Record, mapping, member, nothing_to_set, user_import};
use crate::{
    cli::{Action, AtArgs, Given, KindCommand},
    context::Context,
    fail::Failure,
    out::{self, Column, Sheet, column},
    site, when,
};

/// Runs a command of a kind.
pub(super) fn run(context: &Context, command: KindCommand) -> Result<String, Failure> {
    let KindCommand { kind, action } = command;
    match action {
        Action::Add(name, given, write) => {
            let mut body = body(context, &given)?;
            if let Some(name) = name {
                body.insert("name".to_owned(), name.into());
            }
            let answer: Written<Record> =
                context.send(Method::POST, &path(&kind), &body, &write)?;
            let key = key(&answer.object);
            let text = sentence(context, &kind, &answer.object);
            context.written(&answer, &format!("{} {key} added{text}", kind.word))
        }
        Action::Ls(then) => list(context, &kind, &then),
        Action::Show(key, then) => {
            let past = context.past(&then)?;
            let sheet = |rows: &[Record]| sheet(&whole(context, &kind, &past, rows), rows);
            context.show(&one(&kind, &key), &past, sheet)
        }
        Action::Set(key, given, write) => {
            let body = body(context, &given)?;
            if body.is_empty() {
                return Err(nothing_to_set());
            }
            let answer: Written<Record> =
                context.send(Method::PATCH, &one(&kind, &key), &body, &write)?;
            // What comes from other objects has not changed.
            let kind = Kind {
                derived: Vec::new(),
                ..kind
            };
            let text = sentence(context, &kind, &answer.object);
            let verb = answer.verb();
            context.written(&answer, &format!("{} {key} {verb}{text}", kind.word))
        }
        Action::Rm(key, remove) => {
            let what = format!("{} {key}", kind.word);
            let target = one(&kind, &key);
            let answer = context.remove(&target, &format!("remove {what}"), &remove)?;
            context.removed(&answer, &format!("{what} removed"))
        }
        Action::Members(command) => member::run(context, command),
        Action::Tree(top, then) => tree::show(context, &kind, top.as_deref(), &then),
        Action::ImportUsers(args) => user_import::run(context, &args),
        Action::TestMapping(names) => mapping::test(context, &names),
        Action::ImportHardware(args) => import::hardware(context, &args),
        Action::ImportContributions(args) => import::contributions(context, &args),
    }
}

fn list(context: &Context, kind: &Kind, then: &AtArgs) -> Result<String, Failure> {
    let past = context.past(then)?;
    let sheet = |rows: &[Record]| sheet(&whole(context, kind, &past, rows), rows);
    context.list(&path(kind), &past, sheet)
}

/// Where the records of a kind are in the API.
fn path(kind: &Kind) -> Vec<&str> {
    if declared().iter().any(|own| own.word == kind.word) {
        vec![&kind.plural]
    } else {
        vec!["records", &kind.word]
    }
}

fn one<'a>(kind: &'a Kind, key: &'a str) -> Vec<&'a str> {
    let mut path = path(kind);
    path.push(key);
    path
}

fn key(record: &Record) -> String {
    match record.get("id").or_else(|| record.get("name")) {
        Some(Value::String(name)) => name.clone(),
        Some(number) => number.to_string(),
        None => String::new(),
    }
}

/// The values of a request. Times are typed in the zone of the command.
fn body(context: &Context, given: &[(Field, Given)]) -> Result<Record, Failure> {
    let mut body = Map::new();
    for (field, value) in given {
        let value = match (&field.of, value) {
            (Type::Time, Given::Text(text)) if !text.is_empty() => {
                context.time(Some(text))?.map_or(Value::Null, Value::from)
            }
            (Type::Duration(..), Given::Text(text)) => duration::seconds(text)?.into(),
            (_, Given::Text(text)) => text.as_str().into(),
            (_, Given::Whole(number)) => (*number).into(),
            (_, Given::Flag(flag)) => (*flag).into(),
            (_, Given::List(list)) => list.clone().into(),
        };
        body.insert(field.name.clone(), value);
    }
    Ok(body)
}

/// The values of a record that are not the default, in one line: `: nodes 4, from 2026-10-01, reason cooling`.
fn sentence(context: &Context, kind: &Kind, record: &Record) -> String {
    let record = &flat(record);
    let parts = kind.columns().into_iter().filter_map(|field| {
        let label = field.name.replace('_', " ");
        let text = match record.get(&field.name)? {
            _ if !has(record, field) => return None,
            Value::Array(list) if list.is_empty() => return None,
            Value::Array(list) => list
                .iter()
                .filter_map(Value::as_str)
                .collect::<Vec<_>>()
                .join(","),
            Value::String(text) if field.of == Type::Time => when::moment(text, context.zone),
            Value::String(text) => text.clone(),
            Value::Bool(true) => "yes".to_owned(),
            Value::Bool(false) => "no".to_owned(),
            other => other.to_string(),
        };
        Some(format!("{label} {text}"))
    });
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() {
        return String::new();
    }
    format!(": {}", parts.join(", "))
}

/// A record with members as names.
fn flat(record: &Record) -> Record {
    let mut record = record.clone();
    let members = record.get("members").cloned().unwrap_or_default();
    if let Ok(members) = serde_json::from_value::<Vec<Member>>(members) {
        let names: Vec<String> = members.iter().map(member::mark).collect();
        record.insert("members".to_owned(), names.into());
    }
    record
}

/// The kind with the fields that the site had added at the time of the rows: asked for if a row has one that the command line
/// did not name, and for a state of the past.
fn whole(context: &Context, kind: &Kind, past: &PastQuery, rows: &[Record]) -> Kind {
    let is_other = |name: &String| !is_declared(kind, name);
    let has_other = || context.form.is_table() && rows.iter().flat_map(Map::keys).any(is_other);
    let is_asked = past.at.is_some() || has_other();
    let answer = is_asked.then(|| context.all(&["kinds"], past));
    // The records are here: without the kinds, the fields are shown as text.
    let kinds: Vec<Record> = answer
        .and_then(Result::ok)
        .map(|list| list.items)
        .unwrap_or_default();
    let declared = kinds.iter().filter_map(site::kind_of);
    let mut same = declared.filter(|own| own.word == kind.word);
    same.next().unwrap_or_else(|| kind.clone())
}

/// Whether the program declares a member of a record of this kind, or the site and the program asked for it.
fn is_declared(kind: &Kind, name: &str) -> bool {
    let mut declared = kind.fields.iter().chain(&kind.derived);
    declared.any(|field| field.name == name) || name == kind.key_name() || name == "depth"
}

/// The list of records of a kind. A row with a depth is that of a tree.
fn sheet(kind: &Kind, rows: &[Record]) -> Sheet {
    let rows: Vec<Record> = rows.iter().map(flat).collect();
    let rows = rows.as_slice();
    let key = match kind.word.as_str() {
        "project" => column("name", "Name", out::Kind::Tree),
        _ if kind.key_name() == "id" => column("id", "Id", out::Kind::Number),
        _ => column("name", "Name", out::Kind::Text),
    };
    let declared = kind.columns().into_iter().map(|field| {
        let own = out::described(&field.name, &field.label, shown(field));
        let own = if field.secondary {
            own.secondary()
        } else {
            own
        };
        match field.screen {
            Screen::Always => own,
            Screen::IfAny => own.on_screen_if(rows.iter().any(|row| has(row, field))),
        }
    });
    // Fields that the site added, where the program did not ask for them.
    let mut others: Vec<&String> = rows.iter().flat_map(Map::keys).collect();
    others.sort_unstable();
    others.dedup();
    others.retain(|name| !is_declared(kind, name));
    let others = others.into_iter().map(|name| {
        let title = capital(&name.replace('_', " "));
        out::described(name, &title, out::Kind::Text)
    });
    let columns: Vec<Column> = [key].into_iter().chain(declared).chain(others).collect();
    let [.., empty] = &kind.help;
    Sheet::new(columns, rows, empty.clone())
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// Whether a record has a value of a field that is not the default.
fn has(row: &Record, field: &Field) -> bool {
    let default = match (&field.of, field.default_value()) {
        (Type::Decimal(places, ..), Own::Whole(units)) => decimal(*units, *places).into(),
        (_, Own::Text(text)) => text.as_str().into(),
        (_, Own::Whole(number)) => (*number).into(),
        (_, Own::Flag(flag)) => (*flag).into(),
        _ => Value::Null,
    };
    let is_empty = |value: &Value| value.is_null() || value.as_array().is_some_and(Vec::is_empty);
    row.get(&field.name)
        .is_some_and(|value| !is_empty(value) && *value != default)
}

fn shown(field: &Field) -> out::Kind {
    match field.of {
        Type::Whole(..) | Type::Duration(..) | Type::Decimal(..) => out::Kind::Number,
        Type::Reference(_) if field.is_number_of_record() => out::Kind::Number,
        Type::Amount(..) => out::Kind::Amount,
        Type::Time => out::Kind::Date,
        _ => out::Kind::Text,
    }
}
