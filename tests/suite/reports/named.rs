//! A slip of the fingers in a name is told: by every report, with the nearest name, and never with one that
//! the caller may not know.

use crate::export::seen::token;
use serde_json::Value;

use crate::harness::{Bank, Ran, Request, Setup, T0};

/// Chemistry of amy, physics of bob, and usage of names that nobody registered; today is the second day.
pub(super) fn used() -> Bank {
    let bank = Setup::new()
        .env("BANKD_EXPORT_SITE", "EXAMPLE-SITE")
        .env("BANKD_EXPORT_ASSUME_FULL_CPU", "true")
        .start();
    bank.bank_ok(&["machine", "add", "blue"]);
    bank.set_clock(T0 + 86_400);
    for (job, project, user, machine) in [
        ("1", "chemistry", "amy", "colony"),
        ("2", "physics", "bob", "colony"),
        ("3", "chemistry", "ghost", "colony"),
        ("4", "chemistry", "amy", "elsewhere"),
        ("5", "nowhere", "ghoul", "colony"),
    ] {
        let whose = ["-A", project, "-u", user, "-m", machine];
        let words = ["charge", job, "--procs", "1", "--duration", "3600"];
        let class = if user == "bob" { "night" } else { "batch" };
        let terms = ["--class", class, "--qos", "normal"];
        bank.bank_ok(&[&words[..], &whose, &terms].concat());
    }
    bank
}

pub(super) fn with(bank: &Bank, token: &str, words: &[&str]) -> Ran {
    bank.bank_as(&[("BANK_TOKEN", token)], words)
}

/// Every command that is asked about somebody, with an option that names nobody.
const SLIPS: [(&str, &str, &str); 26] = [
    ("usage -A chemisrty", "project", "chemisrty"),
    ("usage chemisrty", "project", "chemisrty"),
    ("usage -A chemisrty --tree", "project", "chemisrty"),
    ("usage -u ami", "user", "ami"),
    ("usage -m colony7", "machine", "colony7"),
    ("usage --queue bacth", "queue", "bacth"),
    ("usage --queue bacth --month 2026-01", "queue", "bacth"),
    ("usage --qos normla --records", "qos", "normla"),
    ("usage -a chemisrty", "account", "chemisrty"),
    ("usage -u ami --records --by size", "user", "ami"),
    (
        "statement -A chemisrty --month 2026-01",
        "project",
        "chemisrty",
    ),
    ("statement -u ami --month 2026-01", "user", "ami"),
    ("statement -m colony7 --month 2026-01", "machine", "colony7"),
    ("report fallback -A chemisrty", "project", "chemisrty"),
    ("report fallback -u ami", "user", "ami"),
    ("report fallback -m colony7", "machine", "colony7"),
    ("report forecast -A chemisrty", "project", "chemisrty"),
    ("report contribution -A chemisrty", "project", "chemisrty"),
    ("report contribution -u ami", "user", "ami"),
    ("report utilization -m colony7", "machine", "colony7"),
    ("report efficiency -m colony7", "machine", "colony7"),
    ("report monthly -A chemisrty", "project", "chemisrty"),
    ("report top -u ami", "user", "ami"),
    ("priority -m colony7", "machine", "colony7"),
    ("export jsonl -u ami", "user", "ami"),
    ("export csv -m colony7", "machine", "colony7"),
];

#[test]
fn a_slip_is_reported_with_the_nearest_name() {
    let mut bank = used();
    for (words, kind, name) in SLIPS {
        let ran = bank.bank(&words.split(' ').collect::<Vec<_>>());
        assert_eq!(ran.exit, 4, "{words}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.stdout, "", "{words}");
        let no = format!("no {kind} {name:?}");
        assert!(ran.stderr.contains(&no), "{words}: {}", ran.stderr);
        let near = match kind {
            "user" => "amy",
            "machine" => "colony",
            "queue" => "batch",
            "qos" => "normal",
            _ => "chemistry",
        };
        let near = format!("did you mean {near:?}?");
        assert!(ran.stderr.contains(&near), "{words}: {}", ran.stderr);
    }
    let answer = bank.over_socket(&Request::get("/api/v1/report/usage?user=ami"));
    assert_eq!(answer.status, 404, "{}", answer.text());
    let problem: Value = serde_json::from_str(&answer.text()).unwrap();
    assert_eq!(problem["code"], "not_found");
    bank.verify();
}

/// What only usage names is known by that, in every period.
#[test]
fn people_seen_in_usage_only_can_be_queried() {
    let bank = used();
    let jobs = |words: &str| {
        let answer = bank.json(&words.split(' ').collect::<Vec<_>>());
        answer["total"]["jobs"].as_str().unwrap().to_owned()
    };
    let month = "--from 2026-01-01 --to 2026-02-01";
    assert_eq!(jobs(&format!("usage -u ghost {month}")), "1");
    assert_eq!(jobs(&format!("usage -u ghoul {month}")), "1");
    assert_eq!(jobs(&format!("usage -m elsewhere {month}")), "1");
    assert_eq!(jobs(&format!("usage -A nowhere {month}")), "1");
    // Nothing in the period is an answer, for these and for those who never used anything.
    for who in [
        "--queue night",
        "--qos normal",
        "-u ghost",
        "-m elsewhere",
        "-A nowhere",
        "-m blue",
    ] {
        assert_eq!(jobs(&format!("usage {who} --month 2025-02")), "0", "{who}");
    }
    let screen = bank.bank_ok(&["usage", "-u", "ghost", "--month", "2025-02"]);
    assert!(
        screen.ends_with("\nno usage in this period\n") && !screen.contains("total"),
        "{screen}"
    );
    for words in [
        "report contribution -u ghost",
        "report efficiency -m elsewhere",
        "priority -m elsewhere",
        "export jsonl -u ghost",
        "export csv -m elsewhere",
        "report fallback -u ghost",
        "statement -u ghost --month 2026-01",
        "statement -m elsewhere --month 2026-01",
    ] {
        let ran = bank.bank(&words.split(' ').collect::<Vec<_>>());
        assert_eq!(ran.exit, 0, "{words}: {}", ran.stderr);
    }
}

/// To whom something is hidden, what is not there and what is not theirs are told alike.
#[test]
fn names_of_others_are_no_names() {
    let bank = used();
    let of_project = token(&bank, "p", &["--role", "auditor", "-A", "chemistry"]);
    let of_machine = token(&bank, "m", &["--role", "auditor", "-m", "colony"]);
    let member = token(&bank, "amy", &["--role", "user", "--client", "amy"]);
    let run = |token: &str, words: &str| {
        let ran = with(&bank, token, &words.split(' ').collect::<Vec<_>>());
        (ran.exit, ran.stdout, ran.stderr)
    };
    // Requests have numbers of their own.
    let without = |text: String, name: &str| {
        let lines = text.lines().filter(|line| !line.starts_with("request "));
        let lines: Vec<String> = lines.map(|line| line.replace(name, "NAME")).collect();
        lines
    };
    for (token, option, theirs, nobody) in [
        (&of_project, "-A", "physics", "phantom"),
        (&of_project, "-A", "nowhere", "nothing"),
        (&of_project, "-u", "ghoul", "groul"),
        (&of_machine, "-m", "elsewhere", "elsewhen7"),
        (&of_machine, "-m", "blue", "blur"),
        (&member, "-A", "physics", "phantom"),
        (&member, "-A", "nowhere", "nothing"),
        (&member, "-u", "ghost", "groost"),
        (&member, "-u", "ghoul", "groul"),
        (&of_project, "--queue", "night", "nihgt"),
        (&member, "--queue", "night", "nihgt"),
    ] {
        let (exit, out, error) = run(token, &format!("usage {option} {theirs}"));
        assert_eq!((exit, out.as_str()), (4, ""), "{theirs}: {error}");
        let (_, _, other) = run(token, &format!("usage {option} {nobody}"));
        assert_eq!(without(error, theirs), without(other, nobody));
    }
    // Whose work is not shown is no name out of view, and their usage is not nothing.
    bank.bank_ok(&["user", "add", "carl"]);
    bank.bank_ok(&["project", "members", "add", "chemistry", "carl"]);
    let (exit, out, error) = run(&member, "usage -u carl --month 2026-01");
    assert_eq!((exit, out.as_str()), (6, ""), "{error}");
    assert!(error.contains("those who lead a project"), "{error}");
    assert_eq!(run(&of_project, "usage -u carl --month 2026-01").0, 0);
    // What usage in view names can be asked for.
    for (token, words) in [
        (&of_project, "usage -u ghost --month 2026-01"),
        (&of_project, "usage -m elsewhere --month 2026-01"),
        (&of_machine, "usage -u ghoul --month 2026-01"),
        (&member, "usage -m elsewhere --month 2026-01"),
        (&member, "usage -u amy --month 2026-01"),
    ] {
        let (exit, _, error) = run(token, words);
        assert_eq!(exit, 0, "{words}: {error}");
    }
}

/// What the bank knows of users stands beside what they used; a name that it does not know is there without.
#[test]
fn usage_by_user_has_names_and_addresses_of_those_who_are_known() {
    let bank = used();
    let known = ["--common-name", "Amy Miller", "--email", "amy@example.org"];
    bank.bank_ok(&[&["user", "set", "amy"], &known[..]].concat());
    let period = ["--from", "2026-01-01", "--to", "2026-02-01", "--tz", "UTC"];
    let words = [&["usage", "--by", "user"], &period[..]].concat();
    let response = bank.json(&words);
    let row = |name: &str| -> Value {
        let mut rows = response["rows"].as_array().unwrap().iter();
        rows.find(|row| row["keys"]["user"] == name)
            .unwrap()
            .clone()
    };
    assert_eq!(row("amy")["common_name"], "Amy Miller");
    assert_eq!(row("amy")["email"], "amy@example.org");
    for unknown in ["bob", "ghost", "ghoul"] {
        assert_eq!(row(unknown)["common_name"], Value::Null, "{unknown}");
        assert_eq!(row(unknown)["email"], Value::Null, "{unknown}");
    }
    let csv = bank.bank_ok(&[&words[..], &["--csv"]].concat());
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[0].ends_with(",common_name,email"), "{csv}");
    let amy = lines.iter().find(|line| line.contains(",amy,")).unwrap();
    assert!(amy.ends_with(",Amy Miller,amy@example.org"), "{csv}");
    assert_eq!(response["rows"].as_array().unwrap().len(), lines.len() - 1);
}
