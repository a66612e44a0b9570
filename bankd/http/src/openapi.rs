//! The document that describes the HTTP API, `OpenAPI` 3.1, made of the table of routes: what a row
//! says is what the router does, so neither can be forgotten.
//!
//! `docs/reference/openapi.json` is this document, and a test compares both. The page for people
//! ([`page`]) is made of the document.

mod operation;
pub mod page;
mod record;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use axum::http::header;
use axum::response::IntoResponse;
use bankd_ledger::access::right::Right;
use serde_json::{Map, Value, json};

use super::route::{Content, Route, Shape};
use operation::operation;

/// What the document is about, for people.
const ABOUT: &str = "\
The JSON API of bankd, and the routes of the scheduler's scripts.

Amounts are strings of exact decimals, each next to its `unit`. Times are RFC 3339 in UTC; a \
window includes its start and excludes its end. Requests refuse members that they do not know; \
answers may gain members.

A call that writes carries an `Idempotency-Key`: the same request with the same key does it once, \
and is answered with the same bytes and `Idempotent-Replay: true`. With `?dry_run=true` it is decided \
and not written. `?view_as=NAME` of a GET answers what that person sees by projects and grants, to that person and \
to administrators and auditors of the whole bank.

What is refused is a problem document (RFC 9457) with a `code` that keeps its meaning; the \
scheduler's routes answer with lines of text. A path that does not exist is 404 (`not_found`), a method \
that a path does not know 405 (`method_not_allowed`) with those that it knows in `Allow`, to callers who are \
known; to all others everything is the same 401. Neither belongs to an operation, so that none lists it.

Over TCP a request is signed (RFC 9421), over the Unix socket the kernel says who calls. AUDITOR's \
routes are those of another program on a listener of their own, and are not described here, nor is \
`POST /nami/v1/query`, which has no answer but 501.";

/// The document of a table.
pub fn document(rows: &[Route]) -> Value {
    let mut paths: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    let mut schemas = Schemas::default();
    schemas.named(problem());
    for row in rows.iter().filter(|row| !row.given.is_empty()) {
        let operation = operation(row, &mut schemas);
        let method = row.method.as_str().to_lowercase();
        paths
            .entry(&row.path)
            .or_default()
            .insert(method, operation);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "bankd",
            "summary": "An allocation bank for computing centres",
            "description": ABOUT,
            "version": env!("CARGO_PKG_VERSION"),
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "tags": operation::tags(rows),
        "paths": paths,
        "components": {
            "schemas": schemas.0,
            "responses": operation::refused_usually(rows),
            "headers": operation::headers(),
            "parameters": operation::parameters(),
            "securitySchemes": security(),
        },
    })
}

/// The document as it is committed and served.
pub fn text(rows: &[Route]) -> String {
    // A map of strings always has a text.
    serde_json::to_string_pretty(&document(rows)).unwrap_or_default() + "\n"
}

/// The rows of the document itself: whoever cannot prove who they are may read what the API is. The
/// document is made of the whole table.
pub fn rows(table: fn() -> Vec<Route>) -> Vec<Route> {
    vec![
        Route::get("/api/v1/openapi.json", move || async move { served(table) })
            .right(Right::Anybody)
            .description("This document")
            .gives_bytes(200, "application/json", "OpenAPI 3.1."),
        Route::get("/api/v1/docs", move || async move { shown(table) })
            .right(Right::Anybody)
            .description("This document as a page")
            .gives_bytes(
                200,
                "text/html",
                "A page that needs no script and loads nothing.",
            ),
    ]
}

/// The document and the page, made once: the table does not change while the daemon runs.
fn made(table: fn() -> Vec<Route>) -> &'static (String, String) {
    static MADE: OnceLock<(String, String)> = OnceLock::new();
    MADE.get_or_init(|| {
        let rows = table();
        (text(&rows), page::page(&document(&rows)))
    })
}

fn served(table: fn() -> Vec<Route>) -> impl IntoResponse {
    let fields = [
        (header::CONTENT_TYPE, "application/json"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (fields, made(table).0.as_str())
}

fn shown(table: fn() -> Vec<Route>) -> impl IntoResponse {
    let fields = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8".to_owned()),
        (header::CONTENT_SECURITY_POLICY, page::policy()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
        (header::REFERRER_POLICY, "no-referrer".to_owned()),
        (header::CACHE_CONTROL, "no-cache".to_owned()),
    ];
    (fields, made(table).1.as_str())
}

/// How a caller says who they are.
fn security() -> Value {
    json!({
        "signature": {
            "type": "http",
            "scheme": "signature",
            "description": "HTTP Message Signatures (RFC 9421) with HMAC-SHA256: Signature-Input, \
                Signature and, with a body, Content-Digest. A call that writes covers its \
                Idempotency-Key and carries a nonce.",
        },
        "token": {
            "type": "http",
            "scheme": "bearer",
            "description": "A token of the bank, for programs that cannot sign: over the loopback, \
                the Unix socket, or a proxy that ends TLS. Answers to it are not signed.",
        },
    })
}

/// The problem document, with every code there is.
fn problem() -> (String, Value) {
    let shape = Shape::of::<bank_api::error::Problem>();
    let mut schema = value(&shape);
    let codes = bank_api::error::TABLE.iter().map(|row| row.code);
    if let Some(code) = schema.pointer_mut("/properties/code") {
        *code = json!({
            "type": "string",
            "description": "What happened. A code once published keeps its meaning.",
            "enum": codes.collect::<Vec<_>>(),
        });
    }
    ((shape.name)().into_owned(), schema)
}

/// The schemas that others refer to, by name.
#[derive(Default)]
struct Schemas(BTreeMap<String, Value>);

impl Schemas {
    fn named(&mut self, (name, schema): (String, Value)) {
        self.0.entry(name).or_insert(schema);
    }

    /// The shapes that one refers to.
    fn others(&mut self, shape: &Shape) {
        let mut others = Vec::new();
        (shape.others)(&mut others);
        for (name, schema) in others {
            let schema = serde_json::to_value(schema).unwrap_or_default();
            self.named((name, schema));
        }
    }

    /// A shape where it is used: a reference, or itself where it is one of something.
    fn place(&mut self, shape: &Shape) -> Value {
        self.others(shape);
        if shape.is_generic() {
            return value(shape);
        }
        let name = (shape.name)();
        self.named((name.clone().into_owned(), value(shape)));
        json!({"$ref": format!("#/components/schemas/{name}")})
    }

    /// What a body is, by its media type.
    fn content(&mut self, content: &Content) -> Value {
        match content {
            Content::Record(kind, form) => {
                json!({"application/json": {"schema": record::schema(self, kind, *form)}})
            }
            Content::Object => json!({"application/json": {"schema": {"type": "object"}}}),
            Content::Json(shape) => json!({"application/json": {"schema": self.place(shape)}}),
            Content::Bytes(media) if media.starts_with("text/") => {
                json!({*media: {"schema": {"type": "string"}}})
            }
            Content::Bytes(media) => json!({*media: {}}),
        }
    }
}

/// The schema of a shape.
fn value(shape: &Shape) -> Value {
    serde_json::to_value((shape.schema)()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
