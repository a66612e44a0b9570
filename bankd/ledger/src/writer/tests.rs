use super::*;
use bank_core::amount::Precision;
use bank_core::command::{Charge, Request};
use bank_core::directory::Policy;
use bank_core::time::{MICROS, Seconds, Timestamp};
use bankd_store::answer::Media;
use bankd_store::bank::NewBank;

const DAY: i64 = 86_400;

/// A clock that is set by hand.
#[derive(Default)]
struct Hand(AtomicI64);

impl Hand {
    fn show(&self, second: i64) {
        self.0.store(second * MICROS, Ordering::Relaxed);
    }
}

impl LedgerClock for Hand {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::Relaxed))
    }
}

/// The record of a charge, of which these tests need the number only.
fn keep(_: &Directory, event: &RecordEvent, _: Counted) -> Kept {
    let (created_at, number) = match event {
        RecordEvent::Charged { usage, created, .. }
        | RecordEvent::Adjusted { usage, created, .. } => (*created, usage.id.0),
        RecordEvent::Closed {
            instance, created, ..
        } => (*created, instance.record.map_or(0, |id| id.0)),
    };
    Kept {
        created_at: created_at.0,
        number,
        text: String::new(),
    }
}

fn render(decided: &Decided<'_>) -> Answer {
    let code = decided.decision.as_ref().err().map_or("ok", |r| r.code());
    Answer {
        status: 200,
        media: Media::Text,
        body: format!("{code} {:?} {}", decided.transaction, decided.dry_run).into_bytes(),
    }
}

fn submission(command: Command, key: &str, dry_run: bool) -> Submission {
    Submission {
        command,
        caller: Caller {
            actor: "amy".to_owned(),
            client: "unix:amy".to_owned(),
            origin: Origin::Cli,
            scope: Scope::default(),
        },
        key: Some(IdempotencyKey {
            whole: None,
            key: key.to_owned(),
            fingerprint: [1; 32],
            nonce: String::new(),
            is_content: false,
        }),
        request_id: "r".to_owned(),
        dry_run,
        render,
        fingerprint: String::new(),
        turn: None,
    }
}

fn add_user(name: &str) -> Command {
    Command::add_record("user", name, &[])
}

fn charge() -> Command {
    Command::Charge(Charge {
        request: Request {
            object_id: "Moab.1".to_owned(),
            ..Request::default()
        },
        duration: Some(Seconds(1)),
        closes: false,
        ..Charge::default()
    })
}

/// The text of an answer, and whether it was decided now.
async fn answered(writer: &Writer, submission: Submission) -> (String, bool) {
    let (answer, fresh) = match writer.submit(submission).await.unwrap() {
        Reply::Fresh { answer, .. } => (answer, true),
        Reply::Stored(answer) => (answer, false),
        other => panic!("{other:?}"),
    };
    (String::from_utf8(answer.body).unwrap(), fresh)
}

fn bank() -> (tempfile::TempDir, SqliteStore) {
    let folder = tempfile::tempdir().unwrap();
    let new = NewBank {
        uuid: "00000000-0000-4000-8000-000000000000".into(),
        precision: Precision::DEFAULT,
        unit: "SU".into(),
        test: true,
        init_uid: 0,
        created_at: Timestamp(0),
    };
    let path = folder.path().join("bank.db");
    let store = SqliteStore::create(&path, &new, Policy::default()).unwrap();
    (folder, store)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_kept_for_seven_days_and_that_of_a_charge_for_ever() {
    let (_folder, store) = bank();
    let clock = Arc::new(Hand::default());
    let (writer, thread) = start(store, Arc::clone(&clock) as _, keep, BATCH_MAX).unwrap();
    let user = || submission(add_user("amy"), "u", false);
    let billed = || submission(charge(), "c", false);
    assert_eq!(
        answered(&writer, user()).await,
        ("ok Some(1) false".to_owned(), true)
    );
    let charged = answered(&writer, billed()).await;
    assert!(
        charged.1 && charged.0.starts_with("ok Some("),
        "{charged:?}"
    );
    for (second, expected) in [
        (0, ("ok Some(1) false", false)),
        (7 * DAY - 1, ("ok Some(1) false", false)),
        (7 * DAY, ("already_exists None false", true)),
    ] {
        clock.show(second);
        assert_eq!(writer.prune().await, Ok(false), "at {second}");
        let (text, fresh) = answered(&writer, user()).await;
        assert_eq!((text.as_str(), fresh), expected, "at {second}");
        assert_eq!(
            answered(&writer, billed()).await,
            (charged.0.clone(), false)
        );
    }
    writer.stop();
    thread.join().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn expired_answers_go_in_portions() {
    let (_folder, store) = bank();
    let clock = Arc::new(Hand::default());
    let (writer, thread) = start(store, Arc::clone(&clock) as _, keep, BATCH_MAX).unwrap();
    // All at once: they share their commits.
    let mut all = tokio::task::JoinSet::new();
    for n in 0..=bankd_store::PRUNE_MAX {
        let writer = writer.clone();
        let refused = submission(add_user("a#\n"), &n.to_string(), false);
        all.spawn(async move { answered(&writer, refused).await });
    }
    for (text, fresh) in all.join_all().await {
        assert_eq!((text.as_str(), fresh), ("bad_name None false", true));
    }
    clock.show(8 * DAY);
    assert_eq!(writer.prune().await, Ok(true));
    assert_eq!(writer.prune().await, Ok(false));
    let first = answered(&writer, submission(add_user("a#\n"), "0", false)).await;
    assert!(first.1, "{first:?}");
    writer.stop();
    thread.join().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_decided_only_has_no_transaction_and_is_not_stored() {
    let (_folder, store) = bank();
    let (writer, thread) = start(store, Arc::new(Hand::default()), keep, BATCH_MAX).unwrap();
    for (dry_run, expected) in [
        (true, ("ok None true", true)),
        (true, ("ok None true", true)),
        (false, ("ok Some(1) false", true)),
        (false, ("ok Some(1) false", false)),
    ] {
        let (text, fresh) = answered(&writer, submission(add_user("amy"), "k", dry_run)).await;
        assert_eq!((text.as_str(), fresh), expected);
    }
    writer.stop();
    thread.join().unwrap();
}

/// A clock that holds the writer up until it is opened.
#[derive(Default)]
struct Gate(Mutex<bool>, std::sync::Condvar);

impl Gate {
    fn open(&self) {
        *self.0.lock().unwrap() = true;
        self.1.notify_all();
    }
}

impl LedgerClock for Gate {
    fn now(&self) -> Timestamp {
        let shut = self.1.wait_while(self.0.lock().unwrap(), |open| !*open);
        drop(shut.unwrap());
        Timestamp(0)
    }
}

/// Lets the other tasks and the writer go on until so many commands wait.
async fn until_waiting(writer: &Writer, count: usize) {
    let deadline = Instant::now() + std::time::Duration::from_secs(30);
    while writer.counters().queue_depth != u64::try_from(count).unwrap() {
        assert!(Instant::now() < deadline, "{:?}", writer.counters());
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_full_queue_turns_the_next_away_and_loses_none_that_wait() {
    let (_folder, store) = bank();
    let gate = Arc::new(Gate::default());
    let (writer, thread) = start(store, Arc::clone(&gate) as _, keep, BATCH_MAX).unwrap();
    let ask = |number: usize| {
        let writer = writer.clone();
        let name = format!("u{number}");
        async move {
            writer
                .submit(submission(add_user(&name), &name, false))
                .await
        }
    };
    let mut waiting = vec![tokio::spawn(ask(0))];
    tokio::task::yield_now().await;
    until_waiting(&writer, 0).await;
    waiting.extend((1..=QUEUE_CAPACITY).map(|number| tokio::spawn(ask(number))));
    until_waiting(&writer, QUEUE_CAPACITY).await;

    let late = QUEUE_CAPACITY + 1;
    assert_eq!(ask(late).await.unwrap_err(), SubmitError::Busy);
    gate.open();
    for answer in waiting {
        let reply = answer.await.unwrap().unwrap();
        assert!(matches!(reply, Reply::Fresh { .. }), "{reply:?}");
    }
    // The key of the one that was turned away is still free.
    assert!(matches!(ask(late).await.unwrap(), Reply::Fresh { .. }));
    assert_eq!(writer.directory().users().count(), late + 1);
    writer.stop();
    thread.join().unwrap();
}

/// So many records of AUDITOR's in one request.
fn list(many: usize) -> Collect {
    let record = |n: usize| Gathered {
        row: bankd_store::RecordRow {
            record_id: format!("r{n}"),
            ..bankd_store::RecordRow::default()
        },
        work: Work::default(),
    };
    Collect {
        what: Collecting::Add {
            records: (0..many).map(record).collect(),
            lenient: false,
        },
        source: "auditor".to_owned(),
        caller: submission(add_user("x"), "x", false).caller,
        request_id: "r".to_owned(),
        place: "POST /records",
        peer: String::new(),
        memory: None,
    }
}

/// The list waits first, and the command is answered first: in a separate commit.
#[tokio::test]
async fn commands_do_not_wait_for_a_long_list_that_came_with_them() {
    for (many, commits) in [(64, 2), (65, 3)] {
        let (_folder, store) = bank();
        let gate = Arc::new(Gate::default());
        let clock = Arc::clone(&gate) as _;
        let (writer, thread) = start(store, clock, keep, BATCH_MAX).unwrap();
        let ask = |name: &'static str| {
            let writer = writer.clone();
            tokio::spawn(
                async move { answered(&writer, submission(add_user(name), name, false)).await },
            )
        };
        let first = ask("a");
        tokio::task::yield_now().await;
        until_waiting(&writer, 0).await;
        let collecting = {
            let writer = writer.clone();
            let patience = std::time::Duration::from_secs(30);
            tokio::spawn(async move { writer.collect(list(many), patience).await })
        };
        until_waiting(&writer, 1).await;
        let second = ask("b");
        until_waiting(&writer, 2).await;
        gate.open();
        assert_eq!(first.await.unwrap().0, "ok Some(1) false");
        assert_eq!(second.await.unwrap().0, "ok Some(2) false");
        collecting.await.unwrap().unwrap();
        assert_eq!(writer.counters().commits, commits, "{many}");
        writer.stop();
        thread.join().unwrap();
    }
}

/// Its caller has no answer and sends it again. Until it has left the queue it holds its memory.
#[tokio::test]
async fn a_list_whose_caller_has_gone_is_dropped_with_its_memory() {
    for (many, is_done) in [(64, true), (65, false)] {
        let (_folder, store) = bank();
        let gate = Arc::new(Gate::default());
        let clock = Arc::clone(&gate) as _;
        let (writer, thread) = start(store, clock, keep, BATCH_MAX).unwrap();
        let first = {
            let writer = writer.clone();
            tokio::spawn(
                async move { answered(&writer, submission(add_user("a"), "a", false)).await },
            )
        };
        tokio::task::yield_now().await;
        until_waiting(&writer, 0).await;
        let room = Arc::new(tokio::sync::Semaphore::new(1));
        let permit = Arc::clone(&room).try_acquire_owned().unwrap();
        let given_up = Collect {
            memory: Some(Arc::new(permit)),
            ..list(many)
        };
        let moment = std::time::Duration::from_millis(1);
        assert_eq!(
            writer.collect(given_up, moment).await,
            Err(SubmitError::Busy)
        );
        assert_eq!(room.available_permits(), 0, "it still waits in the queue");
        gate.open();
        first.await.unwrap();
        let patience = std::time::Duration::from_secs(30);
        let again = writer.collect(list(many), patience).await.unwrap();
        let was_there = matches!(again, Collected::Exists(_));
        assert_eq!((was_there, room.available_permits()), (is_done, 1));
        writer.stop();
        thread.join().unwrap();
    }
}

/// Long lists that came together are not one wait for a command that came later.
#[tokio::test]
async fn a_command_waits_for_one_long_list_at_most() {
    let (_folder, store) = bank();
    let gate = Arc::new(Gate::default());
    let clock = Arc::clone(&gate) as _;
    let (writer, thread) = start(store, clock, keep, BATCH_MAX).unwrap();
    let first = {
        let writer = writer.clone();
        tokio::spawn(async move { answered(&writer, submission(add_user("a"), "a", false)).await })
    };
    tokio::task::yield_now().await;
    until_waiting(&writer, 0).await;
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut lists = Vec::new();
    for number in 0..20 {
        let (writer, order) = (writer.clone(), Arc::clone(&order));
        let mut list = list(300);
        if let Collecting::Add { records, .. } = &mut list.what {
            for record in records {
                record.row.record_id = format!("{}-{number}", record.row.record_id);
            }
        }
        lists.push(tokio::spawn(async move {
            let patience = std::time::Duration::from_secs(30);
            writer.collect(list, patience).await.unwrap();
            order.lock().unwrap().push("list");
        }));
    }
    until_waiting(&writer, 20).await;
    gate.open();
    first.await.unwrap();
    // The lists have been taken out of the queue: the next command finds it empty.
    until_waiting(&writer, 0).await;
    answered(&writer, submission(add_user("b"), "b", false)).await;
    order.lock().unwrap().push("command");
    for list in lists {
        list.await.unwrap();
    }
    let place = order.lock().unwrap().iter().position(|w| *w == "command");
    assert!(place.unwrap() < 10, "{place:?}");
    writer.stop();
    thread.join().unwrap();
}

/// A clock of a machine that a test moves.
struct Moved(AtomicI64);

impl LedgerClock for Moved {
    fn now(&self) -> Timestamp {
        Timestamp::from_seconds(self.0.load(Ordering::SeqCst))
    }

    fn reading(&self) -> bank_core::clock::Reading {
        bank_core::clock::Reading {
            clock: self.now(),
            steady: Timestamp::from_seconds(50_000),
            boot: 7,
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_jump_that_nobody_has_looked_at_is_not_the_present() {
    let (_folder, store) = bank();
    let clock = Arc::new(Moved((1000 * DAY).into()));
    let (writer, thread) = start(store, Arc::clone(&clock) as _, keep, BATCH_MAX).unwrap();
    assert_eq!(writer.look().await, Ok(()));
    for (shown, present) in [(60, 60), (3600, 3600), (3601, 0), (4 * DAY, 0)] {
        clock.0.store(1000 * DAY + shown, Ordering::SeqCst);
        let now = writer.now().seconds();
        assert_eq!(now, 1000 * DAY + present, "{shown} s ahead");
    }
    writer.stop();
    thread.join().unwrap();
}

/// The clock of a machine: the time of day, its uptime, and which start of it this is.
struct Machine(i64, i64, i64);

impl LedgerClock for Machine {
    fn now(&self) -> Timestamp {
        Timestamp::from_seconds(self.0)
    }

    fn reading(&self) -> bank_core::clock::Reading {
        bank_core::clock::Reading {
            clock: self.now(),
            steady: Timestamp::from_seconds(self.1),
            boot: self.2,
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_after_a_weekend_follows_the_clock_and_one_after_a_year_waits() {
    let (folder, mut store) = bank();
    let (friday, monday) = (1000 * DAY, 1003 * DAY);
    for (clock, present, held) in [
        (Machine(friday, 50_000, 7), friday, false),
        (Machine(monday, 10, 8), monday, false),
        (Machine(monday + 365 * DAY, 10, 9), monday, true),
    ] {
        let (writer, thread) = start(store, Arc::new(clock), keep, BATCH_MAX).unwrap();
        assert_eq!(writer.look().await, Ok(()));
        let standing = writer.standing();
        assert_eq!(
            (standing.now.seconds(), standing.is_held),
            (present, held),
            "{standing:?}"
        );
        writer.stop();
        thread.join().unwrap();
        let path = folder.path().join("bank.db");
        store = SqliteStore::open(&path, Policy::default()).unwrap();
    }
}
