//! Bytes that are no decent HTTP, and requests that never end: the daemon goes on serving others.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;

use crate::harness::{Bank, Documents, Request, Setup};

fn raw() -> Vec<(&'static str, Vec<u8>)> {
    let head = "POST /nami/v1/charge HTTP/1.1\r\nHost: x\r\nIdempotency-Key: k\r\n";
    let with = |rest: &str| format!("{head}{rest}").into_bytes();
    vec![
        ("no HTTP", b"\x16\x03\x01\x02\x00".to_vec()),
        ("an endless line", vec![b'A'; 1 << 20]),
        ("a thousand headers", with(&"X-More: y\r\n".repeat(1000))),
        (
            "a length of ages",
            with("Content-Length: 99999999999999999999\r\n\r\n"),
        ),
        ("a length below zero", with("Content-Length: -1\r\n\r\n")),
        (
            "two lengths",
            with("Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
        ),
        (
            "length and chunks",
            with("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc"),
        ),
        (
            "a chunk of ages",
            with("Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n"),
        ),
        (
            "a body that never comes",
            with("Content-Length: 100\r\n\r\n<Job>"),
        ),
        (
            "a target of control characters",
            b"POST /nami/\x01 HTTP/1.1\r\n\r\n".to_vec(),
        ),
    ]
}

#[test]
fn what_is_no_http_hurts_nobody() {
    let mut bank = Bank::new();
    let mut open: Vec<Box<dyn std::any::Any>> = Vec::new();
    for (what, bytes) in raw() {
        let mut tcp = TcpStream::connect(bank.tcp()).unwrap();
        let mut unix = UnixStream::connect(bank.socket()).unwrap();
        // The daemon may hang up before it has read everything.
        let _ = tcp.write_all(&bytes);
        let _ = unix.write_all(&bytes);
        let answer = bank.over_tcp(&Request::get("/healthz"));
        assert_eq!(answer.status, 200, "{what}");
        open.push(Box::new((tcp, unix)));
    }
    bank.script("charge", &Documents::own().get(4))
        .expect(0, "");
    assert_eq!(bank.debits(), [("chemistry".to_owned(), 28_800)]);
    drop(open);
    bank.verify();
}

/// Also of what never becomes a request: the status is told with a document, and then it ends.
#[test]
fn what_is_no_http_is_answered_with_a_problem_document() {
    let mut bank = Bank::new();
    let get = |path: &str, more: &str| format!("GET {path} HTTP/1.1\r\nHost: x\r\n{more}\r\n");
    let long = "y".repeat(70_000);
    for (what, bytes, status) in [
        ("no HTTP", "nonsense\r\n\r\n".to_owned(), 400),
        ("a control character", get("/\u{1}", ""), 400),
        (
            "a length, then chunks",
            get(
                "/healthz",
                "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
            ),
            400,
        ),
        (
            "chunks, then a length",
            get(
                "/healthz",
                "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n",
            ),
            400,
        ),
        ("no host", "GET /healthz HTTP/1.1\r\n\r\n".to_owned(), 400),
        ("two hosts", get("/healthz", "Host: y\r\n"), 400),
        (
            "no host of a page",
            "GET /web/ HTTP/1.1\r\n\r\n".to_owned(),
            400,
        ),
        ("a long address", get(&format!("/{long}"), ""), 414),
        (
            "a thousand headers",
            get("/healthz", &"X-More: y\r\n".repeat(1000)),
            431,
        ),
    ] {
        let mut stream = TcpStream::connect(bank.tcp()).unwrap();
        // One that is fine comes first on the same connection, and is answered as always.
        let fine = get("/healthz", "");
        stream
            .write_all(format!("{fine}{bytes}").as_bytes())
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (_, last) = answer.rsplit_once("}HTTP/1.1 ").unwrap();
        let (head, body) = last.split_once("\r\n\r\n").unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 "), "{what}: {answer}");
        assert!(head.starts_with(&status.to_string()), "{what}: {head}");
        assert!(
            head.to_lowercase()
                .contains("content-type: application/problem+json"),
            "{what}: {head}"
        );
        let problem: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!(problem["status"], status, "{what}");
        assert!(problem["request_id"].is_string(), "{what}");
        assert_eq!(
            body.contains("header Host"),
            what.contains("host"),
            "{body}"
        );
    }
    // HTTP/1.0 has no such field.
    let mut stream = TcpStream::connect(bank.tcp()).unwrap();
    stream.write_all(b"GET /healthz HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.0 200 "), "{answer}");
    bank.verify();
}

#[test]
fn whoever_breaks_off_leaves_nothing_behind() {
    let mut bank = Bank::new();
    for _ in 0..50 {
        let mut stream = UnixStream::connect(bank.socket()).unwrap();
        let head = "POST /nami/v1/charge HTTP/1.1\r\nHost: x\r\nIdempotency-Key: k\r\n\
                    Content-Length: 100\r\n\r\n<Job>";
        stream.write_all(head.as_bytes()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer);
        // Its document is not bad: a script keeps it and sends it again.
        assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
        assert!(answer.contains("body_incomplete"), "{answer}");
    }
    assert_eq!(bank.jobs().len(), 0);
    bank.verify();
}

/// Connections that say nothing take no room from the socket, and none for ever from each other.
#[test]
fn silent_connections_are_bounded() {
    let mut bank = Setup::new().env("BANKD_HTTP_MAX_CONNECTIONS", "16").start();
    let silent: Vec<TcpStream> = (0..16)
        .map(|_| TcpStream::connect(bank.tcp()).unwrap())
        .collect();
    // They are all let in before the next one asks.
    let mut asking = TcpStream::connect(bank.tcp()).unwrap();
    asking
        .write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        .unwrap();
    asking
        .set_read_timeout(Some(std::time::Duration::from_millis(300)))
        .unwrap();
    assert!(asking.read(&mut [0; 1]).is_err(), "there is no room for it");
    assert_eq!(
        bank.figures("chemistry").0,
        100_000,
        "the socket has its own"
    );
    drop(silent);
    asking.set_read_timeout(None).unwrap();
    let mut answer = String::new();
    asking.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    bank.verify();
}

/// A stranger who dawdles over a body takes no slot: there is one, and the next caller gets it.
#[test]
fn strangers_take_no_slot() {
    let mut bank = Setup::new().env("BANKD_HTTP_CONCURRENCY", "1").start();
    let mut slow = TcpStream::connect(bank.tcp()).unwrap();
    slow.write_all(b"POST /nami/v1/charge HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n<Job>")
        .unwrap();
    for _ in 0..5 {
        assert_eq!(bank.figures("chemistry").0, 100_000);
    }
    drop(slow);
    bank.verify();
}
