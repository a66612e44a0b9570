//! Sizes and small things: nothing here needs a decision, and everybody trips over it once.

use super::none_of;
use super::source::{closing, files, product, read, rust};
use std::collections::BTreeMap;

/// Longest file of Rust, in lines.
const FILE_LINES: usize = 500;
/// Most lines of code of a crate, without comments and tests.
const CRATE_LINES: usize = 25_000;
/// Longest function, in lines from its name to its closing brace.
const FUNCTION_LINES: usize = 70;
/// Longest test: most of one may be its table.
const TEST_LINES: usize = 200;

#[test]
fn files_are_short() {
    let mut findings = Vec::new();
    for source in rust() {
        let lines = source.text.lines().count();
        if lines > FILE_LINES {
            findings.push(format!("{}: {lines} lines", source.path));
        }
    }
    none_of(&findings);
}

#[test]
fn crates_are_small() {
    let all = files();
    let folders = all
        .iter()
        .filter_map(|path| path.strip_suffix("/Cargo.toml"));
    let folders: Vec<&str> = folders.collect();
    let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
    for source in product() {
        let own = folders
            .iter()
            .filter(|folder| source.is_in(&format!("{folder}/")));
        let own = own.max_by_key(|folder| folder.len());
        let code = source.code.lines().filter(|line| !line.trim().is_empty());
        *lines.entry(own.unwrap_or(&"")).or_default() += code.count();
    }
    assert!(lines["bank-core"] > 1_000, "{lines:?}");
    let large = lines.iter().filter(|(_, lines)| **lines > CRATE_LINES);
    let findings: Vec<String> = large
        .map(|(folder, lines)| format!("{folder}: {lines} lines of code"))
        .collect();
    none_of(&findings);
}

#[test]
fn functions_fit_a_screen() {
    let mut findings = Vec::new();
    for source in rust() {
        for (at, _) in source.code.match_indices("fn ") {
            let before = source.code[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
                continue;
            }
            let body = source.code[at..].find(['{', ';']).map(|body| at + body);
            let Some(body) = body.filter(|body| source.code[*body..].starts_with('{')) else {
                continue;
            };
            let end = closing(&source.code, body);
            let lines = source.code[at..end].lines().count();
            let most = if source.is_test {
                TEST_LINES
            } else {
                FUNCTION_LINES
            };
            if lines > most {
                let line = source.code[..at].lines().count();
                findings.push(format!("{}:{line}: {lines} lines", source.path));
            }
        }
    }
    none_of(&findings);
}

/// What is a text of ours, by the end of its name.
fn is_text(path: &str) -> bool {
    let endings = [
        ".rs", ".md", ".toml", ".sql", ".sh", ".conf", ".sample", ".py", ".xml", ".cfg", "/run",
    ];
    endings.iter().any(|ending| path.ends_with(ending)) && path != "LICENSE-APACHE"
}

#[test]
fn lines_end_cleanly() {
    let mut findings = Vec::new();
    for path in files().iter().filter(|path| is_text(path)) {
        let Ok(text) = std::fs::read_to_string(super::source::root().join(path)) else {
            continue;
        };
        // Documents of the tests may be hostile on purpose.
        let hostile = path.starts_with("tests/cases/");
        for (number, line) in (1..).zip(text.split('\n')) {
            if !hostile && (line.ends_with([' ', '\t', '\r'])) {
                findings.push(format!("{path}:{number}: ends with a blank"));
            }
        }
        if !hostile && !text.is_empty() && !text.ends_with('\n') {
            findings.push(format!("{path}: does not end with a line feed"));
        }
    }
    none_of(&findings);
}

#[test]
fn nothing_is_left_for_later() {
    // Put together here, so that this file does not hold them.
    let words = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("XX", "X"),
        concat!("HA", "CK"),
        concat!("un", "implemented!"),
        concat!("db", "g!("),
        concat!("#[ig", "nore"),
    ];
    let mut findings = Vec::new();
    for path in files().iter().filter(|path| is_text(path)) {
        let Ok(text) = std::fs::read_to_string(super::source::root().join(path)) else {
            continue;
        };
        for (number, line) in (1..).zip(text.lines()) {
            for word in words.iter().filter(|word| line.contains(**word)) {
                findings.push(format!("{path}:{number}: {word}"));
            }
        }
    }
    none_of(&findings);
}

#[test]
fn every_module_states_its_purpose() {
    let mut findings = Vec::new();
    for source in rust() {
        // The modules of tests are told by their name.
        if !source.is_test && !source.text.starts_with("//!") {
            findings.push(format!("{}: no head", source.path));
        }
    }
    none_of(&findings);
}

#[test]
fn the_toolchain_is_named_once() {
    let manifest = read("Cargo.toml");
    for key in [
        "edition = \"2024\"",
        "license = \"MIT OR Apache-2.0\"",
        "publish = false",
    ] {
        assert!(manifest.contains(key), "{key}");
    }
    assert_eq!(read("rustfmt.toml").trim(), "max_width = 100");
}
