//! Time zones as lists of changes, for rates with hours: the core has no zones (decisions.md 2).
//!
//! The only user of the zone tables. A zone is resolved once, when a rate is set; the result is
//! kept with the rate, so that a later table changes no past price (decision 0015).

use bank_api::text::first_of_day;
use bank_core::calendar::Zone;
use bank_core::time::Timestamp;
use chrono::{DateTime, Datelike as _, Days, Months, Offset as _, TimeZone as _};
use chrono_tz::Tz;

/// 2000-01-01 and 2100-01-01, in seconds since 1970: between them changes are kept.
const FIRST: i64 = 946_684_800;
const LAST: i64 = 4_102_444_800;
/// No zone changes twice within a day.
const STEP: i64 = 86_400;

/// The offsets of a zone by its name, such as `Europe/Berlin`, from 2000 to 2100; before and after
/// that those of the ends. `None` for a name that the tables do not have.
pub fn zone(name: &str) -> Option<Zone> {
    let zone: Tz = name.parse().ok()?;
    let first = offset(zone, FIRST)?;
    let mut found = Zone {
        first,
        changes: Vec::new(),
    };
    let (mut now, mut known) = (FIRST, first);
    while now < LAST {
        let next = now + STEP;
        let then = offset(zone, next)?;
        if then != known {
            found.changes.push((change(zone, now, next)?, then));
            known = then;
        }
        now = next;
    }
    Some(found)
}

/// The second at which the offset changes, between one before and one at or after the change.
fn change(zone: Tz, mut before: i64, mut after: i64) -> Option<i64> {
    let new = offset(zone, after)?;
    while after - before > 1 {
        let middle = i64::midpoint(before, after);
        if offset(zone, middle)? == new {
            after = middle;
        } else {
            before = middle;
        }
    }
    Some(after)
}

fn offset(zone: Tz, second: i64) -> Option<i32> {
    let utc = DateTime::from_timestamp(second, 0)?.naive_utc();
    Some(zone.offset_from_utc_datetime(&utc).fix().local_minus_utc())
}

/// Whether the tables have a zone.
pub fn is_known(name: &str) -> bool {
    name.parse::<Tz>().is_ok()
}

/// How a calendar is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// At each midnight.
    Day,
    /// At the midnight before each Monday.
    Week,
    /// At the midnight before the first of each month.
    Month,
}

/// The edges of the days, weeks or months of a zone within a time, with its ends, in their order; cut
/// off when there are more than `most`. `None` for a zone that the tables do not have, and outside
/// their years.
pub fn edges(
    name: &str,
    (from, to): (Timestamp, Timestamp),
    cut: Cut,
    most: usize,
) -> Option<Vec<Timestamp>> {
    let zone: Tz = name.parse().ok()?;
    let start = DateTime::from_timestamp(from.seconds(), 0)?.naive_utc();
    let mut day = zone.from_utc_datetime(&start).date_naive();
    let mut edges = vec![from];
    while edges.len() <= most {
        day = match cut {
            Cut::Day => day.succ_opt()?,
            Cut::Week => {
                let passed = day.weekday().num_days_from_monday();
                day.checked_add_days(Days::new(u64::from(7_u32.checked_sub(passed)?)))?
            }
            Cut::Month => day.with_day(1)?.checked_add_months(Months::new(1))?,
        };
        let edge = Timestamp(first_of_day(day, &zone)?);
        if edge >= to {
            break;
        }
        if edge > from {
            edges.push(edge);
        }
    }
    edges.push(to);
    Some(edges)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_changes_when_its_clocks_do() {
        let berlin = zone("Europe/Berlin").unwrap();
        assert_eq!(berlin.first, 3600);
        // 2026-03-29T01:00:00Z and 2026-10-25T01:00:00Z.
        assert!(berlin.changes.contains(&(1_774_746_000, 7200)));
        assert!(berlin.changes.contains(&(1_792_890_000, 3600)));
        assert_eq!(berlin.changes.len(), 200);
        assert_eq!(zone("UTC"), Some(Zone::default()));
        assert_eq!(zone("Mars/Olympus"), None);
    }

    #[test]
    fn edges_are_those_of_the_calendar_of_the_zone() {
        let at = |text: &str| Timestamp(bank_api::text::parse_rfc3339(text).unwrap());
        let shown = |zone: &str, from, to, cut| {
            let edges = edges(zone, (at(from), at(to)), cut, 1_000).unwrap();
            let text = |edge: &Timestamp| bank_api::text::format_rfc3339(edge.0);
            edges.iter().map(text).collect::<Vec<_>>()
        };
        // A day of 23 hours, one of 25, and one without midnight.
        let berlin = "Europe/Berlin";
        assert_eq!(
            shown(
                berlin,
                "2026-03-28T23:00:00Z",
                "2026-03-30T22:00:00Z",
                Cut::Day
            ),
            [
                "2026-03-28T23:00:00Z",
                "2026-03-29T22:00:00Z",
                "2026-03-30T22:00:00Z"
            ]
        );
        assert_eq!(
            shown(
                berlin,
                "2026-10-24T22:00:00Z",
                "2026-10-26T12:00:00Z",
                Cut::Day
            ),
            [
                "2026-10-24T22:00:00Z",
                "2026-10-25T23:00:00Z",
                "2026-10-26T12:00:00Z"
            ]
        );
        assert_eq!(
            shown(
                "America/Santiago",
                "2022-09-10T12:00:00Z",
                "2022-09-12T12:00:00Z",
                Cut::Day
            ),
            [
                "2022-09-10T12:00:00Z",
                "2022-09-11T04:00:00Z",
                "2022-09-12T03:00:00Z",
                "2022-09-12T12:00:00Z"
            ]
        );
        // 2026-01-01 is a Thursday.
        assert_eq!(
            shown(
                "UTC",
                "2026-01-01T00:00:00Z",
                "2026-01-13T00:00:00Z",
                Cut::Week
            ),
            [
                "2026-01-01T00:00:00Z",
                "2026-01-05T00:00:00Z",
                "2026-01-12T00:00:00Z",
                "2026-01-13T00:00:00Z"
            ]
        );
        assert_eq!(
            shown(
                "UTC",
                "2026-01-31T00:00:00Z",
                "2026-03-02T00:00:00Z",
                Cut::Month
            ),
            [
                "2026-01-31T00:00:00Z",
                "2026-02-01T00:00:00Z",
                "2026-03-01T00:00:00Z",
                "2026-03-02T00:00:00Z"
            ]
        );
        let year = (at("2026-01-01T00:00:00Z"), at("2027-01-01T00:00:00Z"));
        assert_eq!(edges("UTC", year, Cut::Day, 10).unwrap().len(), 12);
        assert_eq!(edges("Mars/Olympus", year, Cut::Day, 10), None);
    }
}
