//! The queue of the package: whatever happens to the daemon and to the client, every call is done, once.

use super::peer::Peer;
use super::{amount_of, socket};
use crate::harness::{Bank, until};

#[test]
fn nothing_is_lost_while_the_daemon_is_away() {
    let mut bank = Bank::new();
    let folder = bank.folder().join("queue");
    let Some(mut peer) = Peer::start(&socket(&bank), &folder) else {
        return;
    };
    bank.kill();
    assert_eq!(peer.ask("put 1 a"), "kept");
    assert_eq!(peer.ask("put 10 b"), "kept");
    assert_eq!(peer.ask("drain"), "Unavailable 2 left");
    assert_eq!(peer.ask("put 100 c"), "kept");
    bank.start();
    assert_eq!(peer.ask("drain"), "done 3 refused 0 left 0");
    assert_eq!(amount_of(&bank, "chemistry"), "100111");
    // The same calls again, with the same keys.
    for call in ["put 1 a", "put 10 b", "put 100 c"] {
        assert_eq!(peer.ask(call), "kept");
    }
    assert_eq!(peer.ask("drain"), "done 3 refused 0 left 0");
    assert_eq!(amount_of(&bank, "chemistry"), "100111");
    bank.verify();
}

#[test]
fn each_charge_is_done_once_while_the_daemon_is_killed() {
    let mut bank = Bank::new();
    let folder = bank.folder().join("queue");
    let Some(mut peer) = Peer::start(&socket(&bank), &folder) else {
        return;
    };
    let left = || std::fs::read_dir(folder.join("waiting")).map_or(0, Iterator::count);
    assert_eq!(peer.ask("put_charges 1 300"), "kept");
    peer.order("drain_all");
    for below in [250, 150, 50] {
        until("the queue is being sent", || (left() < below).then_some(()));
        bank.kill();
        bank.start();
    }
    assert_eq!(peer.answer(), "empty");
    assert_eq!(amount_of(&bank, "chemistry"), "99700");
    assert_eq!(peer.ask("refused"), "none");
    bank.verify();
}

#[test]
fn a_client_that_is_killed_loses_nothing() {
    let mut bank = Bank::new();
    let folder = bank.folder().join("queue");
    let Some(mut peer) = Peer::start(&socket(&bank), &folder) else {
        return;
    };
    assert_eq!(peer.ask("put 1 a"), "kept");
    assert_eq!(peer.ask("put_charges 1 200"), "kept");
    peer.kill();
    // Killed while it sends, again and again.
    let left = || std::fs::read_dir(folder.join("waiting")).map_or(0, Iterator::count);
    for below in [201, 150, 100] {
        let mut peer = Peer::start(&socket(&bank), &folder).unwrap();
        peer.order("drain_all");
        until("the queue is being sent", || (left() < below).then_some(()));
        peer.kill();
    }
    let mut peer = Peer::start(&socket(&bank), &folder).unwrap();
    assert_eq!(peer.ask("drain_all"), "empty");
    assert_eq!(amount_of(&bank, "chemistry"), "99801");
    bank.verify();
}

#[test]
fn a_refused_call_is_kept_with_its_answer() {
    let mut bank = Bank::new();
    let folder = bank.folder().join("queue");
    let Some(mut peer) = Peer::start(&socket(&bank), &folder) else {
        return;
    };
    assert_eq!(peer.ask("withdraw 100001"), "kept");
    assert_eq!(peer.ask("put 5 a"), "kept");
    assert_eq!(peer.ask("drain"), "done 1 refused 1 left 0");
    assert_eq!(peer.ask("refused"), "insufficient_funds");
    // Its own key has the refusal for seven days: the call gets a new one.
    assert_eq!(peer.ask("retry"), "1 waiting");
    assert_eq!(peer.ask("drain"), "done 1 refused 0 left 0");
    assert_eq!(amount_of(&bank, "chemistry"), "4");
    bank.verify();
}
