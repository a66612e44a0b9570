//! The formats from end to end: valid, of the same totals, and withheld where they must be.

use std::fs;
use std::process::Command;

use serde_json::Value;

use super::{bank, charged, export, path, watched};
use crate::harness::{Ran, T0, shared_folder, skip, tool};

#[test]
fn documents_are_valid_by_their_schemas() {
    let Some(shared) = shared_folder() else {
        skip("shared", "no folder with the schemas (BANK_SHARED)");
        return;
    };
    if !tool("xmllint") {
        skip("xmllint", "no xmllint to validate usage records with");
        return;
    }
    let bank = bank();
    charged(&bank);
    watched(&bank, 1, 5, 9);
    let xsd = shared.join("spec/xsd");
    for (words, schema, count) in [
        (&["ur1", "--document"][..], "urf-1.0-gfd98.xsd", 6),
        (&["ur2"], "ur-2.0-restated.xsd", 6),
    ] {
        let (file, name) = path(&bank, "document.xml");
        let output = export(&bank, &[words, &["-o", &name]].concat());
        assert_eq!(output, format!("{count} records in {name}\n"));
        let mut command = Command::new("xmllint");
        command
            .env("XML_CATALOG_FILES", xsd.join("catalog.xml"))
            .args(["--nonet", "--noout", "--schema"])
            .arg(xsd.join(schema))
            .arg(&file);
        let ran = Ran::of(&mut command, b"");
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
    }
}

/// What is given to `XDMoD` comes back through our own reader with the same totals.
#[test]
fn xdmod_lines_import_to_equal_totals() {
    let bank = bank();
    watched(&bank, 1, 25, 9);
    let (_, name) = path(&bank, "out.log");
    export(&bank, &["xdmod", "-o", &name]);
    let (_, first) = path(&bank, "in.sacct");
    let totals = |file: &str| {
        let ran = bank.bank(&["import", "sacct", file, "--dry-run", "--json"]);
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
        let found: Value = serde_json::from_str(&ran.stdout).unwrap();
        let total = |key: &str| found["totals"][key].clone();
        (found["jobs"].clone(), total("core_s"), total("wall_s"))
    };
    assert_eq!(totals(&name), totals(&first));
}

#[test]
fn apel_gets_messages_in_a_spool() {
    let bank = bank();
    watched(&bank, 1, 25, 9);
    let (spool, name) = path(&bank, "spool");
    let summary = [
        "apel",
        "--message",
        "summary",
        "--month",
        "2025-12",
        "--spool",
        &name,
    ];
    let output = export(&bank, &summary);
    assert_eq!(output, format!("1 record in 1 message in {name}\n"));
    let text = fs::read_to_string(spool.join("summary-202512-1")).unwrap();
    // 25 jobs of an hour, and of 9 s of processor time: × 15.3.
    for line in [
        "APEL-normalised-summary-message: v0.4",
        "Site: EXAMPLE-SITE",
        "VO: chem",
        "SubmitHost: blue",
        "WallDuration: 90000",
        "CpuDuration: 225",
        "NormalisedWallDuration: {HEPscore23: 1377000}",
        "NormalisedCpuDuration: {HEPscore23: 3443}",
        "NumberOfJobs: 25",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    // Again is the same: the month is replaced. What is left of a longer message goes.
    fs::write(spool.join("summary-202512-2"), "old").unwrap();
    fs::write(spool.join("mine"), "mine").unwrap();
    export(&bank, &summary);
    let mut left: Vec<_> = fs::read_dir(&spool)
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    left.sort();
    assert_eq!(left, ["mine", "summary-202512-1"]);
    export(&bank, &["apel", "--message", "sync", "--spool", &name]);
    let sync = fs::read_to_string(spool.join("sync-all-1")).unwrap();
    assert!(
        sync.contains("NumberOfJobs: 25\nMonth: 12\nYear: 2025\n%%\n"),
        "{sync}"
    );
    let (_, state) = path(&bank, "apel.state");
    let jobs = ["apel", "--spool", &name, "--state", &state];
    assert!(export(&bank, &jobs).starts_with("25 records in 1 message "));
    assert!(export(&bank, &jobs).starts_with("0 records in 0 messages "));
}

#[test]
fn a_workload_has_numbers_that_stay() {
    let mut bank = bank();
    watched(&bank, 1, 3, 9);
    let first = export(&bank, &["swf"]);
    assert!(
        first.starts_with("; Version: 2.2\n; Computer: blue\n"),
        "{first}"
    );
    assert_eq!(
        first.lines().filter(|line| !line.starts_with(';')).count(),
        3
    );
    for name in ["amy", "chemistry"] {
        assert!(!first.contains(name), "{first}");
    }
    assert_eq!(export(&bank, &["swf"]), first);
    let ids = export(&bank, &["swf", "--ids"]);
    assert_eq!(ids, "kind,number,name\nuser,1,amy\ngroup,1,chemistry\n");
    bank.verify();
}

#[test]
fn what_is_lost_is_counted_and_who_may_not_ask_is_refused() {
    let bank = bank();
    charged(&bank);
    let ran = bank.bank(&["export", "xdmod", "--explain-loss"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("the format has no charge: 1 record"),
        "{}",
        ran.stderr
    );
    let ran = bank.bank(&["export", "jsonl", "--explain-loss"]);
    assert!(!ran.stderr.contains("has no"), "{}", ran.stderr);
}

/// APEL replaces sums with equal keys: names that are omitted because they are too long make one sum.
#[test]
fn apel_sums_of_omitted_names_are_added_up() {
    let bank = bank();
    bank.set_clock(T0 + 86_400);
    let long = "физика-плазмы-и-управляемый-термоядерный-синтез";
    for n in 1..=3 {
        let (project, job) = (format!("{long}-{n}"), format!("job.{n}"));
        let work = ["-m", "blue", "--procs", "1", "--duration", "3600"];
        bank.bank_ok(&["project", "add", &project, "--members", "amy"]);
        bank.bank_ok(&[&["charge", &job, "-A", &project, "-u", "amy"][..], &work].concat());
    }
    for m in 1..=2 {
        let machine = format!("{long}-{m}");
        bank.bank_ok(&["machine", "add", &machine, "--mode", "track"]);
        let work = ["-m", &machine, "--procs", "1", "--duration", "3600"];
        bank.bank_ok(
            &[
                &["charge", "other", "-A", "chemistry", "-u", "amy"][..],
                &work,
            ]
            .concat(),
        );
    }
    let count = |message: &str| -> Vec<String> {
        let text = export(&bank, &["apel", "--message", message, "--month", "2026-01"]);
        let all = text.split("%%\n").filter(|one| !one.trim().is_empty());
        let figures = all.map(|one| {
            let of = |key: &str| {
                let line = one.lines().find_map(|line| line.strip_prefix(key));
                line.unwrap_or("-").to_owned()
            };
            [
                of("SubmitHost: "),
                of("NumberOfJobs: "),
                of("WallDuration: "),
            ]
            .join(" ")
        });
        figures.collect()
    };
    assert_eq!(count("summary"), ["blue 3 10800", "- 2 7200"]);
    let sync = export(&bank, &["apel", "--message", "sync"]);
    assert_eq!(sync.matches("NumberOfJobs: 2\n").count(), 1, "{sync}");
    assert_eq!(sync.matches("%%").count(), 2, "{sync}");
}
