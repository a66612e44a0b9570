//! `bank import jsonl` and `POST /api/v1/usage`: finished usage from a file, line by line.

use std::fs;

use crate::harness::{Bank, T0, amount, text};

/// A line of a job of amy that ended ten minutes after T0.
fn line(id: &str, more: &str) -> String {
    format!(
        r#"{{"source":"slurm:colony","id":"{id}","machine":"colony","project":"chemistry","user":"amy","processors":16,"start":"2026-01-01T00:00:00Z","end":"2026-01-01T00:10:00Z","requested_s":900,"cpu_s":"4800.5","nodes":2,"blocked_processors":40,"state":"COMPLETED","exit_code":0{more}}}"#
    )
}

fn import(bank: &Bank, lines: &[String], more: &[&str]) -> (u8, String, String) {
    bank.set_clock(T0 + 3600);
    let file = bank.folder().join("usage.jsonl");
    fs::write(&file, lines.join("\n")).unwrap();
    let file = file.to_str().unwrap().to_owned();
    let ran = bank.bank(&[&["import", "jsonl", &file][..], more].concat());
    let exit = u8::try_from(ran.exit).unwrap();
    (exit, ran.stdout.clone(), ran.stderr.replace(&file, "FILE"))
}

#[test]
fn a_file_of_usage_is_charged_once() {
    let mut bank = Bank::new();
    bank.bank_ok(&["machine", "set", "colony", "--charge-policy", "DebitAllCpu"]);
    let lines = [line("1", ""), line("2", ""), String::new()];
    let (exit, expected, _) = import(&bank, &lines, &["--dry-run"]);
    assert_eq!(exit, 0);
    assert_eq!(expected, "dry run, nothing written: 2 records: 2 charged\n");
    assert_eq!(bank.figures("chemistry").0, 100_000);
    let (exit, expected, warned) = import(&bank, &lines, &[]);
    assert_eq!(
        (exit, expected.as_str()),
        (0, "2 records: 2 charged\n"),
        "{warned}"
    );
    // 4800.5 each, half to even.
    assert_eq!(bank.figures("chemistry").0, 100_000 - 9600);
    let (_, expected, _) = import(&bank, &lines, &[]);
    assert_eq!(expected, "2 records: 2 duplicate\n");
    assert_eq!(bank.figures("chemistry").0, 100_000 - 9600);
    let job = bank.job("1");
    assert_eq!(text(&job, "state"), "closed");
    let explained = job["explanation"].to_string();
    assert!(
        explained.contains("policy DEBITALLCPU: cpu 4800.5, from slurm:colony"),
        "{explained}"
    );
    let made = job["charges"][0]["itemisation"].to_string();
    assert!(
        made.contains("4801/600 [Processors]") || made.contains("9601/1200 [Processors]"),
        "{made}"
    );
    let reason = text(&bank.journal("charge")[0], "reason").to_owned();
    assert!(
        reason.contains("policy=DEBITALLCPU counted=cpu:4800.5"),
        "{reason}"
    );
    let machine = bank.json(&["machine", "show", "colony"]);
    assert_eq!(text(&machine, "source"), "slurm:colony");
    assert_eq!(text(&machine, "charge_policy"), "DEBITALLCPU");
    bank.verify();
}

#[test]
fn a_bad_line_stops_no_other() {
    let mut bank = Bank::new();
    let lines = [
        line("1", ""),
        "{\"id\":".to_owned(),
        "[]".to_owned(),
        line("2", r#","colour":"red""#),
        line("3", "").replace("COMPLETED", "gone"),
        line("4", "").replace("\"processors\":16", "\"processors\":\"many\""),
        line("5", "").replace("2026-01-01T00:10:00Z", "yesterday"),
        line("6", "").replace("\"processors\":16", "\"processors\":-1"),
        format!("{{\"x\":\"{}\"}}", "y".repeat(70_000)),
        line("7", ""),
    ];
    let (exit, expected, warned) = import(&bank, &lines, &[]);
    assert_eq!(exit, 0, "{warned}");
    assert_eq!(expected, "10 records: 2 charged, 8 refused\n");
    for message in [
        "FILE:2: bad_line: no JSON",
        "FILE:3: bad_line: no JSON object",
        "FILE:4: bad_request: unknown field `colour`",
        "FILE:5: bad_value: state \"gone\": expected",
        "FILE:6: bad_value: processors",
        "FILE:7: bad_value: end \"yesterday\": expected",
        "FILE:8: negative_charge",
        "FILE:9: bad_line: longer than 65536 bytes",
    ] {
        assert!(warned.contains(message), "{message}: {warned}");
    }
    let number = |text: &str| text.split_once("FILE:")?.1.split(':').next()?.parse().ok();
    let numbers: Vec<u32> = warned.lines().filter_map(number).collect();
    assert!(numbers.is_sorted(), "{warned}");
    let status = bank.bank_ok(&["status"]);
    let silent = |line: &str| line.starts_with("not reported") && line.contains("colony");
    assert!(!status.lines().any(silent), "{status}");
    let (exit, expected, warned) = import(&bank, &lines, &["--strict"]);
    assert_eq!(
        (exit, expected.as_str()),
        (1, "10 records: 2 duplicate, 8 refused\n")
    );
    assert!(warned.contains("8 lines not imported"), "{warned}");
    let (_, expected, _) = import(&bank, &lines, &["--json"]);
    let summary: serde_json::Value = serde_json::from_str(&expected).unwrap();
    assert_eq!(summary["outcomes"]["duplicate"], 2);
    assert_eq!(summary["bad"][0]["line"], 2);
    let ran = bank.bank(&["import", "jsonl", "/nowhere/usage.jsonl"]);
    assert_eq!(ran.exit, 2, "{}", ran.stderr);
    ran.expect_stderr(&["cannot read /nowhere/usage.jsonl"]);
    bank.verify();
}

#[test]
fn many_lines_go_in_several_requests() {
    let mut bank = Bank::new();
    let lines: Vec<String> = (0..1203).map(|n| line(&format!("j{n}"), "")).collect();
    let lines: Vec<String> = lines
        .iter()
        .map(|l| l.replace("\"processors\":16", "\"processors\":1"))
        .collect();
    bank.bank_ok(&[
        "machine",
        "set",
        "colony",
        "--charge-policy",
        "DEBITALLNODE",
    ]);
    bank.bank_ok(&["deposit", "chemistry", "2000000"]);
    let (exit, expected, warned) = import(&bank, &lines, &[]);
    assert_eq!(
        (exit, expected.as_str()),
        (0, "1203 records: 1203 charged\n"),
        "{warned}"
    );
    assert_eq!(bank.figures("chemistry").0, 2_100_000 - 1203 * 2 * 600);
    bank.verify();
}

#[test]
fn usage_of_a_machine_that_its_scheduler_charges_is_kept_only() {
    let mut bank = Bank::new();
    bank.bank_ok(&["machine", "set", "colony", "--source", "nami"]);
    let (exit, expected, warned) = import(&bank, &[line("1", "")], &[]);
    assert_eq!((exit, expected.as_str()), (0, "1 record: 1 kept\n"));
    assert!(
        warned.contains("kept for reconciliation: machine colony is charged from nami")
            && warned.contains("bank machine set colony --source slurm:colony"),
        "{warned}"
    );
    assert_eq!(bank.figures("chemistry"), (100_000, 0, 100_000));
    bank.bank_ok(&["machine", "set", "colony", "--source", "slurm:colony"]);
    let (_, expected, _) = import(&bank, &[line("1", "")], &[]);
    assert_eq!(expected, "1 record: 1 charged\n");
    assert_eq!(bank.figures("chemistry").0, 100_000 - 9600);
    bank.verify();
}

#[test]
fn an_amended_line_charges_the_difference() {
    let mut bank = Bank::new();
    import(&bank, &[line("1", "")], &[]);
    let longer = line("1", "").replace("00:10:00Z", "00:20:00Z");
    let (_, expected, _) = import(&bank, &[longer], &[]);
    assert_eq!(expected, "1 record: 1 adjusted\n");
    assert_eq!(bank.figures("chemistry").0, 100_000 - 19_200);
    // The record that it replaced changes nothing.
    let (_, expected, _) = import(&bank, &[line("1", "")], &[]);
    assert_eq!(expected, "1 record: 1 duplicate\n");
    let shorter = line("1", "").replace("00:10:00Z", "00:05:00Z");
    let (_, expected, _) = import(&bank, &[shorter], &[]);
    assert_eq!(expected, "1 record: 1 adjusted\n");
    assert_eq!(bank.figures("chemistry").0, 100_000 - 4800);
    assert_eq!(amount(&bank.job("1"), "charged"), 4800);
    bank.verify();
}

#[test]
fn reservations_without_a_project_are_paid_by_the_reservation_account() {
    let mut bank = Bank::new();
    bank.bank_ok(&[
        "machine",
        "set",
        "colony",
        "--reservation-account",
        "chemistry",
    ]);
    let idle = line("maint.7", r#","type":"reservation""#);
    let idle = idle.replace(r#""project":"chemistry","user":"amy","#, "");
    let (exit, expected, warned) = import(&bank, &[idle], &[]);
    assert_eq!(
        (exit, expected.as_str()),
        (0, "1 record: 1 charged\n"),
        "{warned}"
    );
    assert_eq!(bank.figures("chemistry").0, 100_000 - 9600);
    bank.verify();
}

#[test]
fn usage_without_a_paying_project_is_reported_and_not_lost() {
    let mut bank = Bank::new();
    let stranger = line("1", "").replace("chemistry", "nosuch");
    let (exit, expected, warned) = import(&bank, &[stranger], &[]);
    assert_eq!((exit, expected.as_str()), (0, "1 record: 1 unbilled\n"));
    assert!(
        warned.contains("\"nosuch\" could not be billed"),
        "{warned}"
    );
    assert_eq!(
        bank.entries("charge_debt"),
        [("#unbilled".to_owned(), -9600)]
    );
    bank.verify();
}

#[test]
fn a_charge_policy_is_one_of_eleven() {
    let mut bank = Bank::new();
    let ran = bank.bank(&["machine", "set", "colony", "--charge-policy", "DEBITSOME"]);
    assert_eq!(ran.exit, 2, "{}", ran.stderr);
    ran.expect_stderr(&["--charge-policy", "DEBITREQUESTEDWC"]);
    bank.bank_ok(&[
        "machine",
        "set",
        "colony",
        "--charge-policy",
        "DEBITREQUESTEDWC",
    ]);
    import(&bank, &[line("1", "")], &[]);
    assert_eq!(bank.figures("chemistry").0, 100_000 - 14_400);
    let shown = bank.json(&["machine", "show", "colony"]);
    assert_eq!(text(&shown, "charge_policy"), "DEBITREQUESTEDWC");
    bank.verify();
}

/// A machine of which usage is only counted charges nobody: the summary does not report a charge.
#[test]
fn usage_that_moves_no_money_is_notional() {
    for mode in ["track", "notional"] {
        let mut bank = Bank::new();
        bank.bank_ok(&["machine", "set", "colony", "--mode", mode]);
        let import = |lines: &[String]| import(&bank, lines, &[]).1;
        let (first, second) = (line("1", ""), line("2", ""));
        assert_eq!(
            import(std::slice::from_ref(&first)),
            "1 record: 1 notional\n",
            "{mode}"
        );
        assert_eq!(
            import(&[first, second]),
            "2 records: 1 duplicate, 1 notional\n",
            "{mode}"
        );
        assert_eq!(bank.figures("chemistry").0, 100_000, "{mode}");
        bank.verify();
    }
}
