//! A collector that is killed between any two steps, and a daemon that is killed under its hands.

use super::PRICE;
use super::slurm::{jobs, slurm};
use crate::harness::{Bank, T0};

#[test]
fn a_collector_that_is_killed_anywhere_loses_and_doubles_nothing() {
    for at in ["drafted:2", "queued", "sent", "sent:2", "stated", "removed"] {
        let mut bank = Bank::new();
        bank.set_clock(T0 + 3600);
        jobs(&bank, 3);
        let slurm = slurm(&bank, "");
        let ran = slurm.once(&bank, &[("BANK_KILL_AT", at)]);
        assert_eq!(ran.exit, -1, "{at}: it did not end there: {}", ran.stderr);
        slurm.round(&bank);
        assert_eq!(bank.figures("chemistry").0, 100_000 - 3 * PRICE, "{at}");
        assert_eq!(bank.jobs().len(), 3, "{at}");
        assert_eq!(slurm.waiting(), 0, "{at}");
        let until = slurm.status(&bank)[0]["until"].clone();
        assert_eq!(until, "2026-01-01T01:00:00Z", "{at}");
        bank.verify();
    }
}

#[test]
fn a_daemon_that_is_killed_under_a_batch_gets_it_again() {
    // What the first or the second batch came to is on disk, and nobody was told.
    for at in ["committed:1", "committed:2"] {
        let mut bank = Bank::new();
        bank.set_clock(T0 + 3600);
        jobs(&bank, 3);
        let slurm = slurm(&bank, "");
        bank.stop();
        assert!(bank.start_with(&[("BANKD_KILL_AT", at)]));
        let ran = slurm.once(&bank, &[]);
        assert_eq!(ran.exit, 5, "{at}: {}{}", ran.stdout, ran.stderr);
        assert!(slurm.waiting() > 0, "{at}");
        bank.stop_or_kill();
        bank.start();
        slurm.round(&bank);
        assert_eq!(bank.figures("chemistry").0, 100_000 - 3 * PRICE, "{at}");
        assert_eq!(slurm.waiting(), 0, "{at}");
        bank.verify();
    }
}
