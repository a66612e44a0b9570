//! Months, quarters and years of the local calendar, as people name them.

use chrono::Datelike as _;

use bank_picture::Zone;

use crate::{cli::NamedPeriodArgs, fail::Failure, when};

/// Start and end of a period as the daemon takes them: RFC 3339 UTC, the end exclusive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Period {
    /// The start, inclusive.
    pub(crate) from: String,
    /// The end, exclusive.
    pub(crate) until: String,
}

/// A month: `2026-10`.
pub(crate) fn month(text: &str, zone: Zone) -> Result<Period, Failure> {
    let read = || {
        let (year, month) = text.split_once('-')?;
        Some((number(year, 4)?, number(month, 2)?))
    };
    match read() {
        Some((year, month @ 1..=12)) => months(year, month, 1, zone),
        _ => Err(no_period(text, "a month, such as 2026-10")),
    }
}

/// A quarter: `2026Q4`, `2026-Q4`, `2026q4`.
pub(crate) fn quarter(text: &str, zone: Zone) -> Result<Period, Failure> {
    let read = || {
        let (year, quarter) = text.split_once(['Q', 'q'])?;
        let year = year.strip_suffix('-').unwrap_or(year);
        Some((number(year, 4)?, number(quarter, 1)?))
    };
    match read() {
        Some((year, quarter @ 1..=4)) => months(year, quarter * 3 - 2, 3, zone),
        _ => Err(no_period(text, "a quarter, such as 2026Q4")),
    }
}

/// A year: `2026`.
pub(crate) fn year(text: &str, zone: Zone) -> Result<Period, Failure> {
    match number(text, 4) {
        Some(year) => months(year, 1, 12, zone),
        None => Err(no_period(text, "a year, such as 2026")),
    }
}

/// Any of them.
pub(crate) fn any(text: &str, zone: Zone) -> Result<Period, Failure> {
    if number(text, 4).is_some() {
        return year(text, zone);
    }
    if text.contains(['Q', 'q']) {
        return quarter(text, zone);
    }
    month(text, zone).map_err(|_| no_period(text, "2026-10, 2026Q4 or 2026"))
}

/// The month, quarter or year that options name, as they name it; none where none does.
pub(crate) fn named(args: &NamedPeriodArgs, zone: Zone) -> Result<Option<(&str, Period)>, Failure> {
    if let Some(text) = &args.month {
        return Ok(Some((text, month(text, zone)?)));
    }
    if let Some(text) = &args.quarter {
        return Ok(Some((text, quarter(text, zone)?)));
    }
    let read = |text| Ok((text, year(text, zone)?));
    args.year.as_deref().map(read).transpose()
}

/// A month, quarter or year as two dates, the second exclusive: `2026-10-01` and `2026-11-01`.
pub(crate) fn dates(text: &str) -> Result<(String, String), Failure> {
    let (year, first, count) = parts(text)?;
    let end = first - 1 + count;
    let date = |year: i64, month: i64| format!("{year:04}-{month:02}-01");
    Ok((date(year, first), date(year + end / 12, end % 12 + 1)))
}

/// The first instants of the months of a month, quarter or year, in order.
pub(crate) fn starts_of_months(text: &str, zone: Zone) -> Result<Vec<String>, Failure> {
    let (year, first, count) = parts(text)?;
    let months = first..first + count;
    months.map(|month| at(year, month, zone)).collect()
}

/// The year, the first month and the number of months of a month, quarter or year.
fn parts(text: &str) -> Result<(i64, i64, i64), Failure> {
    let quarter = || {
        let (year, quarter) = text.split_once(['Q', 'q'])?;
        let year = year.strip_suffix('-').unwrap_or(year);
        Some((number(year, 4)?, number(quarter, 1)?))
    };
    let month = || {
        let (year, month) = text.split_once('-')?;
        Some((number(year, 4)?, number(month, 2)?))
    };
    match (number(text, 4), quarter(), month()) {
        (Some(year), ..) => Ok((year, 1, 12)),
        (_, Some((year, quarter @ 1..=4)), _) => Ok((year, quarter * 3 - 2, 3)),
        (_, _, Some((year, month @ 1..=12))) => Ok((year, month, 1)),
        _ => Err(no_period(text, "2026-10, 2026Q4 or 2026")),
    }
}

/// Whether a text is a date and nothing else: `2026-10-01`.
pub(crate) fn is_date(text: &str) -> bool {
    let mut parts = text.split('-');
    let mut part = |width| parts.next().and_then(|part| number(part, width)).is_some();
    let is_date = part(4) && part(2) && part(2);
    is_date && parts.next().is_none()
}

/// The first instant of the month that a moment lies in.
pub(crate) fn first_of_month(now_us: i64, zone: Zone) -> Result<String, Failure> {
    let today = zone.show(now_us);
    at(today.year().into(), today.month().into(), zone)
}

/// So many months from the first of one on.
fn months(year: i64, month: i64, count: i64, zone: Zone) -> Result<Period, Failure> {
    let end = month - 1 + count;
    Ok(Period {
        from: at(year, month, zone)?,
        until: at(year + end / 12, end % 12 + 1, zone)?,
    })
}

/// The first instant of a month.
fn at(year: i64, month: i64, zone: Zone) -> Result<String, Failure> {
    when::argument(&format!("{year:04}-{month:02}-01"), 0, zone)
}

/// Digits, exactly so many.
fn number(text: &str, width: usize) -> Option<i64> {
    let all_digits = text.len() == width && text.bytes().all(|byte| byte.is_ascii_digit());
    if all_digits { text.parse().ok() } else { None }
}

fn no_period(text: &str, expected: &str) -> Failure {
    Failure::usage(format!("{text:?} is not a period")).hint(expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_those_of_the_local_calendar() {
        let zone = Zone::Named(chrono_tz::Etc::GMTMinus1);
        for (text, from, until) in [
            ("2026-10", "2026-09-30T23:00:00Z", "2026-10-31T23:00:00Z"),
            ("2026-12", "2026-11-30T23:00:00Z", "2026-12-31T23:00:00Z"),
            ("2026Q4", "2026-09-30T23:00:00Z", "2026-12-31T23:00:00Z"),
            ("2026-q1", "2025-12-31T23:00:00Z", "2026-03-31T23:00:00Z"),
            ("2026", "2025-12-31T23:00:00Z", "2026-12-31T23:00:00Z"),
        ] {
            let got = any(text, zone).unwrap();
            assert_eq!(
                (got.from.as_str(), got.until.as_str()),
                (from, until),
                "{text}"
            );
        }
        for text in [
            "2026-13", "2026-00", "26-10", "2026Q5", "2026-1", "", "Q4", "20261",
        ] {
            assert_eq!(any(text, zone).unwrap_err().exit, 2, "{text}");
        }
        assert_eq!(
            first_of_month(when::read("2026-10-31T23:30:00Z").unwrap(), zone).unwrap(),
            "2026-10-31T23:00:00Z"
        );
    }
}
