//! Hours and charges summed over an export are those of `bank usage`, after corrections of every kind.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use super::{bank, export, path, uses};
use crate::harness::{Bank, T0, amount};

/// Processor-seconds and charges in thousandths.
type Figures = (i128, i128);

/// The figures of projects and users that have any, by both names with a blank between.
type Owners = BTreeMap<String, Figures>;

/// `bank usage` of all time.
fn ever(bank: &Bank, more: &[&str]) -> String {
    let words = ["usage", "--from", "-infinity", "--to", "infinity"];
    bank.bank_ok(&[&words[..], more].concat())
}

/// The figures by `bank usage`, in all and of each project and user.
fn usage(bank: &Bank) -> (Figures, Owners) {
    let text = ever(bank, &["--by", "project,user", "--json"]);
    let table: Value = serde_json::from_str(&text).unwrap();
    let figures = |row: &Value| {
        (
            thousandths(&row["core_seconds"]),
            thousandths(&row["charged"]),
        )
    };
    let rows = table["rows"].as_array().unwrap().iter();
    let rows = rows.map(|row| (owner(&row["keys"]), figures(row)));
    (figures(&table["total"]), added(rows))
}

/// The names of a row's project and user.
fn owner(row: &Value) -> String {
    let [project, user] = ["project", "user"].map(|name| row[name].as_str().unwrap_or(""));
    format!("{project} {user}").trim_end().to_owned()
}

/// Sums by owner, without those of nothing.
fn added(rows: impl Iterator<Item = (String, Figures)>) -> Owners {
    let mut sums = Owners::new();
    for (owner, (hours, charge)) in rows {
        let own = sums.entry(owner).or_default();
        *own = (own.0 + hours, own.1 + charge);
    }
    sums.retain(|_, figures| *figures != (0, 0));
    sums
}

/// The sums of lines by owner.
fn by_owner(lines: &[Value]) -> Owners {
    let rows = lines
        .iter()
        .map(|line| (owner(line), summed(std::slice::from_ref(line))));
    added(rows)
}

pub(crate) fn thousandths(text: &Value) -> i128 {
    let text = text.as_str().unwrap();
    bank_core::decimal::Decimal::parse(text)
        .unwrap()
        .billionths()
        / 1_000_000
}

/// The same over the lines of an export, by its exact column and by the product of two others.
fn exported(lines: &[Value]) -> (i128, i128) {
    let number = |line: &Value, name: &str| thousandths(&line[name]);
    let product = |line: &Value| number(line, "wall_s") * number(line, "processors") / 1_000;
    let found = summed(lines);
    assert_eq!(
        lines.iter().map(product).sum::<i128>(),
        found.0,
        "{lines:#?}"
    );
    found
}

/// The same by the exact columns alone.
pub(super) fn summed(lines: &[Value]) -> (i128, i128) {
    let sum = |name: &str| lines.iter().map(|line| thousandths(&line[name])).sum();
    (sum("processor_s"), sum("charge"))
}

/// Processor-seconds of usage records 1.0: processors × rate × wall time.
fn of_ur1(text: &str) -> i128 {
    let between = |record: &str, from: &str, to: &str| {
        let rest = record.split(from).nth(1)?;
        Some(rest.split(to).next()?.to_owned())
    };
    let records = text.split("<JobUsageRecord").skip(1);
    let records = records.flat_map(|part| part.split("<UsageRecord"));
    let number = |text: &str| thousandths(&Value::String(text.to_owned()));
    let sum = records.map(|record| {
        let wall = between(record, "<WallDuration>", "</WallDuration>").unwrap();
        let (sign, wall) = match wall.strip_prefix('-') {
            Some(rest) => (-1, rest.to_owned()),
            None => (1, wall),
        };
        let wall = number(wall.trim_start_matches("PT").trim_end_matches('S'));
        let Some(processors) = between(record, "<Processors", "</Processors>") else {
            assert_eq!(wall, 0, "{record}");
            return 0;
        };
        let (rate, count) = processors.split_once('>').unwrap();
        let rate = between(rate, "consumptionRate=\"", "\"").unwrap_or_else(|| "1".to_owned());
        sign * wall * number(&rate) * number(count) / 1_000_000
    });
    sum.sum()
}

/// Compares the exact columns of lines with `bank usage`: corrections of reservations have hours but no duration.
#[track_caller]
pub(crate) fn agree_exactly(bank: &Bank) -> (i128, i128) {
    let (known, owners) = usage(bank);
    let lines = uses(&export(bank, &["jsonl"]));
    assert_eq!(summed(&lines), known);
    assert_eq!(by_owner(&lines), owners);
    known
}

/// Compares every format that sums with `bank usage`; gives its figures.
#[track_caller]
pub(crate) fn agree(bank: &Bank) -> (i128, i128) {
    let (known, owners) = usage(bank);
    let lines = uses(&export(bank, &["jsonl"]));
    assert_eq!(exported(&lines), known);
    assert_eq!(by_owner(&lines), owners);
    let csv = export(bank, &["csv"]);
    let mut lines = csv.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    let rows: Vec<Value> = lines
        .map(|line| {
            let cells = line.split(',');
            let row = head.iter().zip(cells);
            row.map(|(name, cell)| ((*name).to_owned(), Value::from(cell)))
                .collect::<serde_json::Map<_, _>>()
                .into()
        })
        .collect();
    assert_eq!(exported(&rows), known);
    assert_eq!(of_ur1(&export(bank, &["ur1", "--document"])), known.0);
    known
}

/// Jobs of two processors on a machine that its collector charges, each of so many minutes, for a project.
fn collected(bank: &Bank, jobs: &[(u32, u32, &str, &str)]) {
    bank.set_clock(T0 + 86_400);
    let mut text =
        "JobID|Cluster|User|Account|State|ExitCode|Submit|Start|End|NNodes|NCPUS\n".to_owned();
    for (id, minutes, project, user) in jobs {
        writeln!(
            text,
            "{id}|colony|{user}|{project}|COMPLETED|0:0|2025-12-01T00:00:00|2025-12-01T01:00:00|\
             2025-12-01T01:{minutes:02}:00|1|2"
        )
        .unwrap();
    }
    let (file, name) = path(bank, "in.sacct");
    fs::write(file, text).unwrap();
    bank.bank_ok(&["import", "sacct", &name, "--source", "slurm-colony"]);
}

/// The number of the last transaction of a kind.
pub(crate) fn last(bank: &Bank, op: &str) -> String {
    let sql = format!("SELECT max(id) FROM tx WHERE op = '{op}'");
    bank.query(&sql)[0][0].clone()
}

#[test]
fn assigned_and_amended_uses_are_exported_once() {
    let bank = bank();
    bank.bank_ok(&["machine", "set", "colony", "--source", "slurm-colony"]);
    let job = |id, minutes| (id, minutes, "lost", "amy");
    collected(
        &bank,
        &[job(1, 30), job(2, 10), (3, 20, "chemistry", "amy")],
    );
    let all = (2 * 60 * 1_000) * 60;
    assert_eq!(agree(&bank).0, all);
    bank.bank_ok(&["unmapped", "assign", "account=lost", "chemistry", "--yes"]);
    assert_eq!(agree(&bank).0, all);
    // Shorter, longer, and for another user.
    let own = |id, minutes, user| (id, minutes, "chemistry", user);
    collected(&bank, &[own(3, 5, "amy")]);
    assert_eq!(agree(&bank).0, all - 2 * 15 * 60 * 1_000);
    collected(&bank, &[own(3, 50, "amy")]);
    assert_eq!(agree(&bank).0, all + 2 * 30 * 60 * 1_000);
    collected(&bank, &[own(3, 20, "bob")]);
    assert_eq!(agree(&bank).0, all);
    bank.bank_ok(&["refund", "3", "500"]);
    agree(&bank);
}

#[test]
fn undone_and_late_charges_count_their_time() {
    let bank = bank();
    let charge = |more: &[&str]| {
        let words = [
            "charge",
            "7",
            "-A",
            "chemistry",
            "-u",
            "amy",
            "-m",
            "colony",
        ];
        bank.bank_ok(&[&words[..], &["--procs", "2"], more].concat())
    };
    charge(&["--duration", "600"]);
    assert_eq!(agree(&bank).0, 2 * 600 * 1_000);
    let first = last(&bank, "charge");
    bank.bank_ok(&["undo", &first]);
    assert_eq!(agree(&bank), (0, 0));
    bank.bank_ok(&["undo", &last(&bank, "undo")]);
    assert_eq!(agree(&bank).0, 2 * 600 * 1_000);
    // After the close.
    charge(&["--duration", "100"]);
    assert_eq!(agree(&bank).0, 2 * 700 * 1_000);
    charge(&["--duration", "300", "--total"]);
    assert_eq!(agree(&bank).0, 2 * 300 * 1_000);
}

/// An `end` that comes when the lien has expired and the grace time is over is a late charge, not another job.
#[test]
fn a_late_end_is_no_second_job() {
    let bank = bank();
    let document = |seconds: i64, times: &str| {
        format!(
            "<Job><ObjectID>r.9</ObjectID><User>amy</User><Account>chemistry</Account>\
             <Processors>2</Processors><WallDuration>3600</WallDuration>\
             <ChargeDuration>{seconds}</ChargeDuration>{times}</Job>"
        )
        .into_bytes()
    };
    let start = format!("<StartTime>{T0}</StartTime>");
    bank.script("reserve", &document(3600, &start))
        .expect(0, "");
    bank.set_clock(T0 + 600);
    bank.script("charge", &document(600, &start)).expect(0, "");
    bank.set_clock(T0 + 90_000);
    agree(&bank);
    let end = format!("{start}<EndTime>{}</EndTime>", T0 + 3600);
    bank.script("end", &document(3000, &end)).expect(0, "");
    assert_eq!(agree(&bank).0, 2 * 3600 * 1_000);
    let all = uses(&export(&bank, &["jsonl"]));
    let kinds: Vec<&Value> = all.iter().map(|line| &line["kind"]).collect();
    assert_eq!(kinds, ["Job", "Adjustment"]);
}

/// A consumption rate changes the price of a charge and not its hours, whichever charges of a job state one.
#[test]
fn consumption_rates_change_no_hours() {
    let bank = bank();
    let charge = |job: usize, seconds: i64, rate: &str, more: &[&str]| {
        let (job, seconds) = (format!("c.{job}"), seconds.to_string());
        let words = [
            "charge",
            &job,
            "-A",
            "chemistry",
            "-u",
            "amy",
            "-m",
            "colony",
        ];
        let rate = format!("ConsumptionRate={rate}");
        let used = ["--procs", "8", "--duration", &seconds, "-X", &rate];
        bank.bank_ok(&[&words[..], &used, more].concat());
    };
    let compare = |seconds: i128| {
        let (known, _) = usage(&bank);
        assert_eq!(known.0, 8 * seconds * 1_000);
        let lines = uses(&export(&bank, &["jsonl"]));
        assert_eq!(exported(&lines), known, "{lines:#?}");
        let text = export(&bank, &["ur1", "--document"]);
        let exact = text.split("bank.processor_s\">").skip(1);
        let exact = exact.map(|rest| thousandths(&Value::from(rest.split('<').next().unwrap())));
        assert_eq!(exact.sum::<i128>(), known.0);
    };
    let mixtures = [
        ["0.5", "1"],
        ["1", "0.5"],
        ["0.5", "0.5"],
        ["0.5", "1.5"],
        ["3", "1"],
        ["1", "1"],
    ];
    for (job, [first, last]) in mixtures.into_iter().enumerate() {
        let at = T0 + 2_000 * i64::try_from(job).unwrap();
        bank.set_clock(at + 600);
        charge(job, 600, first, &["--interim"]);
        bank.set_clock(at + 1200);
        charge(job, 600, last, &[]);
        compare(1200 * (i128::try_from(job).unwrap() + 1));
    }
}

/// What would have been charged has a column of its own: the total of the other one is money that moved.
#[test]
fn shadow_charges_are_in_no_sum_of_money() {
    let bank = bank();
    let charge = |job: &str, machine: &str, duration: &str| {
        let words = ["charge", job, "-A", "chemistry", "-u", "amy", "-m", machine];
        let more = ["--procs", "2", "--duration", duration];
        bank.bank_ok(&[&words[..], &more].concat());
    };
    charge("real", "colony", "600");
    charge("shadow", "blue", "500");
    let period = ["--from", "-infinity", "--to", "infinity", "--by", "machine"];
    let ask = |more: &[&str]| bank.bank_ok(&[&["usage"][..], &period, more].concat());
    let table: Value = serde_json::from_str(&ask(&["--json"])).unwrap();
    let total = &table["total"];
    let moved = bank.query("SELECT -sum(delta_amount) FROM entry WHERE usage IS NOT NULL");
    let figures = ["charged", "shadow_charged"].map(|key| thousandths(&total[key]));
    assert_eq!(figures, [1_200_000, 1_000_000]);
    assert_eq!(moved, [["1200"]]);
    assert_eq!(exported(&uses(&export(&bank, &["jsonl"]))).1, figures[0]);
    let sheet = bank.json(&["report", "balance-sheet", "--from", "2025-01-01T00:00:00Z"]);
    let all = sheet["items"].as_array().unwrap().last().unwrap();
    assert_eq!(thousandths(&all["charges"]), -figures[0], "{sheet}");
    let screen = ask(&[]);
    assert!(screen.contains("shadow"), "{screen}");
    assert!(ask(&["--csv"]).contains(",charged,shadow_charged,"));
}

/// The undo of an amended record gives the use back to the project and the user before; what an assignment took from
/// `#unbilled` comes back only after its charge was undone.
#[test]
fn undone_amendments_and_assignments_name_one_owner() {
    let mut bank = bank();
    bank.bank_ok(&["deposit", "physics", "100000"]);
    collected(
        &bank,
        &[(1, 10, "chemistry", "amy"), (2, 10, "lost", "amy")],
    );
    collected(&bank, &[(1, 20, "physics", "bob")]);
    let moved = agree(&bank);
    bank.bank_ok(&["undo", &last(&bank, "adjust")]);
    agree(&bank);
    let owners = "SELECT project, user FROM instance WHERE object_id = '1'";
    assert_eq!(bank.query(owners), [["chemistry", "amy"]]);
    let users = ever(&bank, &["--by", "user", "--csv"]);
    assert!(!users.contains("bob"), "{users}");
    let undone = bank.query("SELECT max(id) FROM tx")[0][0].clone();
    bank.bank_ok(&["undo", &undone]);
    assert_eq!(agree(&bank), moved);
    bank.bank_ok(&["unmapped", "assign", "account=lost", "physics", "--yes"]);
    let assigned = agree(&bank);
    let adjusts = bank.query("SELECT id FROM tx WHERE op = 'adjust' ORDER BY id DESC LIMIT 2");
    let (charge, taken) = (adjusts[0][0].clone(), adjusts[1][0].clone());
    let refused = bank.bank(&["undo", &taken]);
    assert_ne!(refused.exit, 0);
    let advice = format!("undo transaction {charge} first");
    assert!(refused.stderr.contains(&advice), "{}", refused.stderr);
    assert_eq!(agree(&bank), assigned);
    bank.bank_ok(&["undo", &charge]);
    agree(&bank);
    bank.bank_ok(&["undo", &taken]);
    let without = agree(&bank);
    assert_eq!(usage(&bank).1["lost amy"], (1_200_000, 1_200_000));
    let both = bank
        .query("SELECT id FROM tx ORDER BY id DESC LIMIT 2")
        .concat();
    let refused = bank.bank(&["undo", &both[1]]);
    assert_ne!(refused.exit, 0);
    let advice = format!("undo transaction {} first", both[0]);
    assert!(refused.stderr.contains(&advice), "{}", refused.stderr);
    for again in both {
        bank.bank_ok(&["undo", &again]);
        agree(&bank);
    }
    assert_eq!(agree(&bank), assigned);
    for again in bank
        .query("SELECT id FROM tx ORDER BY id DESC LIMIT 2")
        .concat()
    {
        bank.bank_ok(&["undo", &again]);
        agree(&bank);
    }
    assert_eq!(agree(&bank), without);
    bank.verify();
}

/// A use without a price moves its hours too when an amended record names another project; a settlement moves hours and
/// amount from the name that no project had, and its undo moves them back.
#[test]
fn what_changes_its_project_changes_it_in_exports() {
    let mut bank = bank();
    bank.bank_ok(&["deposit", "physics", "100000"]);
    bank.bank_ok(&[
        "machine",
        "set",
        "colony",
        "--charge-policy",
        "DEBITSUCCESSFULWC",
    ]);
    let import = |job: &str, account: &str, user: &str, state: &str, minutes: u32| {
        bank.set_clock(T0 + 86_400);
        let text = format!(
            "JobID|Cluster|User|Account|State|ExitCode|Submit|Start|End|NNodes|NCPUS\n\
             {job}|colony|{user}|{account}|{state}|0:0|2025-12-01T00:00:00|2025-12-01T01:00:00|\
             2025-12-01T01:{minutes:02}:00|1|2\n"
        );
        let (file, name) = path(&bank, "in.sacct");
        fs::write(file, text).unwrap();
        bank.bank_ok(&["import", "sacct", &name, "--source", "slurm-colony"]);
    };
    let mut hours = 0;
    for (job, account, user, state, minutes) in [
        // Free, moved twice.
        ("1", "chemistry", "amy", "FAILED", 10),
        ("1", "physics", "bob", "FAILED", 5),
        ("1", "chemistry", "amy", "FAILED", 20),
        // Free, then charged to another project.
        ("2", "chemistry", "amy", "FAILED", 10),
        ("2", "physics", "bob", "COMPLETED", 10),
        // For a project that there is not.
        ("3", "ghost", "amy", "COMPLETED", 30),
        ("4", "ghost", "amy", "FAILED", 30),
    ] {
        import(job, account, user, state, minutes);
        hours = agree(&bank).0;
    }
    assert_eq!(hours, 2 * 60 * 1000 * (20 + 10 + 30 + 30));
    for job in ["3", "4"] {
        bank.bank_ok(&["settle", job, "-A", "physics", "-m", "colony"]);
        assert_eq!(agree(&bank).0, hours, "{job}");
        let settled = last(&bank, "settle");
        bank.bank_ok(&["undo", &settled]);
        assert_eq!(agree(&bank).0, hours, "{job}");
        let undone = bank.query("SELECT max(id) FROM tx")[0][0].clone();
        bank.bank_ok(&["undo", &undone]);
        assert_eq!(agree(&bank).0, hours, "{job}");
    }
    bank.verify();
}

/// Statement, balance sheet and journal of the first month have what an account paid for its jobs.
pub(crate) fn paid_everywhere(bank: &Bank, account: &str, paid: i64) {
    let month = ["--month", "2026-01"];
    let statement = bank.json(&[&["statement", account, "--summary"], &month[..]].concat());
    let statement = statement.get("statement").unwrap_or(&statement);
    let parts = statement["parts"].as_array().unwrap().iter();
    let own: i64 = parts
        .map(|part| amount(part, "charged") - amount(part, "refunded"))
        .sum();
    assert_eq!(own, paid, "{statement:#}");
    let sheet = bank.json(&[&["report", "balance-sheet"], &month[..]].concat());
    let mut rows = sheet["items"].as_array().unwrap().iter();
    let row = rows.find(|row| row["account"] == account).unwrap();
    let other = amount(row, "refunds") + amount(row, "charges") + amount(row, "other");
    assert_eq!(-other, paid, "{row:#}");
    let moved = ["charge", "late_charge", "refund", "reverse"];
    let entries = bank.items(&["journal", "-a", account, "--limit", "1000"]);
    let entries = entries
        .iter()
        .filter(|row| moved.contains(&row["kind"].as_str().unwrap()));
    let sum: i64 = entries.map(|row| amount(row, "amount")).sum();
    assert_eq!(-sum, paid, "journal of {account}");
}
