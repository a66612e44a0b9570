//! Numbers and times as text, without floating point and without locale.

use chrono::{DateTime, SecondsFormat, Utc};

/// The characters that end a line to some reader: control characters, and the separators of lines and
/// paragraphs.
pub(super) fn ends_line(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

/// `value` × 10^-`places` in plain decimal without trailing zeros: `3571.2`,
/// `-100`, `0`.
pub(super) fn decimal(value: i128, places: u32) -> String {
    let one = 10_u128.pow(places.min(30));
    let (whole, rest) = (value.unsigned_abs() / one, value.unsigned_abs() % one);
    let sign = if value < 0 { "-" } else { "" };
    if rest == 0 {
        return format!("{sign}{whole}");
    }
    let width = usize::try_from(places).unwrap_or_default();
    let digits = format!("{rest:0width$}");
    format!("{sign}{whole}.{}", digits.trim_end_matches('0'))
}

/// `numerator` ÷ `denominator`, both ≥ 0, to the nearest whole number, halves
/// up (`usage-records.md` 6.3, "Units").
pub(super) fn nearest(numerator: i128, denominator: i128) -> i128 {
    let denominator = denominator.max(1);
    let (whole, rest) = (numerator / denominator, numerator % denominator);
    if rest >= denominator - rest {
        whole + 1
    } else {
        whole
    }
}

/// Millionths to the next whole number upwards.
pub(super) fn ceiling(millionths: i128) -> i128 {
    millionths / 1_000_000 + i128::from(millionths % 1_000_000 > 0)
}

/// Microseconds as `PT71.2S` (`usage-records.md` 1.5), as `-PT71.2S` below 0.
pub(super) fn duration(microseconds: i64) -> String {
    let sign = if microseconds < 0 { "-" } else { "" };
    let length = i128::from(microseconds).saturating_abs();
    format!("{sign}PT{}S", decimal(length, 6))
}

/// Microseconds since 1970 as `2026-01-20T12:00:05Z`, with as many digits of
/// a second as there are (none, 3 or 6). `None` beyond the calendar.
pub(super) fn time(microseconds: i64) -> Option<String> {
    let time = DateTime::<Utc>::from_timestamp_micros(microseconds)?;
    Some(time.to_rfc3339_opts(SecondsFormat::AutoSi, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals() {
        for (value, places, expected) in [
            (3_571_200, 3, "3571.2"),
            (-100_000, 3, "-100"),
            (-5, 3, "-0.005"),
            (0, 6, "0"),
            (7, 0, "7"),
            (i128::from(i64::MIN), 0, "-9223372036854775808"),
        ] {
            assert_eq!(decimal(value, places), expected);
        }
    }

    #[test]
    fn roundings() {
        for (numerator, denominator, expected) in [
            (0, 5, 0),
            (1, 2, 1),
            (49, 100, 0),
            (5, 3, 2),
            (4, 3, 1),
            (i128::MAX, i128::MAX, 1),
        ] {
            assert_eq!(
                nearest(numerator, denominator),
                expected,
                "{numerator}/{denominator}"
            );
        }
        assert_eq!(
            [
                ceiling(0),
                ceiling(1),
                ceiling(1_000_000),
                ceiling(1_000_001)
            ],
            [0, 1, 1, 2]
        );
    }

    #[test]
    fn times() {
        assert_eq!(duration(71_200_000), "PT71.2S");
        assert_eq!(duration(-71_200_000), "-PT71.2S");
        assert_eq!(duration(0), "PT0S");
        assert_eq!(duration(1), "PT0.000001S");
        assert_eq!(time(0).as_deref(), Some("1970-01-01T00:00:00Z"));
        assert_eq!(
            time(1_768_910_400_250_000).as_deref(),
            Some("2026-01-20T12:00:00.250Z")
        );
        assert_eq!(time(i64::MAX), None);
    }
}
