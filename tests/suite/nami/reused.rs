//! Ids that a scheduler uses again, and documents that others overtook.

use super::repeats::{billed, document, rich, times};
use crate::export::sums;
use crate::harness::{Bank, Request, T0};

#[test]
fn a_second_run_right_after_the_end_is_a_use_of_its_own() {
    let mut bank = rich();
    bank.set_clock(T0 + 900);
    let first = document("u.1", 900, &times(T0, T0 + 900));
    bank.script("end", &first).expect(0, "");
    bank.set_clock(T0 + 1260);
    let second = document("u.1", 300, &times(T0 + 960, T0 + 1260));
    bank.script("end", &second).expect(0, "");
    assert_eq!((billed(&bank, 1_000_000), bank.jobs().len()), (1200, 2));
    // Each of them again adds nothing, also without the keys of the scripts.
    bank.set_clock(T0 + 9000);
    for end in [&first, &second] {
        bank.script("end", end).expect(0, "");
    }
    assert_eq!((billed(&bank, 1_000_000), bank.jobs().len()), (1200, 2));
    bank.verify();
}

/// The `end` of the first run comes again while the second run is open: it adds nothing, and the second run goes on.
#[test]
fn an_end_of_the_first_run_leaves_the_second_one_open() {
    let mut bank = rich();
    let start = |at: i64| document("u.9", 3600, &format!("<StartTime>{at}</StartTime>"));
    let first = document("u.9", 3600, &times(T0, T0 + 3600));
    bank.script("reserve", &start(T0)).expect(0, "");
    bank.set_clock(T0 + 3600);
    bank.script("end", &first).expect(0, "");
    bank.set_clock(T0 + 7200);
    bank.script("reserve", &start(T0 + 7200)).expect(0, "");
    bank.set_clock(T0 + 8400);
    let mut request = Request::nami("end", "again", &first);
    request.target.push_str("?machine=colony");
    assert_eq!(bank.over_socket(&request).status, 200);
    assert_eq!(bank.held(), [("chemistry".to_owned(), 3600)]);
    bank.set_clock(T0 + 10_800);
    let second = document("u.9", 3600, &times(T0 + 7200, T0 + 10_800));
    bank.script("end", &second).expect(0, "");
    assert_eq!(bank.figures("chemistry").0, 1_000_000 - 7200);
    assert_eq!(bank.jobs().len(), 2);
    sums::agree(&bank);
    sums::paid_everywhere(&bank, "chemistry", 7200);
    bank.verify();
}

/// A window that one use of an id has billed is not billed again by another use of it.
#[test]
fn a_window_is_billed_once_over_all_uses_of_an_id() {
    let mut bank = rich();
    bank.set_clock(T0 + 86_400);
    let charge = |id: &str, (from, to): (i64, i64), more: &[&str]| {
        let [from, to] = [from, to].map(|hour| format!("2026-01-01T{hour:02}:00:00Z"));
        let line = format!(
            "charge {id} -A chemistry -u amy -m colony --procs 1 --start {from} --end {to}"
        );
        let words: Vec<&str> = line.split(' ').chain(more.iter().copied()).collect();
        bank.bank_ok(&words);
        1_000_000 - bank.figures("chemistry").0
    };
    // The first charge is of the later time, and the second one closes the job.
    assert_eq!(charge("w.1", (5, 6), &["--interim"]), 3600);
    assert_eq!(charge("w.1", (2, 3), &[]), 7200);
    assert_eq!(charge("w.1", (5, 6), &[]), 7200);
    assert_eq!(bank.jobs().len(), 1);
    // A second use of the id between.
    assert_eq!(charge("w.2", (5, 6), &[]), 10_800);
    assert_eq!(charge("w.2", (3, 4), &["--interim"]), 14_400);
    assert_eq!(charge("w.2", (5, 6), &[]), 14_400);
    // A window over both bills the rest.
    assert_eq!(charge("w.2", (3, 7), &[]), 21_600);
    sums::agree(&bank);
    sums::paid_everywhere(&bank, "chemistry", 21_600);
    bank.verify();
}

/// A refund and a settlement reach each use of an id. Without a number, a settlement finds those that nobody pays for.
#[test]
fn each_use_of_an_id_is_refunded_and_settled() {
    let mut bank = rich();
    for (id, project) in [("u.1", "chemistry"), ("u.2", "ghost")] {
        for hour in [1, 3] {
            let end = T0 + hour * 3600;
            bank.set_clock(end.max(T0 + 3 * 3600 * i64::from(id == "u.2")));
            let run = document(id, 100 * hour, &times(end - 100 * hour, end));
            let run = String::from_utf8(run).unwrap();
            let run = run.replace("<Account>chemistry", &format!("<Account>{project}"));
            bank.script("end", run.as_bytes()).expect(0, "");
        }
    }
    assert_eq!(billed(&bank, 1_000_000), 400);
    let refund = |words: &[&str]| bank.bank(&[&["refund", "u.1"], words].concat());
    let ran = refund(&["301"]);
    ran.expect_stderr(&["only 300 credits", "--use N refunds an earlier one"]);
    assert_eq!(refund(&["100", "--use", "1"]).exit, 0);
    refund(&["--use", "3"]).expect_stderr(&["u.1, use 3"]);
    let refunded = "SELECT i.number, e.delta_amount FROM entry e JOIN usage u ON u.id = e.usage
                    JOIN instance i ON i.id = u.instance WHERE e.kind = 'refund'";
    assert_eq!(bank.query(refunded), [["1", "100"]]);
    let settled = |words: &[&str]| {
        let ran = bank.bank(&[&["settle", "u.2", "-A", "chemistry"], words].concat());
        (ran.exit, 1_000_000 - bank.figures("chemistry").0)
    };
    assert_eq!(settled(&["--use", "1"]), (0, 400));
    assert_eq!(settled(&[]), (0, 700));
    assert_eq!(settled(&[]).0, 1);
    sums::agree(&bank);
    bank.verify();
}

/// An explanation lists the uses of an id, and explains the one that is asked for.
#[test]
fn each_use_of_an_id_is_explained() {
    let mut bank = rich();
    for (start, end) in [(0, 900), (960, 1260)] {
        bank.set_clock(T0 + end);
        let run = document("u.1", end - start, &times(T0 + start, T0 + end));
        bank.script("end", &run).expect(0, "");
    }
    let charged = |more: &[&str]| {
        let answer = bank.json(&[&["explain", "u.1"], more].concat());
        let uses = answer["uses"].as_array().unwrap();
        let uses: Vec<i64> = uses
            .iter()
            .map(|one| one["number"].as_i64().unwrap())
            .collect();
        assert_eq!(uses, [2, 1], "{answer}");
        let entry = &answer["items"][0]["entries"][0];
        (answer["number"].clone(), entry["amount"].clone())
    };
    assert_eq!(charged(&[]), (2.into(), "-300".into()));
    assert_eq!(charged(&["--use", "1"]), (1.into(), "-900".into()));
    assert_eq!(bank.bank(&["explain", "u.1", "--use", "3"]).exit, 4);
    let screen = bank.bank_ok(&["explain", "u.1"]);
    assert!(
        screen.contains("* use 2: ") && screen.contains("  use 1: "),
        "{screen}"
    );
    let run = document("u.2", 60, &times(T0 + 1200, T0 + 1260));
    bank.script("end", &run).expect(0, "");
    let one = bank.json(&["explain", "u.2"]);
    assert_eq!(one["uses"].as_array().unwrap().len(), 0, "{one}");
    bank.verify();
}

#[test]
fn parts_that_wait_in_a_spool_are_billed_behind_later_ones() {
    let mut bank = rich();
    let part = |hour: i64| document("u.2", 3600, &times(T0, T0 + 3600 * hour));
    bank.stop();
    for hour in [1, 2] {
        bank.set_clock(T0 + 3600 * hour);
        bank.script("charge", &part(hour)).expect(0, "");
    }
    bank.set_clock(T0 + 3 * 3600);
    bank.start();
    let elsewhere = format!("spool_dir={}", bank.folder().join("elsewhere").display());
    for hour in [3, 4] {
        bank.set_clock(T0 + 3600 * hour);
        let call = bank.call("charge").set(&elsewhere);
        call.body(&part(hour)).run().expect(0, "");
    }
    bank.call("drain").run().expect(0, "");
    assert_eq!(billed(&bank, 1_000_000), 4 * 3600);
    bank.verify();
}

#[test]
fn another_users_job_of_an_id_does_not_join_an_expired_use() {
    let mut bank = rich();
    bank.bank_ok(&["project", "add", "bio", "--members", "bob"]);
    bank.bank_ok(&["deposit", "bio", "50000"]);
    bank.script("reserve", &document("u.3", 600, ""))
        .expect(0, "");
    bank.set_clock(T0 + 3_000_000);
    let other = String::from_utf8(document("u.3", 600, "")).unwrap();
    let other = other.replace("amy", "bob").replace("chemistry", "bio");
    bank.script("charge", other.as_bytes()).expect(0, "");
    assert_eq!((billed(&bank, 1_000_000), bank.jobs().len()), (0, 2));
    assert_eq!(bank.figures("bio").0, 49_400);
    bank.verify();
}

#[test]
fn an_undone_charge_leaves_no_disputed_seconds() {
    let mut bank = rich();
    bank.script("reserve", &document("u.4", 600, ""))
        .expect(0, "");
    bank.set_clock(T0 + 600);
    let charge = document("u.4", 60_000, "");
    bank.script("charge", &charge).expect(0, "");
    assert!(bank.bank_ok(&["jobs", "u.4"]).contains("disputed"));
    let last = bank.query("SELECT max(id) FROM tx WHERE op = 'charge'")[0][0].clone();
    bank.bank_ok(&["undo", &last]);
    let shown = bank.bank_ok(&["jobs", "u.4"]);
    assert!(!shown.contains("disputed"), "{shown}");
    bank.verify();
}

/// `Charged` was the name of the seconds, and is the money everywhere else.
#[test]
fn a_query_of_billed_seconds_takes_the_former_name_too() {
    let bank = rich();
    bank.set_clock(T0 + 600);
    let end = document("u.5", 600, &times(T0, T0 + 600));
    bank.script("end", &end).expect(0, "");
    for name in ["BilledSeconds", "Charged"] {
        let shown = bank.bank_ok(&["query", "Job", "Query", &format!("Show:={name}")]);
        let is_there = shown.contains("BilledSeconds") && shown.contains("600");
        assert!(is_there, "{name}: {shown}");
    }
}

/// Totals begin at 0 again with each run of a job, also of one that is put back into the queue without a delete.
#[test]
fn totals_of_a_second_run_are_added_to_the_first() {
    for is_stated in [false, true] {
        let mut bank = rich();
        bank.bank_ok(&[
            "machine",
            "set",
            "colony",
            "--charge-duration",
            "cumulative",
        ]);
        let runs: [(i64, &[i64]); 2] = [(0, &[300, 600]), (900, &[1000, 1400])];
        for (start, ends) in runs {
            bank.set_clock(T0 + start);
            let stated = if is_stated {
                format!("<StartTime>{}</StartTime>", T0 + start)
            } else {
                String::new()
            };
            let held = document("u.6", 3600, &stated);
            bank.script("reserve", &held).expect(0, "");
            for end in ends {
                bank.set_clock(T0 + end);
                let total = document("u.6", end - start, &times(T0 + start, T0 + end));
                bank.script("charge", &total).expect(0, "");
                bank.script("charge", &total).expect(0, "");
            }
        }
        bank.set_clock(T0 + 1500);
        bank.script("delete", &document("u.6", 500, ""))
            .expect(0, "");
        assert_eq!(bank.figures("chemistry"), (998_900, 0, 998_900));
        let uses = bank.json(&["explain", "u.6"])["uses"].clone();
        assert_eq!(uses.as_array().unwrap().len(), 2, "{uses}");
        sums::agree(&bank);
        bank.verify();
    }
}

/// A start right after the end holds nothing, because the end can have overtaken it. If the use had its reserve before, the
/// next end is that of another run.
#[test]
fn the_run_of_an_absorbed_start_is_billed() {
    let mut bank = rich();
    let run = |bank: &mut Bank, from: i64, seconds: i64| {
        bank.set_clock(T0 + from);
        bank.script("start", &document("u.7", 0, "")).expect(0, "");
        bank.set_clock(T0 + from + seconds);
        let end = document("u.7", seconds, "");
        bank.script("end", &end).expect(0, "");
        bank.set_clock(T0 + from + seconds + 30);
        bank.script("end", &end).expect(0, "");
    };
    run(&mut bank, 0, 100);
    assert_eq!(billed(&bank, 1_000_000), 100);
    run(&mut bank, 200, 60);
    assert_eq!(billed(&bank, 1_000_000), 160);
    run(&mut bank, 400, 70);
    assert_eq!(billed(&bank, 1_000_000), 230);
    sums::agree(&bank);
    bank.verify();
}

/// The lien of a start that comes long after its job is over at once, and must not keep the use open beyond its end.
#[test]
fn both_runs_of_a_job_are_billed_after_an_outage() {
    let mut bank = rich();
    bank.set_clock(T0 + 40_000);
    for (event, at, seconds) in [
        ("start", "00:00:00", 0),
        ("end", "00:02:17", 137),
        ("start", "00:40:00", 0),
        ("end", "00:45:00", 300),
    ] {
        let body = document("u.8", seconds, "");
        let mut request = Request::nami(event, &format!("{event}-{at}"), &body);
        request.target.push_str("?machine=colony");
        let request = request.header("Bank-Event-Time", &format!("2026-01-01T{at}Z"));
        let answer = bank.over_socket(&request);
        assert_eq!(answer.status, 200, "{event} {at}: {}", answer.text());
    }
    bank.set_clock(T0 + 90_000);
    assert_eq!(bank.figures("chemistry"), (999_563, 0, 999_563));
    assert_eq!(
        bank.json(&["explain", "u.8"])["uses"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    sums::agree(&bank);
    bank.verify();
}
