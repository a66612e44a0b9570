//! Money: whole minor units, never a fraction of one, never floating point.

use std::fmt;

/// An amount in minor units: `10^-p` credits, where the precision `p` (0 to 6) belongs to the bank
/// (decisions.md 6). The whole range of `i64` is allowed; every operation is checked.
///
/// ```
/// use bank_core_values::amount::{Amount, Precision};
/// let p = Precision::new(3).unwrap();
/// let a = Amount::parse("3571.2", p).unwrap();
/// assert_eq!(a, Amount(3_571_200));
/// assert_eq!(a.display(p).to_string(), "3571.200");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Amount(pub i64);

/// Decimal places of the bank's unit: 0 to 6, chosen at `bankd init` and never changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Precision(u8);

impl Precision {
    /// The default of a new bank (decisions.md 6).
    pub const DEFAULT: Precision = Precision(3);

    /// A precision, if it is between 0 and 6.
    pub fn new(places: u8) -> Option<Self> {
        (places <= 6).then_some(Precision(places))
    }

    /// Decimal places.
    pub fn places(self) -> u8 {
        self.0
    }

    /// Minor units of one credit: a power of ten from 1 to 1,000,000.
    pub fn minor_per_credit(self) -> i64 {
        10_i64.saturating_pow(u32::from(self.0))
    }
}

/// An error in the text or the arithmetic of an amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AmountError {
    /// Text that is no decimal number.
    Syntax,
    /// More decimal places than the bank's precision.
    TooManyDecimals {
        /// The bank's precision.
        precision: u8,
    },
    /// A text beyond `i64` minor units.
    TooLarge,
    /// A result beyond `i64` minor units.
    Overflow,
}

impl Amount {
    /// No money.
    pub const ZERO: Amount = Amount(0);

    /// The sum, or [`AmountError::Overflow`].
    pub fn plus(self, other: Amount) -> Result<Amount, AmountError> {
        self.0
            .checked_add(other.0)
            .map(Amount)
            .ok_or(AmountError::Overflow)
    }

    /// The difference, or [`AmountError::Overflow`].
    pub fn minus(self, other: Amount) -> Result<Amount, AmountError> {
        self.0
            .checked_sub(other.0)
            .map(Amount)
            .ok_or(AmountError::Overflow)
    }

    /// The amount with its sign turned, or [`AmountError::Overflow`] for `i64::MIN`.
    pub fn negate(self) -> Result<Amount, AmountError> {
        self.0
            .checked_neg()
            .map(Amount)
            .ok_or(AmountError::Overflow)
    }

    /// Whether it is exactly zero.
    pub fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Brings a sum made in `i128` back, or [`AmountError::Overflow`] (ledger.md 1.3).
    pub fn from_sum(sum: i128) -> Result<Amount, AmountError> {
        i64::try_from(sum)
            .map(Amount)
            .map_err(|_| AmountError::Overflow)
    }

    /// Brings a sum made in `i128` back, held at the ends of the range: for figures that are only
    /// shown, never posted.
    pub fn clamped(sum: i128) -> Amount {
        let end = if sum < 0 { i64::MIN } else { i64::MAX };
        Amount(i64::try_from(sum).unwrap_or(end))
    }

    /// Reads a decimal number of credits, an optional `-` before it.
    ///
    /// Errors: [`AmountError::Syntax`] for a text that is no decimal number,
    /// [`AmountError::TooManyDecimals`] for more places than the bank has (never rounded,
    /// ledger.md 2.1), [`AmountError::TooLarge`] beyond `i64`.
    pub fn parse(text: &str, precision: Precision) -> Result<Amount, AmountError> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (whole, places) = digits.split_once('.').unwrap_or((digits, ""));
        let all_digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
        let dot_without_places = digits.contains('.') && places.is_empty();
        if whole.is_empty() || dot_without_places || !all_digits(whole) || !all_digits(places) {
            return Err(AmountError::Syntax);
        }
        let places = places.trim_end_matches('0');
        if places.len() > usize::from(precision.places()) {
            return Err(AmountError::TooManyDecimals {
                precision: precision.places(),
            });
        }
        let mut minor: i128 = 0;
        let missing = usize::from(precision.places()).saturating_sub(places.len());
        let padded = whole
            .bytes()
            .chain(places.bytes())
            .chain(std::iter::repeat_n(b'0', missing));
        for digit in padded {
            let value = i128::from(digit.saturating_sub(b'0'));
            minor = minor.saturating_mul(10).saturating_add(value);
            if minor > i128::from(i64::MAX) {
                return Err(AmountError::TooLarge);
            }
        }
        let signed = if negative {
            minor.saturating_neg()
        } else {
            minor
        };
        i64::try_from(signed)
            .map(Amount)
            .map_err(|_| AmountError::TooLarge)
    }

    /// The amount as a decimal number of credits with all places of the bank's precision.
    pub fn display(self, precision: Precision) -> impl fmt::Display {
        Shown {
            minor: self.0,
            precision,
        }
    }
}

struct Shown {
    minor: i64,
    precision: Precision,
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = self.precision.minor_per_credit().unsigned_abs();
        let size = self.minor.unsigned_abs();
        let whole = size.checked_div(unit).unwrap_or(size);
        let rest = size.checked_rem(unit).unwrap_or(0);
        let sign = if self.minor < 0 { "-" } else { "" };
        match usize::from(self.precision.places()) {
            0 => write!(f, "{sign}{whole}"),
            places => write!(f, "{sign}{whole}.{rest:0places$}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parsing_refuses_what_it_would_have_to_round_or_guess() {
        let p3 = Precision::new(3).unwrap();
        let p0 = Precision::new(0).unwrap();
        for (text, precision, expected) in [
            ("0", p0, "Ok(Amount(0))"),
            ("1.5", p0, "too_many_decimals"),
            ("1.0", p0, "Ok(Amount(1))"),
            ("-5", p0, "Ok(Amount(-5))"),
            ("12.345", p3, "Ok(Amount(12345))"),
            ("12.3450", p3, "Ok(Amount(12345))"),
            ("12.3456", p3, "too_many_decimals"),
            ("abc", p0, "bad_amount_syntax"),
            ("", p0, "bad_amount_syntax"),
            ("1.", p3, "bad_amount_syntax"),
            (".5", p3, "bad_amount_syntax"),
            ("1e3", p3, "bad_amount_syntax"),
            ("+1", p3, "bad_amount_syntax"),
            ("100000000000000000000000", p0, "amount_too_large"),
            ("9223372036854775807", p0, "Ok(Amount(9223372036854775807))"),
            ("9223372036854775808", p0, "amount_too_large"),
        ] {
            let got = match Amount::parse(text, precision) {
                Ok(a) => format!("Ok({a:?})"),
                Err(AmountError::TooManyDecimals { .. }) => "too_many_decimals".to_owned(),
                Err(AmountError::Syntax) => "bad_amount_syntax".to_owned(),
                Err(AmountError::TooLarge) => "amount_too_large".to_owned(),
                Err(other) => format!("{other:?}"),
            };
            assert_eq!(got, expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_reads_back(minor in -i64::MAX.., places in 0u8..=6) {
            let p = Precision::new(places).unwrap();
            let text = Amount(minor).display(p).to_string();
            prop_assert_eq!(Amount::parse(&text, p).unwrap(), Amount(minor));
        }

        #[test]
        fn sums_are_exact_or_refused(a in any::<i64>(), b in any::<i64>()) {
            let exact = i128::from(a) + i128::from(b);
            match Amount(a).plus(Amount(b)) {
                Ok(sum) => prop_assert_eq!(i128::from(sum.0), exact),
                Err(e) => {
                    prop_assert_eq!(e, AmountError::Overflow);
                    prop_assert!(i64::try_from(exact).is_err());
                }
            }
        }

        #[test]
        fn taking_back_what_was_added_changes_nothing(a in -1_000_000i64..1_000_000, b in -1_000_000i64..1_000_000) {
            prop_assert_eq!(Amount(a).plus(Amount(b)).unwrap().minus(Amount(b)).unwrap(), Amount(a));
        }
    }
}
