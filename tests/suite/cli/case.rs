//! The halves of ledger.md's cases that an operator types.

use crate::harness::{Bank, Ran, Setup};

/// An account that holds so much, and what was written before.
fn holding(amount: i64) -> (Bank, i64) {
    let bank = Setup::new().chemistry(amount).start();
    let before = bank.transactions();
    (bank, before)
}

fn typed(bank: &Bank, line: &str) -> Ran {
    bank.bank(&line.split_whitespace().collect::<Vec<_>>())
}

/// The command is refused: exit code, words, and no entry.
#[track_caller]
fn refused((mut bank, before): (Bank, i64), line: &str, exit: i32, parts: &[&str]) {
    let ran = typed(&bank, line);
    assert_eq!(ran.exit, exit, "{line}: {}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.starts_with("bank: "), "{}", ran.stderr);
    ran.expect_stderr(parts);
    assert_eq!(ran.stdout, "", "{line}");
    assert_eq!(bank.transactions(), before, "nothing is written");
    bank.verify();
}

#[test]
fn ledger_case_014_a_window_in_the_past_through_bank() {
    let line = "deposit chemistry 5 --start 2020-01-01 --end 2021-01-01";
    refused(holding(1), line, 1, &["window in past", "--allow-past"]);
    let (mut bank, _) = holding(1);
    let ran = typed(&bank, &format!("{line} --allow-past"));
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("no longer active"), "{}", ran.stdout);
    assert_eq!(bank.figures("chemistry").0, 1, "it cannot be spent");
    bank.verify();
}

#[test]
fn ledger_case_024_what_is_held_cannot_be_withdrawn_through_bank() {
    let (bank, _) = holding(1000);
    let body = "<Job><ObjectID>j</ObjectID><User>amy</User><Account>chemistry</Account>\
                <Processors>1</Processors><WallDuration>900</WallDuration>\
                <ChargeDuration>900</ChargeDuration></Job>";
    bank.script("reserve", body.as_bytes()).expect(0, "");
    let before = bank.transactions();
    let parts = &["insufficient funds", "100 "];
    refused((bank, before), "withdraw chemistry 200", 3, parts);
}

#[test]
fn ledger_case_039_a_quote_and_its_cost_alone_through_bank() {
    let job = "quote -A chemistry -u amy -m colony --procs 1 --wall 7200";
    let (mut bank, before) = holding(100);
    let ran = typed(&bank, job);
    assert_eq!(ran.exit, 3, "{}", ran.stderr);
    ran.expect_stderr(&["insufficient funds", "chemistry has 100", "short by 7,100"]);
    let cost = typed(&bank, &format!("{job} --cost-only --json"));
    assert_eq!(cost.exit, 0, "{}", cost.stderr);
    let cost: serde_json::Value = serde_json::from_str(&cost.stdout).unwrap();
    assert_eq!(cost["cost"], "7200");
    assert_eq!(bank.transactions(), before);
    bank.verify();
}

/// The rule of case 40 for what an operator can ask for without holding anything.
#[test]
fn ledger_case_040_a_user_who_is_no_member_through_bank() {
    let line = "quote -A chemistry -u bob -m colony --procs 1 --wall 10";
    refused(holding(100), line, 1, &["refused", "not a member"]);
}
