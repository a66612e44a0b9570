//! The axis of time: real time, marked where hours, days, months and years begin on the wall clock.

use bank_api::text::Moment;
use chrono::{Datelike as _, Days, NaiveDate};

use super::data::Span;
use crate::{bounds::POINTS_MAX, zone::Zone};

/// How often a stretch of time is asked for its offset from UTC.
const OFFSETS_MAX: i64 = 400;

const MINUTE: i64 = 60_000_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
/// No axis has more marks.
const TICKS_MAX: usize = 40;

/// How far apart marks stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// µs on the wall clock, less than a day.
    Part(i64),
    Days(i64),
    Months(i64),
    Years(i64),
}

impl Step {
    /// From short to long.
    const ALL: [Self; 24] = [
        Self::Part(MINUTE),
        Self::Part(5 * MINUTE),
        Self::Part(15 * MINUTE),
        Self::Part(30 * MINUTE),
        Self::Part(HOUR),
        Self::Part(3 * HOUR),
        Self::Part(6 * HOUR),
        Self::Part(12 * HOUR),
        Self::Days(1),
        Self::Days(2),
        Self::Days(7),
        Self::Days(14),
        Self::Months(1),
        Self::Months(2),
        Self::Months(3),
        Self::Months(6),
        Self::Years(1),
        Self::Years(2),
        Self::Years(5),
        Self::Years(10),
        Self::Years(20),
        Self::Years(50),
        Self::Years(100),
        Self::Years(1000),
    ];

    /// About how long it is, µs.
    fn length(self) -> i64 {
        match self {
            Self::Part(us) => us,
            Self::Days(n) => n * DAY,
            Self::Months(n) => n * 30 * DAY,
            Self::Years(n) => n * 365 * DAY,
        }
    }
}

/// A period in days of the wall clock, in months where it is longer than 62 of them, in years where it
/// is longer than five. The first span and the last may be shorter.
pub fn spans(period: Span, zone: Zone) -> Vec<Span> {
    let days = period.to.saturating_sub(period.from) / DAY;
    let step = match days {
        ..=62 => Step::Days(1),
        63..=1830 => Step::Months(1),
        _ => Step::Years(1),
    };
    let axis = Axis::new(period.from, period.to, zone);
    let mut edges = vec![axis.from];
    let inner = axis.dates(step, POINTS_MAX);
    edges.extend(
        inner
            .into_iter()
            .filter(|us| *us > axis.from && *us < axis.to),
    );
    edges.push(axis.to);
    let pairs = edges.iter().zip(edges.iter().skip(1));
    pairs
        .map(|(from, to)| Span {
            from: *from,
            to: *to,
        })
        .collect()
}

/// A time in which nothing was used, as the buckets of a report: `hour`, `day`, `week`, `month` or another word. Of more
/// than so many buckets the first, the rest and the last: beside the values, the picture is zero all the same.
pub(crate) fn buckets(gap: Span, every: &str, zone: Zone, most: usize) -> Vec<Span> {
    let step = match every {
        "hour" => Step::Part(HOUR),
        "day" => Step::Days(1),
        "week" => Step::Days(7),
        "month" => Step::Months(1),
        "quarter" => Step::Months(3),
        "half" => Step::Months(6),
        "year" => Step::Years(1),
        _ => return vec![gap],
    };
    let axis = Axis::new(gap.from, gap.to, zone);
    let limit = usize::try_from(gap.to.saturating_sub(gap.from) / HOUR).unwrap_or(0);
    let mut edges = match step {
        Step::Part(us) => axis.parts(us, limit.saturating_add(2)),
        step => axis.dates(step, limit.saturating_add(2)),
    };
    edges.retain(|us| gap.from < *us && *us < gap.to);
    if edges.len() >= most {
        edges = edges
            .first()
            .into_iter()
            .chain(edges.last())
            .copied()
            .collect();
        edges.dedup();
    }
    let starts = std::iter::once(gap.from).chain(edges.iter().copied());
    let ends = edges.iter().copied().chain([gap.to]);
    starts
        .zip(ends)
        .map(|(from, to)| Span { from, to })
        .collect()
}

/// The place of the span that an instant lies in; the spans stand in order.
pub fn span_of(spans: &[Span], us: i64) -> Option<usize> {
    let at = spans.partition_point(|span| span.to <= us);
    spans.get(at).filter(|span| span.from <= us).map(|_| at)
}

/// How far the clocks of a zone are from UTC between two instants: `+0100`, `+0100, later +0200`, or over a
/// whole year `+0100, meanwhile +0200`.
pub fn offsets(from: i64, last: i64, zone: Zone) -> String {
    if zone.is_utc() {
        return "UTC".to_owned();
    }
    let offset = |us: i64| zone.show(us).format("%z").to_string();
    // A zone keeps its clocks for weeks.
    let step = (last.saturating_sub(from) / OFFSETS_MAX).max(DAY);
    let (first, end) = (offset(from), offset(last));
    let mut others: Vec<String> = Vec::new();
    let mut at = from;
    while at < last {
        let own = offset(at);
        if own != first && own != end && !others.contains(&own) {
            others.push(own);
        }
        at = at.saturating_add(step);
    }
    let mut shown = first.clone();
    if !others.is_empty() {
        shown = format!("{shown}, meanwhile {}", others.join(" and "));
    }
    if first != end {
        shown = format!("{shown}, later {end}");
    }
    shown
}

/// A stretch of time along a chart, µs since 1970 UTC, and the zone in which it is told.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    from: i64,
    to: i64,
    zone: Zone,
}

impl Axis {
    /// From one instant to a later one; where it is not later, to a second after.
    pub(super) fn new(from: i64, to: i64, zone: Zone) -> Self {
        let to = to.max(from.saturating_add(1_000_000));
        Self { from, to, zone }
    }

    /// How far from the start an instant stands on an axis of this length; never beyond its ends.
    pub(super) fn at(&self, us: i64, length: i64) -> i64 {
        let (from, to) = (i128::from(self.from), i128::from(self.to));
        let passed = i128::from(us).clamp(from, to) - from;
        i64::try_from(passed * i128::from(length) / (to - from)).unwrap_or(length)
    }

    /// At most so many marks (some more where days do not divide well): where, and what is written.
    pub(super) fn ticks(&self, length: i64, most: usize) -> Vec<(i64, String)> {
        let range = self.to.saturating_sub(self.from);
        let most = i64::try_from(most.clamp(2, TICKS_MAX)).unwrap_or(2);
        // Hours say nothing on an axis of days.
        let fits = |step: &&Step| {
            let too_fine = matches!(step, Step::Part(_)) && range > 2 * DAY;
            range / step.length() <= most && !too_fine
        };
        let step = Step::ALL.iter().find(fits);
        let step = step.copied().unwrap_or(Step::Years(1000));
        let one_day = self.zone.day(self.from) == self.zone.day(self.to - 1);
        let instants = match step {
            Step::Part(us) => self.parts(us, TICKS_MAX),
            step => self.dates(step, TICKS_MAX),
        };
        let label = |us: i64| {
            let form = match step {
                Step::Part(_) if one_day => "%H:%M",
                Step::Part(_) => "%m-%d %H:%M",
                Step::Days(_) => "%Y-%m-%d",
                Step::Months(_) => "%Y-%m",
                Step::Years(_) => "%Y",
            };
            self.zone.show(us).format(form).to_string()
        };
        let placed = |us: i64| (self.at(us, length), label(us));
        instants.into_iter().map(placed).collect()
    }

    /// What the axis is: local time with its offset, and the day where it is one only.
    pub(super) fn title(&self) -> String {
        let day = self.zone.day(self.from);
        let one_day = day == self.zone.day(self.to - 1);
        let of = if one_day {
            format!(" on {day}")
        } else {
            String::new()
        };
        let offsets = offsets(self.from, self.to - 1, self.zone);
        format!("time{of} ({offsets})")
    }

    fn parts(&self, us: i64, most: usize) -> Vec<i64> {
        let offset = i64::from(self.zone.offset_at(self.from).local_minus_utc()) * 1_000_000;
        let local = self.from.saturating_add(offset);
        let mut at = -(-local).div_euclid(us) * us - offset;
        let mut found = Vec::new();
        while at <= self.to && found.len() < most {
            found.push(at);
            at = at.saturating_add(us);
        }
        found
    }

    fn dates(&self, step: Step, most: usize) -> Vec<i64> {
        let mut date = self.zone.show(self.from).date_naive();
        let last = self.zone.show(self.to).date_naive();
        let mut found = Vec::new();
        while date <= last && found.len() < most {
            let Some(next) = next_date(date, step) else {
                break;
            };
            let us = self.midnight(date).filter(|_| begins(date, step));
            found.extend(us.filter(|us| (self.from..=self.to).contains(us)));
            date = next;
        }
        found
    }

    /// The first instant of a day; none where the wall clock has no such instant.
    fn midnight(&self, date: NaiveDate) -> Option<i64> {
        let text = date.format("%Y-%m-%d").to_string();
        match self.zone.read(&text, 0)? {
            Moment::At(us) => Some(us),
            Moment::Future | Moment::Past => None,
        }
    }
}

/// Whether a mark may stand at a day: a Monday for weeks, the first of a month.
fn begins(date: NaiveDate, step: Step) -> bool {
    let month = i64::from(date.month0());
    match step {
        Step::Part(_) => false,
        Step::Days(n) => (i64::from(date.num_days_from_ce()) - 1) % n == 0,
        Step::Months(n) => date.day() == 1 && month % n == 0,
        Step::Years(n) => date.ordinal() == 1 && i64::from(date.year()) % n == 0,
    }
}

/// The next day that could begin a step.
fn next_date(date: NaiveDate, step: Step) -> Option<NaiveDate> {
    match step {
        Step::Part(_) | Step::Days(_) => date.checked_add_days(Days::new(1)),
        Step::Months(_) => date.with_day(1)?.checked_add_months(chrono::Months::new(1)),
        Step::Years(_) => NaiveDate::from_ymd_opt(date.year().checked_add(1)?, 1, 1),
    }
}
