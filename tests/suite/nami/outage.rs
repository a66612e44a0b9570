//! The daemon away, hanging, killed, or asked by fifty at once.

use std::sync::Arc;

use bank_api::text::parse_rfc3339;

use crate::harness::{Bank, Documents, T0, text, until};

fn one_debit(bank: &Bank) {
    assert_eq!(bank.debits(), [("chemistry".to_owned(), 28_800)]);
}

pub(super) fn nami_case_45_a_charge_survives_an_outage(documents: &Documents) {
    let mut bank = Bank::new();
    bank.stop();
    bank.script("reserve", &documents.get(3))
        .expect(22, "")
        .says(&["unreachable"]);
    bank.script("charge", &documents.get(4))
        .expect(0, "")
        .says(&["unreachable"]);
    assert_eq!(bank.spooled(), 1);
    bank.set_clock(T0 + 7200);
    bank.start();
    bank.script("drain", b"").expect(0, "");
    bank.script("drain", b"").expect(0, "");
    assert_eq!((bank.spooled(), bank.quarantined()), (0, 0));
    one_debit(&bank);
    let at = text(&bank.journal("charge")[0], "at_effective").to_owned();
    assert_eq!(parse_rfc3339(&at), Some(T0 * 1_000_000), "{at}");
    bank.verify();
}

pub(super) fn nami_case_46_a_daemon_that_hangs(documents: &Documents) {
    let mut bank = Bank::new();
    bank.signal("STOP");
    for (event, number, exit) in [("reserve", 3, 23), ("charge", 4, 0)] {
        let call = bank.call(event).set("timeout_s=2");
        let ran = call.body(&documents.get(number)).run();
        ran.expect(exit, "");
        assert!(ran.took.as_secs() < 8, "{:?}", ran.took);
    }
    assert_eq!(bank.spooled(), 1);
    bank.signal("CONT");
    bank.script("reserve", &documents.get(3)).expect(0, "");
    bank.script("drain", b"").expect(0, "");
    assert_eq!((bank.spooled(), bank.liens().len()), (0, 1));
    one_debit(&bank);
    bank.verify();
}

pub(super) fn nami_case_48_killed_between_commit_and_answer(documents: &Documents) {
    let mut bank = Bank::new();
    bank.script("reserve", &documents.get(3)).expect(0, "");
    bank.stop();
    assert!(bank.start_with(&[("BANKD_KILL_AT", "committed:1")]));
    bank.script("charge", &documents.get(4)).expect(0, "");
    until("the daemon is gone", || bank.is_gone().then_some(()));
    assert_eq!(bank.spooled(), 1);
    bank.kill();
    bank.start();
    one_debit(&bank);
    bank.script("drain", b"").expect(0, "");
    assert_eq!((bank.spooled(), bank.quarantined()), (0, 0));
    one_debit(&bank);
    bank.verify();
}

pub(super) fn nami_case_49_fifty_at_once_for_the_money_of_25(documents: &Documents) {
    let bank = Arc::new(Bank::new());
    let calls: Vec<_> = (5001..=5050)
        .map(|number| {
            let id = format!("Moab.{number}");
            let body = documents.with(29, &[("Moab.3008[17]", &id), (">600<", ">2000<")]);
            let bank = Arc::clone(&bank);
            std::thread::spawn(move || bank.script("reserve", &body))
        })
        .collect();
    let mut exits: Vec<i32> = calls
        .into_iter()
        .map(|call| call.join().unwrap().exit)
        .collect();
    exits.sort_unstable();
    assert_eq!(exits, [[0; 25], [78; 25]].concat());
    assert_eq!(bank.figures("astro"), (50_000, 50_000, 0));
    Arc::into_inner(bank).unwrap().verify();
}
