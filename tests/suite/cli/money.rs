//! Balances for programs, removals, repeats, keys and the journal of a job.

use crate::harness::{Bank, Documents, Ran, amount};

#[test]
fn programs_get_bare_figures() {
    let mut bank = Bank::new();
    let columns = ["--columns", "account,amount,held,available"];
    for (form, expected) in [
        (
            "-p",
            "account|amount|held|available|\nchemistry|100000|0|100000|\n",
        ),
        (
            "-P",
            "account|amount|held|available\nchemistry|100000|0|100000\n",
        ),
        (
            "--csv",
            "account,amount,held,available\nchemistry,100000,0,100000\n",
        ),
    ] {
        let output = bank.bank_ok(&[&["balance", "-a", "chemistry", form][..], &columns].concat());
        assert_eq!(output, expected, "{form}");
        let bare =
            bank.bank_ok(&[&["balance", "-a", "chemistry", form, "-n"], &columns[..]].concat());
        assert_eq!(
            Some(bare.as_str()),
            expected.split_once('\n').map(|(_, rest)| rest)
        );
    }
    let row = bank.account("chemistry");
    assert_eq!(
        row["amount"].as_str(),
        Some("100000"),
        "amounts are strings: {row}"
    );
    bank.verify();
}

fn refused_with(ran: &Ran, exit: i32, parts: &[&str]) {
    assert_eq!(ran.exit, exit, "{}{}", ran.stdout, ran.stderr);
    ran.expect_stderr(parts);
    assert!(ran.stderr.starts_with("bank: "), "{}", ran.stderr);
}

#[test]
fn a_removal_is_not_by_accident() {
    let mut bank = Bank::new();
    bank.bank_ok(&["user", "add", "dan"]);
    refused_with(&bank.bank(&["user", "rm", "dan"]), 2, &["--yes"]);
    bank.bank_ok(&["user", "rm", "dan", "--yes"]);
    refused_with(&bank.bank(&["user", "show", "dan"]), 4, &["dan"]);
    bank.verify();
}

#[test]
fn a_dry_run_writes_nothing_and_a_key_counts_once() {
    let mut bank = Bank::new();
    let output = bank.bank_ok(&["deposit", "chemistry", "5", "--dry-run"]);
    assert!(output.starts_with("dry run, nothing written"), "{output}");
    assert_eq!(bank.figures("chemistry").0, 100_000);
    for _ in 0..2 {
        bank.bank_ok(&["deposit", "chemistry", "5", "--key", "once"]);
    }
    assert_eq!(bank.figures("chemistry").0, 100_005);
    refused_with(
        &bank.bank(&["deposit", "chemistry", "6", "--key", "once"]),
        7,
        &["conflict"],
    );
    bank.verify();
}

fn allow(file: &std::path::Path, mode: u32) {
    let mode = <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(mode);
    std::fs::set_permissions(file, mode).unwrap();
}

#[test]
fn a_new_key_is_shown_once_and_works_over_tcp() {
    let mut bank = Bank::new();
    let file = bank.folder().join("boss.key");
    let path = file.to_str().unwrap();
    bank.bank_ok(&["key", "add", "boss", "--role", "admin", "--out", path]);
    let address = format!("http://{}", bank.tcp());
    let signed = ["--server", &address, "--key-id", "boss", "--key-file", path];
    bank.bank_ok(&[&signed[..], &["deposit", "chemistry", "7"]].concat());
    assert_eq!(amount(&bank.account("chemistry"), "amount"), 100_007);
    for mode in [0o640, 0o604] {
        allow(&file, mode);
        let ran = bank.bank(&[&signed[..], &["balance"]].concat());
        refused_with(&ran, 6, &["others may read it", "0600"]);
    }
    allow(&file, 0o600);
    std::fs::write(&file, "another secret").unwrap();
    let ran = bank.bank(&[&signed[..], &["balance"]].concat());
    refused_with(&ran, 6, &[]);
    bank.stop();
    refused_with(&bank.bank(&["balance"]), 5, &["hint:"]);
    bank.start();
    bank.verify();
}

#[test]
fn the_journal_and_a_job_explain_themselves() {
    let mut bank = Bank::new();
    let documents = Documents::own();
    for (event, number) in [("reserve", 3), ("charge", 4), ("charge", 5), ("delete", 6)] {
        bank.script(event, &documents.get(number)).expect(0, "");
    }
    let journal = bank.bank_ok(&[
        "journal",
        "-a",
        "chemistry",
        "-P",
        "--columns",
        "kind,amount,held",
    ]);
    assert_eq!(
        journal,
        "kind|amount|held\ndeposit|100000|0\nlien|0|57600\ncharge|-28800|-28800\n\
         charge|-6944|-6944\nlien_release|0|-21856\n"
    );
    let job = bank.bank_ok(&["jobs", "Moab.1024"]);
    for part in ["35,744", "28,800", "6,944", "16 procs"] {
        assert!(job.contains(part), "no {part} in\n{job}");
    }
    bank.verify();
}
