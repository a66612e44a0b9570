//! The stored nonces of each key (`http-auth.md` 2).
//!
//! Each key has a separate share, so no client can push out another's nonces. For a nonce that is dropped
//! here, or lost by a restart, the stored answer of the command prevents a repeat.

use std::collections::hash_map::RandomState;
use std::collections::{HashSet, VecDeque};
use std::hash::BuildHasher;

/// The nonces of one key, at most a fixed number of them.
///
/// A nonce is kept as a 64-bit hash under a random key of this process: about 30 bytes an entry. Two
/// nonces that share a hash would cost the later one a 401, once in 10¹³ requests of a full share.
#[derive(Debug)]
pub(crate) struct Replay {
    hasher: RandomState,
    seen: HashSet<u64>,
    /// Expiry in seconds since 1970, and hash, in order of arrival.
    order: VecDeque<(i64, u64)>,
    most: usize,
}

impl Replay {
    /// An empty memory for at most so many nonces, at least one.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            hasher: RandomState::new(),
            seen: HashSet::new(),
            order: VecDeque::new(),
            most: most.max(1),
        }
    }

    /// Remembers a nonce until `expires_s`; false if it is remembered already. A full share loses
    /// its own oldest entry.
    pub(crate) fn accept(&mut self, nonce: &str, expires_s: i64, now_s: i64) -> bool {
        let over = |front: &(i64, u64)| front.0 < now_s;
        while self.order.front().is_some_and(over) || self.order.len() > self.most {
            self.forget_oldest();
        }
        let hash = self.hasher.hash_one(nonce);
        if !self.seen.insert(hash) {
            return false;
        }
        self.order.push_back((expires_s, hash));
        if self.order.len() > self.most {
            self.forget_oldest();
        }
        true
    }

    fn forget_oldest(&mut self) {
        if let Some((_, hash)) = self.order.pop_front() {
            self.seen.remove(&hash);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nonce_counts_once_until_its_time_is_over() {
        let mut replay = Replay::new(100);
        for (nonce, expires, now, expected) in [
            ("n-000001", 1300, 1000, true),
            ("n-000001", 1300, 1001, false),
            ("n-000002", 1600, 1001, true),
            ("n-000001", 1300, 1300, false),
            ("n-000001", 1601, 1301, true),
            ("n-000002", 1600, 1302, false),
        ] {
            assert_eq!(
                replay.accept(nonce, expires, now),
                expected,
                "{nonce} at {now}"
            );
        }
    }

    #[test]
    fn a_full_share_loses_its_own_oldest() {
        let mut replay = Replay::new(2);
        for nonce in ["n-000001", "n-000002", "n-000003"] {
            assert!(replay.accept(nonce, 1300, 1000));
        }
        assert!(!replay.accept("n-000003", 1300, 1000));
        assert!(!replay.accept("n-000002", 1300, 1000));
        assert!(replay.accept("n-000001", 1300, 1000));
        assert_eq!(replay.order.len(), 2);
        assert_eq!(replay.seen.len(), 2);
    }
}
