//! The body of a request about a record, by the declaration of its kind.

use std::fmt;

use bank_core::decimal::Decimal;
use bank_core::kind::{Field, Key, Kind, Need, Type, Value, units};
use bank_core::time::Timestamp;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde_json::Value as Json;

use super::super::call::Call;
use super::super::json;
use crate::bad_request;
use crate::error::Failure;

/// Values by field.
pub(super) type Values = Vec<(String, Value)>;

/// The key of a new record, and the values that the request names. `null` names nothing.
pub(super) fn read(
    kind: &Kind,
    call: &Call,
    is_new: bool,
) -> Result<(Option<Key>, Values), Failure> {
    let Members(members) = call.json()?;
    let named = is_new && kind.key_name() == "name";
    let mut key = None;
    let mut set = Vec::new();
    for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
        if named && name == "name" {
            let text = value
                .as_str()
                .ok_or_else(|| wrong(name, "a text in quotes"))?;
            key = kind.read_key(text);
            continue;
        }
        let mut arguments = kind.arguments.iter().filter(|_| is_new);
        let argument = || arguments.find(|own| own.name == *name);
        let field = kind.field(name).or_else(argument);
        let field = field.ok_or_else(|| unknown(kind, is_new, name))?;
        set.push((name.clone(), value_of(field, value, call, is_new)?));
    }
    if named && key.is_none() {
        return Err(bad_request::of_member("name", "is missing"));
    }
    let has = |name: &String| set.iter().any(|(own, _)| own == name);
    let mut required = kind
        .fields
        .iter()
        .filter(|field| field.need == Need::Required);
    match required.find(|field| is_new && !has(&field.name)) {
        Some(field) => Err(bad_request::of_member(&field.name, "is missing")),
        None => Ok((key, set)),
    }
}

fn unknown(kind: &Kind, is_new: bool, name: &str) -> Failure {
    let key = (is_new && kind.key_name() == "name").then_some("name");
    let arguments = kind.arguments.iter().filter(|_| is_new);
    let fields = kind.fields.iter().chain(arguments);
    let fields = fields.map(|field| field.name.as_str());
    let known: Vec<&str> = key.into_iter().chain(fields).collect();
    let what = format!("no such member; there are {}", known.join(", "));
    bad_request::of_member(name, &what)
}

fn wrong(name: &str, expected: &str) -> Failure {
    bad_request::of_member(name, &format!("{expected} is expected"))
}

/// A value. An empty text clears one that a record need not have, or sets the default; so does 0 where the numbers
/// begin above it and a record need not have one.
fn value_of(field: &Field, json: &Json, call: &Call, is_new: bool) -> Result<Value, Failure> {
    if field.need != Need::Required && json.as_str() == Some("") {
        // A switch that is forgotten, or an empty variable of a script, must not turn anything on.
        let is_switch = field.of == Type::Flag && !field.default_value().is_none();
        if is_switch {
            return Err(wrong(&field.name, "true or false"));
        }
        return Ok(Value::None);
    }
    let bad = || call.refused(&field.bad());
    let text = || {
        json.as_str()
            .ok_or_else(|| wrong(&field.name, "a text in quotes"))
    };
    match &field.of {
        Type::Flag => {
            let flag = json
                .as_bool()
                .ok_or_else(|| wrong(&field.name, "true or false"))?;
            Ok(Value::Flag(flag))
        }
        Type::Texts(..) | Type::References(..) => {
            let list = json
                .as_array()
                .ok_or_else(|| wrong(&field.name, "a list"))?;
            let texts = list.iter().map(|text| text.as_str().map(str::to_owned));
            let texts: Option<Vec<String>> = texts.collect();
            texts
                .map(Value::List)
                .ok_or_else(|| wrong(&field.name, "a list of texts"))
        }
        Type::Whole(..) | Type::Duration(..) | Type::Reference(_)
            if !matches!(field.of, Type::Reference(_)) || field.is_number_of_record() =>
        {
            let number = json
                .as_i64()
                .ok_or_else(|| wrong(&field.name, "a whole number"))?;
            let clears = matches!(field.of, Type::Whole(1.., _)) && number == 0;
            let clears = clears && !is_new && matches!(field.need, Need::Optional(_));
            Ok(if clears {
                Value::None
            } else {
                Value::Whole(number)
            })
        }
        of => match (of, text()?) {
            (_, "") => Ok(Value::None),
            (Type::Decimal(places, ..), text) => {
                let decimal = Decimal::parse(text).and_then(|number| units(number, *places));
                decimal.map(Value::Whole).ok_or_else(bad)
            }
            (Type::Amount(..), text) => {
                let amount = json::read_amount(text, call.directory().bank.precision);
                let amount = amount.map_err(|refusal| call.refused(&refusal))?;
                Ok(Value::Whole(amount.0))
            }
            (Type::Time, text) => {
                let at = bank_api::text::parse_rfc3339(text).map(Timestamp);
                at.map(Value::Time).ok_or_else(bad)
            }
            (_, text) => Ok(Value::Text(text.to_owned())),
        },
    }
}

/// The members of an object in their order, each once.
struct Members(Vec<(String, Json)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Members;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
        let mut all: Vec<(String, Json)> = Vec::new();
        while let Some((name, value)) = map.next_entry::<String, Json>()? {
            if all.iter().any(|(own, _)| *own == name) {
                return Err(A::Error::custom(format_args!("duplicate field `{name}`")));
            }
            all.push((name, value));
        }
        Ok(Members(all))
    }
}
