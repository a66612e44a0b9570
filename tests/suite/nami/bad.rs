//! Documents that are none, or that somebody made to do harm: exit 31, nothing written, the daemon
//! alive. A charge among them lies in the quarantine afterwards.

use std::time::Duration;

use crate::harness::{Bank, Documents, Setup, reading, text};

/// The script's whole address space, in KiB: what it uses cannot be more.
const SCRIPT_KIB: &str = "32768";
/// What a document may add to the daemon, in KiB.
const DAEMON_KIB: i64 = 32 * 1024;

/// Each document is refused as unusable, and changes nothing.
fn refused(bank: &mut Bank, event: &str, bodies: &[Vec<u8>]) {
    let before = bank.transactions();
    for (index, body) in bodies.iter().enumerate() {
        bank.script(event, body).expect(31, "");
        let kept = if event == "charge" { index + 1 } else { 0 };
        assert_eq!(
            (bank.quarantined(), bank.spooled()),
            (kept, 0),
            "document {index}"
        );
    }
    assert_eq!((bank.transactions(), bank.jobs().len()), (before, 0));
    assert!(!bank.is_gone());
    assert_eq!(bank.figures("chemistry"), (100_000, 0, 100_000));
}

pub(super) fn nami_case_38_broken_documents(documents: &Documents) {
    let mut bank = Bank::new();
    let bodies = [36, 37, 38, 39].map(|number| documents.get(number));
    refused(&mut bank, "charge", &bodies);
    bank.verify();
}

pub(super) fn nami_case_39_document_types(documents: &Documents) {
    let mut bank = Bank::new();
    let bodies = [40, 41].map(|number| documents.get(number));
    refused(&mut bank, "reserve", &bodies);
    let before = bank.memory_kib();
    for body in &bodies {
        let (read, took) = reading(body);
        assert!(
            read.is_err() && took < Duration::from_millis(50),
            "{took:?}"
        );
        let limited = ["sh", "-c", "ulimit -v \"$0\" && exec \"$1\"", SCRIPT_KIB];
        bank.call("reserve")
            .through(&limited)
            .body(body)
            .run()
            .expect(31, "");
    }
    let grown = bank.memory_kib() - before;
    assert!(grown < DAEMON_KIB, "the daemon grew by {grown} KiB");
    bank.verify();
}

pub(super) fn nami_case_40_numbers_that_are_none(documents: &Documents) {
    let mut bank = Bank::new();
    let bodies = [42, 43, 44, 45, 47].map(|number| documents.get(number));
    refused(&mut bank, "charge", &bodies);
    bank.verify();
}

pub(super) fn nami_case_41_a_deep_document(documents: &Documents) {
    let mut bank = Bank::new();
    refused(&mut bank, "charge", &[documents.get(46)]);
    bank.verify();
}

pub(super) fn nami_case_42_a_line_feed_in_an_id(documents: &Documents) {
    let mut bank = Setup::new().env("BANKD_FILE_PATH", "records.txt").start();
    refused(&mut bank, "charge", &[documents.get(48)]);
    bank.verify();
    let records = std::fs::read(bank.data().join("records.txt")).unwrap_or_default();
    assert_eq!(String::from_utf8_lossy(&records), "");
}

pub(super) fn nami_case_43_latin_1_where_it_is_allowed(documents: &Documents) {
    let mut bank = Bank::new();
    bank.bank_ok(&["user", "add", "josé"]);
    bank.bank_ok(&["project", "members", "add", "chemistry", "josé"]);
    bank.script("reserve", &documents.get(49)).expect(31, "");
    assert_eq!(bank.liens().len(), 0);
    let call = bank.call("reserve").set("latin1_fallback=true");
    call.body(&documents.get(49)).run().expect(0, "");
    assert_eq!(bank.held(), [("chemistry".to_owned(), 60)]);
    assert_eq!(text(&bank.liens()[0], "user"), "josé");
    bank.verify();
}

pub(super) fn nami_case_44_a_byte_order_mark_and_attributes(documents: &Documents) {
    let mut bank = Bank::new();
    for number in [50, 51] {
        bank.script("reserve", &documents.get(number)).expect(0, "");
    }
    let chemistry = ("chemistry".to_owned(), 60);
    assert_eq!(bank.held(), [chemistry.clone(), chemistry]);
    bank.verify();
}
