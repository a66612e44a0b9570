//! A job is reserved or charged for one project, and then charged with another one. The lien pays first
//! (docs/reference/accounts.md): journal, usage, exports and statements have the same sums.

use serde_json::{Value, json};

use crate::export::sums;
use crate::harness::{Setup, T0, amount};

const MONTH: [&str; 2] = ["--month", "2026-01"];

/// The sums of a report of usage by its only key.
fn usage(report: &Value, key: &str) -> Vec<(String, String)> {
    let rows = report["rows"].as_array().unwrap().iter();
    let mut sums: Vec<(String, String)> = rows
        .map(|row| {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            (text(&row["keys"][key]), text(&row["charged"]))
        })
        .collect();
    sums.sort();
    sums
}

#[test]
fn a_charge_with_another_project_has_the_same_sums_everywhere() {
    let mut bank = Setup::new().chemistry(1000).start();
    let run = |line: &str| bank.bank_ok(&line.split(' ').collect::<Vec<_>>());
    bank.set_clock(T0 + 3600);
    run("project add bio --members amy");
    run("deposit bio 1000");
    run("reserve j1 --wall 100 --procs 1 -A chemistry -u amy -m colony");
    run("charge j1 --duration 300 --procs 1 -A bio -u amy -m colony");
    run("charge j2 --duration 50 --procs 1 -A bio -u amy -m colony");
    bank.set_clock(T0 + 7200);
    // The lien paid its part, and the project that was named the rest; the usage is of that project.
    let by = |key: &str| {
        usage(
            &bank.json(&[&["usage", "--by", key], &MONTH[..]].concat()),
            key,
        )
    };
    let own = |rows: &[(&str, &str)]| -> Vec<(String, String)> {
        rows.iter()
            .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()))
            .collect()
    };
    assert_eq!(by("project"), own(&[("bio", "350")]));
    assert_eq!(by("account"), own(&[("bio", "250"), ("chemistry", "100")]));
    // Statements and balances are those of accounts.
    for (name, paid) in [("chemistry", 100), ("bio", 250)] {
        let output = bank.json(&["statement", name, "--summary", "--month", "2026-01"]);
        let statement = &output["statement"];
        let statement = if statement.is_null() {
            &output
        } else {
            statement
        };
        assert_eq!(amount(statement, "total_debits"), -paid, "{output:#}");
        assert_eq!(amount(statement, "closing"), 1000 - paid, "{output:#}");
        assert_eq!(bank.figures(name).0, 1000 - paid);
    }
    // The journal has both: the account that paid and the project that was named.
    let charges: Vec<Value> = bank
        .items(&["journal", "--kind", "charge"])
        .into_iter()
        .filter(|row| row["kind"] == "charge")
        .collect();
    let names = |row: &Value| {
        (
            row["account"].clone(),
            row["project"].clone(),
            amount(row, "amount"),
        )
    };
    assert_eq!(
        charges.iter().map(names).collect::<Vec<_>>(),
        [
            ("chemistry".into(), "bio".into(), -100),
            ("bio".into(), "bio".into(), -200),
            ("bio".into(), "bio".into(), -50)
        ]
    );
    assert_eq!(charges[0]["reason"], "project_was=chemistry");
    // The export has the project of the usage, and each charge once.
    let csv = run("export csv");
    let mut lines = csv.lines().filter(|line| line.contains(','));
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    let at = |name: &str| head.iter().position(|own| *own == name).unwrap();
    let rows: Vec<(String, String)> = lines
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            (
                cells[at("project")].to_owned(),
                cells[at("charge")].to_owned(),
            )
        })
        .collect();
    assert_eq!(rows, own(&[("bio", "300"), ("bio", "50")]));
    bank.verify();
}

/// A refund of a job with charges of two projects goes back to each of them, in every report.
#[test]
fn a_refund_counts_for_the_projects_of_its_charges() {
    let mut bank = Setup::new().chemistry(1000).start();
    let run = |line: &str| bank.bank_ok(&line.split(' ').collect::<Vec<_>>());
    bank.set_clock(T0 + 3600);
    run("project add bio --members amy");
    run("deposit bio 1000");
    run("charge j1 --duration 100 --procs 1 -A chemistry -u amy -m colony --interim");
    run("charge j1 --duration 300 --procs 1 -A bio -u amy -m colony");
    let own = |chemistry: &str, bio: &str| {
        vec![
            ("bio".to_owned(), bio.to_owned()),
            ("chemistry".to_owned(), chemistry.to_owned()),
        ]
    };
    let agree = |chemistry: &str, bio: &str| {
        for key in ["project", "account"] {
            let report = bank.json(&[&["usage", "--by", key], &MONTH[..]].concat());
            assert_eq!(usage(&report, key), own(chemistry, bio), "by {key}");
        }
        sums::agree(&bank);
        for (name, paid) in [("chemistry", chemistry), ("bio", bio)] {
            let paid: i64 = paid.parse().unwrap();
            assert_eq!(bank.figures(name).0, 1000 - paid, "{name}");
            sums::paid_everywhere(&bank, name, paid);
        }
    };
    agree("100", "300");
    bank.set_clock(T0 + 7200);
    run("refund j1 200");
    agree("50", "150");
    let part = bank.query("SELECT max(id) FROM tx WHERE op = 'refund'")[0][0].clone();
    run("refund j1");
    agree("0", "0");
    run(&format!("undo {part}"));
    agree("50", "150");
    let undo = bank.query("SELECT max(id) FROM tx WHERE op = 'undo'")[0][0].clone();
    run(&format!("undo {undo}"));
    agree("0", "0");
    bank.verify();
}

/// The hours of a finished use are at the account that pays for it now, in every mode.
#[test]
fn hours_of_a_moved_use_are_at_the_account_that_pays() {
    for mode in ["strict", "notional", "track"] {
        let bank = Setup::new().chemistry(100_000).start();
        let run = |line: &str| bank.bank_ok(&line.split(' ').collect::<Vec<_>>());
        run(&format!("machine set colony --mode {mode}"));
        run("project add bio --members amy");
        run("deposit bio 100000");
        bank.set_clock(T0 + 86_400);
        let record = |id: &str, project: &str| {
            let line = json!({
                "source": "s", "id": id, "machine": "colony", "project": project, "user": "amy", "processors": 1,
                "start": "2026-01-01T00:00:00Z", "end": "2026-01-01T01:00:00Z",
            });
            let file = bank.folder().join("uses.jsonl");
            std::fs::write(&file, line.to_string()).unwrap();
            bank.bank(&["import", "jsonl", file.to_str().unwrap()]);
        };
        record("1", "chemistry");
        record("1", "bio");
        record("2", "ghost");
        run("unmapped assign account=ghost bio --no-rule --yes");
        let report = bank.json(&[&["usage", "--by", "account"], &MONTH[..]].concat());
        let rows = report["rows"].as_array().unwrap();
        let all: Vec<(&Value, &Value)> = rows
            .iter()
            .map(|row| (&row["keys"]["account"], &row["core_hours"]))
            .collect();
        assert_eq!(
            all,
            [(&"bio".into(), &"2.000000".into())],
            "{mode}: {report:#}"
        );
    }
}
