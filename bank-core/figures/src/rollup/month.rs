//! Months of UTC days, by number: January 1970 is month 0, and the first of it day 0.

use super::DAY;
use bank_core::months::{Date, date, midnight};
use bank_core::time::Timestamp;

/// The month of a day.
pub fn of_day(day: i64) -> i64 {
    let Date { year, month, .. } = date(Timestamp(day.saturating_mul(DAY)));
    let years = year.saturating_sub(1970).saturating_mul(12);
    years.saturating_add(month).saturating_sub(1)
}

/// The first day of a month.
pub fn first_day(month: i64) -> i64 {
    let first = midnight(Date {
        year: month.div_euclid(12).saturating_add(1970),
        month: month.rem_euclid(12).saturating_add(1),
        day: 1,
    });
    first.0.div_euclid(DAY)
}

/// Its days: the first of it, and the first of the next.
pub fn days(month: i64) -> (i64, i64) {
    (first_day(month), first_day(month.saturating_add(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_lies_in_the_month_between_its_first_days() {
        assert_eq!((of_day(0), first_day(0)), (0, 0));
        assert_eq!((of_day(-1), first_day(-1)), (-1, -31));
        // 2024-02-29 and 2024-03-01.
        assert_eq!((of_day(19_782), of_day(19_783)), (649, 650));
        assert_eq!(days(649), (19_754, 19_783));
        for day in -40_000..80_000 {
            let (first, next) = days(of_day(day));
            assert!(first <= day && day < next, "{day}");
        }
    }
}
