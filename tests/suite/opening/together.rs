//! The opening itself: all or nothing, once, and proved.

use serde_json::json;

use super::{allocation, done, expect, item, migrate, old_bank, post, refused, results};
use crate::harness::{Bank, T0};

#[test]
fn a_bank_opens_with_what_the_old_one_had() {
    let mut bank = Bank::new();
    let opened = done(&migrate(&bank, "m1", &old_bank()));
    assert_eq!(
        results(&opened),
        "exists exists added added added added added added added exists added \
         added added added added added added"
    );
    let proof = opened["proof"].as_array().unwrap();
    assert!(
        proof.iter().all(|row| row["equal"] == json!(true)),
        "{opened}"
    );
    let balance = bank.bank_ok(&[
        "balance",
        "-a",
        "phys",
        "-p",
        "--columns",
        "amount,held,available",
    ]);
    assert_eq!(balance, "amount|held|available|\n312998|288000|25998|\n");
    let allocations = ["allocation", "ls", "-a", "phys", "-p", "--columns"];
    let listed = bank.bank_ok(&[&allocations[..], &["amount,deposited,credit_limit"]].concat());
    assert_eq!(
        listed,
        "amount|deposited|credit_limit|\n242998|500000|0|\n70000|70000|1000|\n"
    );
    let journal = bank.json(&["journal", "--since", "2025-01-01"]).to_string();
    assert!(
        journal.contains("gold closes and this bank opens"),
        "{journal}"
    );
    // The statement of the month before has the opening, and adds up.
    let statement = bank.json(&["statement", "-a", "phys", "--month", "2025-12"]);
    assert!(statement.to_string().contains("500000"), "{statement}");
    // The job goes on: its charge settles the lien.
    bank.set_clock(T0 + 3600);
    bank.bank_ok(&[
        "charge",
        "r1",
        "-m",
        "big",
        "-A",
        "phys",
        "-u",
        "carol",
        "--procs",
        "8",
        "--duration",
        "3600",
    ]);
    assert_eq!(bank.figures("phys").1, 0);
    bank.verify();
}

#[test]
fn a_repeat_changes_nothing_and_adds_what_is_new() {
    let mut bank = Bank::new();
    done(&migrate(&bank, "m1", &old_bank()));
    let before = bank.transactions();
    let again = done(&migrate(&bank, "m2", &old_bank()));
    assert!(!results(&again).contains("added"), "{again}");
    assert_eq!(bank.transactions(), before);
    let mut more = old_bank();
    more["items"]
        .as_array_mut()
        .unwrap()
        .push(allocation("allocation 13", "phys", "1", &[]));
    more["expected"] = json!([expect("phys", "312999", "288000", "1000")]);
    let more = done(&migrate(&bank, "m3", &more));
    assert!(results(&more).ends_with("done added"), "{more}");
    assert_eq!(bank.transactions(), before + 1);
    bank.verify();
}

#[test]
fn other_contents_of_a_known_item_are_refused() {
    let mut bank = Bank::new();
    done(&migrate(&bank, "m1", &old_bank()));
    let mut other = old_bank();
    other["items"][11]["body"]["amount"] = json!("242997");
    let (code, detail) = refused(&migrate(&bank, "m2", &other));
    assert_eq!(code, "migration_changed");
    assert!(
        detail.starts_with("allocation 8: it was moved in before"),
        "{detail}"
    );
    bank.verify();
}

#[test]
fn unequal_balances_write_nothing() {
    let mut bank = Bank::new();
    let before = bank.transactions();
    let mut body = old_bank();
    body["expected"] = json!([
        expect("phys", "312997", "288000", "1000"),
        expect("none", "0", "0", "0")
    ]);
    let (code, detail) = refused(&migrate(&bank, "m1", &body));
    assert_eq!(code, "migration_unequal");
    assert_eq!(
        detail,
        "phys: expected amount 312997 held 288000 credit limit 1000, \
         found amount 312998 held 288000 credit limit 1000; \
         none: expected amount 0 held 0 credit limit 0, found no such account; nothing was written"
    );
    assert_eq!(bank.transactions(), before);
    assert_ne!(bank.bank(&["account", "show", "phys"]).exit, 0);
    // The same request can be corrected and sent again.
    done(&migrate(&bank, "m1", &old_bank()));
    bank.verify();
}

#[test]
fn a_refused_item_is_named_and_writes_nothing() {
    let mut bank = Bank::new();
    let before = bank.transactions();
    let cases = [
        (
            allocation("allocation 99", "nowhere", "1", &[]),
            "not_found",
        ),
        (
            allocation("allocation 99", "phys", "1.2345678", &[]),
            "too_many_decimals",
        ),
        (
            allocation("allocation 99", "phys", "1", &[("deposited", "-1")]),
            "bad_amount",
        ),
        (
            allocation("allocation 99", "phys", "1", &[("colour", "red")]),
            "bad_request",
        ),
        (
            item("allocation 99", "user", &json!({"name": ""})),
            "bad_name",
        ),
        (
            item(
                "allocation 99",
                "rate",
                &json!({"kind": "XYZ", "name": "a", "rate": "1"}),
            ),
            "bad_value",
        ),
    ];
    for (last, expected) in cases {
        let mut body = old_bank();
        body["items"].as_array_mut().unwrap().push(last);
        let (code, detail) = refused(&migrate(&bank, "m1", &body));
        assert_eq!(code, expected, "{detail}");
        assert!(detail.starts_with("allocation 99: "), "{detail}");
    }
    for (change, field) in [("", "source"), ("a b", "source")] {
        let mut body = old_bank();
        body["source"] = json!(change);
        let (code, detail) = refused(&migrate(&bank, "m1", &body));
        assert!(
            code == "bad_request" && detail.starts_with(field),
            "{detail}"
        );
    }
    let mut twice = old_bank();
    let first = twice["items"][0].clone();
    twice["items"].as_array_mut().unwrap().push(first);
    let (code, detail) = refused(&migrate(&bank, "m1", &twice));
    assert!(
        code == "bad_request" && detail.contains("is there twice"),
        "{detail}"
    );
    let mut later = old_bank();
    later["at"] = json!("2026-01-02T00:00:00Z");
    assert_eq!(refused(&migrate(&bank, "m1", &later)).0, "bad_value");
    assert_eq!(bank.transactions(), before);
    bank.verify();
}

#[test]
fn a_dry_run_proves_and_writes_nothing() {
    let mut bank = Bank::new();
    let before = bank.transactions();
    let target = "/api/v1/migrations?dry_run=true";
    let tried = done(&post(&bank, target, "m1", &old_bank()));
    assert_eq!(tried["dry_run"], json!(true));
    assert_eq!(tried["proof"][0]["equal"], json!(true));
    assert_eq!(bank.transactions(), before);
    assert_ne!(bank.bank(&["project", "show", "phys"]).exit, 0);
    done(&migrate(&bank, "m1", &old_bank()));
    bank.verify();
}

#[test]
fn a_closed_period_takes_no_opening_and_no_deposit() {
    let mut bank = Bank::new();
    bank.bank_ok(&["close", "2025"]);
    let (code, _) = refused(&migrate(&bank, "m1", &old_bank()));
    assert_eq!(code, "period_closed");
    let ran = bank.bank(&[
        "deposit",
        "chemistry",
        "5",
        "--effective",
        "2025-12-31",
        "--new",
    ]);
    assert_eq!(ran.exit, 1, "{}", ran.stderr);
    ran.expect_stderr(&["closed"]);
    bank.verify();
}

#[test]
fn a_deposit_dated_back_is_in_the_statement_of_its_month() {
    let mut bank = Bank::new();
    bank.set_clock(T0 + 40 * 86_400);
    let words = [
        "deposit",
        "chemistry",
        "500",
        "--new",
        "--limit",
        "0",
        "--note",
        "January's grant",
    ];
    bank.bank_ok(&[&words[..], &["--effective", "2026-01-15"]].concat());
    let figure = |name: &str, month: &str| {
        let statement = bank.json(&["statement", "chemistry", "--month", month]);
        statement["statement"][name]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    assert_eq!(figure("closing", "2026-01"), "100500");
    assert_eq!(figure("opening", "2026-02"), "100500");
    let at = |time: &str| {
        let row = bank.items(&["balance", "-a", "chemistry", "--at", time]);
        row[0]["amount"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(at("2026-01-14"), "100000");
    assert_eq!(at("2026-01-16"), "100500");
    let newest = bank.transactions().to_string();
    bank.bank_ok(&["undo", &newest]);
    assert_eq!(bank.figures("chemistry").0, 100_000);
    // The account of a project that is new today has the money of then.
    bank.bank_ok(&["project", "add", "fresh"]);
    let words = ["deposit", "fresh", "250", "--new", "--effective"];
    bank.bank_ok(&[&words[..], &["2026-01-20"]].concat());
    let fresh_at = |words: &[&str], time: &str| {
        let rows = bank.items(&[words, &["--at", time]].concat());
        let rows = rows.iter().map(serde_json::Value::to_string);
        rows.filter(|row| row.contains("\"fresh\"") && row.contains("\"250\""))
            .count()
    };
    for list in [
        ["balance"].as_slice(),
        &["allocation", "ls"],
        &["account", "ls"],
    ] {
        assert_eq!(fresh_at(list, "2026-01-19"), 0, "{list:?}");
        assert_eq!(fresh_at(list, "2026-01-21"), 1, "{list:?}");
    }
    bank.verify();
}

#[test]
fn a_daemon_killed_in_the_middle_has_all_of_it_or_nothing() {
    let mut bank = Bank::new();
    let before = bank.transactions();
    for count in [1, 9, 18] {
        bank.stop_or_kill();
        assert!(bank.start_with(&[("BANKD_KILL_AT", &format!("opening:{count}"))]));
        let request = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            migrate(&bank, "m1", &old_bank())
        }));
        assert!(request.is_err(), "the daemon was killed");
        bank.kill();
        bank.start();
        assert_eq!(bank.transactions(), before, "opening:{count}");
    }
    done(&migrate(&bank, "m1", &old_bank()));
    bank.verify();
}
