//! The document as a page that people read: one file, no script, no outside address.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// How the page looks, on paper and in the dark too.
const STYLE: &str = include_str!("page.css");

/// What a browser may load for the page: its own style, known by its hash, and nothing else.
pub fn policy() -> String {
    let hash = STANDARD.encode(Sha256::digest(STYLE));
    format!(
        "default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'"
    )
}

/// The page of a document.
pub fn page(document: &Value) -> String {
    let mut out = String::with_capacity(1 << 18);
    let title = text(document, "/info/title");
    let version = text(document, "/info/version");
    out.push_str("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    out.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    let (title, version) = (escaped(title), escaped(version));
    let _ = writeln!(
        out,
        "<title>{title} API</title>\n<style>{STYLE}</style>\n</head>\n<body>"
    );
    let _ = writeln!(out, "<h1>{title} {version}</h1>");
    paragraphs(&mut out, text(document, "/info/description"));
    out.push_str("<p>For programs: <a href=\"openapi.json\">openapi.json</a>.</p>\n");
    contents(&mut out, document);
    for tag in list(document, "/tags") {
        operations(&mut out, document, text(tag, "/name"));
    }
    schemas(&mut out, document);
    out.push_str("</body>\n</html>\n");
    out
}

/// Text of the document as text of the page.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            other => out.push(other),
        }
    }
    out
}

/// The same, with what stands between backquotes as code.
fn marked(text: &str) -> String {
    let mut out = String::new();
    for (index, part) in text.split('`').enumerate() {
        if index % 2 == 1 {
            let _ = write!(out, "<code>{}</code>", escaped(part));
        } else {
            out.push_str(&escaped(part));
        }
    }
    out
}

fn paragraphs(out: &mut String, text: &str) {
    for paragraph in text.split("\n\n").filter(|text| !text.is_empty()) {
        let _ = writeln!(out, "<p>{}</p>", marked(paragraph));
    }
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    let found = value.pointer(pointer).and_then(Value::as_str);
    found.unwrap_or_default()
}

fn list<'a>(value: &'a Value, pointer: &str) -> impl Iterator<Item = &'a Value> {
    let found = value.pointer(pointer).and_then(Value::as_array);
    found.into_iter().flatten()
}

fn members<'a>(value: &'a Value, pointer: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    let found = value.pointer(pointer).and_then(Value::as_object);
    found.into_iter().flatten()
}

/// What a reference leads to, or the value itself.
fn meant<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    let place = value.get("$ref").and_then(Value::as_str);
    let found = place.and_then(|place| document.pointer(place.trim_start_matches('#')));
    found.unwrap_or(value)
}

fn contents(out: &mut String, document: &Value) {
    out.push_str("<nav>\n");
    for tag in list(document, "/tags") {
        let name = escaped(text(tag, "/name"));
        let _ = writeln!(out, "<a href=\"#{name}\">{name}</a>");
    }
    out.push_str("<a href=\"#schemas\">schemas</a>\n</nav>\n");
}

fn operations(out: &mut String, document: &Value, tag: &str) {
    let _ = writeln!(out, "<h2 id=\"{0}\">{0}</h2>", escaped(tag));
    for (path, methods) in members(document, "/paths") {
        for (method, operation) in members(methods, "") {
            if list(operation, "/tags").any(|own| own == tag) {
                one(out, document, (method, path), operation);
            }
        }
    }
}

fn one(out: &mut String, document: &Value, (method, path): (&str, &str), operation: &Value) {
    let id = escaped(text(operation, "/operationId"));
    let (method, path) = (escaped(&method.to_uppercase()), escaped(path));
    let _ = writeln!(out, "<section>\n<h3 id=\"{id}\">{method} {path}</h3>");
    let _ = writeln!(out, "<p>{}.</p>", marked(text(operation, "/summary")));
    paragraphs(out, text(operation, "/description"));
    parameters(out, document, operation);
    for (media, content) in members(operation, "/requestBody/content") {
        let what = content.get("schema").map(kind).unwrap_or_default();
        let _ = writeln!(out, "<p>Body: {what} <small>{}</small></p>", escaped(media));
    }
    out.push_str("<table>\n<tr><th>Status<th>Answer<th>What\n");
    for (status, answer) in members(operation, "/responses") {
        let answer = meant(document, answer);
        let description = marked(text(answer, "/description"));
        let content = members(answer, "/content").next();
        let what = content.and_then(|(_, content)| content.get("schema"));
        let what = what.map(kind).unwrap_or_default();
        let _ = writeln!(
            out,
            "<tr><td>{}<td>{what}<td>{description}",
            escaped(status)
        );
    }
    out.push_str("</table>\n</section>\n");
}

fn parameters(out: &mut String, document: &Value, operation: &Value) {
    let mut all = list(operation, "/parameters").peekable();
    if all.peek().is_none() {
        return;
    }
    out.push_str("<table>\n<tr><th>Parameter<th>In<th>Type<th>What\n");
    for parameter in all {
        let parameter = meant(document, parameter);
        let name = escaped(text(parameter, "/name"));
        let place = escaped(text(parameter, "/in"));
        let what = parameter.get("schema").map(kind).unwrap_or_default();
        let needed = parameter.get("required") == Some(&Value::Bool(true));
        let needed = if needed { " *" } else { "" };
        let description = marked(text(parameter, "/description"));
        let _ = writeln!(
            out,
            "<tr><td><code>{name}</code>{needed}<td>{place}<td>{what}<td>{description}"
        );
    }
    out.push_str("</table>\n");
}

fn schemas(out: &mut String, document: &Value) {
    out.push_str("<h2 id=\"schemas\">schemas</h2>\n");
    for (name, schema) in members(document, "/components/schemas") {
        let name = escaped(name);
        let _ = writeln!(out, "<section>\n<h3 id=\"schema-{name}\">{name}</h3>");
        paragraphs(out, text(schema, "/description"));
        let parts = list(schema, "/allOf").chain([schema]);
        let required: Vec<&Value> = list(schema, "/required").collect();
        out.push_str("<table>\n<tr><th>Member<th>Type<th>What\n");
        for (member, own) in parts.flat_map(|part| members(part, "/properties")) {
            let needed = required.iter().any(|own| *own == member);
            let needed = if needed { " *" } else { "" };
            let (member, what) = (escaped(member), kind(own));
            let description = marked(text(own, "/description"));
            let _ = writeln!(
                out,
                "<tr><td><code>{member}</code>{needed}<td>{what}<td>{description}"
            );
        }
        out.push_str("</table>\n</section>\n");
    }
}

/// What a value is, in a word or a link.
fn kind(schema: &Value) -> String {
    if let Some(place) = schema.get("$ref").and_then(Value::as_str) {
        let name = escaped(place.rsplit('/').next().unwrap_or_default());
        return format!("<a href=\"#schema-{name}\">{name}</a>");
    }
    for choice in ["oneOf", "anyOf", "allOf"] {
        if let Some(choices) = schema.get(choice).and_then(Value::as_array) {
            let choices: Vec<String> = choices.iter().map(kind).collect();
            let between = if choice == "allOf" { " with " } else { " or " };
            return choices.join(between);
        }
    }
    let word = match schema.get("type") {
        Some(Value::String(word)) => word.clone(),
        Some(Value::Array(words)) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            words.join(" or ")
        }
        _ => "anything".to_owned(),
    };
    let of = schema.get("items").or_else(|| {
        let further = schema.get("additionalProperties");
        further.filter(|further| further.is_object())
    });
    match of {
        Some(of) => format!("{} of {}", escaped(&word), kind(of)),
        None => escaped(&word),
    }
}
