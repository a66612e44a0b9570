//! Exact decimals of minor units.

/// Most decimals that a bank may have (decisions.md 6).
pub const MAX_PRECISION: u8 = 6;

/// Reasons for an invalid amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AmountError {
    /// No decimal number at all: a usage error on a command line.
    #[error("not a decimal number")]
    Syntax,
    /// More decimals than the bank keeps.
    #[error("too many decimals")]
    TooManyDecimals,
    /// Exceeds 64 bits of minor units.
    #[error("amount too large")]
    TooLarge,
}

impl AmountError {
    /// The refusal code, a row of [`crate::error::TABLE`].
    pub fn code(self) -> &'static str {
        match self {
            Self::Syntax => "bad_amount_syntax",
            Self::TooManyDecimals => "too_many_decimals",
            Self::TooLarge => "amount_too_large",
        }
    }
}

/// All decimals, no separators: `-1234.500` for -1234500 at precision 3. The form of JSON and of
/// every machine format.
pub fn format_amount(minor: i64, precision: u8) -> String {
    let (sign, whole, part) = parts(minor, precision);
    if part.is_empty() {
        format!("{sign}{whole}")
    } else {
        format!("{sign}{whole}.{part}")
    }
}

/// A number with so many decimals, without zeros at the end beyond the least: `-1500` with 3 and 1 is `-1.5`.
pub fn format_scaled(number: i128, places: u32, least: u32) -> String {
    let unit = 10_u128.saturating_pow(places).max(1);
    let (whole, part) = (number.unsigned_abs() / unit, number.unsigned_abs() % unit);
    let sign = if number < 0 { "-" } else { "" };
    let (width, least) = (places as usize, least as usize);
    let mut digits = if width == 0 {
        String::new()
    } else {
        format!("{part:0width$}")
    };
    while digits.len() > least && digits.ends_with('0') {
        digits.pop();
    }
    if digits.is_empty() {
        format!("{sign}{whole}")
    } else {
        format!("{sign}{whole}.{digits}")
    }
}

/// As [`format_amount`], with commas between groups of three digits: `-1,234.500`.
pub fn format_grouped(minor: i64, precision: u8) -> String {
    let (sign, whole, part) = parts(minor, precision);
    let mut text = String::with_capacity(whole.len() * 2 + 8);
    text.push_str(sign);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    if !part.is_empty() {
        text.push('.');
        text.push_str(&part);
    }
    text
}

/// As [`format_amount`], without zeros at the end of the decimals: `57600`, `3571.2`. The form of
/// NAMI answers (`nami.md` 2).
pub fn format_trimmed(minor: i64, precision: u8) -> String {
    let scale = 10_i64.pow(u32::from(precision.min(MAX_PRECISION)));
    if minor % scale == 0 {
        return (minor / scale).to_string();
    }
    let (sign, whole, part) = parts(minor, precision);
    let part = part.trim_end_matches('0');
    format!("{sign}{whole}.{part}")
}

/// Minor units of a decimal such as `1000`, `-5` or `0.25`. Beyond the precision only zeros are allowed.
/// Exponents, plus signs and separators are refused.
pub fn parse_amount(text: &str, precision: u8) -> Result<i64, AmountError> {
    let places = usize::from(precision.min(MAX_PRECISION));
    let (negative, digits) = text
        .strip_prefix('-')
        .map_or((false, text), |rest| (true, rest));
    let (whole, part) = digits
        .split_once('.')
        .map_or((digits, None), |(w, p)| (w, Some(p)));
    let all_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !all_digits(whole) || !part.is_none_or(all_digits) {
        return Err(AmountError::Syntax);
    }
    let part = part.unwrap_or_default().trim_end_matches('0');
    if part.len() > places {
        return Err(AmountError::TooManyDecimals);
    }
    let padding = std::iter::repeat_n(b'0', places - part.len());
    let mut minor: i64 = 0;
    for digit in whole.bytes().chain(part.bytes()).chain(padding) {
        let digit = i64::from(digit - b'0');
        // Counted on the negative side, which reaches one further.
        minor = minor
            .checked_mul(10)
            .and_then(|sum| sum.checked_sub(digit))
            .ok_or(AmountError::TooLarge)?;
    }
    if negative {
        Ok(minor)
    } else {
        minor.checked_neg().ok_or(AmountError::TooLarge)
    }
}

/// Sign, digits before the point, digits behind it.
fn parts(minor: i64, precision: u8) -> (&'static str, String, String) {
    let precision = precision.min(MAX_PRECISION);
    let scale = 10_u64.pow(u32::from(precision));
    let size = minor.unsigned_abs();
    let part = if precision == 0 {
        String::new()
    } else {
        format!("{:0width$}", size % scale, width = usize::from(precision))
    };
    (
        if minor < 0 { "-" } else { "" },
        (size / scale).to_string(),
        part,
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_keep_the_decimals_that_say_something() {
        assert_eq!(format_scaled(0, 0, 0), "0");
        assert_eq!(format_scaled(-1500, 3, 3), "-1.500");
        assert_eq!(format_scaled(-1500, 3, 0), "-1.5");
        assert_eq!(format_scaled(1_500_000_000, 9, 0), "1.5");
        assert_eq!(format_scaled(4_000_000_000, 9, 0), "4");
        assert_eq!(format_scaled(-5, 3, 0), "-0.005");
        let large = i128::from(i64::MAX) * 1_000_000;
        assert_eq!(format_scaled(large, 6, 0), "9223372036854775807");
    }

    #[test]
    fn the_three_forms() {
        for (minor, precision, plain, grouped, trimmed) in [
            (0, 0, "0", "0", "0"),
            (0, 3, "0.000", "0.000", "0"),
            (57_600_000, 3, "57600.000", "57,600.000", "57600"),
            (3_571_200, 3, "3571.200", "3,571.200", "3571.2"),
            (-5, 3, "-0.005", "-0.005", "-0.005"),
            (-1_234_500, 3, "-1234.500", "-1,234.500", "-1234.5"),
            (100, 0, "100", "100", "100"),
            (1000, 0, "1000", "1,000", "1000"),
            (
                i64::MIN,
                6,
                "-9223372036854.775808",
                "-9,223,372,036,854.775808",
                "-9223372036854.775808",
            ),
        ] {
            assert_eq!(format_amount(minor, precision), plain);
            assert_eq!(format_grouped(minor, precision), grouped);
            assert_eq!(format_trimmed(minor, precision), trimmed);
        }
    }

    #[test]
    fn reading() {
        use AmountError::{Syntax, TooLarge, TooManyDecimals};
        for (text, precision, expected) in [
            ("10000", 0, Ok(10000)),
            ("10000", 3, Ok(10_000_000)),
            ("-5", 0, Ok(-5)),
            ("0.25", 2, Ok(25)),
            ("0.250", 2, Ok(25)),
            ("1.0", 0, Ok(1)),
            ("007", 0, Ok(7)),
            ("1.5", 0, Err(TooManyDecimals)),
            ("abc", 0, Err(Syntax)),
            ("", 0, Err(Syntax)),
            ("-", 0, Err(Syntax)),
            ("1.", 2, Err(Syntax)),
            (".5", 2, Err(Syntax)),
            ("+1", 0, Err(Syntax)),
            ("1e3", 0, Err(Syntax)),
            ("1,000", 0, Err(Syntax)),
            ("--1", 0, Err(Syntax)),
            ("١", 0, Err(Syntax)),
            ("100000000000000000000000", 0, Err(TooLarge)),
            ("9223372036854775807", 0, Ok(i64::MAX)),
            ("9223372036854775808", 0, Err(TooLarge)),
            ("-9223372036854775808", 0, Ok(i64::MIN)),
        ] {
            assert_eq!(parse_amount(text, precision), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn read_back_as_written(minor: i64, precision in 0_u8..=6) {
            prop_assert_eq!(parse_amount(&format_amount(minor, precision), precision), Ok(minor));
            prop_assert_eq!(parse_amount(&format_trimmed(minor, precision), precision), Ok(minor));
        }

        #[test]
        fn never_panics(text: String, precision: u8) {
            let _ = parse_amount(&text, precision);
        }
    }
}
