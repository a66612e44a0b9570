//! Broken files: the message names the file, the line and the column.

use std::fs;

use super::{folder, plan_of, tables::TABLES};
use crate::Source;

#[test]
fn broken_tables_of_gold_are_refused() {
    let huge = "x".repeat(70_000);
    let cases: [(&str, &str, &str, &str); 16] = [
        (
            "g_allocation.csv",
            "97550",
            "9x",
            "g_allocation.csv:2: g_amount \"9x\" is no number",
        ),
        (
            "g_allocation.csv",
            "97550",
            "",
            "g_allocation.csv:2: g_amount is empty",
        ),
        (
            "g_allocation.csv",
            "g_amount",
            "g_sum",
            "g_allocation.csv: no column g_amount",
        ),
        (
            "g_allocation.csv",
            "2,2,0",
            "1,2,0",
            "g_allocation.csv:3: g_id \"1\" is in g_allocation.csv:2 too",
        ),
        (
            "g_allocation.csv",
            "2,2,0",
            "2,99,0",
            "g_allocation.csv:3: g_account 99 is no account",
        ),
        (
            "g_allocation.csv",
            "2,2,0",
            "2,2,-5",
            "g_allocation.csv:3: g_start_time is no time in seconds since 1970",
        ),
        (
            "g_allocation.csv",
            "1735689600",
            "2026-01-01",
            "g_allocation.csv:4: g_start_time \"2026-01-01\" is no whole number",
        ),
        (
            "g_allocation.csv",
            "-50.5",
            "-50.5555",
            "g_allocation.csv:3: amount of allocation 2: -50.5555 has 4 decimals; this bank keeps 3 (precision = 3)",
        ),
        (
            "g_allocation.csv",
            "97550,100",
            "97550",
            "g_allocation.csv:2: 9 fields; the header line has 10",
        ),
        (
            "g_allocation.csv",
            "97550,100",
            "97550,-100",
            "g_allocation.csv:2: g_credit_limit is below zero",
        ),
        (
            "g_account.csv",
            "2,chem",
            "1,chem",
            "g_account.csv:3: g_id \"1\" is in g_account.csv:2 too",
        ),
        (
            "g_account_user.csv",
            "2,ANY",
            "9,ANY",
            "g_account_user.csv:4: g_account 9 is no account",
        ),
        (
            "g_user.csv",
            "amy,True",
            "amy,maybe",
            "g_user.csv:3: g_active \"maybe\" is neither True nor False",
        ),
        (
            "g_user.csv",
            "Amy Ng",
            &huge,
            "g_user.csv:3: a field of 70000 bytes; a field has at most 65536",
        ),
        (
            "g_reservation_allocation.csv",
            "20.5",
            "-1",
            "g_reservation_allocation.csv:3: g_amount is below zero",
        ),
        (
            "g_charge_rate.csv",
            "2.5",
            "",
            "g_charge_rate.csv:3: g_rate is empty",
        ),
    ];
    for (file, old, new, wanted) in cases {
        let files = folder(&TABLES);
        let path = files.path().join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(old), "{old} in {file}");
        fs::write(&path, text.replacen(old, new, 1)).unwrap();
        let fault = plan_of(&Source::Gold(files.path().to_owned()), "gold", None).unwrap_err();
        assert_eq!(fault.what, wanted, "{file}: {old} -> {new}");
    }
}

#[test]
fn missing_files_are_named() {
    for file in [
        "g_account.csv",
        "g_reservation.csv",
        "g_job.csv",
        "g_account_user.csv",
    ] {
        let files = folder(&TABLES);
        fs::remove_file(files.path().join(file)).unwrap();
        let fault = plan_of(&Source::Gold(files.path().to_owned()), "gold", None).unwrap_err();
        assert!(
            fault.what.ends_with(&format!("has no {file}")),
            "{}",
            fault.what
        );
    }
    let fault = plan_of(&Source::Gold("/no/such/folder".into()), "gold", None).unwrap_err();
    assert!(
        fault
            .what
            .starts_with("cannot read the folder /no/such/folder"),
        "{}",
        fault.what
    );
}

#[test]
fn text_that_is_not_utf8_is_latin_1() {
    let files = folder(&TABLES);
    let path = files.path().join("g_user.csv");
    let text = fs::read_to_string(&path).unwrap();
    let mut bytes = Vec::new();
    for c in text.replace("Amy Ng", "Amy Ünal").chars() {
        bytes.push(u8::try_from(u32::from(c)).unwrap());
    }
    fs::write(&path, bytes).unwrap();
    let plan = plan_of(&Source::Gold(files.path().to_owned()), "gold", None).unwrap();
    let body = plan
        .request()
        .items
        .iter()
        .find(|item| item.id == "user amy")
        .unwrap();
    assert_eq!(body.body["common_name"], "Amy Ünal");
    let note = "g_user.csv: 1 fields are not UTF-8; they were read as Latin-1".to_owned();
    assert!(plan.notes().contains(&note), "{:?}", plan.notes());
}
