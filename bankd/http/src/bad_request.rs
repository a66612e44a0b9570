//! Errors of queries and bodies that have the wrong shape: the parameter or member, and the expected value.
//! The text is the bank's, never a library's.

use std::error::Error as _;

use axum::extract::Query;
use axum::http::Uri;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::error::{Category, Error};

use crate::error::Failure;

/// Deepest place that is named.
const DEPTH_MAX: usize = 32;
/// Names that a sentence lists.
const NAMES_MAX: usize = 40;

/// The query of a request. Its type refuses unknown parameters.
pub(super) fn query<T: DeserializeOwned>(uri: &Uri) -> Result<T, Failure> {
    let Query(query) = Query::<T>::try_from_uri(uri).map_err(|error| {
        let message = error.source().map_or_else(String::new, ToString::to_string);
        of_query(&message)
    })?;
    Ok(query)
}

/// Refuses every parameter: the query of a route that has none.
pub(super) fn no_query(uri: &Uri) -> Result<(), Failure> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Nothing {}
    let Nothing {} = query(uri)?;
    Ok(())
}

/// Error of a query, from the reader's text: `PARAMETER: why`, or `why` alone.
fn of_query(message: &str) -> Failure {
    let (field, why) = match message.split_once(": ") {
        Some((field, why)) if is_name(field) => (Some(field.to_owned()), why),
        _ => (quoted(message).next().map(str::to_owned), message),
    };
    let what = what(why, "parameter");
    let is_number = ["digit", "integer", "number"]
        .iter()
        .any(|word| why.contains(word));
    let what = match (field.as_deref(), is_number) {
        // Every list has pages of so many rows.
        (Some("limit"), true) => "a whole number from 1 to 1000 is expected".to_owned(),
        _ => what,
    };
    failure("query", field, &what)
}

/// Error of a body that is no JSON object.
pub(super) fn of_body(body: &[u8], media: Option<&str>, error: &Error) -> Failure {
    let message = error.to_string();
    let why = message
        .rsplit_once(" at line ")
        .map_or(&*message, |(why, _)| why);
    if error.classify() == Category::Data {
        let named = why
            .contains(" field `")
            .then(|| quoted(why).next())
            .flatten();
        let place = place(body, offset(body, error));
        let field = named.map_or(place, str::to_owned);
        return failure(
            "body",
            Some(field).filter(|field| !field.is_empty()),
            &what(why, "member"),
        );
    }
    let (line, column) = (error.line(), error.column());
    let failure = failure(
        "body",
        None,
        &format!("no JSON from line {line}, column {column} on: an object is expected"),
    );
    match media {
        Some(media) if !media.to_ascii_lowercase().contains("json") => {
            let media: String = media.chars().take(80).collect();
            failure.hint(format!(
                "Content-Type is {media:?}; application/json is expected"
            ))
        }
        _ => failure,
    }
}

/// Of one member of a body.
pub(super) fn of_member(name: &str, what: &str) -> Failure {
    failure("body", Some(name.to_owned()), what)
}

fn failure(part: &str, field: Option<String>, what: &str) -> Failure {
    match field {
        Some(field) => {
            let field: String = field.chars().take(128).collect();
            Failure::new("bad_request", format!("{part}: {field}: {what}")).field(field)
        }
        None => Failure::new("bad_request", format!("{part}: {what}")),
    }
}

/// The expected value, from a library's error text.
fn what(why: &str, kind: &str) -> String {
    if why.starts_with("unknown field") {
        let names: Vec<&str> = quoted(why).skip(1).take(NAMES_MAX).collect();
        return match names.as_slice() {
            [] => format!("no such {kind}; there are none"),
            names => format!("no such {kind}; there are {}", names.join(", ")),
        };
    }
    if why.starts_with("unknown variant") {
        let names: Vec<&str> = quoted(why).skip(1).take(NAMES_MAX).collect();
        return format!("one of {} is expected", names.join(", "));
    }
    if why.starts_with("missing field") {
        return "is missing".to_owned();
    }
    if why.starts_with("duplicate field") {
        return "is given twice".to_owned();
    }
    if why.contains("`true` or `false`") {
        return "true or false is expected".to_owned();
    }
    let Some((_, wanted)) = why.rsplit_once("expected ") else {
        return "a whole number within its range is expected".to_owned();
    };
    let wanted = match wanted {
        "a boolean" => "true or false",
        "a string" | "a borrowed string" | "string" | "str" => "a text in quotes",
        "a sequence" => "a list",
        "i8" | "i16" | "i32" | "i64" | "i128" => "a whole number",
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => "a whole number from 0 on",
        other if other.starts_with("a map") || other.starts_with("struct ") => "an object",
        _ => "another kind of value",
    };
    format!("{wanted} is expected")
}

/// The words between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn is_name(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    !text.is_empty() && text.chars().all(is_part)
}

/// Position of an error in the body, in bytes.
fn offset(body: &[u8], error: &Error) -> usize {
    let lines = body.split_inclusive(|byte| *byte == b'\n');
    let before = lines.take(error.line().saturating_sub(1));
    before
        .map(<[u8]>::len)
        .sum::<usize>()
        .saturating_add(error.column())
}

/// One thing around a place: an object with the name of the member at hand, or a list with its place.
enum Around {
    Member(String),
    Item(usize),
}

/// The member at a position of a document: its name after the names of its parents, separated by slashes.
fn place(body: &[u8], upto: usize) -> String {
    let mut around: Vec<Around> = Vec::new();
    let mut text: Option<String> = None;
    let mut word = String::new();
    let mut bytes = body.iter().take(upto).copied();
    while let Some(byte) = bytes.next() {
        if let Some(open) = &mut text {
            match byte {
                b'"' => word = text.take().unwrap_or_default(),
                b'\\' => open.extend(bytes.next().map(char::from)),
                byte => open.push(char::from(byte)),
            }
            continue;
        }
        let is_deep = around.len() >= DEPTH_MAX;
        match (byte, around.last_mut()) {
            (b'"', _) => text = Some(String::new()),
            (b'{', _) if !is_deep => around.push(Around::Member(String::new())),
            (b'[', _) if !is_deep => around.push(Around::Item(0)),
            (b'}' | b']', _) => drop(around.pop()),
            (b':', Some(Around::Member(name))) => *name = std::mem::take(&mut word),
            (b',', Some(Around::Item(n))) => *n = n.saturating_add(1),
            _ => {}
        }
    }
    let names = around.iter().map(|part| match part {
        Around::Member(name) => name.clone(),
        Around::Item(n) => n.to_string(),
    });
    names.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use bank_api::v1::{JournalQuery, NewReserve};

    fn refused(text: &str) -> String {
        let uri = format!("/x?{text}").parse().unwrap();
        let failure = query::<JournalQuery>(&uri).unwrap_err();
        format!(
            "{} [{}]",
            failure.problem().detail.clone().unwrap(),
            failure.problem().field.clone().unwrap_or_default()
        )
    }

    fn body(text: &str) -> String {
        let error = serde_json::from_str::<NewReserve>(text).unwrap_err();
        let failure = of_body(text.as_bytes(), Some("text/plain"), &error);
        format!(
            "{} [{}]",
            failure.problem().detail.clone().unwrap(),
            failure.problem().field.clone().unwrap_or_default()
        )
    }

    #[test]
    fn parameters_are_named_with_what_is_right() {
        for (text, reported) in [
            (
                "limit=abc",
                "query: limit: a whole number from 1 to 1000 is expected [limit]",
            ),
            (
                "limit=",
                "query: limit: a whole number from 1 to 1000 is expected [limit]",
            ),
            (
                "limit=99999999999999",
                "query: limit: a whole number from 1 to 1000 is expected [limit]",
            ),
            (
                "limit=-1",
                "query: limit: a whole number from 1 to 1000 is expected [limit]",
            ),
            ("tree=yes", "query: tree: true or false is expected [tree]"),
            ("user=a&user=b", "query: user: is given twice [user]"),
        ] {
            assert_eq!(refused(text), reported, "{text}");
        }
        let reported = refused("nonsense=1");
        assert!(
            reported
                .starts_with("query: nonsense: no such parameter; there are project, tree, user"),
            "{reported}"
        );
        assert!(reported.ends_with("[nonsense]"), "{reported}");
    }

    #[test]
    fn members_are_named_with_what_is_right() {
        for (text, reported) in [
            (
                r#"{"job":7}"#,
                "body: job: a text in quotes is expected [job]",
            ),
            (
                r#"{"job":"a:b","wall_s":"10"}"#,
                "body: wall_s: a whole number is expected [wall_s]",
            ),
            (
                r#"{"job":"a","wall_s":1.5}"#,
                "body: wall_s: a whole number is expected [wall_s]",
            ),
            (
                "{\"job\":\"a\",\n \"gres\":{\"gpu\": 1}}",
                "body: gres/gpu: a text in quotes is expected [gres/gpu]",
            ),
            (
                r#"{"job":[],"wall_s":1}"#,
                "body: job: a text in quotes is expected [job]",
            ),
            (
                r#"{"job":"a","gres":[1]}"#,
                "body: gres: an object is expected [gres]",
            ),
            (r#"{"wall_s":1}"#, "body: job: is missing [job]"),
            (
                r#"{"job":"a","job":"b"}"#,
                "body: job: is given twice [job]",
            ),
            (
                r#"{"job":"#,
                "body: no JSON from line 1, column 7 on: an object is expected []",
            ),
            (
                "",
                "body: no JSON from line 1, column 0 on: an object is expected []",
            ),
        ] {
            assert_eq!(body(text), reported, "{text}");
        }
        let reported = body(r#"{"job":"a","colour":"red"}"#);
        assert!(
            reported.starts_with("body: colour: no such member; there are job,"),
            "{reported}"
        );
        let error = serde_json::from_str::<NewReserve>("job=1").unwrap_err();
        let failure = of_body(b"job=1", Some("text/plain"), &error);
        assert_eq!(
            failure.problem().hint.as_deref(),
            Some("Content-Type is \"text/plain\"; application/json is expected")
        );
        let failure = of_body(b"job=1", Some("application/json"), &error);
        assert_eq!(failure.problem().hint, None);
    }
}
