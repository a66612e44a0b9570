//! How a use ended, in records of readers whose words are not ours.

use std::collections::BTreeMap;
use std::fs;

use super::{bank, export, path};
use crate::harness::{Bank, T0};

/// Imports records on a machine that is charged and on one that is only recorded.
fn imported(bank: &Bank, format: &str, text: &str) {
    for machine in ["colony", "blue"] {
        let (file, name) = path(bank, &format!("{machine}.{format}"));
        fs::write(file, text).unwrap();
        let source = format!("records-{machine}");
        bank.bank_ok(&["import", format, &name, "--source", &source, "-m", machine]);
    }
}

/// Compares the ends of the jobs on both machines with the expected ones.
#[track_caller]
fn ends(bank: &Bank, expected: &[(&str, &str)]) {
    let csv = export(bank, &["csv"]);
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let at = |name: &str| head.iter().position(|own| *own == name).unwrap();
    let (job, state) = (at("local_job_id"), at("state"));
    let mut states: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in lines {
        states.entry(line[job]).or_default().push(line[state]);
    }
    let found: Vec<_> = states.into_iter().collect();
    let expected = expected.iter().map(|(job, state)| (*job, vec![*state; 2]));
    assert_eq!(found, expected.collect::<Vec<_>>(), "{csv}");
}

#[test]
fn exports_have_the_end_that_charge_policies_have() {
    let mut bank = bank();
    bank.set_clock(T0 + 86_400);
    let pbs = [("p0", 0), ("p1", 1)].map(|(id, exit)| {
        format!(
            "01/01/2026 01:00:00;E;{id};user=amy account=chemistry ctime={T0} start={T0} end={} \
             resources_used.ncpus=2 Exit_status={exit}\n",
            T0 + 60
        )
    });
    imported(&bank, "pbs", &pbs.concat());
    ends(&bank, &[("p0", "Completed"), ("p1", "Failed")]);
    let xdmod = export(&bank, &["xdmod"]);
    let failed = xdmod.lines().filter(|line| line.contains("|FAILED|"));
    assert_eq!(failed.count(), 2, "{xdmod}");
    super::sums::agree(&bank);
    bank.verify();
}

/// Numbers of SWF, and states of Moab from before the end, are no words for an end.
#[test]
fn exports_have_the_end_where_the_state_has_none() {
    let mut bank = bank();
    bank.set_clock(T0 + 86_400);
    bank.bank_ok(&["mapping", "add", "group=1", "-A", "chemistry", "-u", "amy"]);
    let line = |job: &str, status: &str| {
        format!("{job} {T0} 0 100 4 -1 -1 4 200 -1 {status} 1 1 -1 1 -1 -1 -1\n")
    };
    let swf = [
        ("1", "1"),
        ("2", "0"),
        ("3", "5"),
        ("4", "-1"),
        ("1", "2"),
        ("1", "3"),
    ];
    let swf = swf.map(|(job, status)| line(job, status)).concat();
    imported(&bank, "swf", &format!("; UnixStartTime: 0\n{swf}"));
    let event = |(job, event, state): (&str, &str, &str)| {
        format!(
            "01:00:10 {}:4 job {job} {event} UNAME=amy;ACCOUNT=chemistry;STATE={state};TASKS=4;STARTTIME={T0};\
             COMPLETETIME={};WCLIMIT=200\n",
            T0 + 100,
            T0 + 100
        )
    };
    let events = [
        ("m1", "jobend", "Completed"),
        ("m2", "jobcancel", "Running"),
        ("m3", "jobend", "Suspended"),
        ("m4", "jobend", "WCLimit"),
        ("m5", "jobcancel", "Removed"),
    ];
    imported(&bank, "moab-events", &events.map(event).concat());
    ends(
        &bank,
        &[
            ("1", "Completed"),
            ("2", "Failed"),
            ("3", "Aborted"),
            ("4", "Completed"),
            ("m1", "Completed"),
            ("m2", "Aborted"),
            ("m3", "Completed"),
            ("m4", "Timeout"),
            ("m5", "Aborted"),
        ],
    );
    super::sums::agree(&bank);
    bank.verify();
}
