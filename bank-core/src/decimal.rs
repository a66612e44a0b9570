//! Quantities: exact decimals with nine places, for processors, generic resources and the like.

use std::fmt;

/// Billionths in one.
const ONE: i128 = 1_000_000_000;

/// An exact decimal number in billionths. Documents give at most 15 digits and 6 places
/// (nami.md 3.2), usage records 9 places, so the range of `i128` is never in sight.
///
/// ```
/// use bank_core::decimal::Decimal;
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
            || whole.len() > 18
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
    }
}
