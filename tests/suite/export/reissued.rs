//! Credits that were reissued stay with the project that got them when a record moves their use: they are no use of their
//! allocation, whatever is undone and done again.

use std::fs;

use super::owners::{agreed, funded};
use super::path;
use super::sums::{agree_exactly, last};
use crate::harness::{Bank, T0};

/// The record of a job of ten minutes on two processors.
fn record(bank: &Bank, project: &str, processors: u32) {
    let text = format!(
        "JobID|Cluster|User|Account|State|ExitCode|Submit|Start|End|NNodes|NCPUS\n\
         9|colony|amy|{project}|COMPLETED|0:0|2026-01-01T00:00:00|2026-01-01T01:00:00|\
         2026-01-01T01:10:00|1|{processors}\n"
    );
    let (file, name) = path(bank, "in.sacct");
    fs::write(file, text).unwrap();
    bank.bank_ok(&["import", "sacct", &name, "--source", "slurm-colony"]);
}

/// Amount and use of the money that a project has now.
fn money(bank: &Bank, project: &str) -> [String; 2] {
    let list = bank.json(&["balance", project]);
    let row = &list["items"][0];
    ["amount", "used"].map(|name| row[name].as_str().unwrap().to_owned())
}

#[test]
fn a_move_counts_no_use_of_reissued_credits() {
    for (refund, given) in [("1200", "1200"), ("700", "700")] {
        let mut bank = funded();
        bank.bank_ok(&["machine", "set", "colony", "--source", "slurm-colony"]);
        bank.bank_ok(&["project", "add", "bio", "--members", "amy"]);
        let window = ["--start", "2026-01-01", "--end", "2026-01-02"];
        bank.bank_ok(&[&["deposit", "bio", "5000"][..], &window].concat());
        bank.set_clock(T0 + 4 * 3_600);
        record(&bank, "bio", 2);
        bank.set_clock(T0 + 2 * 86_400);
        bank.bank_ok(&["refund", "9", refund, "--reissue-until", "2027-01-01"]);
        let reissued = [given, "0"].map(str::to_owned);
        assert_eq!(money(&bank, "bio"), reissued);
        record(&bank, "physics", 3);
        assert_eq!(money(&bank, "bio"), reissued);
        assert_eq!(agreed(&bank), ["physics 1800 1800"]);
        bank.bank_ok(&["undo", &last(&bank, "adjust")]);
        for is_moved in [true, false, true] {
            agreed(&bank);
            assert_eq!(money(&bank, "bio"), reissued);
            bank.bank_ok(&["undo", &last(&bank, "undo")]);
            if is_moved {
                assert_eq!(agreed(&bank), ["physics 1800 1800"]);
            }
        }
        // The next owner has its own refund, and the reissued credits stay where they are.
        bank.bank_ok(&["refund", "9", "100"]);
        record(&bank, "chemistry", 4);
        assert_eq!(money(&bank, "bio"), reissued);
        assert_eq!(agreed(&bank), ["chemistry 2400 2400"]);
        record(&bank, "chemistry", 1);
        assert_eq!(agree_exactly(&bank), (600_000, 600_000));
        assert_eq!(money(&bank, "bio"), reissued);
        bank.verify();
    }
}

/// The refund is undone and done again before the move.
#[test]
fn a_refund_that_was_done_again_stays_new_money() {
    let mut bank = funded();
    bank.bank_ok(&["machine", "set", "colony", "--source", "slurm-colony"]);
    bank.bank_ok(&["project", "add", "bio", "--members", "amy"]);
    let window = ["--start", "2026-01-01", "--end", "2026-01-02"];
    bank.bank_ok(&[&["deposit", "bio", "5000"][..], &window].concat());
    bank.set_clock(T0 + 4 * 3_600);
    record(&bank, "bio", 2);
    bank.set_clock(T0 + 2 * 86_400);
    bank.bank_ok(&["refund", "9", "--reissue-until", "2027-01-01"]);
    bank.bank_ok(&["undo", &last(&bank, "refund")]);
    assert_eq!(money(&bank, "bio"), ["0", "0"]);
    bank.bank_ok(&["undo", &last(&bank, "undo")]);
    assert_eq!(money(&bank, "bio"), ["1200", "0"]);
    record(&bank, "physics", 2);
    assert_eq!(money(&bank, "bio"), ["1200", "0"]);
    assert_eq!(agreed(&bank), ["physics 1200 1200"]);
    bank.bank_ok(&["undo", &last(&bank, "adjust")]);
    assert_eq!(money(&bank, "bio"), ["1200", "0"]);
    bank.bank_ok(&["undo", &last(&bank, "undo")]);
    record(&bank, "bio", 2);
    // The move back is charged on the money that is there.
    agreed(&bank);
    bank.verify();
}
