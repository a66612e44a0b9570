//! Rows for tables that operations leave empty: attention with its outbox, scheduled reports, access,
//! closed periods, and what is kept beside the ledger.

use super::super::ground::Ground;
use super::super::sqlite::Sqlite;
use bank_core::amount::Amount;
use bank_core::attention::{AttentionKind, Concern, Event, Topic, Turn};
use bank_core::command::{
    Access, Ack, Attention, Charge, ClosePeriod, Command, Deposit, GrantRole, Period, Propose,
    Request, Scope, SetLimit, Start, Switch, Whose,
};
use bank_core::decimal::Decimal;
use bank_core::ids::{AccountId, AllocationId, LienId, TxId};
use bank_core::ledger;
use bank_core::model::{LimitOf, ObjectType};
use bank_core::partner::Delivered;
use bank_core::role::{Role, Roles, Who};
use bank_core::terms::Terms;
use bank_core::time::{Seconds, Timestamp};
use bank_core::usage::kept::RESERVATION;
use bankd_store::partner::{PartnerChange, Question};
use bankd_store::web_session::{SessionChange, WebSession};
use bankd_store::{
    Count, Digest, MadeReport, NoticeChange, Numbering, ScheduleChange, ScheduleRow, Snapshot,
    SpanRow, Stamp, TargetRow,
};
use std::sync::Arc;

/// Fills them.
pub(super) fn fill(ground: &mut Sqlite, now: Timestamp) {
    let target = TargetRow {
        name: "ops".to_owned(),
        all_at_once: true,
        clears: true,
        kinds: Vec::new(),
        events: true,
    };
    ground.store().meet_targets(&[target], now).unwrap();
    attention(ground, now);
    access(ground, now);
    lists(ground, now);
    partners(ground, now);
    reservations(ground, now);
    let close = ClosePeriod {
        start: None,
        end: now.minus(Seconds(1)),
        note: "the books".to_owned(),
    };
    done(ground, Command::Period(Period::Close(close.clone())), now);
    done(
        ground,
        Command::Period(Period::Reopen("again".to_owned())),
        now,
    );
    done(ground, Command::Period(Period::Close(close)), now);
    outbox(ground, now);
    reports(ground, now);
    beside(ground, now);
}

/// A reservation that pays for idle time, and two jobs in it.
fn reservations(ground: &mut Sqlite, now: Timestamp) {
    let reported = [("reservation_charge", "reported".into())];
    done(
        ground,
        Command::set_record("machine", "colony", &reported),
        now,
    );
    for (id, object_type) in [
        ("block", ObjectType::Reservation),
        ("inside-1", ObjectType::Job),
        ("inside-2", ObjectType::Job),
    ] {
        let mut request = Request {
            object_type,
            object_id: id.to_owned(),
            whose: Whose {
                project: Some("T".to_owned()),
                machine: "colony".to_owned(),
                ..Whose::default()
            },
            ..Request::default()
        };
        request.facts.usage.processors = Some(Decimal::whole(1));
        if object_type == ObjectType::Job {
            request.facts.other = vec![(RESERVATION.to_owned(), "block".to_owned())];
        }
        let charge = Charge {
            request,
            duration: Some(Seconds(2)),
            ..Charge::default()
        };
        done(ground, Command::Charge(charge), now);
    }
}

/// A partner bank: messages in both directions, and an open question.
fn partners(ground: &mut Sqlite, now: Timestamp) {
    let account = [("account", "T".into())];
    let partner = "phys.example";
    done(
        ground,
        Command::add_record("partner", partner, &account),
        now,
    );
    let charge = |id: &str, project: &str, amount: i64, delivered: Option<Delivered>| {
        Command::Charge(Charge {
            request: Request {
                object_id: id.to_owned(),
                whose: Whose {
                    project: Some(project.to_owned()),
                    machine: "colony".to_owned(),
                    ..Whose::default()
                },
                ..Request::default()
            },
            terms: Terms {
                amount: Some(Amount(amount)),
                delivered,
                ..Terms::default()
            },
            ..Charge::default()
        })
    };
    for n in 1..4 {
        let message = Delivered {
            partner: partner.to_owned(),
            number: n,
            transaction: 70 + n,
            recorded: now,
            amount: Amount(n),
            project: "T".to_owned(),
            digest: [7; 32],
        };
        let id = format!("there-{n}");
        done(ground, charge(&id, "chem@phys.example", 5 * n, None), now);
        done(
            ground,
            charge(&format!("from-{n}"), "T", n, Some(message)),
            now,
        );
    }
    let confirmed = PartnerChange::Confirmed(partner.to_owned(), 1, 99);
    ground.store().change_partner(&confirmed).unwrap();
    for n in 0..2 {
        let asked = PartnerChange::Asked(Question {
            id: format!("question-{n}"),
            partner: partner.to_owned(),
            at: now.0,
            message: "{}".to_owned(),
        });
        ground.store().change_partner(&asked).unwrap();
    }
}

#[track_caller]
#[allow(
    clippy::needless_pass_by_value,
    reason = "commands are made where they are run"
)]
fn done(ground: &mut Sqlite, command: Command, now: Timestamp) {
    let answer = ground.submit(&command, None, now);
    assert!(!answer.starts_with("refused"), "{command:?}: {answer}");
}

fn event(subject: &str, threshold: i64) -> Event {
    Event {
        topic: Topic {
            kind: AttentionKind::Used,
            subject: subject.to_owned(),
            threshold,
        },
        turn: Turn::Raised,
        of: None,
        level: threshold + 1,
        concern: Concern {
            account: Some(AccountId(2)),
            allocation: Some(AllocationId(1)),
            lien: Some(LienId(1)),
            project: "P".to_owned(),
            user: "amy".to_owned(),
            machine: "colony".to_owned(),
        },
        amount: Some(Amount(77)),
        urgent: true,
        is_notified: true,
        message: "much is used".to_owned(),
    }
}

/// Raised and seen, raised and cleared, raised.
fn attention(ground: &mut Sqlite, now: Timestamp) {
    let subjects = ["account:2", "account:3", "account:4"];
    for subject in subjects {
        let raised = Attention::Turn(vec![event(subject, 80)]);
        done(ground, Command::Attention(raised), now);
    }
    let [seen, cleared, _] = subjects.map(|subject| {
        let sql = "SELECT tx FROM attention WHERE subject = ?1";
        let reader = ground.reader().unwrap();
        TxId(reader.query_row(sql, [subject], |row| row.get(0)).unwrap())
    });
    let ack = Ack {
        tx: seen,
        note: "we know".to_owned(),
    };
    done(ground, Command::Attention(Attention::Ack(ack)), now);
    let clears = Event {
        turn: Turn::Cleared,
        of: Some(cleared),
        ..event("account:3", 80)
    };
    done(
        ground,
        Command::Attention(Attention::Turn(vec![clears])),
        now,
    );
    let off = Switch {
        project: "T".to_owned(),
        on: false,
    };
    done(ground, Command::Attention(Attention::Switch(off)), now);
}

/// Member machines: the wild operations undo earlier ones.
fn lists(ground: &mut Sqlite, now: Timestamp) {
    let machines = vec!["colony".to_owned(), "blue".to_owned()];
    let set = Command::set_record("project", "T", &[("machines", machines.into())]);
    done(ground, set, now);
}

fn access(ground: &mut Sqlite, now: Timestamp) {
    let grant = GrantRole {
        name: "amy".to_owned(),
        role: Role::Operator,
        project: Some("P".to_owned()),
        until: Some(now.plus(Seconds(1_000))),
    };
    done(ground, Command::Access(Access::Grant(grant)), now);
    let limit = SetLimit {
        of: LimitOf::Name("amy".to_owned()),
        per_operation: Some(Some(Amount(1_000))),
        per_day: Some(Some(Amount(5_000))),
    };
    done(ground, Command::Access(Access::SetLimit(limit)), now);
    let deposit = Deposit {
        name: "F".to_owned(),
        amount: Amount(3),
        ..Deposit::default()
    };
    let propose = Propose {
        request: "{\"amount\":\"3\"}".to_owned(),
        command: Box::new(Command::Deposit(deposit.clone())),
        keep: Seconds(86_400),
        asked: None,
        start: Start::default(),
    };
    let who = Who {
        actor: "amy".to_owned(),
        client: "unix:amy".to_owned(),
        roles: Roles::of(&[Role::Admin]),
        person: None,
    };
    let asked = Propose {
        request: "{\"asked\":\"because\"}".to_owned(),
        asked: Some("because".to_owned()),
        ..propose.clone()
    };
    let [propose, asked] = [propose, asked].map(|one| Command::Access(Access::Propose(one)));
    for command in [propose, asked, Command::Deposit(deposit)] {
        by(ground, &who, &command, now);
    }
}

/// A command of somebody who has roles.
fn by(ground: &mut Sqlite, who: &Who, command: &Command, now: Timestamp) {
    let scope = Scope {
        who: Some(Arc::new(who.clone())),
        ..Scope::default()
    };
    // What is under way is committed before somebody reads.
    let _ = ground.reader();
    let store = ground.store();
    store.begin().unwrap();
    let now = store.ledger_now(now);
    store.stamp(Stamp {
        now,
        request_id: "r".to_owned(),
        actor: who.actor.clone(),
        client: who.client.clone(),
        origin: "cli",
        key: None,
    });
    let decided = ledger::execute(store, command, &scope, now, false).unwrap();
    assert!(decided.is_ok(), "{command:?}: {decided:?}");
    store.commit().unwrap();
}

/// One notice sent, one given up, one that waits, and a digest.
fn outbox(ground: &mut Sqlite, now: Timestamp) {
    let sql = "SELECT id FROM notice ORDER BY id";
    let reader = ground.reader().unwrap();
    let mut statement = reader.prepare(sql).unwrap();
    let ids = statement.query_map([], |row| row.get(0)).unwrap();
    let ids: Vec<i64> = ids.map(Result::unwrap).collect();
    drop(statement);
    let upto = "SELECT max(tx) FROM attention_event";
    let upto = reader.query_row(upto, [], |row| row.get(0)).unwrap();
    let after = "SELECT digested FROM target";
    let after = reader.query_row(after, [], |row| row.get(0)).unwrap();
    let store = ground.store();
    store.begin().unwrap();
    let digest = Digest {
        target: "ops".to_owned(),
        after,
        upto,
        at: now.plus(Seconds(1)),
        letters: vec![("amy@example.org".to_owned(), vec![upto])],
    };
    for change in [
        NoticeChange::Sent(ids[0]),
        NoticeChange::Failed(ids[1], "answered 500".to_owned(), true),
        NoticeChange::Digest(digest),
    ] {
        assert!(store.change_notice(&change, now).unwrap() > 0, "{change:?}");
    }
    store.commit().unwrap();
}

fn reports(ground: &mut Sqlite, now: Timestamp) {
    let definition = ScheduleRow {
        name: "monthly".to_owned(),
        every: "month".to_owned(),
        tz: "UTC".to_owned(),
        from: now,
    };
    let store = ground.store();
    store.meet_schedules(&[definition]).unwrap();
    store.begin().unwrap();
    let period = SpanRow {
        name: "2026-01".to_owned(),
        from: now.0,
        until: now.plus(Seconds(86_400)).0,
    };
    let made = MadeReport {
        schedule: "monthly".to_owned(),
        period,
        file: "monthly-2026-01.csv".to_owned(),
        form: "csv".to_owned(),
        recipients: "amy@example.org".to_owned(),
        message: "1 row".to_owned(),
        body: Some(b"a,b\n".to_vec()),
        targets: vec!["ops".to_owned()],
        person: "amy".to_owned(),
        plain: Some(b"a b\n".to_vec()),
        ..MadeReport::default()
    };
    let change = ScheduleChange::Made(Box::new(made));
    store.change_schedule(&change, now).unwrap();
    store.commit().unwrap();
}

/// What is kept beside the ledger.
fn beside(ground: &mut Sqlite, now: Timestamp) {
    let store = ground.store();
    store.begin().unwrap();
    store.keep_uses(&[("colony-1".to_owned(), 77)]).unwrap();
    let names = [(Numbering::User, "amy".to_owned())];
    store.number_names(&names).unwrap();
    let count = Count {
        machine: "quiet".to_owned(),
        account: "P".to_owned(),
        login: "amy".to_owned(),
        project: "P".to_owned(),
        user: "amy".to_owned(),
        queue: "long".to_owned(),
        running: 3,
        queued: 1,
    };
    let snapshot = Snapshot {
        at: now,
        counts: vec![count],
    };
    store.count("slurm:quiet", &snapshot).unwrap();
    let session = WebSession {
        id: 1,
        hash: [7; 32],
        name: "amy".to_owned(),
        uid: Some(1001),
        way: "link".to_owned(),
        roles: "auditor".to_owned(),
        agent: "Firefox".to_owned(),
        created_s: 1,
        used_s: 1,
    };
    store.change_session(&SessionChange::New(session)).unwrap();
    store.commit().unwrap();
}
