//! The line that says how far an import is, where somebody watches.

use std::io::{self, Write as _};
use std::time::Duration;

use bank_picture::figure::{counted, grouped};

use crate::{clock::Stopwatch, upload::Sent};

/// The pause between two looks.
const EVERY: Duration = Duration::from_millis(250);

/// How far, how fast, and how long still.
pub(super) struct Progress {
    /// Bytes of everything, where that is known.
    total: Option<u64>,
    since: Stopwatch,
    shown: Option<Duration>,
}

impl Progress {
    /// Begins now, for a terminal.
    pub(super) fn new(total: Option<u64>) -> Self {
        Self {
            total,
            since: Stopwatch::start(),
            shown: None,
        }
    }

    /// Says how far it is, now and then.
    pub(super) fn show(&mut self, sent: Sent) {
        let passed = self.since.elapsed();
        let is_due = self.shown.is_none_or(|shown| passed >= shown + EVERY);
        if is_due {
            self.shown = Some(passed);
            let _ = write!(io::stderr(), "\r\u{1b}[K{}", line(sent, self.total, passed));
        }
    }

    /// Makes room for what is printed next.
    pub(super) fn end(&self) {
        if self.shown.is_some() {
            let _ = write!(io::stderr(), "\r\u{1b}[K");
        }
    }
}

/// `41 % of 1,234 MiB, 1,234,000 records, 54,000 records/s, 0:41 left`
fn line(sent: Sent, total: Option<u64>, passed: Duration) -> String {
    let Sent { bytes, records } = sent;
    let how_far = match total {
        Some(total) if total > 0 => {
            let percent = u128::from(bytes.min(total)) * 100 / u128::from(total);
            format!("{percent} % of {}", size(total))
        }
        _ => size(bytes),
    };
    let count = |number: u64| grouped(&number.to_string());
    let millis = passed.as_millis().max(1);
    let rate = u128::from(records) * 1000 / millis;
    let rate = u64::try_from(rate).unwrap_or(u64::MAX);
    let left = total.filter(|_| bytes > 0).map(|total| {
        let left = u128::from(total.saturating_sub(bytes)) * millis / u128::from(bytes) / 1000;
        let (hours, minutes, seconds) = (left / 3600, left / 60 % 60, left % 60);
        if hours > 0 {
            format!(", {hours}:{minutes:02}:{seconds:02} left")
        } else {
            format!(", {minutes}:{seconds:02} left")
        }
    });
    let left = left.unwrap_or_default();
    format!(
        "{how_far}, {}, {} records/s{left}",
        counted(&records.to_string(), "record"),
        count(rate)
    )
}

/// Whole units of 1024.
fn size(bytes: u64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB"];
    let mut left = bytes;
    let mut word = "bytes";
    for unit in units {
        word = unit;
        // Four digits say enough of anything.
        if left < 10_000 || unit == "GiB" {
            break;
        }
        left /= 1024;
    }
    format!("{} {word}", grouped(&left.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_shows_progress_speed_and_remaining_time() {
        let at = |bytes, records, total, seconds| {
            line(Sent { bytes, records }, total, Duration::from_secs(seconds))
        };
        let mib = 1 << 20;
        assert_eq!(
            at(50 * mib, 540_000, Some(200 * mib), 10),
            "25 % of 200 MiB, 540,000 records, 54,000 records/s, 0:30 left"
        );
        assert_eq!(
            at(mib, 10, Some(54_000 * mib), 1),
            "0 % of 52 GiB, 10 records, 10 records/s, 14:59:59 left"
        );
        assert_eq!(at(2_000, 7, None, 2), "2,000 bytes, 7 records, 3 records/s");
        assert_eq!(at(0, 0, Some(0), 0), "0 bytes, 0 records, 0 records/s");
        assert_eq!(
            at(30, 1, Some(30), 1),
            "100 % of 30 bytes, 1 record, 1 records/s, 0:00 left"
        );
    }
}
