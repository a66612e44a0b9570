//! The clocks of this client. They date signatures and limit retries, and decide nothing about money.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Now, in microseconds since 1970 UTC; 0 on a machine whose clock is before that.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place of clients that reads the time of day"
)]
pub fn now_us() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

/// Waits for this long.
pub fn wait(time: Duration) {
    let watch = Stopwatch::start();
    // A parked thread may wake for no reason.
    while let Some(left) = time
        .checked_sub(watch.elapsed())
        .filter(|left| !left.is_zero())
    {
        std::thread::park_timeout(left);
    }
}

/// The instant at which something began, to measure its duration.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Begins now.
    #[must_use]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// The time since then.
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}
