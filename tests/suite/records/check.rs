//! `bank records check`: what is wrong with files of other programs, and what they come to.

use std::process::Command;

use super::{bank, whole_life};
use crate::harness::{Bank, Documents, Ran, programs, shared_folder, skip};

/// Runs it on a text; the daemon is not asked, so there need be none.
fn check(text: &[u8]) -> Ran {
    let mut command = Command::new(programs().bank());
    command.args(["records", "check", "-"]);
    Ran::of(&mut command, text)
}

#[test]
fn our_own_files_are_clean() {
    let mut bank = bank(true);
    whole_life(&bank);
    bank.script("charge", &Documents::own().get(5))
        .expect(0, "");
    bank.verify();
    for (file, expected) in [
        ("file.txt", "3 FILE withdrawals\nprocessor-seconds 42688\n"),
        (
            "ggf.xml",
            "2 usage records 1.0\nprocessor-seconds 42688\namount 42688\n",
        ),
    ] {
        let path = bank.data().join(file);
        let output = bank.bank_ok(&["records", "check", path.to_str().unwrap()]);
        assert_eq!(output, expected, "{file}");
    }
}

#[test]
fn every_fault_has_its_line() {
    let text = "AMSTART\n\
        WITHDRAWAL TYPE=job MACHINE=ia; ACCOUNT=s USER=jb PROCS=64 PROCCRATE=0.93 RESOURCETYPE=ia64 DURATION=60 REQUESTID=1632\n\
        WITHDRAWAL TYPE=job MACHINE=ia ACCOUNT=s USER=jb PROCS=many PROCCRATE=0.93 DURATION=60 REQUESTID=1632\n";
    let ran = check(text.as_bytes());
    assert_eq!(
        ran.stdout,
        "line 2: warning: MACHINE: \"ia;\" ends with ;\n\
         line 3: error: PROCS: \"many\" is not a whole number above zero\n\
         2 FILE withdrawals, 1 other lines, 1 with errors, 1 warnings\n\
         processor-seconds 3571.2\n"
    );
    assert_eq!(
        (ran.exit, ran.stderr.as_str()),
        (1, "bank: 1 record is not valid\n")
    );
    let ran = check(b"<!DOCTYPE x><UsageRecords/>");
    assert_eq!(ran.exit, 1);
    assert!(
        ran.stdout
            .starts_with("line 1: error: a DOCTYPE is not taken"),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_file_that_is_not_there() {
    let bank = Bank::new();
    let ran = bank.bank(&["records", "check", "no/such/file"]);
    assert_eq!(ran.exit, 2);
    assert!(
        ran.stderr.starts_with("bank: cannot read no/such/file: "),
        "{}",
        ran.stderr
    );
}

/// What a real scheduler wrote, and what real producers of usage records make.
#[test]
fn files_of_real_programs() {
    let Some(shared) = shared_folder() else {
        skip(
            "shared",
            "no folder with captures of real programs (BANK_SHARED)",
        );
        return;
    };
    let spec = shared.join("spec");
    for (file, exit, summary) in [
        (
            "gold-captures/file-am/01-basic.log",
            0,
            "2 FILE withdrawals, 5 other lines\nprocessor-seconds 28\n",
        ),
        (
            "gold-captures/file-am/07-removed-debitsuccessful.log",
            0,
            "0 FILE withdrawals, 5 other lines\n",
        ),
        (
            "usage-samples/real/file-moab-manual.txt",
            0,
            "1 FILE withdrawals, 1 warnings\nprocessor-seconds 3571.2\n",
        ),
        (
            "usage-samples/bank/file-maui.txt",
            0,
            "2 FILE withdrawals\nprocessor-seconds 3571.2\n",
        ),
        (
            "usage-samples/bank/ur1-lines.xml",
            0,
            "1 usage records 1.0\nprocessor-seconds 3571.2\namount 3571.2\n",
        ),
        (
            "usage-samples/bank/ur1-adjustment.xml",
            0,
            "2 usage records 1.0\nprocessor-seconds 297.6\namount 197.6\n",
        ),
        (
            "usage-samples/real/ur1-sgas-minimal.xml",
            1,
            "Status: missing",
        ),
        (
            "usage-samples/real/ur1-sgas-extensions.xml",
            1,
            "a foreign element",
        ),
        (
            "usage-samples/real/ur1-sgas-two-records.xml",
            1,
            "2 usage records 1.0",
        ),
    ] {
        let text = std::fs::read(spec.join(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
        let ran = check(&text);
        assert_eq!(ran.exit, exit, "{file}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains(summary), "{file}: {}", ran.stdout);
    }
}
