//! A file of the database that is moved away under a daemon: commands are refused, and go on once it is back.

use std::fs;

use crate::harness::{Bank, Documents, Setup, until};

const REASON: &str = "a file of the database was moved or replaced";

/// Waits until `/readyz` has the reason, or no longer.
fn until_ready(bank: &Bank, is_ready: bool) {
    until("the state of the files is seen", || {
        let seen = bank.json(&["status"])["obstacles"]
            .to_string()
            .contains(REASON);
        (seen != is_ready).then_some(())
    });
}

#[test]
fn a_database_that_is_moved_takes_no_commands() {
    let mut bank = Setup::new().chemistry(1000).start();
    let database = bank.data().join("bank.db");
    for name in ["bank.db", "bank.db-wal"] {
        let (path, aside) = (bank.data().join(name), bank.data().join("aside"));
        fs::rename(&path, &aside).unwrap();
        fs::copy(&aside, &path).unwrap();
        let ran = bank.bank(&["deposit", "chemistry", "7"]);
        assert_eq!(ran.exit, 5, "{}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains(REASON), "{}", ran.stderr);
        until_ready(&bank, false);
        bank.script("charge", &Documents::own().get(4))
            .expect(0, "");
        assert_eq!(bank.spooled(), 1);
        fs::rename(&aside, &path).unwrap();
        until_ready(&bank, true);
        bank.script("drain", b"").expect(0, "");
        assert_eq!(bank.spooled(), 0);
    }
    let lines = |word: &str| bank.log().matches(word).count();
    assert_eq!(lines("commands are refused until it is back"), 2);
    // One that is gone.
    let aside = bank.data().join("aside");
    fs::rename(&database, &aside).unwrap();
    until_ready(&bank, false);
    let balance = bank.bank_ok(&["balance", "chemistry"]);
    fs::rename(&aside, &database).unwrap();
    bank.stop();
    bank.start();
    assert_eq!(bank.bank_ok(&["balance", "chemistry"]), balance);
    bank.verify();
}
