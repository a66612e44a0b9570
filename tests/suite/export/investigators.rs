//! Hours and costs by principal investigator, summed over an export, are those of `bank usage`, also if an amended record
//! has another one than the record before.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use super::sums::{agree, last, thousandths};
use super::{bank, export, path, uses};
use crate::harness::{Bank, T0};

/// Processor-seconds, charges and shadow charges in thousandths, by principal investigator.
type Investigators = BTreeMap<String, [i128; 3]>;

fn added(rows: impl Iterator<Item = (String, [i128; 3])>) -> Investigators {
    let mut sums = Investigators::new();
    for (pi, figures) in rows {
        let own = sums.entry(pi).or_default();
        for (sum, figure) in own.iter_mut().zip(figures) {
            *sum += figure;
        }
    }
    sums.retain(|_, figures| *figures != [0; 3]);
    sums
}

/// Compares an export with `bank usage --by pi`; gives the sums.
#[track_caller]
fn agreed(bank: &Bank) -> Investigators {
    let figure = |value: &Value| match value {
        Value::Null => 0,
        value => thousandths(value),
    };
    let period = ["--from", "-infinity", "--to", "infinity"];
    let table = bank.json(&[&["usage", "--by", "pi"], &period[..]].concat());
    let rows = table["rows"].as_array().unwrap().iter().map(|row| {
        let figures = ["core_seconds", "charged", "shadow_charged"].map(|name| figure(&row[name]));
        (row["keys"]["pi"].as_str().unwrap().to_owned(), figures)
    });
    let known = added(rows);
    let lines = uses(&export(bank, &["jsonl"]));
    let rows = lines.iter().map(|line| {
        let figures = ["processor_s", "charge", "shadow_charge"].map(|name| figure(&line[name]));
        (line["pi"].as_str().unwrap_or_default().to_owned(), figures)
    });
    assert_eq!(added(rows), known, "{lines:#?}");
    known
}

/// A job of two processors and so many minutes, as its collector reports it now: charged one by one in every mode.
fn report(bank: &Bank, project: &str, minutes: u32) {
    bank.set_clock(T0 + 86_400);
    let line = serde_json::json!({
        "source": "slurm-colony", "id": "1", "machine": "colony", "project": project, "user": "amy",
        "start": "2025-12-01T01:00:00Z", "end": format!("2025-12-01T01:{minutes:02}:00Z"),
        "processors": 2, "state": "completed",
    });
    let (file, name) = path(bank, "in.jsonl");
    fs::write(file, format!("{line}\n")).unwrap();
    bank.bank_ok(&["import", "jsonl", &name, "--strict"]);
}

/// Maps the uses of amy to an investigator; gives the number of the mapping.
fn mapped(bank: &Bank, pi: &str) -> String {
    let text = bank.bank_ok(&["mapping", "add", "user=amy", "--pi", pi]);
    text.split(' ').nth(1).unwrap().to_owned()
}

#[test]
fn an_amended_record_moves_its_use_to_its_investigator() {
    for (mode, money) in [("strict", 1), ("notional", 2), ("track", 2)] {
        let mut bank = bank();
        bank.bank_ok(&["machine", "set", "colony", "--source", "slurm-colony"]);
        bank.bank_ok(&["machine", "set", "colony", "--mode", mode]);
        bank.bank_ok(&["deposit", "physics", "100000"]);
        // Everything is the use of one: so many minutes, with a price of 1 for each processor-second.
        let all = |pi: &str, minutes: i128| {
            let seconds = 2 * 60 * 1_000 * minutes;
            let mut figures = [seconds, 0, 0];
            figures[money] = seconds;
            Investigators::from([(pi.to_owned(), figures)])
        };
        report(&bank, "chemistry", 30);
        assert_eq!(agreed(&bank), all("", 30), "{mode}");
        // Shorter, longer, and as long, each with another investigator.
        let dan = mapped(&bank, "dan");
        report(&bank, "chemistry", 10);
        assert_eq!(agreed(&bank), all("dan", 10), "{mode}");
        bank.bank_ok(&["mapping", "rm", &dan, "--yes"]);
        report(&bank, "chemistry", 50);
        assert_eq!(agreed(&bank), all("", 50), "{mode}");
        let eve = mapped(&bank, "eve");
        report(&bank, "chemistry", 40);
        report(&bank, "chemistry", 45);
        assert_eq!(agreed(&bank), all("eve", 45), "{mode}");
        // With another project at once.
        bank.bank_ok(&["mapping", "rm", &eve, "--yes"]);
        report(&bank, "physics", 20);
        assert_eq!(agreed(&bank), all("", 20), "{mode}");
        agree(&bank);
        bank.verify();
    }
}

/// What was refunded before stays refunded, and an undo takes back what the last record added.
#[test]
fn refunds_and_undone_records_agree_by_investigator() {
    let mut bank = bank();
    bank.bank_ok(&["machine", "set", "colony", "--source", "slurm-colony"]);
    report(&bank, "chemistry", 30);
    bank.bank_ok(&["refund", "1", "500"]);
    agreed(&bank);
    mapped(&bank, "dan");
    report(&bank, "chemistry", 50);
    let sums = agreed(&bank);
    assert_eq!(sums["dan"][0], 2 * 50 * 60 * 1_000);
    assert_eq!(sums.len(), 1, "{sums:?}");
    bank.bank_ok(&["undo", &last(&bank, "adjust")]);
    agreed(&bank);
    agree(&bank);
    bank.verify();
}
