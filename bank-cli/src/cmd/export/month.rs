//! Months of exports: calendar months in UTC.

use crate::fail::Failure;

/// The first instant of a month and of the next one, in UTC.
pub(super) fn bounds(month: &str) -> Result<(String, String), Failure> {
    let wrong = || Failure::usage(format!("{month:?} is not a month, such as 2026-01"));
    let (year, number) = month.split_once('-').ok_or_else(wrong)?;
    let is_plain = |text: &str, len| text.len() == len && text.bytes().all(|b| b.is_ascii_digit());
    if !is_plain(year, 4) || !is_plain(number, 2) {
        return Err(wrong());
    }
    let year: i32 = year.parse().map_err(|_| wrong())?;
    let number: i32 = number.parse().map_err(|_| wrong())?;
    let (next_year, next) = match number {
        1..=11 => (year, number + 1),
        12 => (year + 1, 1),
        _ => return Err(wrong()),
    };
    let first = |year: i32, month: i32| format!("{year:04}-{month:02}-01T00:00:00Z");
    Ok((first(year, number), first(next_year, next)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_are_those_of_utc() {
        let text = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(
            bounds("2026-12").unwrap(),
            text("2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z")
        );
        for wrong in [
            "2026",
            "2026-13",
            "2026-00",
            "26-01",
            "2026-1",
            "2026-01-01",
        ] {
            assert!(bounds(wrong).is_err(), "{wrong}");
        }
    }
}
