//! The data of a table as JSON and CSV: the answer of the route that the page asked, for the same person.

use std::sync::Arc;

use axum::Router;
use axum::extract::RawQuery;
use axum::http::{Uri, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use bank_api::text::is_formula;
use serde_json::{Map, Value};

use super::Web;
use super::failed::Failed;
use super::pages::rates;
use super::request::{fields, segments};
use super::target::Target;
use super::visit::{Fields, Shown, Visit};

/// Rows of a list that a file of separated values has at most.
const ROWS_MAX: usize = 100_000;
/// Rows of a page that is asked for it.
const PAGE: &str = "1000";

pub(crate) fn routes() -> Router<Arc<Web>> {
    Router::new()
        .route("/data/rates/test", get(rates_test))
        .route("/data/{*route}", get(show))
}

/// The parameters that are not those of the route.
const OWN: [&str; 2] = ["format", "part"];

/// `GET /data/ROUTE?…`: the answer of `/api/v1/ROUTE` as JSON; with `format=csv` its rows as CSV, from all pages
/// of the list. `part` names the member that has the rows, such as `periods.rows`, or several with commas between, or a
/// member of the rows of a list; absent: `items` or `rows`. A file of the newest rows has the oldest
/// first.
async fn show(visit: Visit, uri: Uri, RawQuery(query): RawQuery) -> Shown {
    let route = uri.path().strip_prefix("/data/").and_then(segments);
    let route = route.ok_or_else(|| Failed::new("bad_request", "the path cannot be read"))?;
    let query = fields(&query.unwrap_or_default());
    let query = query.ok_or_else(|| Failed::new("bad_request", "the query cannot be read"))?;
    let is_csv = query
        .iter()
        .any(|(name, value)| name == "format" && value == "csv");
    known_format(&query)?;
    let part = query.iter().find(|(name, _)| name == "part");
    let part = part.map(|(_, part)| part.as_str());
    let is_newest = query.iter().any(|(name, _)| name == "newest");
    let cursor = if is_newest { "before" } else { "after" };
    let target = |after: Option<&str>| {
        let segments: Vec<&str> = route.iter().map(String::as_str).collect();
        let rest = query
            .iter()
            .filter(|(name, _)| !OWN.contains(&name.as_str()));
        // A file has all rows of a list, whatever page it was opened from.
        let of_page = [cursor, "limit"];
        let rest = rest.filter(|(name, _)| !is_csv || !of_page.contains(&name.as_str()));
        let target = rest.fold(Target::api(&segments), |target, (name, value)| {
            target.with(name, value)
        });
        let limit = Some(PAGE).filter(|_| is_csv && is_newest);
        target.maybe("limit", limit).maybe(cursor, after)
    };
    let body = visit.raw(&target(None)).await?;
    let file = route.last().map_or("data", String::as_str);
    if !is_csv && let Some(part) = part {
        let answer = serde_json::from_slice(&body).map_err(|_| no_rows())?;
        let items = serde_json::json!({"items": rows_of(answer, Some(part))});
        return Ok(saved(
            "application/json",
            file,
            "json",
            items.to_string().into_bytes(),
        ));
    }
    if !is_csv {
        let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(&body).is_ok();
        let media = if is_json {
            "application/json"
        } else {
            "application/octet-stream"
        };
        return Ok(saved(
            media,
            file,
            if is_json { "json" } else { "bin" },
            body,
        ));
    }
    let mut pages = all_pages(&visit, body, part, |next| target(Some(next))).await?;
    if is_newest {
        pages.reverse();
    }
    let rows: Vec<_> = pages.into_iter().flatten().collect();
    Ok(saved(
        "text/csv; charset=utf-8; header=present",
        file,
        "csv",
        csv(&rows).into_bytes(),
    ))
}

/// The rows of each page of a list.
async fn all_pages(
    visit: &Visit,
    first: Vec<u8>,
    part: Option<&str>,
    target: impl Fn(&str) -> Target,
) -> Result<Vec<Vec<Map<String, Value>>>, Failed> {
    let (mut pages, mut count, mut body) = (Vec::new(), 0_usize, first);
    loop {
        let answer: Value = serde_json::from_slice(&body).map_err(|_| no_rows())?;
        let next = answer
            .get("next")
            .and_then(Value::as_str)
            .map(str::to_owned);
        let rows = rows_of(answer, part);
        count = count.saturating_add(rows.len());
        pages.push(rows);
        let Some(next) = next else { break };
        if count >= ROWS_MAX {
            let detail = format!(
                "the list has more than {ROWS_MAX} rows; select a shorter time or fewer objects, or use `bank` with --csv"
            );
            return Err(Failed::new("bad_request", detail));
        }
        body = visit.raw(&target(&next)).await?;
    }
    Ok(pages)
}

/// `GET /data/rates/test?…`: the rows of the page with the same entries, which the API takes as a body.
async fn rates_test(visit: Visit) -> Shown {
    known_format(&visit.query)?;
    let answer = rates::replay(&visit).await?;
    let answer = serde_json::to_value(answer).map_err(|_| no_rows())?;
    let rows = rows_of(answer, Some("replay.rows"));
    if visit.parameter("format") == Some("csv") {
        let media = "text/csv; charset=utf-8; header=present";
        return Ok(saved(media, "rates-test", "csv", csv(&rows).into_bytes()));
    }
    let items = serde_json::json!({"items": rows});
    let body = items.to_string().into_bytes();
    Ok(saved("application/json", "rates-test", "json", body))
}

/// Refuses a format that there is not.
fn known_format(query: &Fields) -> Result<(), Failed> {
    let format = query.iter().find(|(name, _)| name == "format");
    match format.map(|(_, format)| format.as_str()) {
        None | Some("csv" | "json") => Ok(()),
        Some(other) => {
            let detail =
                format!("{other:?} is not a format of these rows; they come as json or csv");
            Err(Failed::new("bad_request", detail).field("format"))
        }
    }
}

/// An answer that a browser shows or saves, and never takes for a page.
fn saved(media: &'static str, file: &str, end: &str, body: Vec<u8>) -> Response {
    let fits = |character: &char| character.is_ascii_alphanumeric() || *character == '-';
    let file: String = file.chars().filter(fits).take(64).collect();
    let kind = if end == "json" {
        "inline"
    } else {
        "attachment"
    };
    let name = format!("{kind}; filename=\"{file}.{end}\"");
    let fields = [
        (header::CONTENT_TYPE, media.to_owned()),
        (header::CONTENT_DISPOSITION, name),
    ];
    (fields, body).into_response()
}

fn no_rows() -> Failed {
    Failed::new("unsupported", "this route has no rows")
}

/// The rows of an answer: those of the named parts, of a list or of a report, else the answer itself.
fn rows_of(answer: Value, part: Option<&str>) -> Vec<Map<String, Value>> {
    let Value::Object(mut answer) = answer else {
        return Vec::new();
    };
    let Some(part) = part else {
        let rows = ["items", "rows"]
            .iter()
            .find_map(|name| answer.remove(*name).filter(Value::is_array));
        return match rows {
            Some(rows) => below(rows, &[], &Map::new()),
            None => vec![answer],
        };
    };
    let parts = part.split(',').filter_map(|part| {
        let names: Vec<&str> = part.split('.').collect();
        let (first, rest) = names.split_first()?;
        Some(match answer.remove(*first) {
            Some(rows) => below(rows, rest, &Map::new()),
            // A member of each row of a list.
            None => below(answer.get("items").cloned()?, &names, &Map::new()),
        })
    });
    parts.flatten().collect()
}

/// The rows within a value, each with the single values of what it is in. Members of objects are columns too.
fn below(value: Value, names: &[&str], above: &Map<String, Value>) -> Vec<Map<String, Value>> {
    let mut object = match value {
        Value::Array(items) => {
            let rows = items.into_iter().flat_map(|item| below(item, names, above));
            return rows.collect();
        }
        Value::Object(object) => object,
        _ => return Vec::new(),
    };
    let inner = names.split_first().map(|(first, rest)| {
        let inner = object.remove(*first).unwrap_or_default();
        (inner, rest)
    });
    let mut row = above.clone();
    for (name, value) in object {
        match value {
            Value::Array(_) | Value::Object(_) if inner.is_some() => {}
            // The names of a row in a report.
            Value::Object(values) if name == "keys" => row.extend(values),
            Value::Object(values) => {
                let values = values.into_iter();
                row.extend(values.map(|(own, value)| (format!("{name}.{own}"), value)));
            }
            value => {
                row.insert(name, value);
            }
        }
    }
    match inner {
        Some((inner, rest)) => below(inner, rest, &row),
        None => vec![row],
    }
}

fn csv(rows: &[Map<String, Value>]) -> String {
    let mut columns: Vec<&String> = Vec::new();
    for key in rows.iter().flat_map(Map::keys) {
        if !columns.contains(&key) {
            columns.push(key);
        }
    }
    let mut out = String::new();
    line(&mut out, columns.iter().map(|column| (*column).clone()));
    for row in rows {
        line(
            &mut out,
            columns.iter().map(|column| cell(row.get(*column))),
        );
    }
    out
}

fn cell(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// One line of RFC 4180. A cell that a spreadsheet would run begins with an apostrophe.
fn line(out: &mut String, cells: impl Iterator<Item = String>) {
    for (number, cell) in cells.enumerate() {
        if number > 0 {
            out.push(',');
        }
        let cell = if is_formula(&cell) {
            format!("'{cell}")
        } else {
            cell
        };
        if cell.contains([',', '"', '\n', '\r']) {
            out.push('"');
            out.push_str(&cell.replace('"', "\"\""));
            out.push('"');
        } else {
            out.push_str(&cell);
        }
    }
    out.push_str("\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_lines() {
        let answer = serde_json::json!({"items": [
            {"name": "a,\"b\"", "amount": "-1.000", "list": [1]},
            {"name": "=cmd()", "amount": null},
        ], "next": null});
        assert_eq!(
            csv(&rows_of(answer, None)),
            "amount,list,name\r\n-1.000,[1],\"a,\"\"b\"\"\"\r\n,,'=cmd()\r\n"
        );
    }

    #[test]
    fn rows_of_a_part_have_the_words_of_what_they_are_in() {
        let answer = serde_json::json!({"unit": "SU", "periods": [{"from": "1", "parts": [
            {"machine": "a", "buckets": [{"from": "2", "keys": {"user": "amy"}}]},
        ]}]});
        let rows = rows_of(answer, Some("periods.parts.buckets"));
        assert_eq!(csv(&rows), "from,machine,user\r\n2,a,amy\r\n");
    }
}
