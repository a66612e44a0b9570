//! Times of Gold: seconds since 1970 in messages, the wall clock for people.

use bank_api::text::Moment;
use bank_picture::Zone;

/// Gold's end of time.
const INFINITY: &str = "2147483647";

/// Now, and the zone of times.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    /// µs since 1970 UTC.
    pub now_us: i64,
    /// The zone of times for people.
    pub zone: Zone,
}

impl Clock {
    /// A time as a message has it. A text that is no time stays as it is: the server refuses it.
    pub(super) fn epoch(&self, text: &str) -> String {
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            return text.to_owned();
        }
        match self.zone.read(text, self.now_us) {
            Some(Moment::At(us)) => us.div_euclid(1_000_000).to_string(),
            Some(Moment::Future) => INFINITY.to_owned(),
            Some(Moment::Past) => "0".to_owned(),
            None => text.to_owned(),
        }
    }

    /// A time of a message for people; a midnight is its date.
    pub(super) fn shown(&self, value: &str) -> String {
        match value.parse::<i64>() {
            Ok(0) => "-infinity".to_owned(),
            Ok(_) if value == INFINITY => "infinity".to_owned(),
            Ok(seconds) if seconds > 0 => self.zone.date(seconds.saturating_mul(1_000_000)),
            _ => value.to_owned(),
        }
    }

    /// Now as `Tue Nov 24 00:32:11 2026`.
    pub(super) fn long(&self) -> String {
        let now = self.zone.show(self.now_us);
        now.format("%a %b %e %H:%M:%S %Y").to_string()
    }
}

/// True for names of attributes whose values are times.
pub(super) fn is_time(name: &str) -> bool {
    name.ends_with("Time")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_go_out_as_seconds_and_come_back_as_dates() {
        let zone = Zone::Named(chrono_tz::Etc::GMTMinus1);
        let now_us = 1_795_480_331_000_000;
        let clock = Clock { now_us, zone };
        for (typed, sent, shown) in [
            ("2026-01-01", "1767222000", "2026-01-01"),
            ("2026-01-01 12:00:00", "1767265200", "2026-01-01 12:00:00"),
            ("infinity", "2147483647", "infinity"),
            ("-infinity", "0", "-infinity"),
            ("now", "1795480331", "2026-11-24 01:32:11"),
            ("1767222000", "1767222000", "2026-01-01"),
            ("soon", "soon", "soon"),
            ("", "", ""),
        ] {
            assert_eq!(clock.epoch(typed), sent, "{typed}");
            assert_eq!(clock.shown(sent), shown, "{typed}");
        }
    }
}
