//! A client by other people: the Python package `http-message-signatures`, over the same wire.

use std::process::Command;

use super::billed;
use crate::harness::{Bank, KEY_ID, Ran, python, skip};

#[test]
fn another_rfc_9421_client_is_understood() {
    let Some(python) = python("http_message_signatures") else {
        skip(
            "rfc9421",
            "no Python with http-message-signatures (BANK_TEST_PYTHON)",
        );
        return;
    };
    let mut bank = Bank::new();
    let here = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/rfc9421.py");
    let document = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/cases/nami/04-charge-interim.xml"
    );
    let mut command = Command::new(python);
    command
        .arg(here)
        .arg(bank.tcp())
        .arg(KEY_ID)
        .arg(bank.key_file())
        .arg(document);
    let ran = Ran::of(&mut command, b"");
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    let expected = "\
accepted 200, answer verified
sent twice 401
new nonce 200, answer verified
altered body 401
altered path 401
old created 401
unknown keyid 401
missing component 401
uncovered body 401
two keys 400, answer verified
altered answer refused
";
    assert_eq!(ran.stdout, expected);
    assert_eq!(billed(&bank), 28_800);
    bank.verify();
}
