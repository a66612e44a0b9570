//! Times: read as people type them, shown on the wall clock of their zone (ux.md 2.2).

use bank_api::text::{self, Moment};
use bank_picture::Zone;

use crate::fail::Failure;

const DAY_US: i64 = 86_400_000_000;

/// A time argument as the daemon takes it: RFC 3339 UTC, `infinity` or `-infinity`.
pub(crate) fn argument(argument: &str, now_us: i64, zone: Zone) -> Result<String, Failure> {
    // People mean whole seconds: a window from -10m until now has no fractions.
    let now_us = now_us.saturating_sub(now_us.rem_euclid(1_000_000));
    match zone.read(argument, now_us) {
        Some(Moment::At(us)) => Ok(text::format_rfc3339(us)),
        Some(Moment::Future) => Ok("infinity".to_owned()),
        Some(Moment::Past) => Ok("-infinity".to_owned()),
        None if UTC.read(argument, now_us).is_some() => {
            let what = format!("{argument:?}: the clocks of the time zone skip this time");
            let hint = "a later time, or one with an offset: 2026-03-29T02:30:00+01:00";
            Err(Failure::usage(what).hint(hint))
        }
        None => Err(Failure::usage(format!("{argument:?} is not a time"))
            .hint(format!("{TIMES}, infinity"))),
    }
}

/// Its clocks skip no time.
const UTC: Zone = Zone::Named(chrono_tz::UTC);

/// What can be typed for a time that there is.
const TIMES: &str = "2026-10-01, '2026-10-01 12:00:00', 2026-10, today, now, -30d, +10d";

/// The same where a time must be one that there is: a report has a beginning and an end.
pub(crate) fn bounded(text: &str, now_us: i64, zone: Zone) -> Result<String, Failure> {
    match argument(text, now_us, zone) {
        Ok(time) if time.ends_with("infinity") => {
            let what = format!("{text}: this period has a beginning and an end");
            Err(Failure::usage(what).hint(TIMES))
        }
        Err(failure) => Err(failure.hint(TIMES)),
        found => found,
    }
}

/// A time of day without a zone as the daemon takes it, `2026-10-01T12:00:00`; none for anything else.
pub(crate) fn wall(argument: &str) -> Option<String> {
    let mut local = argument.replacen(' ', "T", 1);
    if local.len() == "2026-10-01T12:00".len() {
        local.push_str(":00");
    }
    read(&format!("{local}Z")).map(|_| local)
}

/// A duration argument in seconds.
pub(crate) fn seconds(argument: &str) -> Result<i64, Failure> {
    text::parse_duration(argument).ok_or_else(|| {
        Failure::usage(format!("{argument:?} is not a duration"))
            .hint("12:00:00, 1:12:00:00 with days, 36h, 90m, or seconds")
    })
}

/// µs since 1970 UTC of a time that the daemon sent.
pub(crate) fn read(rfc3339: &str) -> Option<i64> {
    text::parse_rfc3339(rfc3339)
}

/// `2026-11-20 22:41:05` on the wall clock; what is no time, as it is.
pub(crate) fn moment(rfc3339: &str, zone: Zone) -> String {
    read(rfc3339).map_or_else(|| rfc3339.to_owned(), |us| zone.moment(us))
}

/// The reason of a journal entry in words, with dates and times in the zone.
pub(crate) fn reason(text: &str, zone: Zone) -> String {
    let Some(words) = bank_picture::reason::in_words(text) else {
        return text.to_owned();
    };
    let shown = |word: &str| {
        let time = word.trim_end_matches([',', ';', ':', ')']);
        let behind = word.strip_prefix(time).unwrap_or_default();
        date(time, zone) + behind
    };
    words.split(' ').map(shown).collect::<Vec<_>>().join(" ")
}

/// `22:41:05` where the day is known.
pub(crate) fn clock(rfc3339: &str, zone: Zone) -> String {
    read(rfc3339).map_or_else(
        || rfc3339.to_owned(),
        |us| zone.show(us).format("%H:%M:%S").to_string(),
    )
}

/// A local midnight as its date, any other moment with its time.
pub(crate) fn date(rfc3339: &str, zone: Zone) -> String {
    read(rfc3339).map_or_else(|| rfc3339.to_owned(), |us| zone.date(us))
}

/// A local midnight as its date, any other moment as the daemon sent it.
pub(crate) fn short(rfc3339: &str, zone: Zone) -> String {
    let midnight = read(rfc3339).and_then(|us| zone.midnight(us));
    midnight.unwrap_or_else(|| rfc3339.to_owned())
}

/// Whole days from one moment to a later one; negative where it lies before.
pub(crate) fn days_between(from_us: i64, to_us: i64) -> i64 {
    to_us.saturating_sub(from_us).div_euclid(DAY_US)
}

/// Days on the calendar from one moment to a later one: how many midnights lie between them.
pub(crate) fn dates_between(from_us: i64, to_us: i64, zone: Zone) -> i64 {
    let date = |us| zone.show(us).date_naive();
    date(to_us).signed_duration_since(date(from_us)).num_days()
}

/// `14 s`, `2 min`, `4 h`, `12 days`.
pub(crate) fn span(seconds: i64) -> String {
    match seconds.max(0) {
        s @ 0..120 => format!("{s} s"),
        s @ 120..7200 => format!("{} min", s / 60),
        s @ 7200..172_800 => format!("{} h", s / 3600),
        s => format!("{} days", s / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone() -> Zone {
        Zone::Named(chrono_tz::Etc::GMTMinus1)
    }

    #[test]
    fn a_time_of_day_without_a_zone_is_left_to_the_daemon() {
        for (text, wall) in [
            ("2026-10-01 12:00", Some("2026-10-01T12:00:00")),
            ("2026-10-01T12:00:30", Some("2026-10-01T12:00:30")),
            ("2026-10-01 12:00:30.5", Some("2026-10-01T12:00:30.5")),
            ("2026-10-01T12:00:00Z", None),
            ("2026-10-01T12:00:00+02:00", None),
            ("2026-10-01", None),
            ("2026-13-01 12:00", None),
            ("-30d", None),
            ("now", None),
        ] {
            assert_eq!(super::wall(text).as_deref(), wall, "{text}");
        }
    }

    #[test]
    fn arguments_are_local_and_answers_utc() {
        let now = read("2026-11-20T21:41:00Z").unwrap();
        let cases = [
            ("2027-01-01", Some("2026-12-31T23:00:00Z")),
            ("today", Some("2026-11-19T23:00:00Z")),
            ("-1d", Some("2026-11-19T21:41:00Z")),
            ("infinity", Some("infinity")),
            ("next week", None),
        ];
        let berlin = Zone::Named(chrono_tz::Europe::Berlin);
        let skipped = argument("2026-03-29 02:30:00", now, berlin).unwrap_err();
        assert!(skipped.what.contains("skip this time"), "{}", skipped.what);
        for (text, expected) in cases {
            let got = argument(text, now, zone()).map_err(|failure| failure.exit);
            assert_eq!(got.as_deref(), expected.ok_or(&2), "{text}");
        }
    }

    #[test]
    fn midnights_are_dates() {
        let cases = [
            ("2026-12-31T23:00:00Z", "2027-01-01", "2027-01-01"),
            (
                "2027-01-01T00:00:00Z",
                "2027-01-01 01:00:00",
                "2027-01-01T00:00:00Z",
            ),
            ("infinity", "infinity", "infinity"),
        ];
        for (sent, screen, machine) in cases {
            assert_eq!(date(sent, zone()), screen);
            assert_eq!(short(sent, zone()), machine);
        }
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        let at = |text| read(text).unwrap();
        let now = at("2026-11-20T21:41:00Z");
        for (to, days) in [
            ("2026-12-31T23:00:00Z", 42),
            ("2026-11-20T22:59:00Z", 0),
            ("2026-11-20T23:00:00Z", 1),
            ("2026-11-19T12:00:00Z", -1),
        ] {
            assert_eq!(dates_between(now, at(to), zone()), days, "{to}");
        }
    }

    #[test]
    fn spans() {
        let cases = [
            (14, "14 s"),
            (150, "2 min"),
            (4 * 3600, "4 h"),
            (12 * 86_400 + 5, "12 days"),
        ];
        for (seconds, expected) in cases {
            assert_eq!(span(seconds), expected);
        }
    }
}
