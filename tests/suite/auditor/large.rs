//! Bodies with long texts in the wrong place: the reason is short wherever it is written.

use super::wire::{ask, plain};
use super::{Site, site};

/// Characters of a reason at most.
const REASON_MAX: usize = 300;
/// What is kept of a body at most, by default.
const KEPT_MAX: usize = 16 << 20;

#[test]
fn the_reason_of_a_refused_body_of_24_mib_is_short() {
    let Site { mut bank, address } = site();
    let json = [("Content-Type", "application/json")];
    let long = "é".repeat(12 << 20);
    let before = bank.log().len();
    for number in 1..=3 {
        let body = format!(r#"{{"record_id":"{number}","components":"{long}"}}"#);
        let response = ask(plain(&address), "POST", "/record", &json, &body).unwrap();
        assert_eq!(response.status, 400);
        assert!(
            response.body.chars().count() <= REASON_MAX + 100,
            "{number}"
        );
    }
    assert!(bank.log().len() - before < 20_000, "{}", bank.log().len());
    let kept = bank.json(&["quarantine", "ls"]);
    let kept = kept["items"].as_array().unwrap();
    assert_eq!(kept.len(), 3);
    for one in kept {
        assert!(one["reason"].as_str().unwrap().chars().count() <= REASON_MAX);
    }
    let sizes = bank
        .query("SELECT max(length(body)) FROM quarantine")
        .concat();
    assert!(sizes[0].parse::<usize>().unwrap() <= KEPT_MAX, "{sizes:?}");
    bank.verify();
}
