//! `bank cycle`: money that comes again, by the real daemon and its clock.

use crate::harness::{Bank, T0, until};

/// Days of January 2026, and of February.
const JANUARY: i64 = 31 * 86_400;
const FEBRUARY: i64 = 28 * 86_400;

fn wait_for(bank: &Bank, kind: &str, count: usize) {
    until("the cycle has run", || {
        let rows = bank.journal(kind);
        let runs = rows.iter().filter(|row| row["kind"] == kind);
        (runs.count() >= count).then_some(())
    });
}

#[test]
fn a_cycle_is_added_runs_and_goes() {
    let mut bank = Bank::new();
    let add = [
        "cycle",
        "add",
        "monthly",
        "-a",
        "astro",
        "--every",
        "month",
        "--amount",
        "1000",
        "--rollover",
        "20%",
    ];
    let would = bank.bank_ok(&[&add[..], &["--dry-run"]].concat());
    assert!(would.starts_with("dry run, nothing written: cycle \"monthly\" added: 1,000 credits"));
    let output = bank.bank_ok(&add);
    assert!(output.contains("first 2026-02-01"), "{output}");
    assert_eq!(bank.bank(&add).exit, 7);
    let status = bank.bank_ok(&["status"]);
    assert!(status.contains("next cycle monthly in 31 days"), "{status}");

    let rows = bank.items(&["cycle", "ls"]);
    assert_eq!(rows[0]["next"], "2026-02-01T00:00:00Z", "{rows:?}");
    let preview = bank.bank_ok(&["cycle", "run", "monthly", "--dry-run"]);
    assert!(preview.contains("astro gets 1,000 credits"), "{preview}");
    let refused = bank.bank(&["cycle", "run", "monthly"]);
    assert_eq!(refused.exit, 1, "{}", refused.stdout);
    refused.expect_stderr(&["cycle not due", "2026-02-01T00:00:00Z", "--dry-run"]);

    bank.set_clock(T0 + JANUARY);
    wait_for(&bank, "deposit", 7);
    assert_eq!(bank.figures("astro").0, 51_000);
    bank.bank_ok(&[
        "cycle", "set", "monthly", "--amount", "500", "--note", "less",
    ]);
    bank.set_clock(T0 + JANUARY + FEBRUARY);
    wait_for(&bank, "cycle_reset", 2);
    // 20 per cent of 1,000 went over, 800 expired.
    assert_eq!(bank.figures("astro").0, 50_700);
    let shown = bank.json(&["cycle", "show", "monthly"]);
    assert_eq!(shown["next"], "2026-04-01T00:00:00Z", "{shown}");
    let in_use = bank.bank(&["account", "rm", "astro", "--yes"]);
    assert_eq!(in_use.exit, 1);
    bank.bank_ok(&["cycle", "rm", "monthly", "--yes"]);
    assert_eq!(bank.bank(&["cycle", "show", "monthly"]).exit, 4);
    bank.verify();
}
