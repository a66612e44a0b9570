//! One row of the table as an operation of the document.

use std::collections::{BTreeMap, BTreeSet};

use bank_api::error;
use bankd_ledger::access::right::Right;
use serde_json::{Map, Value, json};

use super::{Schemas, value};
use crate::route::{Route, Shape};

/// Refusals of every route that knows its callers.
const KNOWN: &[&str] = &[
    "bad_event_time",
    "bad_request",
    "body_incomplete",
    "busy",
    "duplicate_header",
    "internal",
    "not_allowed",
    "rate_limited",
    "too_large",
    "unauthorized",
];
/// Refusals of every route that writes.
const WRITES: &[&str] = &[
    "database_moved",
    "disk_full",
    "idempotency_key_required",
    "key_reused",
];
/// The media type of refusals.
const PROBLEM: &str = "application/problem+json";

/// An operation, whose shapes go among the others.
pub(super) fn operation(row: &Route, schemas: &mut Schemas) -> Value {
    let mut operation = json!({
        "operationId": id(row),
        "tags": [tag(&row.path)],
        "summary": row.description,
        "parameters": parameters_of(row, schemas),
        "responses": responses(row, schemas),
    });
    let mut add = |name: &str, value: Value| {
        if let Some(members) = operation.as_object_mut() {
            members.insert(name.to_owned(), value);
        }
    };
    if let Some(body) = &row.body {
        let content = schemas.content(body);
        add("requestBody", json!({"required": true, "content": content}));
    }
    if row.right == Right::Anybody {
        add("security", json!([]));
        add("description", row.more.into());
        return operation;
    }
    let roles: Vec<&str> = row
        .right
        .roles()
        .map(bankd_ledger::access::Role::word)
        .collect();
    let needs = format!(
        "Needs the right `{}`: {}.",
        row.right.word(),
        roles.join(", ")
    );
    let paragraphs = [row.more, needs.as_str()].into_iter();
    let paragraphs: Vec<&str> = paragraphs.filter(|text| !text.is_empty()).collect();
    add("description", paragraphs.join("\n\n").into());
    add("security", security());
    operation
}

/// Any one of these is enough.
fn security() -> Value {
    json!([{"signature": []}, {"token": []}])
}

/// `GET /api/v1/projects/{name}` is `get_projects_name`.
fn id(row: &Route) -> String {
    let path = row.path.replace("/api/v1/", "/").replace("/v1/", "/");
    let mut id = row.method.as_str().to_lowercase();
    for word in path.split(|c: char| !c.is_ascii_alphanumeric()) {
        if !word.is_empty() {
            id.push('_');
            id.push_str(word);
        }
    }
    id
}

/// The noun of a path.
fn tag(path: &str) -> &str {
    let rest = path.strip_prefix("/api/v1/").unwrap_or(path);
    let first = rest.trim_start_matches('/').split('/').next();
    first.unwrap_or_default()
}

/// The nouns of the table, in its order.
pub(super) fn tags(rows: &[Route]) -> Value {
    let mut seen = BTreeSet::new();
    let nouns = rows.iter().map(|row| tag(&row.path));
    let nouns = nouns.filter(|noun| seen.insert(*noun));
    nouns.map(|noun| json!({"name": noun})).collect()
}

/// Path, query and header.
fn parameters_of(row: &Route, schemas: &mut Schemas) -> Value {
    let named = row.path.split('{').skip(1);
    let named = named.filter_map(|part| part.split('}').next());
    let mut all: Vec<Value> = named
        .map(|name| {
            let schema = if row.numbers.contains(&name) {
                json!({"type": "integer", "format": "int64"})
            } else {
                json!({"type": "string", "minLength": 1})
            };
            json!({"name": name, "in": "path", "required": true, "schema": schema})
        })
        .collect();
    let usual = row.writes.then(Shape::of::<bank_api::v1::WriteQuery>);
    if let Some(query) = row.query.or(usual) {
        schemas.others(&query);
        all.extend(query_of(&query));
    }
    if row.writes {
        all.push(json!({"$ref": "#/components/parameters/IdempotencyKey"}));
    }
    if row.path.starts_with("/nami/") {
        all.push(json!({"$ref": "#/components/parameters/EventTime"}));
    }
    if row.right != Right::Anybody {
        all.push(json!({"$ref": "#/components/parameters/RequestId"}));
    }
    Value::Array(all)
}

/// The members of an object as parameters of the query.
fn query_of(shape: &Shape) -> Vec<Value> {
    let schema = value(shape);
    let required = schema.get("required").and_then(Value::as_array);
    let required: Vec<&Value> = required.into_iter().flatten().collect();
    let members = schema.get("properties").and_then(Value::as_object);
    let parameter = |(name, member): (&String, &Value)| {
        let mut member = member.clone();
        let description = member
            .as_object_mut()
            .and_then(|fields| fields.remove("description"));
        not_null(&mut member);
        json!({
            "name": name,
            "in": "query",
            "required": required.iter().any(|own| *own == name),
            "description": description.unwrap_or_else(|| "".into()),
            "schema": member,
        })
    };
    members.into_iter().flatten().map(parameter).collect()
}

/// A parameter is there or not: it is never null.
fn not_null(schema: &mut Value) {
    if let Some(choices) = schema.get_mut("oneOf").and_then(Value::as_array_mut) {
        choices.retain(|choice| choice.get("type") != Some(&json!("null")));
        if let [only] = choices.as_slice() {
            *schema = only.clone();
        }
        return;
    }
    let Some(kinds) = schema.get_mut("type") else {
        return;
    };
    let Some(several) = kinds.as_array_mut() else {
        return;
    };
    several.retain(|kind| kind != "null");
    if let [only] = several.as_slice() {
        *kinds = only.clone();
    }
}

/// Every answer, by its status.
fn responses(row: &Route, schemas: &mut Schemas) -> Value {
    let mut all = Map::new();
    for given in &row.given {
        let mut answer = json!({
            "description": given.description,
            "headers": headers_of(row),
            "content": schemas.content(&given.content),
        });
        if let (true, Some(headers)) = (row.writes, answer.pointer_mut("/headers")) {
            let replay = json!({"$ref": "#/components/headers/Replay"});
            headers["Idempotent-Replay"] = replay;
        }
        all.insert(given.status.to_string(), answer);
    }
    let usual = usual(row);
    for (status, codes) in refusals(row) {
        let answer = if usual.get(&status) == Some(&codes) {
            json!({"$ref": format!("#/components/responses/{}{status}", family(row))})
        } else {
            refused(row, status, &codes)
        };
        all.insert(status.to_string(), answer);
    }
    Value::Object(all)
}

/// The refusals that are the same for most routes, by name.
pub(super) fn refused_usually(rows: &[Route]) -> Value {
    let mut all = Map::new();
    for row in rows.iter().filter(|row| !row.given.is_empty()) {
        for (status, codes) in usual(row) {
            let name = format!("{}{status}", family(row));
            let answer = || refused(row, status, &codes);
            all.entry(name).or_insert_with(answer);
        }
    }
    Value::Object(all)
}

/// Whose refusals are alike.
fn family(row: &Route) -> &'static str {
    if row.path.starts_with("/nami/") {
        "Line"
    } else if row.writes {
        "Write"
    } else {
        "Ask"
    }
}

/// What every route of a family may give.
fn usual(row: &Route) -> BTreeMap<u16, BTreeSet<&'static str>> {
    let mut codes: Vec<&str> = Vec::new();
    if row.right != Right::Anybody {
        codes.extend(KNOWN);
        codes.push("not_found");
    }
    if row.writes {
        codes.extend(WRITES);
    }
    if row.path.starts_with("/nami/") {
        codes.extend(
            error::TABLE
                .iter()
                .filter(|r| is_documented(r.http))
                .map(|r| r.code),
        );
    }
    by_status(codes)
}

/// One answer that refuses.
fn refused(row: &Route, status: u16, codes: &BTreeSet<&str>) -> Value {
    let codes: Vec<String> = codes.iter().map(|code| format!("`{code}`")).collect();
    let mut headers = headers_of(row);
    if let (429 | 503 | 507, Some(headers)) = (status, headers.as_object_mut()) {
        let wait = json!({"$ref": "#/components/headers/RetryAfter"});
        headers.insert("Retry-After".to_owned(), wait);
    }
    json!({
        "description": codes.join(", "),
        "headers": headers,
        "content": refusal(row, status),
    })
}

/// What a refusal looks like: a line for the scheduler's scripts, else a problem document.
fn refusal(row: &Route, status: u16) -> Value {
    let lines = row.path.starts_with("/nami/") && status != 401;
    if lines {
        return json!({"text/plain": {"schema": {"type": "string"}}});
    }
    json!({PROBLEM: {"schema": {"$ref": "#/components/schemas/Problem"}}})
}

/// The codes that a route may give, by the status of the one table.
fn refusals(row: &Route) -> BTreeMap<u16, BTreeSet<&'static str>> {
    let mut codes: Vec<&str> = row.refuses.clone();
    if row.right != Right::Anybody {
        codes.extend(KNOWN);
    }
    if row.writes {
        codes.extend(WRITES);
    }
    if row.path.contains('{') {
        codes.push("not_found");
    }
    if row.path.starts_with("/nami/") {
        codes.extend(
            error::TABLE
                .iter()
                .filter(|r| is_documented(r.http))
                .map(|r| r.code),
        );
    }
    by_status(codes)
}

fn by_status(codes: Vec<&str>) -> BTreeMap<u16, BTreeSet<&'static str>> {
    let mut by_status: BTreeMap<u16, BTreeSet<&'static str>> = BTreeMap::new();
    for code in codes {
        let row = error::row_or_internal(code);
        by_status.entry(row.http).or_default().insert(row.code);
    }
    by_status
}

/// Whether a line of the scheduler's routes can have this status: all but those of another method
/// and of a caller who is not known.
fn is_documented(status: u16) -> bool {
    ![401, 405].contains(&status)
}

/// What every answer to a known caller carries.
fn headers_of(row: &Route) -> Value {
    if row.right == Right::Anybody {
        return json!({});
    }
    json!({"X-Request-Id": {"$ref": "#/components/headers/RequestId"}})
}

/// The headers of answers, by name.
pub(super) fn headers() -> Value {
    json!({
        "RequestId": {
            "required": true,
            "description": "The id of the request in the log.",
            "schema": {"type": "string", "minLength": 1, "maxLength": 64},
        },
        "Replay": {
            "description": "`true` where this answer was given before, under the same key.",
            "schema": {"type": "string", "enum": ["true"]},
        },
        "RetryAfter": {
            "required": true,
            "description": "Seconds to wait before the same request with the same key.",
            "schema": {"type": "integer", "minimum": 1},
        },
    })
}

/// The parameters that are headers, by name.
pub(super) fn parameters() -> Value {
    json!({
        "IdempotencyKey": {
            "name": "Idempotency-Key",
            "in": "header",
            "required": true,
            "description": "Makes a repeat safe: the same request with the same key is done once.",
            "schema": {
                "type": "string",
                "minLength": 1,
                "maxLength": 255,
                "pattern": "^[!-\"$-~]+$",
            },
        },
        "EventTime": {
            "name": "Bank-Event-Time",
            "in": "header",
            "required": false,
            "description": "When the event was, on a document that comes later than its event.",
            "schema": {"type": "string", "format": "date-time"},
        },
        "RequestId": {
            "name": "X-Request-Id",
            "in": "header",
            "required": false,
            "description": "An id of the caller's choice for the log: 1 to 64 letters, digits, `.`, \
                `_`, `-`. Another is taken where it is none.",
            "schema": {"type": "string"},
        },
    })
}
