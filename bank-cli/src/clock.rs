//! The one place of this program that reads a clock or waits.
//!
//! The clock is used to resolve time arguments (`today`, `-30d`), to say how old something is, and
//! to date a signature. It must never decide anything about money: the ledger clock is the daemon's.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Now, in microseconds since 1970 UTC; 0 on a machine whose clock stands before that.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn now_us() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

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

/// Waits; used between two looks at the journal, before something is sent again, and between two
/// rounds of a collector.
pub(crate) fn wait(time: Duration) {
    std::thread::park_timeout(time);
}

/// The instant at which something began, to tell how long it takes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    /// Begins now.
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    /// The time since then.
    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}
