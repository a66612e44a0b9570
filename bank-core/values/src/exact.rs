//! Prices before rounding: reduced fractions, and sums in trillionths of a credit.
//!
//! Every operation is checked. What does not fit is `None`, and the caller refuses the quote or
//! makes the charge `unbilled` (decisions.md 6): a wrong price is never the answer.

use crate::amount::{Amount, Precision};
use crate::decimal::Decimal;
use std::fmt;

/// Trillionths in one credit: the grain of the running exact sum (decisions.md 7).
pub const TRILLIONTHS: i128 = 1_000_000_000_000;

/// An exact, reduced fraction with a denominator above zero.
///
/// ```
/// use bank_core_values::exact::Fraction;
/// let third = Fraction::new(2, 6).unwrap();
/// assert_eq!(third, Fraction::new(1, 3).unwrap());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fraction {
    numerator: i128,
    denominator: i128,
}

/// The rounding of an exact sum to an amount (decisions.md 7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rounding {
    /// Half to even: the default.
    #[default]
    HalfEven,
    /// Half away from zero.
    HalfUp,
    /// Up to the next minor unit.
    Ceil,
}

impl Fraction {
    /// Zero.
    pub const ZERO: Fraction = Fraction {
        numerator: 0,
        denominator: 1,
    };
    /// One.
    pub const ONE: Fraction = Fraction {
        numerator: 1,
        denominator: 1,
    };

    /// A fraction, reduced; `None` unless the denominator is above zero.
    pub fn new(numerator: i128, denominator: i128) -> Option<Self> {
        if denominator <= 0 {
            return None;
        }
        if denominator == 1 {
            return Some(Fraction {
                numerator,
                denominator,
            });
        }
        // Nearly all of them are short, and 64 bits are many times faster than 128.
        if let (Ok(over), Ok(under)) = (i64::try_from(numerator), u64::try_from(denominator)) {
            let divisor = short_gcd(over.unsigned_abs(), under);
            let size = over.unsigned_abs().checked_div(divisor)?;
            let numerator = i128::from(size);
            return Some(Fraction {
                numerator: if over < 0 {
                    numerator.checked_neg()?
                } else {
                    numerator
                },
                denominator: under.checked_div(divisor)?.into(),
            });
        }
        let divisor = gcd(numerator.checked_abs()?, denominator);
        Some(Fraction {
            numerator: numerator.checked_div(divisor)?,
            denominator: denominator.checked_div(divisor)?,
        })
    }

    /// A decimal number.
    pub fn of(value: Decimal) -> Self {
        Fraction::new(value.billionths(), Decimal::whole(1).billionths()).unwrap_or(Self::ZERO)
    }

    /// Its numerator, reduced.
    pub fn numerator(self) -> i128 {
        self.numerator
    }

    /// Its denominator, reduced: above zero.
    pub fn denominator(self) -> i128 {
        self.denominator
    }

    /// In billionths, rounded half to even.
    pub fn billionths(self) -> Option<i128> {
        let scaled = self.times(Fraction::whole(Decimal::whole(1).billionths()))?;
        divide(scaled.numerator, scaled.denominator, Rounding::HalfEven)
    }

    /// Whether it is greater than another; `None` where exact arithmetic ends.
    pub fn is_above(self, other: Fraction) -> Option<bool> {
        let left = self.numerator.checked_mul(other.denominator)?;
        Some(left > other.numerator.checked_mul(self.denominator)?)
    }

    /// Reads what it is written as: `0.25`, or `1/3`.
    pub fn parse(text: &str) -> Option<Self> {
        match text.split_once('/') {
            Some((numerator, denominator)) => {
                Fraction::new(numerator.parse().ok()?, denominator.parse().ok()?)
            }
            None => Decimal::read(text).map(Fraction::of),
        }
    }

    /// As a decimal number, where it is one of at most nine places.
    pub fn as_decimal(self) -> Option<Decimal> {
        let billionths = self.times(Fraction::whole(Decimal::whole(1).billionths()))?;
        (billionths.denominator == 1).then(|| Decimal::from_billionths(billionths.numerator))
    }

    /// A whole number.
    pub fn whole(value: i128) -> Self {
        Fraction {
            numerator: value,
            denominator: 1,
        }
    }

    /// The product. Both factors are reduced across first, so that it overflows only if it must.
    pub fn times(self, other: Fraction) -> Option<Fraction> {
        if self.denominator == 1 && other.denominator == 1 {
            return Some(Fraction::whole(
                self.numerator.checked_mul(other.numerator)?,
            ));
        }
        let left = Fraction::new(self.numerator, other.denominator)?;
        let right = Fraction::new(other.numerator, self.denominator)?;
        Some(Fraction {
            numerator: left.numerator.checked_mul(right.numerator)?,
            denominator: left.denominator.checked_mul(right.denominator)?,
        })
    }

    /// The sum.
    pub fn plus(self, other: Fraction) -> Option<Fraction> {
        if self.denominator == other.denominator {
            let sum = self.numerator.checked_add(other.numerator)?;
            return Fraction::new(sum, self.denominator);
        }
        let shared = gcd(self.denominator, other.denominator);
        let (a, b) = (
            self.denominator.checked_div(shared)?,
            other.denominator.checked_div(shared)?,
        );
        let left = self.numerator.checked_mul(b)?;
        let right = other.numerator.checked_mul(a)?;
        Fraction::new(left.checked_add(right)?, self.denominator.checked_mul(b)?)
    }

    /// The fraction in trillionths, rounded half to even (decisions.md 7).
    pub fn to_trillionths(self) -> Option<i128> {
        let scaled = self.times(Fraction::whole(TRILLIONTHS))?;
        divide(scaled.numerator, scaled.denominator, Rounding::HalfEven)
    }
}

impl fmt::Display for Fraction {
    /// A decimal number where it is one of at most nine places, else `numerator/denominator`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_decimal() {
            Some(decimal) => decimal.fmt(f),
            None => write!(f, "{}/{}", self.numerator, self.denominator),
        }
    }
}

/// An exact sum in trillionths of a credit as a whole number of minor units.
pub fn to_amount(trillionths: i128, precision: Precision, rounding: Rounding) -> Option<Amount> {
    let per_minor = TRILLIONTHS.checked_div(i128::from(precision.minor_per_credit()))?;
    let minor = divide(trillionths, per_minor, rounding)?;
    i64::try_from(minor).ok().map(Amount)
}

/// A trillionths figure split into whole credits and the rest in `0..10^12`, as the store keeps it.
pub fn split(trillionths: i128) -> (i128, i128) {
    (
        trillionths.div_euclid(TRILLIONTHS),
        trillionths.rem_euclid(TRILLIONTHS),
    )
}

fn divide(numerator: i128, denominator: i128, rounding: Rounding) -> Option<i128> {
    if denominator == 1 {
        return Some(numerator);
    }
    let (floor, rest) = match (i64::try_from(numerator), i64::try_from(denominator)) {
        (Ok(over), Ok(under)) => {
            let floor = over.checked_div_euclid(under)?;
            (floor.into(), over.checked_rem_euclid(under)?.into())
        }
        _ => (
            numerator.checked_div_euclid(denominator)?,
            numerator.checked_rem_euclid(denominator)?,
        ),
    };
    let twice = rest.checked_mul(2)?;
    let odd = floor.checked_rem_euclid(2)? == 1;
    let up = match rounding {
        Rounding::HalfEven => twice > denominator || (twice == denominator && odd),
        Rounding::HalfUp if numerator < 0 => twice > denominator,
        Rounding::HalfUp => twice >= denominator,
        Rounding::Ceil => rest > 0,
    };
    if up {
        floor.checked_add(1)
    } else {
        Some(floor)
    }
}

/// The same of short numbers.
fn short_gcd(mut a: u64, mut b: u64) -> u64 {
    while let Some(rest) = a.checked_rem(b) {
        (a, b) = (b, rest);
    }
    a
}

fn gcd(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a.checked_rem(b).unwrap_or(0));
    }
    a.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn half_goes_to_even_at_every_precision() {
        let p0 = Precision::new(0).unwrap();
        let half = TRILLIONTHS / 2;
        for (trillionths, even, up, ceil) in [
            (half, 0, 1, 1),
            (3 * half, 2, 2, 2),
            (5 * half, 2, 3, 3),
            (7 * half, 4, 4, 4),
            (half + 1, 1, 1, 1),
            (half - 1, 0, 0, 1),
            (-half, 0, -1, 0),
            (-3 * half, -2, -2, -1),
            (0, 0, 0, 0),
        ] {
            let of = |r| to_amount(trillionths, p0, r).unwrap().0;
            let got = (
                of(Rounding::HalfEven),
                of(Rounding::HalfUp),
                of(Rounding::Ceil),
            );
            assert_eq!(got, (even, up, ceil), "{trillionths}");
        }
    }

    #[test]
    fn an_hourly_rate_has_no_drift() {
        // ledger.md 3.3, example 15: 12 cores, 5400 s, 0.04 per core-hour.
        let rate = Fraction::new(4, 100 * 3600).unwrap();
        let price = rate.times(Fraction::whole(12 * 5400)).unwrap();
        let p2 = Precision::new(2).unwrap();
        let sum = price.to_trillionths().unwrap();
        assert_eq!(to_amount(sum, p2, Rounding::HalfEven), Some(Amount(72)));
    }

    proptest! {
        #[test]
        fn addition_commutes_and_has_an_inverse(a in -1000i128..1000, b in 1i128..1000, c in -1000i128..1000, d in 1i128..1000) {
            let x = Fraction::new(a, b).unwrap();
            let y = Fraction::new(c, d).unwrap();
            prop_assert_eq!(x.plus(y), y.plus(x));
            let minus = Fraction::new(-c, d).unwrap();
            prop_assert_eq!(x.plus(y).unwrap().plus(minus), Some(x));
        }

        #[test]
        fn the_product_distributes(a in -1000i128..1000, b in 1i128..1000, c in -1000i128..1000, k in -1000i128..1000) {
            let x = Fraction::new(a, b).unwrap();
            let y = Fraction::new(c, b).unwrap();
            let k = Fraction::whole(k);
            let left = x.plus(y).unwrap().times(k);
            let right = x.times(k).unwrap().plus(y.times(k).unwrap());
            prop_assert_eq!(left, right);
        }

        #[test]
        fn rounding_errs_by_half_a_unit_at_most(t in -1_000_000_000_000_000_000i128..1_000_000_000_000_000_000, places in 0u8..=6) {
            let p = Precision::new(places).unwrap();
            let unit = TRILLIONTHS / i128::from(p.minor_per_credit());
            let got = i128::from(to_amount(t, p, Rounding::HalfEven).unwrap().0) * unit;
            prop_assert!((got - t).abs() * 2 <= unit);
        }

        #[test]
        fn increments_bill_what_the_whole_would(parts in prop::collection::vec(1i64..100_000, 1..20)) {
            // decisions.md 7: billed now = round(sum) - billed so far.
            let p = Precision::new(0).unwrap();
            let rate = Fraction::new(1, 3).unwrap();
            let (mut sum, mut billed) = (0i128, 0i64);
            for part in &parts {
                sum += rate.times(Fraction::whole((*part).into())).unwrap().to_trillionths().unwrap();
                billed += to_amount(sum, p, Rounding::HalfEven).unwrap().0 - billed;
            }
            let whole: i64 = parts.iter().sum();
            let once = rate.times(Fraction::whole(whole.into())).unwrap().to_trillionths().unwrap();
            prop_assert!((sum - once).abs() <= i128::try_from(parts.len()).unwrap());
            prop_assert!((billed - to_amount(once, p, Rounding::HalfEven).unwrap().0).abs() <= 1);
        }
    }
}
