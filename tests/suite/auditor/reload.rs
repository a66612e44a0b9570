//! New certificates while the daemon runs: SIGHUP.

use super::authority::{Authority, put};
use super::wire::{ask, plain, secure};
use super::{Site, secure_site};
use crate::harness::until;

#[test]
fn certificates_are_read_anew_on_sighup() {
    let (Some(authority), Some(next)) = (Authority::new(), Authority::new()) else {
        return;
    };
    authority.issue("a", "/CN=a");
    next.issue("a", "/CN=a");
    let Site { mut bank, address } = secure_site(&authority, "read = [\"a\"]\n");
    let is_served = |by: &Authority| {
        let stream = secure(&address, by.caller(Some("a")));
        ask(stream, "GET", "/records", &[], "").is_ok_and(|response| response.status == 200)
    };
    assert!(is_served(&authority) && !is_served(&next));

    // What is wrong leaves all as it is.
    let own = authority.path("");
    std::fs::copy(authority.path("ca.pem"), authority.path("first-ca.pem")).unwrap();
    std::fs::write(authority.path("ca.pem"), "nothing").unwrap();
    bank.signal("HUP");
    until("the daemon says what is wrong", || {
        let log = bank.log();
        log.contains("no certificate in it").then_some(())
    });
    put(&authority, &[("first-ca.pem", "ca.pem")], &own);
    assert!(is_served(&authority));

    put(
        &next,
        &[
            ("ca.pem", "ca.pem"),
            ("server.pem", "server.pem"),
            ("server.key", "server.key"),
        ],
        &own,
    );
    bank.signal("HUP");
    until("the new CA is in force", || is_served(&next).then_some(()));
    // What the former CA signed opens nothing any more.
    assert!(!is_served(&authority));
    bank.verify();
}

#[test]
fn rights_are_read_anew_on_sighup() {
    let Some(authority) = Authority::new() else {
        return;
    };
    authority.issue("a", "/CN=a");
    authority.issue("b", "/CN=b");
    let Site { mut bank, address } = secure_site(&authority, "read = [\"a\"]\n");
    let status = |name: &str| {
        let stream = secure(&address, authority.caller(Some(name)));
        // A connection may end when the certificates are read anew.
        ask(stream, "GET", "/records", &[], "").map_or(0, |response| response.status)
    };
    let hold = |first: u16, other: u16| {
        until("these lists hold", || {
            ((status("a"), status("b")) == (first, other)).then_some(())
        });
    };
    hold(200, 403);
    let path = bank.data().join("bankd.toml");
    let first = std::fs::read_to_string(&path).unwrap();
    let next = first.replace("read = [\"a\"]", "read = [\"b\"]");
    assert_ne!(first, next);

    // What is wrong leaves all as it is, and is said.
    std::fs::write(&path, next.replace("read = [\"b\"]", "read = \"b\"")).unwrap();
    bank.signal("HUP");
    until("the daemon says what is wrong", || {
        bank.log()
            .contains("the settings stay as they were")
            .then_some(())
    });
    hold(200, 403);

    std::fs::write(&path, next).unwrap();
    bank.signal("HUP");
    hold(403, 200);
    assert!(bank.log().contains("auditor.access"));
    bank.verify();
}

#[test]
fn silent_connections_hold_up_nobody() {
    let Some(authority) = Authority::new() else {
        return;
    };
    authority.issue("a", "/CN=a");
    let Site { mut bank, address } = secure_site(&authority, "read = [\"a\"]\n");
    let silent: Vec<_> = (0..100).map(|_| plain(&address)).collect();
    let stream = secure(&address, authority.caller(Some("a")));
    let response = ask(stream, "GET", "/health_check", &[], "").unwrap();
    assert_eq!(response.status, 200);
    drop(silent);
    bank.verify();
}
