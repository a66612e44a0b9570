//! What a key for single projects reads: no answer to a question contains a name of other projects, and
//! what is of others answers as what is not there, in every parameter of every route.

use super::token::token;
use crate::harness::{Bank, Request, Response};
use std::collections::BTreeMap;

use bankd_http::router::table;

/// Every name of the foreign side begins with it.
const MARK: &str = "zz";
/// Parameters that name an object, with the foreign name and one that is not there.
const NAMES: [(&str, &str, &str); 11] = [
    ("project", "zzproj", "nosuch"),
    ("account", "zzaccount", "nosuch"),
    ("user", "zzuser", "nosuch"),
    ("client", "zzkey", "nosuch"),
    ("name", "zzuser", "nosuch"),
    ("actor", "zzkey", "nosuch"),
    ("source", "zzsource", "nosuch"),
    ("job", "zz.1", "nosuch"),
    ("by", "zzproj", "nosuch"),
    ("credit", "zzproj", "nosuch"),
    ("queue", "zzqueue", "nosuch"),
];

/// Names and numbers of foreign objects by the route that shows one.
fn foreign(bank: &Bank) -> BTreeMap<&'static str, String> {
    let first = |words: &[&str]| bank.json(words)["items"][0]["id"].to_string();
    BTreeMap::from([
        ("/api/v1/projects/{name}", "zzproj".to_owned()),
        ("/api/v1/projects/{name}/members", "zzproj".to_owned()),
        ("/api/v1/accounts/{name}", "zzaccount".to_owned()),
        ("/api/v1/users/{name}", "zzuser".to_owned()),
        ("/api/v1/keys/{id}", "zzkey".to_owned()),
        ("/api/v1/tokens/{id}", "zztoken".to_owned()),
        ("/api/v1/cycles/{name}", "zzcycle".to_owned()),
        ("/api/v1/jobs/{id}", "zz.1".to_owned()),
        ("/api/v1/explanations/{name}", "zz.1".to_owned()),
        ("/api/v1/mappings/{id}", first(&["mapping", "ls"])),
        ("/api/v1/liens/{id}", first(&["lien", "ls"])),
        ("/api/v1/proposals/{id}", first(&["proposal", "ls"])),
        ("/api/v1/requests/{id}", first(&["proposal", "ls"])),
        ("/api/v1/contributors/{name}", "zzgroup".to_owned()),
    ])
}

/// The bank of the tests, and another project with something of everything.
fn world() -> Bank {
    let bank = Bank::new();
    let commands: &[&[&str]] = &[
        &["user", "add", "zzuser"],
        &["project", "add", "zzproj", "--members", "zzuser"],
        &["account", "add", "zzaccount", "--projects", "zzproj"],
        &["deposit", "zzproj", "1000"],
        &["deposit", "zzaccount", "10", "--note", "zznote"],
        &["project", "members", "role", "zzproj", "zzuser", "manager"],
        &["role", "grant", "zzboss", "operator", "-A", "zzproj"],
        &["role", "grant", "zzeveryone", "auditor"],
        &["limit", "set", "zzuser", "--per-day", "7"],
        &["key", "add", "zzkey", "--role", "scheduler", "-A", "zzproj"],
        &["mapping", "add", "account=zzgrant", "--project", "zzproj"],
        &[
            "mapping",
            "add",
            "account=*",
            "user=zzlogin",
            "--user",
            "zzuser",
        ],
        &[
            "cycle", "add", "zzcycle", "-a", "zzproj", "--amount", "5", "--every", "month",
        ],
        &["contributor", "add", "zzgroup", "-A", "zzproj"],
        &["deposit", "zzproj", "5", "--propose"],
    ];
    for words in commands {
        bank.bank_ok(words);
    }
    let work = [
        "-A", "zzproj", "-u", "zzuser", "-m", "colony", "--procs", "1",
    ];
    bank.bank_ok(&[&["reserve", "zz.2", "--wall", "100"][..], &work].concat());
    bank.bank_ok(&[&["charge", "zz.1", "--duration", "10"][..], &work].concat());
    token(&bank, "zztoken", &["--role", "user", "--client", "zzuser"]);
    bank
}

fn ask(bank: &Bank, token: &str, target: &str) -> Response {
    let request = Request::get(target).header("Authorization", &format!("Bearer {token}"));
    bank.over_tcp(&request)
}

/// An answer without the name that was asked for, and without what differs from one second to the next.
fn learned(answer: &Response, name: &str) -> String {
    let text = answer.text().replace(name, "NAME");
    let Ok(mut body) = serde_json::from_str::<serde_json::Value>(&text) else {
        return format!("{} {text}", answer.status);
    };
    body["request_id"] = serde_json::Value::Null;
    body["hint"] = serde_json::Value::Null;
    format!("{} {body}", answer.status)
}

/// What a list needs beside its names.
fn needed(path: &str) -> &'static str {
    match path {
        "/api/v1/query" => "text=get+journal",
        "/api/v1/statements" | "/api/v1/statements/entries" => "account=chemistry",
        "/api/v1/report/priority" => "machine=colony",
        _ => "",
    }
}

fn findings(bank: &Bank, token: &str, role: &str) -> Vec<String> {
    let foreign = foreign(bank);
    let mut found = Vec::new();
    for route in table().into_iter().filter(|route| route.method == "GET") {
        let path = &*route.path;
        if let Some((before, _)) = path.split_once('{') {
            let Some(name) = foreign.get(path) else {
                continue;
            };
            let after = path.rsplit_once('}').map_or("", |(_, after)| after);
            let is_number = name.parse::<i64>().is_ok();
            let missing = if is_number { "987654321" } else { "nosuch" };
            let [one, other] = [name.as_str(), missing].map(|name| {
                let answer = ask(bank, token, &format!("{before}{name}{after}"));
                learned(&answer, name)
            });
            if one != other || !["403", "404"].contains(&&one[..3]) {
                found.push(format!("{role} {path}: foreign {one}, missing {other}"));
            }
            continue;
        }
        let answer = ask(bank, token, &format!("{path}?{}", needed(path)));
        let text = answer.text();
        if let Some(place) = text.find(MARK) {
            let shown: String = text[place.saturating_sub(60)..].chars().take(140).collect();
            found.push(format!("{role} {path} shows {shown}"));
        }
        for (word, theirs, nobodys) in NAMES {
            let [one, other] = [theirs, nobodys].map(|name| {
                let answer = ask(bank, token, &format!("{path}?{word}={name}"));
                learned(&answer, name)
            });
            if one != other {
                found.push(format!(
                    "{role} {path}?{word}: foreign {one}, missing {other}"
                ));
            }
        }
    }
    found
}

#[test]
fn a_key_for_one_project_reads_nothing_of_others() {
    let bank = world();
    let mut found = Vec::new();
    for role in ["auditor", "admin"] {
        let token = token(
            &bank,
            &format!("narrow-{role}"),
            &["--role", role, "-A", "chemistry"],
        );
        found.extend(findings(&bank, &token, role));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The same rows are there for those whose scope covers them.
#[test]
fn a_limited_auditor_reads_the_rows_of_its_own_project() {
    let bank = world();
    let own: &[&[&str]] = &[
        &["role", "grant", "boss", "operator", "-A", "chemistry"],
        &["limit", "set", "amy", "--per-day", "8"],
        &["limit", "set", "--role", "operator", "--per-day", "9"],
        &["mapping", "add", "account=grant", "--project", "chemistry"],
        &[
            "key",
            "add",
            "ours",
            "--role",
            "scheduler",
            "-A",
            "chemistry",
        ],
    ];
    for words in own {
        bank.bank_ok(words);
    }
    let token = token(&bank, "narrow", &["--role", "admin", "-A", "chemistry"]);
    let rows = |words: &[&str]| {
        let words = [words, &["-P", "-n"]].concat();
        let ran = bank.bank_as(&[("BANK_TOKEN", &token)], &words);
        assert_eq!(ran.exit, 0, "{words:?}: {}", ran.stderr);
        let first = |line: &str| line.split('|').next().unwrap_or_default().to_owned();
        ran.stdout.lines().map(first).collect::<Vec<String>>()
    };
    assert_eq!(rows(&["role", "ls"]), ["boss"]);
    assert_eq!(rows(&["limit", "ls", "--columns", "name"]), ["", "amy"]);
    assert_eq!(
        rows(&["mapping", "ls", "--columns", "project"]),
        ["chemistry"]
    );
    assert_eq!(rows(&["key", "ls", "--columns", "id"]), ["ours"]);
    assert_eq!(rows(&["token", "ls", "--columns", "id"]), ["narrow"]);
}

/// Sums over all projects are in the status of those who see all projects.
#[test]
fn a_user_does_not_read_the_sums_of_the_whole_bank() {
    let bank = world();
    let amy = token(&bank, "amys", &["--role", "user", "--client", "amy"]);
    let narrow = token(&bank, "narrow", &["--role", "auditor", "-A", "chemistry"]);
    let auditor = token(&bank, "wide", &["--role", "auditor"]);
    let status = |token: &str| -> serde_json::Value {
        let answer = ask(&bank, token, "/api/v1/status");
        assert_eq!(answer.status, 200, "{}", answer.text());
        serde_json::from_slice(&answer.body).unwrap()
    };
    for word in ["unbilled", "open_liens", "disputed"] {
        assert!(status(&amy)[word].is_null(), "{word}");
        assert!(status(&narrow)[word].is_null(), "{word}");
        assert!(!status(&auditor)[word].is_null(), "{word}");
    }
    let screen = bank.bank_as(&[("BANK_TOKEN", &amy)], &["status"]).stdout;
    assert!(
        screen.contains("queue 0/") && !screen.contains("unbilled"),
        "{screen}"
    );
    assert!(!screen.contains("open liens"), "{screen}");
    assert!(bank.bank_ok(&["status"]).contains("open liens 1 "));
}

#[test]
fn the_id_of_a_key_begins_with_a_letter_or_a_digit() {
    let bank = Bank::new();
    for id in [".", "..", ".hidden", "-x", "--yes"] {
        for noun in ["key", "token"] {
            let ran = bank.bank(&[noun, "add", "--role", "auditor", "--client", "c", "--", id]);
            assert_eq!(ran.exit, 1, "{noun} {id}: {}{}", ran.stdout, ran.stderr);
            assert!(ran.stderr.contains(id), "{}", ran.stderr);
        }
    }
    for id in ["a.b-c", "0", "a-", "_x"] {
        bank.bank_ok(&["key", "add", id, "--role", "auditor"]);
    }
    let files = std::fs::read_dir(bank.data().join("keys")).unwrap();
    let hidden = files.filter(|file| {
        let name = file.as_ref().unwrap().file_name();
        name.to_string_lossy().starts_with(['.', '-'])
    });
    assert_eq!(hidden.count(), 0);
}
