//! ledger.md 11, cases 54, 55 and 101 to 103: what only a store can show.

use super::ask::{Ask, c, r};
use super::bench::Bench;
use super::fixture::T0;
use super::ground::Ground;
use super::sqlite::{Sqlite, run};
use super::writer::{at_once, tally};
use bank_core::directory::Policy;
use bankd_store::verify;
use std::path::Path;

/// A store with these accounts; gives the number of its last transaction too.
pub(super) fn store_with(given: &str, before: impl IntoIterator<Item = Ask>) -> (Sqlite, i64) {
    let mut store = Sqlite::new(Policy::default(), 1);
    let mark = {
        let mut bench = Bench::new(&mut store);
        bench.given(given);
        bench.after(before);
        bench.mark()
    };
    (store, mark)
}

/// What was journalled since, with proof that everything adds up.
pub(super) fn journal_since(store: &mut Sqlite, mark: i64) -> String {
    let mut bench = Bench::resume(store, mark);
    let journal = bench.journal();
    bench.end();
    journal
}

fn reserves(count: usize) -> Vec<Ask> {
    (1..=count).map(|n| r(&format!("j{n}"), 300)).collect()
}

#[test]
fn ledger_case_054_eight_at_once_get_what_there_is() {
    let (mut store, mark) = store_with("F{a=1000}", []);
    let got = at_once(store.take_store(), reserves(8));
    let short = "refused insufficient_funds, exit 3: needed 300, available 100";
    assert_eq!(tally(&got), [("lien 300", 3), (short, 5)]);
    store.open();
    let three = ["lien a 0/+300"; 3].join("; ");
    assert_eq!(journal_since(&mut store, mark), three);
    Bench::resume(&mut store, mark)
        .expect_balance("F", "amount 1000 held 900 balance 100 available 100");
}

#[test]
fn ledger_case_055_fifty_at_once_and_one_gets_it() {
    let (mut store, mark) = store_with("F{a=300}", []);
    let got = at_once(store.take_store(), reserves(50));
    let short = "refused insufficient_funds, exit 3: needed 300, available 0";
    assert_eq!(tally(&got), [("lien 300", 1), (short, 49)]);
    store.open();
    assert_eq!(journal_since(&mut store, mark), "lien a 0/+300");
}

#[test]
fn ledger_case_101_a_reply_that_was_lost_is_given_again() {
    let (mut store, mark) = store_with("F{a=1000}", []);
    let charge = || vec![c("j", 100).key("K")];
    let first = at_once(store.take_store(), charge());
    assert_eq!(first[0].text, "charged 100, balance 900");
    assert!(first[0].fresh);
    store.open();
    let again = at_once(store.take_store(), charge());
    assert_eq!(again[0].text, first[0].text);
    assert!(!again[0].fresh);
    store.open();
    assert_eq!(journal_since(&mut store, mark), "charge a -100");
    Bench::resume(&mut store, mark)
        .expect_balance("F", "amount 900 held 0 balance 900 available 900");
}

#[test]
fn ledger_case_102_a_commit_that_did_not_happen_left_nothing() {
    let (mut store, mark) = store_with("F{a=1000}", []);
    let charge = c("j", 100).command.unwrap();
    let mut dying = store.take_store();
    dying.begin().unwrap();
    assert_eq!(
        run(&mut dying, &charge, Some("K"), T0),
        "charged 100, balance 900"
    );
    drop(dying);
    store.open();
    assert_eq!(journal_since(&mut store, mark), "");
    Bench::resume(&mut store, mark)
        .expect_balance("F", "amount 1000 held 0 balance 1000 available 1000");
    // The client repeats with its key, and now it is done.
    assert_eq!(
        store.submit(&charge, Some("K"), T0),
        "charged 100, balance 900"
    );
    assert_eq!(journal_since(&mut store, mark), "charge a -100");
}

#[test]
fn a_rollback_forgets_what_the_store_remembered() {
    let (mut store, mark) = store_with("F{a=1000}", []);
    let charge = c("j", 100).command.unwrap();
    store.store().begin().unwrap();
    run(store.store(), &charge, Some("K"), T0);
    store.store().rollback();
    assert_eq!(journal_since(&mut store, mark), "");
    assert_eq!(
        store.submit(&charge, Some("K"), T0),
        "charged 100, balance 900"
    );
    assert_eq!(journal_since(&mut store, mark), "charge a -100");
}

/// Changes one byte of a file, at a distance from the one place where a pattern stands.
fn flip(path: &Path, pattern: &[u8], distance: usize, mask: u8) -> usize {
    let mut bytes = std::fs::read(path).unwrap();
    let mut places = bytes.windows(pattern.len()).enumerate();
    let place = places.find(|(_, w)| *w == pattern).unwrap().0;
    assert!(
        places.all(|(_, w)| w != pattern),
        "the pattern stands there once"
    );
    let at = place + distance;
    bytes[at] ^= mask;
    std::fs::write(path, bytes).unwrap();
    at
}

#[test]
fn ledger_case_103_a_flipped_byte_is_found() {
    // The row of the first entry ends so: its kind, account 2, allocation 2, 10000 three times.
    let row = b"deposit\x02\x02\x27\x10\x27\x10\x27\x10";
    let (mut store, _) = store_with("F{a=10000}", [r("j1", 7200), c("j1", 2468)]);
    let first = store
        .journal(0)
        .into_iter()
        .find(|tx| !tx.entries.is_empty())
        .unwrap()
        .id;
    let sound = verify::run(store.path()).unwrap();
    assert_eq!(sound.lines(), Vec::<String>::new());
    let path = store.path().to_owned();
    let mut closing = store.take_store();
    closing.checkpoint().unwrap();
    drop(closing);

    // The lowest byte of its delta_amount: 10000 becomes 10001.
    let at = flip(&path, row, 10, 1);
    let findings = verify::run(&path).unwrap().lines();
    assert!(
        findings[0].starts_with(&format!("transaction {first}: ")),
        "{findings:#?}"
    );
    let hash = format!("transaction {first}: its hash is wrong");
    assert!(
        findings.iter().any(|f| f.starts_with(&hash)),
        "{findings:#?}"
    );
    flip(&path, b"deposit\x02\x02\x27\x11", 10, 1);
    assert_eq!(verify::run(&path).unwrap(), sound);

    // A letter of its kind: no kind is written so.
    flip(&path, row, 0, 1);
    let findings = verify::run(&path).unwrap().lines();
    assert!(findings[0].starts_with(&hash), "{findings:#?}");
    flip(&path, b"eeposit\x02\x02\x27\x10", 0, 1);
    assert_eq!(verify::run(&path).unwrap(), sound);

    // The type of its page: what is there is no page any more.
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[at / 4096 * 4096] ^= 0xff;
    std::fs::write(&path, bytes).unwrap();
    let findings = verify::run(&path).unwrap().lines();
    assert!(
        findings.iter().any(|f| f.starts_with("corrupt")),
        "{findings:#?}"
    );
}
