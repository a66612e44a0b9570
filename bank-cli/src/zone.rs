//! Time zones: that of the machine, or one that the caller names.

use chrono::{DateTime, FixedOffset, Local, Offset as _, TimeZone as _, Utc};
use chrono_tz::Tz;

/// The zone in which times are read and shown.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Zone {
    /// That of the machine (`TZ`).
    Local,
    /// One that was asked for by name.
    Named(Tz),
    /// A fixed one, for tests.
    #[cfg(test)]
    Fixed(FixedOffset),
}

impl Zone {
    /// One by its name, such as `Europe/Berlin`; none where the tables have no such name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        name.parse().ok().map(Self::Named)
    }

    /// The offset of this zone at a moment.
    pub(crate) fn offset_at(self, us: i64) -> FixedOffset {
        let utc = DateTime::<Utc>::from_timestamp_micros(us)
            .unwrap_or_default()
            .naive_utc();
        match self {
            Self::Local => Local.offset_from_utc_datetime(&utc).fix(),
            Self::Named(zone) => zone.offset_from_utc_datetime(&utc).fix(),
            #[cfg(test)]
            Self::Fixed(offset) => offset,
        }
    }

    /// A moment as this zone's wall clock, with its offset.
    pub(crate) fn show(self, us: i64) -> DateTime<FixedOffset> {
        let utc = DateTime::<Utc>::from_timestamp_micros(us).unwrap_or_default();
        utc.with_timezone(&self.offset_at(us))
    }
}
