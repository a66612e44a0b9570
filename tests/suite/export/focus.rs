//! Costs in a national currency: off until they are set, then each charge, refund and deposit once.

use std::collections::BTreeMap;
use std::fs;

use super::{export, path};
use crate::harness::{Bank, Setup, T0};

/// The tenth of January 2026, noon.
const TENTH: i64 = T0 + 9 * 86_400 + 43_200;

/// A bank that sells a credit for one and a quarter cents.
fn bank() -> Bank {
    let bank = Setup::new()
        .env("BANKD_EXPORT_SITE", "EXAMPLE-SITE")
        .env("BANKD_EXPORT_BILLING_CURRENCY", "EUR")
        .env("BANKD_EXPORT_CREDIT_PRICE", "0.0125")
        .start();
    bank.set_clock(TENTH);
    bank
}

fn charge(bank: &Bank, job: &str, project: &str, seconds: &str) {
    let work = ["-m", "colony", "--procs", "4", "--duration", seconds];
    bank.bank_ok(&[&["charge", job, "-A", project, "-u", "amy"][..], &work].concat());
}

/// The rows of a text without quotes in it, by their columns.
fn rows(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut lines = text
        .lines()
        .map(|line| line.replace(r#""{"#, "{").replace(r#"}""#, "}"));
    let head = lines.next().unwrap();
    let head: Vec<&str> = head.split(',').collect();
    let row = |line: String| {
        // Tags are the only cell with commas in it.
        let (before, rest) = line.split_once('{').unwrap_or((&line, ""));
        let (tags, after) = rest.split_once('}').unwrap_or(("", ""));
        let all = before.to_owned() + &tags.replace(',', ";") + after;
        let cells = all.split(',').map(ToOwned::to_owned);
        head.iter()
            .map(|name| (*name).to_owned())
            .zip(cells)
            .collect()
    };
    lines.map(row).collect()
}

#[test]
fn it_is_off_until_a_currency_and_a_price_are_set() {
    let bank = Bank::new();
    let ran = bank.bank(&["export", "focus"]);
    assert_eq!(ran.exit, 1, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("export.billing_currency is not set"),
        "{}",
        ran.stderr
    );
    for (name, value, expected) in [
        ("BANKD_EXPORT_BILLING_CURRENCY", "euro", "three letters"),
        ("BANKD_EXPORT_BILLING_CURRENCY", "EUR", "both or neither"),
        ("BANKD_EXPORT_CREDIT_PRICE", "0.5", "both or neither"),
    ] {
        let mut other = Bank::new();
        other.stop();
        assert!(!other.start_with(&[(name, value)]), "{name}={value}");
        assert!(other.log().contains(expected), "{}", other.log());
    }
}

#[test]
fn charges_refunds_and_deposits_are_rows() {
    let mut bank = bank();
    bank.bank_ok(&["project", "add", "science"]);
    bank.bank_ok(&["project", "set", "chemistry", "--parent", "science"]);
    charge(&bank, "job.1", "chemistry", "3600");
    charge(&bank, "job.2", "chemistry", "60");
    bank.bank_ok(&["refund", "job.2", "40"]);
    // A transfer is no cost, and what goes back in another month is a correction.
    bank.bank_ok(&["transfer", "chemistry", "physics", "10"]);
    bank.set_clock(TENTH + 31 * 86_400);
    bank.bank_ok(&["refund", "job.1", "400"]);
    let all = rows(&export(&bank, &["focus"]));
    let shown: Vec<[&str; 8]> = all
        .iter()
        .filter(|row| row["SubAccountId"] == "chemistry")
        .map(|row| {
            [
                "ChargeCategory",
                "ChargeClass",
                "ResourceId",
                "BilledCost",
                "PricingQuantity",
                "ConsumedQuantity",
                "BillingPeriodStart",
                "ChargePeriodEnd",
            ]
            .map(|name| row[name].as_str())
        })
        .collect();
    let (january, february) = ("2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z");
    let noon = "2026-01-10T12:00:00Z";
    assert_eq!(
        shown,
        [
            ["Purchase", "", "", "0", "100000", "", january, january],
            ["Usage", "", "job.1", "180", "14400", "4", january, noon],
            ["Usage", "", "job.2", "3", "240", "0.066667", january, noon],
            ["Usage", "", "job.2", "-0.5", "-40", "", january, noon],
            [
                "Usage",
                "Correction",
                "job.1",
                "-5",
                "-400",
                "",
                february,
                noon
            ],
        ]
    );
    let first = &all.iter().find(|row| row["ResourceId"] == "job.1").unwrap();
    for (column, value) in [
        ("BillingAccountId", "science"),
        ("BillingCurrency", "EUR"),
        ("ListUnitPrice", "0.0125"),
        ("ServiceName", "colony"),
        ("ServiceCategory", "Compute"),
        ("SubAccountType", "Project"),
        ("ProviderName", "EXAMPLE-SITE"),
        ("ChargePeriodStart", "2026-01-10T11:00:00Z"),
        ("BillingPeriodEnd", february),
        ("x_Unit", "Core-Hours"),
    ] {
        assert_eq!(first[column], value, "{column}");
    }
    assert!(!export(&bank, &["focus"]).contains("amy"));
    // Of February alone: nothing that ended in January, though it is billed then.
    let alone = export(&bank, &["focus", "--from", "2026-02-01T00:00:00Z"]);
    assert_eq!(alone.lines().count(), 1, "{alone}");
    bank.verify();
}

/// A charge that two accounts pay has a row for each, with its part of the time.
#[test]
fn each_paying_account_has_a_row() {
    let mut bank = bank();
    bank.bank_ok(&["account", "add", "pool", "--projects", "chemistry"]);
    bank.bank_ok(&["deposit", "pool", "1000"]);
    bank.bank_ok(&["withdraw", "chemistry", "90000"]);
    charge(&bank, "job.1", "chemistry", "2600");
    bank.bank_ok(&["refund", "job.1"]);
    let all = rows(&export(&bank, &["focus"]));
    let shown: Vec<[&str; 3]> = all
        .iter()
        .filter(|row| row["ResourceId"] == "job.1")
        .map(|row| ["x_Account", "x_Credits", "ConsumedQuantity"].map(|name| row[name].as_str()))
        .collect();
    assert_eq!(
        shown,
        [
            ["chemistry", "10000", "2.777778"],
            ["pool", "400", "0.111111"],
            ["chemistry", "-10000", ""],
            ["pool", "-400", ""],
        ]
    );
    bank.verify();
}

/// What is told of a closed month is a correction, though it ended in it.
#[test]
fn what_comes_late_for_a_closed_month_is_a_correction() {
    let bank = bank();
    charge(&bank, "job.1", "chemistry", "3600");
    bank.set_clock(T0 + 32 * 86_400);
    bank.bank_ok(&["close", "2026-01", "--note", "invoiced"]);
    let window = [
        "--start",
        "2026-01-19T23:58:20Z",
        "--end",
        "2026-01-20T00:00:00Z",
    ];
    let work = [
        "-A",
        "chemistry",
        "-u",
        "amy",
        "-m",
        "colony",
        "--procs",
        "1",
    ];
    bank.bank_ok(&[&["charge", "job.9"], &work[..], &window[..]].concat());
    let all = rows(&export(&bank, &["focus"]));
    let late = all.iter().find(|row| row["ResourceId"] == "job.9").unwrap();
    assert_eq!(late["ChargeClass"], "Correction");
    assert_eq!(late["BillingPeriodStart"], "2026-02-01T00:00:00Z");
    assert_eq!(late["ChargePeriodEnd"], "2026-01-20T00:00:00Z");
    let early = all.iter().find(|row| row["ResourceId"] == "job.1").unwrap();
    assert_eq!(early["ChargeClass"], "");
}

#[test]
fn a_cursor_goes_along_the_journal() {
    let bank = bank();
    charge(&bank, "job.1", "chemistry", "3600");
    let (_, state) = path(&bank, "focus.state");
    let (out, out_name) = path(&bank, "focus.csv");
    let words = ["focus", "--state", &state, "-o", &out_name];
    export(&bank, &words);
    for n in 2..20 {
        charge(&bank, &format!("job.{n}"), "chemistry", "60");
    }
    export(&bank, &words);
    assert_eq!(fs::read_to_string(&out).unwrap(), export(&bank, &["focus"]));
    let again = export(&bank, &words);
    assert!(again.starts_with("0 records in "), "{again}");
    // Cursors of the other exports are none of this one's, nor is one of a newer copy.
    for (format, cursor, expected) in [
        ("focus", "00000000-1-2-3", "of this export of this bank"),
        ("jsonl", "00000000-tx-1", "of an export of this bank"),
    ] {
        let ran = bank.bank(&["export", format, "--since", cursor]);
        assert_eq!(ran.exit, 1, "{}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    }
    let found = super::page(&bank, "/api/v1/export/focus");
    let next = format!("{}9", found["next"].as_str().unwrap());
    let ran = bank.bank(&["export", "focus", "--since", &next]);
    assert!(ran.stderr.contains("newer copy"), "{}", ran.stderr);
}

/// Its seconds are a difference, below 0 where the job was shorter than said first: no period goes backwards.
#[test]
fn a_period_of_an_amended_job_is_the_time_that_it_ran() {
    let bank = bank();
    let import = |project: &str, end: &str| {
        let line = serde_json::json!({
            "source": "slurm:x", "id": "9", "machine": "colony", "project": project, "user": "amy",
            "start": "2026-01-02T00:00:00Z", "end": end, "processors": 1, "state": "completed",
        });
        let (file, name) = path(&bank, "jobs.jsonl");
        fs::write(&file, format!("{line}\n")).unwrap();
        bank.bank_ok(&["import", "jsonl", &name, "--strict"]);
    };
    import("chemistry", "2026-01-04T00:00:00Z");
    import("physics", "2026-01-03T00:00:00Z");
    let rows = rows(&export(&bank, &["focus"]));
    let period = |row: &BTreeMap<String, String>| {
        ["ChargePeriodStart", "ChargePeriodEnd"].map(|name| row[name].clone())
    };
    let own: Vec<_> = rows
        .iter()
        .filter(|row| row["ChargeCategory"] == "Usage")
        .collect();
    assert_eq!(own.len(), 3, "{rows:?}");
    assert!(
        own.iter().all(|row| period(row)[0] < period(row)[1]),
        "{own:?}"
    );
    let late = own
        .iter()
        .find(|row| row["ChargeDescription"] == "Late charge")
        .unwrap();
    assert_eq!(
        period(late),
        ["2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z"]
    );
}

/// A job that was cancelled in its first second did not exist in the month before.
#[test]
fn an_instant_at_the_start_of_a_month_is_billed_in_it() {
    let bank = bank();
    bank.set_clock(T0 + 40 * 86_400);
    for (id, start, end) in [
        ("1", "2026-02-01T00:00:00Z", "2026-02-01T00:00:00Z"),
        ("2", "2026-01-31T23:59:00Z", "2026-02-01T00:00:00Z"),
    ] {
        let line = serde_json::json!({
            "source": "slurm:x", "id": id, "machine": "colony", "project": "chemistry", "user": "amy",
            "start": start, "end": end, "processors": 1, "state": "aborted",
        });
        let (file, name) = path(&bank, "jobs.jsonl");
        fs::write(&file, format!("{line}\n")).unwrap();
        bank.bank_ok(&["import", "jsonl", &name, "--strict"]);
    }
    let rows = rows(&export(&bank, &["focus"]));
    let own = rows.iter().filter(|row| row["ChargeCategory"] == "Usage");
    let shown: Vec<_> = own
        .map(|row| {
            [
                "ResourceId",
                "PricingQuantity",
                "BillingPeriodStart",
                "ChargePeriodStart",
                "ChargePeriodEnd",
            ]
            .map(|name| row[name].as_str())
        })
        .collect();
    let (january, february) = ("2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z");
    assert_eq!(
        shown,
        [
            ["1", "1", february, february, february],
            ["2", "60", january, "2026-01-31T23:59:00Z", february],
        ]
    );
}

/// A project that gets another parent is billed to that one from then on. What goes back of an earlier charge goes to the
/// account that was billed for it.
#[test]
fn rows_keep_the_billing_account_of_their_time() {
    let bank = bank();
    bank.bank_ok(&["project", "add", "science"]);
    charge(&bank, "job.1", "chemistry", "3600");
    let before = export(&bank, &["focus"]);
    bank.bank_ok(&["project", "set", "chemistry", "--parent", "science"]);
    assert_eq!(export(&bank, &["focus"]), before);
    bank.bank_ok(&["refund", "job.1", "400"]);
    charge(&bank, "job.2", "chemistry", "60");
    bank.bank_ok(&["deposit", "chemistry", "5"]);
    let all = rows(&export(&bank, &["focus"]));
    let own = all.iter().filter(|row| row["SubAccountId"] == "chemistry");
    let billed: Vec<[&str; 2]> = own
        .map(|row| ["ResourceId", "BillingAccountId"].map(|name| row[name].as_str()))
        .collect();
    let expected = [
        ["", "chemistry"],
        ["job.1", "chemistry"],
        ["job.1", "chemistry"],
        ["job.2", "science"],
        ["", "science"],
    ];
    assert_eq!(billed, expected);
}
