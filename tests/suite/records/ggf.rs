//! GGF usage records: one for each finished object, adjustments for what comes later, all valid by
//! the published schema.

use std::path::Path;
use std::process::Command;

use super::{bank, lines, whole_life};
use crate::harness::{Bank, Documents, Ran, shared_folder, skip, tool};
use crate::operations::backup::named;

/// The text of an element.
fn element<'a>(record: &'a str, name: &str) -> &'a str {
    let open = record
        .find(&format!("<{name}"))
        .unwrap_or_else(|| panic!("{name}: {record}"));
    let start = open + record[open..].find('>').unwrap() + 1;
    let end = start + record[start..].find("</").unwrap();
    &record[start..end]
}

/// A job, a reservation with awkward names and a charge after its close.
fn some_records() -> (Bank, Vec<String>) {
    let mut bank = bank(true);
    whole_life(&bank);
    let documents = Documents::own();
    let user = "o'ps & <co>";
    bank.bank_ok(&["user", "add", user]);
    bank.bank_ok(&["project", "members", "add", "physics", user]);
    let user = "o'ps &amp; &lt;co&gt;";
    for (event, number) in [("reserve", 9), ("charge", 10), ("delete", 11)] {
        bank.script(event, &documents.with(number, &[("ops", user)]))
            .expect(0, "");
    }
    bank.script("charge", &documents.get(5)).expect(0, "");
    bank.verify();
    let records = lines(&bank, "ggf.xml");
    (bank, records)
}

#[test]
fn one_record_for_each_finished_object_and_one_for_what_is_late() {
    let (_bank, records) = some_records();
    let rows: Vec<_> = records
        .iter()
        .map(|record| {
            let root = record[1..].split([' ', '>']).next().unwrap();
            let charge = element(record, "Charge");
            (
                root,
                element(record, "LocalJobId"),
                charge,
                element(record, "WallDuration"),
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("JobUsageRecord", "Moab.1024", "35744", "PT2234S"),
            ("UsageRecord", "maint.7", "28800", "PT3600S"),
            ("UsageRecord", "Moab.1024", "6944", "PT434S"),
        ]
    );
    assert!(records[1].contains("<LocalUserId>o'ps &amp; &lt;co&gt;</LocalUserId>"));
    assert!(records[2].contains("late_charge"), "{}", records[2]);
}

#[test]
fn every_record_is_valid_by_the_schema() {
    let Some(shared) = shared_folder() else {
        skip(
            "shared",
            "no folder with the schema of usage records (BANK_SHARED)",
        );
        return;
    };
    if !tool("xmllint") {
        skip("xmllint", "no xmllint to validate usage records with");
        return;
    }
    let (bank, records) = some_records();
    let xsd = shared.join("spec/xsd");
    for (number, record) in records.iter().enumerate() {
        let file = bank.folder().join(format!("record-{number}.xml"));
        std::fs::write(&file, record).unwrap();
        let mut command = Command::new("xmllint");
        command
            .env("XML_CATALOG_FILES", xsd.join("catalog.xml"))
            .args(["--nonet", "--noout", "--schema"])
            .arg(xsd.join("urf-1.0-gfd98.xsd"))
            .arg(file);
        let ran = Ran::of(&mut command, b"");
        assert_eq!(ran.exit, 0, "{record}\n{}", ran.stderr);
    }
}

/// In mode `track` nothing is billed; `notional` says what it would have cost (usage-records.md 6.1).
#[test]
fn the_record_of_the_close_has_the_shadow_price_in_notional_only() {
    for (mode, charge) in [("track", "0"), ("notional", "35744")] {
        let mut bank = bank(true);
        bank.bank_ok(&["machine", "set", "colony", "--mode", mode]);
        whole_life(&bank);
        bank.stop();
        let lines = lines(&bank, "ggf.xml");
        assert_eq!(lines.len(), 1, "{mode}: {lines:?}");
        assert_eq!(element(&lines[0], "Charge"), charge, "{mode}");
    }
}

/// New uses of a restored bank have the numbers of lost ones, whose records the file has.
#[test]
fn a_file_with_later_uses_than_the_restored_bank_is_reported() {
    let mut bank = bank(true);
    let charge = |job: &str| {
        let words = [
            "charge",
            job,
            "-A",
            "chemistry",
            "-u",
            "amy",
            "-m",
            "colony",
            "--procs",
            "1",
            "--duration",
            "10",
        ];
        bank.bank_ok(&words);
    };
    charge("kept");
    let [data, out] = [bank.data(), bank.folder().join("out")].map(|p| p.display().to_string());
    let clock = bank.clock();
    let run = |words: &[&str]| {
        let mut command = Command::new(crate::harness::programs().bankd());
        let ran = Ran::of(command.args(words).env("BANKD_TEST_CLOCK", &clock), b"");
        assert_eq!(ran.exit, 0, "{words:?}: {}", ran.stderr);
        ran.stdout
    };
    run(&["backup", "--data", &data, "--out", &out]);
    charge("lost");
    bank.stop();
    assert!(lines(&bank, "ggf.xml").last().unwrap().contains("lost"));
    let folder = named(Path::new(&out)).remove(0).display().to_string();
    let output = run(&["restore", &folder, "--data", &data, "--force"]);
    assert!(output.contains("records  record files"), "{output}");
    assert!(!bank.log().contains("record ids again"));
    bank.start();
    crate::harness::until("the warning", || {
        let log = bank.log();
        let line = log.lines().find(|line| line.contains("record ids again"));
        line.map(|line| assert!(line.contains("ggf.xml"), "{line}"))
    });
    bank.verify();
}
