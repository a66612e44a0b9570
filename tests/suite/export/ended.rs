//! How a use ended, in records of readers whose words are not ours.

use std::collections::BTreeMap;
use std::fs;

use super::{bank, export, path};
use crate::harness::T0;

/// Imports records on a machine that is charged and on one that is only recorded.
fn imported(bank: &crate::harness::Bank, format: &str, text: &str) {
    for machine in ["colony", "blue"] {
        let (file, name) = path(bank, &format!("{machine}.{format}"));
        fs::write(file, text).unwrap();
        let source = format!("{format}-{machine}");
        bank.bank_ok(&["import", format, &name, "--source", &source, "-m", machine]);
    }
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
    let csv = export(&bank, &["csv"]);
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let at = |name: &str| head.iter().position(|own| *own == name).unwrap();
    let (job, state) = (at("local_job_id"), at("state"));
    let mut states: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in lines {
        states.entry(line[job]).or_default().push(line[state]);
    }
    let expected = [("p0", "Completed"), ("p1", "Failed")];
    let found: Vec<_> = states.into_iter().collect();
    let expected = expected.map(|(job, state)| (job, vec![state; 2]));
    assert_eq!(found, expected, "{csv}");
    let xdmod = export(&bank, &["xdmod"]);
    let failed = xdmod.lines().filter(|line| line.contains("|FAILED|"));
    assert_eq!(failed.count(), 2, "{xdmod}");
    super::sums::agree(&bank);
    bank.verify();
}
