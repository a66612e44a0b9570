//! The clocks, and everything else that differs from run to run: the only room of the daemon that
//! reads the time of day.
//!
//! There are two clocks (decision 9). The *ledger clock* says when money moves; a test bank may
//! read it from a file. The *authentication clock* is always the real one: a test must not be able
//! to make an old signature valid.

use std::time::{Duration, Instant};

use bank_core::time::{MICROS, Timestamp};

/// When money moves: microseconds UTC.
pub trait LedgerClock: Send + Sync {
    /// The present instant.
    fn now(&self) -> Timestamp;
}

/// The machine's own clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl LedgerClock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp(real_us())
    }
}

/// The authentication clock in seconds since 1970 (`http-auth.md` 1).
pub fn auth_now_s() -> i64 {
    real_us().div_euclid(MICROS)
}

/// A new request id: a UUID of version 7, so that ids sort by time.
pub fn request_id() -> String {
    uuid::Uuid::now_v7().to_string()
}

/// The instant at which something started, to tell how long it took.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts now.
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// The time since the start.
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "this is the one place that reads it"
)]
fn real_us() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |d| i64::try_from(d.as_micros()).unwrap_or(i64::MAX))
}

/// The ledger clock of a bank: the real one, but for a test bank in a test build that names a file.
///
/// # Errors
/// One line that says why the named file cannot be the clock.
pub fn for_bank(test_bank: bool) -> Result<std::sync::Arc<dyn LedgerClock>, String> {
    #[cfg(feature = "test-hooks")]
    if let Some(path) = crate::config::test_clock_file() {
        if !test_bank {
            return Err("BANKD_TEST_CLOCK is for banks made with `bankd init --test`".to_owned());
        }
        return Ok(std::sync::Arc::new(FileClock::open(path)?));
    }
    let _ = test_bank;
    Ok(std::sync::Arc::new(SystemClock))
}

#[cfg(feature = "test-hooks")]
pub use file::FileClock;

#[cfg(feature = "test-hooks")]
mod file {
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicI64, Ordering};

    use bank_core::time::Timestamp;

    use super::LedgerClock;

    /// A clock that a test moves by writing a file: RFC 3339, or whole seconds since 1970.
    #[derive(Debug)]
    pub struct FileClock {
        path: PathBuf,
        last: AtomicI64,
    }

    impl FileClock {
        /// Reads the file once, so that a bad one is found at the start.
        ///
        /// # Errors
        /// One line that names the file and what is wrong with it.
        pub fn open(path: PathBuf) -> Result<Self, String> {
            let text = std::fs::read_to_string(&path)
                .map_err(|e| format!("test clock {}: {e}", path.display()))?;
            let at =
                parse(&text).ok_or_else(|| format!("test clock {}: not a time", path.display()))?;
            Ok(Self {
                path,
                last: AtomicI64::new(at),
            })
        }
    }

    impl LedgerClock for FileClock {
        /// What the file says; what it said last while a test is rewriting it.
        fn now(&self) -> Timestamp {
            let text = std::fs::read_to_string(&self.path).unwrap_or_default();
            if let Some(at) = parse(&text) {
                self.last.store(at, Ordering::Relaxed);
            }
            Timestamp(self.last.load(Ordering::Relaxed))
        }
    }

    fn parse(text: &str) -> Option<i64> {
        let text = text.trim();
        match text.parse::<i64>() {
            Ok(seconds) => Some(Timestamp::from_seconds(seconds).0),
            Err(_) => bank_api::text::parse_rfc3339(text),
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn follows_its_file_and_keeps_the_last_good_time() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("clock");
            std::fs::write(&path, "2026-01-01T00:00:00Z\n").unwrap();
            let clock = FileClock::open(path.clone()).unwrap();
            assert_eq!(clock.now().seconds(), 1_767_225_600);
            std::fs::write(&path, "1767229200").unwrap();
            assert_eq!(clock.now().seconds(), 1_767_229_200);
            std::fs::write(&path, "").unwrap();
            assert_eq!(clock.now().seconds(), 1_767_229_200);
            std::fs::write(&path, "noon").unwrap();
            assert!(FileClock::open(path).is_err());
        }
    }
}
