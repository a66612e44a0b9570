//! Numbers by chance that a seed repeats.

/// A small generator of numbers (xorshift), so that a seed repeats a run.
#[derive(Debug)]
pub(crate) struct Numbers(u64);

impl Numbers {
    /// From `BANK_TEST_SEED`, else from the clock; printed.
    pub(crate) fn new(name: &str) -> Self {
        let given = std::env::var_os("BANK_TEST_SEED").and_then(|seed| seed.into_string().ok());
        let given = given.and_then(|seed| seed.parse().ok());
        let seed = given.unwrap_or_else(|| u64::from_le_bytes(uuid_bytes()));
        eprintln!("{name}: BANK_TEST_SEED={seed}");
        Self(seed | 1)
    }

    /// From `least` to `most`, both included.
    pub(crate) fn between(&mut self, least: u64, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        least + self.0 % (most - least + 1)
    }
}

fn uuid_bytes() -> [u8; 8] {
    let bytes = uuid::Uuid::new_v4().into_bytes();
    bytes[..8].try_into().unwrap()
}
