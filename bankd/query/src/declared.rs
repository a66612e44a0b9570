//! The views of declared kinds, made of the declaration: those of the program, and those that the site added.

use super::catalogue::{Attribute, Kind, Object, Seen};
use bank_core::kind::{self, Field, KeyType, Need, Readers, Records, Type};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Views by their declaration. Each is made once and kept: a bank has few kinds, and they change rarely.
static MADE: Mutex<BTreeMap<String, &'static Object>> = Mutex::new(BTreeMap::new());

/// The views of all kinds in force, by name.
pub(super) fn objects(records: &Records) -> Vec<&'static Object> {
    of(records, |_| true)
}

/// The views of kinds that the site added, by name.
pub(super) fn site(records: &Records) -> Vec<&'static Object> {
    of(records, |kind| kind.table.is_none())
}

fn of(records: &Records, wanted: fn(&kind::Kind) -> bool) -> Vec<&'static Object> {
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let objects = records.kinds().filter(|kind| wanted(kind)).map(|kind| {
        let declaration = format!("{kind:?}");
        *made
            .entry(declaration)
            .or_insert_with(|| Box::leak(Box::new(object(kind))))
    });
    let mut objects: Vec<&Object> = objects.collect();
    objects.sort_by_key(|object| object.name);
    objects
}

fn object(own: &kind::Kind) -> Object {
    let key = |name, kind, sql| Attribute {
        name,
        kind,
        optional: false,
        hidden: false,
        description: "Key of the record.",
        sql,
    };
    let keys = match (own.key, own.table) {
        (KeyType::Object, _) => vec![
            key("Id", Kind::Whole, "r.id"),
            key("Name", Kind::Text, "r.name"),
        ],
        (KeyType::Number, Some(_)) => vec![key("Id", Kind::Whole, "r.id")],
        (KeyType::Number, None) => vec![key("Id", Kind::Whole, "CAST(r.key AS INTEGER)")],
        (_, Some(_)) => vec![key("Name", Kind::Text, "r.name")],
        (_, None) => vec![key("Name", Kind::Text, "r.key")],
    };
    let deleted = Attribute {
        name: "Deleted",
        kind: Kind::Flag,
        optional: false,
        hidden: false,
        description: "Whether it was removed; such rows need `ShowHidden`.",
        sql: "r.deleted",
    };
    // A list of numbers of others is that of a view of its own: the caller may not see all of them.
    let fields = own
        .fields
        .iter()
        .filter(|field| !(field.rows.is_some() && field.numbered));
    let fields = fields.map(|field| attribute(own, field));
    let attributes: Vec<Attribute> = keys.into_iter().chain(fields).chain([deleted]).collect();
    Object {
        name: leaked(title(&own.word)),
        description: leaked(format!("{}.", own.about.trim_end_matches('.'))),
        attributes: attributes.leak(),
        from: leaked(from(own)),
        seen: match own.word.as_str() {
            "machine" => Seen::Machine("r.name"),
            "project" => Seen::Project("r.name"),
            "user" => Seen::User("r.name"),
            _ => Seen::Readers(own.readers),
        },
        there: Some(leaked(there(own))),
        effective: None,
        timed: None,
        keyed: None,
    }
}

fn attribute(own: &kind::Kind, field: &Field) -> Attribute {
    let kind = match field.of {
        Type::Whole(..) | Type::Duration(..) => Kind::Whole,
        Type::Decimal(..) => Kind::Decimal,
        Type::Amount(..) => Kind::Amount,
        Type::Flag => Kind::Flag,
        Type::Time => Kind::Time,
        Type::Reference(_) if field.is_number_of_record() => Kind::Whole,
        _ => Kind::Text,
    };
    // An empty text is a value of a column, and none of a state.
    let has_column = own.table.is_some() && !field.site;
    let is_text = kind == Kind::Text && (has_column || reference(field).is_some());
    let optional = matches!(field.need, Need::Optional(_)) && !is_text;
    Attribute {
        name: leaked(title(&field.name)),
        kind,
        optional,
        hidden: false,
        description: leaked(format!("{}.", field.help)),
        sql: leaked(expression(own, field)),
    }
}

/// The value of a field as an expression over its row.
fn expression(own: &kind::Kind, field: &Field) -> String {
    let is_list = matches!(field.of, Type::Texts(..) | Type::References(..));
    if own.table.is_some() && !field.site {
        let column = field.column;
        return match &field.of {
            Type::Reference(of) if field.numbered => {
                format!("@{of} (SELECT o.name AS id, o.name FROM {of} o WHERE o.id = r.{column})")
            }
            Type::Reference(of) if reference(field).is_some() => {
                format!("@{of} (SELECT r.{column} AS id, r.{column} AS name)")
            }
            _ if field.rows.is_some() => {
                let (rows, word) = (field.rows.unwrap_or_default(), &own.word);
                format!(
                    "coalesce((SELECT group_concat({column}, ',') FROM (SELECT {column} FROM {rows}
                         WHERE {word} = r.id ORDER BY {column})), '')"
                )
            }
            Type::Decimal(places, ..) => {
                let places = 10_i64.pow(9 - (*places).min(9));
                format!("r.{column} * {places}")
            }
            _ if is_list => format!("replace(r.{column}, char(10), ',')"),
            _ if field.nullable => {
                let payer = if field.payer { "@payer " } else { "" };
                let none = match field.default_value() {
                    kind::Value::Text(word) => word.as_str(),
                    _ => "",
                };
                format!("{payer}coalesce(r.{column}, '{none}')")
            }
            _ => format!("r.{column}"),
        };
    }
    let state = if own.table.is_some() {
        "s.state"
    } else {
        "r.state"
    };
    if is_list {
        let name = &field.name;
        return format!("(SELECT group_concat(value, ',') FROM json_each({state}, '$.{name}'))");
    }
    let value = format!("json_extract({state}, '$.{}')", field.name);
    match reference(field) {
        Some("account") => format!(
            "@account (SELECT o.id AS id, o.name AS name FROM account o WHERE o.name = {value})"
        ),
        Some(of) => format!("@{of} (SELECT {value} AS id, {value} AS name)"),
        None => value,
    }
}

/// The kind of the object that a field of the site refers to by name, where queries hide those out of view.
fn reference(field: &Field) -> Option<&str> {
    match &field.of {
        Type::Reference(of) if ["project", "user", "machine", "account"].contains(&of.as_str()) => {
            Some(of)
        }
        _ => None,
    }
}

/// The rows of a kind, with their values of the site.
fn from(own: &kind::Kind) -> String {
    let word = &own.word;
    let Some(table) = own.table else {
        return format!("(SELECT * FROM kind_record WHERE kind = '{word}') r");
    };
    if own.fields.iter().all(|field| !field.site) {
        return format!("{table} r");
    }
    let key = format!("CAST(r.{} AS TEXT)", own.key_name());
    format!("{table} r LEFT JOIN kind_record s ON s.kind = '{word}' AND s.key = {key}")
}

/// Whether a row is there: not removed, and neither is the one that it belongs to.
fn there(own: &kind::Kind) -> String {
    let owner = own.fields.iter().find(|field| field.owner);
    match owner.map(|field| (&field.of, field.column)) {
        Some((Type::Reference(outer), column)) => format!(
            "r.deleted = 0 AND EXISTS
             (SELECT 1 FROM {outer} o WHERE o.id = r.{column} AND o.deleted = 0)"
        ),
        _ => "r.deleted = 0".to_owned(),
    }
}

/// `paid_by` as `PaidBy`.
fn title(word: &str) -> String {
    let parts = word.split('_').map(|part| {
        let (first, rest) = part.split_at(part.len().min(1));
        first.to_ascii_uppercase() + rest
    });
    parts.collect()
}

fn leaked(text: String) -> &'static str {
    text.leak()
}

/// Whether a caller who sees this may see records for these readers.
pub(super) fn may_see(readers: Readers, caller: Readers) -> bool {
    let rank = |readers: Readers| Readers::ALL.iter().position(|(own, _)| *own == readers);
    rank(readers) <= rank(caller)
}
