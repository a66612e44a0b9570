//! Times: RFC 3339 in UTC for machines, and the short forms that people type (`ux.md` 2.2).

use chrono::{
    DateTime, NaiveDate, NaiveDateTime, NaiveTime, Offset as _, SecondsFormat, TimeDelta, TimeZone,
    Utc,
};

use super::duration::{digits, unit_seconds};

const MICROS: i64 = 1_000_000;

/// A time argument: a moment, or no limit in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Moment {
    /// `-infinity`: a window without start.
    Past,
    /// µs since 1970 UTC.
    At(i64),
    /// `infinity`: a window without end.
    Future,
}

/// RFC 3339 in UTC with `Z`, with no, three or six decimals as needed. A time outside of chrono's calendar
/// is `infinity` or `-infinity`.
pub fn format_rfc3339(micros: i64) -> String {
    match DateTime::<Utc>::from_timestamp_micros(micros) {
        Some(time) => time.to_rfc3339_opts(SecondsFormat::AutoSi, true),
        None if micros < 0 => "-infinity".to_owned(),
        None => "infinity".to_owned(),
    }
}

/// A readable time in whole seconds with its zone, `2026-11-20 21:41:05 UTC`. Fractions are cut.
pub fn format_seconds(micros: i64) -> String {
    match DateTime::<Utc>::from_timestamp_micros(micros) {
        Some(time) => time.format("%Y-%m-%d %H:%M:%S UTC").to_string(),
        None => format_rfc3339(micros),
    }
}

/// µs since 1970 UTC of an RFC 3339 time with any offset; digits finer than µs are refused.
pub fn parse_rfc3339(text: &str) -> Option<i64> {
    let decimals = text.split_once('.').map_or(0, |(_, rest)| {
        rest.bytes().take_while(u8::is_ascii_digit).count()
    });
    if decimals > 6 {
        return None;
    }
    DateTime::parse_from_rfc3339(text)
        .ok()
        .map(|time| time.timestamp_micros())
}

/// µs since 1970 UTC of a `Bank-Event-Time`: RFC 3339 in UTC with `Z`, at most 6 decimals
/// (`http-auth.md` 1).
pub fn parse_event_time(text: &str) -> Option<i64> {
    if text.ends_with('Z') {
        parse_rfc3339(text)
    } else {
        None
    }
}

/// A time argument of the command line, for `now_us` (µs since 1970 UTC) and the caller's zone:
///
/// | written | means |
/// |---|---|
/// | `2026-10-01`, `2026-10` | the first instant of that day or month in `zone` |
/// | `2026-10-01 12:00:00`, `2026-10-01 12:00` | that time in `zone` (`T` for the blank too) |
/// | `2026-10-01T12:00:00Z`, with any offset | that instant |
/// | `now`, `today` | now; the first instant of today in `zone` |
/// | `-30d`, `+10d`; units `s m h d w` | so long before or after now |
/// | `infinity`, `-infinity` | no limit |
///
/// `None` for anything else, and for a local time that a clock change leaves out.
pub fn parse_time<Z: TimeZone>(text: &str, now_us: i64, zone: &Z) -> Option<Moment> {
    match text {
        "infinity" => return Some(Moment::Future),
        "-infinity" => return Some(Moment::Past),
        "now" => return Some(Moment::At(now_us)),
        "today" => {
            let now = DateTime::<Utc>::from_timestamp_micros(now_us)?.with_timezone(zone);
            return first_of_day(now.date_naive(), zone).map(Moment::At);
        }
        _ => {}
    }
    if text.starts_with(['-', '+']) {
        return relative(text, now_us);
    }
    if let Some(micros) = parse_rfc3339(text) {
        return Some(Moment::At(micros));
    }
    let whole_month = format!("{text}-01");
    let date = |text: &str| NaiveDate::parse_from_str(text, "%Y-%m-%d").ok();
    let shape = |pattern: &str| has_shape(text, pattern);
    let day = if shape("0000-00-00") {
        Some(date(text)?)
    } else if shape("0000-00") {
        Some(date(&whole_month)?)
    } else {
        None
    };
    let at = if let Some(day) = day {
        first_of_day(day, zone)
    } else {
        let text = text.replacen('T', " ", 1);
        let local = ["%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M"]
            .iter()
            .find_map(|form| NaiveDateTime::parse_from_str(&text, form).ok())?;
        at_zone(local, zone)
    };
    at.map(Moment::At)
}

fn relative(text: &str, now_us: i64) -> Option<Moment> {
    let unit = unit_seconds(text.bytes().last()?)?;
    let count = digits(text.get(1..text.len() - 1)?)?;
    let distance = count.checked_mul(unit)?.checked_mul(MICROS)?;
    let at = if text.starts_with('-') {
        now_us.checked_sub(distance)
    } else {
        now_us.checked_add(distance)
    };
    at.map(Moment::At)
}

/// Digits where the pattern has `0`, the pattern's own characters elsewhere.
fn has_shape(text: &str, pattern: &str) -> bool {
    text.len() == pattern.len()
        && text.bytes().zip(pattern.bytes()).all(|(byte, wanted)| {
            if wanted == b'0' {
                byte.is_ascii_digit()
            } else {
                byte == wanted
            }
        })
}

/// The first instant of a day in a zone, in µs since 1970 UTC. Some days begin after midnight, where clocks go forward then.
pub fn first_of_day<Z: TimeZone>(day: NaiveDate, zone: &Z) -> Option<i64> {
    let midnight = day.and_time(NaiveTime::MIN);
    let quarters = (0..=16).map(|n| midnight.checked_add_signed(TimeDelta::minutes(15 * n)));
    quarters.flatten().find_map(|local| at_zone(local, zone))
}

/// A local time in a zone, in µs since 1970 UTC. One that occurs twice counts as its first occurrence; one that a clock
/// change leaves out has none. The offsets of the day before and the day after decide, because `chrono::Local` gives the
/// second occurrence as the earliest.
fn at_zone<Z: TimeZone>(local: NaiveDateTime, zone: &Z) -> Option<i64> {
    let offset = |utc: &NaiveDateTime| zone.offset_from_utc_datetime(utc).fix();
    let by_day = |days| {
        let near = local.checked_add_signed(TimeDelta::days(days))?;
        let own = offset(&near);
        let utc = local.checked_sub_offset(own)?;
        (offset(&utc) == own).then(|| utc.and_utc().timestamp_micros())
    };
    [by_day(-1), by_day(1)].into_iter().flatten().min()
}

#[cfg(test)]
mod tests {
    use chrono::FixedOffset;
    use proptest::prelude::*;

    use super::*;

    const T0: i64 = 1_767_225_600 * MICROS;

    #[test]
    fn people_read_whole_seconds() {
        for (micros, text) in [
            (T0, "2026-01-01 00:00:00 UTC"),
            (T0 + 999_999, "2026-01-01 00:00:00 UTC"),
            (T0 - 1, "2025-12-31 23:59:59 UTC"),
            (i64::MAX, "infinity"),
        ] {
            assert_eq!(format_seconds(micros), text);
        }
    }

    #[test]
    fn rfc3339() {
        for (micros, text) in [
            (T0, "2026-01-01T00:00:00Z"),
            (T0 + 500_000, "2026-01-01T00:00:00.500Z"),
            (T0 + 1, "2026-01-01T00:00:00.000001Z"),
            (-1, "1969-12-31T23:59:59.999999Z"),
        ] {
            assert_eq!(format_rfc3339(micros), text);
            assert_eq!(parse_event_time(text), Some(micros));
        }
        assert_eq!(format_rfc3339(i64::MAX), "infinity");
        assert_eq!(format_rfc3339(i64::MIN), "-infinity");
    }

    #[test]
    fn event_times_are_utc() {
        assert_eq!(parse_rfc3339("2026-01-01T02:00:00+02:00"), Some(T0));
        for text in [
            "2026-01-01T02:00:00+02:00",
            "2026-01-01T00:00:00.0000001Z",
            "2026-01-01T00:00:00",
            "2026-13-01T00:00:00Z",
            "1767225600",
            "",
            "Z",
        ] {
            assert_eq!(parse_event_time(text), None, "{text}");
        }
    }

    #[test]
    fn arguments() {
        let zone = FixedOffset::east_opt(7200).unwrap();
        let hours = |count: i64| Some(Moment::At(T0 + count * 3600 * MICROS));
        for (text, expected) in [
            ("2026-01-01", hours(-2)),
            ("2026-01", hours(-2)),
            ("2026-01-01 12:00:00", hours(10)),
            ("2026-01-01T12:00", hours(10)),
            ("2026-01-01T12:00:00Z", hours(12)),
            ("now", hours(1)),
            ("today", hours(-2)),
            ("-30d", hours(1 - 720)),
            ("+10d", hours(241)),
            ("+2h", hours(3)),
            ("infinity", Some(Moment::Future)),
            ("-infinity", Some(Moment::Past)),
            ("", None),
            ("-", None),
            ("-d", None),
            ("-5", None),
            ("+5ä", None),
            ("2026", None),
            ("2026-1", None),
            ("2026-02-30", None),
            ("tomorrow", None),
            ("-999999999999999999w", None),
        ] {
            assert_eq!(
                parse_time(text, T0 + 3600 * MICROS, &zone),
                expected,
                "{text}"
            );
        }
    }

    proptest! {
        #[test]
        fn read_back_as_written(micros in -60_000_000_000_000_000_i64..250_000_000_000_000_000) {
            prop_assert_eq!(parse_rfc3339(&format_rfc3339(micros)), Some(micros));
        }

        #[test]
        fn never_panics(text in "\\PC{0,24}") {
            let _ = parse_time(&text, T0, &Utc);
            let _ = super::super::parse_duration(&text);
        }
    }
}
