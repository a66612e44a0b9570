//! Durations of fields as they are typed.

use crate::{fail::Failure, moab, when};

/// Seconds of a duration: as FLUSHINTERVAL has it in a scheduler's configuration (nami.md 1.3), or as any
/// other one.
pub(super) fn seconds(text: &str) -> Result<i64, Failure> {
    moab::flush_interval(text).map_or_else(
        || {
            when::seconds(text).map_err(|failure| {
                failure
                    .hint("minute, hour, day, 12:00:00, 1:12:00:00 with days, 36h, 90m, or seconds")
            })
        },
        Ok,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flush_intervals_in_words_and_as_durations() {
        for (text, expected) in [
            ("minute", 60),
            ("Hour", 3600),
            ("DAY", 86_400),
            ("1:00:00", 3600),
            ("01:00:00:00", 86_400),
            ("30m", 1800),
            ("3600", 3600),
            ("0", 0),
        ] {
            assert_eq!(seconds(text).ok(), Some(expected), "{text}");
        }
        for text in ["soon", "hours", "1 hour", ""] {
            assert_eq!(seconds(text).unwrap_err().exit, 2, "{text}");
        }
    }
}
