//! Who gets what of an export: what is in their view, or nothing at all; and balances for Open `OnDemand`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::sums::thousandths;
use super::{bank, export, imported, path, uses, watched};
use crate::harness::{Bank, Ran, Setup, T0};

/// A token's text.
pub(crate) fn token(bank: &Bank, id: &str, options: &[&str]) -> String {
    let words = [&["token", "add", id, "--until", "2090-01-01"][..], options].concat();
    let output = bank.bank_ok(&words);
    let text = output.lines().find(|line| line.starts_with("bk_"));
    text.unwrap_or_else(|| panic!("no token in {output}"))
        .to_owned()
}

fn with(bank: &Bank, token: &str, words: &[&str]) -> Ran {
    bank.bank_as(&[("BANK_TOKEN", token)], &[&["export"], words].concat())
}

/// Two projects and two machines, on both of which something ran.
fn two() -> Bank {
    let bank = bank();
    watched(&bank, 1, 3, 9);
    bank.bank_ok(&["machine", "add", "crimson"]);
    bank.bank_ok(&["machine", "set", "crimson", "--mode", "track"]);
    imported(&bank, "crimson", (11, 2), 9);
    let text = "JobID|Cluster|User|Account|State|ExitCode|Submit|Start|End|NNodes|NCPUS|TotalCPU\n\
                21|blue|bob|physics|COMPLETED|0:0|2025-12-01T00:00:00|2025-12-01T01:00:00|\
                2025-12-01T02:00:00|1|2|00:00:09\n";
    let (file, name) = path(&bank, "physics.sacct");
    std::fs::write(file, text).unwrap();
    bank.bank_ok(&["import", "sacct", &name, "--source", "slurm-blue"]);
    bank
}

#[test]
fn an_auditor_of_a_project_or_machine_gets_what_is_in_view() {
    let bank = two();
    let of_project = token(&bank, "p", &["--role", "auditor", "-A", "physics"]);
    let of_machine = token(&bank, "m", &["--role", "auditor", "-m", "crimson"]);
    let of_all = token(&bank, "all", &["--role", "auditor"]);
    let jobs = |token: &str| {
        let ran = with(&bank, token, &["jsonl"]);
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
        let uses = uses(&ran.stdout);
        let ids = uses
            .iter()
            .map(|one| one["local_job_id"].as_str().unwrap().to_owned());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(jobs(&of_project), ["21"]);
    assert_eq!(jobs(&of_machine), ["11", "12"]);
    assert_eq!(jobs(&of_all).len(), 6);
    for format in ["csv", "xdmod", "ur2", "apel", "nerc-pods"] {
        let ran = with(&bank, &of_project, &[format]);
        assert_eq!(ran.exit, 0, "{format}: {}", ran.stderr);
        assert!(
            !ran.stdout.contains("chemistry"),
            "{format}: {}",
            ran.stdout
        );
        assert!(!ran.stdout.contains("crimson"), "{format}: {}", ran.stdout);
    }
    // Numbers of users are for those who see everybody; those of projects for who sees them.
    export(&bank, &["swf"]);
    let ids = with(&bank, &of_project, &["swf", "--ids"]).stdout;
    assert_eq!(
        ids.lines().skip(1).collect::<Vec<_>>(),
        ["group,1,physics"],
        "{ids}"
    );
    // What is not in view cannot be asked for.
    let ran = with(&bank, &of_project, &["jsonl", "-A", "chemistry"]);
    assert_eq!(ran.exit, 4, "{}", ran.stderr);
}

#[test]
fn who_is_no_auditor_is_refused() {
    let bank = two();
    for (id, role) in [
        ("user", &["--role", "user", "--client", "amy"][..]),
        ("pi", &["--role", "pi", "-A", "chemistry"]),
        ("collector", &["--role", "collector"]),
    ] {
        let token = token(&bank, id, role);
        for format in [
            "jsonl",
            "csv",
            "ur2",
            "xdmod",
            "apel",
            "swf",
            "focus",
            "nerc-pods",
        ] {
            let ran = with(&bank, &token, &[format]);
            assert_eq!(ran.exit, 6, "{id} {format}: {}", ran.stderr);
            assert_eq!(ran.stdout, "", "{id} {format}");
        }
    }
}

/// Costs of a project are for who sees it; what others put in is not told.
#[test]
fn costs_are_of_what_is_in_view() {
    let bank = Setup::new()
        .env("BANKD_EXPORT_BILLING_CURRENCY", "EUR")
        .env("BANKD_EXPORT_CREDIT_PRICE", "1")
        .start();
    bank.bank_ok(&["deposit", "physics", "500"]);
    for (job, project) in [("job.1", "chemistry"), ("job.2", "physics")] {
        let work = ["-m", "colony", "--procs", "1", "--duration", "10"];
        bank.bank_ok(&[&["charge", job, "-A", project, "-u", "amy"][..], &work].concat());
    }
    let auditor = token(&bank, "p", &["--role", "auditor", "-A", "physics"]);
    let ran = with(&bank, &auditor, &["focus"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    assert!(!ran.stdout.contains("chemistry"), "{}", ran.stdout);
    assert!(ran.stdout.contains("job.2"), "{}", ran.stdout);
    let all = export(&bank, &["focus"]);
    assert!(all.contains("job.1") && all.contains("job.2"), "{all}");
    // The filters: of one project, of one machine.
    let count = |words: &[&str]| export(&bank, &[&["focus"], words].concat()).lines().count();
    // The header, two deposits and a charge.
    assert_eq!(count(&["-A", "physics"]), 4);
    assert_eq!(count(&["-m", "colony"]), 3);
}

#[test]
fn balances_for_open_ondemand_are_whole_and_of_members() {
    let bank = Bank::new();
    bank.bank_ok(&["project", "members", "add", "chemistry", "bob"]);
    bank.set_clock(T0 + 86_400);
    let work = ["-m", "colony", "--procs", "1", "--duration", "9000"];
    bank.bank_ok(
        &[
            &["charge", "job.1", "-A", "chemistry", "-u", "bob"][..],
            &work,
        ]
        .concat(),
    );
    let balances = |words: &[&str]| -> Value {
        serde_json::from_str(&export(&bank, &[&["ondemand"], words].concat())).unwrap()
    };
    let of = |found: &Value, user: &str, project: &str| {
        let all = found["balances"].as_array().unwrap();
        let one = all
            .iter()
            .find(|one| one["user"] == user && one["project"] == project);
        one.map(|one| one["value"].as_i64().unwrap())
    };
    let amount = balances(&[]);
    assert_eq!(amount["version"], 1);
    assert_eq!(amount["config"]["project_type"], "project");
    let left = of(&amount, "bob", "chemistry").unwrap();
    assert_eq!(left, 91_000);
    let percent = balances(&["--value", "percent"]);
    assert_eq!(percent["config"]["unit"], "%");
    assert_eq!(of(&percent, "bob", "chemistry"), Some(91));
    let days = balances(&["--value", "days"]);
    assert_eq!(days["config"]["unit"], "days");
    bank.set_clock(T0 + 30 * 86_400);
    let days = balances(&["--value", "days"]);
    // 9,000 in 30 days: 91,000 last 303 days and a third.
    assert_eq!(of(&days, "bob", "chemistry"), Some(303));
    // A user gets the rows that they may see; the file is replaced as a whole.
    let user = token(&bank, "u", &["--role", "user", "--client", "bob"]);
    let ran = with(&bank, &user, &["ondemand"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let own: Value = serde_json::from_str(&ran.stdout).unwrap();
    let users = own["balances"].as_array().unwrap().iter();
    assert!(
        users.clone().count() > 0 && users.clone().all(|one| one["user"] == "bob"),
        "{own}"
    );
    let (file, name) = path(&bank, "balances.json");
    std::fs::write(&file, "old").unwrap();
    export(&bank, &["ondemand", "-o", &name]);
    let kept: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(kept["balances"], amount["balances"]);
}

/// A member has the money of the accounts that the member may use, as in `bank balance -u`. A user who is not active has no row.
#[test]
fn open_ondemand_has_what_each_member_may_use() {
    let bank = Bank::new();
    for user in ["bob", "eve"] {
        bank.bank(&["user", "add", user]);
        bank.bank_ok(&["project", "members", "add", "physics", user]);
    }
    bank.bank_ok(&[
        "account",
        "add",
        "pool",
        "--projects",
        "physics",
        "--users",
        "bob",
    ]);
    bank.bank_ok(&["deposit", "pool", "5000"]);
    bank.bank_ok(&["user", "set", "eve", "--active", "no"]);
    let text = export(&bank, &["ondemand"]);
    let found: Value = serde_json::from_str(&text).unwrap();
    let rows = found["balances"].as_array().unwrap().iter();
    let rows = rows.filter(|row| row["project"] == "physics");
    let rows: BTreeMap<&str, i64> = rows
        .map(|row| {
            (
                row["user"].as_str().unwrap(),
                row["value"].as_i64().unwrap(),
            )
        })
        .collect();
    for (user, value) in &rows {
        let own = bank.items(&["balance", "physics", "-u", user]);
        let own: i128 = own
            .iter()
            .map(|row| thousandths(&row["available"]) / 1_000)
            .sum();
        assert_eq!(i128::from(*value), own, "{user}");
    }
    assert!(
        rows.contains_key("bob") && !rows.contains_key("eve"),
        "{text}"
    );
    assert!(rows.values().any(|value| *value >= 5000), "{text}");
}
