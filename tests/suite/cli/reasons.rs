//! Reasons of the journal, in words and as facts.

use super::statement::done;
use crate::harness::Bank;
use serde_json::Value;

/// The reasons of one kind of transaction as the screen has them, newest last.
fn shown(bank: &Bank, kind: &str) -> Vec<String> {
    let words = format!("journal --kind {kind} -n --columns reason");
    let screen = done(bank, &words);
    screen
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect()
}

/// Only a rate that the duration multiplies has a unit of time.
#[test]
fn a_rate_without_a_unit_of_time_has_none_in_the_journal() {
    let bank = Bank::site();
    for words in [
        "attr add Zone --type text",
        "rate set NBF Zone Asia 200",
        "rate set VBU Power 0.5",
        "rate set MIN 5",
        "rate set VBR Memory 2 --per hour",
    ] {
        done(&bank, words);
    }
    let reasons = shown(&bank, "rate_set");
    let new = reasons.len().saturating_sub(4);
    assert_eq!(
        reasons[new..],
        [
            "NBF Zone[Asia]=200",
            "VBU Power=0.5",
            "MIN Charge=5",
            "VBR Memory=2 per hour"
        ]
    );
}

/// Amounts have the decimals of the bank, as those of a recurring deposit.
#[test]
fn the_reason_of_a_limit_has_decimals() {
    let bank = Bank::site();
    done(
        &bank,
        "limit set --role operator --per-operation 400 --per-day 1000.5",
    );
    assert_eq!(
        shown(&bank, "limit_set"),
        ["role operator, per operation: 400.000, per day: 1000.500"]
    );
    let journal: Value =
        serde_json::from_str(&done(&bank, "journal --kind limit_set --json")).unwrap();
    let item = &journal["items"][0];
    assert_eq!(
        item["reason"], "role=operator per_operation=400.000 per_day=1000.500",
        "{journal}"
    );
}
