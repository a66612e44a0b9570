//! When a call is repeated, and after which wait.

use std::time::Duration;

use crate::error::Error;

/// Limits of repeating a call that no server answered, or that a server was too busy for.
///
/// The wait doubles from [`Retry::first_wait`] to [`Retry::longest_wait`] and varies by up to half, so that many
/// clients do not come back at the same moment. A server's `Retry-After` lengthens it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// Repeats after the first attempt, in which each server is tried once.
    pub repeats: u32,
    /// Wait before the first repeat.
    pub first_wait: Duration,
    /// Longest wait between two attempts, unless a server requires more.
    pub longest_wait: Duration,
    /// No attempt begins later than this after the call began.
    pub total: Duration,
}

impl Retry {
    /// Each server is tried once.
    pub const NONE: Self = Self {
        repeats: 0,
        first_wait: Duration::ZERO,
        longest_wait: Duration::ZERO,
        total: Duration::ZERO,
    };

    /// The wait before the next attempt, after `tried` repeats and `elapsed` time; `None` if it may not begin.
    pub(crate) fn next(self, error: &Error, tried: u32, elapsed: Duration) -> Option<Duration> {
        if tried >= self.repeats || !error.is_passing() {
            return None;
        }
        let usual = wait(self.first_wait, self.longest_wait, tried, jitter());
        let pause = usual.max(error.retry_after().unwrap_or_default());
        (elapsed.saturating_add(pause) <= self.total).then_some(pause)
    }
}

impl Default for Retry {
    /// Up to 8 repeats within 30 seconds, with waits from 0.1 to 5 seconds.
    fn default() -> Self {
        Self {
            repeats: 8,
            first_wait: Duration::from_millis(100),
            longest_wait: Duration::from_secs(5),
            total: Duration::from_secs(30),
        }
    }
}

/// The wait before the next attempt: `first`, doubled `tried` times up to `longest`, and up to half of it
/// more by `jitter`.
pub fn wait(first: Duration, longest: Duration, tried: u32, jitter: u8) -> Duration {
    let doubled = first.saturating_mul(1_u32.checked_shl(tried).unwrap_or(u32::MAX));
    let base = doubled.min(longest);
    base.saturating_add(base.saturating_mul(u32::from(jitter)) / 512)
}

/// A random number for [`wait`].
pub fn jitter() -> u8 {
    let mut byte = [0];
    // Without random numbers the waits vary less.
    let _ = getrandom::fill(&mut byte);
    u8::from_le_bytes(byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_are_spread() {
        let (second, longest) = (Duration::from_secs(1), Duration::from_mins(2));
        assert_eq!(wait(second, longest, 0, 0), second);
        assert_eq!(wait(second, longest, 2, 0), Duration::from_secs(4));
        let most = wait(second, longest, 2, 255);
        assert!(most > Duration::from_secs(5) && most < Duration::from_secs(6));
        assert_eq!(wait(second, longest, 40, 0), longest);
    }

    #[test]
    fn limits_end_the_repeats() {
        let away = Error::Unreachable {
            server: "s".into(),
            why: "refused".into(),
            key: None,
        };
        let retry = Retry {
            repeats: 2,
            first_wait: Duration::from_secs(1),
            longest_wait: Duration::from_secs(1),
            total: Duration::from_secs(10),
        };
        assert!(retry.next(&away, 1, Duration::ZERO).is_some());
        assert_eq!(retry.next(&away, 2, Duration::ZERO), None);
        assert_eq!(retry.next(&away, 0, Duration::from_secs(10)), None);
        assert_eq!(Retry::NONE.next(&away, 0, Duration::ZERO), None);
        let wrong = Error::Internal("x".into());
        assert_eq!(retry.next(&wrong, 0, Duration::ZERO), None);
    }
}
