//! The calendar in UTC: months, quarters and years from an instant, and instants as text.
//!
//! Proleptic Gregorian, after H. Hinnant's `days_from_civil`; leap seconds do not exist here, as in
//! every Unix time.

use crate::time::{MICROS, Timestamp};

/// Microseconds in a day.
const DAY: i64 = 86_400 * MICROS;

/// A date: year, month from 1, day from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    /// The year.
    pub year: i64,
    /// 1 to 12.
    pub month: i64,
    /// 1 to 31.
    pub day: i64,
}

/// The date of an instant, in UTC.
pub fn date(at: Timestamp) -> Date {
    let days = at.0.div_euclid(DAY).saturating_add(719_468);
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let leaps = of_era
        .div_euclid(1460)
        .saturating_sub(of_era.div_euclid(36_524))
        .saturating_add(of_era.div_euclid(146_096));
    let year_of_era = of_era.saturating_sub(leaps).div_euclid(365);
    let before = days_before(year_of_era);
    let day_of_year = of_era.saturating_sub(before);
    let shifted = day_of_year
        .saturating_mul(5)
        .saturating_add(2)
        .div_euclid(153);
    let day = day_of_year
        .saturating_sub(month_offset(shifted))
        .saturating_add(1);
    let month = if shifted < 10 {
        shifted.saturating_add(3)
    } else {
        shifted.saturating_sub(9)
    };
    let year = year_of_era.saturating_add(era.saturating_mul(400));
    Date {
        year: if month <= 2 {
            year.saturating_add(1)
        } else {
            year
        },
        month,
        day,
    }
}

/// The first instant of a date, in UTC.
pub fn midnight(date: Date) -> Timestamp {
    let year = if date.month <= 2 {
        date.year.saturating_sub(1)
    } else {
        date.year
    };
    let era = year.div_euclid(400);
    let shifted = date.month.saturating_add(9).rem_euclid(12);
    let of_era = days_before(year.rem_euclid(400))
        .saturating_add(month_offset(shifted))
        .saturating_add(date.day)
        .saturating_sub(1);
    let days = era
        .saturating_mul(146_097)
        .saturating_add(of_era)
        .saturating_sub(719_468);
    Timestamp(days.saturating_mul(DAY))
}

/// Later by calendar months at the same time of day; a day that the month does not have becomes its
/// last one.
pub fn plus_months(at: Timestamp, months: i64) -> Timestamp {
    let from = date(at);
    let whole = from
        .year
        .saturating_mul(12)
        .saturating_add(from.month)
        .saturating_sub(1)
        .saturating_add(months);
    let (year, month) = (whole.div_euclid(12), whole.rem_euclid(12).saturating_add(1));
    let day = from.day.min(days_in(year, month));
    let time_of_day = at.0.rem_euclid(DAY);
    Timestamp(
        midnight(Date { year, month, day })
            .0
            .saturating_add(time_of_day),
    )
}

/// An instant as `2026-06-01T00:00:00Z`, whole seconds.
pub fn text(at: Timestamp) -> String {
    let Date { year, month, day } = date(at);
    let seconds = at.seconds().rem_euclid(86_400);
    let (hour, minute) = (
        seconds.div_euclid(3600),
        seconds.div_euclid(60).rem_euclid(60),
    );
    let second = seconds.rem_euclid(60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Days of a cycle of 400 years before one of its years, which begin in March.
fn days_before(year_of_era: i64) -> i64 {
    year_of_era
        .saturating_mul(365)
        .saturating_add(year_of_era.div_euclid(4))
        .saturating_sub(year_of_era.div_euclid(100))
}

/// Days before a month of a year that begins in March.
fn month_offset(shifted: i64) -> i64 {
    shifted.saturating_mul(153).saturating_add(2).div_euclid(5)
}

fn days_in(year: i64, month: i64) -> i64 {
    let is_leap =
        year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0);
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(year: i64, month: i64, day: i64) -> Timestamp {
        midnight(Date { year, month, day })
    }

    #[test]
    fn dates_and_instants_are_each_others_inverse() {
        assert_eq!(day(1970, 1, 1), Timestamp(0));
        assert_eq!(day(2026, 6, 1).seconds(), 1_780_272_000);
        let mut at = day(1899, 12, 30);
        while at < day(2105, 1, 2) {
            assert_eq!(midnight(date(at)), at);
            at = Timestamp(at.0 + DAY);
        }
        assert_eq!(
            text(Timestamp(day(2026, 2, 28).0 + DAY - 1)),
            "2026-02-28T23:59:59Z"
        );
    }

    #[test]
    fn months_end_where_they_end() {
        assert_eq!(plus_months(day(2026, 1, 31), 1), day(2026, 2, 28));
        assert_eq!(plus_months(day(2027, 12, 31), 2), day(2028, 2, 29));
        assert_eq!(plus_months(day(2026, 1, 31), 2), day(2026, 3, 31));
        assert_eq!(plus_months(day(2026, 3, 1), -1), day(2026, 2, 1));
        assert_eq!(plus_months(day(2024, 2, 29), 12), day(2025, 2, 28));
        let noon = Timestamp(day(2026, 11, 1).0 + DAY / 2);
        assert_eq!(plus_months(noon, 3), Timestamp(day(2027, 2, 1).0 + DAY / 2));
    }
}
