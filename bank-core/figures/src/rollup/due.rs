//! Due runs of a schedule: one for each past period of a calendar.

use super::grid::{Every, Period, begins, holding};
use bank_core::calendar::Zone;
use bank_core::months::{Date, date, midnight};
use bank_core::time::{Seconds, Timestamp};

/// Periods that are looked at in one go: more than two centuries of days.
const LOOKED_AT: usize = 100_000;

/// The runs that are due by an instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Due {
    /// The period that is due next.
    pub next: Option<Period>,
    /// The number of skipped periods before it, and the last of them.
    pub passed_over: i64,
    /// The last of these.
    pub last_passed_over: Option<Period>,
}

/// The due runs of a schedule that is done up to an instant: the first period that ended at least `delay`
/// ago. If more than `catch_up` periods did, it is the first of the last `catch_up`.
pub fn due(
    done_to: Timestamp,
    now: Timestamp,
    (every, zone): (Every, &Zone),
    delay: Seconds,
    catch_up: usize,
) -> Due {
    let (mut over, mut passed) = (std::collections::VecDeque::new(), Due::default());
    let mut at = done_to;
    for _ in 0..LOOKED_AT {
        let Some(period) = holding(at, every, zone) else {
            break;
        };
        if period.until <= at || period.until.plus(delay) > now {
            break;
        }
        at = period.until;
        over.push_back(period);
        if over.len() > catch_up.max(1) {
            passed.last_passed_over = over.pop_front();
            passed.passed_over = passed.passed_over.saturating_add(1);
        }
    }
    passed.next = over.pop_front();
    passed
}

/// The period of a name such as `2026-10`, where it is one of these periods.
pub fn named(name: &str, every: Every, zone: &Zone) -> Option<Period> {
    let number = |from: usize, until: usize| -> Option<i64> {
        let digits = name.get(from..until)?;
        let plain = digits.bytes().all(|b| b.is_ascii_digit());
        digits.parse().ok().filter(|_| plain)
    };
    let year = number(0, 4)?;
    let rest = name.get(4..)?;
    let (month, day) = match every {
        Every::Hour | Every::All => return None,
        Every::Day => (number(5, 7)?, number(8, 10)?),
        Every::Month => (number(5, 7)?, 1),
        Every::Quarter => (number(5, 6)?.saturating_mul(3).saturating_sub(2), 1),
        Every::HalfYear => (number(5, 6)?.saturating_mul(6).saturating_sub(5), 1),
        Every::Year => (1, 1),
        Every::Week => (1, 4),
    };
    if rest.len() > 6 || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let mut first = Date { year, month, day };
    if every == Every::Week {
        // The fourth of January is in the first week of a year.
        let weeks = number(6, 8)?.saturating_sub(1).saturating_mul(7);
        let shifted = midnight(first).plus(Seconds(weeks.saturating_mul(86_400)));
        first = date(shifted);
    }
    holding(begins(first, zone), every, zone).filter(|period| period.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY_S: i64 = 86_400;

    /// Europe/Berlin in 2026, and New York without its changes of the clock.
    fn berlin() -> Zone {
        Zone {
            first: 3600,
            changes: vec![(1_774_746_000, 7200), (1_792_890_000, 3600)],
        }
    }

    /// 2026-01-01T00:00:00Z and so many days.
    fn day(days: i64) -> Timestamp {
        Timestamp::from_seconds(1_767_225_600 + days * DAY_S)
    }

    #[test]
    fn each_period_follows_on_the_one_before() {
        let skipping = Zone {
            first: -14_400,
            changes: vec![(14_400 + 20_600 * DAY_S, -10_800)],
        };
        let half = Zone {
            first: 19_800,
            changes: Vec::new(),
        };
        for zone in [Zone::default(), berlin(), skipping, half] {
            for (every, most) in [
                (Every::Day, 600),
                (Every::Week, 90),
                (Every::Month, 30),
                (Every::Quarter, 9),
                (Every::HalfYear, 5),
                (Every::Year, 3),
            ] {
                let mut at = day(0);
                for _ in 0..most {
                    let period = holding(at, every, &zone).unwrap();
                    assert!(period.from <= at && at < period.until, "{period:?}");
                    for inside in [period.from, Timestamp(period.until.0 - 1)] {
                        assert_eq!(holding(inside, every, &zone).unwrap(), period, "{zone:?}");
                    }
                    assert_eq!(named(&period.name, every, &zone), Some(period.clone()));
                    at = period.until;
                }
            }
        }
    }

    #[test]
    fn names_are_of_their_kind_and_real() {
        let zone = berlin();
        let is = |name: &str, every| named(name, every, &zone).is_some();
        assert!(is("2026-10", Every::Month) && is("2026-W53", Every::Week));
        assert!(is("2026H2", Every::HalfYear) && is("2028-02-29", Every::Day));
        for (name, every) in [
            ("2026-13", Every::Month),
            ("2026-1", Every::Month),
            ("2026-10-01", Every::Month),
            ("2026-02-29", Every::Day),
            ("2027-W53", Every::Week),
            ("2026-W00", Every::Week),
            ("2026Q5", Every::Quarter),
            ("2026H3", Every::HalfYear),
            ("2026", Every::Month),
            ("", Every::Year),
            ("+026", Every::Year),
            ("2026ä", Every::Month),
            ("2026-10", Every::All),
        ] {
            assert!(!is(name, every), "{name}");
        }
    }

    #[test]
    fn what_is_over_is_due_one_after_the_other() {
        let zone = berlin();
        let find = |done, now, delay, catch_up| {
            due(done, now, (Every::Month, &zone), Seconds(delay), catch_up)
        };
        let start = holding(day(40), Every::Month, &zone).unwrap().from;
        assert_eq!(find(start, day(50), 0, 3), Due::default());
        let until = holding(start, Every::Month, &zone).unwrap().until;
        let first = find(start, until, 0, 3).next.unwrap();
        assert_eq!((first.name.as_str(), first.from), ("2026-02", start));
        // An instant before its end, and during the delay.
        assert_eq!(find(start, Timestamp(until.0 - 1), 0, 3).next, None);
        assert_eq!(find(start, until, 60, 3).next, None);
        assert!(find(start, until.plus(Seconds(60)), 60, 3).next.is_some());
        // Two years later: the last three are made up for, the others passed over.
        let late = find(start, day(760), 0, 3);
        assert_eq!(late.next.unwrap().name, "2027-10");
        assert_eq!(late.passed_over, 20);
        assert_eq!(late.last_passed_over.unwrap().name, "2027-09");
        // In the middle of a period, as after a change of the zone: its end is what counts.
        let middle = find(day(40), until, 0, 3).next.unwrap();
        assert_eq!(middle.name, "2026-02");
    }

    #[test]
    fn a_day_of_25_hours_is_one_and_is_due_at_its_end() {
        let zone = berlin();
        // 2026-10-24T22:00:00Z is midnight of the 25th, which has 25 hours.
        let midnight = Timestamp::from_seconds(1_792_879_200);
        let find = |hours: i64| {
            let now = midnight.plus(Seconds(hours * 3600));
            due(midnight, now, (Every::Day, &zone), Seconds(0), 5).next
        };
        assert_eq!(find(24), None);
        let found = find(25).unwrap();
        assert_eq!(found.name, "2026-10-25");
        assert_eq!(found.until.0 - found.from.0, 25 * 3_600_000_000);
    }
}
