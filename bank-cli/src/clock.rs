//! The clocks of this program, which are those of its client, and the clock of collectors.
//!
//! The clock is used to resolve time arguments (`today`, `-30d`), to say how old something is, and
//! to date a signature. It must never decide anything about money: the ledger clock is the daemon's.

pub(crate) use bank_client::clock::{Stopwatch, now_us, wait};

/// Now for a collector, µs since 1970 UTC; in builds with the feature `test-hooks` what the file named
/// by `BANK_TEST_CLOCK` says, in seconds.
pub(crate) fn collector_now_us() -> i64 {
    #[cfg(feature = "test-hooks")]
    if let Some(file) = crate::config::test_clock() {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let first = text.split_whitespace().next();
        let seconds: i64 = first.and_then(|word| word.parse().ok()).unwrap_or(0);
        return seconds.saturating_mul(1_000_000);
    }
    now_us()
}
