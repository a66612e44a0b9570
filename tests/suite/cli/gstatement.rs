//! `gstatement`, by the real daemon and its clock.

use super::statement::november;
use crate::harness::{Bank, Setup, T0};

/// An allocation of January that ends at midnight, one of February, and one whose start is moved later: each month begins with
/// what the one before ended with, as `bank statement` does.
#[test]
fn gstatement_adds_up_at_the_ends_of_windows() {
    let bank = Setup::new().start();
    let day = 86_400;
    bank.bank_ok(&["machine", "add", "ia64"]);
    for project in ["chem", "bio"] {
        bank.bank_ok(&["project", "add", project, "--members", "amy"]);
    }
    for line in [
        "deposit chem 10000 --start 2026-01-01 --end 2026-02-01",
        "deposit chem 10000 --new --start 2026-02-01 --end 2026-03-01",
        "deposit bio 5000",
    ] {
        bank.bank_ok(&line.split(' ').collect::<Vec<_>>());
    }
    bank.set_clock(T0 + 10 * day);
    for project in ["chem", "bio"] {
        let line =
            format!("charge {project} -A {project} -u amy -m ia64 --procs 1 --duration 3600");
        bank.bank_ok(&line.split(' ').collect::<Vec<_>>());
    }
    bank.set_clock(T0 + 70 * day);
    let allocations = bank.json(&["allocation", "ls", "-a", "bio"]);
    let id = allocations["items"][0]["id"].to_string();
    bank.bank_ok(&["allocation", "set", &id, "--start", "2026-03-05"]);
    let links = bank.folder().join("links");
    bank.bank_ok(&["gen", "links", links.to_str().unwrap()]);
    let figures = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let ran = bank.typed(&links.join("gstatement"), &words);
        assert!(!ran.stdout.contains("Warning"), "{}", ran.stdout);
        let rows = ran.stdout.lines().filter(|l| l.contains(":  "));
        let last = |l: &str| l.split_whitespace().last().unwrap().to_owned();
        rows.map(last).collect::<Vec<_>>().join(" ")
    };
    let january = "-s 2026-01-01 -e 2026-02-01";
    assert_eq!(figures(&format!("-a chem {january}")), "0 10000 -3600 6400");
    assert_eq!(figures(&format!("-a bio {january}")), "0 5000 -3600 1400");
    let february = figures("-a chem -s 2026-02-01 -e 2026-03-01");
    assert_eq!(february, "6400 10000 -6400 10000");
}

#[test]
fn a_window_that_ends_before_it_starts_is_refused() {
    let bank = Bank::new();
    let links = bank.folder().join("links");
    bank.bank_ok(&["gen", "links", links.to_str().unwrap()]);
    for (command, start, end, exit) in [
        ("gstatement", "2026-10-28", "2026-10-27", 74),
        ("gusage", "now", "-infinity", 74),
        ("gusage", "2025-10-27", "2025-10-27", 0),
    ] {
        let words = ["-p", "chemistry", "-s", start, "-e", end];
        let ran = bank.typed(&links.join(command), &words);
        assert_eq!(ran.exit, exit, "{command}: {}{}", ran.stdout, ran.stderr);
        let is_named = ran.stderr.contains("end time is before the start time");
        assert_eq!(is_named, exit == 74, "{command}: {}", ran.stderr);
    }
}

#[test]
fn gstatement_is_laid_out_as_gold_does() {
    let bank = november();
    let links = bank.folder().join("links");
    bank.bank_ok(&["gen", "links", links.to_str().unwrap()]);
    let run = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        bank.typed(&links.join("gstatement"), &words)
    };
    let ran = run("-p chem -s 2026-10-01 -e 2026-11-01 --summarize");
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let text: Vec<&str> = ran.stdout.lines().map(str::trim_end).collect();
    assert_eq!(text[2], "# Statement for project chem");
    assert!(text[3].starts_with("# Includes account "), "{}", ran.stdout);
    let from = text
        .iter()
        .position(|line| line.starts_with("Beginning"))
        .unwrap();
    let want = "\
Beginning Balance:               100000
------------------ --------------------
Total Credits:                     5000
Total Debits:                    -40000
------------------ --------------------
Ending Balance:                   65000

############################### Credit Summary #################################

Object Action Amount
------ ------ ------
Job    Refund   5000

############################### Debit Summary ##################################

Object Action Project User Machine Amount Count
------ ------ ------- ---- ------- ------ -----
Job    Charge chem    amy  ia64    -30000 1
Job    Charge chem    bob  ia64    -10000 1

############################### End of Report ##################################
";
    assert_eq!(text[from..].join("\n"), want, "{}", ran.stdout);
    let hours = run("-a chem -h -s 2026-10-01 -e 2026-11-01");
    assert!(
        hours
            .stdout
            .contains("Total Debits:                    -11.11"),
        "{}",
        hours.stdout
    );
    assert!(
        hours
            .stdout
            .contains("Job    Charge j1    chem    amy  ia64     -8.33 2026-10-05 13:00:00")
    );
    let none = run("-a nowhere");
    assert_eq!(none.exit, 74, "{}", none.stderr);
}
