//! An export of a period has the uses that ended in it, as `bank usage --credit end` counts them, also if amended records moved
//! their ends.

use std::fs;

use serde_json::Value;

use super::sums::{agree_exactly, thousandths};
use super::{bank, export, path, uses};
use crate::harness::{Bank, T0};

const MONTHS: [[&str; 2]; 2] = [
    ["2025-10-01T00:00:00Z", "2025-11-01T00:00:00Z"],
    ["2025-11-01T00:00:00Z", "2025-12-01T00:00:00Z"],
];

/// Compares the exports of two months with `bank usage`; gives processor-seconds, charges and shadow charges of each.
#[track_caller]
fn agree_by_month(bank: &Bank) -> [[i128; 3]; 2] {
    MONTHS.map(|[from, to]| {
        let period = ["--from", from, "--to", to];
        let total =
            bank.json(&[&["usage", "--credit", "end"], &period[..]].concat())["total"].clone();
        let known =
            ["core_seconds", "charged", "shadow_charged"].map(|name| thousandths(&total[name]));
        let lines = uses(&export(bank, &[&["jsonl"], &period[..]].concat()));
        let figure = |line: &Value, name: &str| line.get(name).map_or(0, thousandths);
        let sums = ["processor_s", "charge", "shadow_charge"]
            .map(|name| lines.iter().map(|line| figure(line, name)).sum::<i128>());
        assert_eq!(sums, known, "{from}: {lines:#?}");
        known
    })
}

/// Reports jobs that began at noon of the last of October, as their collector has them now.
fn report(bank: &Bank, jobs: &[(u32, &str, &str, u32)]) {
    let lines = jobs.iter().map(|(id, project, end, processors)| {
        let line = serde_json::json!({
            "source": "slurm:x", "id": id.to_string(), "machine": "colony", "project": project,
            "user": "amy", "start": "2025-10-31T12:00:00Z", "end": format!("2025-{end}:00:00Z"),
            "processors": processors, "state": "completed",
        });
        format!("{line}\n")
    });
    let (file, name) = path(bank, "in.jsonl");
    fs::write(file, lines.collect::<String>()).unwrap();
    bank.bank_ok(&["import", "jsonl", &name, "--strict"]);
}

#[test]
fn an_amended_use_is_in_the_period_of_its_present_end() {
    for (mode, money) in [("strict", 1), ("notional", 2), ("track", 2)] {
        let mut bank = bank();
        bank.bank_ok(&["machine", "set", "colony", "--mode", mode]);
        bank.bank_ok(&["deposit", "physics", "1000000"]);
        bank.bank_ok(&["deposit", "chemistry", "1000000"]);
        bank.set_clock(T0 + 86_400);
        // A price of 1 for each processor-second.
        let figures = |seconds: i128| {
            let mut figures = [1_000 * seconds, 0, 0];
            figures[money] = 1_000 * seconds;
            figures
        };
        let first: Vec<_> = (1..=4).map(|id| (id, "chemistry", "11-01T12", 2)).collect();
        report(&bank, &first);
        let november = figures(4 * 172_800);
        assert_eq!(agree_by_month(&bank), [figures(0), november], "{mode}");
        // To another project and the first instant of November; into October; longer and smaller.
        report(
            &bank,
            &[
                (1, "physics", "11-01T00", 2),
                (2, "chemistry", "10-31T18", 2),
                (3, "chemistry", "11-02T12", 1),
            ],
        );
        let months = [figures(43_200), figures(86_400 + 172_800 + 172_800)];
        assert_eq!(agree_by_month(&bank), months, "{mode}");
        // The other way round.
        report(
            &bank,
            &[
                (2, "chemistry", "11-01T06", 2),
                (3, "chemistry", "10-31T20", 1),
            ],
        );
        let months = [figures(28_800), figures(86_400 + 129_600 + 172_800)];
        assert_eq!(agree_by_month(&bank), months, "{mode}");
        if mode == "strict" {
            bank.bank_ok(&["refund", "3"]);
            bank.bank_ok(&["refund", "4", "1000"]);
            agree_by_month(&bank);
        }
        agree_exactly(&bank);
        bank.verify();
    }
}
