//! Later documents of a job that name another project: each project has the hours and the amount of its own charges
//! (docs/how-to/usage.md), also where a total falls or idle time goes back.

use serde_json::Value;

use super::reserved;
use crate::export::sums::{agree, agree_exactly, last, paid_everywhere};
use crate::harness::{Bank, Setup, T0};

/// A document of amy's job on some processors.
fn document(project: &str, processors: i64, seconds: i64) -> String {
    format!(
        "<Job><ObjectID>job.1</ObjectID><User>amy</User><Account>{project}</Account>\
         <Processors>{processors}</Processors><WallDuration>4800</WallDuration>\
         <ChargeDuration>{seconds}</ChargeDuration><StartTime>{T0}</StartTime></Job>"
    )
}

fn bank(mode: &str) -> Bank {
    let bank = Setup::new().chemistry(1_000_000).start();
    let charge = ["--charge-duration", "cumulative", "--mode", mode];
    bank.bank_ok(&[&["machine", "set", "colony"], &charge[..]].concat());
    bank.bank_ok(&["project", "add", "bio", "--members", "amy"]);
    bank.bank_ok(&["deposit", "bio", "1000000"]);
    bank
}

fn send(bank: &Bank, event: &str, after: i64, document: &str) {
    bank.set_clock(T0 + after);
    bank.script(event, document.as_bytes()).expect(0, "");
}

/// Core-seconds and cost by the keys of usage, without rows of nothing.
fn usage(bank: &Bank, keys: &str) -> Vec<String> {
    let period = ["--from", "2025-12-01", "--to", "2026-03-01"];
    let table = bank.json(&[&["usage", "--by", keys], &period[..]].concat());
    let rows = table["rows"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let line = |row: &Value| {
        let shadow = text(&row["shadow_charged"]);
        let cost = Some(text(&row["charged"])).filter(|cost| cost != "0");
        let cost = cost.unwrap_or(shadow);
        let seconds = text(&row["core_seconds"]);
        let seconds = seconds.trim_end_matches('0').trim_end_matches('.');
        let names: Vec<String> = keys
            .split(',')
            .map(|key| match key {
                "month" => text(&row["bucket"]),
                key => text(&row["keys"][key]),
            })
            .collect();
        (!["", "0"].contains(&seconds) || cost != "0")
            .then(|| format!("{} {seconds} {cost}", names.join(" ")))
    };
    let mut lines: Vec<String> = rows.filter_map(line).collect();
    lines.sort();
    lines
}

#[test]
fn a_total_that_falls_goes_back_in_the_names_of_its_charge() {
    for mode in ["strict", "notional"] {
        let mut bank = bank(mode);
        send(&bank, "charge", 500, &document("chemistry", 2, 500));
        send(&bank, "end", 600, &document("bio", 1, 600));
        // 1,000 core-seconds, and 100 more on fewer processors: the whole costs 600.
        assert_eq!(usage(&bank, "project"), ["chemistry 1100 600"], "{mode}");
        if mode == "strict" {
            assert_eq!(bank.figures("chemistry").0, 1_000_000 - 600);
            agree_exactly(&bank);
            paid_everywhere(&bank, "chemistry", 600);
            paid_everywhere(&bank, "bio", 0);
        }
        bank.verify();
    }
}

/// A total that falls to 600 gives back the 200 that a refund of 800 left. The refund stays until the fall is undone.
#[test]
fn a_refund_that_a_total_fell_into_adds_up_everywhere() {
    let mut bank = bank("strict");
    let sums_are = |bank: &Bank, paid: i64| {
        agree_exactly(bank);
        paid_everywhere(bank, "chemistry", paid);
        assert_eq!(bank.figures("chemistry").0, 1_000_000 - paid);
    };
    send(&bank, "charge", 500, &document("chemistry", 2, 500));
    bank.bank_ok(&["refund", "job.1", "800"]);
    send(&bank, "end", 600, &document("chemistry", 1, 600));
    sums_are(&bank, 0);
    let refund = last(&bank, "refund");
    let ran = bank.bank(&["undo", &refund]);
    assert_eq!(ran.exit, 1, "{}", ran.stdout);
    ran.expect_stderr(&["not reversible", "gave back all that the refund had left"]);
    sums_are(&bank, 0);
    bank.bank_ok(&["undo", &last(&bank, "charge")]);
    sums_are(&bank, 200);
    bank.bank_ok(&["undo", &refund]);
    sums_are(&bank, 1000);
    bank.verify();
}

#[test]
fn a_total_of_two_projects_falls_for_both() {
    let mut bank = bank("strict");
    // The account of the first charge paid everything.
    let sums_are = |paid: i64| {
        agree(&bank);
        paid_everywhere(&bank, "chemistry", paid);
        paid_everywhere(&bank, "bio", 0);
    };
    send(&bank, "charge", 600, &document("chemistry", 1, 600));
    send(&bank, "charge", 1000, &document("bio", 1, 1000));
    assert_eq!(
        usage(&bank, "project"),
        ["bio 400 400", "chemistry 600 600"]
    );
    send(&bank, "end", 1100, &document("bio", 1, 500));
    let fallen = ["bio 200 200", "chemistry 300 300"];
    assert_eq!(usage(&bank, "project"), fallen);
    assert_eq!(usage(&bank, "account").len(), 1);
    sums_are(500);
    // Its undo and redo move the same.
    let last = || bank.query("SELECT max(id) FROM tx")[0][0].clone();
    bank.bank_ok(&["undo", &last()]);
    assert_eq!(
        usage(&bank, "project"),
        ["bio 400 400", "chemistry 600 600"]
    );
    sums_are(1000);
    bank.bank_ok(&["undo", &last()]);
    assert_eq!(usage(&bank, "project"), fallen);
    sums_are(500);
    bank.verify();
}

/// A total that falls takes back time of the use, not time before its arrival.
#[test]
fn a_total_that_falls_counts_when_its_time_was_charged() {
    let mut bank = bank("strict");
    send(&bank, "charge", 4000, &document("chemistry", 1, 3600));
    send(
        &bank,
        "end",
        31 * 86_400 + 600,
        &document("chemistry", 1, 600),
    );
    assert_eq!(usage(&bank, "month"), ["2026-01 600 600"]);
    agree(&bank);
    bank.verify();
}

/// Idle time that a job takes goes back in the names of the charge that had billed it.
#[test]
fn idle_time_goes_back_in_the_names_of_its_charge() {
    let half = |to: i64, project: &str| {
        let whole = reserved::reservation(16, to - 1800, to);
        whole.replace(">chemistry<", &format!(">{project}<"))
    };
    let job = reserved::job("1", "Reservation", (8, 0, 1800));
    for order in [[0, 1, 2], [2, 0, 1]] {
        let mut bank = reserved::bank();
        bank.bank_ok(&["project", "add", "bio", "--members", "amy"]);
        bank.bank_ok(&["deposit", "bio", "1000000"]);
        for place in order {
            match place {
                0 => {
                    let first = half(1800, "chemistry");
                    bank.script("charge", first.as_bytes()).expect(0, "");
                }
                1 => reserved::end(&bank, &half(3600, "bio")),
                _ => reserved::end(&bank, &job),
            }
        }
        let each = ["bio 28800 28800", "chemistry 28800 28800"];
        assert_eq!(usage(&bank, "project"), each, "{order:?}");
        agree_exactly(&bank);
        bank.verify();
    }
}

/// The cost of a correction of idle time is in the months of its hours, and inside the reservation.
#[test]
fn idle_time_goes_back_over_the_time_of_the_job() {
    let month_end = 31 * 86_400;
    let mut bank = reserved::bank();
    bank.set_clock(T0 + month_end + 7200);
    reserved::end(
        &bank,
        &reserved::reservation(16, month_end - 3600, month_end + 3600),
    );
    bank.set_clock(T0 + month_end + 9000);
    let job = (12, month_end - 1800, month_end + 5400);
    reserved::end(&bank, &reserved::job("1", "Reservation", job));
    // One credit for a core-second in each month.
    for row in usage(&bank, "month") {
        let cells: Vec<&str> = row.split(' ').collect();
        assert_eq!(cells[1], cells[2], "{row}");
    }
    agree_exactly(&bank);
    bank.verify();
}

/// An undone charge by hand for another project leaves the payer of the job as it was.
#[test]
fn an_undone_charge_by_hand_leaves_the_payer() {
    let mut bank = Setup::new().chemistry(1000).start();
    bank.bank_ok(&["project", "add", "bio", "--members", "amy"]);
    bank.bank_ok(&["deposit", "bio", "1000"]);
    let part = |seconds: i64| document("chemistry", 1, seconds);
    send(&bank, "charge", 100, &part(100));
    let by_hand = |job: &str| {
        let words = [
            "charge", job, "-A", "bio", "-u", "amy", "-m", "colony", "--procs", "1",
        ];
        bank.bank_ok(&[&words[..], &["--duration", "50", "--interim"]].concat());
        let last = bank.query("SELECT max(id) FROM tx WHERE op = 'charge'")[0][0].clone();
        bank.bank_ok(&["undo", &last]);
    };
    by_hand("job.1");
    send(&bank, "end", 400, &part(300));
    assert_eq!(bank.figures("chemistry").0, 600);
    // Also where it was the only charge.
    by_hand("job.2");
    let other = part(60).replace("job.1", "job.2");
    send(&bank, "end", 500, &other);
    assert_eq!(bank.figures("chemistry").0, 540);
    assert_eq!(bank.figures("bio").0, 1000);
    agree(&bank);
    paid_everywhere(&bank, "chemistry", 460);
    paid_everywhere(&bank, "bio", 0);
    bank.verify();
}

/// A total after the lien expired is of the same run if it has its start, whatever project it names.
#[test]
fn a_total_after_the_lien_expired_bills_its_run_once() {
    let mut bank = bank("strict");
    send(&bank, "reserve", 0, &document("chemistry", 1, 0));
    send(&bank, "charge", 3000, &document("chemistry", 1, 3000));
    send(&bank, "end", 28_800, &document("bio", 1, 28_800));
    let parts = ["bio 25800 25800", "chemistry 3000 3000"];
    assert_eq!(usage(&bank, "project"), parts);
    assert_eq!(bank.jobs().len(), 1);
    agree(&bank);
    paid_everywhere(&bank, "chemistry", 28_800);
    paid_everywhere(&bank, "bio", 0);
    bank.verify();
}
