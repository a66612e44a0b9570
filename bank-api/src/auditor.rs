//! JSON shapes of records in AUDITOR's REST API (`auditor-api.md` 2).
//!
//! Shapes only: the code that accepts a record checks its names and times. Unknown fields are ignored at
//! every level. A known field that occurs twice is an error.

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
    pub meta: Option<BTreeMap<String, Vec<String>>>,
    /// Used components, in order. A name may occur several times.
    pub components: Vec<Component>,
    /// Start time, RFC 3339.
    pub start_time: String,
    /// End time; null or absent while it runs.
    pub stop_time: Option<String>,
}

/// The part of a body that names the record, even if the rest is invalid.
#[derive(Debug, Deserialize)]
pub struct Named {
    /// The record's name.
    pub record_id: String,
}

/// A change as `PUT` brings it: only the end of a record changes.
#[derive(Debug, Deserialize)]
pub struct RecordUpdate {
    /// The record to change.
    pub record_id: String,
    /// Judged, and otherwise ignored.
    pub meta: Option<BTreeMap<String, Vec<String>>>,
    /// Judged, and otherwise ignored.
    pub components: Vec<Component>,
    /// End time.
    pub stop_time: String,
}

/// A used component.
#[derive(Debug, Deserialize)]
pub struct Component {
    /// Its name, such as `Cores`.
    pub name: String,
    /// Amount, 0 or above.
    pub amount: Count,
    /// Weights of the component.
    pub scores: Vec<Score>,
}

/// A weight of a component.
#[derive(Debug, Deserialize)]
pub struct Score {
    /// Its name, such as `HEPSPEC06`.
    pub name: String,
    /// A number of 0 or above, with its exact text.
    pub value: Box<RawValue>,
}

/// The constant part of a record in an answer, without its closing brace. The end and the run time follow.
#[derive(Debug, Serialize)]
pub struct Head<'a> {
    /// Its name.
    pub record_id: &'a str,
    /// Values by key, or null.
    pub meta: Option<&'a BTreeMap<String, Vec<String>>>,
    /// Used components.
    pub components: Vec<HeadComponent<'a>>,
    /// Start time, UTC.
    pub start_time: &'a str,
}

/// A component in an answer.
#[derive(Debug, Serialize)]
pub struct HeadComponent<'a> {
    /// Its name.
    pub name: &'a str,
    /// Amount.
    pub amount: Count,
    /// Its weights.
    pub scores: Vec<HeadScore<'a>>,
}

/// A weight in an answer.
#[derive(Debug, Serialize)]
pub struct HeadScore<'a> {
    /// Its name.
    pub name: &'a str,
    /// The number, with a point or an exponent.
    pub value: &'a RawValue,
}

/// The part of a stored head that query conditions use.
#[derive(Debug, Deserialize)]
pub struct Looked {
    /// Values by key.
    pub meta: Option<BTreeMap<String, Vec<String>>>,
    /// Used components.
    pub components: Vec<LookedComponent>,
}

/// Name and amount of a component.
#[derive(Debug, Deserialize)]
pub struct LookedComponent {
    /// Its name.
    pub name: String,
    /// Amount.
    pub amount: Count,
}

/// `{"error": …}`: the error body of the read routes.
#[derive(Debug, Serialize)]
pub struct Trouble<'a> {
    /// Description of the error.
    pub error: &'a str,
}

/// `{"warning": …}`: the record exists, and the settings ignore repeats.
#[derive(Debug, Serialize)]
pub struct Warning<'a> {
    /// The skipped record.
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

/// A weight as a stored number: double precision, always with a point or an exponent (`3` → `3.0`). `None`
/// for a negative number, a number out of range, or another value.
pub fn score_value(raw: &RawValue) -> Option<Box<RawValue>> {
    let written = raw.get();
    let is_number = written
        .bytes()
        .all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
    if !is_number {
        return None;
    }
    // The standard library's shortest text of a double is part of the format. The value affects no amount.
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
