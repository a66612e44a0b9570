//! Seats of connections: how many there are, and how many of them each address has.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bankd_listen::Who;

/// Connections that have all the time of the protocol (`gold-wire.md` 1.2).
pub(super) const SEATS: usize = 256;
/// Connections beside them that have only a moment; more wait in the system's queue.
pub(super) const STANDING: usize = 768;

/// The seats that have all the time of the protocol: so many, and no address has more than its share.
#[derive(Debug)]
pub(super) struct Rows {
    most: usize,
    of_one: usize,
    taken: Mutex<BTreeMap<Who, usize>>,
}

/// A seat, until it is dropped.
#[derive(Debug)]
pub(super) struct Taken {
    rows: Arc<Rows>,
    who: Who,
}

impl Rows {
    pub(super) fn new(most: usize, of_one: usize) -> Rows {
        Rows {
            most,
            of_one,
            taken: Mutex::default(),
        }
    }

    pub(super) fn take(self: &Arc<Self>, who: Who) -> Option<Taken> {
        let mut taken = self.taken();
        let all: usize = taken.values().sum();
        let own = taken.get(&who).copied().unwrap_or_default();
        if all >= self.most || own >= self.of_one {
            return None;
        }
        taken.insert(who, own + 1);
        Some(Taken {
            rows: Arc::clone(self),
            who,
        })
    }

    fn taken(&self) -> MutexGuard<'_, BTreeMap<Who, usize>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let mut taken = self.rows.taken();
        if let Some(own) = taken.get_mut(&self.who) {
            *own = own.saturating_sub(1);
            if *own == 0 {
                taken.remove(&self.who);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_has_its_share_of_the_seats() {
        let rows = Arc::new(Rows::new(4, 3));
        let who = |text: &str| Who::host(text.parse().unwrap());
        let (one, other) = (who("10.0.0.1"), who("10.0.0.2"));
        let mut own: Vec<Taken> = (0..3).map(|_| rows.take(one).unwrap()).collect();
        assert!(rows.take(one).is_none(), "it has its share");
        let last = rows.take(other).unwrap();
        own.pop();
        let again = rows.take(one).unwrap();
        assert!(rows.take(other).is_none(), "all are taken");
        drop((own, last, again));
        assert!(rows.taken().is_empty());
    }
}
