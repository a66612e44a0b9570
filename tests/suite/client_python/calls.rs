//! Calls of the package: signatures, servers, refusals, and every question.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::peer::Peer;
use super::{amount_of, socket};
use crate::auth::token::token;
use crate::harness::{Bank, free_port};

#[test]
fn calls_over_tcp_are_signed() {
    let mut bank = Bank::new();
    let (folder, key) = (bank.folder().join("queue"), bank.data().join("keys/admin"));
    let address = format!("http://{}", bank.tcp());
    let Some(mut peer) = Peer::with(&address, &folder, Some(("admin", &key))) else {
        return;
    };
    assert_eq!(peer.ask("send 20"), "20");
    assert_eq!(
        peer.ask("withdraw 7") + " " + &peer.ask("drain"),
        "kept done 1 refused 0 left 0"
    );
    assert_eq!(amount_of(&bank, "chemistry"), "100013");
    bank.verify();
}

#[test]
fn a_token_is_shown_in_place_of_a_signature() {
    let mut bank = Bank::new();
    let text = token(&bank, "portal", &["--role", "admin"]);
    let folder = bank.folder().join("queue");
    for address in [format!("http://{}", bank.tcp()), socket(&bank)] {
        let Some(mut peer) = Peer::with_token(&address, &folder, &text) else {
            return;
        };
        assert_eq!(peer.ask("send 20"), "20");
    }
    let actors = bank.query("SELECT actor FROM tx ORDER BY id DESC LIMIT 2");
    assert_eq!(actors, [["portal"], ["portal"]]);
    bank.bank_ok(&["token", "rm", "portal", "--yes"]);
    let address = format!("http://{}", bank.tcp());
    let mut peer = Peer::with_token(&address, &folder, &text).unwrap();
    assert_eq!(peer.ask("put 20 once"), "kept");
    assert_eq!(peer.ask("drain"), "Unauthorized 1 left");
    assert_eq!(amount_of(&bank, "chemistry"), "100040");
    bank.verify();
}

#[test]
fn a_wrong_secret_loses_nothing() {
    let mut bank = Bank::new();
    let (folder, key) = (bank.folder().join("queue"), bank.data().join("keys/admin"));
    let other = bank.folder().join("other.key");
    fs::write(&other, "another secret").unwrap();
    fs::set_permissions(&other, fs::Permissions::from_mode(0o600)).unwrap();
    let address = format!("http://{}", bank.tcp());
    let Some(mut peer) = Peer::with(&address, &folder, Some(("admin", &other))) else {
        return;
    };
    assert_eq!(peer.ask("send 20"), "Unauthorized 0 left");
    assert_eq!(peer.ask("put 20 once"), "kept");
    assert_eq!(peer.ask("drain"), "Unauthorized 1 left");
    assert_eq!(peer.ask("refused"), "none");
    drop(peer);
    let mut peer = Peer::with(&address, &folder, Some(("admin", &key))).unwrap();
    assert_eq!(peer.ask("drain"), "done 1 refused 0 left 0");
    assert_eq!(amount_of(&bank, "chemistry"), "100020");
    bank.verify();
}

#[test]
fn the_second_server_is_used_if_the_first_is_away() {
    let mut bank = Bank::new();
    let (folder, key) = (bank.folder().join("queue"), bank.data().join("keys/admin"));
    let address = format!("http://127.0.0.1:{},http://{}", free_port(), bank.tcp());
    let Some(mut peer) = Peer::with(&address, &folder, Some(("admin", &key))) else {
        return;
    };
    assert_eq!(peer.ask("send 20"), "20");
    assert_eq!(amount_of(&bank, "chemistry"), "100020");
    drop(peer);
    // A daemon that is about to end answers 503 or closes the connection; the socket is the third way.
    let address = format!("http://{},{}", bank.tcp(), socket(&bank));
    let mut peer = Peer::with(&address, &folder, Some(("admin", &key))).unwrap();
    bank.stop();
    assert_eq!(peer.ask("send 20"), "Unavailable 0 left");
    bank.start();
    assert_eq!(peer.ask("send 20"), "20");
    assert_eq!(amount_of(&bank, "chemistry"), "100040");
    bank.verify();
}

#[test]
fn a_refusal_has_its_code_and_amounts() {
    let mut bank = Bank::new();
    let folder = bank.folder().join("queue");
    let Some(mut peer) = Peer::start(&socket(&bank), &folder) else {
        return;
    };
    assert_eq!(peer.ask("send 0.5"), "Refused too_many_decimals None None");
    let expected = "Refused insufficient_funds 200000 100000";
    assert_eq!(peer.ask("take 200000"), expected);
    bank.verify();
}

#[test]
fn every_question_without_a_name_is_read() {
    let mut bank = Bank::new();
    bank.bank_ok(&["role", "grant", "amy", "auditor"]);
    let folder = bank.folder().join("queue");
    let Some(mut peer) = Peer::start(&socket(&bank), &folder) else {
        return;
    };
    assert_eq!(peer.ask("put_charges 1 3"), "kept");
    assert_eq!(peer.ask("drain"), "done 3 refused 0 left 0");
    let read = peer.ask("questions");
    let number = read.strip_prefix("read ").map(str::parse::<u32>);
    assert!(matches!(number, Some(Ok(50..))), "{read}");
    bank.verify();
}
