//! Points in time that a record states without an offset: local time has one hour a year twice
//! (`collectors.md` a.1).

use super::number::Number;

/// A point in time. In the hour that clocks repeat, the text has two readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Instant {
    /// Microseconds since 1970 UTC; the earlier reading.
    pub(super) us: i64,
    /// The later reading, where there are two.
    later_us: Option<i64>,
}

impl Instant {
    /// A time with one reading.
    pub(super) fn exact(us: i64) -> Self {
        Self { us, later_us: None }
    }

    /// A local time with two readings.
    pub(super) fn repeated(us: i64, later_us: i64) -> Self {
        Self {
            us,
            later_us: Some(later_us),
        }
    }

    /// Whether there are two readings.
    pub(super) fn is_ambiguous(self) -> bool {
        self.later_us.is_some()
    }

    /// The later reading, else the only one.
    pub(super) fn latest(self) -> i64 {
        self.later_us.unwrap_or(self.us)
    }

    /// Both readings, moved by a number of microseconds.
    pub(super) fn after(self, us: i64) -> Option<Self> {
        let later_us = match self.later_us {
            Some(later) => Some(later.checked_add(us)?),
            None => None,
        };
        Some(Self {
            us: self.us.checked_add(us)?,
            later_us,
        })
    }

    fn readings(self) -> impl Iterator<Item = i64> {
        std::iter::once(self.us).chain(self.later_us)
    }
}

/// The readings of a start and an end that fit each other and the run time, and whether more than one
/// pair does. An end does not precede its start, and a run time is never above the time between them; it
/// is below where the job was suspended. A pair that matches the run time to the second wins. Of several
/// that fit, the earliest is taken.
pub(super) fn readings(start: Instant, end: Instant, wall: Option<Number>) -> (i64, i64, bool) {
    const SECOND_US: i64 = 1_000_000;
    let wall_us = wall
        .filter(|wall| wall.is_above_zero())
        .and_then(Number::as_microseconds);
    let gap = |(start, end): &(i64, i64)| end.saturating_sub(*start);
    let pairs = start
        .readings()
        .flat_map(|start| end.readings().map(move |end| (start, end)));
    let pairs: Vec<_> = pairs.filter(|pair| gap(pair) >= 0).collect();
    let least = wall_us.map_or(0, |wall| wall.saturating_sub(SECOND_US));
    let fitting = pairs.iter().filter(|pair| gap(pair) >= least);
    let fitting: Vec<_> = fitting.copied().collect();
    let is_exact = |pair: &&(i64, i64)| {
        wall_us.is_some_and(|wall| gap(pair).saturating_sub(wall).abs() <= SECOND_US)
    };
    let exact: Vec<_> = fitting.iter().filter(is_exact).copied().collect();
    for found in [exact, fitting, pairs] {
        if let Some((start, end)) = found.first() {
            return (*start, *end, found.len() > 1);
        }
    }
    (start.us, end.us, start.is_ambiguous() || end.is_ambiguous())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000_000;

    /// Half hours from the first reading of 02:00 on the day on which clocks go back from 03:00.
    #[test]
    fn the_run_time_decides_between_readings() {
        let exact = |hours: i64| Instant::exact(hours * HOUR);
        let twice = |half: i64| {
            let us = half * HOUR / 2;
            Instant::repeated(us, us + HOUR)
        };
        for (start, end, minutes, meant) in [
            // 01:30 to 02:30 local, one or two hours.
            (exact(-1), twice(0), Some(120), (-2, 2, false)),
            (exact(-1), twice(0), Some(60), (-2, 0, false)),
            // Suspended for half an hour: only the longer span holds 90 minutes.
            (exact(-1), twice(0), Some(90), (-2, 2, false)),
            // Both hold 50 minutes, and so does a record without a run time.
            (exact(-1), twice(0), Some(50), (-2, 0, true)),
            (exact(-1), twice(0), None, (-2, 0, true)),
            // The end is earlier on the clock than the start: one pair of readings is left.
            (twice(1), twice(0), Some(30), (1, 2, false)),
            (twice(1), twice(0), None, (1, 2, false)),
            // Half an hour within either of the two.
            (twice(0), twice(1), Some(30), (0, 1, true)),
            (twice(0), twice(1), Some(90), (0, 3, false)),
            (twice(0), exact(3), Some(120), (2, 6, false)),
            // A run time that no pair has room for decides nothing.
            (exact(-1), twice(0), Some(600), (-2, 0, true)),
        ] {
            let wall = minutes.map(|minutes: i64| Number::whole(minutes * 60));
            let (from, to, open) = readings(start, end, wall);
            let halves = (from * 2 / HOUR, to * 2 / HOUR, open);
            assert_eq!(halves, meant, "{start:?} {end:?} {minutes:?}");
        }
    }
}
