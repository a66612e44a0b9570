//! Usage by UTC day: the usage of a job is divided among its days, in parts that add up exactly to
//! the total.

use std::collections::BTreeMap;

use super::job::{Figure, Job};
use super::number::Number;
use super::tally::{Sums, add};

const DAY_US: i64 = 86_400_000_000;

/// Places to which a part is cut: micro-units, as fine as times are.
const PLACES: u8 = 6;

/// Days that one job may touch; a longer one is no job but a wrong time, and is left out.
const DAYS_MAX: i64 = 36_525;

/// Maximum number of days of a source; further days are left out.
const ALL_MAX: usize = 100_000;

/// Sums by day.
#[derive(Debug, Default)]
pub(super) struct Days {
    days: BTreeMap<i64, Day>,
    left_out: u64,
}

/// One UTC day.
#[derive(Debug, Default)]
struct Day {
    ended: u64,
    started: u64,
    running: u64,
    sums: Sums,
}

impl Days {
    /// Takes a job in.
    pub(super) fn add(&mut self, job: &Job) {
        let (first, last) = (day(job.start_us), last_day(job));
        let is_long = last.saturating_sub(first) > DAYS_MAX;
        let is_new = !self.days.contains_key(&first) || !self.days.contains_key(&last);
        if is_long
            || (is_new && self.days.len() >= ALL_MAX)
            || self.deal(job, first, last).is_none()
        {
            self.left_out = self.left_out.saturating_add(1);
            return;
        }
        let count = |count: &mut u64| *count = count.saturating_add(1);
        count(&mut self.days.entry(day(job.end_us)).or_default().ended);
        count(&mut self.days.entry(first).or_default().started);
        for touched in first..=last {
            count(&mut self.days.entry(touched).or_default().running);
        }
    }

    /// Divides the quantities of a job: up to the end of each day in proportion to the elapsed
    /// time, truncated; the last day gets the rest. `None` beyond the range of exact numbers, and
    /// then no day changes.
    fn deal(&mut self, job: &Job, first: i64, last: i64) -> Option<()> {
        let whole = i128::from(job.end_us.checked_sub(job.start_us)?).max(1);
        let mut parts = Vec::new();
        for (name, value) in &job.quantities {
            let (units, places) = value.parts();
            let more = PLACES.saturating_sub(places);
            let units = units.checked_mul(10_i128.checked_pow(more.into())?)?;
            let mut dealt = 0_i128;
            for touched in first..=last {
                let until = touched.checked_add(1)?.checked_mul(DAY_US)?.min(job.end_us);
                let elapsed = i128::from(until.checked_sub(job.start_us)?);
                let upto = if touched == last {
                    units
                } else {
                    units.checked_mul(elapsed)?.checked_div(whole)?
                };
                let part = Number::scaled(upto.checked_sub(dealt)?, places.max(PLACES));
                parts.push((touched, name, part));
                dealt = upto;
            }
        }
        let mut fits = true;
        for (touched, name, part) in parts {
            let sums = &mut self.days.entry(touched).or_default().sums;
            fits &= add(sums, name, part);
        }
        fits.then_some(())
    }

    /// As a figure of the summary: by day, the jobs that ended, started or ran on it, and the sums.
    pub(super) fn figure(&self) -> Figure {
        let count = |count: u64| Figure::Number(Number::whole(count));
        let one = |(number, day): (&i64, &Day)| {
            let mut figures: BTreeMap<String, Figure> = day
                .sums
                .iter()
                .map(|(name, value)| (name.to_string(), Figure::Number(*value)))
                .collect();
            for (name, value) in [
                ("jobs", day.ended),
                ("started", day.started),
                ("running", day.running),
            ] {
                figures.insert(name.to_owned(), count(value));
            }
            (date(*number), Figure::Map(figures))
        };
        Figure::Map(self.days.iter().map(one).collect())
    }

    /// Jobs that no day has.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }
}

/// The day of a moment, counted from 1970-01-01.
pub(super) fn day(us: i64) -> i64 {
    us.div_euclid(DAY_US)
}

/// The last day that a job touches: one that ends at midnight does not touch the day that begins.
fn last_day(job: &Job) -> i64 {
    if job.end_us > job.start_us {
        return day(job.end_us.saturating_sub(1));
    }
    day(job.start_us)
}

/// `YYYY-MM-DD`.
pub(super) fn date(day: i64) -> String {
    let at = day
        .checked_mul(DAY_US)
        .and_then(chrono::DateTime::from_timestamp_micros);
    at.map_or_else(|| day.to_string(), |at| at.format("%Y-%m-%d").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(days: &Days) -> Vec<String> {
        let one = |(number, day): (&i64, &Day)| {
            let sums: Vec<String> = day.sums.iter().map(|(n, v)| format!("{n}={v}")).collect();
            let counts = (day.ended, day.started, day.running);
            format!("{} {counts:?} {}", date(*number), sums.join(" "))
        };
        days.days.iter().map(one).collect()
    }

    #[test]
    fn parts_of_days_add_up() {
        let mut days = Days::default();
        for (start, end, quantity) in [
            (0, 2 * DAY_US, "10"),
            (DAY_US - 1, DAY_US + 2, "1"),
            (5, 5, "0"),
        ] {
            let mut job = Job {
                start_us: start,
                end_us: end,
                ..Job::default()
            };
            job.add("q", Number::parse(quantity).unwrap());
            days.add(&job);
        }
        assert_eq!(
            shown(&days),
            [
                "1970-01-01 (1, 3, 3) q=5.333333",
                "1970-01-02 (1, 0, 2) q=5.666667",
                "1970-01-03 (1, 0, 0) ",
            ]
        );
    }

    #[test]
    fn a_job_of_a_thousand_years_is_left_out() {
        let mut days = Days::default();
        days.add(&Job {
            end_us: DAY_US * 366_000,
            ..Job::default()
        });
        assert_eq!((shown(&days).len(), days.left_out()), (0, 1));
    }
}
