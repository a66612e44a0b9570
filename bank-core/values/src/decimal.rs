//! Quantities: exact decimals with nine places, for processors, generic resources and the like.

use std::fmt;

/// Billionths in one.
const ONE: i128 = 1_000_000_000;

/// An exact decimal number in billionths. Documents give at most 15 digits and 6 places
/// (nami.md 3.2), usage records 9 places, so the range of `i128` is never in sight.
///
/// ```
/// use bank_core_values::decimal::Decimal;
/// assert_eq!(Decimal::parse("0.25").unwrap().to_string(), "0.25");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decimal(i128);

impl Decimal {
    /// None of it.
    pub const ZERO: Decimal = Decimal(0);

    /// A whole number.
    pub fn whole(value: i64) -> Decimal {
        Decimal(i128::from(value).saturating_mul(ONE))
    }

    /// From billionths.
    pub fn from_billionths(billionths: i128) -> Decimal {
        Decimal(billionths)
    }

    /// In billionths.
    pub fn billionths(self) -> i128 {
        self.0
    }

    /// Whether it is below zero.
    pub fn is_negative(self) -> bool {
        self.0 < 0
    }

    /// The number as a whole one, if it is one and fits.
    pub fn as_whole(self) -> Option<i64> {
        if self.0.checked_rem(ONE)? != 0 {
            return None;
        }
        i64::try_from(self.0.checked_div(ONE)?).ok()
    }

    /// Reads up to 18 digits with up to 9 places after the point, `-` allowed before them.
    pub fn parse(text: &str) -> Option<Decimal> {
        Decimal::of_digits(text, 18)
    }

    /// Reads a number of any length: a JSON number can have more digits than [`parse`](Decimal::parse) takes.
    pub fn read(text: &str) -> Option<Decimal> {
        Decimal::of_digits(text, 30)
    }

    fn of_digits(text: &str, most: usize) -> Option<Decimal> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (whole, places) = match digits.split_once('.') {
            Some((_, "")) => return None,
            Some(parts) => parts,
            None => (digits, ""),
        };
        let plain = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
        if whole.is_empty()
            || whole.len() > most
            || places.len() > 9
            || !plain(whole)
            || !plain(places)
        {
            return None;
        }
        let scale = 10_i128.checked_pow(u32::try_from(9_usize.checked_sub(places.len())?).ok()?)?;
        let fraction = if places.is_empty() {
            0
        } else {
            places.parse::<i128>().ok()?
        };
        let size = whole.parse::<i128>().ok()?.checked_mul(ONE)?;
        let size = size.checked_add(fraction.checked_mul(scale)?)?;
        Some(Decimal(if negative { size.checked_neg()? } else { size }))
    }
}

/// Appends a whole number to a text. Records are compared by such texts, millions at a time; formatting takes
/// several times as long.
pub fn push_number(text: &mut String, number: i64) {
    let (mut digits, mut left) = ([b'0'; 20], number.unsigned_abs());
    let mut begin = digits.len();
    for digit in digits.iter_mut().rev() {
        *digit = b'0' | u8::try_from(left % 10).unwrap_or_default();
        (begin, left) = (begin.saturating_sub(1), left / 10);
        if left == 0 {
            break;
        }
    }
    if number < 0 {
        text.push('-');
    }
    let digits = digits.get(begin..).unwrap_or_default();
    text.push_str(std::str::from_utf8(digits).unwrap_or_default());
}

impl Decimal {
    /// Writes it behind a text, as it is shown.
    pub fn push_to(self, text: &mut String) {
        if let Ok(size) = i64::try_from(self.0)
            && size % 1_000_000_000 == 0
        {
            return push_number(text, size / 1_000_000_000);
        }
        // Writing to a string cannot fail.
        let _ = fmt::Write::write_fmt(text, format_args!("{self}"));
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.0.unsigned_abs();
        let one = ONE.unsigned_abs();
        let (whole, rest) = (size.checked_div(one), size.checked_rem(one));
        let sign = if self.0 < 0 { "-" } else { "" };
        write!(f, "{sign}{}", whole.unwrap_or(0))?;
        match rest.unwrap_or(0) {
            0 => Ok(()),
            rest => {
                let places = format!("{rest:09}");
                write!(f, ".{}", places.trim_end_matches('0'))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_read_as_written_or_not_at_all() {
        for (text, expected) in [
            ("16", Some("16")),
            ("0.250", Some("0.25")),
            ("-4", Some("-4")),
            ("1.", None),
            (".5", None),
            ("", None),
            ("1e3", None),
            ("NaN", None),
            ("1.1234567890", None),
            ("1234567890123456789", None),
        ] {
            assert_eq!(
                Decimal::parse(text).map(|d| d.to_string()).as_deref(),
                expected,
                "{text}"
            );
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_reads_back(b in -1_000_000_000_000_000_000_000_i128..1_000_000_000_000_000_000_000) {
            let d = Decimal::from_billionths(b);
            prop_assert_eq!(Decimal::parse(&d.to_string()), Some(d));
        }

        #[test]
        fn the_short_ways_write_what_is_shown(
            number in proptest::num::i64::ANY,
            whole in -20_000_000_000_i128..20_000_000_000,
            rest in prop_oneof![Just(0_i128), 0_i128..ONE],
        ) {
            for number in [number, number % 1_000, 0, i64::MIN, i64::MAX] {
                let mut text = "=".to_owned();
                push_number(&mut text, number);
                prop_assert_eq!(text, format!("={number}"));
            }
            let d = Decimal::from_billionths(whole * ONE + rest);
            let mut text = "=".to_owned();
            d.push_to(&mut text);
            prop_assert_eq!(text, format!("={d}"));
        }
    }
}
