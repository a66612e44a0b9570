use crate::amount::{Amount, Precision};
use crate::attention::{AttentionKind, CHANGES_MAX, Concern, Event, Topic, Turn};
use crate::book::Book;
use crate::command::{Ack, Attention, Command, Scope};
use crate::directory::{Bank, Policy};
use crate::effects::{EntryKind, Outcome};
use crate::ids::TxId;
use crate::ledger;
use crate::refusal::Refusal;
use crate::time::Timestamp;

fn book() -> Book {
    let bank = Bank {
        uuid: "u".into(),
        precision: Precision::new(0).unwrap(),
        unit: "credits".into(),
    };
    Book::new(bank, Policy::default())
}

fn event(threshold: i64, turn: Turn) -> Event {
    Event {
        topic: Topic {
            kind: AttentionKind::Used,
            subject: "account:2".into(),
            threshold,
        },
        turn,
        of: None,
        level: threshold,
        concern: Concern {
            project: "chem".into(),
            ..Concern::default()
        },
        amount: Some(Amount(7)),
        urgent: false,
        is_notified: true,
        message: format!("chem: {threshold} % used"),
    }
}

fn run(book: &mut Book, attention: Attention) -> Result<Outcome, Refusal> {
    let command = Command::Attention(attention);
    let Ok(decision) = ledger::execute(book, &command, &Scope::default(), Timestamp(5), false);
    decision
}

fn turn(book: &mut Book, events: &[(i64, Turn)]) -> Outcome {
    let events = events.iter().map(|(at, turn)| event(*at, *turn));
    run(book, Attention::Turn(events.collect())).unwrap()
}

#[test]
fn a_topic_is_raised_once_and_cleared_once() {
    let mut book = book();
    let (raised, cleared) = (Turn::Raised, Turn::Cleared);
    for (events, expected) in [
        (&[(50, raised), (80, raised)][..], 2),
        // Somebody else was quicker.
        (&[(80, raised)], 0),
        (&[(95, cleared)], 0),
        (&[(80, cleared), (80, cleared), (80, raised)], 2),
        (&[(95, raised), (95, raised)], 1),
        (&[(50, cleared), (80, cleared), (95, cleared)], 3),
        (&[], 0),
    ] {
        let before = book.journal.len();
        assert_eq!(turn(&mut book, events), Outcome::Attention(expected));
        assert_eq!(book.journal.len() - before, expected, "{events:?}");
    }
    assert!(book.attention().is_empty());
    assert!(book.findings().is_empty());
}

#[test]
fn each_change_is_a_transaction_that_moves_nothing() {
    let mut book = book();
    turn(&mut book, &[(50, Turn::Raised), (80, Turn::Raised)]);
    turn(&mut book, &[(50, Turn::Cleared)]);
    let [first, second, third] = book.journal.as_slice() else {
        panic!("{:?}", book.journal);
    };
    for tx in [first, second, third] {
        let [entry] = tx.entries.as_slice() else {
            panic!("{tx:?}");
        };
        assert_eq!(entry.kind, EntryKind::Attention);
        assert_eq!(entry.delta, crate::effects::Delta::default());
        assert_eq!((entry.allocation, entry.project.as_str()), (None, "chem"));
        assert_eq!((tx.op, tx.at_effective), ("attention", Timestamp(5)));
    }
    assert_eq!(second.reason, "chem: 80 % used");
    let event = third.traces.attention.as_ref().unwrap();
    assert_eq!((event.turn, event.of), (Turn::Cleared, Some(first.id)));
}

#[test]
fn acknowledged_events_are_kept() {
    let mut book = book();
    turn(&mut book, &[(50, Turn::Raised)]);
    let ack = |book: &mut Book, tx, note: &str| {
        let note = note.to_owned();
        run(book, Attention::Ack(Ack { tx: TxId(tx), note }))
    };
    assert_eq!(ack(&mut book, 9, "").unwrap_err().code(), "not_found");
    let long = "x".repeat(1001);
    for bad in ["a\nb", long.as_str()] {
        assert_eq!(ack(&mut book, 1, bad).unwrap_err().code(), "bad_value");
    }
    assert_eq!(ack(&mut book, 1, "seen"), Ok(Outcome::Attention(1)));
    assert_eq!(ack(&mut book, 1, "").unwrap_err().code(), "already_exists");
    assert_eq!(book.attention()[0].acked, Some(TxId(2)));
    turn(&mut book, &[(50, Turn::Cleared)]);
    assert_eq!(ack(&mut book, 1, "").unwrap_err().code(), "not_found");
}

#[test]
fn too_much_at_once_is_refused() {
    let mut book = book();
    let events = vec![event(50, Turn::Raised); CHANGES_MAX + 1];
    let refused = run(&mut book, Attention::Turn(events)).unwrap_err();
    assert_eq!(refused.code(), "bad_value");
    assert!(book.journal.is_empty());
}

/// A key for single projects switches nothing of others.
#[test]
fn a_narrow_key_may_not() {
    let mut book = book();
    let scope = Scope {
        projects: vec!["chem".into()],
        ..Scope::default()
    };
    let ack = Attention::Ack(Ack {
        tx: TxId(1),
        note: String::new(),
    });
    let command = Command::Attention(ack);
    let Ok(decision) = ledger::execute(&mut book, &command, &scope, Timestamp(5), false);
    assert_eq!(decision.unwrap_err().code(), "not_allowed");
}
