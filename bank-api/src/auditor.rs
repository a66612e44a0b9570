//! The records of AUDITOR's REST API as they stand on the wire (`auditor-api.md` 2).
//!
//! Shapes only: what a name may be, and what a time, is judged where a record is taken in. Fields
//! that are not known are ignored at every level, a known one that comes twice is a fault.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The largest amount of a component, 2^63 − 1, is that of the type; below zero there is none.
pub type Count = i64;

/// A record as `POST` brings it.
#[derive(Debug, Deserialize)]
pub struct RecordAdd {
    /// Its name, once in a bank.
    pub record_id: String,
    /// Values by key; null and absent are the same.
    #[serde(default)]
    pub meta: Option<BTreeMap<String, Vec<String>>>,
    /// What was used, in order; one name may come several times.
    pub components: Vec<Component>,
    /// When it began, RFC 3339.
    pub start_time: String,
    /// When it ended; null or absent while it goes on.
    #[serde(default)]
    pub stop_time: Option<String>,
}

/// As much of a body as says whose it is, whatever else is wrong with it.
#[derive(Debug, Deserialize)]
pub struct Named {
    /// The record's name.
    pub record_id: String,
}

/// A change as `PUT` brings it: only the end of a record changes.
#[derive(Debug, Deserialize)]
pub struct RecordUpdate {
    /// Whose end it is.
    pub record_id: String,
    /// Judged, and otherwise ignored.
    #[serde(default)]
    pub meta: Option<BTreeMap<String, Vec<String>>>,
    /// Judged, and otherwise ignored.
    pub components: Vec<Component>,
    /// When it ended.
    pub stop_time: String,
}

/// A part of what was used.
#[derive(Debug, Deserialize)]
pub struct Component {
    /// Its name, such as `Cores`.
    pub name: String,
    /// How many, 0 or above.
    pub amount: Count,
    /// How much each of them counts.
    pub scores: Vec<Score>,
}

/// A weight of a component.
#[derive(Debug, Deserialize)]
pub struct Score {
    /// Its name, such as `HEPSPEC06`.
    pub name: String,
    /// A number of 0 or above, as it was written.
    pub value: Box<RawValue>,
}

/// The unchanging part of a record as it is answered, without its closing brace: what ends and how
/// long it took come behind it.
#[derive(Debug, Serialize)]
pub struct Head<'a> {
    /// Its name.
    pub record_id: &'a str,
    /// Values by key, or null.
    pub meta: Option<&'a BTreeMap<String, Vec<String>>>,
    /// What was used.
    pub components: Vec<HeadComponent<'a>>,
    /// When it began, UTC.
    pub start_time: &'a str,
}

/// A component as it is answered.
#[derive(Debug, Serialize)]
pub struct HeadComponent<'a> {
    /// Its name.
    pub name: &'a str,
    /// How many.
    pub amount: Count,
    /// Its weights.
    pub scores: Vec<HeadScore<'a>>,
}

/// A weight as it is answered.
#[derive(Debug, Serialize)]
pub struct HeadScore<'a> {
    /// Its name.
    pub name: &'a str,
    /// The number, with a point or an exponent.
    pub value: &'a RawValue,
}

/// What a condition of a query looks at in a stored head.
#[derive(Debug, Deserialize)]
pub struct Looked {
    /// Values by key.
    pub meta: Option<BTreeMap<String, Vec<String>>>,
    /// What was used.
    pub components: Vec<LookedComponent>,
}

/// Name and amount of a component.
#[derive(Debug, Deserialize)]
pub struct LookedComponent {
    /// Its name.
    pub name: String,
    /// How many.
    pub amount: Count,
}

/// `{"error": …}`: how the routes for reading say no.
#[derive(Debug, Serialize)]
pub struct Trouble<'a> {
    /// What is wrong.
    pub error: &'a str,
}

/// `{"warning": …}`: a record that was there already, where the settings make nothing of it.
#[derive(Debug, Serialize)]
pub struct Warning<'a> {
    /// What was left out.
    pub warning: &'a str,
}

impl Head<'_> {
    /// The text, without the closing brace; empty only if JSON cannot be written at all.
    pub fn open_text(&self) -> String {
        let mut text = without_pairs(serde_json::to_string(self).unwrap_or_default());
        text.pop();
        text
    }
}

/// The same JSON with each backslash of a text written as its number. AUDITOR's asynchronous client
/// takes the end of a text that ends with `\\\\` for a part of it, and then finds no record at all.
fn without_pairs(text: String) -> String {
    if !text.contains("\\\\") {
        return text;
    }
    let mut safe = String::with_capacity(text.len() + 16);
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        safe.push(letter);
        if letter == '\\' {
            match letters.next() {
                Some('\\') => safe.push_str("u005c"),
                other => safe.extend(other),
            }
        }
    }
    safe
}

/// Whatever of these shapes as JSON.
pub fn text<T: Serialize>(shape: &T) -> String {
    serde_json::to_string(shape).unwrap_or_default()
}

/// A weight's number as it is kept: of double precision, and always with a point or an exponent
/// (`3` → `3.0`). `None` for what is no number of 0 or above in its range.
pub fn score_value(raw: &RawValue) -> Option<Box<RawValue>> {
    let written = raw.get();
    let is_number = written
        .bytes()
        .all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
    if !is_number {
        return None;
    }
    // The type is what the standard library's shortest text of a double makes of it; the value
    // touches no amount of money.
    let number = serde_json::Number::from_f64(written.parse().ok()?)?.to_string();
    let number = if number == "-0.0" { "0.0" } else { &number };
    if number.starts_with('-') {
        return None;
    }
    RawValue::from_string(number.to_owned()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_doubles_with_a_point() {
        for (written, kept) in [
            ("3", Some("3.0")),
            ("0", Some("0.0")),
            ("-0", Some("0.0")),
            ("1.50", Some("1.5")),
            ("9.8", Some("9.8")),
            ("1e3", Some("1000.0")),
            ("0.1", Some("0.1")),
            ("1e300", Some("1e+300")),
            ("1e400", None),
            ("-0.5", None),
            ("\"1\"", None),
            ("null", None),
            ("true", None),
            ("[1]", None),
        ] {
            let raw = RawValue::from_string(written.to_owned()).unwrap();
            let made = score_value(&raw);
            assert_eq!(made.as_deref().map(RawValue::get), kept, "{written}");
        }
    }

    #[test]
    fn unknown_fields_are_ignored_and_known_ones_come_once() {
        for (text, fine) in [
            (
                r#"{"record_id":"a","components":[],"start_time":"x"}"#,
                true,
            ),
            (
                r#"{"record_id":"a","meta":null,"components":[],"start_time":"x","stop_time":null,"runtime":"no"}"#,
                true,
            ),
            (
                r#"{"record_id":"a","components":[{"name":"c","amount":1,"scores":[],"x":[{}]}],"start_time":"x"}"#,
                true,
            ),
            (
                r#"{"record_id":"a","record_id":"a","components":[],"start_time":"x"}"#,
                false,
            ),
            (
                r#"{"record_id":"a","components":null,"start_time":"x"}"#,
                false,
            ),
            (r#"{"record_id":"a","start_time":"x"}"#, false),
            (r#"{"record_id":"a","components":[],"start_time":5}"#, false),
            (
                r#"{"record_id":"a","components":[{"name":"c","amount":1.0,"scores":[]}],"start_time":"x"}"#,
                false,
            ),
            (
                r#"{"record_id":"a","components":[{"name":"c","amount":"1","scores":[]}],"start_time":"x"}"#,
                false,
            ),
            (
                r#"{"record_id":"a","components":[{"name":"c","amount":9223372036854775808,"scores":[]}],"start_time":"x"}"#,
                false,
            ),
            (
                r#"{"record_id":"a","components":[{"name":"c","amount":1}],"start_time":"x"}"#,
                false,
            ),
            (
                r#"{"record_id":"a","components":[],"start_time":"x"} 1"#,
                false,
            ),
            (
                r#"{"record_id":"a","meta":{"k":"v"},"components":[],"start_time":"x"}"#,
                false,
            ),
            (
                r#"{"record_id":"a","meta":{"k":[null]},"components":[],"start_time":"x"}"#,
                false,
            ),
        ] {
            let read = serde_json::from_str::<RecordAdd>(text);
            assert_eq!(read.is_ok(), fine, "{text}: {read:?}");
        }
    }
}
