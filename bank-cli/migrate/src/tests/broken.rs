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
            "g_allocation.csv:2: g_amount \"9x\" is not a number",
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
            "g_allocation.csv:3: g_account 99 is not in g_account",
        ),
        (
            "g_allocation.csv",
            "2,2,0",
            "2,2,-5",
            "g_allocation.csv:3: g_start_time -5 is not a time in seconds since 1970",
        ),
        (
            "g_allocation.csv",
            "1735689600",
            "2026-01-01",
            "g_allocation.csv:4: g_start_time \"2026-01-01\" is not a whole number",
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
            "g_account_user.csv:4: g_account 9 is not in g_account",
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

/// A file that is cut off, or broken in another way, with what is wrong and the remedy.
#[test]
fn files_that_lost_a_part_are_refused() {
    let header = "g_id,g_account,g_amount,g_start_time,g_end_time";
    let twice = format!("{header},g_amount\n1,1,5,0,0,5\n");
    let open = format!("{header},g_description\n1,1,5,0,0,x\n2,1,7,0,0,\"the rest\n3,1,9,0,0,y\n");
    let cases = [
        (
            "",
            "g_allocation.csv: no header line",
            "export the table again",
        ),
        (
            &*twice,
            "g_allocation.csv: the column g_amount is there twice",
            "remove one of the columns",
        ),
        (
            &*open,
            "g_allocation.csv:3: a quotation mark without its end",
            "correct the line",
        ),
    ];
    for (text, what, hint) in cases {
        let files = folder(&TABLES);
        fs::write(files.path().join("g_allocation.csv"), text).unwrap();
        let fault = plan_of(&Source::Gold(files.path().to_owned()), "gold", None).unwrap_err();
        assert_eq!(fault.what, what);
        assert!(fault.hint.starts_with(hint), "{}", fault.hint);
    }
}

#[test]
fn quotation_marks_inside_of_a_text_are_text() {
    let files = folder(&TABLES);
    let path = files.path().join("g_user.csv");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(
        &path,
        text + "eve,True,False,False,5\" disk,\nzoe,True,False,False,\"a \"\"b\"\"\",\"chem\"",
    )
    .unwrap();
    let plan = plan_of(&Source::Gold(files.path().to_owned()), "gold", None).unwrap();
    let item = |id: &str| {
        plan.request()
            .items
            .iter()
            .find(|item| item.id == id)
            .unwrap()
    };
    assert_eq!(item("user eve").body["common_name"], "5\" disk");
    assert_eq!(item("user zoe").body["common_name"], "a \"b\"");
    assert_eq!(plan.place("user zoe"), Some("g_user.csv:7"));
    assert_eq!(plan.place("allocation 2"), Some("g_allocation.csv:3"));
}

#[test]
fn a_file_is_no_folder() {
    let files = folder(&TABLES);
    let path = files.path().join("g_user.csv");
    let fault = plan_of(&Source::Gold(path.clone()), "gold", None).unwrap_err();
    let (path, parent) = (path.display(), files.path().display());
    assert_eq!(fault.what, format!("{path} is a file; a folder is needed"));
    assert_eq!(
        fault.hint,
        format!("give the folder with the tables of Gold as g_account.csv and others: {parent}")
    );
    let database = files.path().join("gold.db");
    fs::write(&database, "SQLite format 3\0and more").unwrap();
    let fault = plan_of(&Source::Gold(database.clone()), "gold", None).unwrap_err();
    let database = database.display();
    assert_eq!(
        fault.hint,
        format!("read the database with --sqlite {database}")
    );
}

/// Errors that appear after reading name the row too.
#[test]
fn errors_of_the_plan_name_the_row() {
    let cases = [
        (
            "g_reservation_allocation.csv",
            "20.5",
            "20.55555",
            "amount of reservation",
        ),
        ("g_job.csv", "1795", "1995", "which is later than now"),
    ];
    for (file, old, new, what) in cases {
        let files = folder(&TABLES);
        let path = files.path().join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(old), "{old} in {file}: {text}");
        fs::write(&path, text.replace(old, new)).unwrap();
        let fault = plan_of(&Source::Gold(files.path().to_owned()), "gold", None).unwrap_err();
        assert!(fault.what.contains(what), "{}", fault.what);
        assert!(fault.what.starts_with("g_"), "{}", fault.what);
    }
}
