//! Hardware of a cluster over time: factors of hosts, and capacity.

use super::spread::Span;
use bank_core::host::Pattern;
use bank_core::time::{Timestamp, Window};
use std::collections::HashMap;

/// Size of the cache of hosts and their kinds.
const HOSTS: usize = 50_000;

/// A factor of one, in billionths.
pub const FACTOR_ONE: u64 = 1_000_000_000;

/// Nodes of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Hosts that it has; every host of its machine where there are none.
    pub hosts: Vec<Pattern>,
    /// Only hosts of this machine; of every machine where it is empty.
    pub machine: String,
    /// The factor of a processor-hour, in billionths.
    pub factor: u64,
    /// Processors of one node.
    pub processors: u64,
    /// The number of nodes.
    pub nodes: u64,
    /// Whether it adds to the capacity.
    pub counts: bool,
    /// When it is there.
    pub valid: Window,
    /// When nodes of it are known not to work.
    pub down: Vec<Down>,
}

/// Nodes that are known not to work for a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Down {
    /// The number of nodes; none for all nodes of the kind.
    pub nodes: Option<u64>,
    /// When.
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

    /// Its capacity in a span, in the units of usage; none if that does not fit.
    fn capacity(&self, span: Span) -> Option<u128> {
        if !self.counts {
            return Some(0);
        }
        let Some(there) = span.within(&self.valid) else {
            return Some(0);
        };
        let all = u128::from(self.nodes).checked_mul(u128::from(there.micros()))?;
        let up = all.checked_sub(self.lost(there)?)?;
        let work = up.checked_mul(u128::from(self.processors))?;
        work.checked_mul(u128::from(self.factor))
    }

    /// Nodes × microseconds of a span in which they were down. Simultaneous downtimes count separate nodes,
    /// up to the number of nodes; none if that does not fit.
    fn lost(&self, there: Span) -> Option<u128> {
        let all = u128::from(self.nodes);
        let mut changes = Vec::new();
        for own in &self.down {
            if let Some(span) = there.within(&own.valid) {
                let nodes = own.nodes.map_or(all, u128::from);
                changes.push((span.from(), true, nodes));
                changes.push((span.to(), false, nodes));
            }
        }
        changes.sort_unstable();
        let (mut upto, mut down, mut lost) = (there.from(), 0_u128, 0_u128);
        for (at, begins, nodes) in changes {
            let passed = u128::from(at.0.abs_diff(upto.0));
            lost = lost.checked_add(down.min(all).checked_mul(passed)?)?;
            down = if begins {
                down.checked_add(nodes)?
            } else {
                down.checked_sub(nodes)?
            };
            upto = at;
        }
        Some(lost)
    }
}

/// Factors of many uses: which kinds have a host is found once for each.
#[derive(Clone, Debug, Default)]
pub struct Factors {
    kinds: Vec<Kind>,
    /// By machine and host, the places of the kinds that have it, in their order.
    known: HashMap<String, HashMap<String, Box<[usize]>>>,
    hosts: usize,
}

impl Factors {
    /// By kinds in their order.
    pub fn new(kinds: Vec<Kind>) -> Factors {
        Factors {
            kinds,
            known: HashMap::new(),
            hosts: 0,
        }
    }

    /// As [`factor`] says it.
    pub fn of(&mut self, machine: &str, host: Option<&str>, start: Timestamp) -> u64 {
        // Most banks have no hardware, and nothing is looked for.
        if self.kinds.is_empty() {
            return FACTOR_ONE;
        }
        let Some(host) = host else {
            return factor(&self.kinds, machine, None, start);
        };
        if self
            .known
            .get(machine)
            .is_none_or(|own| !own.contains_key(host))
        {
            self.look(machine, host);
        }
        let places = self.known.get(machine).and_then(|own| own.get(host));
        let mut own = places
            .into_iter()
            .flatten()
            .filter_map(|place| self.kinds.get(*place));
        own.find(|kind| kind.valid.contains(start))
            .map_or(FACTOR_ONE, |kind| kind.factor)
    }

    fn look(&mut self, machine: &str, host: &str) {
        if self.hosts >= HOSTS {
            self.known.clear();
            self.hosts = 0;
        }
        let all = self.kinds.iter().enumerate();
        let places = all.filter(|(_, kind)| kind.has(machine, Some(host)));
        let places = places.map(|(place, _)| place).collect();
        let own = self.known.entry(machine.to_owned()).or_default();
        own.insert(host.to_owned(), places);
        self.hosts = self.hosts.saturating_add(1);
    }
}

/// The factor of a processor-hour, in billionths, for a job that began on a host: that of the first installed
/// kind that matches the host. If no host is known, the only factor of the machine's kinds at that time. Else
/// one.
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

/// The capacity of a machine's kinds in a span, or of all machines if none is named, in the units of usage;
/// none if that does not fit.
pub fn capacity(kinds: &[Kind], machine: Option<&str>, span: Span) -> Option<u128> {
    let own = |kind: &&Kind| machine.is_none_or(|name| kind.machine == name);
    let mut sum = 0_u128;
    for kind in kinds.iter().filter(own) {
        sum = sum.checked_add(kind.capacity(span)?)?;
    }
    Some(sum)
}
