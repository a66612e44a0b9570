//! Many clients want the last credit at once: exactly the affordable number gets it.

use super::ask::{Ask, c, r, withdraw};
use super::bench::Bench;
use super::case_store::{journal_since, store_with};
use super::writer::{at_once, at_once_in_batches, tally};

const CLIENTS: usize = 50;

fn each(ask: impl Fn(&str) -> Ask) -> Vec<Ask> {
    (0..CLIENTS).map(|n| ask(&format!("job-{n}"))).collect()
}

#[test]
fn fifty_clients_for_the_last_credit() {
    let (mut store, mark) = store_with("F{a=1}", []);
    let got = at_once(store.take_store(), each(|job| r(job, 1)));
    let short = "refused insufficient_funds, exit 3: needed 1, available 0";
    assert_eq!(tally(&got), [("lien 1", 1), (short, 49)]);
    store.open();
    assert_eq!(journal_since(&mut store, mark), "lien a 0/+1");
}

#[test]
fn exactly_the_affordable_number_succeeds_however_commands_are_grouped() {
    for batch_max in [1, 7, 256] {
        let (mut store, mark) = store_with("F{a=60, b=30 [2026,2027)}, G{c=31}", []);
        let asks = each(|job| r(job, 7));
        let got = at_once_in_batches(store.take_store(), asks, batch_max);
        // 121 credits in all: 17 times 7, and 2 are left.
        let short = "refused insufficient_funds, exit 3: needed 7, available 2";
        assert_eq!(
            tally(&got),
            [("lien 7", 17), (short, 33)],
            "{batch_max} per commit"
        );
        store.open();
        let liens = journal_since(&mut store, mark);
        assert_eq!(
            liens.split("; ").count(),
            17,
            "{batch_max} per commit: {liens}"
        );
    }
}

#[test]
fn fifty_withdrawals_never_take_more_than_there_is() {
    let (mut store, mark) = store_with("F{a=100}", [r("j", 37)]);
    let got = at_once(store.take_store(), each(|_| withdraw("F", 6)));
    let short = "refused insufficient_funds, exit 3: needed 6, available 3";
    assert_eq!(tally(&got), [(short, 40), ("withdrawn 6", 10)]);
    store.open();
    let mut bench = Bench::resume(&mut store, mark);
    bench.expect_balance("F", "amount 40 held 37 balance 3 available 3");
    bench.end();
}

#[test]
fn one_key_from_fifty_clients_is_one_charge() {
    let (mut store, mark) = store_with("F{a=100}", []);
    let got = at_once(store.take_store(), each(|_| c("j", 40).key("K")));
    assert_eq!(tally(&got), [("charged 40, balance 60", CLIENTS)]);
    assert_eq!(got.iter().filter(|g| g.fresh).count(), 1);
    store.open();
    assert_eq!(journal_since(&mut store, mark), "charge a -40");
}

#[test]
fn charges_are_never_refused_and_lose_nothing() {
    let (mut store, mark) = store_with("F{a=100}", []);
    let got = at_once(store.take_store(), each(|job| c(job, 3)));
    assert!(
        got.iter().all(|g| g.text.starts_with("charged 3")),
        "{got:#?}"
    );
    store.open();
    let mut bench = Bench::resume(&mut store, mark);
    bench.expect_balance("F", "amount -50 held 0 balance -50 available -50");
    bench.end();
}
