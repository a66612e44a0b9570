//! The daemon dies by SIGKILL while a bank moves in: nothing is half done, and the same command again ends with what an
//! undisturbed one ends with.

use super::others::{mam_lists, slurm_files};
use super::{balances, moved, new_bank};
use crate::harness::{Bank, until};

/// Kills the daemon at points of the opening, and right after its commit.
fn killed(name: &str, words: impl Fn(&Bank) -> Vec<String>, expected: &[&str]) {
    let mut in_the_middle = 0;
    for trap in [
        "opening:1",
        "opening:3",
        "opening:9",
        "opening:14",
        "opening:20",
        "committed:1",
        "committed:2",
    ] {
        let mut bank = new_bank();
        let words = words(&bank);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let before = bank.transactions();
        bank.stop();
        assert!(bank.start_with(&[("BANKD_KILL_AT", trap)]));
        let ran = bank.bank(&words);
        let is_killed = ran.exit != 0;
        if is_killed {
            until("the daemon is gone", || bank.is_gone().then_some(()));
        }
        bank.stop_or_kill();
        bank.start();
        // All of it or nothing.
        let after = balances(&bank);
        if is_killed && after.is_empty() {
            assert_eq!(bank.transactions(), before, "{name} {trap}");
            in_the_middle += 1;
        } else {
            assert_eq!(after, expected, "{name} {trap}");
        }
        moved(&bank.bank(&words));
        assert_eq!(balances(&bank), expected, "{name} {trap}");
        let whole = bank.transactions();
        let again = moved(&bank.bank(&words));
        assert!(again.contains(": 0 objects added, "), "{again}");
        assert_eq!(bank.transactions(), whole, "{name} {trap}");
        bank.verify();
    }
    assert!(in_the_middle >= 3, "{name}: {in_the_middle}");
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn lists_of_moab_accounting_manager_move_in_whole_or_not_at_all() {
    let words = |bank: &Bank| {
        let lists = mam_lists(bank);
        owned(&["migrate", "mam", &lists, "--tz", "UTC", "--yes"])
    };
    killed("mam", words, &["grant 875.500 100.000 50.000"]);
}

#[test]
fn limits_of_slurm_move_in_whole_or_not_at_all() {
    let words = |bank: &Bank| {
        let [dump, usage] = slurm_files(bank);
        owned(&["migrate", "slurm", &dump, "--usage", &usage, "--yes"])
    };
    let expected = [
        "bio 0.000 0.000 0.000",
        "chem 44820.000 0.000 0.000",
        "science 5910000.000 0.000 0.000",
    ];
    killed("slurm", words, &expected);
}
