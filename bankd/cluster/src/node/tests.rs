//! Ten thousand schedules of three nodes over a log with faults, in one thread. A seed decides everything, and is
//! printed when a schedule fails.

use super::*;
use crate::memory::{Faults, MemoryLog, Met};
use std::collections::BTreeSet;
use std::time::Duration;

const TTL: Duration = Duration::from_secs(3);
const NODES: usize = 3;
const STEPS: usize = 120;

/// A ledger of numbers: what a store contains on its disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Numbers {
    done: Vec<u32>,
    here: Position,
    hash: Vec<u8>,
}

fn chained(hash: &[u8], body: &[u8]) -> Vec<u8> {
    let mix = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    let sum = hash.iter().chain(body).fold(0xcbf2_9ce4_8422_2325, mix);
    sum.to_be_bytes().to_vec()
}

fn body(numbers: &[u32]) -> Vec<u8> {
    numbers
        .iter()
        .flat_map(|number| number.to_be_bytes())
        .collect()
}

impl Machine for Numbers {
    fn position(&mut self) -> Result<Position, String> {
        Ok(self.here)
    }

    fn hash(&self) -> Vec<u8> {
        self.hash.clone()
    }

    fn apply(&mut self, entry: &Entry) -> Result<(), String> {
        let numbers = entry.body.chunks_exact(4);
        self.done
            .extend(numbers.map(|bytes| u32::from_be_bytes(bytes.try_into().unwrap())));
        self.here = Position {
            position: entry.position,
            epoch: entry.epoch,
        };
        self.hash.clone_from(&entry.hash_after);
        Ok(())
    }

    fn opening(&self) -> Vec<u8> {
        Vec::new()
    }
}

struct One {
    node: Node<MemoryLog>,
    disk: Numbers,
    is_writer: bool,
    /// Stopped between the log and the local commit.
    paused: Option<Pause>,
}

/// What a paused writer does when it goes on: it commits, and answers these commands.
struct Pause {
    place: Position,
    hash: Vec<u8>,
    new: Vec<u32>,
    known: Vec<u32>,
}

/// How often what happened, over all schedules.
#[derive(Debug, Default, PartialEq, Eq)]
struct Happened {
    log: Met,
    pauses: usize,
    /// Pauses during which another node wrote.
    overtaken: usize,
    kills: usize,
}

impl Happened {
    fn add(&mut self, one: &Happened) {
        let (all, own) = (&mut self.log.faults, &one.log.faults);
        all.away += own.away;
        all.kept += own.kept;
        all.lost += own.lost;
        all.weak += own.weak;
        all.late += own.late;
        all.twice += own.twice;
        all.fail_over += own.fail_over;
        self.log.vanished += one.log.vanished;
        self.log.exposed += one.log.exposed;
        self.pauses += one.pauses;
        self.overtaken += one.overtaken;
        self.kills += one.kills;
    }
}

struct World {
    chance: u64,
    log: MemoryLog,
    nodes: Vec<One>,
    sent: u32,
    /// Sent, without an answer so far: the client sends them again.
    waiting: Vec<u32>,
    answered: BTreeSet<u32>,
    met: Happened,
    /// Nobody is killed or stopped any more.
    is_calm: bool,
}

impl World {
    fn new(seed: u64) -> Self {
        let faults = Faults {
            weak: 50,
            fail_over: 40,
            ..Faults::each(12)
        };
        let log = MemoryLog::new(seed, faults);
        let node = |number: usize| One {
            node: Node::new(log.handle(), &format!("n{number}"), "http://x", TTL, || 0),
            disk: Numbers::default(),
            is_writer: false,
            paused: None,
        };
        let nodes = (0..NODES).map(node).collect();
        Self {
            chance: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            log,
            nodes,
            sent: 0,
            waiting: Vec::new(),
            answered: BTreeSet::new(),
            met: Happened::default(),
            is_calm: false,
        }
    }

    fn random(&mut self, below: u64) -> usize {
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 7;
        self.chance ^= self.chance << 17;
        usize::try_from(self.chance % below).unwrap()
    }

    fn step(&mut self) {
        let at = self.random(NODES as u64);
        match self.random(40) {
            0 => self.log.fail_over(),
            1 | 2 => self.log.deliver(),
            3 => self.log.advance(Duration::from_millis(1500)),
            4 => self.kill(at),
            // The whole process is stopped, so it does nothing else meanwhile: on average longer than a lease.
            _ if self.nodes[at].paused.is_some() => {
                if self.random(12) == 0 {
                    let epoch = self.nodes[at].paused.as_ref().map(|own| own.place.epoch);
                    let last = self.log.entries().last().map(|last| last.epoch);
                    self.met.overtaken += usize::from(last > epoch);
                    self.go_on(at);
                }
            }
            5 => {
                let is_cut = self.random(3) == 0;
                let calls = u32::try_from(self.random(4)).unwrap();
                let log = self.nodes[at].node.log();
                // Possibly between an append and what settles its outcome.
                if is_cut {
                    log.cut_after(calls);
                } else {
                    log.cut(false);
                }
            }
            6 => self.hand_over(at),
            _ if self.nodes[at].is_writer => self.write(at),
            _ => self.follow(at),
        }
        self.log.advance(Duration::from_millis(20));
    }

    fn hand_over(&mut self, at: usize) {
        let to = format!("n{}", self.random(NODES as u64));
        let one = &mut self.nodes[at];
        if one.is_writer {
            let epoch = one.disk.here.epoch;
            let name = one.node.name().to_owned();
            one.is_writer = !one
                .node
                .log()
                .hand_over(&name, epoch, Some(&to))
                .unwrap_or(false);
        }
    }

    fn follow(&mut self, at: usize) {
        let One {
            node,
            disk,
            is_writer,
            ..
        } = &mut self.nodes[at];
        match node.follow(disk) {
            Ok(followed) if node.may_lead(followed.lease.as_ref()) => match node.lead(disk) {
                Ok(lease) => *is_writer = lease.is_some(),
                Err(fault) => assert!(!matches!(fault, Fault::Stopped(_)), "{fault}"),
            },
            Ok(_) => {}
            Err(fault) => assert!(!matches!(fault, Fault::Stopped(_)), "{fault}"),
        }
    }

    fn write(&mut self, at: usize) {
        for _ in 0..=self.random(3) {
            self.sent += 1;
            self.waiting.push(self.sent);
        }
        let [killed, paused, is_last] =
            [15, 15, 10].map(|count| self.random(count) == 0 && !self.is_calm);
        let One {
            node,
            disk,
            is_writer,
            paused: pause,
        } = &mut self.nodes[at];
        // A command that is done already has its stored answer.
        let known: Vec<u32> = self
            .waiting
            .iter()
            .copied()
            .filter(|own| disk.done.contains(own))
            .collect();
        let new: Vec<u32> = self
            .waiting
            .iter()
            .copied()
            .filter(|own| !disk.done.contains(own))
            .collect();
        let body = body(&new);
        let after = chained(&disk.hash, &body);
        if is_last {
            // Killed after the append was sent: nothing settles its outcome.
            node.log().cut_after(1);
        }
        match node.commit(disk.here, body, (disk.hash.clone(), after.clone())) {
            // Killed between the log and the local commit: nobody was answered.
            Committed::At(_) if killed => *is_writer = false,
            Committed::At(place) => {
                *pause = Some(Pause {
                    place,
                    hash: after,
                    new,
                    known,
                });
                if paused {
                    self.met.pauses += 1;
                } else {
                    self.go_on(at);
                }
            }
            Committed::Not => {}
            Committed::Moved => *is_writer = false,
        }
        if is_last {
            self.kill(at);
        }
    }

    /// The process is killed: its disk is what it was.
    fn kill(&mut self, at: usize) {
        self.met.kills += 1;
        let one = &mut self.nodes[at];
        one.is_writer = false;
        one.paused = None;
        one.node.log().cut(false);
    }

    /// A writer commits what is in the log, answers, and renews its lease.
    fn go_on(&mut self, at: usize) {
        let One {
            node,
            disk,
            is_writer,
            paused,
        } = &mut self.nodes[at];
        let Some(Pause {
            place,
            hash,
            new,
            known,
        }) = paused.take()
        else {
            return;
        };
        disk.done.extend(&new);
        (disk.here, disk.hash) = (place, hash);
        // The client may have sent them to another node meanwhile.
        self.waiting
            .retain(|own| !new.contains(own) && !known.contains(own));
        self.answered.extend(new.iter().chain(&known));
        let name = node.name().to_owned();
        if node.log().renew(&name, place.epoch, place.position) == Ok(false) {
            *is_writer = false;
        }
    }

    /// No fault any more: every node has everything, and one writes.
    fn heal(&mut self) {
        self.is_calm = true;
        self.log.set_faults(Faults::default());
        self.log.deliver();
        for one in &mut self.nodes {
            one.node.log().cut(false);
            one.is_writer = false;
            one.paused = None;
        }
        self.log.advance(TTL * 2);
        self.follow(0);
        assert!(self.nodes[0].is_writer, "nobody leads");
        self.write(0);
        for at in 1..NODES {
            for _ in 0..3 {
                let One { node, disk, .. } = &mut self.nodes[at];
                node.follow(disk).unwrap();
            }
        }
    }

    fn check(&self) {
        let first = &self.nodes[0].disk;
        for one in &self.nodes {
            assert_eq!(&one.disk, first, "node {}", one.node.name());
        }
        let all: BTreeSet<u32> = first.done.iter().copied().collect();
        assert_eq!(all.len(), first.done.len(), "a command was done twice");
        assert!(
            all.iter().all(|own| (1..=self.sent).contains(own)),
            "nobody sent it"
        );
        let lost: Vec<&u32> = self.answered.difference(&all).collect();
        assert!(lost.is_empty(), "answered and lost: {lost:?}");
    }
}

#[test]
fn no_answered_command_is_lost_or_done_twice() {
    const SCHEDULES: u64 = 10_000;
    let (mut answered, mut epochs, mut met) = (0, 0, Happened::default());
    for seed in 1..=SCHEDULES {
        let ran = std::panic::catch_unwind(|| {
            let mut world = World::new(seed);
            for _ in 0..STEPS {
                world.step();
            }
            world.met.log = world.log.met();
            world.heal();
            world.check();
            (
                world.answered.len(),
                world.nodes[0].disk.here.epoch,
                world.met,
            )
        });
        let (own, epoch, one) = ran.unwrap_or_else(|_| panic!("seed {seed}"));
        answered += own;
        epochs += epoch;
        met.add(&one);
    }
    println!(
        "{SCHEDULES} schedules, seeds from 1 on: {answered} answered, {epochs} writers, {met:?}"
    );
    // The schedules do something: commands are answered, writers change, and every fault happens.
    assert!(answered > 300_000, "{answered} answered");
    assert!(epochs > 50_000, "{epochs} writers");
    let Faults {
        away,
        kept,
        lost,
        weak,
        late,
        twice,
        fail_over,
    } = met.log.faults;
    for (fault, count) in [
        ("away", away),
        ("kept", kept),
        ("lost", lost),
        ("weak", weak),
        ("late", late),
        ("twice", twice),
        ("fail_over", fail_over),
    ] {
        assert!(count > 10_000, "{fault}: {count}");
    }
    for (event, count) in [
        ("vanished", met.log.vanished),
        ("exposed", met.log.exposed),
        ("pauses", met.pauses),
        ("overtaken", met.overtaken),
        ("kills", met.kills),
    ] {
        assert!(count > 500, "{event}: {count}");
    }
}

/// A follower whose rows, log or place are wrong stops with the position and what to do.
#[test]
fn a_node_that_does_not_fit_the_log_stops() {
    let filled = || {
        let log = MemoryLog::new(1, Faults::default());
        let mut one = Numbers::default();
        let mut node = Node::new(log.handle(), "n0", "http://x", TTL, || 0);
        node.lead(&mut one).unwrap().unwrap();
        for number in 1..=4_u32 {
            let body = body(&[number]);
            let after = chained(&one.hash, &body);
            let done = node.commit(one.here, body, (one.hash.clone(), after.clone()));
            let Committed::At(place) = done else {
                panic!("{done:?}")
            };
            one.done.push(number);
            (one.here, one.hash) = (place, after);
        }
        (log, one)
    };
    let stopped = |log: &MemoryLog, disk: &mut Numbers| {
        let mut node = Node::new(log.handle(), "n1", "http://y", TTL, || 0);
        node.follow(disk).unwrap_err().to_string()
    };
    let (log, one) = filled();
    let mut other = Numbers {
        hash: vec![1],
        ..Numbers::default()
    };
    let text = stopped(&log, &mut other);
    assert!(
        text.contains("node n1 stopped at position 1: the journal of this node"),
        "{text}"
    );
    let mut ahead = Numbers {
        here: Position {
            position: 9,
            epoch: 1,
        },
        ..one.clone()
    };
    let text = stopped(&log, &mut ahead);
    assert!(
        text.contains("node n1 is at position 9, and the log ends at 5"),
        "{text}"
    );
    let mut changed = Numbers {
        hash: vec![2],
        ..one.clone()
    };
    let text = stopped(&log, &mut changed);
    assert!(
        text.contains("has another entry there: it is another log"),
        "{text}"
    );
    log.handle().trim(4).unwrap();
    let mut late = Numbers::default();
    let text = stopped(&log, &mut late);
    assert!(
        text.contains("entry 1 was deleted from the log; the first one is 4"),
        "{text}"
    );
}

/// A node that takes the lease and cannot apply the log, such as one of an older version, gives the lease back.
#[test]
fn a_node_that_stops_gives_its_lease_back() {
    let log = MemoryLog::new(1, Faults::default());
    let mut one = Numbers::default();
    let mut first = Node::new(log.handle(), "n0", "http://x", TTL, || 0);
    let lease = first.lead(&mut one).unwrap().unwrap();
    assert!(first.log().hand_over("n0", lease.epoch, None).unwrap());
    let mut other = Numbers {
        hash: vec![1],
        ..Numbers::default()
    };
    let mut second = Node::new(log.handle(), "n1", "http://y", TTL, || 0);
    let stopped = second.lead(&mut other).unwrap_err();
    assert!(matches!(stopped, Fault::Stopped(_)), "{stopped}");
    assert_eq!(first.log().lease().unwrap().unwrap().node, "");
    assert!(first.lead(&mut one).unwrap().is_some());
}
