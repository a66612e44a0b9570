//! For programs: JSON as the daemon sent it. Amounts are strings, times RFC 3339 UTC.

use serde::Serialize;
use serde_json::Value;

use super::{Column, Row};
use crate::fail::Failure;

/// One document, indented.
pub(super) fn document(value: &impl Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|error| failed(&error))?;
    Ok(text + "\n")
}

/// One document on one line.
pub(super) fn line(value: &impl Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string(value).map_err(|error| failed(&error))?;
    Ok(text + "\n")
}

/// The items of a list, each on a line of its own, with all fields or only the columns.
pub(super) fn lines(
    answer: &impl Serialize,
    all: bool,
    columns: &[&Column],
) -> Result<String, Failure> {
    let mut out = String::new();
    for item in items(answer) {
        out.push_str(&match item {
            Value::Object(map) if !all => line(&pick(&map, columns))?,
            item => line(&item)?,
        });
    }
    Ok(out)
}

/// The rows of a report, each on a line of its own with what the whole says beside its rows: its unit,
/// its zone, and its period as `period_from` and `period_until`. What a row says itself is never
/// replaced.
pub(super) fn rows(
    answer: &impl Serialize,
    rows: &[Row],
    all: bool,
    columns: &[&Column],
) -> Result<String, Failure> {
    let whole = serde_json::to_value(answer).map_err(|error| failed(&error))?;
    let mut out = String::new();
    for own in rows {
        let mut row = own.clone();
        for (key, value) in whole.as_object().into_iter().flatten() {
            let key = match key.as_str() {
                "next" => continue,
                "from" => "period_from",
                "until" | "to" => "period_until",
                key => key,
            };
            if !(value.is_array() || value.is_object() || row.contains_key(key)) {
                row.insert(key.to_owned(), value.clone());
            }
        }
        out.push_str(&if all {
            line(&row)?
        } else {
            line(&pick(&row, columns))?
        });
    }
    Ok(out)
}

/// A list of which every item has only the columns.
pub(super) fn filtered(answer: &impl Serialize, columns: &[&Column]) -> Value {
    let picked = items(answer).into_iter().map(|item| match item {
        Value::Object(map) => Value::Object(pick(&map, columns)),
        other => other,
    });
    let next = serde_json::to_value(answer)
        .ok()
        .and_then(|list| list.get("next").cloned());
    serde_json::json!({ "items": picked.collect::<Vec<_>>(), "next": next })
}

/// The columns of one row.
pub(super) fn pick(row: &Row, columns: &[&Column]) -> Row {
    let field = |column: &&Column| {
        (
            column.key().to_owned(),
            row.get(column.key()).cloned().unwrap_or(Value::Null),
        )
    };
    columns.iter().map(field).collect()
}

fn items(answer: &impl Serialize) -> Vec<Value> {
    match serde_json::to_value(answer) {
        Ok(Value::Object(mut map)) => match map.remove("items") {
            Some(Value::Array(items)) => items,
            _ => vec![Value::Object(map)],
        },
        _ => Vec::new(),
    }
}

fn failed(error: &serde_json::Error) -> Failure {
    Failure::internal(format!("cannot write JSON: {error}"))
}
