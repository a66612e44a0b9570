//! The documents name what the code has.

use super::none_of;
use super::source::{closing, ends_in, files, lex, product, read, root, rust};
use bank_api::error::TABLE;
use std::collections::BTreeSet;

/// Whether a page names something as code.
fn names(page: &str, what: &str) -> bool {
    page.contains(&format!("`{what}`"))
}

#[test]
fn every_refusal_has_its_row_in_the_reference() {
    let page = read("docs/reference/refusals.md");
    let mut findings = Vec::new();
    for row in TABLE {
        let start = format!(
            "| `{}` | {} | {} | {} | {} |",
            row.code, row.http, row.bank, row.nami, row.gold
        );
        if !page.lines().any(|line| line.starts_with(&start)) {
            findings.push(format!("docs/reference/refusals.md: no row {start}"));
        }
    }
    none_of(&findings);
}

#[test]
fn every_refusal_of_the_rules_is_in_the_one_table() {
    let (_, literals) = lex(&read("bank-core/values/src/refusal.rs"));
    let codes: BTreeSet<String> = literals.into_iter().map(|(_, text)| text).collect();
    let is_code = |text: &&String| {
        text.contains('_') && text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
    };
    let missing: Vec<&String> = codes
        .iter()
        .filter(is_code)
        .filter(|code| bank_api::error::row(code).is_none())
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_setting_of_the_daemon_is_in_the_reference() {
    let page = read("docs/reference/config.md");
    let sample = read("etc/bankd.toml");
    let mut section = String::new();
    let mut findings = Vec::new();
    let mut count = 0;
    for line in sample.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            name.clone_into(&mut section);
        }
        let setting = line.strip_prefix('#').and_then(|l| l.split_once(" = "));
        let Some((key, default)) = setting.filter(|(key, _)| !key.contains(' ')) else {
            continue;
        };
        count += 1;
        let start = format!("| `{section}.{key}` | `{default}` |");
        if !page.contains(&start) {
            findings.push(format!("docs/reference/config.md: no row {start}"));
        }
    }
    assert!(count > 20, "the sample is somewhere else");
    none_of(&findings);
}

#[test]
fn every_setting_of_the_scripts_and_the_command_line_is_in_the_reference() {
    let page = read("docs/reference/config.md");
    let mut findings = Vec::new();
    let settings = read("nami-scripts/src/settings.rs");
    let keys = settings.split("const KEYS").nth(1).unwrap();
    let (_, keys) = lex(&keys[..keys.find("];").unwrap()]);
    let outcome = read("nami-scripts/src/outcome.rs");
    let map = outcome.split("const MAPPED").nth(1).unwrap();
    let (_, words) = lex(&map[..map.find("];").unwrap()]);
    let exits = words.iter().map(|(_, word)| format!("exit.{word}"));
    for key in keys.iter().map(|(_, key)| key.clone()).chain(exits) {
        if !names(&page, &key) {
            findings.push(format!("docs/reference/config.md: nami.conf {key}"));
        }
    }
    let settings = read("bank-cli/src/config.rs");
    let fields = settings.split("struct Settings {").nth(1).unwrap();
    let fields = &fields[..fields.find('}').unwrap()];
    for line in fields.lines().filter(|line| line.contains("Option<")) {
        let key = line.trim().trim_start_matches("pub(crate) ");
        let key = key.split(':').next().unwrap();
        if !names(&page, key) {
            findings.push(format!("docs/reference/config.md: bank.toml {key}"));
        }
    }
    none_of(&findings);
}

#[test]
fn every_setting_of_the_collectors_is_in_the_reference_and_in_a_sample() {
    let page = read("docs/reference/collect.md");
    let samples: String = ["slurm", "prometheus", "nomad", "kubernetes"]
        .iter()
        .map(|name| read(&format!("etc/collect/{name}.toml")))
        .collect();
    let source = read("bank-cli/src/config/collect.rs");
    let fields = source.lines().filter_map(|line| {
        let (name, _) = line.strip_prefix("    pub(crate) ")?.split_once(": ")?;
        (!name.contains(' ')).then_some(name)
    });
    let sections = ["http", "slurm", "prometheus", "nomad", "kubernetes"];
    let mut findings = Vec::new();
    let mut count = 0;
    for field in fields.filter(|field| !sections.contains(field)) {
        count += 1;
        if !names(&page, field) {
            findings.push(format!("docs/reference/collect.md: no {field}"));
        }
        let in_sample = ["", "#"].iter().any(|mark| {
            samples.contains(&format!("\n{mark}{field} = "))
                || samples.contains(&format!("\n{mark}[[slurm.{field}]]"))
                || samples.contains(&format!("\n{mark}[[prometheus.{field}]]"))
        });
        if !in_sample {
            findings.push(format!("etc/collect: no {field}"));
        }
    }
    assert!(count > 40, "{count} settings");
    none_of(&findings);
}

/// A line of the page names the path, and beside it the methods.
#[test]
fn every_route_is_in_the_reference() {
    let page = read("docs/reference/http-api.md");
    let mut findings = Vec::new();
    for row in bankd_http::router::table() {
        let start = format!("| `{}` |", row.path);
        let lines = page.lines().filter_map(|line| line.strip_prefix(&start));
        let methods: Vec<&str> = lines.filter_map(|rest| rest.split('|').next()).collect();
        let names = |methods: &&str| methods.split(',').any(|m| m.trim() == row.method.as_str());
        if !methods.iter().any(names) {
            findings.push(format!(
                "docs/reference/http-api.md: no {} {}",
                row.method, row.path
            ));
        }
    }
    for route in ["/healthz", "/readyz"] {
        if !names(&page, route) {
            findings.push(format!("docs/reference/http-api.md: no {route}"));
        }
    }
    none_of(&findings);
}

#[test]
fn every_route_of_auditor_is_in_the_reference() {
    let page = read("docs/reference/auditor.md");
    let mut findings = Vec::new();
    let mut count = 0;
    for source in product() {
        if source.is_in("bankd/auditor/src/routes") {
            let routes = source.literals.iter().filter(|text| {
                text.starts_with('/') && !text.ends_with('/') && !text.contains(' ')
            });
            for route in routes {
                count += 1;
                if !names(&page, route) {
                    findings.push(format!("docs/reference/auditor.md: no {route}"));
                }
            }
        }
    }
    assert!(count >= 4, "the routes are somewhere else");
    none_of(&findings);
}

/// `WhatIf` as it is typed: `what-if`.
fn kebab(word: &str) -> String {
    let mut typed = String::new();
    for letter in word.chars() {
        if letter.is_ascii_uppercase() && !typed.is_empty() {
            typed.push('-');
        }
        typed.push(letter.to_ascii_lowercase());
    }
    typed
}

/// The variants of an enum of commands, as they are typed.
fn verbs(source: &str, name: &str) -> Vec<String> {
    let (code, _) = lex(source);
    let start = code.find(&format!("enum {name} {{")).unwrap();
    let open = start + code[start..].find('{').unwrap();
    let body = &code[open + 1..closing(&code, open) - 1];
    let variants = body.lines().filter_map(|line| {
        let word = line.strip_prefix("    ")?;
        word.starts_with(|c: char| c.is_ascii_uppercase()).then(|| {
            let end = word.find(|c: char| !c.is_alphanumeric());
            kebab(&word[..end.unwrap_or(word.len())])
        })
    });
    variants.collect()
}

#[test]
fn every_command_is_in_the_reference() {
    let page = read("docs/reference/cli.md");
    let mut findings = Vec::new();
    let (cli, daemon) = (read("bank-cli/src/cli.rs"), read("bankd/src/cli.rs"));
    let nouns = [
        read("bank-cli/src/cli/access.rs"),
        read("bank-cli/src/cli/noun.rs"),
        read("bank-cli/src/cli/asset.rs"),
        read("bank-cli/src/cli/attention.rs"),
        read("bank-cli/src/cli/collect.rs"),
        read("bank-cli/src/cli/cycle.rs"),
        read("bank-cli/src/cli/migrate.rs"),
        read("bank-cli/src/cli/nami.rs"),
        read("bank-cli/src/cli/price.rs"),
        read("bank-cli/src/cli/source.rs"),
        read("bank-cli/src/cli/unmapped.rs"),
        read("bank-cli/src/cli/usage.rs"),
    ]
    .concat();
    let mut commands: Vec<String> = Vec::new();
    for kind in bank_core::kind::declared() {
        let outer = kind
            .within
            .map_or(String::new(), |outer| format!("{outer} "));
        let verbs = ["add", "ls", "show", "set", "rm"];
        commands.extend(verbs.map(|verb| format!("bank {outer}{} {verb}", kind.command())));
    }
    for (prefix, source, name) in [
        ("bank", &cli, "Command"),
        ("bank project members", &nouns, "MemberCommand"),
        ("bank account", &nouns, "AccountCommand"),
        ("bank allocation", &nouns, "AllocationCommand"),
        ("bank lien", &nouns, "LienCommand"),
        ("bank rate", &nouns, "RateCommand"),
        ("bank quote", &nouns, "QuoteCommand"),
        ("bank key", &nouns, "KeyCommand"),
        ("bank token", &nouns, "TokenCommand"),
        ("bank role", &nouns, "RoleCommand"),
        ("bank limit", &nouns, "LimitCommand"),
        ("bank proposal", &nouns, "ProposalCommand"),
        ("bank cycle", &nouns, "CycleCommand"),
        ("bank clock", &nouns, "ClockCommand"),
        ("bank quarantine", &nouns, "QuarantinedCommand"),
        ("bank unmapped", &nouns, "UnmappedCommand"),
        ("bank collect", &nouns, "CollectCommand"),
        ("bank report", &nouns, "ReportCommand"),
        ("bank attention", &nouns, "AttentionCommand"),
        ("bank source", &nouns, "SourceCommand"),
        ("bank nami spool", &nouns, "SpoolCommand"),
        ("bank nami quarantine", &nouns, "QuarantineCommand"),
        ("bank moab", &nouns, "MoabCommand"),
        ("bank migrate", &nouns, "MigrateCommand"),
        ("bankd", &daemon, "Commands"),
        ("bankd config", &daemon, "ConfigCommands"),
    ] {
        commands.extend(
            verbs(source, name)
                .iter()
                .map(|verb| format!("{prefix} {verb}")),
        );
    }
    assert!(commands.len() > 50, "{commands:?}");
    for command in commands {
        if !page.contains(&format!("`{command}`")) && !page.contains(&format!("`{command} ")) {
            findings.push(format!("docs/reference/cli.md: no {command}"));
        }
    }
    none_of(&findings);
}

#[test]
fn every_finding_of_the_check_is_in_the_reference() {
    let page = read("docs/reference/moab-check.md");
    let mut findings = Vec::new();
    let mut count = 0;
    for source in product().iter().filter(|s| s.is_in("bank-cli/src/moab")) {
        let is_code = |text: &&String| {
            text.contains('_') && text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
        };
        for code in source.literals.iter().filter(is_code) {
            count += 1;
            if !names(&page, code) {
                findings.push(format!("docs/reference/moab-check.md: no {code}"));
            }
        }
    }
    assert!(count > 30, "the findings are somewhere else");
    none_of(&findings);
}

#[test]
fn the_project_has_its_papers() {
    for path in [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "docs/reference/glossary.md",
        "docs/reference/exit-codes.md",
        "docs/reference/nami.md",
        "docs/reference/records.md",
        "docs/reference/limits.md",
    ] {
        assert!(read(path).len() > 500, "{path} says nothing");
    }
    let changes = read("CHANGELOG.md");
    assert!(changes.contains("## [Unreleased]"), "CHANGELOG.md");
    assert!(read("LICENSE-MIT").contains("The bankd authors"));
    let apache = read("LICENSE-APACHE");
    assert!(apache.contains("Version 2.0, January 2004") && apache.contains("The bankd authors"));
}

/// The tests that ARCHITECTURE.md names as guards are there.
#[test]
fn the_architecture_names_tests_that_exist() {
    let page = read("ARCHITECTURE.md");
    let mut sources = String::new();
    for source in rust() {
        sources.push_str(&source.text);
    }
    let mut findings = Vec::new();
    let mut guards = 0;
    for name in page
        .split('`')
        .filter(|code| code.contains("::") && code.starts_with("tidy::"))
    {
        guards += 1;
        let test = name.rsplit("::").next().unwrap();
        if !sources.contains(&format!("fn {test}()")) {
            findings.push(format!("ARCHITECTURE.md: no test {name}"));
        }
    }
    assert!(guards >= 10, "{guards} guards named");
    // A path in backquotes is a file or a folder of ours.
    for code in page.split('`').skip(1).step_by(2) {
        let is_path = code.contains('/')
            && !code.contains([' ', '{', '*', '<', ':'])
            && !code.starts_with('/');
        let there = root().join(code).exists();
        if is_path && !there {
            findings.push(format!("ARCHITECTURE.md: no file {code}"));
        }
    }
    none_of(&findings);
}

/// The folder of the decisions: notes, the log and the index.
const DECISIONS: &str = "docs/decisions/";

/// The number at the start of a text: four digits and the character that follows them.
fn number(text: &str, after: char) -> Option<&str> {
    let (start, _) = text.split_once(after)?;
    let is_number = start.len() == 4 && start.bytes().all(|b| b.is_ascii_digit());
    is_number.then_some(start)
}

/// The numbers of all decisions, and the findings about their notes and the log.
fn decisions() -> (BTreeSet<String>, Vec<String>) {
    let mut known = BTreeSet::new();
    let mut findings = Vec::new();
    for path in files() {
        let Some(name) = path.strip_prefix(DECISIONS) else {
            continue;
        };
        if ["README.md", "log.md"].contains(&name) {
            continue;
        }
        if number(name, '-').is_none_or(|n| !known.insert(n.to_owned())) {
            findings.push(format!(
                "{name}: not NNNN-title.md with a number of its own"
            ));
        }
        let text = read(&path);
        for part in ["Context", "Choice", "Rejected", "Consequences"] {
            if !text.contains(&format!("\n**{part}.** ")) {
                findings.push(format!("{name}: no part {part}"));
            }
        }
    }
    let log = read(&format!("{DECISIONS}log.md"));
    let mut last = String::new();
    for title in log.lines().filter_map(|line| line.strip_prefix("## ")) {
        let Some(number) = number(title, ' ') else {
            findings.push(format!("log.md: {title}: no number of four digits"));
            continue;
        };
        if number <= last.as_str() || !known.insert(number.to_owned()) {
            findings.push(format!("log.md: {number} is not ascending or not unique"));
        }
        number.clone_into(&mut last);
    }
    (known, findings)
}

#[test]
fn decisions_are_numbered_and_complete() {
    let (known, findings) = decisions();
    assert!(known.len() >= 100, "{} decisions", known.len());
    none_of(&findings);
}

/// The numbers that a text gives to decisions. Sections of the specifications have other names.
fn named_decisions(text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    let mut found = Vec::new();
    for word in ["decision ", "decisions ", "decisions/", "note ", "notes "] {
        for rest in text.split(word).skip(1) {
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            if digits.len() == 4 || (!digits.is_empty() && word.starts_with("decision")) {
                found.push(digits);
            }
        }
    }
    found
}

#[test]
fn decisions_that_code_and_documents_name_exist() {
    let (known, _) = decisions();
    let mut findings = Vec::new();
    let mut count = 0;
    for path in files() {
        let is_read = ["rs", "md", "toml"].iter().any(|kind| ends_in(&path, kind));
        if !is_read {
            continue;
        }
        for number in named_decisions(&read(&path)) {
            count += 1;
            if !known.contains(&number) {
                findings.push(format!("{path}: no decision {number}"));
            }
        }
    }
    assert!(count > 50, "{count} decisions are named");
    none_of(&findings);
}

/// The anchor that a heading has on the page.
fn anchor(heading: &str) -> String {
    let heading = heading.trim_start_matches('#').trim().to_lowercase();
    let is_kept = |c: &char| c.is_alphanumeric() || "-_ ".contains(*c);
    heading
        .chars()
        .filter(is_kept)
        .collect::<String>()
        .replace(' ', "-")
}

/// A link to a file of ours leads to a file and, if it names a heading of a page, to that heading.
#[test]
fn links_between_documents_lead_somewhere() {
    let mut findings = Vec::new();
    for path in files() {
        if !ends_in(&path, "md") {
            continue;
        }
        let folder = root().join(&path).parent().unwrap().to_owned();
        for link in read(&path).split("](").skip(1) {
            let link = link.split([')', ' ']).next().unwrap();
            let (target, heading) = link.split_once('#').unwrap_or((link, ""));
            if link.contains(':') || target.is_empty() {
                continue;
            }
            let file = folder.join(target);
            if !file.exists() {
                findings.push(format!("{path}: {target} leads nowhere"));
            } else if ends_in(target, "md") && !heading.is_empty() {
                let page = std::fs::read_to_string(file).unwrap();
                let mut headings = page.lines().filter(|line| line.starts_with('#'));
                if !headings.any(|line| anchor(line) == heading) {
                    findings.push(format!("{path}: {target} has no heading #{heading}"));
                }
            }
        }
    }
    none_of(&findings);
}
