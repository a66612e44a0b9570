//! What a cluster was made of, and when: factors of hosts, and capacity.

use super::host::Pattern;
use super::spread::Span;
use crate::time::{Timestamp, Window};

/// A factor of one, in billionths.
pub const FACTOR_ONE: u64 = 1_000_000_000;

/// Nodes of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Hosts that it has; every host of its machine where there are none.
    pub hosts: Vec<Pattern>,
    /// Only hosts of this machine; of every machine where it is empty.
    pub machine: String,
    /// What an hour of a processor counts, in billionths.
    pub factor: u64,
    /// Processors of one node.
    pub processors: u64,
    /// How many nodes.
    pub nodes: u64,
    /// Whether it adds to the capacity.
    pub counts: bool,
    /// When it is there.
    pub valid: Window,
}

impl Kind {
    fn is_of(&self, machine: &str) -> bool {
        self.machine.is_empty() || self.machine == machine
    }

    fn has(&self, machine: &str, host: Option<&str>) -> bool {
        let fits = |host: &str| self.hosts.iter().any(|pattern| pattern.fits(host));
        self.is_of(machine) && (self.hosts.is_empty() || host.is_some_and(fits))
    }

    /// What it can give in a span, in the units of usage; none where that does not fit.
    fn capacity(&self, span: Span) -> Option<u128> {
        if !self.counts {
            return Some(0);
        }
        let millis = u128::from(self.processors)
            .checked_mul(u128::from(self.nodes))?
            .checked_mul(1_000)?;
        let work = millis.checked_mul(u128::from(span.shared(&self.valid)))?;
        work.checked_mul(u128::from(self.factor))
    }
}

/// What an hour of a processor counts for a job that began on a host, in billionths: that of the first
/// kind in their order that has the host and was there. Where no host is known, the only factor that
/// the kinds of its machine had then. Else one.
pub fn factor(kinds: &[Kind], machine: &str, host: Option<&str>, start: Timestamp) -> u64 {
    let there = || kinds.iter().filter(|kind| kind.valid.contains(start));
    if let Some(kind) = there().find(|kind| kind.has(machine, host)) {
        return kind.factor;
    }
    if host.is_some() {
        return FACTOR_ONE;
    }
    let mut own = there().filter(|kind| !kind.machine.is_empty() && kind.is_of(machine));
    let only = own.next().map(|kind| kind.factor);
    only.filter(|factor| own.all(|kind| kind.factor == *factor))
        .unwrap_or(FACTOR_ONE)
}

/// What the kinds of a machine can give in a span, or those of all machines where none is named, in
/// the units of usage; none where that does not fit.
pub fn capacity(kinds: &[Kind], machine: Option<&str>, span: Span) -> Option<u128> {
    let own = |kind: &&Kind| machine.is_none_or(|name| kind.machine == name);
    let mut sum = 0_u128;
    for kind in kinds.iter().filter(own) {
        sum = sum.checked_add(kind.capacity(span)?)?;
    }
    Some(sum)
}
