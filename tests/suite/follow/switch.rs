//! A use is billed once, whichever source reports it: the source of a machine changes while jobs run, its
//! files overlap the change, and its scheduler continues to ask (decisions.md 43 and 44).

use std::fmt::Write as _;
use std::fs;

use bank_core::decimal::Decimal;
use serde_json::Value;

use crate::harness::{Bank, Setup, T0};

/// A document of the scheduler: two processors, so that a second is two credits.
fn document(job: &str, seconds: i64, times: &str) -> Vec<u8> {
    format!(
        "<Job><ObjectID>{job}</ObjectID><User>amy</User><Account>chemistry</Account>\
         <Machine>colony</Machine><Processors>2</Processors><WallDuration>7200</WallDuration>\
         <ChargeDuration>{seconds}</ChargeDuration>{times}</Job>"
    )
    .into_bytes()
}

/// Sends an event of the scheduler about a job at a time after T0, with the seconds that it charges.
fn send_event(bank: &Bank, event: &str, job: &str, at: i64, seconds: i64) {
    bank.set_clock(T0 + at);
    let words = document(job, seconds, "");
    bank.script(event, &words).expect(0, "");
}

fn source(bank: &Bank, name: &str) {
    bank.bank_ok(&["machine", "set", "colony", "--source", name]);
}

/// An accounting file of jobs: their ids, when they began and ended, and their processors.
fn file(bank: &Bank, name: &str, jobs: &[(&str, i64, i64, u32)]) -> String {
    let mut text = String::new();
    for (id, start, end, processors) in jobs {
        let (start, end) = (T0 + start, T0 + end);
        writeln!(
            text,
            "01/01/2026 00:00:00;E;{id};user=amy account=chemistry ctime={start} start={start} \
             end={end} resources_used.ncpus={processors}"
        )
        .unwrap();
    }
    let path = bank.folder().join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Imports a file; what became of its jobs, such as `4 charged, 1 kept`.
fn import(bank: &Bank, of: &str, file: &str) -> String {
    let output = bank.bank_ok(&["import", "pbs", file, "--source", of, "-m", "colony"]);
    let head = format!("in the bank, from {of}: ");
    let line = output.lines().find_map(|line| line.strip_prefix(&head));
    line.unwrap_or_else(|| panic!("{output}")).to_owned()
}

/// All money that was taken, in credits.
fn taken(bank: &Bank) -> i64 {
    let (amount, _, _) = bank.figures("chemistry");
    1_000_000 - amount
}

/// Jobs and processor-seconds of all use, by the sums and by the records, which agree.
fn used(bank: &Bank) -> (i64, i64) {
    let words = [
        "usage",
        "--by",
        "machine",
        "--from",
        "2025-12-31",
        "--to",
        "2026-01-09",
        "--tz",
        "UTC",
    ];
    let figure = |found: &Value, name: &str| {
        let text = found["total"][name].as_str().unwrap_or("0");
        i64::try_from(Decimal::parse(text).unwrap().billionths() / 1_000_000_000).unwrap()
    };
    let sums = bank.json(&words);
    let records = bank.json(&[&words[..], &["--records"]].concat());
    let both = |found: &Value| (figure(found, "jobs"), figure(found, "core_seconds"));
    assert_eq!(both(&sums), both(&records), "{sums} {records}");
    both(&sums)
}

/// Processor-seconds of all use that an export has.
fn exported(bank: &Bank) -> i64 {
    let export = bank.bank_ok(&["export", "jsonl"]);
    let lines = export.lines().skip(1);
    let product = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        let number = |name: &str| {
            let text = line[name].as_str().unwrap_or("0");
            Decimal::parse(text).unwrap().billionths() / 1_000_000_000
        };
        i64::try_from(number("processors") * number("charge_s")).unwrap()
    };
    lines.map(product).sum()
}

fn rich() -> Bank {
    Setup::new().chemistry(1_000_000).start()
}

#[test]
fn a_collector_that_takes_over_bills_what_is_not_billed() {
    let mut bank = rich();
    source(&bank, "nami");
    // One is over before the change, one runs through it, one has only its reserve by then.
    send_event(&bank, "reserve", "1.pbs", 0, 7200);
    send_event(&bank, "reserve", "2.pbs", 0, 7200);
    send_event(&bank, "charge", "1.pbs", 600, 600);
    send_event(&bank, "end", "1.pbs", 900, 300);
    send_event(&bank, "charge", "2.pbs", 1200, 1200);
    send_event(&bank, "reserve", "3.pbs", 1300, 7200);
    assert_eq!((taken(&bank), used(&bank)), (4200, (2, 4200)));
    source(&bank, "pbs:colony");
    send_event(&bank, "reserve", "4.pbs", 1500, 7200);
    send_event(&bank, "charge", "2.pbs", 1800, 600);
    send_event(&bank, "end", "3.pbs", 2000, 700);
    send_event(&bank, "end", "2.pbs", 3000, 1200);
    send_event(&bank, "end", "4.pbs", 3000, 1500);
    assert_eq!((taken(&bank), used(&bank)), (4200, (2, 4200)));
    // What they cost stays held: 1800, 700 and 1500 seconds.
    let held: i64 = bank.held().into_iter().map(|(_, held)| held).sum();
    assert_eq!(held, 2 * (1800 + 700 + 1500), "{:?}", bank.held());
    bank.set_clock(T0 + 4000);
    let all = [
        ("1.pbs", 0, 900, 2),
        ("2.pbs", 0, 3000, 2),
        ("3.pbs", 1300, 2000, 2),
        ("4.pbs", 1500, 3000, 2),
        ("5.pbs", 2000, 2600, 2),
    ];
    let path = file(&bank, "day", &all);
    let outcomes = import(&bank, "pbs:colony", &path);
    assert!(outcomes.contains("4 charged"), "{outcomes}");
    assert!(outcomes.contains("1 kept"), "{outcomes}");
    let whole = 2 * (900 + 3000 + 700 + 1500 + 600);
    assert_eq!((taken(&bank), used(&bank)), (whole, (5, whole)));
    assert_eq!((bank.held().len(), bank.jobs().len()), (0, 5));
    // The same file again, and another source with the same jobs.
    let outcomes = import(&bank, "pbs:colony", &path);
    assert!(outcomes.contains("5 duplicate"), "{outcomes}");
    source(&bank, "sge:colony");
    let outcomes = import(&bank, "sge:colony", &path);
    assert!(outcomes.contains("5 kept"), "{outcomes}");
    assert_eq!((taken(&bank), used(&bank)), (whole, (5, whole)));
    assert_eq!(exported(&bank), whole);
    bank.verify();
}

#[test]
fn a_scheduler_that_takes_over_bills_what_is_not_billed() {
    let mut bank = rich();
    source(&bank, "pbs:colony");
    send_event(&bank, "reserve", "1.pbs", 0, 7200);
    send_event(&bank, "reserve", "2.pbs", 0, 7200);
    send_event(&bank, "charge", "2.pbs", 900, 900);
    let first = file(
        &bank,
        "first",
        &[("1.pbs", 0, 1000, 2), ("9.pbs", 100, 400, 2)],
    );
    bank.set_clock(T0 + 1000);
    import(&bank, "pbs:colony", &first);
    assert_eq!((taken(&bank), used(&bank)), (2600, (2, 2600)));
    source(&bank, "nami");
    // Ends that come late add nothing; the running job is billed whole.
    send_event(&bank, "end", "1.pbs", 1100, 1000);
    bank.set_clock(T0 + 90_000);
    let times = format!(
        "<StartTime>{}</StartTime><EndTime>{}</EndTime>",
        T0 + 100,
        T0 + 401
    );
    bank.script("end", &document("9.pbs", 301, &times))
        .expect(0, "");
    bank.set_clock(T0 + 90_100);
    assert_eq!(taken(&bank), 2600);
    let times = format!(
        "<StartTime>{T0}</StartTime><EndTime>{}</EndTime>",
        T0 + 2500
    );
    bank.script("end", &document("2.pbs", 1600, &times))
        .expect(0, "");
    assert_eq!((taken(&bank), used(&bank)), (7600, (3, 7600)));
    // A file that overlaps the change.
    let all = [
        ("1.pbs", 0, 1000, 2),
        ("2.pbs", 0, 2500, 2),
        ("9.pbs", 100, 400, 2),
    ];
    let outcomes = import(&bank, "pbs:colony", &file(&bank, "all", &all));
    assert!(outcomes.contains("1 kept"), "{outcomes}");
    assert_eq!((taken(&bank), used(&bank)), (7600, (3, 7600)));
    // And back: nothing is billed again, and the runs of a job are uses of their own.
    source(&bank, "pbs:colony");
    let again = [all[0], all[1], all[2], ("1.pbs", 1000, 2000, 2)];
    let outcomes = import(&bank, "pbs:colony", &file(&bank, "again", &again));
    assert!(outcomes.contains("1 charged"), "{outcomes}");
    assert_eq!((taken(&bank), used(&bank)), (9600, (4, 9600)));
    assert_eq!(exported(&bank), 9600);
    bank.verify();
}

#[test]
fn a_use_that_waits_for_its_record_holds_what_it_cost_until_a_bound() {
    let mut bank = rich();
    source(&bank, "pbs:colony");
    send_event(&bank, "reserve", "1.pbs", 0, 7200);
    send_event(&bank, "charge", "1.pbs", 600, 600);
    send_event(&bank, "end", "1.pbs", 1000, 400);
    send_event(&bank, "delete", "1.pbs", 1001, 0);
    send_event(&bank, "end", "1.pbs", 1002, 400);
    assert_eq!(bank.figures("chemistry"), (1_000_000, 2000, 998_000));
    assert_eq!((bank.jobs().len(), used(&bank)), (1, (0, 0)));
    // A job of the same id is another use.
    send_event(&bank, "reserve", "1.pbs", 2000, 100);
    assert_eq!(bank.figures("chemistry").1, 2000 + 200);
    send_event(&bank, "delete", "1.pbs", 2001, 0);
    bank.set_clock(T0 + 1000 + 86_399);
    bank.bank_ok(&["balance"]);
    assert_eq!(bank.figures("chemistry").1, 2000);
    bank.set_clock(T0 + 1000 + 86_401);
    assert_eq!(bank.figures("chemistry").1, 0);
    assert_eq!(bank.entries("lien_expire").len(), 1);
    // It is billed all the same when it comes.
    import(
        &bank,
        "pbs:colony",
        &file(&bank, "late", &[("1.pbs", 0, 1000, 2)]),
    );
    assert_eq!((taken(&bank), used(&bank)), (2000, (1, 2000)));
    assert_eq!(exported(&bank), 2000);
    bank.verify();
}

#[test]
fn a_use_keeps_the_mode_of_its_first_record() {
    let mut bank = rich();
    source(&bank, "pbs:colony");
    let mode = |mode: &str| bank.bank_ok(&["machine", "set", "colony", "--mode", mode]);
    bank.set_clock(T0 + 10_000);
    mode("track");
    import(
        &bank,
        "pbs:colony",
        &file(&bank, "one", &[("1.pbs", 0, 1000, 2)]),
    );
    mode("strict");
    import(
        &bank,
        "pbs:colony",
        &file(&bank, "two", &[("2.pbs", 0, 1000, 2)]),
    );
    assert_eq!(taken(&bank), 2000);
    import(
        &bank,
        "pbs:colony",
        &file(&bank, "three", &[("1.pbs", 0, 3000, 2)]),
    );
    assert_eq!(
        taken(&bank),
        2000,
        "what was imported under track stays shadow"
    );
    mode("track");
    import(
        &bank,
        "pbs:colony",
        &file(&bank, "four", &[("2.pbs", 0, 1500, 2)]),
    );
    assert_eq!(taken(&bank), 3000, "what was charged for real stays so");
    let path = file(&bank, "five", &[("2.pbs", 0, 1500, 2)]);
    let text = fs::read_to_string(&path)
        .unwrap()
        .replace("account=chemistry", "account=physics");
    fs::write(&path, text).unwrap();
    import(&bank, "pbs:colony", &path);
    assert_eq!(taken(&bank), 0);
    assert_eq!(used(&bank), (2, 9000));
    bank.verify();
}

#[test]
fn an_end_that_was_kept_is_billed_when_it_comes_again_after_the_switch_back() {
    let mut bank = rich();
    source(&bank, "nami");
    send_event(&bank, "reserve", "31.pbs", 0, 7200);
    send_event(&bank, "charge", "31.pbs", 600, 600);
    source(&bank, "pbs:colony");
    send_event(&bank, "end", "31.pbs", 1100, 500);
    assert_eq!(taken(&bank), 1200);
    source(&bank, "nami");
    for again in [1110, 1120] {
        send_event(&bank, "end", "31.pbs", again, 500);
        assert_eq!((taken(&bank), used(&bank)), (2200, (1, 2200)));
    }
    bank.verify();
}

#[test]
fn the_first_record_of_another_project_is_paid_by_that_one() {
    let mut bank = rich();
    bank.bank_ok(&["project", "add", "bio", "--members", "amy"]);
    bank.bank_ok(&["deposit", "bio", "50000"]);
    source(&bank, "nami");
    send_event(&bank, "reserve", "32.pbs", 0, 7200);
    send_event(&bank, "charge", "32.pbs", 600, 600);
    source(&bank, "pbs:colony");
    bank.set_clock(T0 + 4000);
    let path = file(&bank, "day", &[("32.pbs", 0, 1000, 2)]);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("account=chemistry", "account=bio")).unwrap();
    import(&bank, "pbs:colony", &path);
    assert_eq!((taken(&bank), bank.figures("bio").0), (1200, 49_200));
    bank.verify();
}

/// The scheduler and its accounting differ in the name of a server behind the id, either way round.
#[test]
fn a_job_is_one_use_with_the_name_of_a_server_and_without() {
    for mode in ["strict", "notional"] {
        let mut bank = rich();
        bank.bank_ok(&["machine", "set", "colony", "--mode", mode]);
        source(&bank, "nami");
        for job in ["412.srv1", "413"] {
            send_event(&bank, "charge", job, 600, 600);
            send_event(&bank, "end", job, 900, 300);
        }
        let figures = (taken(&bank), used(&bank));
        assert_eq!(figures.1, (2, 2 * 2 * 900), "{mode}");
        source(&bank, "pbs:colony");
        for (name, job) in [("a", "412"), ("b", "413.srv1")] {
            let path = file(&bank, name, &[(job, 0, 900, 2)]);
            let outcomes = import(&bank, "pbs:colony", &path);
            assert!(outcomes.contains("1 kept"), "{mode} {job}: {outcomes}");
        }
        assert_eq!((taken(&bank), used(&bank)), figures, "{mode}");
        bank.verify();
    }
}

/// Two collectors of a machine, one file of one job each.
#[test]
fn two_sources_count_a_job_once_whatever_they_call_its_server() {
    for mode in ["strict", "notional"] {
        let mut bank = rich();
        bank.bank_ok(&["machine", "set", "colony", "--mode", mode]);
        bank.set_clock(T0 + 4000);
        source(&bank, "pbs:colony");
        for (name, job) in [("a", "412"), ("b", "413.head"), ("c", "40-1")] {
            let path = file(&bank, name, &[(job, 0, 900, 2)]);
            let outcomes = import(&bank, "pbs:colony", &path);
            let word = if mode == "strict" {
                "1 charged"
            } else {
                "1 notional"
            };
            assert!(outcomes.contains(word), "{mode} {job}: {outcomes}");
        }
        let figures = (taken(&bank), used(&bank));
        assert_eq!(figures.1, (3, 3 * 2 * 900), "{mode}");
        source(&bank, "sge:colony");
        for (name, job) in [("d", "412.head"), ("e", "413"), ("f", "40-1.head")] {
            let path = file(&bank, name, &[(job, 0, 900, 2)]);
            let outcomes = import(&bank, "sge:colony", &path);
            assert!(outcomes.contains("1 kept"), "{mode} {job}: {outcomes}");
        }
        assert_eq!((taken(&bank), used(&bank)), figures, "{mode}");
        bank.verify();
    }
}
