//! The log in memory, shared by the nodes of a simulation, with faults that a seed decides.
//!
//! It has no thread and no clock: the test moves its time ([`MemoryLog::advance`]), lets delayed statements arrive
//! ([`MemoryLog::deliver`]) and replaces its primary ([`MemoryLog::fail_over`]). The same seed and the same calls
//! give the same outcomes.

mod shared;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use self::shared::{Fault, Shared};
use crate::log::{self, Appended, Entry, KeySecret, Lease, Log, LogError, NodeRow};

/// How many of a thousand calls have which fault, or how many calls had it. A call has at most one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Nothing is sent: `Away`.
    pub away: u32,
    /// The change is made and durable, but the answer is lost: `Unknown`.
    pub kept: u32,
    /// The statement is lost after it was sent: `Unknown`.
    pub lost: u32,
    /// The entry is visible and not durable, as after a cancelled wait for a standby: `Unknown`.
    pub weak: u32,
    /// The statement arrives later, possibly after others: `Unknown`.
    pub late: u32,
    /// The change is made, and the same statement arrives once more later.
    pub twice: u32,
    /// A standby becomes the primary before the call, as by [`MemoryLog::fail_over`]. The call may have another fault.
    pub fail_over: u32,
}

impl Faults {
    /// Each fault this many times in a thousand calls.
    pub fn each(count: u32) -> Faults {
        Faults {
            away: count,
            kept: count,
            lost: count,
            weak: count,
            late: count,
            twice: count,
            fail_over: count,
        }
    }
}

/// One connection to the log in memory. [`MemoryLog::handle`] makes one for another node.
pub struct MemoryLog {
    shared: Arc<Mutex<Shared>>,
    /// Calls until the connection is cut; none if it is not going to be.
    left: Option<u32>,
}

/// What happened to a log and its entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Met {
    /// Calls that had each fault.
    pub faults: Faults,
    /// Entries that were visible, not durable, and vanished.
    pub vanished: usize,
    /// Reads that ended with an entry that was not durable.
    pub exposed: usize,
}

impl MemoryLog {
    /// An empty log.
    pub fn new(seed: u64, faults: Faults) -> MemoryLog {
        let shared = Shared {
            entries: BTreeMap::new(),
            durable: 0,
            late: Vec::new(),
            writer: None,
            nodes: BTreeMap::new(),
            secret: Vec::new(),
            keys: BTreeMap::new(),
            now: 0,
            faults,
            met: Met::default(),
            chance: seed,
        };
        MemoryLog {
            shared: Arc::new(Mutex::new(shared)),
            left: None,
        }
    }

    /// A connection of another node to the same log.
    #[must_use]
    pub fn handle(&self) -> MemoryLog {
        MemoryLog {
            shared: Arc::clone(&self.shared),
            left: None,
        }
    }

    /// Cuts the connection of this handle, or restores it: all its calls are `Away` meanwhile.
    pub fn cut(&mut self, cut: bool) {
        self.left = cut.then_some(0);
    }

    /// Cuts the connection of this handle after so many further calls, as the end of its process does.
    pub fn cut_after(&mut self, calls: u32) {
        self.left = Some(calls);
    }

    /// Whether the call that begins now finds the connection cut.
    fn is_cut(&mut self) -> bool {
        let is_cut = self.left == Some(0);
        self.left = self.left.map(|left| left.saturating_sub(1));
        is_cut
    }

    /// Replaces the faults, for all nodes.
    pub fn set_faults(&self, faults: Faults) {
        self.lock().faults = faults;
    }

    /// Moves the clock of the log.
    pub fn advance(&self, by: Duration) {
        let by = u64::try_from(by.as_millis()).unwrap_or(u64::MAX);
        let mut shared = self.lock();
        shared.now = shared.now.saturating_add(by);
    }

    /// Lets all delayed statements arrive.
    pub fn deliver(&self) {
        let mut shared = self.lock();
        while !shared.late.is_empty() {
            shared.arrive();
        }
    }

    /// A standby becomes the primary: entries that are not durable vanish, and delayed statements are lost.
    pub fn fail_over(&self) {
        self.lock().fail_over();
    }

    /// What happened so far.
    pub fn met(&self) -> Met {
        self.lock().met
    }

    /// All visible entries.
    pub fn entries(&self) -> Vec<Entry> {
        self.lock().entries.values().cloned().collect()
    }

    /// The position up to which entries are durable.
    pub fn durable(&self) -> i64 {
        self.lock().durable
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The log for a call that reads.
    fn reading(&mut self) -> Result<MutexGuard<'_, Shared>, LogError> {
        let is_cut = self.is_cut();
        let mut shared = self.lock();
        if is_cut || shared.fault() == Fault::Away {
            return Err(away());
        }
        Ok(shared)
    }

    /// Makes a change that is not an append.
    fn writing<T>(&mut self, change: impl FnOnce(&mut Shared) -> T) -> Result<T, LogError> {
        let is_cut = self.is_cut();
        let mut shared = self.lock();
        match shared.fault() {
            _ if is_cut => Err(away()),
            Fault::Away => Err(away()),
            Fault::Lost | Fault::Late => Err(unknown()),
            Fault::Kept | Fault::Weak => {
                change(&mut shared);
                Err(unknown())
            }
            Fault::None | Fault::Twice => Ok(change(&mut shared)),
        }
    }
}

fn away() -> LogError {
    LogError::Away("the log in memory: not connected".to_owned())
}

fn unknown() -> LogError {
    LogError::Unknown("the log in memory: no answer".to_owned())
}

/// Milliseconds from one moment to another.
fn age(now: u64, seen: u64) -> i64 {
    i64::try_from(now.saturating_sub(seen)).unwrap_or(i64::MAX)
}

impl Log for MemoryLog {
    fn append(&mut self, entry: &Entry) -> Result<Appended, LogError> {
        log::check(entry)?;
        let is_cut = self.is_cut();
        let mut shared = self.lock();
        let fault = shared.fault();
        match fault {
            _ if is_cut => return Err(away()),
            Fault::Away => return Err(away()),
            Fault::Lost => return Err(unknown()),
            Fault::Late => {
                shared.late.push(entry.clone());
                return Err(unknown());
            }
            Fault::Twice => shared.late.push(entry.clone()),
            Fault::None | Fault::Kept | Fault::Weak => {}
        }
        let last = shared.last();
        let landed = shared.land(entry.clone());
        if landed == Some(Appended::Done) && fault != Fault::Weak {
            shared.durable = shared.durable.max(entry.position);
        }
        if matches!(fault, Fault::Kept | Fault::Weak) {
            return Err(unknown());
        }
        landed.ok_or_else(|| log::gap(entry.position, last))
    }

    fn find(&mut self, position: i64) -> Result<Option<Entry>, LogError> {
        Ok(self.reading()?.entries.get(&position).cloned())
    }

    fn read(&mut self, from: i64, bytes: usize) -> Result<Vec<Entry>, LogError> {
        let mut shared = self.reading()?;
        let mut all: Vec<Entry> = Vec::new();
        let mut total = 0_usize;
        for (position, entry) in shared.entries.range(from..) {
            if all.is_empty() && *position != from {
                return Err(log::trimmed(from, *position));
            }
            if !all.is_empty() && total >= bytes {
                break;
            }
            total = total.saturating_add(entry.body.len());
            all.push(entry.clone());
        }
        let is_exposed = all
            .last()
            .is_some_and(|last| last.position > shared.durable);
        shared.met.exposed += usize::from(is_exposed);
        Ok(all)
    }

    fn last(&mut self) -> Result<i64, LogError> {
        Ok(self.reading()?.last())
    }

    fn first(&mut self) -> Result<i64, LogError> {
        let shared = self.reading()?;
        Ok(shared
            .entries
            .first_key_value()
            .map_or(1, |(first, _)| *first))
    }

    fn lease(&mut self) -> Result<Option<Lease>, LogError> {
        let shared = self.reading()?;
        Ok(shared.writer.as_ref().map(|writer| Lease {
            age_ms: age(shared.now, writer.seen),
            ..writer.lease.clone()
        }))
    }

    fn take(
        &mut self,
        node: &str,
        address: &str,
        ttl: Duration,
    ) -> Result<Option<Lease>, LogError> {
        if node.is_empty() {
            return Err(LogError::Wrong("the name of the node is empty".to_owned()));
        }
        let ttl = u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX);
        self.writing(|shared| shared.take(node, address, ttl))
    }

    fn renew(&mut self, node: &str, epoch: i64, durable: i64) -> Result<bool, LogError> {
        self.writing(|shared| {
            let now = shared.now;
            shared.held(node, epoch).is_some_and(|writer| {
                writer.seen = now;
                writer.lease.durable = writer.lease.durable.max(durable);
                true
            })
        })
    }

    fn hand_over(&mut self, node: &str, epoch: i64, to: Option<&str>) -> Result<bool, LogError> {
        self.writing(|shared| {
            let now = shared.now;
            shared.held(node, epoch).is_some_and(|writer| {
                writer.seen = now;
                writer.lease.node.clear();
                writer.lease.address.clear();
                writer.heir = to.map(str::to_owned);
                true
            })
        })
    }

    fn report(&mut self, row: &NodeRow) -> Result<(), LogError> {
        self.writing(|shared| {
            let stored = (row.clone(), shared.now);
            shared.nodes.insert(row.node.clone(), stored);
        })
    }

    fn nodes(&mut self) -> Result<Vec<NodeRow>, LogError> {
        let shared = self.reading()?;
        let now = shared.now;
        let row = |(row, seen): &(NodeRow, u64)| NodeRow {
            age_ms: age(now, *seen),
            ..row.clone()
        };
        Ok(shared.nodes.values().map(row).collect())
    }

    fn leave(&mut self, node: &str) -> Result<(), LogError> {
        self.writing(|shared| {
            shared.nodes.remove(node);
        })
    }

    fn trim(&mut self, below: i64) -> Result<u64, LogError> {
        self.writing(|shared| {
            let kept = shared.entries.split_off(&below.min(shared.last()));
            let gone = std::mem::replace(&mut shared.entries, kept);
            u64::try_from(gone.len()).unwrap_or(u64::MAX)
        })
    }

    fn secret(&mut self, fresh: &[u8]) -> Result<Vec<u8>, LogError> {
        self.writing(|shared| {
            if shared.secret.is_empty() {
                shared.secret = fresh.to_vec();
            }
            shared.secret.clone()
        })
    }

    fn keys(&mut self) -> Result<Vec<KeySecret>, LogError> {
        let shared = self.reading()?;
        let all = shared.keys.iter();
        let all = all.map(|(id, secret)| KeySecret {
            id: id.clone(),
            secret: secret.clone(),
        });
        Ok(all.collect())
    }

    fn keep_key(&mut self, key: &KeySecret) -> Result<(), LogError> {
        self.writing(|shared| {
            shared.keys.insert(key.id.clone(), key.secret.clone());
        })
    }

    fn remove_key(&mut self, id: &str) -> Result<(), LogError> {
        self.writing(|shared| {
            shared.keys.remove(id);
        })
    }

    fn warnings(&mut self) -> Result<Vec<String>, LogError> {
        self.reading().map(|_| Vec::new())
    }
}
