//! Chance that can be repeated.

/// A small generator of numbers (xorshift), so that a seed repeats a run.
#[derive(Debug)]
pub(crate) struct Numbers(u64);

impl Numbers {
    /// From `BANK_TEST_SEED`, else from chance; printed.
    pub(crate) fn new(name: &str) -> Self {
        let given = std::env::var_os("BANK_TEST_SEED").and_then(|seed| seed.into_string().ok());
        let given = given.and_then(|seed| seed.parse().ok());
        let seed: u64 = given.unwrap_or_else(|| uuid::Uuid::new_v4().as_u64_pair().0);
        eprintln!("{name}: BANK_TEST_SEED={seed}");
        Self(seed | 1)
    }

    /// From `least` to `most`, both included.
    pub(crate) fn between(&mut self, least: u64, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        least + (self.0 >> 16) % (most - least + 1)
    }

    /// True once in so many times.
    pub(crate) fn once_in(&mut self, times: u64) -> bool {
        self.between(1, times) == 1
    }

    /// So many seconds, from `least` to `most`, both included and not negative.
    pub(crate) fn seconds(&mut self, least: i64, most: i64) -> i64 {
        let bound = |seconds: i64| u64::try_from(seconds).unwrap();
        i64::try_from(self.between(bound(least), bound(most))).unwrap()
    }
}
