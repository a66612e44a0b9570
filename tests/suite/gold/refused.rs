use std::fs;

use super::{KEY, UNSERVED, gateway, private};
use crate::harness::{Bank, Dialect, carries, proof, shared_folder, skip, summary, until};

/// The words of the lines about strangers, in the order of the log.
fn reasons(bank: &Bank) -> Vec<String> {
    let log = bank.log();
    let lines = log
        .lines()
        .filter(|line| line.contains("not authenticated"));
    let reason = |line: &str| {
        let (_, rest) = line.split_once("reason=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    };
    lines.map(reason).collect()
}

/// A refusal over the wire and in the log; the answer is never signed.
#[track_caller]
fn refused(bank: &Bank, message: &[u8], expected: &str, reason: &str) {
    let before = reasons(bank).len();
    let xml = Dialect::Maui.ask(&bank.gold(), message).unwrap();
    assert_eq!(summary(&xml), format!("Failure {expected}"));
    assert_eq!(carries(&xml, KEY), None, "{xml}");
    // The line is written before the answer; the file may be a moment behind.
    let line = until("a line of the log", || reasons(bank).get(before).cloned());
    assert_eq!(line, reason);
}

const DIGEST: &str = "422 not authenticated: digest does not match body";
const SIGNATURE: &str = "422 not authenticated: signature does not match";

/// `gold-wire.md` 2: every authentication failure is 422; only the log tells them apart.
#[test]
fn unknown_peers_receive_only_that_error() {
    let mut bank = gateway("");
    let before = bank.transactions();
    let (digest, value) = proof(KEY, UNSERVED);
    let maui = |signature: &str, body: &str| {
        Dialect::Maui.framed(&format!(
            "<Envelope name=\"maui\">{signature}{body}</Envelope>"
        ))
    };
    let signed = |digest: &str, value: &str, token: &str| {
        format!(
            "<Signature><DigestValue>{digest}</DigestValue><SignatureValue>{value}\
             </SignatureValue>{token}</Signature>"
        )
    };
    let altered = UNSERVED.replace("EventLog", "Job");
    let password = "<SecurityToken type=\"Password\">c2VjcmV0</SecurityToken>";
    for (message, expected, reason) in [
        (
            maui("", UNSERVED),
            "422 not authenticated: no signature",
            "unsigned",
        ),
        (
            maui("<Signature></Signature>", UNSERVED),
            "422 not authenticated: no signature",
            "unsigned",
        ),
        (
            maui(&signed(&digest, &value, ""), &altered),
            DIGEST,
            "digest",
        ),
        (
            maui(
                &signed("dAAbTDO3y3HLjiOPyTRjCul3ADM=", &value, ""),
                UNSERVED,
            ),
            DIGEST,
            "digest",
        ),
        (
            maui(&signed("not base64", &value, ""), UNSERVED),
            DIGEST,
            "digest",
        ),
        (
            Dialect::Slurm.message("notsss", UNSERVED),
            SIGNATURE,
            "signature",
        ),
        (
            maui(&signed(&digest, "not base64", ""), UNSERVED),
            SIGNATURE,
            "signature",
        ),
        (
            maui(&signed(&digest, &digest, ""), UNSERVED),
            SIGNATURE,
            "signature",
        ),
        (
            maui(&signed(&digest, &value, password), UNSERVED),
            "422 security token not supported",
            "token",
        ),
        (
            maui("", "<EncryptedData>x</EncryptedData>"),
            "432 encryption not supported",
            "encrypted",
        ),
    ] {
        refused(&bank, &message, expected, reason);
    }
    assert_eq!(bank.transactions(), before);
    bank.verify();
}

/// `gold-wire.md` 7, vector 8, and `gold-captures/README.md`.
#[test]
fn captured_messages_that_must_be_refused_are() {
    let Some(shared) = shared_folder() else {
        return skip("shared", "no folder of captured messages");
    };
    let mut bank = gateway("");
    let unsigned = "422 not authenticated: no signature";
    for (folder, expected, reason) in [
        ("13-unsigned-client", unsigned, "unsigned"),
        ("broken-sha1-64bit", DIGEST, "digest"),
        ("wrong-key", SIGNATURE, "signature"),
    ] {
        let file = format!("spec/gold-captures/{folder}/001-Reserve-job1.request");
        let message = fs::read(shared.join(file)).unwrap();
        refused(&bank, &message, expected, reason);
    }
    assert_eq!(bank.jobs().len(), 0);
    bank.verify();
}

/// A stranger's address, a key that the bank does not have, one of a collector, one that is
/// switched off.
#[test]
fn a_peer_is_an_address_and_a_key_in_force() {
    let mut bank = gateway(
        "[gold.peer.far]\naddresses = [\"10.1.0.0/16\"]\n\
         [gold.peer.clerk]\naddresses = [\"127.0.0.1\"]\n",
    );
    let secret = private(&bank, "clerk.key", "clerical");
    let key = ["key", "add", "clerk", "--gold", "--role", "collector"];
    bank.bank_ok(&[&key[..], &["--secret-file", &secret]].concat());
    let message = |key| Dialect::Textbook.message(key, UNSERVED);
    refused(
        &bank,
        &message("clerical"),
        "444 not allowed: no role of the key allows this",
        "role",
    );
    bank.bank_ok(&["key", "set", "maui", "--active", "no"]);
    refused(&bank, &message(KEY), SIGNATURE, "signature");
    bank.bank_ok(&["key", "set", "clerk", "--active", "no"]);
    refused(
        &bank,
        &message(KEY),
        "422 not authenticated",
        "unknown peer",
    );
    bank.bank_ok(&["key", "set", "maui", "--active", "yes"]);
    let xml = Dialect::Textbook.ask(&bank.gold(), &message(KEY)).unwrap();
    assert_eq!(carries(&xml, KEY), Some(true), "{xml}");
    bank.verify();
}

/// What is no message of the protocol gets an answer that says so.
#[test]
fn invalid_messages_are_rejected() {
    let mut bank = gateway("");
    let soap = b"POST /gold HTTP/1.1\r\nContent-Type: application/soap+xml\r\n\
                 Content-Length: 4\r\n\r\n<x/>";
    let body = "<Body></Body>";
    for (message, expected) in [
        (soap.to_vec(), "242 not a POST of /SSSRMAP3"),
        (
            b"GET / HTTP/1.1\r\n\r\n".to_vec(),
            "242 not a POST of /SSSRMAP3",
        ),
        (
            b"POST /SSSRMAP3 HTTP/1.1\r\n\r\n".to_vec(),
            "242 neither chunked nor Content-Length",
        ),
        (Dialect::Hod.framed(""), "313 not a well-formed message"),
        (
            Dialect::Hod.framed(&format!("<!DOCTYPE x><Envelope>{body}</Envelope>")),
            "313 not a well-formed message",
        ),
        (
            Dialect::Hod.framed(&"<x>".repeat(30_000)),
            "720 the message is longer than 64 KiB",
        ),
    ] {
        let xml = Dialect::Maui.ask(&bank.gold(), &message).unwrap();
        assert_eq!(summary(&xml), format!("Failure {expected}"));
    }
    bank.verify();
}
