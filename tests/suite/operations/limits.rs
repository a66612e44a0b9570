//! Limits of clients, over the wire.

use super::me;
use crate::harness::{Address, Connection, Request, Setup, Signing};

fn status(connection: &mut Connection) -> u16 {
    connection
        .send(&Request::get("/api/v1/balances"))
        .unwrap()
        .status
}

#[test]
fn a_client_that_asks_too_often_hears_when_to_come_back() {
    let bank = Setup::new()
        .toml(&format!(
            "[limits.client.\"{}\"]\nrate = 1\nburst = 50\n",
            me()
        ))
        .start();
    let mut connection = Connection::open(&Address::Unix(bank.socket())).unwrap();
    let mut taken = 0;
    let refused = loop {
        let answer = connection.send(&Request::get("/api/v1/balances")).unwrap();
        match answer.status {
            200 => taken += 1,
            _ => break answer,
        }
        assert!(taken < 1000, "nothing is ever refused");
    };
    assert_eq!(refused.status, 429);
    assert!(taken <= 60, "{taken} of a burst of 50");
    let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=2).contains(&wait), "{wait}");
    assert_eq!(
        refused.header("content-type"),
        Some("application/problem+json")
    );
    assert!(
        refused.text().contains("\"rate_limited\""),
        "{}",
        refused.text()
    );
    assert!(refused.text().contains("request_id"), "{}", refused.text());

    // What the scheduler tells has happened: it is taken, however much of it comes.
    let body = b"<Job><ObjectID>J.1</ObjectID><User>amy</User><Account>chemistry</Account>\
        <Machine>colony</Machine><Processors>1</Processors><ChargeDuration>1</ChargeDuration></Job>";
    for number in 0..100 {
        let charge = Request::nami("charge", &format!("c-{number}"), body);
        let answer = connection.send(&charge).unwrap();
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    // Another client has what it had, and its answers are signed, refused or not.
    let signed = Signing::new().sign_all(Request::get("/api/v1/balances"));
    assert_eq!(bank.over_tcp(&signed).status, 200);
    let exit = (0..60)
        .map(|_| bank.bank(&["balance"]).exit)
        .find(|exit| *exit != 0);
    assert_eq!(exit, Some(5), "the command line says that the bank is busy");
}

#[test]
fn a_body_is_as_large_as_its_client_may_send() {
    let bank = Setup::new()
        .toml("[limits.client.moab]\nbody = 64\n")
        .start();
    let signed = |body: &[u8]| {
        let request = Request {
            method: "POST",
            target: "/api/v1/quotes".to_owned(),
            headers: vec![("Content-Type".to_owned(), "application/json".to_owned())],
            body: body.to_vec(),
        };
        bank.over_tcp(&Signing::new().sign_all(request))
    };
    let large = signed(&[b' '; 65]);
    assert_eq!(large.status, 413, "{}", large.text());
    assert!(
        large.text().contains("moab may send 64 bytes"),
        "{}",
        large.text()
    );
    assert_eq!(signed(&[b' '; 64]).status, 400);
    let status = bank.bank_ok(&["status", "--json"]);
    assert!(status.replace(' ', "").contains("\"body\":1"), "{status}");
    let mut connection = Connection::open(&Address::Unix(bank.socket())).unwrap();
    assert_eq!(self::status(&mut connection), 200);
}
