//! Settings that change while the daemon serves: SIGHUP.

use super::me;
use crate::harness::{Bank, Request, Setup, until};

fn reads(bank: &Bank) -> u16 {
    bank.over_socket(&Request::get("/api/v1/balances")).status
}

#[test]
fn what_can_be_read_anew_is_and_the_rest_is_named() {
    let mut bank = Setup::new().env("BANKD_LOG_LEVEL", "info").start();
    assert_eq!(reads(&bank), 200);
    bank.settings(&format!(
        "[limits.client.\"{}\"]\nbody = 10\nrate = 1\nburst = 1\n\
         [[follow]]\nsource = \"x\"\npath = \"/nowhere/x\"\nformat = \"pbs\"\n",
        me()
    ));
    bank.signal("HUP");
    until("the limit holds", || (reads(&bank) == 429).then_some(()));
    until("the log names what waits for a restart", || {
        let log = bank.log();
        (log.contains("needs a restart") && log.contains("follow")).then_some(())
    });
    assert!(bank.log().contains("limits"));

    // What is wrong changes nothing, and is said.
    let path = bank.data().join("bankd.toml");
    let good = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, "[htp]\n").unwrap();
    bank.signal("HUP");
    until("the log says what is wrong", || {
        bank.log().contains("unknown field `htp`").then_some(())
    });
    // A file that is lost or being written changes nothing either.
    for (text, reason) in [(Some(" \n"), "is empty"), (None, "No such file")] {
        match text {
            Some(text) => std::fs::write(&path, text).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        bank.signal("HUP");
        until("the log names the file", || {
            bank.log().contains(reason).then_some(())
        });
        assert!(!bank.log().contains("setting=access"));
        assert!((0..20).any(|_| reads(&bank) == 429));
    }
    let good = good.replace("rate = 1\nburst = 1\n", "rate = 0\n");
    std::fs::write(&path, good).unwrap();
    bank.signal("HUP");
    until("the limit is gone", || (reads(&bank) == 200).then_some(()));
    for _ in 0..20 {
        assert_eq!(reads(&bank), 200);
    }
    bank.verify();
}
