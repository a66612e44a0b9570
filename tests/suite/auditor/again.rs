//! What a collector's bodies lack is put right by hand, and lies where its readers look for it.

use std::fs;
use std::io::{Read as _, Write as _};

use super::wire::{ask, plain};
use super::{Site, site};

#[test]
fn a_refused_body_that_was_mended_is_a_record() {
    let Site { mut bank, address } = site();
    bank.bank_ok(&["machine", "add", "hpc"]);
    bank.bank_ok(&["machine", "set", "hpc", "--source", "auditor"]);
    let bad =
        r#"{"record_id":"drone","meta":{"site_id":["hpc"]},"start_time":"2026-01-01T00:00:00Z"}"#;
    let json = [("Content-Type", "application/json")];
    let response = ask(plain(&address), "POST", "/record", &json, bad).unwrap();
    assert_eq!(response.status, 400);
    let good = bad.replace("\"start", "\"components\":[],\"start");
    let file = bank.data().join("good.json");
    fs::write(&file, &good).unwrap();
    let file = file.display().to_string();
    let ran = bank.bank(&["quarantine", "replay", "1"]);
    assert_eq!(ran.exit, 1, "{}", ran.stderr);
    ran.expect_stderr(&["missing field `components`"]);
    let tried = bank.bank_ok(&["quarantine", "replay", "1", "--with", &file, "--dry-run"]);
    assert_eq!(tried, "dry run, nothing written: 1: 1 job: 1 stored\n");
    let done = bank.bank_ok(&["quarantine", "replay", "1", "--with", &file]);
    assert_eq!(done, "1: 1 job: 1 stored\n");
    // A record that goes on is nothing to charge, and nothing to lose.
    let response = ask(plain(&address), "GET", "/records", &[], "").unwrap();
    assert_eq!(response.names(), ["drone"]);
    let left = bank.json(&["quarantine", "ls"]);
    assert_eq!(left["items"].as_array().unwrap().len(), 0);
    bank.verify();
}

/// As every service of the daemon refuses it.
#[test]
fn a_request_without_a_host_is_refused() {
    let Site { mut bank, address } = site();
    for (head, status) in [
        ("GET /records HTTP/1.1\r\nConnection: close\r\n", 400),
        ("GET /records HTTP/1.1\r\nHost: a\r\nHost: a\r\n", 400),
        (
            "GET /records HTTP/1.1\r\nHost: a\r\nConnection: close\r\n",
            200,
        ),
        ("GET /records HTTP/1.0\r\n", 200),
    ] {
        let mut stream = plain(&address);
        stream.write_all(format!("{head}\r\n").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert_eq!(
            answer.split(' ').nth(1),
            Some(&*status.to_string()),
            "{head}: {answer}"
        );
    }
    bank.verify();
}
