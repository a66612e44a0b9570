//! The events of Moab 9, the ceiling on what can have been used, and what comes after an end.

use crate::harness::{Bank, Documents, Setup, T0, amount, text};

fn rich() -> Bank {
    Setup::new().chemistry(1_000_000).start()
}

/// The sum of what one account was debited.
fn debited(bank: &Bank, account: &str) -> i64 {
    let own = bank
        .debits()
        .into_iter()
        .filter(|(name, _)| name == account);
    own.map(|(_, amount)| amount).sum()
}

fn held(bank: &Bank) -> i64 {
    bank.held().iter().map(|(_, amount)| amount).sum()
}

pub(super) fn nami_case_15_more_than_can_have_been_used_is_disputed(documents: &Documents) {
    let mut bank = rich();
    bank.script("start", &documents.get(12)).expect(0, "");
    let ran = bank.script("charge", &documents.get(31));
    ran.expect(0, "").expect_stderr(&["disputed", "3600 s"]);
    assert_eq!(bank.debits(), [("chemistry".to_owned(), 230_400)]);
    let disputed = bank.journal("disputed");
    assert_eq!(disputed.len(), 1, "{disputed:?}");
    let reason = text(&disputed[0], "reason");
    assert!(
        reason.contains("disputed_s=3600 ceiling_s=3600 not_billed"),
        "{reason}"
    );
    let job = bank.job("Moab.2048");
    let seconds = |field: &str| job[field].as_i64();
    assert_eq!(
        (seconds("charged_s"), seconds("disputed_s")),
        (Some(3600), Some(3600))
    );
    assert_eq!(bank.json(&["status"])["disputed"].as_i64(), Some(1));
    bank.verify();
}

pub(super) fn nami_case_16_an_outage_is_charged_in_one(documents: &Documents) {
    let mut bank = rich();
    bank.script("start", &documents.get(12)).expect(0, "");
    bank.set_clock(T0 + 14_400);
    bank.script("charge", &documents.get(31)).expect(0, "");
    assert_eq!(bank.debits(), [("chemistry".to_owned(), 460_800)]);
    assert_eq!(bank.journal("disputed").len(), 0);
    assert_eq!(bank.figures("chemistry"), (539_200, 0, 539_200));
    bank.verify();
}

pub(super) fn nami_case_21_a_reservation_shrinks_before_its_end(documents: &Documents) {
    let mut bank = Bank::new();
    bank.set_clock(T0 + 36_000);
    bank.script("start", &documents.get(19)).expect(0, "");
    assert_eq!(bank.held(), [("training".to_owned(), 460_800)]);
    bank.set_clock(T0 + 43_200);
    bank.script("end", &documents.get(20)).expect(0, "");
    assert_eq!(bank.debits(), [("training".to_owned(), 133_200)]);
    assert_eq!(bank.liens().len(), 0);
    let job = bank.job("class101.3");
    assert_eq!(
        (text(&job, "type"), text(&job, "state")),
        ("reservation", "closed")
    );
    bank.verify();
}

pub(super) fn nami_case_22_paused_resumed_continued_and_ended(documents: &Documents) {
    let mut bank = rich();
    for (after, event, number, lien) in [
        (0, "start", 12, 460_800),
        (900, "pause", 13, 0),
        (3600, "resume", 14, 403_200),
        (7200, "update", 15, 172_800),
        (7200, "continue", 16, 172_800),
        (8400, "end", 17, 0),
    ] {
        bank.set_clock(T0 + after);
        bank.script(event, &documents.get(number)).expect(0, "");
        assert_eq!(held(&bank), lien, "after {event}");
    }
    let debits: Vec<i64> = bank.debits().into_iter().map(|(_, sum)| sum).collect();
    assert_eq!(debits, [57_600, 230_400, 76_800]);
    let job = bank.job("Moab.2048");
    assert_eq!(
        (text(&job, "state"), amount(&job, "charged")),
        ("closed", 364_800)
    );
    assert_eq!(bank.jobs().len(), 1);
    assert_eq!(bank.figures("chemistry"), (635_200, 0, 635_200));
    bank.verify();
}

pub(super) fn nami_case_50_a_start_after_the_end(documents: &Documents) {
    let mut bank = rich();
    bank.set_clock(T0 + 8400);
    bank.script("end", &documents.get(17)).expect(0, "");
    bank.script("start", &documents.get(12)).expect(0, "");
    assert_eq!(debited(&bank, "chemistry"), 76_800);
    assert_eq!((bank.liens().len(), bank.jobs().len()), (0, 1));
    bank.script("start", &documents.get(12)).expect(0, "");
    assert_eq!(bank.held(), [("chemistry".to_owned(), 460_800)]);
    let jobs = bank.jobs();
    let numbers: Vec<_> = jobs.iter().map(|job| job["number"].as_i64()).collect();
    assert_eq!(numbers, [Some(2), Some(1)]);
    assert_eq!(debited(&bank, "chemistry"), 76_800);
    bank.verify();
}
