//! What a node does with the log: it follows another writer, becomes the writer, and commits as the writer.
//!
//! Two rules make the lease a matter of liveness only (cluster.md, "Order of a commit"). A writer begins its epoch with
//! an entry of its own at the next position: from then on an earlier writer cannot append. And a follower applies an
//! entry once a later one exists or the writer published that it is durable: never one whose commit nobody saw succeed.

use std::time::Duration;

use crate::log::{Appended, Entry, Lease, Log, LogError};
use crate::settle::{Settled, secure_last, settle};

/// Attempts to find an unknown outcome. Each ends within a few seconds.
const TRIES_MAX: u32 = 3;
/// Bytes of entries that are read at once.
const READ_BYTES: usize = 8 << 20;

/// Where a machine is in the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// The last entry that it contains; 0 for none.
    pub position: i64,
    /// The epoch of that entry's writer.
    pub epoch: i64,
}

/// What entries change: the bank's store.
pub trait Machine {
    /// Where it is.
    ///
    /// # Errors
    /// If it cannot be read; in words.
    fn position(&mut self) -> Result<Position, String>;
    /// The journal's hash, as entries contain it.
    fn hash(&self) -> Vec<u8>;
    /// Applies an entry, with its position, all of it or nothing.
    ///
    /// # Errors
    /// In words, if the entry does not fit this machine.
    fn apply(&mut self, entry: &Entry) -> Result<(), String>;
    /// The body of an entry without changes, which begins an epoch or fills a position.
    fn opening(&self) -> Vec<u8>;
}

/// Why a node does not go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The log cannot be reached now: try again.
    #[error("the log cannot be reached: {0}")]
    Away(String),
    /// The outcome of an entry stays unknown.
    #[error("the outcome of an entry is unknown: {0}")]
    Unknown(String),
    /// Trying again does not help: the node stops applying.
    #[error("{0}")]
    Stopped(String),
}

impl From<LogError> for Fault {
    fn from(error: LogError) -> Self {
        match error {
            LogError::Away(text) | LogError::Unknown(text) => Fault::Away(text),
            LogError::Wrong(text) => Fault::Stopped(text),
        }
    }
}

/// The result of looking at the log as a follower.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    /// Entries applied now.
    pub applied: usize,
    /// Whether there may be more to apply at once.
    pub is_behind: bool,
    /// The last entry of the log when it was read; none if there may have been more.
    pub end: Option<i64>,
    /// The lease as it is; none if nobody ever took it.
    pub lease: Option<Lease>,
}

/// The result of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Committed {
    /// The entry is durable. The machine commits with this position, which is beyond the entry if an unknown outcome
    /// was settled by one without changes.
    At(Position),
    /// It is certainly not in the log: nothing happened, and the node still writes.
    Not,
    /// Another node writes now, or the outcome stays unknown: nothing may be answered, and the node follows.
    Moved,
}

/// A node of a cluster.
#[derive(Debug)]
pub struct Node<L> {
    log: L,
    name: String,
    address: String,
    ttl: Duration,
    clock: fn() -> i64,
}

impl<L: Log> Node<L> {
    /// A node with its name, the address at which the others reach it, the time after which a lease is free, and a clock
    /// in microseconds since 1970, which people read in entries: nothing is decided by it.
    pub fn new(log: L, name: &str, address: &str, ttl: Duration, clock: fn() -> i64) -> Self {
        Self {
            log,
            name: name.to_owned(),
            address: address.to_owned(),
            ttl,
            clock,
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The log, for figures about it.
    pub fn log(&mut self) -> &mut L {
        &mut self.log
    }

    /// Applies what other writers committed.
    ///
    /// # Errors
    /// If the log cannot be reached, or what is in it does not follow what the machine contains.
    pub fn follow(&mut self, machine: &mut impl Machine) -> Result<Followed, Fault> {
        let lease = self.log.lease()?;
        let durable = lease.as_ref().map_or(0, |lease| lease.durable);
        let here = machine.position().map_err(Fault::Stopped)?;
        let entries = self.log.read(here.position.saturating_add(1), READ_BYTES)?;
        let Some(last) = entries.last() else {
            self.check_end(here, machine)?;
            return Ok(Followed {
                applied: 0,
                is_behind: false,
                end: Some(here.position),
                lease,
            });
        };
        let last = last.position;
        let bytes = entries.iter().map(|entry| entry.body.len());
        let is_whole = bytes.sum::<usize>() < READ_BYTES;
        let mut applied = 0;
        for entry in &entries {
            if entry.position == last && durable < last {
                break;
            }
            self.apply(machine, entry)?;
            applied += 1;
        }
        Ok(Followed {
            applied,
            // The last one may be applied when the writer published it, the others were read at once.
            is_behind: applied > 1,
            end: is_whole.then_some(last),
            lease,
        })
    }

    /// Whether this node may try to take the lease: nobody has it, this node has it from before, or it has expired. The
    /// log decides.
    pub fn may_lead(&self, lease: Option<&Lease>) -> bool {
        lease.is_none_or(|lease| {
            lease.node.is_empty()
                || lease.node == self.name
                || u128::try_from(lease.age_ms).is_ok_and(|age| age > self.ttl.as_millis())
        })
    }

    /// Takes the lease and begins an epoch, if the lease is free: afterwards the machine contains everything that was
    /// ever answered, and this node alone can append.
    ///
    /// # Errors
    /// As [`Node::follow`].
    pub fn lead(&mut self, machine: &mut impl Machine) -> Result<Option<Lease>, Fault> {
        let Some(lease) = self.log.take(&self.name, &self.address, self.ttl)? else {
            return Ok(None);
        };
        loop {
            // The last entry of an earlier writer may not be durable: afterwards it is, or it is gone.
            let last = secure_last(&mut self.log)?;
            let last = last.map_or(0, |entry| entry.position);
            let reached = self.catch_up_to(machine, last);
            if let Err(Fault::Stopped(_)) = reached {
                // Not the node that writes next, such as one of an older version: the others need not wait for its lease.
                let _ = self.log.hand_over(&self.name, lease.epoch, None);
            }
            reached?;
            let hash = machine.hash();
            let own = Entry {
                position: last.saturating_add(1),
                epoch: lease.epoch,
                batch: random(),
                body: machine.opening(),
                hash_before: hash.clone(),
                hash_after: hash,
                at_us: (self.clock)(),
            };
            if self.append(&own)? {
                self.apply(machine, &own)?;
                return Ok(Some(lease));
            }
            // Another writer was faster: the lease decides.
            let now = self.log.lease()?;
            if now.is_none_or(|now| now.epoch != lease.epoch) {
                return Ok(None);
            }
        }
    }

    /// Applies everything up to a position that is durable.
    fn catch_up_to(&mut self, machine: &mut impl Machine, last: i64) -> Result<(), Fault> {
        loop {
            let here = machine.position().map_err(Fault::Stopped)?;
            if here.position >= last {
                return if here.position > last {
                    Err(self.ends_before(here, last))
                } else {
                    self.check_end(here, machine)
                };
            }
            let rest = self.log.read(here.position.saturating_add(1), READ_BYTES)?;
            if rest.is_empty() {
                let text = format!("entry {last} of the log was there and cannot be read");
                return Err(Fault::Away(text));
            }
            for entry in rest.iter().filter(|entry| entry.position <= last) {
                self.apply(machine, entry)?;
            }
        }
    }

    /// Appends until the outcome is known: true if the entry is durable, false if another one has its position.
    fn append(&mut self, entry: &Entry) -> Result<bool, Fault> {
        let mut tries = 0_u32;
        let mut appended = self.log.append(entry);
        loop {
            match appended {
                Ok(Appended::Done) => return Ok(true),
                Ok(Appended::Taken) => return Ok(false),
                Err(LogError::Unknown(text)) => {
                    tries = tries.saturating_add(1);
                    let position = entry.position;
                    tracing::warn!(
                        error = text,
                        position,
                        tries,
                        "an entry has an unknown outcome"
                    );
                    if tries > TRIES_MAX {
                        return Err(Fault::Unknown(text));
                    }
                    match settle(&mut self.log, entry) {
                        Ok(Settled::Done) => return Ok(true),
                        Ok(Settled::Taken) => return Ok(false),
                        Ok(Settled::Absent) => appended = self.log.append(entry),
                        // What is away now may have been sent before: only a known outcome ends this.
                        Err(error) => appended = Err(LogError::Unknown(error.to_string())),
                    }
                }
                // After an unknown outcome nothing is certain any more.
                Err(error) if tries > 0 => appended = Err(LogError::Unknown(error.to_string())),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Appends an entry of the writer with this epoch, and waits for it.
    pub fn commit(
        &mut self,
        here: Position,
        body: Vec<u8>,
        (hash_before, hash_after): (Vec<u8>, Vec<u8>),
    ) -> Committed {
        let entry = Entry {
            position: here.position.saturating_add(1),
            epoch: here.epoch,
            batch: random(),
            body,
            hash_before,
            hash_after,
            at_us: (self.clock)(),
        };
        match self.append(&entry) {
            Ok(true) => Committed::At(Position {
                position: entry.position,
                epoch: entry.epoch,
            }),
            Ok(false) | Err(Fault::Unknown(_)) => Committed::Moved,
            Err(fault) => {
                tracing::warn!(error = %fault, "nothing was written to the log");
                Committed::Not
            }
        }
    }

    /// Applies one entry that is durable.
    fn apply(&self, machine: &mut impl Machine, entry: &Entry) -> Result<(), Fault> {
        let here = machine.position().map_err(Fault::Stopped)?;
        let stopped = |text: String| {
            Fault::Stopped(format!(
                "node {} stopped at position {}: {text}",
                self.name, entry.position
            ))
        };
        if entry.position != here.position.saturating_add(1) {
            return Err(stopped(format!(
                "the log has no entry {}: it has a gap, or was trimmed below what this node needs. Make the node again \
                 with `bankd cluster join`",
                here.position.saturating_add(1)
            )));
        }
        if entry.epoch < here.epoch {
            return Err(stopped(format!(
                "its epoch {} is before epoch {} of the entry before",
                entry.epoch, here.epoch
            )));
        }
        if entry.hash_before != machine.hash() {
            return Err(stopped(
                "the journal of this node ends with another transaction than that of the writer. Make the node again \
                 with `bankd cluster join`"
                    .to_owned(),
            ));
        }
        machine.apply(entry).map_err(stopped)
    }

    /// What the log has at the end must be what the machine contains.
    fn check_end(&mut self, here: Position, machine: &impl Machine) -> Result<(), Fault> {
        if here.position == 0 {
            return Ok(());
        }
        let Some(same) = self.log.find(here.position)? else {
            let last = self.log.last()?;
            return Err(self.ends_before(here, last));
        };
        if same.epoch == here.epoch && same.hash_after == machine.hash() {
            return Ok(());
        }
        Err(self.is_another(here, "has another entry there"))
    }

    fn ends_before(&self, here: Position, last: i64) -> Fault {
        self.is_another(here, &format!("ends at {last}"))
    }

    fn is_another(&self, here: Position, what: &str) -> Fault {
        Fault::Stopped(format!(
            "node {} is at position {}, and the log {what}: it is another log, or it lost entries. Restore the log, or \
             make the node again with `bankd cluster join`",
            self.name, here.position
        ))
    }
}

fn random() -> [u8; 16] {
    *uuid::Uuid::new_v4().as_bytes()
}

#[cfg(test)]
mod tests;
