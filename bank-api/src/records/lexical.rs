//! Durations, times and numbers as usage records write them (`usage-records.md` 1.5).

use crate::text::parse_rfc3339;

/// A duration in microseconds, and whether it contains years or months. These have a conventional length:
/// 365 days, and 2,628,000 seconds.
pub(super) fn duration(text: &str) -> Option<(i64, bool)> {
    let rest = text.strip_prefix('P')?;
    let (date, time) = match rest.split_once('T') {
        Some((_, "")) => return None,
        Some((date, time)) => (date, time),
        None => (rest, ""),
    };
    if date.is_empty() && time.is_empty() {
        return None;
    }
    let days: [(char, i128); 4] = [
        ('Y', 31_536_000),
        ('M', 2_628_000),
        ('W', 604_800),
        ('D', 86_400),
    ];
    let clock: [(char, i128); 3] = [('H', 3600), ('M', 60), ('S', 1)];
    let is_rough = date.contains(['Y', 'M']);
    let sum = parts(date, &days)?.checked_add(parts(time, &clock)?)?;
    Some((i64::try_from(sum).ok()?, is_rough))
}

/// The sum of numbers with their units, each unit once and in order.
fn parts(mut text: &str, units: &[(char, i128)]) -> Option<i128> {
    let mut left = units.iter();
    let mut sum = 0_i128;
    while !text.is_empty() {
        let end = text.find(|c: char| c.is_ascii_alphabetic())?;
        let (number, rest) = text.split_at_checked(end)?;
        let letter = rest.chars().next()?;
        let (_, seconds) = left.find(|(unit, _)| *unit == letter)?;
        let number = number.replace(',', ".");
        if number.contains('.') && letter != 'S' {
            return None;
        }
        let micros = decimal(&number, 6)?;
        sum = sum.checked_add(micros.checked_mul(*seconds)?)?;
        text = rest.get(1..)?;
    }
    Some(sum)
}

/// A plain decimal ≥ 0 in units of 10^-`places`; finer digits are cut off.
pub(super) fn decimal(text: &str, places: usize) -> Option<i128> {
    let (whole, rest) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(rest) || whole.len() > 18 {
        return None;
    }
    let rest = rest.get(..places.min(rest.len())).unwrap_or_default();
    let scale = 10_i128.checked_pow(u32::try_from(places).ok()?)?;
    let part: i128 = format!("{rest:0<places$}").parse().unwrap_or(0);
    whole
        .parse::<i128>()
        .ok()?
        .checked_mul(scale)?
        .checked_add(part)
}

/// The same with a sign.
pub(super) fn signed(text: &str, places: usize) -> Option<i128> {
    match text.strip_prefix('-') {
        Some(rest) => decimal(rest, places)?.checked_neg(),
        None => decimal(text, places),
    }
}

/// A time in microseconds since 1970, and whether it has a zone. Without one it is UTC.
pub(super) fn time(text: &str) -> Option<(i64, bool)> {
    let is_time = text.get(10..11) == Some("T");
    if let Some(at) = parse_rfc3339(text).filter(|_| is_time) {
        return Some((at, true));
    }
    let bare = is_time && !text.ends_with('Z');
    bare.then(|| parse_rfc3339(&format!("{text}Z")))
        .flatten()
        .map(|at| (at, false))
}

/// A whole number above zero.
pub(super) fn positive(text: &str) -> Option<i64> {
    let text = text.strip_prefix('+').unwrap_or(text);
    let plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|number| plain && *number > 0)
}

/// A number as a schema's `float` has it.
pub(super) fn is_float(text: &str) -> bool {
    if ["INF", "-INF", "NaN"].contains(&text) {
        return true;
    }
    let text = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((number, exponent)) => (
            number,
            exponent.strip_prefix(['-', '+']).unwrap_or(exponent),
        ),
        None => (text, "0"),
    };
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let has_digits = !whole.is_empty() || !part.is_empty();
    has_digits && !exponent.is_empty() && [whole, part, exponent].into_iter().all(digits)
}

/// Units of 10^-`places` as plain decimal without trailing zeros.
pub(super) fn text_of(value: i128, places: usize) -> String {
    let scale = 10_u128.pow(u32::try_from(places).unwrap_or(0).min(30));
    let size = value.unsigned_abs();
    let sign = if value < 0 { "-" } else { "" };
    let whole = size.checked_div(scale).unwrap_or(0);
    match size.checked_rem(scale).unwrap_or(0) {
        0 => format!("{sign}{whole}"),
        rest => {
            let rest = format!("{rest:0places$}");
            format!("{sign}{whole}.{}", rest.trim_end_matches('0'))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        let us = |seconds: i64| seconds * 1_000_000;
        for (text, expected) in [
            ("PT0S", Some((0, false))),
            ("PT71.2S", Some((71_200_000, false))),
            ("PT71,2S", Some((71_200_000, false))),
            ("P1DT2H3M4S", Some((us(93_784), false))),
            ("P2W", Some((us(1_209_600), false))),
            ("P1Y", Some((us(31_536_000), true))),
            ("P1M", Some((us(2_628_000), true))),
            ("PT1M", Some((us(60), false))),
            ("60", None),
            ("P", None),
            ("PT", None),
            ("P1S", None),
            ("PT1S1M", None),
            ("PT1.5H", None),
            ("-PT1S", None),
            ("PT-1S", None),
            ("PTS", None),
            ("", None),
        ] {
            assert_eq!(duration(text), expected, "{text}");
        }
    }

    #[test]
    fn times_and_numbers() {
        assert_eq!(time("1970-01-01T00:00:01Z"), Some((1_000_000, true)));
        assert_eq!(time("1970-01-01T01:00:01+01:00"), Some((1_000_000, true)));
        assert_eq!(time("1970-01-01T00:00:01"), Some((1_000_000, false)));
        for text in ["1768910400", "2026-01-20", "2026-01-20 12:00:00Z", ""] {
            assert_eq!(time(text), None, "{text}");
        }
        for (text, is) in [
            ("1", true),
            ("-1.5e10", true),
            (".5", true),
            ("INF", true),
            ("", false),
            ("1e", false),
            ("abc", false),
            (".", false),
        ] {
            assert_eq!(is_float(text), is, "{text}");
        }
        assert_eq!(positive("0"), None);
        assert_eq!(positive("2.5"), None);
        assert_eq!(positive("+7"), Some(7));
        assert_eq!(text_of(-3_571_200, 3), "-3571.2");
        assert_eq!(signed("-0.25", 2), Some(-25));
    }
}
