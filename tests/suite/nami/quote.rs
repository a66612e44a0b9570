//! Quotes, and who is meant when a document names nobody.

use crate::harness::{Bank, Documents, Setup, T0};

pub(super) fn nami_case_01_a_quote_prints_the_cost(documents: &Documents) {
    let mut bank = Bank::new();
    let before = bank.transactions();
    bank.script("quote", &documents.get(1)).expect(0, "57600\n");
    assert_eq!(bank.transactions(), before, "a plain quote writes nothing");
    assert_eq!(bank.figures("chemistry"), (100_000, 0, 100_000));
    bank.verify();
}

pub(super) fn nami_case_02_a_quote_with_a_tid_is_a_row(documents: &Documents) {
    let mut bank = Bank::new();
    let call = bank.call("quote").set("print_tid=true");
    let ran = call.body(&documents.get(1)).run();
    let output = ran
        .stdout
        .strip_prefix("57600:")
        .and_then(|rest| rest.strip_suffix('\n'));
    let tid = output.unwrap_or_else(|| panic!("{ran:?}"));
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    assert!(
        (1..=32).contains(&tid.len()) && tid.bytes().all(allowed),
        "{tid}"
    );
    let sql = "SELECT tid, amount, from_at / 1000000, until_at / 1000000 FROM quote";
    let (from, until) = (T0.to_string(), (T0 + 86_400).to_string());
    assert_eq!(bank.query(sql), [[tid, "57600", &from, &until]]);
    bank.verify();
}

pub(super) fn nami_case_03_a_quote_without_money_is_78(documents: &Documents) {
    let mut bank = Setup::new().chemistry(57_599).start();
    let before = bank.transactions();
    let ran = bank.script("quote", &documents.get(1));
    ran.expect(78, "")
        .expect_stderr(&["need 57600", "have 57599"]);
    assert_eq!(bank.transactions(), before);
    bank.verify();
}

pub(super) fn nami_case_26_no_account_means_the_default_project(documents: &Documents) {
    for number in [23, 26, 27] {
        let mut bank = Bank::new();
        bank.bank_ok(&["user", "set", "carol", "--default-project", "astro"]);
        bank.script("reserve", &documents.get(number)).expect(0, "");
        assert_eq!(
            bank.held(),
            [("astro".to_owned(), 4800)],
            "document {number}"
        );
        bank.verify();
    }
}

pub(super) fn nami_case_27_no_account_and_no_default_is_74(documents: &Documents) {
    let mut bank = Bank::new();
    bank.script("reserve", &documents.get(23)).expect(74, "");
    bank.script("quote", &documents.get(7)).expect(74, "");
    assert_eq!(bank.liens().len() + bank.jobs().len(), 0);
    bank.verify();
}

pub(super) fn nami_case_28_only_a_quote_needs_no_id(documents: &Documents) {
    let mut bank = Bank::new();
    bank.script("reserve", &documents.get(24)).expect(31, "");
    bank.script("quote", &documents.get(24)).expect(0, "4800\n");
    assert_eq!(bank.jobs().len(), 0);
    bank.verify();
}
