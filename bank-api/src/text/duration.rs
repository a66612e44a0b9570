//! Durations in whole seconds.

/// `12:00:00` for 43200. Hours exceed 24 (`96:00:00`), and a sign precedes the text.
pub fn format_clock(seconds: i64) -> String {
    let size = seconds.unsigned_abs();
    let sign = if seconds < 0 { "-" } else { "" };
    format!(
        "{sign}{:02}:{:02}:{:02}",
        size / 3600,
        size / 60 % 60,
        size % 60
    )
}

/// Seconds of `[[[DD:]HH:]MM:]SS`, of a plain count, or of units as in `36h`, `30m`, `2d`, `90s`, `1w`.
/// Every part consists of digits. Parts after the first may exceed the range of a clock, as in schedulers'
/// files (`nami.md` 3.1). `None` for other text and on overflow.
pub fn parse_duration(text: &str) -> Option<i64> {
    if let Some(unit) = text.bytes().last().filter(u8::is_ascii_alphabetic) {
        let count = digits(text.get(..text.len() - 1)?)?;
        return count.checked_mul(unit_seconds(unit)?);
    }
    let parts = text.split(':').count();
    if parts > 4 {
        return None;
    }
    let mut total: i64 = 0;
    for (index, part) in text.split(':').enumerate() {
        let scale = if index + 3 == parts && parts == 4 {
            24
        } else {
            60
        };
        total = total.checked_mul(scale)?.checked_add(digits(part)?)?;
    }
    Some(total)
}

/// Seconds of one unit letter.
pub(super) fn unit_seconds(unit: u8) -> Option<i64> {
    match unit {
        b's' => Some(1),
        b'm' => Some(60),
        b'h' => Some(3600),
        b'd' => Some(86_400),
        b'w' => Some(604_800),
        _ => None,
    }
}

pub(super) fn digits(text: &str) -> Option<i64> {
    let fits = (1..=18).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if fits { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks() {
        for (seconds, text) in [
            (0, "00:00:00"),
            (43_200, "12:00:00"),
            (345_600, "96:00:00"),
            (59, "00:00:59"),
            (-61, "-00:01:01"),
        ] {
            assert_eq!(format_clock(seconds), text);
        }
    }

    #[test]
    fn reading() {
        for (text, seconds) in [
            ("600", Some(600)),
            ("10:00", Some(600)),
            ("12:00:00", Some(43_200)),
            ("1:02:03:04", Some(93_784)),
            ("90:00", Some(5400)),
            ("36h", Some(129_600)),
            ("2d", Some(172_800)),
            ("1w", Some(604_800)),
            ("", None),
            (":", None),
            ("1:", None),
            ("-5", None),
            ("1.5", None),
            ("1:2:3:4:5", None),
            ("h", None),
            ("5y", None),
            ("5ä", None),
            ("999999999999999999", Some(999_999_999_999_999_999)),
            ("999999999999999999w", None),
            ("9999999999999999999", None),
        ] {
            assert_eq!(parse_duration(text), seconds, "{text}");
        }
    }
}
