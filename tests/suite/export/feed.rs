//! Every use once: of both kinds, across runs, amendments and crashes.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;

use serde_json::Value;

use crate::harness::{Setup, T0};

use super::{bank, charged, export, imported, names, page, path, uses, watched};

#[test]
fn charges_and_watched_uses_come_once_each() {
    let mut bank = bank();
    charged(&bank);
    watched(&bank, 1, 25, 9);
    let all = uses(&export(&bank, &["jsonl"]));
    let different: BTreeSet<String> = names(&all).into_iter().collect();
    assert_eq!((all.len(), different.len()), (26, 26));
    let is = |one: &&Value, outcome: &str| one["outcome"] == outcome;
    assert_eq!(all.iter().filter(|one| is(one, "Billed")).count(), 1);
    let shadow: Vec<&Value> = all.iter().filter(|one| is(one, "Shadow")).collect();
    assert_eq!(shadow.len(), 25);
    for one in &shadow {
        assert_eq!(
            (&one["charge"], &one["wall_s"]),
            (&"0".into(), &"3600".into())
        );
        assert_eq!(one["shadow_charge"], "7200");
        assert_eq!(one["source"], "slurm-blue");
        assert_eq!(one["cpu_total_s"], "9");
    }
    // Pages of any size are the same text.
    for limit in ["1", "7", "1000"] {
        let mut text = String::new();
        let mut since = String::new();
        loop {
            let target = format!("/api/v1/export/jsonl?limit={limit}{since}");
            let found = page(&bank, &target);
            text.push_str(found["text"].as_str().unwrap());
            since = format!("&since={}", found["next"].as_str().unwrap());
            if found["more"] == false {
                break;
            }
        }
        let whole = export(&bank, &["jsonl"]);
        assert_eq!(whole.split_once('\n').unwrap().1, text, "{limit}");
    }
    bank.verify();
}

/// Usage that a collector reports and that is charged has records: it comes as these, and once.
#[test]
fn imported_usage_that_is_charged_comes_as_its_record() {
    let mut bank = bank();
    bank.bank_ok(&["machine", "set", "colony", "--source", "slurm-colony"]);
    imported(&bank, "colony", (1, 4), 9);
    watched(&bank, 1, 3, 9);
    let all = uses(&export(&bank, &["jsonl"]));
    let count = |machine: &str, outcome: &str| {
        let is = |one: &&Value| one["machine"] == machine && one["outcome"] == outcome;
        all.iter().filter(is).count()
    };
    assert_eq!((count("colony", "Billed"), count("blue", "Shadow")), (4, 3));
    assert_eq!(all.len(), 7);
    // Another source's word for the same is kept for reconciliation only.
    let (_, path) = path(&bank, "in.sacct");
    bank.bank_ok(&["import", "sacct", &path, "--source", "other"]);
    assert_eq!(bank.query("SELECT count(*) FROM usage_identity"), [["10"]]);
    assert_eq!(uses(&export(&bank, &["jsonl"])).len(), 7);
    bank.verify();
}

#[test]
fn filters_are_by_the_end_and_by_names() {
    let bank = bank();
    charged(&bank);
    watched(&bank, 1, 25, 9);
    let count = |words: &[&str]| uses(&export(&bank, &[&["jsonl"], words].concat())).len();
    assert_eq!(count(&["-m", "blue"]), 25);
    assert_eq!(count(&["-m", "colony"]), 1);
    assert_eq!(count(&["-A", "physics"]), 0);
    assert_eq!(count(&["-m", "blue", "-u", "amy"]), 25);
    let from = ["-m", "blue", "--from", "2025-12-01T02:10:00Z"];
    let to = ["-m", "blue", "--to", "2025-12-01T02:10:00Z"];
    assert_eq!((count(&from), count(&to)), (16, 9));
    let ran = bank.bank(&["export", "jsonl", "-A", "nosuch"]);
    assert_eq!(ran.exit, 4, "{}", ran.stderr);
}

#[test]
fn an_amended_use_is_exported_again_and_names_the_one_it_replaces() {
    let mut bank = bank();
    watched(&bank, 1, 3, 9);
    let (state, state_name) = path(&bank, "state");
    let (out, out_name) = path(&bank, "out.jsonl");
    let words = ["jsonl", "--state", &state_name, "-o", &out_name];
    export(&bank, &words);
    watched(&bank, 2, 1, 11);
    watched(&bank, 7, 1, 9);
    // Before it is told once more, and between two runs, it changes twice.
    watched(&bank, 3, 1, 10);
    watched(&bank, 3, 1, 12);
    let output = export(&bank, &words);
    assert!(output.starts_with("3 records in "), "{output}");
    let all = uses(&fs::read_to_string(&out).unwrap());
    let bank_name = all[0]["record_id"]
        .as_str()
        .unwrap()
        .split(':')
        .nth(1)
        .unwrap();
    let name = |rest: &str| format!("bank:{bank_name}:{rest}");
    let expected = ["u1", "u2", "u3", "u2.1", "u3.2", "u4"].map(name);
    assert_eq!(names(&all), expected);
    assert_eq!(all[3]["replaces"], name("u2"));
    assert_eq!(all[3]["cpu_total_s"], "11");
    assert_eq!(all[4]["replaces"], name("u3"));
    assert_eq!(all[4]["cpu_total_s"], "12");
    // A first run now has each as it is, and once.
    let fresh = uses(&export(&bank, &["jsonl"]));
    assert_eq!(names(&fresh), ["u1", "u2.1", "u3.2", "u4"].map(name));
    assert!(state.exists());
    bank.verify();
}

#[test]
fn what_a_killed_run_left_is_made_again_once() {
    let bank = bank();
    watched(&bank, 1, 5, 9);
    let (state, state_name) = path(&bank, "state");
    let (out, out_name) = path(&bank, "out.csv");
    let words = ["csv", "--state", &state_name, "-o", &out_name];
    export(&bank, &words);
    let before = fs::read_to_string(&state).unwrap();
    watched(&bank, 6, 5, 9);
    export(&bank, &words);
    let whole = fs::read_to_string(&out).unwrap();
    // The run was killed behind its output and before its state; half a line of it is there too.
    fs::write(&state, &before).unwrap();
    let mut file = fs::OpenOptions::new().append(true).open(&out).unwrap();
    file.write_all(b"bank:half,").unwrap();
    drop(file);
    export(&bank, &words);
    assert_eq!(fs::read_to_string(&out).unwrap(), whole);
    assert_eq!(whole.lines().count(), 11);
    // Renamed away: a new file with its header, and only what came since.
    fs::rename(&out, out.with_extension("old")).unwrap();
    watched(&bank, 11, 2, 9);
    export(&bank, &words);
    let new = fs::read_to_string(&out).unwrap();
    assert_eq!(new.lines().count(), 3, "{new}");
    assert!(new.starts_with("record_id,"), "{new}");
}

#[test]
fn impossible_continuations_are_reported() {
    let bank = bank();
    watched(&bank, 1, 1, 9);
    let (_, state) = path(&bank, "state");
    let (out, out_name) = path(&bank, "out");
    fs::write(&out, "mine\n").unwrap();
    for (words, exit, expected) in [
        (&["jsonl", "--state", &state][..], 2, "-o FILE"),
        (
            &["jsonl", "--state", &state, "-o", &out_name],
            2,
            "is there already",
        ),
        (
            &[
                "jsonl",
                "--state",
                &state,
                "-o",
                &out_name,
                "--to",
                "2026-01-01",
            ],
            2,
            "--to",
        ),
        (
            &["swf", "--state", &state, "-o", &out_name],
            2,
            "as a whole",
        ),
        (
            &["jsonl", "--since", "00000000-1-1-1"],
            1,
            "of an export of this bank",
        ),
        (&["ur1", "-A", "chemistry"], 2, "--document"),
        (&["apel", "--message", "summary"], 2, "which month"),
        (
            &[
                "apel",
                "--message",
                "summary",
                "--from",
                "2089-01-01T00:00:00Z",
                "--to",
                "2089-02-01T00:00:00Z",
            ],
            1,
            "a month that has begun",
        ),
        (
            &[
                "apel",
                "--message",
                "summary",
                "--from",
                "2026-01-02",
                "--to",
                "2026-02-01",
            ],
            1,
            "first instant of a month",
        ),
    ] {
        let ran = bank.bank(&[&["export"], words].concat());
        assert_eq!(ran.exit, exit, "{words:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{words:?}: {}", ran.stderr);
    }
    assert_eq!(fs::read_to_string(&out).unwrap(), "mine\n");
    let found = page(&bank, "/api/v1/export/jsonl");
    let next = found["next"].as_str().unwrap();
    let ahead = format!("{next}9");
    let ran = bank.bank(&["export", "jsonl", "--since", &ahead]);
    assert_eq!(ran.exit, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("newer copy"), "{}", ran.stderr);
    // A state is of one export.
    let (_, other) = path(&bank, "other");
    export(&bank, &["jsonl", "--state", &state, "-o", &other]);
    let ran = bank.bank(&[
        "export", "jsonl", "-m", "blue", "--state", &state, "-o", &other,
    ]);
    assert_eq!(ran.exit, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("of another export"), "{}", ran.stderr);
}

/// More than an answer names one by one, each is counted by why it is left out.
#[test]
fn every_record_that_is_left_out_is_counted_by_its_reason() {
    let bank = Setup::new()
        .env("BANKD_EXPORT_SITE", "EXAMPLE-SITE")
        .env("BANKD_EXPORT_BENCHMARK", "HEPscore23")
        .env("BANKD_EXPORT_BENCHMARK_VALUE", "15.3")
        .start();
    bank.set_clock(T0 + 40 * 86_400);
    let lines = (0..150).map(|n| {
        serde_json::json!({"source": "sge:colony", "id": n.to_string(), "machine": "colony",
            "project": "chemistry", "user": "amy", "processors": 1, "state": "completed",
            "start": "2026-01-03T00:00:00Z", "end": "2026-01-03T01:00:00Z"})
        .to_string()
    });
    let file = bank.folder().join("usage.jsonl");
    fs::write(&file, lines.collect::<Vec<_>>().join("\n")).unwrap();
    bank.bank_ok(&["import", "jsonl", file.to_str().unwrap()]);
    let ran = bank.bank(&["export", "ur2"]);
    assert!(
        ran.stderr.contains("150 records left out: "),
        "{}",
        ran.stderr
    );
    assert!(!ran.stderr.contains("one of these"), "{}", ran.stderr);
}
