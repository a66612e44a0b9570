//! Schemas of declared kinds, made of the declaration.

use bank_api::v1::openapi;
use bank_core::kind::{Field, KeyType, Kind, Need, Type, decimal};
use serde_json::{Map, Value, json};
use utoipa::openapi::Ref;

use super::Schemas;
use crate::route::Form;

/// The schema of a body or an answer; the kind's own schemas go among the named ones.
pub(super) fn schema(schemas: &mut Schemas, kind: &Kind, form: Form) -> Value {
    let name = name(kind, form);
    if let Form::One | Form::New | Form::Patch = form {
        schemas.named((name.clone(), object(kind, form)));
        return json!({"$ref": format!("#/components/schemas/{name}")});
    }
    schemas.named((name.clone(), object(kind, Form::One)));
    let place = Ref::from_schema_name(name);
    let schema = match form {
        Form::List => openapi::list(place),
        _ => openapi::written(place),
    };
    serde_json::to_value(schema).unwrap_or_default()
}

/// `Downtime`, `NewDowntime`, `PatchDowntime`.
fn name(kind: &Kind, form: Form) -> String {
    let (first, rest) = kind.word.split_at(1);
    let word = first.to_ascii_uppercase() + rest;
    match form {
        Form::New => format!("New{word}"),
        Form::Patch => format!("Patch{word}"),
        Form::One | Form::List | Form::Written => word,
    }
}

fn object(kind: &Kind, form: Form) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    if form == Form::One || (form == Form::New && kind.key != KeyType::Number) {
        properties.insert(kind.key_name().to_owned(), key(kind));
        required.push(kind.key_name());
    }
    let is_in = |field: &&Field| form != Form::Patch || !field.fixed;
    for field in kind.fields.iter().filter(is_in) {
        let always = match form {
            Form::One => field.is_list() || !matches!(field.need, Need::Optional(_)),
            Form::New => field.need == Need::Required,
            _ => false,
        };
        if always {
            required.push(&field.name);
        }
        properties.insert(field.name.clone(), property(field, always, form));
    }
    let others = match form {
        Form::New => kind.arguments.as_slice(),
        Form::One => kind.derived.as_slice(),
        _ => &[],
    };
    for field in others {
        let is_shown = form == Form::One;
        if is_shown {
            required.push(&field.name);
        }
        properties.insert(field.name.clone(), property(field, is_shown, form));
    }
    let mut object = json!({
        "type": "object",
        "description": description(kind, form),
        "properties": properties,
    });
    if let Some(members) = object.as_object_mut() {
        if !required.is_empty() {
            members.insert("required".to_owned(), json!(required));
        }
        if form != Form::One {
            members.insert("additionalProperties".to_owned(), json!(false));
        }
    }
    object
}

fn description(kind: &Kind, form: Form) -> String {
    match form {
        Form::New => format!("A new {}.", kind.word),
        Form::Patch => format!(
            "Changes to a {}. A member that is absent stays; an empty text clears one.",
            kind.word
        ),
        _ => format!("{}.", kind.about),
    }
}

fn key(kind: &Kind) -> Value {
    match kind.key {
        KeyType::Number => {
            json!({"type": "integer", "format": "int64", "description": "Number of the record."})
        }
        KeyType::Name | KeyType::Word | KeyType::AnyCase | KeyType::Object => {
            json!({"type": "string", "description": "Name of the record."})
        }
    }
}

fn property(field: &Field, always: bool, form: Form) -> Value {
    let mut own = match &field.of {
        Type::Whole(min, max) | Type::Duration(min, max) => {
            json!({"type": "integer", "format": "int64", "minimum": min, "maximum": max})
        }
        Type::Flag => json!({"type": "boolean"}),
        Type::Choice(words) => json!({"type": "string", "enum": words}),
        Type::Reference(_) if field.is_number_of_record() => {
            json!({"type": "integer", "format": "int64"})
        }
        Type::References(of, _) if of == "member" => {
            json!({"type": "array", "items": {"$ref": "#/components/schemas/Member"}})
        }
        Type::References(_, usize::MAX) => json!({"type": "array", "items": {"type": "string"}}),
        Type::Texts(max, _) | Type::References(_, max) => {
            json!({"type": "array", "items": {"type": "string"}, "maxItems": max})
        }
        Type::Time => json!({"type": "string", "format": "date-time"}),
        Type::Text(_) | Type::Decimal(..) | Type::Amount(..) | Type::Reference(_) => {
            json!({"type": "string"})
        }
    };
    let Some(members) = own.as_object_mut() else {
        return own;
    };
    members.insert("description".to_owned(), sentence(field, form).into());
    if form != Form::One {
        // An empty text, and a number below the range, clear a value.
        for bound in ["minimum", "maximum", "format", "enum"] {
            if bound != "format" || field.of == Type::Time {
                members.remove(bound);
            }
        }
    }
    if !always {
        let of = members.remove("type").unwrap_or_default();
        members.remove("enum");
        members.insert("type".to_owned(), json!([of, "null"]));
    }
    own
}

/// The help of a field, its range, and what a record without a value means.
fn sentence(field: &Field, form: Form) -> String {
    let range = match &field.of {
        Type::Whole(..)
        | Type::Duration(..)
        | Type::Decimal(..)
        | Type::Choice(_)
        | Type::Texts(..) => {
            format!(": {}", field.expected())
        }
        Type::References(_, max) if *max < usize::MAX => format!(": {}", field.expected()),
        _ => String::new(),
    };
    let absent = match (&field.need, form) {
        (Need::Optional(meaning), _) if !meaning.is_empty() => {
            format!(" Without a value: {meaning}.")
        }
        (Need::Default(value), Form::New) => match default(field, value) {
            Some(text) => format!(" Default: {text}."),
            None => String::new(),
        },
        _ => String::new(),
    };
    format!("{}{range}.{absent}", field.help)
}

fn default(field: &Field, value: &bank_core::kind::Value) -> Option<String> {
    use bank_core::kind::Value as Own;
    match (&field.of, value) {
        (Type::Decimal(places, ..), Own::Whole(units)) => Some(decimal(*units, *places)),
        (_, Own::Whole(number)) => Some(number.to_string()),
        (_, Own::Flag(flag)) => Some(flag.to_string()),
        (_, Own::Text(text)) => Some(text.clone()),
        _ => None,
    }
}
