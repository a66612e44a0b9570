//! Times of a page: in the zone of its address, entered and shown.

use bank_api::text::{Moment, format_rfc3339, parse_rfc3339, parse_time};
use chrono::{DateTime, Datelike as _, Utc};
use chrono_tz::Tz;

/// A time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Zone(Tz);

impl Default for Zone {
    fn default() -> Self {
        Self(Tz::UTC)
    }
}

impl Zone {
    /// By its name, such as `Europe/Berlin`.
    pub(crate) fn named(name: &str) -> Option<Self> {
        name.parse().ok().map(Self)
    }

    pub(crate) fn name(self) -> &'static str {
        self.0.name()
    }

    /// A time as people enter it, for the API; `None` for no limit and for what is no time.
    pub(crate) fn read(self, text: &str, now_us: i64) -> Option<String> {
        match parse_time(text, now_us, &self.0)? {
            Moment::At(micros) => Some(format_rfc3339(micros)),
            Moment::Past | Moment::Future => None,
        }
    }

    /// A time of the API: `2026-10-01 14:03`.
    pub(crate) fn time(self, text: &str) -> String {
        self.format(text, "%Y-%m-%d %H:%M")
    }

    /// The same, or a word for no time.
    pub(crate) fn time_or(self, text: Option<&str>, absent: &str) -> String {
        text.map_or_else(|| absent.to_owned(), |text| self.time(text))
    }

    /// The same with its seconds, if it has any, so that nothing is hidden.
    pub(crate) fn exact(self, text: &str) -> String {
        let short = self.time(text);
        let is_same = self.read(&short, 0) == self.read(text, 0);
        if is_same {
            short
        } else {
            self.format(text, "%Y-%m-%d %H:%M:%S")
        }
    }

    /// A time of the API as people enter it: a day, or a day with a time. Any other text stays.
    pub(crate) fn entered(self, text: &str) -> String {
        let read = |text: &str| self.read(text, 0);
        let short = [self.day(text), self.time(text)];
        let mut short = short
            .into_iter()
            .filter(|short| parse_rfc3339(text).is_some() && read(short) == read(text));
        short.next().unwrap_or_else(|| text.to_owned())
    }

    /// The day of a time of the API: `2026-10-01`.
    pub(crate) fn day(self, text: &str) -> String {
        self.format(text, "%Y-%m-%d")
    }

    /// The same, or a word for no day.
    pub(crate) fn day_or(self, text: Option<&str>, absent: &str) -> String {
        text.map_or_else(|| absent.to_owned(), |text| self.day(text))
    }

    /// A time in seconds since 1970.
    pub(crate) fn of_seconds(self, seconds: i64) -> String {
        self.time(&format_rfc3339(seconds.saturating_mul(1_000_000)))
    }

    /// The month before this one, and this one: the bounds of the last whole month, such as `2026-10` and `2026-11`.
    pub(crate) fn last_month(self, now_us: i64) -> (String, String) {
        let now = DateTime::<Utc>::from_timestamp_micros(now_us).unwrap_or_default();
        let first = now.with_timezone(&self.0).date_naive().with_day(1);
        let before = first.and_then(|day| day.pred_opt());
        let month = |day: chrono::NaiveDate| day.format("%Y-%m").to_string();
        (
            before.map(month).unwrap_or_default(),
            first.map(month).unwrap_or_default(),
        )
    }

    fn format(self, text: &str, form: &str) -> String {
        let micros = parse_rfc3339(text);
        let time = micros.and_then(DateTime::<Utc>::from_timestamp_micros);
        time.map_or_else(
            || text.to_owned(),
            |time| time.with_timezone(&self.0).format(form).to_string(),
        )
    }
}

/// Whole days between two times of the API.
pub(crate) fn days(from: &str, to: &str) -> Option<i64> {
    let (from, to) = (parse_rfc3339(from)?, parse_rfc3339(to)?);
    Some(to.checked_sub(from)?.div_euclid(86_400_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_entered_and_shown_in_the_zone() {
        let berlin = Zone::named("Europe/Berlin").unwrap();
        assert_eq!(berlin.read("2026-10", 0).unwrap(), "2026-09-30T22:00:00Z");
        assert_eq!(berlin.time("2026-09-30T22:00:00Z"), "2026-10-01 00:00");
        assert_eq!(Zone::default().day("2026-09-30T22:00:00Z"), "2026-09-30");
        assert_eq!(berlin.time("never"), "never");
        assert!(Zone::named("Mars/Olympus").is_none());
        let new_year = parse_rfc3339("2026-12-31T23:30:00Z").unwrap();
        let months = |from: &str, to: &str| (from.to_owned(), to.to_owned());
        assert_eq!(berlin.last_month(new_year), months("2026-12", "2027-01"));
        assert_eq!(
            Zone::default().last_month(new_year),
            months("2026-11", "2026-12")
        );
        assert_eq!(
            days("2026-10-01T00:00:00Z", "2026-10-31T12:00:00Z"),
            Some(30)
        );
    }
}
