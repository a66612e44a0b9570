//! Other accounts than the one named: the fallback account, the suspense account, and the mode in
//! which no account pays.

use crate::harness::{Bank, Documents, Setup, amount, text};

fn freecycle(held: i64) -> [(String, i64); 1] {
    [("freecycle".to_owned(), held)]
}

pub(super) fn nami_case_33_the_scheduler_falls_back(documents: &Documents) {
    let mut bank = Setup::new().chemistry(57_599).start();
    bank.script("reserve", &documents.get(3)).expect(78, "");
    bank.script("reserve", &documents.get(32)).expect(0, "");
    assert_eq!(bank.held(), freecycle(57_600));
    assert_eq!(bank.figures("chemistry"), (57_599, 0, 57_599));
    bank.verify();
}

pub(super) fn nami_case_34_another_account_replaces_the_lien(documents: &Documents) {
    let mut bank = Bank::new();
    bank.script("reserve", &documents.get(3)).expect(0, "");
    bank.script("reserve", &documents.get(32)).expect(0, "");
    assert_eq!(bank.held(), freecycle(57_600));
    let replaced = bank.journal("lien_replace");
    assert_eq!(replaced.len(), 1);
    let row = &replaced[0];
    assert_eq!(
        (text(row, "account"), amount(row, "held")),
        ("chemistry", -57_600)
    );
    assert_eq!(bank.figures("chemistry"), (100_000, 0, 100_000));
    bank.verify();
}

pub(super) fn nami_case_35_the_bank_falls_back(documents: &Documents) {
    let setup = Setup::new().chemistry(0).env("BANKD_FALLBACK_MODE", "bank");
    let mut bank = setup.start();
    bank.bank_ok(&["account", "set", "chemistry", "--fallback", "freecycle"]);
    let ran = bank.script("reserve", &documents.get(3));
    ran.expect(0, "")
        .says(&["fallback", "chemistry is short", "on freecycle"]);
    assert_eq!(bank.held(), freecycle(57_600));
    bank.script("charge", &documents.get(4)).expect(0, "");
    assert_eq!(bank.debits(), freecycle(28_800));
    assert_eq!(bank.held(), freecycle(28_800));
    assert_eq!(bank.figures("chemistry"), (0, 0, 0));
    for kind in ["lien", "charge"] {
        let rows = bank.journal(kind);
        assert!(
            text(&rows[0], "reason").contains("fallback_from=chemistry"),
            "{rows:?}"
        );
    }
    assert_eq!(text(&bank.job("Moab.1024"), "fallback_from"), "chemistry");
    bank.verify();
}

pub(super) fn nami_case_37_an_unknown_account_is_unbilled(documents: &Documents) {
    let mut bank = Bank::new();
    let ran = bank.script("charge", &documents.get(35));
    ran.expect(0, "").says(&["warning", "unbilled", "nosuch"]);
    assert_eq!(bank.debits(), [("chemistry".to_owned(), 60)]);
    assert_eq!(bank.entries("charge_debt"), [("#unbilled".to_owned(), -60)]);
    assert_eq!(text(&bank.job("Moab.11"), "outcome"), "unbilled");
    let unbilled = &bank.json(&["status"])["unbilled"];
    assert_eq!(
        (unbilled["count"].as_i64(), amount(unbilled, "amount").abs()),
        (Some(1), 60)
    );
    bank.verify();
}

pub(super) fn nami_case_51_track_refuses_nothing(documents: &Documents) {
    let mut bank = Setup::new().chemistry(0).start();
    bank.bank_ok(&["machine", "set", "colony", "--mode", "track"]);
    bank.script("reserve", &documents.get(3)).expect(0, "");
    assert_eq!(bank.figures("chemistry"), (0, 0, 0));
    assert_eq!(amount(&bank.account("chemistry"), "shadow_held"), 57_600);
    let liens = bank.liens();
    assert_eq!(liens.len(), 1, "{liens:?}");
    assert_eq!(
        (liens[0]["shadow"].as_bool(), amount(&liens[0], "amount")),
        (Some(true), 57_600)
    );
    let refused = bank.journal("would_refuse");
    assert_eq!(refused.len(), 1, "{refused:?}");
    let reason = text(&refused[0], "reason");
    assert!(
        reason.contains("57600") && reason.contains("insufficient_funds"),
        "{reason}"
    );
    bank.verify();
}
