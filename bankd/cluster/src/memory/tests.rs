//! The log in memory keeps the contract of the port, and nodes that follow the contract lose nothing.

use std::time::Duration;

use super::{Faults, MemoryLog};
use crate::log::{Appended, BODY_MAX, Entry, Log, LogError};
use crate::settle::{Settled, secure_last, settle};

const TTL: Duration = Duration::from_secs(3);

fn entry(position: i64, batch: u64) -> Entry {
    let mut id = [0; 16];
    id[..8].copy_from_slice(&batch.to_le_bytes());
    Entry {
        position,
        epoch: 1,
        batch: id,
        body: batch.to_string().into_bytes(),
        hash_before: vec![1; 32],
        hash_after: vec![2; 32],
        at_us: 1_700_000_000_000_000,
    }
}

#[test]
fn positions_are_filled_once_and_in_order() {
    let mut log = MemoryLog::new(1, Faults::default());
    assert_eq!((log.last(), log.first()), (Ok(0), Ok(1)));
    assert_eq!(log.append(&entry(1, 10)), Ok(Appended::Done));
    assert_eq!(log.append(&entry(1, 11)), Ok(Appended::Taken));
    assert_eq!(log.append(&entry(1, 10)), Ok(Appended::Done));
    let gap = log.append(&entry(3, 12)).unwrap_err();
    assert!(matches!(gap, LogError::Wrong(_)), "{gap:?}");
    let mut large = entry(2, 13);
    large.body = vec![0; BODY_MAX + 1];
    assert!(matches!(log.append(&large), Err(LogError::Wrong(_))));
    for position in 2..=9 {
        assert_eq!(log.append(&entry(position, 20)), Ok(Appended::Done));
    }
    assert_eq!(log.trim(5), Ok(4));
    assert_eq!((log.first(), log.last()), (Ok(5), Ok(9)));
    assert!(matches!(log.read(4, 1), Err(LogError::Wrong(_))));
    assert_eq!(log.read(6, 1).unwrap(), [entry(6, 20)]);
    assert_eq!(log.read(6, 1 << 20).unwrap().len(), 4);
    assert_eq!(log.read(10, 1), Ok(Vec::new()));
    // An old writer cannot fill a position that was trimmed.
    assert_eq!(log.append(&entry(3, 30)), Ok(Appended::Taken));
    assert_eq!(log.trim(1000), Ok(4));
    assert_eq!(log.last(), Ok(9));
}

#[test]
fn a_lease_is_taken_when_it_is_old_free_or_handed_over() {
    let mut log = MemoryLog::new(1, Faults::default());
    assert_eq!(log.lease(), Ok(None));
    assert_eq!(log.take("a", "a:1", TTL).unwrap().unwrap().epoch, 1);
    assert_eq!(log.take("b", "b:1", TTL), Ok(None));
    log.advance(Duration::from_secs(2));
    assert_eq!(log.renew("a", 1, 7), Ok(true));
    assert_eq!(log.renew("b", 1, 9), Ok(false));
    log.advance(TTL);
    assert_eq!(log.take("b", "b:1", TTL), Ok(None));
    log.advance(Duration::from_millis(1));
    let taken = log.take("b", "b:1", TTL).unwrap().unwrap();
    assert_eq!((taken.epoch, taken.durable), (2, 7));
    assert_eq!(log.renew("a", 1, 7), Ok(false));
    assert_eq!(log.hand_over("b", 2, Some("c")), Ok(true));
    assert_eq!(log.renew("b", 2, 7), Ok(false));
    assert_eq!(log.take("a", "a:1", TTL), Ok(None));
    assert_eq!(log.lease().unwrap().unwrap().node, "");
    assert_eq!(log.take("c", "c:1", TTL).unwrap().unwrap().epoch, 3);
    assert_eq!(log.hand_over("c", 3, None), Ok(true));
    assert_eq!(log.take("a", "a:1", TTL).unwrap().unwrap().epoch, 4);
    // After a restart, a node takes its own lease at once.
    assert_eq!(log.take("a", "a:1", TTL).unwrap().unwrap().epoch, 5);
}

#[test]
fn an_unknown_outcome_is_settled() {
    let only = |set: fn(&mut Faults)| {
        let mut faults = Faults::default();
        set(&mut faults);
        faults
    };
    let cases = [
        (only(|faults| faults.kept = 1000), Settled::Done),
        (only(|faults| faults.weak = 1000), Settled::Done),
        (only(|faults| faults.lost = 1000), Settled::Absent),
        (only(|faults| faults.late = 1000), Settled::Absent),
    ];
    for (faults, expected) in cases {
        let mut log = MemoryLog::new(1, faults);
        let sent = log.append(&entry(1, 5));
        assert!(matches!(sent, Err(LogError::Unknown(_))), "{faults:?}");
        let mut other = log.handle();
        log.set_faults(Faults::default());
        // Nothing arrives before the question: the late statement is put back.
        let late = std::mem::take(&mut log.lock().late);
        assert_eq!(settle(&mut log, &entry(1, 5)), Ok(expected), "{faults:?}");
        if expected == Settled::Done {
            log.fail_over();
            assert_eq!(log.last(), Ok(1), "{faults:?}");
            continue;
        }
        log.lock().late = late;
        assert!(other.append(&entry(1, 6)).is_ok());
        log.deliver();
        let found = log.find(1).unwrap().unwrap().batch == entry(1, 5).batch;
        let expected = if found { Settled::Done } else { Settled::Taken };
        assert_eq!(settle(&mut log, &entry(1, 5)), Ok(expected), "{faults:?}");
    }
}

#[test]
fn a_weak_entry_vanishes_unless_it_is_secured() {
    let weak = Faults {
        weak: 1000,
        ..Faults::default()
    };
    let mut log = MemoryLog::new(1, weak);
    assert!(log.append(&entry(1, 1)).is_err());
    assert_eq!((log.last(), log.durable()), (Ok(1), 0));
    log.fail_over();
    assert_eq!(log.last(), Ok(0));
    assert!(log.append(&entry(1, 2)).is_err());
    log.set_faults(Faults::default());
    assert_eq!(secure_last(&mut log), Ok(Some(entry(1, 2))));
    log.fail_over();
    assert_eq!(log.entries(), [entry(1, 2)]);
    log.cut(true);
    assert!(matches!(log.last(), Err(LogError::Away(_))));
    assert!(matches!(log.handle().last(), Ok(1)));
}

/// A node: its file, and what it is doing.
struct Node {
    name: String,
    log: MemoryLog,
    file: Vec<Entry>,
    epoch: Option<i64>,
    /// The entry that it appends, and whether an append of it was unknown.
    pending: Option<(Entry, bool)>,
}

impl Node {
    fn next(&self) -> i64 {
        i64::try_from(self.file.len()).unwrap() + 1
    }

    fn step_down(&mut self) {
        self.epoch = None;
        self.pending = None;
    }

    /// One step of a writer. Returns the entry that it answers.
    fn write(&mut self, epoch: i64, batch: u64) -> Option<Entry> {
        let (pending, unsettled) = self.pending.clone().unwrap_or_else(|| {
            let mut made = entry(self.next(), batch);
            made.epoch = epoch;
            (made, false)
        });
        let outcome = if unsettled {
            match settle(&mut self.log, &pending) {
                Ok(Settled::Absent) => self.log.append(&pending),
                Ok(Settled::Done) => Ok(Appended::Done),
                Ok(Settled::Taken) => Ok(Appended::Taken),
                Err(error) => Err(error),
            }
        } else {
            self.log.append(&pending)
        };
        match outcome {
            Ok(Appended::Done) => {
                self.pending = None;
                self.file.push(pending.clone());
                return Some(pending);
            }
            Ok(Appended::Taken) => self.step_down(),
            Err(LogError::Unknown(_)) => self.pending = Some((pending, true)),
            // Only a first attempt is certainly not in the log.
            Err(LogError::Away(_)) => self.pending = unsettled.then_some((pending, true)),
            Err(LogError::Wrong(text)) => panic!("{}: {text}", self.name),
        }
        None
    }

    /// Applies what is durable.
    fn follow(&mut self) -> Result<(), LogError> {
        let durable = self.log.lease()?.map_or(0, |lease| lease.durable);
        let found = self.log.read(self.next(), 30)?;
        let last = found.last().map_or(0, |entry| entry.position);
        let safe = found.into_iter();
        let safe = safe.filter(|entry| entry.position < last || entry.position <= durable);
        self.file.extend(safe);
        Ok(())
    }

    /// Becomes the writer if it can.
    fn candidate(&mut self) -> Result<(), LogError> {
        let Some(lease) = self.log.take(&self.name, "", TTL)? else {
            return Ok(());
        };
        let last = secure_last(&mut self.log)?.map_or(0, |entry| entry.position);
        while self.next() <= last {
            let found = self.log.read(self.next(), 30)?;
            self.file
                .extend(found.into_iter().filter(|e| e.position <= last));
        }
        self.epoch = Some(lease.epoch);
        Ok(())
    }
}

/// Three nodes under every fault: an answered entry is in the log after the last failover, every file is the
/// beginning of the log, and work is done.
#[test]
fn nodes_that_keep_the_contract_lose_nothing() {
    let mut answered_in_total = 0;
    for seed in 0..3000 {
        let log = MemoryLog::new(seed, Faults::each(60));
        let mut nodes: Vec<Node> = ["a", "b", "c"]
            .iter()
            .map(|name| Node {
                name: format!("{name} of seed {seed}"),
                log: log.handle(),
                file: Vec::new(),
                epoch: None,
                pending: None,
            })
            .collect();
        let chance = MemoryLog::new(seed ^ 0xabcd, Faults::default());
        let mut answered: Vec<Entry> = Vec::new();
        for step in 0..150_u64 {
            let drawn = chance.lock().random();
            let node = &mut nodes[usize::try_from(drawn % 3).unwrap()];
            match (drawn >> 8) % 100 {
                0..2 => log.fail_over(),
                2..5 => node.step_down(),
                5..25 => log.advance(Duration::from_millis(800)),
                25..30 => log.deliver(),
                30..40 => node.log.cut(drawn.is_multiple_of(5)),
                _ => {
                    if let Some(epoch) = node.epoch {
                        answered.extend(node.write(epoch, seed * 1000 + step));
                        let durable = node.next() - 1;
                        let _ = node.log.renew(&node.name, epoch, durable);
                    } else {
                        let _ = node.follow();
                        let _ = node.candidate();
                    }
                }
            }
        }
        log.fail_over();
        let end = log.entries();
        for entry in &answered {
            let at = usize::try_from(entry.position).unwrap() - 1;
            assert_eq!(end.get(at), Some(entry), "seed {seed}: an answer is lost");
        }
        for node in &nodes {
            assert!(end.starts_with(&node.file), "{}: diverged", node.name);
        }
        answered_in_total += answered.len();
    }
    assert!(answered_in_total > 30_000, "{answered_in_total}");
}

#[test]
fn the_same_seed_gives_the_same_outcomes() {
    let run = |seed| {
        let mut log = MemoryLog::new(seed, Faults::each(100));
        let outcomes: Vec<_> = (0..200)
            .map(|batch| {
                let next = log.durable() + 1;
                log.append(&entry(next, batch))
            })
            .collect();
        (outcomes, log.entries())
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7), run(8));
}
