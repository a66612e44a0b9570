//! A bank with something in every table: the wild operations, finished uses of both kinds, and what
//! collectors, record files and AUDITOR's clients leave behind.

use super::super::ask::{deposit, quote, r};
use super::super::bench::Bench;
use super::super::fixture::T0;
use super::super::ground::Ground;
use super::super::sqlite::Sqlite;
use super::super::wild::{Dice, Known, Wild, furnish};
use super::super::writer::in_threads;
use super::fill;
use bank_core::clock::{Reading, Seen};
use bank_core::command::{Chunk, Command, Promise, RecordAction, RecordChange, UsageReport};
use bank_core::decimal::Decimal;
use bank_core::directory::Policy;
use bank_core::kind::{self, Value};
use bank_core::model::{Facts, Key, Mode, ObjectType};
use bank_core::time::{MICROS, Seconds, Timestamp, Window};
use bankd_store::{
    FollowFile, FollowMark, QuarantineRow, RawBlock, RecordRow, SinkState, SourceSeen, SqliteStore,
    auditor, open_reader,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Wild operations one after the other, and those that come through the writer afterwards.
const OPERATIONS: usize = 700;
const TOGETHER: usize = 60;

/// The bank, closed, and where its database is.
pub(super) fn bank(seed: u64) -> (Sqlite, PathBuf) {
    let policy = Policy {
        records: true,
        ..Policy::default()
    };
    let mut ground = Sqlite::new(policy, 64);
    let mut dice = Dice(seed);
    let clock = {
        let mut bench = Bench::new(&mut ground);
        furnish(&mut bench);
        reference(&mut bench);
        let mut clock = T0;
        for n in 0..OPERATIONS {
            let wild = Wild(dice.next());
            clock = clock.plus(Seconds(wild.seconds()));
            if wild.seconds() == 0 {
                let command = wild.command(known(bench.ground), clock);
                // Answers in both forms.
                let key = match n % 2 {
                    0 => format!("wild-{n}"),
                    _ => format!("01938a2c-0000-7000-8000-{n:012x}"),
                };
                bench.ground.submit(&command, Some(&key), clock);
            }
        }
        uses(&mut bench, clock);
        held(&mut bench, clock);
        clock
    };
    let path = ground.path().to_owned();
    let so_far = known(&mut ground);
    let wild = |dice: &mut Dice| Wild(dice.next()).command(so_far, clock).into();
    let list = (0..TOGETHER).map(|_| wild(&mut dice)).collect();
    in_threads(ground.take_store(), vec![list]);
    ground.open();
    fill::fill(&mut ground, clock);
    beside(&path, ground.store(), clock);
    let mut store = ground.take_store();
    store.checkpoint().unwrap();
    drop(store);
    (ground, path)
}

pub(super) fn known(ground: &mut dyn Ground) -> Known {
    let reader = ground.reader().unwrap();
    let newest = |table: &str| {
        let sql = format!("SELECT coalesce(max(id), 0) FROM {table}");
        reader.query_row(&sql, [], |r| r.get(0)).unwrap()
    };
    Known {
        transactions: newest("tx"),
        liens: newest("lien"),
        allocations: newest("allocation"),
    }
}

/// Reference data of every kind, and quotes.
fn reference(bench: &mut Bench<'_>) {
    let now = bench.clock;
    for n in 0..4 {
        let ask = quote(30 + n).promised(Promise::Guarantee, &format!("held-{n}"));
        let answer = bench.ground.submit(&ask.command.unwrap(), None, now);
        assert!(answer.starts_with("cost"), "{answer}");
    }
    bench.admin(Command::add_record(
        "attribute",
        "colour",
        &[("description", "of the job".into())],
    ));
    bench.admin(Command::AddKey(Key {
        id: "colony-1".to_owned(),
        client: "colony".to_owned(),
        roles: vec!["scheduler".to_owned()],
        projects: Vec::new(),
        machines: vec!["colony".to_owned()],
        window: Window::ALWAYS,
        disabled: false,
        deleted: false,
        token: None,
    }));
    let mapping = [
        ("priority", Value::from(10)),
        ("when", Value::List(vec!["account=grp_*".to_owned()])),
        ("project", Value::from("{1}")),
        ("description", Value::from("groups")),
    ];
    let mapping = mapping.map(|(field, value)| (field.to_owned(), value));
    let add = RecordAction::Add(None, mapping.to_vec());
    let change = RecordChange::new(kind::of("mapping").unwrap(), add);
    bench.admin(Command::Record(Box::new(change)));
    bench.admin(Command::set_record(
        "user",
        "amy",
        &[
            ("aliases", vec!["miller".to_owned()].into()),
            ("email", "amy@example.org".into()),
        ],
    ));
    bench.admin(Command::add_record(
        "machine",
        "quiet",
        &[("mode", Mode::Track.word().into())],
    ));
    let machines = vec!["colony".to_owned()].into();
    bench.admin(Command::set_record(
        "project",
        "T",
        &[("machines", machines)],
    ));
    equipment(bench);
}

/// What the machine is made of, and who paid for it.
fn equipment(bench: &mut Bench<'_>) {
    let text = |text: &str| Value::Text(text.to_owned());
    let list = |text: &str| Value::List(vec![text.to_owned()]);
    let amy = Some(kind::Key::Name("amy".to_owned()));
    let grant = Some(kind::Key::Name("grant".to_owned()));
    let rows = [
        (
            "hardware",
            None,
            vec![
                ("name", text("epyc")),
                ("machine", text("colony")),
                ("hosts", list("n[0-9]*")),
                ("processors", Value::Whole(64)),
                ("nodes", Value::Whole(8)),
            ],
        ),
        (
            "downtime",
            None,
            vec![
                ("hardware", Value::Whole(1)),
                ("nodes", Value::Whole(2)),
                ("from", Value::Time(Timestamp(0))),
                ("reason", text("cooling")),
            ],
        ),
        ("contributor", amy, vec![("projects", list("T"))]),
        (
            "contribution",
            None,
            vec![
                ("contributor", text("amy")),
                ("processors", Value::Whole(64)),
                ("from", Value::Time(Timestamp(0))),
            ],
        ),
        ("kind", grant, vec![("fields", list("title:text!"))]),
    ];
    for (kind, key, values) in rows {
        let values = values
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value));
        let action = RecordAction::Add(key, values.collect());
        let change = RecordChange::new(kind::of(kind).unwrap(), action);
        bench.admin(Command::Record(Box::new(change)));
    }
}

fn report(n: i64, now: Timestamp, machine: &str, project: &str) -> UsageReport {
    let at = |second: i64| Timestamp(now.0 - (10_000 - second) * MICROS);
    let mut report = UsageReport {
        source: format!("slurm:{machine}"),
        ..UsageReport::default()
    };
    let request = &mut report.request;
    request.object_type = ObjectType::Job;
    request.object_id = format!("u{n}");
    request.whose.project = Some(project.to_owned());
    request.whose.user = Some("amy".to_owned());
    machine.clone_into(&mut request.whose.machine);
    request.facts = Facts {
        project: project.to_owned(),
        user: "amy".to_owned(),
        start: Some(at(10 * n)),
        end: Some(at(10 * n + 7)),
        ..Facts::default()
    };
    request.facts.usage.processors = Some(Decimal::whole(2));
    report
}

/// Liens that are open at the end.
fn held(bench: &mut Bench<'_>, now: Timestamp) {
    for ask in [deposit("Q", "5000"), r("open-1", 50), r("open-2", 70)] {
        bench.ground.submit(&ask.command.unwrap(), None, now);
    }
}

/// Finished uses: chunks of a machine that only tracks, single ones of a machine of its own.
fn uses(bench: &mut Bench<'_>, now: Timestamp) {
    for chunk in 0..4 {
        let own = (0..6).map(|n| {
            let project = if n == 5 { "nobody" } else { "P" };
            Arc::new(report(chunk * 6 + n, now, "quiet", project))
        });
        let command = Command::Import(Box::new(Chunk {
            source: "slurm:quiet".to_owned(),
            reports: own.collect(),
            ..Chunk::default()
        }));
        let answer = bench.ground.submit(&command, None, now);
        assert!(answer.starts_with("imported"), "{answer}");
    }
    for command in [
        Command::add_record("machine", "loud", &[]),
        Command::set_record("machine", "loud", &[("fqdn", "loud.example.org".into())]),
    ] {
        bench.ground.submit(&command, None, now);
    }
    for n in 100..112 {
        let mut one = report(n - 80, now, "loud", "P");
        one.request.object_id = format!("v{n}");
        let answer = bench
            .ground
            .submit(&Command::Usage(Box::new(one)), None, now);
        assert!(answer.starts_with("charged"), "{answer}");
    }
}

/// What is written beside the ledger's own rows.
fn beside(path: &Path, store: &mut SqliteStore, now: Timestamp) {
    store.begin().unwrap();
    let seen = SourceSeen {
        name: "slurm:quiet".to_owned(),
        format: "slurm".to_owned(),
        machine: "quiet".to_owned(),
        last_event: Some(now),
        records: 24,
        jobs: 24,
        ..SourceSeen::default()
    };
    store.saw(&seen, now).unwrap();
    store
        .keep_reading("slurm:quiet", "{\"zone\":\"UTC\"}")
        .unwrap();
    let lines: Vec<QuarantineRow> = (1..4).map(unreadable).collect();
    store.quarantine(&lines, now).unwrap();
    let block = store.begin_block().unwrap();
    store.of_block(None, None);
    let raw = RawBlock {
        lines: 1,
        bytes: 9,
        body: b"a body of no frame".to_vec(),
    };
    store.keep_raw(block, "slurm:quiet", None, &raw).unwrap();
    store.mark(&mark(), now).unwrap();
    for n in 0..3 {
        store.collect(&collected(n)).unwrap();
    }
    let known = store.collected("record-1").unwrap().unwrap();
    store
        .end_collected(&known, 9_000_000, 8, &[pair(1)])
        .unwrap();
    let open = store.collected("record-0").unwrap().unwrap();
    store.renew_collected(open.id, Some(77)).unwrap();
    store.meet_sink("file", "form").unwrap();
    store.confirm(&sink(path)).unwrap();
    let seen = Seen {
        reading: Reading::moved(now),
        believed: now,
        back_from: None,
        unstepped: Some(now),
    };
    store.keep_seen(&seen).unwrap();
    store.commit().unwrap();
}

fn sink(path: &Path) -> SinkState {
    let reader = open_reader(path).unwrap();
    let newest = bankd_store::last_record(&reader).unwrap();
    assert!(newest > 3, "the writer keeps records");
    SinkState {
        name: "file".to_owned(),
        upto: newest - 1,
        device: 3,
        inode: 77,
        print: vec![7; 32],
        length: 1_000,
        form: "form".to_owned(),
    }
}

fn unreadable(line: u64) -> QuarantineRow {
    QuarantineRow {
        source: "slurm:quiet".to_owned(),
        peer: "collector".to_owned(),
        place: "/var/log/sacct".to_owned(),
        line,
        reason: "no columns".to_owned(),
        body: b"what is this".to_vec(),
    }
}

fn mark() -> FollowMark {
    FollowMark {
        source: "slurm:quiet".to_owned(),
        path: "/var/log/sacct".to_owned(),
        device: 1,
        inode: 2,
        head: vec![7; 32],
        head_length: 512,
        offset: 4_096,
        line: 40,
        state: "at rest".to_owned(),
        files: Some(vec![FollowFile {
            file: "/var/log/sacct.1".to_owned(),
            why: "before_first_start".to_owned(),
            print: vec![7; 32],
            ..FollowFile::default()
        }]),
    }
}

fn pair(n: i64) -> i64 {
    auditor::pair("site_id", &format!("site-{n}"))
}

fn collected(n: i64) -> RecordRow {
    RecordRow {
        record_id: format!("record-{n}"),
        head: format!("{{\"record_id\":\"record-{n}\",\"meta\":{{\"site_id\":[\"site-{n}\"]}}"),
        start: 1_000_000,
        stop: (n == 2).then_some(5_000_000),
        runtime: (n == 2).then_some(4),
        pairs: vec![pair(n)],
        creator: "collector".to_owned(),
        renew_at: None,
    }
}
