//! Text of an event for recipients: JSON for programs, sentences for people.

use super::Fact;
use bank_api::text::{format_amount, format_rfc3339};
use bank_api::v1;
use bank_core::attention::{AttentionKind, Turn};
use bank_core::directory::Directory;
use bankd_store::Letter;
use bankd_store::read::attention::EventRow;

/// Events that one digest lists.
pub(super) const EVENTS_MAX: usize = 500;

/// The body that a program or a webhook gets.
pub(super) fn json(directory: &Directory, notice: i64, row: &EventRow) -> Vec<u8> {
    let notification = v1::Notification {
        notice,
        bank: directory.bank.uuid.clone(),
        event: shape(directory, row),
    };
    serde_json::to_vec(&notification).unwrap_or_default()
}

/// The body of a digest that a program or a webhook gets.
pub(super) fn digest(directory: &Directory, letter: &Letter, rows: &[EventRow]) -> Vec<u8> {
    let notification = v1::DigestNotification {
        notice: letter.id,
        bank: directory.bank.uuid.clone(),
        made_at: format_rfc3339(letter.made_at.0),
        events: rows
            .iter()
            .take(EVENTS_MAX)
            .map(|row| shape(directory, row))
            .collect(),
        more: rows.len().saturating_sub(EVENTS_MAX),
    };
    serde_json::to_vec(&notification).unwrap_or_default()
}

/// The facts of an event for the environment of a program; none for a digest. A fact that the event does not have is
/// empty, so that a script need not test whether it is set.
pub(super) fn facts(directory: &Directory, letter: &Letter, row: &EventRow) -> Vec<Fact> {
    if !letter.recipient.is_empty() {
        return Vec::new();
    }
    let event = shape(directory, row);
    let number = |number: Option<i64>| number.map(|number| number.to_string());
    let facts = [
        ("BANK_NOTICE", Some(letter.id.to_string())),
        ("BANK_TURN", Some(event.turn)),
        ("BANK_KIND", Some(event.kind)),
        ("BANK_SUBJECT", Some(event.subject)),
        ("BANK_MESSAGE", Some(event.message)),
        ("BANK_JOB", event.job),
        ("BANK_LIEN", number(event.lien)),
        ("BANK_MACHINE", event.machine),
        ("BANK_USER", event.user),
        ("BANK_PROJECT", event.project),
        ("BANK_ACCOUNT", event.account),
        ("BANK_AMOUNT", event.amount),
        ("BANK_UNIT", Some(event.unit)),
    ];
    // No environment takes a NUL.
    let text = |text: Option<String>| text.unwrap_or_default().replace('\0', "");
    facts.map(|(name, value)| (name, text(value))).to_vec()
}

/// An event as the API shows it.
pub fn shape(directory: &Directory, row: &EventRow) -> v1::Attention {
    let event = &row.event;
    let concern = &event.concern;
    let some = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    let account = concern.account.and_then(|id| directory.account(id));
    let kind = event.topic.kind;
    let has_level = matches!(kind, AttentionKind::Used | AttentionKind::Expiring);
    let seen = has_level && event.turn != Turn::Acked;
    // Days left count down to zero.
    let level = match kind {
        AttentionKind::Expiring => event.level.saturating_neg(),
        _ => event.level,
    };
    let places = directory.bank.precision.places();
    v1::Attention {
        id: row.tx.0,
        at: format_rfc3339(row.at.0),
        turn: event.turn.word().to_owned(),
        kind: kind.word().to_owned(),
        subject: event.topic.subject.clone(),
        threshold: has_level.then_some(event.topic.threshold),
        message: event.message.clone(),
        level: seen.then_some(level),
        account: account.map(|account| account.name.clone()),
        allocation: concern.allocation.map(|a| a.0),
        lien: concern.lien.map(|l| l.0),
        job: row.job.clone(),
        project: some(&concern.project),
        user: some(&concern.user),
        machine: some(&concern.machine),
        amount: event.amount.map(|amount| format_amount(amount.0, places)),
        unit: directory.bank.unit.clone(),
        urgent: event.urgent,
        open: row.is_open,
        raised_by: event.of.map(|tx| tx.0),
        acked_by: row.acked_by.clone(),
    }
}
