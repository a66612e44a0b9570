//! Hours, days, weeks, months, quarters and years of a time zone.

use bank_core::calendar::Zone;
use bank_core::months::{Date, date, midnight};
use bank_core::time::{MICROS, Timestamp};

/// Seconds in a day.
const DAY_S: i64 = 86_400;

/// The bucket length of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Every {
    /// 3600 seconds, independent of clock changes.
    Hour,
    /// From midnight to midnight: 23 or 25 hours where the clock changes.
    Day,
    /// From Monday on.
    Week,
    /// A month of the calendar.
    Month,
    /// January, April, July or October and the two months after.
    Quarter,
    /// January or July and the five months after.
    HalfYear,
    /// A year of the calendar.
    Year,
    /// The whole period in one.
    All,
}

/// Every length with its word.
pub const EVERY: [(Every, &str); 8] = [
    (Every::Hour, "hour"),
    (Every::Day, "day"),
    (Every::Week, "week"),
    (Every::Month, "month"),
    (Every::Quarter, "quarter"),
    (Every::HalfYear, "half-year"),
    (Every::Year, "year"),
    (Every::All, "all"),
];

bank_core::words!(Every, EVERY, "all");

/// A period cut into buckets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// The ends of buckets, ascending: the first is the start of the period, the last its end.
    pub edges: Vec<Timestamp>,
    /// The name of each bucket, such as `2026-10`: that of the whole month, where the period begins or
    /// ends within it too.
    pub labels: Vec<String>,
}

impl Grid {
    /// Cuts [from, until) at the boundaries of a zone's calendar; none where that is empty, or more
    /// than so many buckets.
    pub fn new(
        from: Timestamp,
        until: Timestamp,
        every: Every,
        zone: &Zone,
        most: usize,
    ) -> Option<Grid> {
        if from >= until {
            return None;
        }
        let mut grid = Grid {
            edges: vec![from],
            labels: Vec::new(),
        };
        let mut at = from;
        while at < until {
            if grid.labels.len() >= most {
                return None;
            }
            let (label, end) = around(at, every, zone);
            let end = end.map_or(until, |end| end.max(Timestamp(at.0.saturating_add(1))));
            at = end.min(until);
            grid.edges.push(at);
            grid.labels.push(label);
        }
        Some(grid)
    }

    /// Start and end of each bucket.
    pub fn buckets(&self) -> impl Iterator<Item = (Timestamp, Timestamp)> + '_ {
        let ends = self.edges.iter().skip(1);
        self.edges.iter().copied().zip(ends.copied())
    }

    /// The bucket of an instant.
    pub fn find(&self, at: Timestamp) -> Option<usize> {
        let behind = self.edges.partition_point(|edge| *edge <= at);
        behind
            .checked_sub(1)
            .filter(|place| *place < self.labels.len())
    }
}

/// When a date begins in a zone.
pub fn begins(day: Date, zone: &Zone) -> Timestamp {
    let days = midnight(day).seconds().div_euclid(DAY_S);
    let before = days.saturating_sub(2).saturating_mul(DAY_S);
    day_begins(days, before, zone)
}

/// An instant as a zone's calendar shows it: `2026-10-01`, with the time of day where that is not midnight.
pub fn shown(at: Timestamp, zone: &Zone) -> String {
    let second = at.seconds();
    let local = second.saturating_add(zone.offset(second));
    let text = bank_core::months::text(Timestamp(local.saturating_mul(MICROS)));
    let (date, time) = text.split_once('T').unwrap_or((text.as_str(), ""));
    let time = time.trim_end_matches('Z');
    match time {
        "00:00:00" => date.to_owned(),
        time => format!("{date} {time}"),
    }
}

/// A day, week, month, quarter, half year or year of a zone's calendar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Period {
    /// Its name, such as `2026-10`.
    pub name: String,
    /// When it begins.
    pub from: Timestamp,
    /// When it is over, exclusive.
    pub until: Timestamp,
}

/// The period of the calendar that holds an instant; none for hours, and for all in one.
pub fn holding(at: Timestamp, every: Every, zone: &Zone) -> Option<Period> {
    let second = at.seconds();
    let local = second.saturating_add(zone.offset(second));
    let days = days(local, every)?;
    let long_before = days.first.saturating_sub(2).saturating_mul(DAY_S);
    Some(Period {
        name: days.name,
        from: day_begins(days.first, long_before, zone),
        until: day_begins(days.next, second, zone),
    })
}

/// The bucket that holds an instant: its name and its end.
fn around(at: Timestamp, every: Every, zone: &Zone) -> (String, Option<Timestamp>) {
    if every == Every::Hour {
        return hour(at, zone);
    }
    let second = at.seconds();
    let local = second.saturating_add(zone.offset(second));
    match days(local, every) {
        Some(days) => (days.name, Some(day_begins(days.next, second, zone))),
        None => (String::new(), None),
    }
}

/// A stretch of the calendar: its name, its first day, and the day after its last.
struct Days {
    name: String,
    first: i64,
    next: i64,
}

/// The one that holds a second of local time.
fn days(local: i64, every: Every) -> Option<Days> {
    let Date { year, month, day } = date(Timestamp(local.saturating_mul(MICROS)));
    let today = local.div_euclid(DAY_S);
    // So many months from a first one on.
    let months = |name: String, first: i64, count: i64| {
        let number = |month: i64| {
            let all = year.saturating_mul(12).saturating_add(month);
            let all = all.saturating_sub(1);
            let first = Date {
                year: all.div_euclid(12),
                month: all.rem_euclid(12).saturating_add(1),
                day: 1,
            };
            midnight(first).seconds().div_euclid(DAY_S)
        };
        Days {
            name,
            first: number(first),
            next: number(first.saturating_add(count)),
        }
    };
    // Which stretch of so many months it is, from 0 on.
    let of = |length: i64| month.saturating_sub(1).div_euclid(length);
    let begins = |length: i64| of(length).saturating_mul(length).saturating_add(1);
    let number = |length: i64| of(length).saturating_add(1);
    Some(match every {
        Every::All | Every::Hour => return None,
        Every::Day => Days {
            name: format!("{year:04}-{month:02}-{day:02}"),
            first: today,
            next: today.saturating_add(1),
        },
        Every::Week => {
            // 1970-01-01 was a Thursday.
            let monday = today.saturating_sub(today.saturating_add(3).rem_euclid(7));
            Days {
                name: week(monday),
                first: monday,
                next: monday.saturating_add(7),
            }
        }
        Every::Month => months(format!("{year:04}-{month:02}"), month, 1),
        Every::Quarter => months(format!("{year:04}Q{}", number(3)), begins(3), 3),
        Every::HalfYear => months(format!("{year:04}H{}", number(6)), begins(6), 6),
        Every::Year => months(format!("{year:04}"), 1, 12),
    })
}

/// The name of the week that begins on a day: the year of its Thursday, and which week of that it is
/// (ISO 8601).
fn week(monday: i64) -> String {
    let thursday = monday.saturating_add(3);
    let year = date(Timestamp(
        thursday.saturating_mul(DAY_S).saturating_mul(MICROS),
    ))
    .year;
    let first = Date {
        year,
        month: 1,
        day: 1,
    };
    let first = midnight(first).seconds().div_euclid(DAY_S);
    let number = thursday
        .saturating_sub(first)
        .div_euclid(7)
        .saturating_add(1);
    format!("{year:04}-W{number:02}")
}

/// The hour of an instant: its name with the offset, which distinguishes the two hours of a change.
fn hour(at: Timestamp, zone: &Zone) -> (String, Option<Timestamp>) {
    let second = at.seconds();
    let offset = zone.offset(second);
    let local = second.saturating_add(offset);
    let Date { year, month, day } = date(Timestamp(local.saturating_mul(MICROS)));
    let of_day = local.div_euclid(3600).rem_euclid(24);
    let sign = if offset < 0 { '-' } else { '+' };
    let size = offset.saturating_abs();
    let (hours, minutes) = (size.div_euclid(3600), size.div_euclid(60).rem_euclid(60));
    let label =
        format!("{year:04}-{month:02}-{day:02}T{of_day:02}:00{sign}{hours:02}:{minutes:02}");
    let end = local
        .div_euclid(3600)
        .saturating_add(1)
        .saturating_mul(3600);
    let end = Timestamp::from_seconds(end.saturating_sub(offset));
    // An hour that a change of the clock cuts ends there.
    let cut = zone.change_after(second).map(Timestamp::from_seconds);
    (label, Some(cut.map_or(end, |cut| cut.min(end))))
}

/// The first second after another one at which the zone's calendar shows this day, or a later one.
fn day_begins(day: i64, after: i64, zone: &Zone) -> Timestamp {
    let midnight = day.saturating_mul(DAY_S);
    let around = [
        midnight.saturating_sub(DAY_S),
        midnight.saturating_add(DAY_S),
    ];
    let shows = |second: i64| second.saturating_add(zone.offset(second)) >= midnight;
    let plain = around.map(|second| midnight.saturating_sub(zone.offset(second)));
    // Where the clock skips midnight, the day begins with the change.
    let [early, late] = around;
    let skipped = zone.change_after(early).filter(|change| *change < late);
    let all = plain.into_iter().chain(skipped);
    let first = all.filter(|second| *second > after && shows(*second)).min();
    Timestamp::from_seconds(first.unwrap_or(midnight.max(after.saturating_add(1))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(from: i64, until: i64, every: Every, zone: &Zone) -> Vec<(String, i64)> {
        let of = Timestamp::from_seconds;
        let grid = Grid::new(of(from), of(until), every, zone, 1000).unwrap();
        let hours = grid
            .buckets()
            .map(|(from, until)| (until.0 - from.0) / super::super::HOUR);
        grid.labels.iter().cloned().zip(hours).collect()
    }

    #[test]
    fn days_of_a_zone_have_as_many_hours_as_its_clock_shows() {
        // Europe/Berlin in 2026: 29 March and 25 October at 01:00 UTC.
        let zone = Zone {
            first: 3600,
            changes: vec![(1_774_746_000, 7200), (1_792_890_000, 3600)],
        };
        // 2026-03-28T23:00:00Z, three days.
        let days = labels(1_774_652_400, 1_774_652_400 + 71 * 3600, Every::Day, &zone);
        let days: Vec<(&str, i64)> = days.iter().map(|(l, h)| (l.as_str(), *h)).collect();
        assert_eq!(
            days,
            [("2026-03-28", 24), ("2026-03-29", 23), ("2026-03-30", 24)]
        );
        let months = labels(1_790_805_600, 1_796_079_600, Every::Month, &zone);
        assert_eq!(
            months,
            [("2026-10".to_owned(), 745), ("2026-11".to_owned(), 720)]
        );
        let hours = labels(1_792_882_800, 1_792_897_200, Every::Hour, &zone);
        let hours: Vec<&str> = hours.iter().map(|(label, _)| label.as_str()).collect();
        assert_eq!(
            hours,
            [
                "2026-10-25T01:00+02:00",
                "2026-10-25T02:00+02:00",
                "2026-10-25T02:00+01:00",
                "2026-10-25T03:00+01:00"
            ]
        );
    }

    #[test]
    fn a_day_whose_midnight_is_skipped_begins_with_the_change() {
        // At local midnight the clock goes to one.
        let zone = Zone {
            first: -14_400,
            changes: vec![(14_400 + 20 * DAY_S, -10_800)],
        };
        let days = labels(14_400 + 19 * DAY_S, 10_800 + 22 * DAY_S, Every::Day, &zone);
        let days: Vec<(&str, i64)> = days.iter().map(|(l, h)| (l.as_str(), *h)).collect();
        assert_eq!(
            days,
            [("1970-01-20", 24), ("1970-01-21", 23), ("1970-01-22", 24)]
        );
    }

    #[test]
    fn weeks_begin_on_monday_and_quarters_with_their_months() {
        let utc = Zone::default();
        let names = |from, until, every| -> Vec<String> {
            let all = labels(from, until, every, &utc);
            all.into_iter().map(|(label, _)| label).collect()
        };
        // 2026-10-01, a Thursday, for 8 days.
        assert_eq!(
            names(1_790_812_800, 1_791_504_000, Every::Week),
            ["2026-W40", "2026-W41"]
        );
        assert_eq!(
            names(1_790_812_800, 1_798_761_600, Every::Quarter),
            ["2026Q4"]
        );
        assert_eq!(
            names(1_790_812_800, 1_798_761_601, Every::Year),
            ["2026", "2027"]
        );
        assert_eq!(names(0, 5, Every::All), [""]);
        assert!(Grid::new(Timestamp(0), Timestamp(i64::MAX), Every::Hour, &utc, 10_000).is_none());
    }
}
