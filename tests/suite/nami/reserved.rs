//! A scheduler that reports whole reservations, and jobs that name their reservation: the reservation pays for
//! idle time only, in every order of documents (decision 0171).

use crate::export::sums::{agree_exactly, last};
use crate::harness::{Bank, Setup, T0};

/// A document about the reservation `class.1` of chemistry, about seconds after T0.
pub(super) fn reservation(processors: i64, from: i64, to: i64) -> String {
    let times = times(processors, from, to);
    format!(
        "<Reservation><ObjectID>class.1</ObjectID><Account>chemistry</Account>{times}</Reservation>"
    )
}

/// A document about a job of it; the name of the reservation is in the element `by`.
pub(super) fn job(id: &str, by: &str, (processors, from, to): (i64, i64, i64)) -> String {
    let times = times(processors, from, to);
    format!(
        "<Job><JobID>{id}</JobID><User>amy</User><Account>chemistry</Account><{by}>class.1</{by}>{times}</Job>"
    )
}

fn times(processors: i64, from: i64, to: i64) -> String {
    let (start, end, seconds) = (T0 + from, T0 + to, to - from);
    format!(
        "<Processors>{processors}</Processors><ChargeDuration>{seconds}</ChargeDuration>\
         <StartTime>{start}</StartTime><EndTime>{end}</EndTime>"
    )
}

pub(super) fn bank() -> Bank {
    let bank = Setup::new().chemistry(1_000_000).start();
    let charge = "--reservation-charge";
    bank.bank_ok(&["machine", "set", "colony", charge, "reported"]);
    bank.set_clock(T0 + 86_400);
    bank
}

pub(super) fn end(bank: &Bank, document: &str) {
    bank.script("end", document.as_bytes()).expect(0, "");
}

/// The number in the first column of a query.
pub(super) fn number(bank: &Bank, sql: &str) -> i64 {
    bank.query(sql)[0][0].parse().unwrap()
}

/// All that was billed, and what it would be by other rates.
fn replayed(bank: &Bank, rates: &[&str]) -> [i64; 2] {
    let all = ["rate", "test", "--replay", "last-90-days"];
    let answer = bank.json(&[&all[..], rates].concat());
    ["billed", "proposed"].map(|name| {
        let total = &answer["replay"]["total"];
        total[name].as_str().unwrap().parse().unwrap()
    })
}

pub(super) const BILLED: &str =
    "SELECT sum(billed) FROM instance WHERE object_type = 'reservation'";

#[test]
fn every_order_of_documents_gives_the_same_charge() {
    let documents = [
        reservation(16, 0, 3600),
        job("412", "Reservation", (4, 900, 2700)),
        // Before the reservation began, and after it ended.
        job("413", "RsvID", (2, -600, 600)),
        job("414", "ReqReservation", (8, 3000, 7200)),
        // Of another one.
        job("415", "Reservation", (8, 0, 3600)).replace("class.1", "class.2"),
    ];
    let idle = 16 * 3600 - 4 * 1800 - 2 * 600 - 8 * 600;
    let jobs = 4 * 1800 + 2 * 1200 + 8 * 4200 + 8 * 3600;
    for order in [
        [0, 1, 2, 3, 4],
        [4, 3, 2, 1, 0],
        [1, 0, 3, 2, 4],
        [2, 4, 0, 1, 3],
    ] {
        let mut bank = bank();
        for place in order {
            end(&bank, &documents[place]);
        }
        assert_eq!(number(&bank, BILLED), idle, "{order:?}");
        assert_eq!(bank.figures("chemistry").0, 1_000_000 - idle - jobs);
        // The journal, usage and the statement have the same sums.
        let used = "SELECT sum(amount) FROM usage";
        assert_eq!(number(&bank, used), idle + jobs);
        let moved = "SELECT -sum(delta_amount) FROM entry WHERE usage IS NOT NULL";
        assert_eq!(number(&bank, moved), idle + jobs);
        // So have the hours, also those of exports: at 1 credit per processor-second they equal the amounts.
        let (core_seconds, charged) = agree_exactly(&bank);
        assert_eq!(core_seconds, charged, "{order:?}");
        assert_eq!(core_seconds, i128::from(idle + jobs) * 1000);
        assert_eq!(replayed(&bank, &[]), [1, 1].map(|n| n * (idle + jobs)));
        let double = ["--rate", "VBR Processors 2"];
        assert_eq!(replayed(&bank, &double), [1, 2].map(|n| n * (idle + jobs)));
        bank.verify();
    }
}

/// Time counts once, whether it has a price or not, and after the charge of a job or of the reservation is undone.
#[test]
fn idle_hours_follow_jobs_without_a_price_and_undo() {
    let mut bank = bank();
    bank.bank_ok(&["machine", "set", "colony", "--mode", "track"]);
    end(&bank, &reservation(16, 0, 3600));
    assert_eq!(agree_exactly(&bank), (57_600_000, 0));
    end(&bank, &job("412", "Reservation", (4, 900, 2700)));
    assert_eq!(agree_exactly(&bank), (57_600_000, 0));
    let of_job = last(&bank, "charge");
    bank.bank_ok(&["undo", &of_job]);
    assert_eq!(agree_exactly(&bank), (57_600_000, 0));
    end(&bank, &job("413", "Reservation", (8, 3000, 4200)));
    assert_eq!(agree_exactly(&bank), (57_600_000 + 8 * 600_000, 0));
    bank.verify();
}

/// Documents that arrive weeks after the end: the charge and its correction count in the same month.
#[test]
fn a_correction_counts_where_the_late_charge_counts() {
    let bank = bank();
    bank.set_clock(T0 + 40 * 86_400);
    end(&bank, &reservation(16, 0, 3600));
    end(&bank, &job("412", "Reservation", (4, 900, 2700)));
    bank.set_clock(T0 + 41 * 86_400);
    let report = bank.json(&["usage", "--by", "month", "--year", "2026"]);
    let rows = report["rows"].as_array().unwrap().iter();
    let rows: Vec<(&str, &str)> = rows
        .filter(|row| row["core_hours"] != "0.000000")
        .map(|row| {
            (
                row["bucket_from"].as_str().unwrap(),
                row["core_hours"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(rows, [("2026-02-01T00:00:00Z", "16.000000")], "{report:#}");
}

#[test]
fn explain_shows_the_jobs_and_the_correction_names_the_job() {
    let mut bank = bank();
    end(&bank, &reservation(16, 0, 3600));
    end(&bank, &job("412", "Reservation", (4, 900, 2700)));
    let text = bank.bank_ok(&["explain", "class.1"]);
    let head = "job class.1 on colony, amounts in credits\n\n\
                reserved 57600 processor-seconds, idle 50400\n  \
                job 412 of project chemistry used 7200\n";
    assert!(text.starts_with(head), "{text}");
    assert!(
        text.contains("57600 of 57600 processor-seconds were idle"),
        "{text}"
    );
    let of_job = number(&bank, "SELECT max(id) FROM tx WHERE op = 'charge'");
    assert!(
        text.contains(&format!("corrects transaction {of_job}")),
        "{text}"
    );
    // An undo of the job's charge bills the reservation again; of the correction it is refused.
    let correction = number(&bank, "SELECT max(id) FROM tx WHERE op = 'adjust'");
    let refused = bank.bank(&["undo", &correction.to_string()]);
    assert_eq!(refused.exit, 1);
    assert!(
        refused.stderr.contains("it follows the charge of a job"),
        "{refused:?}"
    );
    bank.bank_ok(&["undo", &of_job.to_string(), "--dry-run"]);
    assert_eq!(number(&bank, BILLED), 50_400);
    bank.bank_ok(&["undo", &of_job.to_string()]);
    assert_eq!(number(&bank, BILLED), 57_600);
    assert_eq!(bank.figures("chemistry").0, 1_000_000 - 57_600);
    let text = bank.bank_ok(&["explain", "class.1"]);
    assert!(text.contains("idle 57600\n"), "{text}");
    bank.verify();
}

/// Documents without times of their own: the time of each event counts.
#[test]
fn interim_charges_of_both_follow_the_clock() {
    let mut bank = bank();
    let plain = |document: String| {
        let cut = document.find("<StartTime>").unwrap();
        let close = document.rfind("</").unwrap();
        format!("{}{}", &document[..cut], &document[close..])
    };
    let start = 90_000;
    for (at, processors, busy) in [(3600, 16, 4), (7200, 8, 8), (10_800, 8, 2)] {
        bank.set_clock(T0 + start + at);
        let own = plain(reservation(processors, 0, 3600));
        bank.script("charge", own.as_bytes()).expect(0, "");
        let own = plain(job("412", "Reservation", (busy, 0, 3600)));
        bank.script("charge", own.as_bytes()).expect(0, "");
    }
    assert_eq!(number(&bank, BILLED), (12 + 6) * 3600);
    bank.bank_ok(&["refund", "412", "100"]);
    assert_eq!(number(&bank, BILLED), (12 + 6) * 3600);
    bank.verify();
}

#[test]
fn the_setting_is_one_of_two_words_and_can_be_undone() {
    let mut bank = bank();
    let set = ["machine", "set", "colony", "--reservation-charge"];
    let refused = bank.bank(&[&set[..], &["some"]].concat());
    assert_ne!(refused.exit, 0);
    let said = format!("{}{}", refused.stderr, refused.stdout);
    assert!(said.contains("idle") && said.contains("reported"), "{said}");
    let shown = bank.bank_ok(&["machine", "show", "colony"]);
    assert!(shown.contains("reported"), "{shown}");
    let last = number(&bank, "SELECT max(id) FROM tx WHERE op = 'machine_set'");
    bank.bank_ok(&["undo", &last.to_string()]);
    end(&bank, &job("412", "Reservation", (4, 900, 2700)));
    end(&bank, &reservation(16, 0, 3600));
    assert_eq!(number(&bank, BILLED), 57_600);
    bank.verify();
}

/// The correction of the reservation that follows an undo is not the undo.
#[test]
fn the_answer_to_an_undo_names_the_undo() {
    let mut bank = bank();
    end(&bank, &reservation(16, 0, 3600));
    end(&bank, &job("412", "Reservation", (4, 900, 2700)));
    let sql = "SELECT max(id) FROM tx WHERE op = ";
    let charge = number(&bank, &format!("{sql}'charge'"));
    let before = number(&bank, BILLED);
    let undo = bank.json(&["undo", &charge.to_string()])["transaction"].to_string();
    assert_eq!(undo, number(&bank, &format!("{sql}'undo'")).to_string());
    assert_ne!(
        number(&bank, BILLED),
        before,
        "the reservation pays for more"
    );
    let again = bank.json(&["undo", &undo])["transaction"].to_string();
    assert_eq!(again, number(&bank, &format!("{sql}'undo'")).to_string());
    assert_eq!(number(&bank, BILLED), before);
    bank.verify();
}
