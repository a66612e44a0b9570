//! Ten thousand schedules of three nodes over a log with faults, in one thread. A seed decides everything, and is
//! printed when a schedule fails.

use super::*;
use crate::memory::{Faults, MemoryLog};
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
}

struct World {
    chance: u64,
    log: MemoryLog,
    nodes: Vec<One>,
    sent: u32,
    /// Sent, without an answer so far: the client sends them again.
    waiting: Vec<u32>,
    answered: BTreeSet<u32>,
}

impl World {
    fn new(seed: u64) -> Self {
        let log = MemoryLog::new(seed, Faults::each(12));
        let node = |number: usize| One {
            node: Node::new(log.handle(), &format!("n{number}"), "http://x", TTL, || 0),
            disk: Numbers::default(),
            is_writer: false,
        };
        let nodes = (0..NODES).map(node).collect();
        Self {
            chance: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            log,
            nodes,
            sent: 0,
            waiting: Vec::new(),
            answered: BTreeSet::new(),
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
            // The process is killed: its disk is what it was.
            4 => self.nodes[at].is_writer = false,
            5 => {
                let is_cut = self.random(3) == 0;
                self.nodes[at].node.log().cut(is_cut);
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
        let killed = self.random(15) == 0;
        let One {
            node,
            disk,
            is_writer,
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
        match node.commit(disk.here, body, (disk.hash.clone(), after.clone())) {
            // Killed between the log and the local commit: nobody was answered.
            Committed::At(_) if killed => *is_writer = false,
            Committed::At(place) => {
                disk.done.extend(&new);
                (disk.here, disk.hash) = (place, after);
                self.answered.extend(new.iter().chain(&known));
                self.waiting.clear();
                let name = node.name().to_owned();
                if node.log().renew(&name, place.epoch, place.position) == Ok(false) {
                    *is_writer = false;
                }
            }
            Committed::Not => {}
            Committed::Moved => *is_writer = false,
        }
    }

    /// No fault any more: every node has everything, and one writes.
    fn heal(&mut self) {
        self.log.set_faults(Faults::default());
        self.log.deliver();
        for one in &mut self.nodes {
            one.node.log().cut(false);
            one.is_writer = false;
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
    let (mut answered, mut epochs) = (0, 0);
    for seed in 1..=10_000 {
        let ran = std::panic::catch_unwind(|| {
            let mut world = World::new(seed);
            for _ in 0..STEPS {
                world.step();
            }
            world.heal();
            world.check();
            (world.answered.len(), world.nodes[0].disk.here.epoch)
        });
        let (own, epoch) = ran.unwrap_or_else(|_| panic!("seed {seed}"));
        answered += own;
        epochs += epoch;
    }
    // The schedules do something: commands are answered, and writers change.
    assert!(answered > 500_000, "{answered} answered");
    assert!(epochs > 50_000, "{epochs} writers");
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
