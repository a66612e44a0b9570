//! Jobs that change their project while they run or afterwards: for each project, hours and charges are the same by
//! `bank usage`, by the sums of exports, and by the journal.

use serde_json::Value;

use super::sums::{agree, agree_exactly, last, paid_everywhere, thousandths};
use super::{bank, export, path, uses};
use crate::harness::{Bank, Setup, T0};

/// A document about a job with a number of processors.
fn document(job: &str, (project, user): (&str, &str), processors: u32, seconds: u32) -> Vec<u8> {
    format!(
        "<Job><ObjectID>{job}</ObjectID><User>{user}</User><Account>{project}</Account>\
         <Processors>{processors}</Processors><ChargeDuration>{seconds}</ChargeDuration></Job>"
    )
    .into_bytes()
}

/// The same of one processor, accepted.
fn accepted(bank: &Bank, event: &str, job: &str, owner: (&str, &str), seconds: u32) {
    bank.script(event, &document(job, owner, 1, seconds))
        .expect(0, "");
}

/// A bank whose projects `chemistry` and `physics` have money.
pub(super) fn funded() -> Bank {
    let bank = bank();
    bank.bank_ok(&["deposit", "physics", "100000"]);
    bank
}

/// Project, core-seconds and charge of `bank usage`, after a comparison with exports and with the journal.
pub(super) fn agreed(bank: &Bank) -> Vec<String> {
    agree(bank);
    let words = ["usage", "--from", "-infinity", "--to", "infinity"];
    let text = bank.bank_ok(&[&words[..], &["--by", "project", "--json"]].concat());
    let table: Value = serde_json::from_str(&text).unwrap();
    let rows = table["rows"].as_array().unwrap().iter();
    let mut rows: Vec<(String, i128, i128)> = rows
        .map(|row| {
            let figure = |name: &str| thousandths(&row[name]) / 1_000;
            let project = row["keys"]["project"].as_str().unwrap().to_owned();
            (project, figure("core_seconds"), figure("charged"))
        })
        .filter(|(_, hours, charged)| (*hours, *charged) != (0, 0))
        .collect();
    rows.sort();
    let sql = "SELECT project, -sum(delta_amount) FROM entry
               WHERE usage IS NOT NULL AND kind <> 'expire'
               GROUP BY project HAVING sum(delta_amount) <> 0 ORDER BY project";
    let money = rows.iter().filter(|(_, _, charged)| *charged != 0);
    let money: Vec<Vec<String>> = money
        .map(|(project, _, charged)| vec![project.clone(), charged.to_string()])
        .collect();
    assert_eq!(money, bank.query(sql));
    let rows = rows.iter();
    rows.map(|(project, hours, charged)| format!("{project} {hours} {charged}"))
        .collect()
}

/// The lines of an export by kind, project and core-seconds.
fn lines(bank: &Bank) -> Vec<String> {
    let all = uses(&export(bank, &["jsonl"]));
    let text = |line: &Value, name: &str| line[name].as_str().unwrap_or("-").to_owned();
    all.iter()
        .map(|line| {
            let [kind, project, hours] =
                ["kind", "project", "processor_s"].map(|name| text(line, name));
            format!("{kind} {project} {hours}")
        })
        .collect()
}

#[test]
fn each_project_has_its_part_of_a_job() {
    let mut bank = funded();
    accepted(&bank, "charge", "a", ("chemistry", "amy"), 100);
    accepted(&bank, "end", "a", ("physics", "bob"), 50);
    assert_eq!(agreed(&bank), ["chemistry 100 100", "physics 50 50"]);
    assert_eq!(lines(&bank), ["Job physics 50", "Adjustment chemistry 100"]);
    // Each by itself is undone and done again.
    let charges = bank.query("SELECT id FROM tx WHERE op = 'charge' ORDER BY id");
    for (charge, left) in [
        (&charges[0][0], "physics 50 50"),
        (&charges[1][0], "chemistry 100 100"),
    ] {
        bank.bank_ok(&["undo", charge]);
        assert_eq!(agreed(&bank), [left]);
        bank.bank_ok(&["undo", &last(&bank, "undo")]);
        assert_eq!(agreed(&bank), ["chemistry 100 100", "physics 50 50"]);
    }
    bank.bank_ok(&["refund", "a"]);
    agreed(&bank);
    bank.verify();
}

/// The whole of a use whose only charge was for another project than its last document names is that project's.
#[test]
fn a_charge_that_was_undone_before_the_end_has_no_part() {
    let mut bank = funded();
    accepted(&bank, "charge", "a", ("chemistry", "amy"), 100);
    accepted(&bank, "charge", "a", ("physics", "bob"), 50);
    bank.bank_ok(&["undo", &last(&bank, "charge")]);
    let owner = "SELECT project, user FROM instance WHERE object_id = 'a'";
    assert_eq!(bank.query(owner), [["chemistry", "amy"]]);
    accepted(&bank, "charge", "a", ("physics", "bob"), 0);
    bank.script("delete", &document("a", ("physics", "bob"), 1, 0))
        .expect(0, "");
    assert_eq!(agreed(&bank), ["chemistry 100 100"]);
    bank.verify();
}

#[test]
fn a_late_charge_of_another_project_moves_no_hours() {
    let mut bank = funded();
    accepted(&bank, "end", "b", ("chemistry", "amy"), 100);
    accepted(&bank, "charge", "b", ("physics", "bob"), 50);
    assert_eq!(agreed(&bank), ["chemistry 100 100", "physics 50 50"]);
    let owner = "SELECT project, user FROM instance WHERE object_id = 'b'";
    assert_eq!(bank.query(owner), [["physics", "bob"]]);
    bank.bank_ok(&["undo", &last(&bank, "charge")]);
    assert_eq!(agreed(&bank), ["chemistry 100 100"]);
    assert_eq!(bank.query(owner), [["chemistry", "amy"]]);
    let jobs = bank.bank_ok(&["usage", "--from", "-infinity", "--to", "infinity", "--csv"]);
    assert!(!jobs.contains("physics"), "{jobs}");
    bank.bank_ok(&["undo", &last(&bank, "undo")]);
    assert_eq!(agreed(&bank), ["chemistry 100 100", "physics 50 50"]);
    assert_eq!(bank.query(owner), [["physics", "bob"]]);
    bank.verify();
}

/// A settlement moves what is unbilled; what the scheduler reports afterwards for the unknown project waits again.
#[test]
fn a_settlement_moves_what_was_unbilled() {
    let mut bank = funded();
    accepted(&bank, "charge", "c", ("ghost", "amy"), 100);
    bank.bank_ok(&["refund", "c", "20"]);
    let refunded = last(&bank, "refund");
    bank.bank_ok(&["settle", "c", "-A", "physics"]);
    // What came before would bill nobody.
    let undone = bank.bank(&["undo", &refunded]);
    assert!(undone.stderr.contains("another project"), "{undone:?}");
    accepted(&bank, "end", "c", ("ghost", "amy"), 50);
    assert_eq!(agreed(&bank), ["ghost 50 50", "physics 100 80"]);
    // The account of the settlement is the job's own: it pays what the job charges later.
    let again = bank.bank(&["settle", "c", "-A", "chemistry"]);
    assert!(again.stderr.contains("nothing unbilled"), "{again:?}");
    bank.verify();
}

/// Whoever pays, exports name the project of the job. Lines of FILE name the account that paid.
#[test]
fn a_fallback_account_pays_for_the_project_of_the_job() {
    let mut bank = Setup::new()
        .chemistry(0)
        .env("BANKD_FILE_PATH", "file.txt")
        .env("BANKD_FALLBACK_MODE", "bank")
        .start();
    bank.bank_ok(&["account", "set", "chemistry", "--fallback", "freecycle"]);
    let job = |event: &str, more: &str| {
        let text = format!(
            "<Job><ObjectID>f</ObjectID><User>amy</User><Account>chemistry</Account>\
             <Processors>2</Processors><WallDuration>600</WallDuration>{more}</Job>"
        );
        let ran = bank.script(event, text.as_bytes());
        assert_eq!(ran.exit, 0, "{ran:?}");
    };
    job("reserve", "");
    bank.set_clock(T0 + 100);
    job("end", "<ChargeDuration>100</ChargeDuration>");
    assert_eq!(agreed(&bank), ["chemistry 200 200"]);
    assert_eq!(lines(&bank), ["Job chemistry 200"]);
    let account = |format: &str| {
        let text = export(&bank, &[format]);
        ["chemistry", "freecycle"].map(|name| text.contains(name))
    };
    for format in ["xdmod", "csv", "ur1"] {
        assert_eq!(account(format), [true, false], "{format}");
    }
    assert_eq!(account("file"), [false, true]);
    bank.verify();
}

/// Use of which the charge was undone waits for no project: an assignment leaves it, and gives the reason.
#[test]
fn an_undone_use_is_not_assigned() {
    for mode in ["strict", "track"] {
        let mut bank = funded();
        bank.bank_ok(&["machine", "add", "green", "--mode", mode]);
        bank.set_clock(T0 + 86_400);
        let row = |id: u32| {
            format!(
                r#"{{"source":"s","id":"u{id}","machine":"green","project":"ghost","user":"amy","start":"2025-12-01T01:00:00Z","end":"2025-12-01T01:01:00Z","processors":4}}"#
            )
        };
        let (file, name) = path(&bank, "in.jsonl");
        std::fs::write(file, format!("{}\n{}\n", row(1), row(2))).unwrap();
        bank.bank_ok(&["import", "jsonl", &name]);
        let sql = "SELECT u.tx FROM usage u JOIN instance i ON i.id = u.instance
                   WHERE i.object_id = 'u1'";
        let charge = bank.query(sql)[0][0].clone();
        bank.bank_ok(&["undo", &charge]);
        let assign = ["unmapped", "assign", "account=ghost", "physics", "--yes"];
        let said = bank.bank_ok(&assign);
        assert!(
            said.contains("undone") || said.contains("reversed"),
            "{mode}: {said}"
        );
        agree(&bank);
        let all = lines(&bank);
        let hours = |project: &str| {
            let own = format!(" {project} 240");
            all.iter().filter(|line| line.ends_with(&own)).count()
        };
        assert!(
            hours("ghost") >= 1 && hours("physics") == 1,
            "{mode}: {all:?}"
        );
        let moved = "SELECT count(*) FROM usage_identity WHERE project = 'physics'";
        assert_eq!(bank.query(moved), [["1"]], "{mode}");
        bank.verify();
    }
}

/// A person gives a use to a project. The source reports it again with other processors: it stays with that project, until
/// the source names another owner.
#[test]
fn an_amended_record_stays_with_the_project_that_a_person_named() {
    for (mode, gives) in [
        ("strict", "settle"),
        ("strict", "assign"),
        ("track", "assign"),
    ] {
        let mut bank = funded();
        bank.bank_ok(&["machine", "add", "green", "--mode", mode]);
        bank.set_clock(T0 + 86_400);
        let reported = |project: &str, processors: u32| {
            let row = format!(
                r#"{{"source":"s","id":"u1","machine":"green","project":"{project}","user":"amy","start":"2025-12-01T01:00:00Z","end":"2025-12-01T01:01:00Z","processors":{processors}}}"#
            );
            let (file, name) = path(&bank, "in.jsonl");
            std::fs::write(file, row + "\n").unwrap();
            bank.bank_ok(&["import", "jsonl", &name]);
        };
        let hours = |expected: &str| {
            agree_exactly(&bank);
            let all = lines(&bank);
            let own = expected.split_once(' ').unwrap();
            let core: i64 = all
                .iter()
                .filter_map(|line| {
                    line.strip_prefix("Job ")
                        .or(line.strip_prefix("Adjustment "))
                })
                .filter_map(|line| line.split_once(' '))
                .filter(|(project, _)| *project == own.0)
                .map(|(_, hours)| hours.parse::<i64>().unwrap())
                .sum();
            assert_eq!(core.to_string(), own.1, "{mode} {gives}: {all:?}");
            let owner = "SELECT project FROM usage_identity";
            assert_eq!(bank.query(owner), [[own.0]], "{mode} {gives}");
            let waits = bank.json(&["unmapped"]);
            assert_eq!(waits["items"].as_array().map(Vec::len), Some(0), "{waits}");
        };
        reported("ghost", 4);
        if gives == "settle" {
            bank.bank_ok(&["settle", "u1", "-A", "physics"]);
        } else {
            let assign = ["unmapped", "assign", "account=ghost", "physics"];
            bank.bank_ok(&[&assign[..], &["--no-rule", "--yes"]].concat());
        }
        reported("ghost", 8);
        hours("physics 480");
        reported("ghost", 2);
        hours("physics 120");
        reported("chemistry", 2);
        hours("chemistry 120");
        bank.verify();
    }
}

/// A use left a project by an amended record, and was assigned. Without the charge of the assignment, it is not that
/// project's again: neither its hours nor later charges.
#[test]
fn an_undone_assignment_brings_no_earlier_project_back() {
    let mut bank = funded();
    bank.bank_ok(&["machine", "add", "green"]);
    bank.set_clock(T0 + 86_400);
    let reported = |project: &str, user: &str, minutes: u32| {
        let row = format!(
            r#"{{"source":"s","id":"u1","machine":"green","project":"{project}","user":"{user}","start":"2025-12-01T01:00:00Z","end":"2025-12-01T01:{minutes:02}:00Z","processors":2}}"#
        );
        let (file, name) = path(&bank, "in.jsonl");
        std::fs::write(file, row + "\n").unwrap();
        bank.bank_ok(&["import", "jsonl", &name]);
        agreed(&bank)
    };
    assert_eq!(reported("chemistry", "amy", 10), ["chemistry 1200 1200"]);
    assert_eq!(reported("ghost", "bob", 10), ["ghost 1200 1200"]);
    let assign = ["unmapped", "assign", "account=ghost", "physics"];
    bank.bank_ok(&[&assign[..], &["--no-rule", "--yes"]].concat());
    assert_eq!(agreed(&bank), ["physics 1200 1200"]);
    let charge = bank.query("SELECT max(tx) FROM entry WHERE kind = 'late_charge'")[0][0].clone();
    bank.bank_ok(&["undo", &charge]);
    assert_eq!(agreed(&bank), ["physics 1200 0"]);
    assert_eq!(reported("ghost", "bob", 20), ["physics 2400 2400"]);
    assert_eq!(bank.figures("chemistry").0, 100_000);
    bank.verify();
}

/// The id of a job comes back. A total of the later use that falls reduces what each of its owners was charged.
#[test]
fn a_falling_total_of_a_second_use_reduces_each_owner() {
    let mut bank = funded();
    accepted(&bank, "end", "a", ("chemistry", "amy"), 100);
    bank.set_clock(T0 + 86_400);
    accepted(&bank, "charge", "a", ("physics", "bob"), 30);
    accepted(&bank, "charge", "a", ("chemistry", "amy"), 60);
    let total = "charge a -A chemistry -u amy -m colony --procs 1 --duration 45 --total";
    bank.bank_ok(&total.split(' ').collect::<Vec<_>>());
    assert_eq!(agreed(&bank), ["chemistry 130 130", "physics 15 15"]);
    bank.verify();
}

/// Without both parts of its assignment, a use waits again: it is listed, and another project can get it. Done again, the
/// assignment holds.
#[test]
fn a_use_waits_again_after_the_undo_of_its_assignment() {
    for mode in ["strict", "track", "notional"] {
        let mut bank = funded();
        bank.bank_ok(&["machine", "add", "green", "--mode", mode]);
        bank.set_clock(T0 + 86_400);
        let row = r#"{"source":"s","id":"u1","machine":"green","project":"ghost","user":"bob","start":"2025-12-01T01:00:00Z","end":"2025-12-01T01:10:00Z","processors":2}"#;
        let (file, name) = path(&bank, "in.jsonl");
        std::fs::write(file, format!("{row}\n")).unwrap();
        bank.bank_ok(&["import", "jsonl", &name]);
        let state = || {
            agree_exactly(&bank);
            let waits = bank.json(&["unmapped"]);
            let waits = waits["items"].as_array().map_or(0, Vec::len);
            let owner = &bank.query("SELECT project FROM usage_identity")[0][0];
            format!("{owner}, {waits} waits")
        };
        let assign = |project: &str| {
            let assign = ["unmapped", "assign", "account=ghost", project];
            bank.bank_ok(&[&assign[..], &["--no-rule", "--yes"]].concat());
        };
        let last = || {
            bank.query("SELECT max(id) FROM tx")[0][0]
                .parse::<u64>()
                .unwrap()
        };
        let undo = |tx: u64| {
            bank.bank_ok(&["undo", &tx.to_string()]);
            last()
        };
        assert_eq!(state(), "ghost, 1 waits", "{mode}");
        assign("physics");
        assert_eq!(state(), "physics, 0 waits", "{mode}");
        let charge = last();
        let charge_undone = undo(charge);
        assert_eq!(state(), "physics, 0 waits", "{mode}");
        let return_undone = undo(charge - 1);
        assert_eq!(state(), "ghost, 1 waits", "{mode}");
        undo(return_undone);
        undo(charge_undone);
        assert_eq!(state(), "physics, 0 waits", "{mode}");
        undo(last());
        undo(last() - 2);
        assert_eq!(state(), "ghost, 1 waits", "{mode}");
        assign("chemistry");
        assert_eq!(state(), "chemistry, 0 waits", "{mode}");
        bank.verify();
    }
}

/// Usage can name a project that is not registered. Lists and exports select it by its name, and refuse a misspelt one.
#[test]
fn a_project_of_usage_only_is_selected_by_its_name() {
    let bank = funded();
    accepted(&bank, "charge", "a", ("ghost", "amy"), 100);
    accepted(&bank, "end", "b", ("chemistry", "amy"), 100);
    bank.script("delete", &document("a", ("ghost", "amy"), 1, 0))
        .expect(0, "");
    for format in ["jsonl", "csv"] {
        let text = export(&bank, &[format, "-A", "ghost"]);
        assert!(
            text.contains("ghost") && !text.contains("chemistry"),
            "{format}: {text}"
        );
    }
    let jobs = bank.json(&["jobs", "-A", "ghost"]);
    assert_eq!(jobs["items"].as_array().map(Vec::len), Some(1), "{jobs}");
    for command in [&["export", "jsonl"][..], &["jobs"], &["lien", "ls"]] {
        let refused = bank.bank(&[command, &["-A", "gohst"]].concat());
        assert!(refused.stderr.contains("gohst"), "{command:?}: {refused:?}");
        assert_ne!(refused.exit, 0, "{command:?}");
    }
}

/// A total that falls gives back to each user who was charged, and leaves each of them a part of the hours.
#[test]
fn a_total_that_falls_leaves_each_user_a_part() {
    let mut bank = funded();
    let charge = |bank: &Bank, user: &str, seconds: &str, total: &[&str]| {
        let words = [
            "charge",
            "a",
            "-m",
            "colony",
            "-A",
            "chemistry",
            "--procs",
            "1",
        ];
        let own = ["-u", user, "--duration", seconds];
        bank.bank_ok(&[&words[..], &own, total].concat());
    };
    charge(&bank, "amy", "200", &[]);
    charge(&bank, "bob", "50", &[]);
    charge(&bank, "bob", "200", &[]);
    agree(&bank);
    charge(&bank, "bob", "200", &["--total"]);
    agree(&bank);
    paid_everywhere(&bank, "chemistry", 200);
    for _ in 0..4 {
        turn_last(&bank);
    }
    bank.verify();
}

/// Undoes the last transaction, or does again what it undid, and compares.
fn turn_last(bank: &Bank) {
    let last = bank.query("SELECT max(id) FROM tx").concat().concat();
    bank.bank_ok(&["undo", &last, "--allow-debt"]);
    agree(bank);
}

/// The move of a use by an amended record, and its assignment, undone and done again.
#[test]
fn a_use_goes_with_its_move_and_comes_back_with_the_undo() {
    for mode in ["strict", "track"] {
        let mut bank = funded();
        bank.bank_ok(&["machine", "set", "colony", "--mode", mode]);
        bank.set_clock(T0 + 86_400);
        let record = |bank: &Bank, project: &str, user: &str| {
            let (file, name) = path(bank, "in.jsonl");
            let line = format!(
                r#"{{"source":"x","id":"a","machine":"colony","project":"{project}","user":"{user}","start":"{}","end":"{}","processors":1}}"#,
                "2026-01-01T00:00:00Z", "2026-01-01T00:10:00Z"
            );
            std::fs::write(file, line).unwrap();
            bank.bank_ok(&["import", "jsonl", &name]);
            agree(bank);
        };
        let paid = |bank: &Bank, chemistry: i64, physics: i64| {
            let parts = if mode == "track" {
                [0; 2]
            } else {
                [chemistry, physics]
            };
            paid_everywhere(bank, "chemistry", parts[0]);
            paid_everywhere(bank, "physics", parts[1]);
        };
        record(&bank, "chemistry", "amy");
        record(&bank, "physics", "bob");
        for _ in 0..3 {
            paid(&bank, 0, 600);
            turn_last(&bank);
            let owner = bank.query("SELECT project, user FROM instance");
            assert_eq!(owner, [["chemistry", "amy"]], "{mode}");
            paid(&bank, 600, 0);
            turn_last(&bank);
        }
        record(&bank, "lost", "bob");
        bank.bank_ok(&["unmapped", "assign", "account=lost", "chemistry", "--yes"]);
        agree(&bank);
        for _ in 0..2 {
            paid(&bank, 600, 0);
            turn_last(&bank);
            paid(&bank, 0, 0);
            turn_last(&bank);
        }
        bank.verify();
    }
}
