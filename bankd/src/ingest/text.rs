//! What all formats' texts have in common: null words, times, durations.

use chrono::{DateTime, NaiveDateTime, TimeZone};
use chrono_tz::Tz;

use super::number::Number;

/// Words for "nothing" (`data/LAYOUT.md`), exactly so written.
const NULLS: [&str; 6] = ["", "NONE", "[NONE]", "(null)", "N/A", "Unknown"];

/// A text that says something, without its control characters (`collectors.md` 0.3).
pub(crate) fn known(text: &str) -> Option<String> {
    if NULLS.contains(&text) {
        return None;
    }
    let clean = plain(text);
    (!clean.is_empty()).then_some(clean)
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
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| Number::parse(text)).flatten()
}

/// Epoch time in microseconds, of a whole number whose size tells its unit: seconds, milliseconds
/// from 10^11, microseconds from 10^14 (`collectors.md` b).
pub(super) fn epoch_by_size(value: i64, largest: i64) -> Option<i64> {
    let factor = match largest {
        100_000_000_000_000.. => 1,
        100_000_000_000.. => 1_000,
        _ => 1_000_000,
    };
    value.checked_mul(factor)
}

/// `YYYY-MM-DDTHH:MM:SS` without a zone, as it was in `zone`, in microseconds. Of an hour that came
/// twice the earlier one; the flag says so. An hour that never was counts as the moment it began.
pub(super) fn local(text: &str, zone: Tz) -> Option<(i64, bool)> {
    let naive = NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f").ok()?;
    in_zone(naive, zone)
}

/// A moment as the clocks of a zone showed it, in microseconds; as [`local`] has it.
pub(super) fn in_zone(naive: NaiveDateTime, zone: Tz) -> Option<(i64, bool)> {
    let found = zone.from_local_datetime(&naive);
    let twice = matches!(found, chrono::LocalResult::Ambiguous(..));
    let at = found.earliest().or_else(|| {
        let before = naive.checked_sub_signed(chrono::TimeDelta::hours(1))?;
        let moved = zone.from_local_datetime(&before).earliest()?;
        moved.checked_add_signed(chrono::TimeDelta::hours(1))
    })?;
    Some((at.timestamp_micros(), twice))
}

/// RFC 3339 with a zone, in microseconds; finer fractions are cut.
pub(super) fn rfc3339(text: &str) -> Option<i64> {
    DateTime::parse_from_rfc3339(text)
        .ok()
        .map(|at| at.timestamp_micros())
}

/// `[D-][HH:]MM:SS[.fff]` in seconds.
pub(super) fn clock(text: &str) -> Option<Number> {
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
        ] {
            let read = clock(text).map(|n| n.to_string());
            assert_eq!(read.as_deref(), seconds, "{text}");
        }
    }

    #[test]
    fn local_times_follow_their_zone() {
        let berlin = chrono_tz::Europe::Berlin;
        for (text, zone, at) in [
            ("1970-01-01T00:00:00", Tz::UTC, Some((0, false))),
            (
                "1969-12-31T19:00:00",
                Tz::UTC,
                Some((-18_000_000_000, false)),
            ),
            (
                "2026-10-25T02:30:00",
                berlin,
                Some((1_792_888_200_000_000, true)),
            ),
            (
                "2026-03-29T02:30:00",
                berlin,
                Some((1_774_747_800_000_000, false)),
            ),
            ("2026-02-30T00:00:00", Tz::UTC, None),
        ] {
            assert_eq!(local(text, zone), at, "{text}");
        }
    }

    #[test]
    fn the_size_of_a_number_tells_its_unit() {
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
