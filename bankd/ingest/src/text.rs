//! Text parsing for all formats: null words, times, durations.

use std::borrow::Cow;

use chrono::{DateTime, NaiveDateTime, TimeZone};
use chrono_tz::Tz;

use super::instant::Instant;
use super::number::Number;

/// Words for "nothing" (`data/LAYOUT.md`), exactly so written.
const NULLS: [&str; 6] = ["", "NONE", "[NONE]", "(null)", "N/A", "Unknown"];

/// A nonempty text without control characters (`collectors.md` 0.3).
pub fn known(text: &str) -> Option<String> {
    if NULLS.contains(&text) {
        return None;
    }
    let clean = plain(text);
    (!clean.is_empty()).then_some(clean)
}

/// An id in the form used for identities: without control characters, which are not part of the
/// value (`collectors.md` 0.3), and without surrounding blanks. Ids with no other difference are
/// equal, in the summary as in the bank.
pub fn object_id(id: &str) -> Cow<'_, str> {
    if id.contains(char::is_control) {
        return Cow::Owned(plain(id).trim().to_owned());
    }
    Cow::Borrowed(id.trim())
}

/// A text without its control characters.
pub(super) fn plain(text: &str) -> String {
    if text.bytes().any(|b| !(0x20..0x7f).contains(&b)) {
        return text.chars().filter(|c| !c.is_control()).collect();
    }
    text.to_owned()
}

/// A count: digits only.
pub(super) fn count(text: &str) -> Option<Number> {
    if let Some(short) = digits(text.as_bytes()) {
        return Some(Number::whole(short));
    }
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| Number::parse(text)).flatten()
}

/// At least one and at most 18 digits, and nothing else.
pub(super) fn digits(bytes: &[u8]) -> Option<i64> {
    if bytes.is_empty() || bytes.len() > 18 {
        return None;
    }
    let mut number = 0_i64;
    for byte in bytes {
        if !byte.is_ascii_digit() {
            return None;
        }
        number = number * 10 + i64::from(*byte & 0xf);
    }
    Some(number)
}

/// Epoch time in microseconds, of a whole number whose size determines its unit: seconds,
/// milliseconds from 10^11, microseconds from 10^14 (`collectors.md` b).
pub(super) fn epoch_by_size(value: i64, largest: i64) -> Option<i64> {
    let factor = match largest {
        100_000_000_000_000.. => 1,
        100_000_000_000.. => 1_000,
        _ => 1_000_000,
    };
    value.checked_mul(factor)
}

/// `YYYY-MM-DDTHH:MM:SS` without an offset, in local time of `zone`. A time in a repeated hour has
/// two readings. A time in a skipped hour is the moment at which that hour would have begun.
pub(super) fn local(text: &str, zone: Tz) -> Option<Instant> {
    if zone == Tz::UTC
        && let Some(seconds) = plain_time(text.as_bytes())
    {
        return Some(Instant::exact(seconds.checked_mul(1_000_000)?));
    }
    let naive = NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f").ok()?;
    in_zone(naive, zone)
}

/// Exactly `YYYY-MM-DDTHH:MM:SS` of an existing day, as seconds since 1970 in UTC. Other formats
/// return `None`, although they may be valid times.
fn plain_time(text: &[u8]) -> Option<i64> {
    let [
        y1,
        y2,
        y3,
        y4,
        b'-',
        m1,
        m2,
        b'-',
        d1,
        d2,
        b'T',
        h1,
        h2,
        b':',
        n1,
        n2,
        b':',
        s1,
        s2,
    ] = text
    else {
        return None;
    };
    let year = digits(&[*y1, *y2, *y3, *y4])?;
    let two = |one: &u8, other: &u8| digits(&[*one, *other]);
    let (month, day) = (two(m1, m2)?, two(d1, d2)?);
    let (hour, minute, second) = (two(h1, h2)?, two(n1, n2)?, two(s1, s2)?);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i64::from(is_leap),
        _ => return None,
    };
    if !(1..=days).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    // Years begin in March, so that the day of a leap year is the last one.
    let (shifted, year) = if month > 2 {
        (month - 3, year)
    } else {
        (month + 9, year - 1)
    };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * shifted + 2) / 5 + day - 1;
    let of_era = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    let days = era * 146_097 + of_era - 719_468;
    Some(days * 86_400 + hour * 3_600 + minute * 60 + second)
}

/// A local time of a zone, read as [`local`] reads it.
pub(super) fn in_zone(naive: NaiveDateTime, zone: Tz) -> Option<Instant> {
    let found = zone.from_local_datetime(&naive);
    if let chrono::LocalResult::Ambiguous(one, other) = &found {
        let (one, other) = (one.timestamp_micros(), other.timestamp_micros());
        return Some(Instant::repeated(one.min(other), one.max(other)));
    }
    let at = found.earliest().or_else(|| {
        let before = naive.checked_sub_signed(chrono::TimeDelta::hours(1))?;
        let moved = zone.from_local_datetime(&before).earliest()?;
        moved.checked_add_signed(chrono::TimeDelta::hours(1))
    })?;
    Some(Instant::exact(at.timestamp_micros()))
}

/// RFC 3339 with a zone, in microseconds; finer fractions are cut.
pub(super) fn rfc3339(text: &str) -> Option<i64> {
    DateTime::parse_from_rfc3339(text)
        .ok()
        .map(|at| at.timestamp_micros())
}

/// `[D-][HH:]MM:SS[.fff]` in seconds.
pub(super) fn clock(text: &str) -> Option<Number> {
    if let Some(whole) = whole_clock(text) {
        return Some(Number::whole(whole));
    }
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (count(days)?, rest),
        None => (Number::ZERO, text),
    };
    let mut parts = rest.rsplit(':');
    let seconds = Number::parse(parts.next()?).filter(|n| !n.is_negative())?;
    let minutes = count(parts.next()?)?;
    let hours = match parts.next() {
        Some(hours) => count(hours)?,
        None => Number::ZERO,
    };
    if parts.next().is_some() {
        return None;
    }
    let of = |n: Number, seconds: i64| n.times(Number::whole(seconds));
    seconds
        .plus(of(minutes, 60)?)?
        .plus(of(hours, 3600)?)?
        .plus(of(days, 86_400)?)
}

/// As [`clock`], of whole seconds in short numbers.
fn whole_clock(text: &str) -> Option<i64> {
    let (mut days, mut whole, mut part) = (None, 0_i64, 0_i64);
    let (mut digits, mut colons) = (0_u8, 0_u8);
    for byte in text.bytes() {
        match byte {
            b'0'..=b'9' if digits < 9 => {
                part = part * 10 + i64::from(byte & 0xf);
                digits = digits.saturating_add(1);
                continue;
            }
            b':' if digits > 0 && colons < 2 => {
                whole = (whole + part) * 60;
                colons = colons.saturating_add(1);
            }
            b'-' if digits > 0 && colons == 0 && days.is_none() => days = Some(part),
            _ => return None,
        }
        (part, digits) = (0, 0);
    }
    let seconds = days.unwrap_or(0) * 86_400 + whole + part;
    (digits > 0 && colons > 0).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_words_are_nothing() {
        for (text, meant) in [
            ("NONE", None),
            ("none", Some("none")),
            ("default", Some("default")),
            ("unknown", Some("unknown")),
            ("Unknown", None),
            ("a\u{1}b", Some("ab")),
            ("\u{1}", None),
        ] {
            assert_eq!(known(text).as_deref(), meant, "{text:?}");
        }
    }

    #[test]
    fn durations_are_seconds() {
        for (text, seconds) in [
            ("00:03", Some("3")),
            ("01:02:03", Some("3723")),
            ("2-00:00:01", Some("172801")),
            ("729:39:16", Some("2626756")),
            ("19:23:4", Some("69784")),
            ("01:02.500", Some("62.5")),
            ("5", None),
            ("a:b", None),
            ("1:2:3:4", None),
            ("-1:00", None),
            ("1-2-3:00", None),
            ("1-:00", None),
            ("00:00:", None),
            ("9999999999:00", Some("599999999940")),
            ("1-00:00", Some("86400")),
        ] {
            let read = clock(text).map(|n| n.to_string());
            assert_eq!(read.as_deref(), seconds, "{text}");
        }
    }

    #[test]
    fn local_times_follow_their_zone() {
        let berlin = chrono_tz::Europe::Berlin;
        for (text, zone, at) in [
            ("1970-01-01T00:00:00", Tz::UTC, Some(Instant::exact(0))),
            (
                "1969-12-31T19:00:00",
                Tz::UTC,
                Some(Instant::exact(-18_000_000_000)),
            ),
            (
                "2026-10-25T02:30:00",
                berlin,
                Some(Instant::repeated(
                    1_792_888_200_000_000,
                    1_792_891_800_000_000,
                )),
            ),
            (
                "2026-03-29T02:30:00",
                berlin,
                Some(Instant::exact(1_774_747_800_000_000)),
            ),
            ("2026-02-30T00:00:00", Tz::UTC, None),
            ("2100-02-29T00:00:00", Tz::UTC, None),
            ("2026-13-01T00:00:00", Tz::UTC, None),
            ("2026-01-01T24:00:00", Tz::UTC, None),
            ("2026-01-01 00:00:00", Tz::UTC, None),
        ] {
            assert_eq!(local(text, zone), at, "{text}");
        }
    }

    /// Every day of four centuries and both edges, as the library of calendars has them.
    #[test]
    fn the_short_way_of_times_is_the_long_way() {
        let days = (-720_000_i64..3_000_000)
            .step_by(7)
            .chain(-719_528..-719_000);
        for day in days.chain(10_900..13_000) {
            let seconds = day * 86_400 + day.rem_euclid(86_400);
            let at = DateTime::from_timestamp(seconds, 0).unwrap();
            let text = at.format("%Y-%m-%dT%H:%M:%S").to_string();
            let found = plain_time(text.as_bytes());
            let meant = (text.len() == 19).then_some(seconds);
            assert_eq!(found, meant, "{text}");
        }
    }

    #[test]
    fn the_size_of_a_number_determines_its_unit() {
        for value in [1_700_000_000, 1_700_000_000_000, 1_700_000_000_000_000] {
            assert_eq!(
                epoch_by_size(value, value),
                Some(1_700_000_000_000_000),
                "{value}"
            );
        }
        assert_eq!(
            rfc3339("2024-01-01T00:00:00.5Z"),
            Some(1_704_067_200_500_000)
        );
    }
}
