//! Numbers of a document: exact, bounded, and nothing but digits
//! (`nami.md` 3.2). No sign, no exponent, no word such as `inf` is a number
//! here, and nothing is ever rounded.

use std::fmt;

/// An exact count or quantity ≥ 0: at most 15 digits before the point and 6
/// after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Number {
    micro: i128,
}

/// Millionths in one.
const ONE: i128 = 1_000_000;
/// The first value that has too many digits, in millionths.
const LIMIT: i128 = 1_000_000_000_000_000 * ONE;
/// Digits before the point.
const MAX_DIGITS: usize = 15;
/// Digits after the point.
const MAX_PLACES: usize = 6;
/// Ten years in seconds, two or three leap days included.
pub(super) const MAX_DURATION_S: i64 = 3653 * 86_400;
/// The end of the year 9999 in seconds since 1970.
const MAX_EPOCH_S: i64 = 253_402_300_799;

impl Number {
    /// A whole number, from 0 up to 15 digits.
    pub fn from_integer(value: i64) -> Option<Self> {
        Self::checked(i128::from(value) * ONE)
    }

    /// The value in millionths: below 10²¹.
    pub const fn micro(self) -> i128 {
        self.micro
    }

    /// The sum, unless it has too many digits.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        Self::checked(self.micro + other.micro)
    }

    fn checked(micro: i128) -> Option<Self> {
        (0..LIMIT).contains(&micro).then_some(Self { micro })
    }
}

impl fmt::Display for Number {
    /// Plain decimal without trailing zeros: `16`, `0.5`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.micro / ONE, self.micro % ONE);
        if rest == 0 {
            return write!(f, "{whole}");
        }
        let places = format!("{rest:06}");
        write!(f, "{whole}.{}", places.trim_end_matches('0'))
    }
}

/// ASCII digits, 1 to 15 of them.
pub(super) fn integer(text: &str) -> Option<i64> {
    let digits = text.as_bytes();
    if digits.is_empty() || digits.len() > MAX_DIGITS {
        return None;
    }
    digits.iter().try_fold(0_i64, |sum, digit| {
        digit
            .is_ascii_digit()
            .then(|| sum * 10 + i64::from(digit - b'0'))
    })
}

/// As [`integer`], with a minus sign allowed: exit codes only.
pub(super) fn signed(text: &str) -> Option<i64> {
    match text.strip_prefix('-') {
        Some(rest) => integer(rest).map(|value| -value),
        None => integer(text),
    }
}

/// A whole number of something.
pub(super) fn count(text: &str) -> Option<Number> {
    integer(text).and_then(Number::from_integer)
}

/// A number with at most 6 places, digits on both sides of its point.
pub(super) fn decimal(text: &str) -> Option<Number> {
    let Some((whole, places)) = text.split_once('.') else {
        return count(text);
    };
    if places.len() > MAX_PLACES {
        return None;
    }
    let mut micro = integer(places)?;
    for _ in places.len()..MAX_PLACES {
        micro *= 10;
    }
    Number::checked(i128::from(integer(whole)?) * ONE + i128::from(micro))
}

/// Seconds, or `[[DD:]HH:]MM:]SS`; at most ten years.
pub(super) fn duration(text: &str) -> Option<i64> {
    let mut units = [1, 60, 3_600, 86_400].into_iter();
    let mut seconds = 0_i64;
    for part in text.rsplit(':') {
        let value = integer(part)?.checked_mul(units.next()?)?;
        seconds = seconds.checked_add(value)?;
    }
    (seconds <= MAX_DURATION_S).then_some(seconds)
}

/// Seconds since 1970, up to the end of the year 9999; `None` for anything else.
pub fn epoch(text: &str) -> Option<i64> {
    integer(text).filter(|seconds| *seconds <= MAX_EPOCH_S)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals() {
        for (text, expected) in [
            ("0", Some("0")),
            ("16", Some("16")),
            ("0.5", Some("0.5")),
            ("1.50", Some("1.5")),
            ("0.000001", Some("0.000001")),
            ("999999999999999.999999", Some("999999999999999.999999")),
            ("0000000000000001", None),
            ("1.0000000", None),
            ("1000000000000000", None),
            ("1.", None),
            (".5", None),
            ("+1", None),
            ("-1", None),
            ("1e3", None),
            ("0x10", None),
            ("NaN", None),
            ("inf", None),
            ("1,5", None),
            ("1.2.3", None),
            ("١", None),
            ("", None),
        ] {
            assert_eq!(
                decimal(text).map(|n| n.to_string()).as_deref(),
                expected,
                "{text:?}"
            );
        }
    }

    #[test]
    fn durations() {
        for (text, expected) in [
            ("0", Some(0)),
            ("3600", Some(3600)),
            ("1:00", Some(60)),
            ("1:00:00", Some(3600)),
            ("00:10:00", Some(600)),
            ("2:00:00:01", Some(172_801)),
            ("315619200", Some(MAX_DURATION_S)),
            ("315619201", None),
            ("1:2:3:4:5", None),
            (":30", None),
            ("1::2", None),
            ("-3600", None),
            ("1.5", None),
            ("999999999999999:00:00:00", None),
            ("9223372036854775807", None),
            ("", None),
        ] {
            assert_eq!(duration(text), expected, "{text:?}");
        }
    }

    #[test]
    fn other_numbers() {
        assert_eq!(signed("-15"), Some(-15));
        assert_eq!(signed("--15"), None);
        assert_eq!(signed("-"), None);
        assert_eq!(epoch("253402300799"), Some(MAX_EPOCH_S));
        assert_eq!(epoch("253402300800"), None);
        let most = decimal("999999999999999.999999").unwrap();
        assert_eq!(most.checked_add(decimal("0.000001").unwrap()), None);
        assert_eq!(Number::from_integer(-1), None);
    }
}
