//! Paths and queries: percent-encoding of what users type.

use bank_api::text::percent_encode;
use serde::Serialize;
use serde_json::Value;

/// Joins segments to a path under `/api/v1`, each percent-encoded (a `/` in a name too).
pub fn path(segments: &[&str]) -> String {
    let mut out = String::from("/api/v1");
    for segment in segments {
        out.push('/');
        percent_encode(segment, &mut out);
    }
    out
}

/// A query from a struct of optional scalars; empty where nothing is set.
pub fn query(parameters: &impl Serialize) -> String {
    let mut out = String::new();
    let Ok(Value::Object(map)) = serde_json::to_value(parameters) else {
        return out;
    };
    for (name, value) in &map {
        let text = match value {
            Value::Null | Value::Bool(false) => continue,
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        out.push(if out.is_empty() { '?' } else { '&' });
        percent_encode(name, &mut out);
        out.push('=');
        percent_encode(&text, &mut out);
    }
    out
}

/// A path and query in the view of a person.
pub(crate) fn viewed_as(target: &str, person: &str) -> String {
    with(target, "view_as", person)
}

/// The same with the cursor of the page before.
pub(crate) fn after(target: &str, cursor: &str) -> String {
    with(target, "after", cursor)
}

/// A path and query with one more parameter.
fn with(target: &str, name: &str, value: &str) -> String {
    let mut out = target.to_owned();
    out.push(if out.contains('?') { '&' } else { '?' });
    out.push_str(name);
    out.push('=');
    percent_encode(value, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use bank_api::v1::JournalQuery;

    use super::*;

    #[test]
    fn names_are_encoded() {
        let cases: [(&[&str], &str); 4] = [
            (&["projects"], "/api/v1/projects"),
            (&["projects", "chem/gpu"], "/api/v1/projects/chem%2Fgpu"),
            (&["users", "a b%"], "/api/v1/users/a%20b%25"),
            (&["accounts", "#unbilled"], "/api/v1/accounts/%23unbilled"),
        ];
        for (segments, expected) in cases {
            assert_eq!(path(segments), expected);
        }
    }

    #[test]
    fn a_cursor_is_behind_the_rest() {
        assert_eq!(after("/a", "a b"), "/a?after=a%20b");
        assert_eq!(after("/a?project=p", "7"), "/a?project=p&after=7");
    }

    #[test]
    fn a_query_names_only_what_is_set() {
        assert_eq!(query(&JournalQuery::default()), "");
        let some = JournalQuery {
            project: Some("chem/gpu".into()),
            limit: Some(5),
            since: Some("2026-11-01T00:00:00Z".into()),
            ..JournalQuery::default()
        };
        assert_eq!(
            query(&some),
            "?limit=5&project=chem%2Fgpu&since=2026-11-01T00%3A00%3A00Z"
        );
    }
}
