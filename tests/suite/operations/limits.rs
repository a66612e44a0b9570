//! Limits of clients, over the wire.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use super::me;
use crate::harness::{Address, Bank, Connection, Request, Setup, Signing, until};

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

/// Connections that have sent this much and say no more.
fn dawdlers(bank: &Bank, count: usize, start: &[u8]) -> Vec<UnixStream> {
    let open = |_| {
        let mut stream = UnixStream::connect(bank.socket()).unwrap();
        // Who is sent away at once is no matter.
        let _ = stream.write_all(start);
        stream
    };
    (0..count).map(open).collect()
}

#[test]
fn who_dawdles_over_heads_keeps_nobody_out() {
    let bank = Setup::new()
        .env("BANKD_HTTP_MAX_CONNECTIONS", "32")
        .env("BANKD_HTTP_MAX_CONNECTIONS_EACH", "16")
        .start();
    let _dawdlers = dawdlers(&bank, 200, b"GET /api/v1/status HTTP/1.1\r\nHost:");
    let since = Instant::now();
    // Of the same uid: each has to wait for a moment at most.
    bank.bank_ok(&["status"]);
    let body = b"<Job><ObjectID>J.1</ObjectID><User>amy</User><Account>chemistry</Account>\
        <Machine>colony</Machine><Processors>1</Processors><ChargeDuration>1</ChargeDuration></Job>";
    let mut connection = Connection::open(&Address::Unix(bank.socket())).unwrap();
    let answer = connection.send(&Request::nami("charge", "c-1", body));
    assert_eq!(answer.unwrap().status, 200);
    assert!(
        since.elapsed() < Duration::from_secs(15),
        "{:?}",
        since.elapsed()
    );
    // The network has seats of its own.
    let signed = Signing::new().sign_all(Request::get("/api/v1/balances"));
    assert_eq!(bank.over_tcp(&signed).status, 200);
}

#[test]
fn a_burst_of_one_peer_is_served_to_the_last() {
    let bank = Setup::new()
        .env("BANKD_HTTP_MAX_CONNECTIONS", "32")
        .env("BANKD_HTTP_MAX_CONNECTIONS_EACH", "16")
        .start();
    // Twice its share at once: half of them wait for seats.
    let address = Address::Unix(bank.socket());
    let all: Vec<u16> = std::thread::scope(|scope| {
        let ask = |_| scope.spawn(|| status(&mut Connection::open(&address).unwrap()));
        let requests: Vec<_> = (0..32).map(ask).collect();
        requests
            .into_iter()
            .map(|ask| ask.join().unwrap())
            .collect()
    });
    assert_eq!(all, [200; 32]);
}

#[test]
fn a_request_is_under_way_from_its_head_on() {
    let bank = Setup::new()
        .toml(&format!("[limits.client.\"{}\"]\nconcurrent = 4\n", me()))
        .start();
    let start = b"POST /api/v1/quotes HTTP/1.1\r\nHost: bank\r\nContent-Type: application/json\r\n\
        Content-Length: 40\r\n\r\n{";
    let mut waiting = dawdlers(&bank, 4, start);
    let mut connection = Connection::open(&Address::Unix(bank.socket())).unwrap();
    // They are heard of when their heads are read, which nobody tells. One whose turn comes beside a
    // question is sent away, so that others come.
    until("four bodies are waited for", || {
        let is_full = status(&mut connection) == 429;
        waiting.extend(dawdlers(&bank, 1, start));
        is_full.then_some(())
    });
    drop(waiting);
    until("none is", || (status(&mut connection) == 200).then_some(()));
}

/// Sends all of a request before it reads a byte of the answer, as simple clients do.
fn send_whole(mut stream: impl Read + Write, head: &str, body: &[u8]) -> String {
    let bytes = [head.as_bytes(), body].concat();
    stream
        .write_all(&bytes)
        .expect("the whole request is taken");
    let mut answer = String::new();
    stream
        .read_to_string(&mut answer)
        .expect("the answer is read");
    answer
}

/// A refusal before the body was read reaches a client that sends the whole body first.
#[test]
fn a_refusal_can_be_read_by_who_sends_the_whole_body_first() {
    let bank = Setup::new()
        .toml(&format!("[limits.client.\"{}\"]\nconcurrent = 4\n", me()))
        .start();
    let head = |length: usize| {
        format!(
            "POST /api/v1/quotes HTTP/1.1\r\nHost: bank\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n\r\n"
        )
    };
    let large = vec![b' '; 8 << 20];
    for round in 0..5 {
        let over_tcp = TcpStream::connect(bank.tcp()).unwrap();
        let answer = send_whole(over_tcp, &head(large.len()), &large);
        assert!(answer.starts_with("HTTP/1.1 413 "), "{round}: {answer}");
        let on_socket = UnixStream::connect(bank.socket()).unwrap();
        let answer = send_whole(on_socket, &head(large.len()), &large);
        assert!(answer.starts_with("HTTP/1.1 413 "), "{round}: {answer}");
    }
    let start = format!("{}{{", head(40));
    let mut waiting = dawdlers(&bank, 4, start.as_bytes());
    let mut connection = Connection::open(&Address::Unix(bank.socket())).unwrap();
    until("four bodies are waited for", || {
        let is_full = status(&mut connection) == 429;
        waiting.extend(dawdlers(&bank, 1, start.as_bytes()));
        is_full.then_some(())
    });
    let body = vec![b' '; 900 << 10];
    for round in 0..5 {
        let stream = UnixStream::connect(bank.socket()).unwrap();
        let answer = send_whole(stream, &head(body.len()), &body);
        assert!(answer.starts_with("HTTP/1.1 429 "), "{round}: {answer}");
        assert!(answer.contains("\"rate_limited\""), "{round}: {answer}");
    }
}
