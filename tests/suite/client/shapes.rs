//! The types of records (`bank-api/client/src/records`) are made from `docs/reference/openapi.json`, which is made from the declarations of
//! the kinds. `BANK_WRITE_RECORDS=1` writes them; without it, this test compares them.

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use crate::harness::workspace;

/// Kinds whose routes have functions in `bank-api/client/src/routes/records.rs`.
const KINDS: [&str; 11] = [
    "Attribute",
    "Contribution",
    "Contributor",
    "Downtime",
    "Hardware",
    "Kind",
    "Machine",
    "Mapping",
    "Partner",
    "Project",
    "User",
];

/// Longest line of a comment.
const WIDTH: usize = 110;

/// Words of Rust that no member can have as its name.
const RESERVED: [&str; 3] = ["type", "where", "as"];

fn comment(out: &mut String, indent: &str, text: &str) {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && line.len() + word.len() + indent.len() > WIDTH {
            writeln!(out, "{indent}/// {line}").unwrap();
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&marked(word));
    }
    writeln!(out, "{indent}/// {line}").unwrap();
}

/// A word as documentation has it: a name in capitals and small letters is code, and `[0-9]` is no link.
fn marked(word: &str) -> String {
    let name = word.trim_matches(|c: char| !c.is_alphanumeric());
    let is_small = |c: char| c.is_lowercase();
    let capital = name.rfind(char::is_uppercase).unwrap_or(0);
    if capital > 0 && name.contains(is_small) {
        return word.replace(name, &format!("`{name}`"));
    }
    word.replace('[', "\\[").replace('<', "\\<")
}

/// The type of a schema, without whether it may be absent.
fn rust(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str() {
        return name.rsplit('/').next().unwrap().to_owned();
    }
    let kind = match &schema["type"] {
        Value::Array(all) => all.iter().find(|kind| *kind != "null").unwrap().clone(),
        one => one.clone(),
    };
    match kind.as_str().unwrap() {
        "boolean" => "bool".to_owned(),
        "integer" => "i64".to_owned(),
        "string" => "String".to_owned(),
        "array" => format!("Vec<{}>", rust(&schema["items"])),
        other => panic!("no type for {other}: {schema}"),
    }
}

fn member(out: &mut String, name: &str, schema: &Value, is_required: bool) {
    comment(out, "    ", schema["description"].as_str().unwrap_or(name));
    let may_be_null = schema["type"].as_array().is_some();
    let mut kind = rust(schema);
    if !is_required || may_be_null {
        out.push_str("    #[serde(default, skip_serializing_if = \"Option::is_none\")]\n");
        kind = format!("Option<{kind}>");
    }
    let raw = if RESERVED.contains(&name) { "r#" } else { "" };
    writeln!(out, "    pub {raw}{name}: {kind},").unwrap();
}

fn structure(out: &mut String, name: &str, schema: &Value) {
    out.push('\n');
    comment(out, "", schema["description"].as_str().unwrap_or(name));
    out.push_str("#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]\n");
    let required = schema["required"].as_array();
    let members = schema["properties"].as_object().unwrap();
    let bools = members.values().filter(|member| {
        let is_optional = member["type"].is_array();
        !is_optional && rust(member) == "bool"
    });
    if bools.count() > 3 {
        out.push_str(
            "#[expect(clippy::struct_excessive_bools, reason = \"as the API has them\")]\n",
        );
    }
    writeln!(out, "pub struct {name} {{").unwrap();
    for (name, schema) in members {
        let is_required = required.is_some_and(|all| all.iter().any(|one| one == name));
        member(out, name, schema, is_required);
    }
    out.push_str("    /// Members that the site adds (`bank kind add`).\n    #[serde(flatten)]\n    pub more: Record,\n}\n");
}

fn file(schemas: &Value, kind: &str) -> String {
    let names = [
        kind.to_owned(),
        format!("New{kind}"),
        format!("Patch{kind}"),
    ];
    let mut body = String::new();
    for name in &names {
        structure(&mut body, name, &schemas[name]);
    }
    let member = body
        .contains("Vec<Member>")
        .then_some("use bank_api::v1::Member;\n");
    format!(
        "//! Made from `docs/reference/openapi.json` by `tests/suite/client/shapes.rs`.\n\n{}use serde::{{Deserialize, Serialize}};\n\n\
         use crate::record::Record;\n{body}",
        member.unwrap_or_default()
    )
}

#[test]
fn the_types_of_records_are_those_of_the_api() {
    let text = fs::read_to_string(workspace().join("docs/reference/openapi.json")).unwrap();
    let api: Value = serde_json::from_str(&text).unwrap();
    for kind in KINDS {
        let made = file(&api["components"]["schemas"], kind);
        let path = workspace().join(format!(
            "bank-api/client/src/records/{}.rs",
            kind.to_lowercase()
        ));
        if std::env::var_os("BANK_WRITE_RECORDS").is_some() {
            fs::write(&path, &made).unwrap();
        }
        let found = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(
            found,
            made,
            "{}: write it with BANK_WRITE_RECORDS=1",
            path.display()
        );
    }
}
