//! The state that all connections share, and the faults of calls.

use std::collections::BTreeMap;

use super::{Faults, Met};
use crate::log::{Appended, Entry, Lease, NodeRow};

pub(super) struct Writer {
    pub(super) lease: Lease,
    pub(super) heir: Option<String>,
    pub(super) seen: u64,
}

pub(super) struct Shared {
    pub(super) entries: BTreeMap<i64, Entry>,
    pub(super) durable: i64,
    pub(super) late: Vec<Entry>,
    pub(super) writer: Option<Writer>,
    pub(super) nodes: BTreeMap<String, (NodeRow, u64)>,
    pub(super) secret: Vec<u8>,
    pub(super) keys: BTreeMap<String, Vec<u8>>,
    /// Milliseconds since the start.
    pub(super) now: u64,
    pub(super) faults: Faults,
    pub(super) met: Met,
    pub(super) chance: u64,
}

/// The fault of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    Away,
    Kept,
    Lost,
    Weak,
    Late,
    Twice,
}

impl Shared {
    /// The next random number (`SplitMix64`).
    pub(super) fn random(&mut self) -> u64 {
        self.chance = self.chance.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.chance;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// The fault of the next call. A delayed statement may arrive before it.
    pub(super) fn fault(&mut self) -> Fault {
        if !self.late.is_empty() && self.random().is_multiple_of(4) {
            self.arrive();
        }
        if self.random() % 1000 < u64::from(self.faults.fail_over) {
            self.met.faults.fail_over += 1;
            self.fail_over();
        }
        let mut drawn = self.random() % 1000;
        let (faults, met) = (self.faults, &mut self.met.faults);
        for (fault, count, met) in [
            (Fault::Away, faults.away, &mut met.away),
            (Fault::Kept, faults.kept, &mut met.kept),
            (Fault::Lost, faults.lost, &mut met.lost),
            (Fault::Weak, faults.weak, &mut met.weak),
            (Fault::Late, faults.late, &mut met.late),
            (Fault::Twice, faults.twice, &mut met.twice),
        ] {
            let count = u64::from(count);
            if drawn < count {
                *met += 1;
                return fault;
            }
            drawn -= count;
        }
        Fault::None
    }

    pub(super) fn fail_over(&mut self) {
        let (durable, before) = (self.durable, self.entries.len());
        self.entries.retain(|position, _| *position <= durable);
        self.met.vanished += before.saturating_sub(self.entries.len());
        self.late.clear();
    }

    /// The oldest delayed statement arrives. Half of the time its commit does not reach the standby.
    pub(super) fn arrive(&mut self) {
        let entry = self.late.remove(0);
        let position = entry.position;
        let durable = self.random().is_multiple_of(2);
        if self.land(entry) == Some(Appended::Done) && durable {
            self.durable = self.durable.max(position);
        }
    }

    pub(super) fn last(&self) -> i64 {
        self.entries.last_key_value().map_or(0, |(last, _)| *last)
    }

    /// Puts an entry into the log, where it is visible and not durable yet. None after a gap.
    pub(super) fn land(&mut self, entry: Entry) -> Option<Appended> {
        let last = self.last();
        if let Some(found) = self.entries.get(&entry.position) {
            return Some(if found.batch == entry.batch {
                Appended::Done
            } else {
                Appended::Taken
            });
        }
        if entry.position <= last {
            return Some(Appended::Taken);
        }
        if entry.position > last + 1 {
            return None;
        }
        self.entries.insert(entry.position, entry);
        Some(Appended::Done)
    }

    /// The lease, if this node has it with this epoch.
    pub(super) fn held(&mut self, node: &str, epoch: i64) -> Option<&mut Writer> {
        let writer = self.writer.as_mut()?;
        (writer.lease.node == node && writer.lease.epoch == epoch).then_some(writer)
    }

    pub(super) fn take(&mut self, node: &str, address: &str, ttl: u64) -> Option<Lease> {
        let now = self.now;
        let mut lease = Lease {
            epoch: 1,
            node: node.to_owned(),
            address: address.to_owned(),
            durable: 0,
            age_ms: 0,
        };
        if let Some(writer) = &self.writer {
            let own = writer.lease.node == node;
            let heir = writer.heir.as_deref();
            let free = writer.lease.node.is_empty() && heir.is_none_or(|heir| heir == node);
            if !(own || free || now.saturating_sub(writer.seen) > ttl) {
                return None;
            }
            lease.epoch = writer.lease.epoch + 1;
            lease.durable = writer.lease.durable;
        }
        self.writer = Some(Writer {
            lease: lease.clone(),
            heir: None,
            seen: now,
        });
        Some(lease)
    }
}
