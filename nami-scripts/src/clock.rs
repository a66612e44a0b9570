//! The one place that reads clocks, and the time budget of a call.
//!
//! Two clocks (decisions.md 9). The real one dates signatures. The event time of a document comes
//! from the real one too, except in builds with feature `test-hooks`: there the file named by
//! `BANKD_TEST_CLOCK` contains it, as for the daemon.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// µs since 1970 UTC by the real clock.
#[allow(clippy::disallowed_methods, reason = "the one clock of the scripts")]
pub(crate) fn now_us() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

/// µs since 1970 UTC at which the event counts as having happened.
#[cfg(not(feature = "test-hooks"))]
pub(crate) fn event_time_us() -> i64 {
    now_us()
}

/// µs since 1970 UTC at which the event counts as having happened: the test clock, if one is named.
#[cfg(feature = "test-hooks")]
pub(crate) fn event_time_us() -> i64 {
    std::env::var_os("BANKD_TEST_CLOCK")
        .and_then(|path| std::fs::read_to_string(path).ok())
        .and_then(|text| parse_test_clock(&text))
        .unwrap_or_else(now_us)
}

/// The content of a test clock: RFC 3339, or whole seconds, or µs since 1970. The size decides: in
/// seconds, 10^11 would be the year 5138.
#[cfg(any(feature = "test-hooks", test))]
fn parse_test_clock(text: &str) -> Option<i64> {
    let text = text.trim();
    match text.parse::<i64>() {
        Ok(count) if count.abs() < 100_000_000_000 => count.checked_mul(1_000_000),
        Ok(micros) => Some(micros),
        Err(_) => bank_api::text::parse_rfc3339(text),
    }
}

/// A moment by which something must be over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline(Instant);

impl Deadline {
    /// So long from now.
    pub(crate) fn after(time: Duration) -> Self {
        Self(Instant::now() + time)
    }

    /// The remaining time; `None` if it is over.
    pub(crate) fn remaining(self) -> Option<Duration> {
        let left = self.0.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    /// The moment at which half of the remaining time is over.
    pub(crate) fn half(self) -> Self {
        self.part(2)
    }

    /// The moment at which one of `parts` equal parts of the remaining time is over; 1 for itself.
    pub(crate) fn part(self, parts: u32) -> Self {
        match parts {
            0 | 1 => self,
            _ => Self::after(self.remaining().unwrap_or_default() / parts),
        }
    }

    /// This deadline, or so long from now if that is earlier.
    pub(crate) fn at_most(self, time: Duration) -> Self {
        let limit = Self::after(time);
        if limit.0 < self.0 { limit } else { self }
    }

    /// Waits for a time, or until the deadline if that is nearer; false if the deadline is reached.
    pub(crate) fn pause(self, time: Duration) -> bool {
        let until = Self::after(time.min(self.remaining().unwrap_or_default()));
        while let Some(left) = until.remaining() {
            std::thread::park_timeout(left);
        }
        self.remaining().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_clock_forms() {
        for (text, expected) in [
            ("2026-01-01T00:00:00Z\n", Some(1_767_225_600_000_000)),
            ("1767225600\n", Some(1_767_225_600_000_000)),
            ("1767225600000001", Some(1_767_225_600_000_001)),
            ("0", Some(0)),
            ("", None),
            ("soon", None),
        ] {
            assert_eq!(parse_test_clock(text), expected, "{text}");
        }
    }

    #[test]
    fn a_deadline_that_is_over_leaves_nothing() {
        let over = Deadline::after(Duration::ZERO);
        assert_eq!(over.remaining(), None);
        assert!(!over.pause(Duration::from_mins(1)));
        assert!(
            Deadline::after(Duration::from_mins(1))
                .half()
                .remaining()
                .is_some()
        );
    }
}
