//! The one place of this program that reads a clock, a time zone, or waits.
//!
//! The clock is used to resolve time arguments (`today`, `-30d`), to say how old something is, and
//! to date a signature. It must never decide anything about money: the ledger clock is the daemon's.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use chrono::{DateTime, FixedOffset, Local, Offset as _, TimeZone as _, Utc};

/// Now, in microseconds since 1970 UTC; 0 on a machine whose clock stands before that.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn now_us() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

/// Waits; used between two looks at the journal, and before something is sent again.
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

/// The zone in which times are read and shown.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Zone {
    /// That of the machine (`TZ`).
    Local,
    /// A fixed one, for tests.
    #[cfg(test)]
    Fixed(FixedOffset),
}

impl Zone {
    /// The offset of this zone at a moment.
    pub(crate) fn offset_at(self, us: i64) -> FixedOffset {
        let utc = DateTime::<Utc>::from_timestamp_micros(us)
            .unwrap_or_default()
            .naive_utc();
        match self {
            Self::Local => Local.offset_from_utc_datetime(&utc).fix(),
            #[cfg(test)]
            Self::Fixed(offset) => offset,
        }
    }

    /// A moment as this zone's wall clock, with its offset.
    pub(crate) fn show(self, us: i64) -> DateTime<FixedOffset> {
        let utc = DateTime::<Utc>::from_timestamp_micros(us).unwrap_or_default();
        utc.with_timezone(&self.offset_at(us))
    }
}
