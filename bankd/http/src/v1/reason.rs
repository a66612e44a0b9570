//! Reasons of transactions, in readable form.
//!
//! The journal stores the bank's reasons unchanged under its hash: instants as numbers, and a proposed
//! request as received. Notes of callers are shown unchanged.

use std::fmt::Write as _;

use bank_api::text::format_rfc3339;
use bank_api::v1::ProposedRequest;
use bankd_store::read::journal::Transaction;
use serde_json::Value;

/// The operations with an instant in their remark, µs since 1970.
const OF_TIME: [&str; 2] = ["role_grant", "key_rotate"];

/// The reason of a transaction, if any.
pub(super) fn shown(tx: &Transaction) -> Option<String> {
    let reason = tx.reason.as_str();
    if reason.is_empty() {
        return None;
    }
    let words = match tx.op.as_str() {
        "propose" => request(reason),
        op if OF_TIME.contains(&op) => until(reason),
        _ => None,
    };
    Some(words.unwrap_or_else(|| reason.to_owned()))
}

/// Whether a transaction changes this object: the reason of a change of reference data begins with its kind and
/// name, as in `machine=colony`.
pub(super) fn changes(tx: &Transaction, kind: &str, name: &str) -> bool {
    let is_of_kind = tx
        .op
        .strip_prefix(kind)
        .is_some_and(|op| op.starts_with('_'));
    let own = || {
        tx.reason
            .strip_prefix(kind)?
            .strip_prefix('=')?
            .strip_prefix(name)
    };
    is_of_kind && own().is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// A remark that ends with `until=MICROSECONDS`.
fn until(reason: &str) -> Option<String> {
    let (before, micros) = reason.rsplit_once("until=")?;
    let micros = micros.parse().ok()?;
    Some(format!("{before}until={}", format_rfc3339(micros)))
}

/// A stored request, field by field.
fn request(reason: &str) -> Option<String> {
    let request: ProposedRequest = serde_json::from_str(reason).ok()?;
    let mut words = format!("{} {}", request.method, request.path);
    for (name, value) in request.body.as_object().into_iter().flatten() {
        let value = match value {
            Value::Null | Value::Bool(false) => continue,
            Value::String(text) if !text.contains(char::is_whitespace) => text.clone(),
            other => other.to_string(),
        };
        // Writing to a string cannot fail.
        let _ = write!(words, " {name}={value}");
    }
    if let Some(start) = request.start.as_ref() {
        let deposit = start.deposit.as_ref().map(|deposit| &deposit.amount);
        for (name, value) in [("pi", start.pi.as_ref()), ("amount", deposit)] {
            if let Some(value) = value {
                let _ = write!(words, " {name}={value}");
            }
        }
    }
    if let Some(asked) = request.asked {
        let _ = write!(words, ": {asked}");
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bank_core::time::Timestamp;

    fn reason(op: &str, reason: &str) -> Option<String> {
        shown(&Transaction {
            id: 1,
            at_effective: Timestamp(0),
            at_recorded: Timestamp(0),
            actor: String::new(),
            client: String::new(),
            origin: String::new(),
            op: op.to_owned(),
            instance: None,
            reason: reason.to_owned(),
        })
    }

    #[test]
    fn instants_and_requests_are_words() {
        let request = r#"{"method":"POST","path":"/api/v1/deposits","body":{"amount":"5000","end":null,"name":"chem","note":"Q1 award","new":false}}"#;
        for (op, raw, words) in [
            (
                "role_grant",
                "name=amy role=pi project=chem until=4070908800000000",
                "name=amy role=pi project=chem until=2099-01-01T00:00:00Z",
            ),
            (
                "key_rotate",
                "key=a client=a new=b until=1767225600500000",
                "key=a client=a new=b until=2026-01-01T00:00:00.500Z",
            ),
            (
                "propose",
                request,
                "POST /api/v1/deposits amount=5000 name=chem note=\"Q1 award\"",
            ),
            // Other text, and notes of callers, are unchanged.
            ("propose", "{", "{"),
            ("role_grant", "name=until=x role=pi", "name=until=x role=pi"),
            (
                "deposit",
                "until=1767225600500000",
                "until=1767225600500000",
            ),
        ] {
            assert_eq!(reason(op, raw).as_deref(), Some(words));
        }
        assert_eq!(reason("deposit", ""), None);
    }
}
