//! The committed document is the one that the table makes, and it is whole.

use super::*;
use crate::router::whole;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

/// Where the document is committed.
fn committed() -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.join("../../docs/reference/openapi.json")
}

/// `BANK_WRITE_OPENAPI=1 cargo test -p bankd-http --lib openapi` writes it anew.
#[test]
fn the_committed_document_is_that_of_the_table() {
    let made = text(&whole());
    if std::env::var_os("BANK_WRITE_OPENAPI").is_some() {
        fs::write(committed(), &made).unwrap();
    }
    let kept = fs::read_to_string(committed()).unwrap_or_default();
    let different = made.lines().zip(kept.lines()).find(|(a, b)| a != b);
    assert!(
        made == kept,
        "docs/reference/openapi.json is not that of the table, first at {different:?}: \
         BANK_WRITE_OPENAPI=1 cargo test -p bankd-http --lib openapi"
    );
}

/// Every `$ref` in a value.
fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                if let ("$ref", Value::String(place)) = (name.as_str(), member) {
                    found.insert(place.clone());
                }
                references(member, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

#[test]
fn every_reference_leads_somewhere_and_every_schema_is_used() {
    let document = document(&whole());
    let mut found = BTreeSet::new();
    references(&document, &mut found);
    for place in &found {
        let there = document.pointer(place.trim_start_matches('#'));
        assert!(there.is_some(), "{place} leads nowhere");
    }
    let schemas = document["components"]["schemas"].as_object().unwrap();
    for name in schemas.keys() {
        let place = format!("#/components/schemas/{name}");
        assert!(found.contains(&place), "{name} is used by nothing");
    }
    let usual = document["components"]["responses"].as_object().unwrap();
    for name in usual.keys() {
        let place = format!("#/components/responses/{name}");
        assert!(found.contains(&place), "{name} is used by nothing");
    }
    assert!(schemas.len() > 100);
}

/// Two types with one name would be one schema, and one of them would be told wrongly.
#[test]
fn every_name_of_a_schema_means_one_type() {
    let mut seen: BTreeMap<String, (&str, Value)> = BTreeMap::new();
    let rows = whole();
    for row in &rows {
        let shapes = row.given.iter().map(|given| Some(given.content));
        for content in shapes.chain([row.body]).flatten() {
            let Content::Json(shape) = content else {
                continue;
            };
            let mut others = Vec::new();
            (shape.others)(&mut others);
            if !shape.is_generic() {
                others.push(((shape.name)().into_owned(), (shape.schema)()));
            }
            for (name, schema) in others {
                let schema = serde_json::to_value(schema).unwrap();
                let (_, known) = seen
                    .entry(name.clone())
                    .or_insert((&row.path, schema.clone()));
                assert_eq!(*known, schema, "{name} is two things, one at {}", row.path);
            }
        }
    }
}

#[test]
fn every_operation_has_its_own_id_and_its_authentication() {
    let document = document(&whole());
    let mut ids = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let id = operation["operationId"].as_str().unwrap();
            assert!(ids.insert(id), "{id} twice");
            let open = operation["security"].as_array().unwrap().is_empty();
            let health = [
                "/healthz",
                "/readyz",
                "/api/v1/openapi.json",
                "/api/v1/docs",
            ];
            assert_eq!(open, health.contains(&path.as_str()), "{method} {path}");
            let is_reported = operation["responses"].get("401").is_some();
            assert_eq!(is_reported, !open, "{method} {path}");
        }
    }
}

#[test]
fn the_page_is_whole_and_loads_nothing() {
    let document = document(&whole());
    let page = page::page(&document);
    for word in ["<script", "http://", "https://", "src=", "@import", "url("] {
        assert!(!page.contains(word), "{word}");
    }
    for path in document["paths"].as_object().unwrap().keys() {
        assert!(page.contains(&format!(" {path}</h3>")), "{path}");
    }
    let links = page.split("href=\"#").skip(1);
    for link in links.map(|rest| rest.split('"').next().unwrap()) {
        assert!(page.contains(&format!("id=\"{link}\"")), "#{link}");
    }
}
