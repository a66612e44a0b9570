//! The words of documents, help texts and report pages: things contain, print and record; they are not persons
//! (CONTRIBUTING.md).

use super::none_of;
use super::source::{ends_in, files, has_word, product, read};

/// Words that a text does not use, each with better ones.
const WORDS: [(&str, &str); 26] = [
    ("tell", "show, print, list, report"),
    ("tells", "shows, prints, lists, reports"),
    ("told", "notified, shown, reported"),
    ("say", "report, state, contain"),
    ("says", "reports, contains, defines"),
    ("said", "reported, given"),
    ("stand", "be, appear"),
    ("stands", "is, appears"),
    ("stood", "was, appeared"),
    ("know", "recognise, store; or name the fact"),
    ("knows", "recognises, stores"),
    ("knew", "recognised, stored"),
    ("want", "need, require"),
    ("wants", "needs, requires"),
    ("obey", "follow, execute"),
    ("obeys", "follows, executes"),
    ("lies", "is"),
    ("whom", "name the person or thing"),
    ("anew", "again"),
    ("hear", "receive"),
    ("hears", "receives"),
    ("heard", "received"),
    ("comes to", "is, adds up to"),
    ("come to", "be, add up to"),
    ("gives way", "is replaced"),
    ("four eyes", "two-person approval"),
];

#[test]
fn documents_use_plain_words() {
    let mut findings = Vec::new();
    for path in files().iter().filter(|path| ends_in(path, "md")) {
        if path == "CHANGELOG.md" {
            continue;
        }
        let mut is_code = false;
        for (number, line) in (1..).zip(read(path).lines()) {
            if line.trim_start().starts_with("```") {
                is_code = !is_code;
            } else if !is_code {
                report(&format!("{path}:{number}"), &prose(line), &mut findings);
            }
        }
    }
    none_of(&findings);
}

/// The doc comments of the files that describe command lines are help texts.
#[test]
fn help_uses_plain_words() {
    let places = ["bank-cli/src/cli", "bank-cli/src/help", "bankd/src/cli"];
    let mut findings = Vec::new();
    let sources = product();
    let sources: Vec<_> = sources
        .iter()
        .filter(|source| source.is_in_any(&places))
        .collect();
    assert!(sources.len() > 15, "the command lines are somewhere else");
    for source in sources {
        for (number, line) in (1..).zip(source.text.lines()) {
            if let Some(help) = line.trim_start().strip_prefix("/// ") {
                report(
                    &format!("{}:{number}", source.path),
                    &prose(help),
                    &mut findings,
                );
            }
        }
    }
    none_of(&findings);
}

/// The texts of report pages and pictures, and of the commands that print them.
#[test]
fn report_pages_use_plain_words() {
    let places = [
        "bank-api/picture/src",
        "bank-cli/src/cmd/balance",
        "bank-cli/src/cmd/burn",
        "bank-cli/src/cmd/monthly",
        "bank-cli/src/cmd/pictured",
        "bank-cli/src/cmd/report",
        "bank-cli/src/cmd/share",
        "bank-cli/src/cmd/sheet",
        "bank-cli/src/cmd/statement",
        "bank-cli/src/cmd/usage",
    ];
    let mut findings = Vec::new();
    let sources = product();
    for place in places {
        let found = sources.iter().any(|source| source.is_in(place));
        assert!(found, "no sources of report pages in {place}");
    }
    for source in sources.iter().filter(|source| source.is_in_any(&places)) {
        for text in &source.literals {
            report(&source.path, &prose(text), &mut findings);
        }
    }
    none_of(&findings);
}

fn report(place: &str, text: &str, findings: &mut Vec<String>) {
    let text = text.to_lowercase();
    for (word, better) in WORDS {
        if has_word(&text, word) {
            findings.push(format!("{place}: \"{word}\": {better}"));
        }
    }
}

/// A line without code and without the targets of links.
fn prose(line: &str) -> String {
    let outside = line.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    let mut parts = outside.split("](");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        text + " " + part.split_once(')').map_or("", |(_, rest)| rest)
    })
}
