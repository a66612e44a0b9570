//! Look-ups by name: some twenty for each command, so the hash is short. It begins with a random number, so
//! that nobody can choose names with the same hash.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

/// A map with a hash of few steps.
type Quick<K, V> = HashMap<K, V, Seed>;

/// By name.
pub(super) type Names<V> = Quick<String, V>;

/// Where the hashes of a map begin.
#[derive(Clone, Debug)]
pub(super) struct Seed(u64);

impl Default for Seed {
    fn default() -> Seed {
        Seed(RandomState::new().hash_one(0_u64))
    }
}

impl BuildHasher for Seed {
    type Hasher = Mixed;

    fn build_hasher(&self) -> Mixed {
        Mixed(self.0)
    }
}

/// A hash on its way: 64 bits at a time.
pub(super) struct Mixed(u64);

impl Hasher for Mixed {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.write_u64(u64::from_le_bytes(*word));
        }
        if !rest.is_empty() {
            // The number of bytes comes first, so that zeros at the end count.
            let length = u64::try_from(rest.len()).unwrap_or_default();
            let last = rest.iter().rev();
            self.write_u64(last.fold(length, |word, byte| (word << 8) | u64::from(*byte)));
        }
    }

    fn write_u8(&mut self, byte: u8) {
        self.write_u64(byte.into());
    }

    fn write_u64(&mut self, word: u64) {
        // The product's upper bits depend on all others; they are what is taken first next time.
        let mixed = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_that_differ_hash_differently() {
        let seed = Seed::default();
        let names = (0..10_000).map(|n| format!("project{n:05}"));
        let all: HashSet<u64> = names.map(|name| seed.hash_one(name)).collect();
        assert_eq!(all.len(), 10_000);
        // Those that begin alike too, and those with zeros behind them.
        assert_ne!(seed.hash_one("abcdefgh"), seed.hash_one("abcdefgh\0"));
        assert_ne!(seed.hash_one("a"), seed.hash_one("a\0"));
        assert_ne!(seed.hash_one((1_i64, 2_i64)), seed.hash_one((2_i64, 1_i64)));
    }

    #[test]
    fn hashes_of_many_names_fill_a_table_evenly() {
        let seed = Seed(1);
        let mut places = [0_u32; 256];
        for n in 0..25_600 {
            let hash = seed.hash_one(format!("user{n:05}"));
            places[usize::try_from(hash & 0xff).unwrap()] += 1;
        }
        assert!(
            places.iter().all(|count| (40..=180).contains(count)),
            "{places:?}"
        );
    }

    #[test]
    fn each_map_begins_elsewhere() {
        let (one, other) = (Seed::default(), Seed::default());
        assert_ne!(one.hash_one("chemistry"), other.hash_one("chemistry"));
    }
}
