//! Limits log lines about rejected connections, so that strangers cannot fill a disk.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Lines in a [`WHILE`].
const MOST: u32 = 100;
/// The interval of the count.
const WHILE: Duration = Duration::from_secs(1);

/// Counts lines, and those that were left out.
#[derive(Debug, Default)]
pub(super) struct Lines(Mutex<Counted>);

#[derive(Debug, Default)]
struct Counted {
    since: Option<Instant>,
    written: u32,
    left_out: u64,
}

impl Lines {
    /// The number of omitted lines before this one, which may be written; `None` if it may not.
    pub(super) fn next(&self) -> Option<u64> {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if counted.since.is_none_or(|since| now - since >= WHILE) {
            counted.since = Some(now);
            counted.written = 0;
        }
        if counted.written >= MOST {
            counted.left_out = counted.left_out.saturating_add(1);
            return None;
        }
        counted.written += 1;
        Some(std::mem::take(&mut counted.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn lines_over_the_limit_are_counted_and_reported_later() {
        let lines = Lines::default();
        for _ in 0..MOST {
            assert_eq!(lines.next(), Some(0));
        }
        assert_eq!((lines.next(), lines.next()), (None, None));
        tokio::time::advance(WHILE).await;
        assert_eq!((lines.next(), lines.next()), (Some(2), Some(0)));
    }
}
