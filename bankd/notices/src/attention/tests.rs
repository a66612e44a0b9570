use super::*;
use bank_core::attention::{AttentionKind, Concern, Observed, Topic};
use bank_core::ids::TxId;
use bankd_config::Config;

fn open(kind: AttentionKind) -> Open {
    Open {
        topic: Topic {
            kind,
            subject: "account:1".into(),
            threshold: 0,
        },
        tx: TxId(1),
        acked: None,
        concern: Concern::default(),
        urgent: false,
        is_notified: true,
    }
}

fn desk() -> Desk {
    let mut settings = Config::default().notices();
    settings.attention.on = true;
    Desk::new(&settings)
}

#[test]
fn what_was_not_looked_at_as_a_whole_does_not_clear() {
    let open = [
        open(AttentionKind::LienStuck),
        open(AttentionKind::Negative),
    ];
    let mut seen = Seen::default();
    assert_eq!(desk().changes(&seen, &open).len(), 2);
    seen.incomplete.insert(AttentionKind::LienStuck);
    let changes = desk().changes(&seen, &open);
    assert_eq!(changes.len(), 1);
    assert_eq!(changes[0].topic.kind, AttentionKind::Negative);
}

#[test]
fn a_sentence_is_one_line_of_bounded_length() {
    let observed = Observed {
        kind: AttentionKind::Negative,
        subject: "account:1".into(),
        level: bank_core::attention::THERE,
        concern: Concern::default(),
        amount: None,
        message: format!("a\nb\u{7f}{}", "ä".repeat(600)),
    };
    let seen = Seen {
        observed: vec![observed],
        ..Seen::default()
    };
    let changes = desk().changes(&seen, &[]);
    let message = &changes[0].message;
    assert!(
        message.starts_with("a b ") && message.len() <= MESSAGE_MAX,
        "{message}"
    );
}

#[test]
fn digests_are_due_once_a_day() {
    let hour = 3_600_000_000;
    let day = 24 * hour;
    for (now, expected) in [
        (0, 6 * hour - day),
        (6 * hour - 1, 6 * hour - day),
        (6 * hour, 6 * hour),
        (day + 5 * hour, 6 * hour),
        (day + 7 * hour, day + 6 * hour),
    ] {
        assert_eq!(digest::due(Timestamp(now), 360), Timestamp(expected));
    }
}
