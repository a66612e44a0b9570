//! Usage of a machine that comes after the machine was removed: it has the rates, the mode, the source and the lists of the
//! machine.

use std::fs;

use crate::export::sums;
use crate::harness::{Bank, Request, Setup, T0};

/// Machines with settings of their own, all of them removed.
fn removed() -> Bank {
    let bank = Setup::new().chemistry(1_000_000).start();
    for settings in [
        &["red"][..],
        &["blue", "--mode", "track"],
        &["green", "--source", "farm"],
        &["listed"],
    ] {
        bank.bank_ok(&[&["machine", "add"], settings].concat());
        bank.bank_ok(&["rate", "set", "VBR", "Processors", "3", "-m", settings[0]]);
    }
    bank.bank_ok(&[
        "account",
        "add",
        "own",
        "--projects",
        "chemistry",
        "--machines",
        "listed",
        "--priority",
        "-1",
    ]);
    bank.bank_ok(&["deposit", "own", "1000"]);
    for machine in ["red", "blue", "green", "listed"] {
        bank.bank_ok(&["machine", "rm", machine, "--yes"]);
    }
    bank
}

#[test]
fn late_usage_of_a_removed_machine_has_its_settings() {
    let mut bank = removed();
    bank.set_clock(T0 + 1000);
    let record = |source: &str, job: &str, machine: &str| {
        format!(
            "{{\"source\":\"{source}\",\"id\":\"{job}\",\"machine\":\"{machine}\",\"project\":\"chemistry\",\"user\":\"amy\",\
             \"start\":\"2026-01-01T00:00:00Z\",\"end\":\"2026-01-01T00:00:10Z\",\"processors\":1}}\n"
        )
    };
    let file = bank.folder().join("late.jsonl");
    let lines = [
        record("farm", "1", "red"),
        record("farm", "2", "blue"),
        record("farm", "3", "green"),
        record("other", "4", "green"),
        record("farm", "5", "listed"),
    ];
    fs::write(&file, lines.concat()).unwrap();
    let done = bank.bank_ok(&["import", "jsonl", file.to_str().unwrap()]);
    assert_eq!(done, "5 records: 3 charged, 1 kept, 1 notional\n");
    let document = b"<Job><ObjectID>6</ObjectID><User>amy</User><Account>chemistry</Account><Processors>1</Processors>\
        <WallDuration>10</WallDuration><ChargeDuration>10</ChargeDuration></Job>";
    let mut request = Request::nami("end", "late", document);
    request.target.push_str("?machine=red");
    let answer = bank.over_socket(&request);
    assert_eq!(answer.status, 200, "{}", answer.text());
    // One that runs now cannot start.
    let document = std::str::from_utf8(document).unwrap().replace(">6<", ">7<");
    let mut request = Request::nami("reserve", "new", document.as_bytes());
    request.target.push_str("?machine=red");
    let answer = bank.over_socket(&request);
    assert!(
        answer.text().starts_with("refused machine_unknown"),
        "{}",
        answer.text()
    );
    assert_eq!(bank.figures("own").0, 1000 - 30);
    assert_eq!(bank.figures("chemistry").0, 1_000_000 - 90);
    sums::paid_everywhere(&bank, "own", 30);
    sums::agree(&bank);
    bank.verify();
}
