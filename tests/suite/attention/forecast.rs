//! `bank report forecast`, `expiring` and `negative`, and what `bank balance` says of it.

use super::*;

/// Ten days with 1,000 a day.
fn spent() -> Bank {
    let bank = Setup::new().chemistry(50_000).start();
    for day in 1..=10 {
        bank.set_clock(T0 + day * DAY);
        charge(&bank, &format!("job{day}"), 1000);
    }
    bank
}

#[test]
fn how_long_money_lasts() {
    let mut bank = spent();
    let list = bank.json(&["report", "forecast", "-A", "chemistry"]);
    let items = list["items"].as_array().unwrap();
    assert_eq!(items.len(), 1, "{list}");
    let row = &items[0];
    assert_eq!(row["account"], "chemistry");
    assert_eq!(row["available"], "40000");
    assert_eq!(row["burn_per_day"], "1000");
    assert_eq!(row["days_left"], 40);
    assert_eq!(row["empty_at"], "2026-02-20T00:00:00Z");
    assert_eq!(row["spent"], true);
    assert!(row["unused"].is_null(), "{row}");
    let table = bank.bank_ok(&["report", "forecast"]);
    assert!(table.contains("chemistry"), "{table}");
    let csv = bank.bank_ok(&["report", "forecast", "--csv", "-A", "chemistry"]);
    assert_eq!(csv.lines().count(), 2, "{csv}");
    let unknown = bank.bank(&["report", "forecast", "-A", "nochem"]);
    assert_eq!(unknown.exit, 4);
    bank.verify();
}

/// A refund lowers the speed of the time of its charge, and so does its undo.
#[test]
fn a_refund_of_an_old_job_is_no_speed_of_today() {
    let mut bank = spent();
    let speed = |bank: &Bank| {
        let list = bank.json(&["report", "forecast", "-A", "chemistry"]);
        list["items"][0]["burn_per_day"].to_string()
    };
    bank.set_clock(T0 + 35 * DAY);
    assert_eq!(speed(&bank), "\"200\"");
    for refund in ["job1", "job2"] {
        bank.bank_ok(&["refund", refund]);
    }
    assert_eq!(speed(&bank), "\"200\"");
    bank.bank_ok(&["refund", "job10", "600"]);
    assert_eq!(speed(&bank), "\"180\"");
    let refunds = bank.journal("refund");
    bank.bank_ok(&[
        "undo",
        &refunds[2]["transaction"].to_string(),
        "--note",
        "x",
    ]);
    assert_eq!(speed(&bank), "\"200\"");
    bank.verify();
}

#[test]
fn what_ends_before_it_can_be_spent() {
    let mut bank = spent();
    // 20 days from here: 20,000 of these can be spent till then, and 4,000 not.
    bank.bank_ok(&["deposit", "chemistry", "24000", "--end", "2026-01-31"]);
    let list = bank.json(&["report", "expiring"]);
    let items = list["items"].as_array().unwrap();
    assert_eq!(items.len(), 1, "{list}");
    assert_eq!(items[0]["amount"], "24000");
    assert_eq!(items[0]["unused"], "4000");
    assert_eq!(items[0]["days_left"], 20);
    assert_eq!(items[0]["until"], "2026-01-31T00:00:00Z");
    let soon = bank.json(&["report", "expiring", "--within", "19"]);
    assert_eq!(soon["items"].as_array().unwrap().len(), 0);
    let row = &bank.json(&["report", "forecast", "-A", "chemistry"])["items"][0];
    assert_eq!(row["unused"], "4000");
    // 20 days for these, then 40 for the others.
    assert_eq!(row["days_left"], 60);
    let balance = bank.bank_ok(&["balance", "chemistry"]);
    assert!(balance.contains("ends in 20 days; 4,000"), "{balance}");
    assert!(balance.contains("end unused on 2026-01-31"), "{balance}");
    bank.verify();
}

#[test]
fn who_is_below_zero() {
    let mut bank = spent();
    assert_eq!(
        bank.json(&["report", "negative"])["items"]
            .as_array()
            .unwrap()
            .len(),
        0
    );
    charge(&bank, "much", 40_500);
    let list = bank.json(&["report", "negative"]);
    let items = list["items"].as_array().unwrap();
    assert_eq!(items.len(), 1, "{list}");
    assert_eq!(items[0]["account"], "chemistry");
    assert_eq!(items[0]["amount"], "-500");
    assert_eq!(items[0]["available"], "-500");
    bank.verify();
}

/// A debt on one allocation does not spend another, in the ledger and in what is foreseen of it.
#[test]
fn a_debt_takes_nothing_from_what_ends() {
    let mut bank = Setup::new().chemistry(100).start();
    charge(&bank, "much", 400);
    bank.bank_ok(&["deposit", "chemistry", "200", "--end", "2026-01-31"]);
    let items = bank.json(&["report", "expiring"])["items"].clone();
    assert_eq!(items[0]["amount"], "200", "{items}");
    assert_eq!(items[0]["unused"], "200", "{items}");
    let row = bank.json(&["report", "forecast", "-A", "chemistry"])["items"][0].clone();
    assert_eq!(row["unused"], "200", "{row}");
    bank.set_clock(T0 + 40 * DAY);
    bank.bank_ok(&["status"]);
    let journal = bank.bank_ok(&["journal", "--kind", "expire", "-P", "-n"]);
    let expired = "2026-01-31T00:00:00Z|expire|chemistry||||0|0|200|";
    assert!(journal.contains(expired), "{journal}");
    bank.verify();
}
