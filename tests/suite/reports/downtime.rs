//! Nodes that are known to be down are no capacity (reports.md 1.7 item 3), and nothing else changes.

use serde_json::{Value, json};

use crate::export::seen::token;
use crate::harness::{Bank, T0};

const SPAN: [&str; 6] = [
    "--from",
    "2026-01-02T00:00:00Z",
    "--to",
    "2026-01-05T00:00:00Z",
    "--buckets",
    "day",
];

/// Four nodes of ten processors, half of which one job has for the whole of the third; all of them were
/// paid for by amy.
fn used() -> Bank {
    let bank = Bank::new();
    bank.set_clock(T0 + 10 * 86_400);
    let words = "hardware add xeon -m colony --processors 10 --nodes 4 --from 2026-01-01T00:00:00Z";
    bank.bank_ok(&words.split(' ').collect::<Vec<_>>());
    bank.bank_ok(&["contributor", "add", "amy", "--project", "chemistry"]);
    bank.bank_ok(&["contribution", "add", "amy", "40"]);
    let job = json!({"source": "sge:colony", "id": "1", "machine": "colony", "project": "chemistry",
        "user": "amy", "processors": 20, "start": "2026-01-03T00:00:00Z", "end": "2026-01-04T00:00:00Z",
        "state": "completed"});
    let file = bank.folder().join("usage.jsonl");
    std::fs::write(&file, job.to_string()).unwrap();
    bank.bank_ok(&["import", "jsonl", file.to_str().unwrap()]);
    bank
}

fn down(bank: &Bank, words: &str) -> String {
    let words: Vec<&str> = words.split(' ').collect();
    bank.bank_ok(&[&["hardware", "downtime"], &words[..]].concat())
}

/// What the machine could give each day, and what of it was used.
fn days(bank: &Bank) -> Vec<(String, Value)> {
    let response = bank.json(&[&["report", "contribution"], &SPAN[..]].concat());
    let period = &response["periods"][0];
    // Who paid for the nodes is credited with them, whether they work or not.
    assert_eq!(period["rows"][0]["contribution"], "40.00", "{period}");
    assert_eq!(period["rows"][0]["usage"], "480.00", "{period}");
    let all = period["utilisation"].as_array().unwrap();
    let own = all.iter().find(|own| own["machine"] == "colony").unwrap();
    let days = own["buckets"].as_array().unwrap().iter();
    days.map(|day| {
        let capacity = day["capacity"].as_str().unwrap().to_owned();
        (capacity, day["percent"].clone())
    })
    .collect()
}

fn days_of(days: [(&str, Option<&str>); 3]) -> Vec<(String, Value)> {
    days.map(|(capacity, percent)| (capacity.to_owned(), json!(percent)))
        .to_vec()
}

#[test]
fn what_is_known_to_be_down_is_no_capacity() {
    let mut bank = used();
    let whole = ("960.00", Some("0.00"));
    assert_eq!(
        days(&bank),
        days_of([whole, ("960.00", Some("50.00")), whole])
    );

    let one =
        "add 1 --nodes 1 --from 2026-01-03T12:00:00Z --until 2026-01-04T12:00:00Z --reason cooling";
    let dry = down(&bank, &format!("{one} --dry-run"));
    assert!(dry.contains("nothing written"), "{dry}");
    assert_eq!(down(&bank, "ls"), "no known downtimes\n");
    let output = down(&bank, one);
    assert!(
        output.starts_with("downtime 1 added: hardware 1, nodes 1, from"),
        "{output}"
    );
    assert_eq!(
        days(&bank),
        days_of([whole, ("840.00", Some("57.14")), ("840.00", Some("0.00"))])
    );

    // Nobody knows yet when the others will be back; then somebody does.
    down(&bank, "add 1 --from 2026-01-04T00:00:00Z --reason power");
    assert_eq!(
        days(&bank),
        days_of([whole, ("840.00", Some("57.14")), ("0.00", None)])
    );
    let list = bank.json(&["hardware", "downtime", "ls"]);
    assert_eq!(list["items"][1]["nodes"], Value::Null, "{list}");
    assert_eq!(list["items"][1]["until"], Value::Null, "{list}");
    assert_eq!(list["items"][1]["reason"], "power", "{list}");
    down(&bank, "set 2 --until 2026-01-04T06:00:00Z");
    assert_eq!(
        days(&bank),
        days_of([whole, ("840.00", Some("57.14")), ("660.00", Some("0.00"))])
    );

    down(&bank, "rm 1 --yes");
    assert_eq!(
        days(&bank),
        days_of([whole, ("960.00", Some("50.00")), ("720.00", Some("0.00"))])
    );
    let journal = bank.json(&["journal"]);
    let text = journal.to_string();
    for op in ["downtime_add", "downtime_set", "downtime_rm"] {
        assert!(text.contains(op), "{op}: {text}");
    }
    bank.stop();
    bank.start();
    assert_eq!(days(&bank)[2].0, "720.00");
    bank.bank_ok(&["hardware", "rm", "1", "--yes"]);
    assert_eq!(down(&bank, "ls"), "no known downtimes\n");
    bank.verify();
}

#[test]
fn a_downtime_that_makes_no_sense_is_refused() {
    let bank = used();
    for (words, exit, text) in [
        ("add 7 --from 2026-01-04 --reason x", 4, "no hardware"),
        ("add 1 --from 2026-01-04 --nodes 5 --reason x", 1, "nodes"),
        ("add 1 --from 2026-01-04 --nodes -1 --reason x", 1, "nodes"),
        (
            "add 1 --from 2026-01-04 --until 2026-01-03 --reason x",
            1,
            "before",
        ),
        ("add 1 --from soon --reason x", 2, "not a time"),
        ("add 1 --from 2026-01-04", 2, "--reason"),
        ("add 1 --reason x", 2, "--from"),
        ("set 1 --reason x", 4, "no downtime"),
        ("set 1", 2, "nothing"),
        ("show 1", 4, "no downtime"),
        ("rm x --yes", 2, "invalid"),
        ("rm 1 --yes", 4, "no downtime"),
    ] {
        let all: Vec<&str> = words.split(' ').collect();
        let ran = bank.bank(&[&["hardware", "downtime"], &all[..]].concat());
        assert_eq!(ran.exit, exit, "{words}: {}", ran.stderr);
        assert!(ran.stderr.contains(text), "{words}: {}", ran.stderr);
    }
    // Everybody sees them, and administrators change them.
    down(&bank, "add 1 --from 2026-01-04 --reason power");
    let user = token(&bank, "u", &["--role", "user", "--client", "amy"]);
    let exit_of = |words: &str| {
        let words: Vec<&str> = words.split(' ').collect();
        bank.bank_as(&[("BANK_TOKEN", &user)], &words).exit
    };
    assert_eq!(exit_of("hardware downtime ls"), 0);
    assert_eq!(exit_of("hardware downtime show 1"), 0);
    assert_eq!(exit_of("hardware downtime rm 1 --yes"), 6);
    assert_eq!(exit_of("hardware downtime set 1 --reason x"), 6);
    assert_eq!(
        exit_of("hardware downtime add 1 --from 2026-01-04 --reason x"),
        6
    );
}
