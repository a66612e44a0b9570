//! Jobs of which every charge was undone: no report counts them, out of rollups or out of records, and the list of the
//! period does not have them.

use serde_json::Value;

use crate::export::sums::{agree, last};
use crate::harness::{Bank, Setup, T0};

const DAY: &str = "from=2026-01-01T00:00:00Z&until=2026-01-02T00:00:00Z";

/// Jobs that ran, began and ended on the day, with their core-seconds, by rollups and by records.
fn counted(bank: &Bank) -> [i64; 3] {
    let report = |more: &str| {
        let target = format!("/api/v1/report/usage?{DAY}{more}");
        let answer = bank.over_socket(&crate::harness::Request::get(&target));
        let whole: Value = serde_json::from_slice(&answer.body).unwrap();
        whole["total"].clone()
    };
    let (rollups, records) = (report(""), report("&records=true"));
    let of = |total: &Value| {
        ["jobs", "started", "ended"].map(|name| {
            let value = &total[name];
            let text = value.as_str().map(|text| text.parse().unwrap());
            text.or(value.as_i64())
                .unwrap_or_else(|| panic!("{name} in {total}"))
        })
    };
    assert_eq!(of(&rollups), of(&records), "{rollups} {records}");
    let target = |period: &str| format!("/api/v1/jobs?{DAY}&period={period}");
    for (period, count) in ["running", "started"].into_iter().zip(of(&rollups)) {
        let answer = bank.over_socket(&crate::harness::Request::get(&target(period)));
        let listed: Value = serde_json::from_slice(&answer.body).unwrap();
        let listed = listed["items"].as_array().unwrap().len();
        assert_eq!(i64::try_from(listed).unwrap(), count, "{period}");
    }
    of(&rollups)
}

fn charge(bank: &Bank, id: &str, more: &[&str]) {
    let own = ["charge", id, "--procs", "4", "--duration", "600"];
    let whose = ["-m", "colony", "-A", "chemistry", "-u", "amy"];
    bank.bank_ok(&[&own[..], &whose, more].concat());
}

#[test]
fn a_job_counts_as_long_as_one_of_its_charges_stands() {
    let mut bank = Setup::new().chemistry(1_000_000).start();
    bank.set_clock(T0 + 3600);
    charge(&bank, "other", &[]);
    charge(&bank, "own", &["--interim"]);
    let first = last(&bank, "charge");
    assert_eq!(counted(&bank), [2, 2, 1]);
    bank.bank_ok(&["undo", &first]);
    assert_eq!(counted(&bank), [1, 1, 1]);
    // The undo is undone.
    bank.bank_ok(&["undo", &last(&bank, "undo")]);
    assert_eq!(counted(&bank), [2, 2, 1]);
    bank.bank_ok(&["undo", &last(&bank, "undo")]);
    assert_eq!(counted(&bank), [1, 1, 1]);
    // The next charge of the same use counts it again.
    bank.set_clock(T0 + 4200);
    charge(&bank, "own", &["--interim"]);
    assert_eq!(counted(&bank), [2, 2, 1]);
    let second = last(&bank, "charge");
    bank.set_clock(T0 + 4800);
    charge(&bank, "own", &[]);
    assert_eq!(counted(&bank), [2, 2, 2]);
    bank.bank_ok(&["undo", &last(&bank, "charge")]);
    assert_eq!(counted(&bank)[0], 2);
    bank.bank_ok(&["undo", &second]);
    assert_eq!(counted(&bank), [1, 1, 1]);
    bank.verify();
}

/// Whoever has no charge that stands is no active user.
#[test]
fn a_user_whose_charges_are_undone_is_not_counted() {
    let mut bank = Setup::new().chemistry(1_000_000).start();
    bank.set_clock(T0 + 7200);
    charge(&bank, "own", &[]);
    let users = |more: &[&str]| {
        let own = "usage --by machine --from 2026-01-01 --to 2026-01-02 --resource cpu \
                   --columns jobs,users --csv";
        let own: Vec<&str> = own.split_whitespace().collect();
        let text = bank.bank_ok(&[&own[..], more].concat());
        text.lines().last().unwrap().to_owned()
    };
    let ways: [&[&str]; 3] = [&[], &["--records"], &["--credit", "end"]];
    let other = "charge other --procs 4 --duration 600 -m colony -A chemistry -u bob";
    bank.bank_ok(&other.split(' ').collect::<Vec<_>>());
    assert_eq!(ways.map(users), ["2,2"; 3]);
    bank.bank_ok(&["undo", &last(&bank, "charge")]);
    assert_eq!(ways.map(users), ["1,1"; 3]);
    agree(&bank);
    bank.bank_ok(&["undo", &last(&bank, "undo")]);
    assert_eq!(ways.map(users), ["2,2"; 3]);
    agree(&bank);
    bank.verify();
}
