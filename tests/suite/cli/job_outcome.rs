//! The outcome of a job after refunds, undone refunds and settlements; lists of jobs with one outcome.

use crate::harness::Bank;
use serde_json::Value;

fn charge(bank: &Bank, job: &str, project: &str) {
    let size = ["charge", job, "--procs", "4", "--duration", "200"];
    let whose = ["-A", project, "-u", "bob", "-m", "colony"];
    bank.bank_ok(&[&size[..], &whose].concat());
}

fn outcome(job: &Value) -> (&str, &str, &str) {
    let text = |name: &str| job[name].as_str().unwrap_or_default();
    (text("outcome"), text("refunded"), text("net"))
}

#[test]
fn a_refund_that_was_undone_leaves_a_charged_job() {
    let mut bank = Bank::new();
    for job in ["a1", "a2", "a3"] {
        charge(&bank, job, "astro");
    }
    bank.bank_ok(&["refund", "a1", "1"]);
    bank.bank_ok(&["refund", "a3"]);
    let refund = bank.bank_ok(&["refund", "a2"]);
    let line = refund.lines().find_map(|l| l.strip_prefix("transaction "));
    bank.bank_ok(&["undo", line.unwrap()]);
    let list = bank.json(&["jobs"]);
    let items = list["items"].as_array().unwrap();
    for (job, expected) in [
        ("a1", ("partly_refunded", "1", "799")),
        ("a2", ("charged", "0", "800")),
        ("a3", ("refunded", "800", "0")),
    ] {
        assert_eq!(outcome(&bank.json(&["jobs", job])), expected, "{job}");
        let row = items.iter().find(|row| row["job"] == job).unwrap();
        assert_eq!(outcome(row), expected, "{job}");
        let one = bank.json(&["jobs", "--outcome", expected.0]);
        let found: Vec<&Value> = one["items"].as_array().unwrap().iter().collect();
        assert_eq!(found, [row], "{job}");
    }
    let slip = bank.bank(&["jobs", "--outcome", "paid"]);
    slip.expect_stderr(&["outcome", "partly_refunded"]);
    bank.verify();
}

#[test]
fn a_settled_job_has_the_calculation_of_its_charge() {
    let mut bank = Bank::new();
    charge(&bank, "u1", "nowhere");
    charge(&bank, "u2", "astro");
    let listed = bank.bank_ok(&[
        "jobs",
        "--outcome",
        "unbilled",
        "-P",
        "-n",
        "--columns",
        "job",
    ]);
    assert_eq!(listed, "u1\n");
    let hint = bank.bank_ok(&["unmapped"]);
    assert!(hint.contains("1 job on #unbilled, 800 credits"), "{hint}");
    bank.bank_ok(&["settle", "u1", "-A", "astro"]);
    let job = bank.bank_ok(&["jobs", "u1"]);
    for part in [
        "final,  200 s, unbilled",
        "from #unbilled,  0 s",
        "from #unbilled to the project,  0 s",
        "= 4 × 200 s",
    ] {
        assert!(job.contains(part), "no {part:?}: {job}");
    }
    let explained = bank.bank_ok(&["rate", "explain", "u1"]);
    assert!(!explained.contains("0 [Processors]"), "{explained}");
    let left = bank.bank_ok(&["jobs", "--outcome", "unbilled"]);
    assert!(!left.contains("u1"), "{left}");
    bank.verify();
}
