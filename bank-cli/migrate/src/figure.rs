//! Exact decimals with nine places. Databases that keep money as binary numbers print values such as
//! `0.30000000000000004`: what is beyond the ninth place is rounded away.

use std::fmt;

/// Places of a figure.
const PLACES: usize = 9;
/// Most digits of a number.
const DIGITS_MAX: usize = 40;
/// The largest figure, in whole credits: beyond it no bank of ours has room.
const WHOLE_MAX: i128 = i64::MAX as i128;

/// A decimal, in billionths.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Figure(i128);

impl Figure {
    pub(crate) const ZERO: Self = Self(0);

    /// Reads `-12.5` or `1.25e-05`. None for any other text, and for a number that is too large.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (text, negative) = match text.strip_prefix('-') {
            Some(rest) => (rest, true),
            None => (text.strip_prefix('+').unwrap_or(text), false),
        };
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: String = [whole, fraction].concat();
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number || digits.len() > DIGITS_MAX || exponent.abs() > 60 {
            return None;
        }
        // The place of the point among the digits, and how many digits are kept.
        let point = i32::try_from(whole.len()).ok()?.checked_add(exponent)?;
        let kept = usize::try_from(point.checked_add(i32::try_from(PLACES).ok()?)?).unwrap_or(0);
        let mut value: i128 = 0;
        for byte in digits.bytes().chain(std::iter::repeat(b'0')).take(kept) {
            value = value
                .checked_mul(10)?
                .checked_add(i128::from(byte - b'0'))?;
        }
        let is_up = point > -10
            && digits
                .as_bytes()
                .get(kept)
                .is_some_and(|next| *next >= b'5');
        value = value.checked_add(i128::from(is_up))?;
        if value / 1_000_000_000 > WHOLE_MAX {
            return None;
        }
        Some(Self(if negative { -value } else { value }))
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    pub(crate) fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The product, rounded to nine places, half to even. None if it is too large.
    pub(crate) fn times(self, other: Self) -> Option<Self> {
        let product = self.0.checked_mul(other.0)?;
        Some(Self(half_even(product, 1_000_000_000)))
    }

    pub(crate) fn is_negative(self) -> bool {
        self.0 < 0
    }

    pub(crate) fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// With so many places, half to even.
    pub(crate) fn rounded(self, places: usize) -> Self {
        let unit = unit(places);
        Self(half_even(self.0, unit).saturating_mul(unit))
    }

    /// With so many places, half away from zero.
    pub(crate) fn half_up(self, places: usize) -> Self {
        let unit = unit(places);
        let half = unit / 2 * self.0.signum();
        Self((self.0.saturating_add(half) / unit).saturating_mul(unit))
    }

    /// Whether it differs from another by the noise of binary numbers only: less than a millionth.
    pub(crate) fn is_near(self, other: Self) -> bool {
        self.0.saturating_sub(other.0).abs() < 1000
    }

    /// Places that it needs.
    pub(crate) fn places(self) -> usize {
        (0..PLACES)
            .find(|places| self.0 % unit(*places) == 0)
            .unwrap_or(PLACES)
    }
}

/// The value of the last place, in billionths.
fn unit(places: usize) -> i128 {
    let zeros = PLACES.saturating_sub(places);
    (0..zeros).fold(1, |unit, _| unit * 10)
}

fn half_even(value: i128, unit: i128) -> i128 {
    let (quotient, rest) = (value.div_euclid(unit), value.rem_euclid(unit));
    let twice = rest * 2;
    let up = twice > unit || (twice == unit && quotient % 2 != 0);
    quotient + i128::from(up)
}

/// Without zeros at its end.
impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let (whole, fraction) = (self.0.abs() / 1_000_000_000, self.0.abs() % 1_000_000_000);
        write!(f, "{sign}{whole}")?;
        if fraction == 0 {
            return Ok(());
        }
        let digits = format!("{fraction:09}");
        write!(f, ".{}", digits.trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(text: &str) -> String {
        Figure::parse(text).map_or_else(|| "none".to_owned(), |figure| figure.to_string())
    }

    #[test]
    fn numbers_are_read_exactly_to_nine_places() {
        for (text, shown) in [
            ("0", "0"),
            ("97550", "97550"),
            ("97550.0", "97550"),
            ("-12.50", "-12.5"),
            ("+3", "3"),
            (".5", "0.5"),
            ("5.", "5"),
            ("70000.125", "70000.125"),
            ("0.30000000000000004", "0.3"),
            ("99.99999999999999", "100"),
            ("1e-05", "0.00001"),
            ("1.5E3", "1500"),
            ("1e-30", "0"),
            ("5e-10", "0.000000001"),
            ("9223372036854775807", "9223372036854775807"),
            ("9223372036854775808", "none"),
            ("", "none"),
            ("-", "none"),
            (".", "none"),
            ("1,000", "none"),
            ("abc", "none"),
            ("nan", "none"),
            ("1e999", "none"),
            ("--1", "none"),
            ("99999999999999999999999999999999999999999", "none"),
        ] {
            assert_eq!(show(text), shown, "{text}");
        }
    }

    #[test]
    fn rounding_knows_both_rules() {
        let of = |text: &str| Figure::parse(text).unwrap();
        for (text, even, up) in [("0.5", "0", "1"), ("1.5", "2", "2"), ("-2.5", "-2", "-3")] {
            assert_eq!(of(text).rounded(0).to_string(), even, "{text}");
            assert_eq!(of(text).half_up(0).to_string(), up, "{text}");
        }
        assert_eq!(of("312998.125").rounded(2).to_string(), "312998.12");
        assert_eq!(of("312998.125").places(), 3);
        assert_eq!(of("60").times(of("0.5")).unwrap().to_string(), "30");
        assert!(of("7.0050001").is_near(of("7.005")));
        assert!(!of("7.006").is_near(of("7.005")));
    }
}
