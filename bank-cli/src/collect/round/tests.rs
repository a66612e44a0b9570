use std::cell::RefCell;
use std::io::Write as _;
use std::path::Path;
use std::rc::Rc;

use super::*;

const T0: i64 = 1_767_225_600_000_000;
const MINUTE: i64 = 60_000_000;

/// A source with a batch for every minute.
struct Minutes {
    streams: Vec<String>,
}

impl Source for Minutes {
    fn streams(&self) -> Vec<String> {
        self.streams.clone()
    }

    fn fetch(
        &mut self,
        queue: &Queue,
        stream: &str,
        position: Option<i64>,
        now_us: i64,
    ) -> Result<Next, Failure> {
        let at = position.unwrap_or(T0);
        if at + MINUTE > now_us {
            return Ok(Next::UpToDate);
        }
        let head = CollectBatch {
            stream: stream.to_owned(),
            until: format_rfc3339(at + MINUTE),
            ..CollectBatch::default()
        };
        let write = |mut draft: super::super::queue::Draft| {
            draft.write_all(&[b'x'; 100])?;
            draft.commit()
        };
        let bytes = queue.begin(&head, 1000).and_then(write);
        bytes
            .map(Next::Batch)
            .map_err(|error| unusable("queue", &error))
    }
}

/// What the bank got, in its order, and what it says next.
#[derive(Clone, Default)]
struct Bank {
    got: Rc<RefCell<Vec<String>>>,
    fails: Rc<RefCell<Option<Failure>>>,
}

struct World {
    folder: tempfile::TempDir,
    bank: Bank,
    streams: Vec<String>,
    most: u64,
}

impl World {
    fn new(streams: &[&str]) -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            bank: Bank::default(),
            streams: streams.iter().map(|name| (*name).to_owned()).collect(),
            most: 1 << 20,
        }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A new process: nothing is known but what is on disk.
    fn round(&self, minutes: i64) -> Ended {
        let queue = Queue::open(self.path(), self.most).unwrap().unwrap();
        let source = Minutes {
            streams: self.streams.clone(),
        };
        let bank = self.bank.clone();
        let send = move |head: &CollectBatch, mut body: Box<dyn Read>| {
            if let Some(failure) = bank.fails.borrow().clone() {
                return Err(failure);
            }
            let mut bytes = Vec::new();
            body.read_to_end(&mut bytes).unwrap();
            assert_eq!(bytes, [b'x'; 100]);
            let minute = (parse_rfc3339(&head.until).unwrap() - T0) / MINUTE;
            bank.got
                .borrow_mut()
                .push(format!("{} {minute}", head.stream));
            Ok(Sent {
                records: 3,
                outcomes: BTreeMap::from([("charged".to_owned(), 2)]),
                quarantined: 1,
            })
        };
        let mut rounds = Rounds::new("slurm", queue, Box::new(source), Box::new(send)).unwrap();
        rounds.run(T0 + minutes * MINUTE)
    }

    fn got(&self) -> Vec<String> {
        self.bank.got.borrow().clone()
    }

    fn state(&self) -> CollectState {
        state(&state_file(self.path())).unwrap()
    }

    fn set_failure(&self, failure: Option<Failure>) {
        *self.bank.fails.borrow_mut() = failure;
    }
}

fn problem(code: &str) -> Failure {
    Failure::problem(bank_api::error::Problem::new(code, "no"))
}

#[test]
fn each_batch_is_sent_once_and_in_order() {
    let world = World::new(&["colony", "annex"]);
    let ended = world.round(2);
    assert_eq!(ended.failure, None);
    assert_eq!(world.got(), ["colony 1", "colony 2", "annex 1", "annex 2"]);
    let round = ended.round;
    assert_eq!((round.fetched, round.sent, round.records), (4, 4, 12));
    assert_eq!((round.waiting, round.waiting_bytes), (0, 0));
    assert_eq!(round.outcomes["charged"], 8);
    assert_eq!(round.outcomes["quarantined"], 4);
    world.round(2);
    assert_eq!(world.got().len(), 4, "nothing is new");
    world.round(3);
    assert_eq!(world.got()[4..], ["colony 3", "annex 3"]);
    let known = &world.state().streams["colony"];
    assert_eq!(known.until.as_deref(), Some("2026-01-01T00:03:00Z"));
    assert_eq!((known.batches, known.records, known.refused), (3, 9, 0));
}

#[test]
fn a_full_queue_fetches_no_more_and_loses_nothing() {
    let mut world = World::new(&["colony"]);
    world.most = 700;
    world.set_failure(Some(Failure::unreachable("away")));
    let ended = world.round(50);
    assert!(ended.round.waiting >= 2, "{:?}", ended.round);
    assert!(ended.round.waiting_bytes <= 700);
    assert!(
        ended
            .round
            .trouble
            .iter()
            .any(|what| what.contains("queue is full"))
    );
    world.set_failure(None);
    let ended = world.round(50);
    assert_eq!(ended.failure, None);
    let all: Vec<String> = (1..=50).map(|minute| format!("colony {minute}")).collect();
    assert_eq!(world.got(), all);
}

#[test]
fn what_the_bank_can_never_take_goes_aside_and_blocks_nothing() {
    for code in ["bad_document", "too_large", "bad_value"] {
        let world = World::new(&["colony"]);
        world.set_failure(Some(problem(code)));
        let ended = world.round(1);
        assert_eq!(ended.failure.unwrap().exit, exit::REFUSED, "{code}");
        assert_eq!((ended.round.refused, ended.round.waiting), (1, 0), "{code}");
        assert_eq!(world.state().streams["colony"].refused, 1);
        let aside = std::fs::read_dir(world.path().join("refused"))
            .unwrap()
            .count();
        assert_eq!(aside, 2, "the batch and its reason");
        world.set_failure(None);
        world.round(2);
        assert_eq!(world.got(), ["colony 2"], "{code}");
    }
}

#[test]
fn what_may_be_put_right_stays_in_the_queue() {
    for code in [
        "not_allowed",
        "unauthorized",
        "not_found",
        "machine_unknown",
        "busy",
        "internal",
    ] {
        let world = World::new(&["colony"]);
        world.set_failure(Some(problem(code)));
        let ended = world.round(2);
        assert_eq!((ended.round.refused, ended.round.waiting), (0, 2), "{code}");
        assert!(ended.failure.is_some(), "{code}");
        world.set_failure(None);
        world.round(2);
        assert_eq!(world.got(), ["colony 1", "colony 2"], "{code}");
    }
}

#[test]
fn a_backlog_is_fetched_in_rounds_that_end() {
    let world = World::new(&["colony"]);
    let ended = world.round(150);
    assert!(ended.is_unfinished);
    assert_eq!(ended.round.fetched, FETCHED_MAX);
    let ended = world.round(150);
    assert!(!ended.is_unfinished);
    assert_eq!(world.got().len(), 150);
}

#[test]
fn a_clock_that_went_back_is_reported() {
    let world = World::new(&["colony"]);
    world.round(120);
    world.round(120);
    let ended = world.round(1);
    let what = ended.failure.unwrap().what;
    assert!(
        what.contains("the clock is more than an hour before"),
        "{what}"
    );
}

#[test]
fn a_state_that_cannot_be_read_is_not_begun_anew() {
    let world = World::new(&["colony"]);
    world.round(1);
    std::fs::write(state_file(world.path()), "{").unwrap();
    let failure = state(&state_file(world.path())).unwrap_err();
    assert_eq!(failure.exit, exit::USAGE);
    assert!(failure.what.contains("state.json"), "{}", failure.what);
}
