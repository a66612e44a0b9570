//! Time zones, that of the machine or one that the caller names, and times on their wall clocks.

use bank_api::text::{self, Moment};
use chrono::{DateTime, FixedOffset, Local, NaiveTime, Offset as _, TimeZone as _, Utc};
use chrono_tz::Tz;

/// The zone in which times are read and shown.
#[derive(Debug, Clone, Copy)]
pub enum Zone {
    /// That of the machine (`TZ`).
    Local,
    /// One that was asked for by name.
    Named(Tz),
}

impl Zone {
    /// One by its name, such as `Europe/Berlin`; none where the tables have no such name.
    pub fn named(name: &str) -> Option<Self> {
        name.parse().ok().map(Self::Named)
    }

    /// A time as people type it; `now_us` is the start of `-30d`. None for any other text.
    pub fn read(self, text: &str, now_us: i64) -> Option<Moment> {
        match self {
            Self::Local => text::parse_time(text, now_us, &Local),
            Self::Named(zone) => text::parse_time(text, now_us, &zone),
        }
    }

    /// Whether it is UTC by its name, not a zone that has the same offset for a season.
    pub fn is_utc(self) -> bool {
        matches!(self, Self::Named(zone) if zone == Tz::UTC)
    }

    /// The offset of this zone at a moment.
    pub fn offset_at(self, us: i64) -> FixedOffset {
        let utc = DateTime::<Utc>::from_timestamp_micros(us)
            .unwrap_or_default()
            .naive_utc();
        match self {
            Self::Local => Local.offset_from_utc_datetime(&utc).fix(),
            Self::Named(zone) => zone.offset_from_utc_datetime(&utc).fix(),
        }
    }

    /// How times between two moments are shown: the name of the zone, else its offsets at these moments.
    pub fn label(self, from: i64, until: i64) -> String {
        if let Self::Named(zone) = self {
            return format!("of {}", zone.name());
        }
        let [first, last] = [from, until].map(|us| self.show(us).format("%z").to_string());
        if first == last {
            return last;
        }
        format!("{first} at the start and {last} at the end")
    }

    /// A moment as this zone's wall clock, with its offset.
    pub fn show(self, us: i64) -> DateTime<FixedOffset> {
        let utc = DateTime::<Utc>::from_timestamp_micros(us).unwrap_or_default();
        utc.with_timezone(&self.offset_at(us))
    }

    /// The day on the wall clock: `2026-11-20`.
    pub fn day(self, us: i64) -> String {
        self.show(us).format("%Y-%m-%d").to_string()
    }

    /// The day and the time on the wall clock: `2026-11-20 22:41:05`.
    pub fn moment(self, us: i64) -> String {
        self.show(us).format("%Y-%m-%d %H:%M:%S").to_string()
    }

    /// A local midnight as its date, any other moment with its time.
    pub fn date(self, us: i64) -> String {
        self.midnight(us).unwrap_or_else(|| self.moment(us))
    }

    /// The date of a local midnight; none for any other moment.
    pub fn midnight(self, us: i64) -> Option<String> {
        let is_midnight = self.show(us).time() == NaiveTime::MIN;
        is_midnight.then(|| self.day(us))
    }
}
