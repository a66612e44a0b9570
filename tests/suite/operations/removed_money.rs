//! Two-person approval of money that leaves an account or comes back, by whatever command.

use crate::harness::{Bank, Setup};

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

/// The number of the only allocation of chemistry.
fn allocation(bank: &Bank) -> String {
    let listed = bank.items(&words("allocation ls -a chemistry"));
    listed[0]["id"].to_string()
}

#[track_caller]
fn refused(bank: &Bank, line: &str, what: &str) {
    let ran = bank.bank(&words(line));
    assert_eq!(ran.exit, 1, "{line}: {}{}", ran.stdout, ran.stderr);
    ran.expect_stderr(&["approval needed", what, "--propose"]);
}

#[test]
fn money_that_ends_earlier_needs_a_second_person() {
    let mut bank = Setup::new()
        .env("BANKD_APPROVAL_WITHDRAW", "1000")
        .env("BANKD_APPROVAL_ADJUST", "1000")
        .chemistry(16_500)
        .start();
    let run = |line: &str| bank.bank(&words(line));
    let id = allocation(&bank);
    let before = run("balance chemistry --csv").stdout;
    let refused = |line: &str, what: &str| refused(&bank, line, what);
    refused("withdraw chemistry 16500", "a withdrawal of 16,500");
    refused(
        "adjust chemistry -16500 --note x",
        "an adjustment of 16,500",
    );
    for change in [
        format!("allocation rm {id} --force --yes"),
        format!("allocation set {id} --end -1d --allow-past"),
        // A moment later is as good as now.
        format!("allocation set {id} --end +1s"),
        format!("allocation set {id} --start +1d"),
    ] {
        refused(&change, "a withdrawal of 16,500");
    }
    assert_eq!(run("balance chemistry --csv").stdout, before);
    // Nothing leaves the account earlier.
    let ran = run(&format!("allocation set {id} --limit 10"));
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let ran = run(&format!(
        "allocation set {id} --end -1d --allow-past --propose"
    ));
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let proposed = run("proposal ls --csv").stdout;
    assert!(proposed.contains("16500"), "{proposed}");
    bank.verify();
}

#[test]
fn money_that_comes_back_needs_a_second_person() {
    let mut bank = Setup::new().chemistry(16_500).start();
    let id = allocation(&bank);
    let run = |bank: &Bank, line: &str| bank.bank_ok(&words(line));
    let last = |bank: &Bank, kind: &str| {
        let numbers = bank.journal(kind).into_iter();
        let numbers = numbers.filter_map(|entry| entry["transaction"].as_i64());
        numbers.max().unwrap().to_string()
    };
    run(&bank, "account add extra --projects chemistry");
    run(&bank, "deposit extra 7000");
    run(&bank, "account rm extra --force --yes");
    let removal = last(&bank, "delete");
    run(
        &bank,
        &format!("allocation set {id} --end 2025-12-31 --allow-past"),
    );
    let cut = last(&bank, "modify");
    bank.stop();
    let above = [
        ("BANKD_APPROVAL_DEPOSIT", "1000"),
        ("BANKD_APPROVAL_REFUND", "1000"),
    ];
    assert!(bank.start_with(&above));
    let before = run(&bank, "balance --csv");
    for (line, what) in [
        (format!("undo {removal}"), "a refund of 7,000"),
        ("account undelete extra".to_owned(), "a refund of 7,000"),
        (format!("undo {cut}"), "a refund of 16,500"),
        (
            format!("allocation set {id} --end 2026-02-01"),
            "a deposit of 16,500",
        ),
        (
            format!("allocation set {id} --start 2026-01-02 --end infinity"),
            "a deposit of 16,500",
        ),
    ] {
        refused(&bank, &line, what);
    }
    assert_eq!(run(&bank, "balance --csv"), before);
    run(&bank, &format!("undo {removal} --propose"));
    run(
        &bank,
        &format!("allocation set {id} --end 2026-02-01 --propose"),
    );
    let proposed = run(&bank, "proposal ls --csv");
    assert!(
        proposed.contains("7000") && proposed.contains("16500"),
        "{proposed}"
    );
    bank.verify();
}
