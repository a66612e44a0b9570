//! The clocks, and everything else that differs from run to run: the only module of the daemon that reads the
//! time of day.
//!
//! There are two clocks (decisions.md 9). The *ledger clock* dates the transactions; a test bank may read it
//! from a file. The *authentication clock* is always the real one: a test must not be able to make an old
//! signature valid.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use bank_core::clock::Reading;
use bank_core::time::{MICROS, Timestamp};

/// When money moves: microseconds UTC.
pub trait LedgerClock: Send + Sync {
    /// The present instant.
    fn now(&self) -> Timestamp;

    /// The same, and the time that has passed independent of this clock. A clock that is set by hand moves as
    /// time passes.
    fn reading(&self) -> Reading {
        Reading::moved(self.now())
    }
}

/// The machine's own clock, beside the time since it was switched on.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    since: Instant,
    /// The uptime of the machine at that moment.
    uptime_us: i64,
    boot: i64,
}

impl Default for SystemClock {
    fn default() -> Self {
        SystemClock {
            since: Instant::now(),
            uptime_us: uptime_us().unwrap_or(0),
            // Without one of the two, the time before this process is unknown.
            boot: uptime_us().and_then(|_| boot()).unwrap_or(0),
        }
    }
}

impl LedgerClock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp(real_us())
    }

    fn reading(&self) -> Reading {
        let passed = i64::try_from(self.since.elapsed().as_micros()).unwrap_or(i64::MAX);
        Reading {
            clock: self.now(),
            steady: Timestamp(self.uptime_us.saturating_add(passed)),
            boot: self.boot,
        }
    }
}

/// A clock that stays at its value until it is set, for a private bank.
#[derive(Debug)]
pub struct SetClock(AtomicI64);

impl SetClock {
    /// A clock at this instant.
    pub fn new(at: Timestamp) -> Self {
        Self(AtomicI64::new(at.0))
    }

    /// Sets another instant from now on.
    pub fn set(&self, at: Timestamp) {
        self.0.store(at.0, Ordering::Release);
    }
}

impl LedgerClock for SetClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::Acquire))
    }
}

/// The uptime of the machine, including suspended time.
fn uptime_us() -> Option<i64> {
    let text = std::fs::read_to_string("/proc/uptime").ok()?;
    let (whole, part) = text.split_whitespace().next()?.split_once('.')?;
    let (seconds, hundredths) = (whole.parse::<i64>().ok()?, part.parse::<i64>().ok()?);
    let us = seconds.checked_mul(MICROS)?;
    us.checked_add(hundredths.checked_mul(MICROS / 100)?)
}

/// A number that names this start of the machine.
fn boot() -> Option<i64> {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    let number = i64::from_str_radix(digits.get(..15)?, 16).ok()?;
    Some(number.saturating_add(1))
}

/// The authentication clock in seconds since 1970 (`http-auth.md` 1).
pub fn auth_now_s() -> i64 {
    real_us().div_euclid(MICROS)
}

/// A new request id: a UUID of version 7, so that ids sort by time.
pub fn request_id() -> String {
    uuid::Uuid::now_v7().to_string()
}

/// The start instant of an action, to measure its duration.
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

/// The machine's clock, microseconds since 1970.
#[allow(
    clippy::disallowed_methods,
    reason = "this is the one place that reads it"
)]
pub fn real_us() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |d| i64::try_from(d.as_micros()).unwrap_or(i64::MAX))
}

/// The ledger clock of a bank: the real one, but for a test bank in a test build that names a file.
///
/// # Errors
/// One line with the reason why the named file cannot be the clock.
pub fn for_bank(test_bank: bool) -> Result<std::sync::Arc<dyn LedgerClock>, String> {
    #[cfg(feature = "test-hooks")]
    if let Some(path) = bankd_config::test_clock_file() {
        if !test_bank {
            return Err("BANKD_TEST_CLOCK is for banks made with `bankd init --test`".to_owned());
        }
        return Ok(std::sync::Arc::new(FileClock::open(path)?));
    }
    let _ = test_bank;
    Ok(std::sync::Arc::new(SystemClock::default()))
}

#[cfg(feature = "test-hooks")]
pub use file::FileClock;

#[cfg(feature = "test-hooks")]
mod file {
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicI64, Ordering};

    use bank_core::clock::Reading;
    use bank_core::time::Timestamp;

    use super::LedgerClock;

    /// A clock that a test moves by writing a file: RFC 3339, or whole seconds since 1970. A second
    /// word is the steady clock, for a test in which the time does not pass that the first shows.
    #[derive(Debug)]
    pub struct FileClock {
        path: PathBuf,
        last: AtomicI64,
        steady: AtomicI64,
    }

    impl FileClock {
        /// Reads the file once, so that a bad one is found at the start.
        ///
        /// # Errors
        /// One line that names the file and what is wrong with it.
        pub fn open(path: PathBuf) -> Result<Self, String> {
            let text = std::fs::read_to_string(&path)
                .map_err(|e| format!("test clock {}: {e}", path.display()))?;
            let (at, steady) =
                parse(&text).ok_or_else(|| format!("test clock {}: not a time", path.display()))?;
            Ok(Self {
                path,
                last: AtomicI64::new(at),
                steady: AtomicI64::new(steady),
            })
        }
    }

    impl LedgerClock for FileClock {
        /// The instant in the file; the last one while a test rewrites it.
        fn now(&self) -> Timestamp {
            let text = std::fs::read_to_string(&self.path).unwrap_or_default();
            if let Some((at, steady)) = parse(&text) {
                self.last.store(at, Ordering::Relaxed);
                self.steady.store(steady, Ordering::Relaxed);
            }
            Timestamp(self.last.load(Ordering::Relaxed))
        }

        fn reading(&self) -> Reading {
            let clock = self.now();
            Reading {
                steady: Timestamp(self.steady.load(Ordering::Relaxed)),
                ..Reading::moved(clock)
            }
        }
    }

    fn parse(text: &str) -> Option<(i64, i64)> {
        let mut words = text.split_whitespace().map(time);
        let at = words.next()??;
        Some((at, words.next().unwrap_or(Some(at))?))
    }

    fn time(text: &str) -> Option<i64> {
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
