//! The daemon away, hanging, killed, or asked by fifty at once.

use std::sync::Arc;

use bank_api::text::parse_rfc3339;

use crate::harness::{Bank, Documents, Setup, T0, text, until};

fn one_debit(bank: &Bank) {
    assert_eq!(bank.debits(), [("chemistry".to_owned(), 28_800)]);
}

pub(super) fn nami_case_45_a_charge_survives_an_outage(documents: &Documents) {
    let mut bank = Bank::new();
    bank.stop();
    bank.script("reserve", &documents.get(3))
        .expect(22, "")
        .expect_stderr(&["unreachable"]);
    bank.script("charge", &documents.get(4))
        .expect(0, "")
        .expect_stderr(&["unreachable"]);
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

#[test]
fn what_later_events_used_survives_an_outage() {
    let own = Documents::own();
    let mut bank = Setup::new().chemistry(1_000_000).start();
    bank.script("start", &own.get(12)).expect(0, "");
    bank.stop();
    for (after, event, number, exit) in [
        (900, "pause", 13, 0),
        (3600, "resume", 14, 22),
        (7200, "update", 15, 0),
        (7200, "continue", 16, 22),
        (7200, "modify", 12, 22),
        (8400, "end", 17, 0),
    ] {
        bank.set_clock(T0 + after);
        let ran = bank.script(event, &own.get(number));
        ran.expect(exit, "").expect_stderr(&["unreachable"]);
    }
    assert_eq!(bank.spooled(), 3);
    bank.set_clock(T0 + 9000);
    bank.start();
    bank.script("drain", b"").expect(0, "");
    assert_eq!((bank.spooled(), bank.quarantined()), (0, 0));
    let debits: Vec<i64> = bank.debits().iter().map(|(_, sum)| *sum).collect();
    assert_eq!(debits, [57_600, 230_400, 76_800]);
    let rows = bank.journal("charge");
    let at = |row| parse_rfc3339(text(row, "at_effective")).unwrap() / 1_000_000 - T0;
    assert_eq!(rows.iter().map(at).collect::<Vec<_>>(), [900, 7200, 8400]);
    assert_eq!((bank.liens().len(), bank.jobs().len()), (0, 1));
    assert_eq!(text(&bank.job("Moab.2048"), "state"), "closed");
    bank.verify();
}
