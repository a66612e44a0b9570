//! Keys of a mapping file: the valid ones, and their values by type.

use std::ops::RangeInclusive;

use toml::{Table, Value};

/// Refuses a key that is not in the list, with the nearest one that is.
///
/// # Errors
/// If there is such a key.
pub(super) fn known_keys(place: &str, table: &Table, keys: &[&str]) -> Result<(), String> {
    let Some(key) = table.keys().find(|key| !keys.contains(&key.as_str())) else {
        return Ok(());
    };
    let place = if place == "mapping" {
        String::new()
    } else {
        format!("{place}.")
    };
    Err(match bank_api::text::suggest(key, keys) {
        Some(near) => format!("mapping: {place}{key}: no such key; did you mean {near:?}?"),
        None => format!(
            "mapping: {place}{key}: no such key; there are {}",
            keys.join(", ")
        ),
    })
}

/// The message for a wrong key or value.
pub(super) fn in_key(key: &str, why: &str) -> String {
    format!("mapping: {key}: {why}")
}

/// A text.
pub(super) fn string(key: &str, value: &Value) -> Result<String, String> {
    let text = value.as_str().map(str::to_owned);
    text.ok_or_else(|| in_key(key, "no text in quotes"))
}

/// A text, or none where the key is missing.
pub(super) fn optional(table: &Table, key: &str) -> Result<Option<String>, String> {
    table.get(key).map(|value| string(key, value)).transpose()
}

/// A list of texts.
pub(super) fn strings(key: &str, value: &Value) -> Result<Vec<String>, String> {
    let list = value.as_array().ok_or_else(|| in_key(key, "no list"))?;
    list.iter().map(|value| string(key, value)).collect()
}

/// A whole number from a range; 0 where the key is missing.
pub(super) fn whole(table: &Table, key: &str, range: RangeInclusive<i64>) -> Result<i64, String> {
    let Some(value) = table.get(key) else {
        return Ok(0);
    };
    let number = value.as_integer().filter(|number| range.contains(number));
    number.ok_or_else(|| {
        let (from, to) = (range.start(), range.end());
        in_key(key, &format!("a whole number from {from} to {to}"))
    })
}
