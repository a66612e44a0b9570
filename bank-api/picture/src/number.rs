//! Exact decimals of a bounded size, so that no sum and no place on a chart overflows.

use crate::figure::{self, Scale};

/// Digits at most, as a bound of the absolute value: 18 before the point and 9 behind it.
const DIGITS_MAX: i128 = 10_i128.pow(27);
/// Decimals at most; what has more is rounded half to even.
const DECIMALS_MAX: u32 = 9;

/// Decimals that are shown of what is kept in parts.
const PART_DECIMALS: u32 = 3;

/// A decimal: `digits` over ten to the power of `decimals`. At most 10^18 in size, with at most nine
/// decimals; what is larger stands at that bound. Or so many parts of a whole, such as seconds of hours:
/// they are added exactly, and rounded when they are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number {
    digits: i128,
    decimals: u32,
    /// How many parts a whole has, from 1 on.
    parts: u32,
}

impl Number {
    /// Nothing.
    pub const ZERO: Self = Self {
        digits: 0,
        decimals: 0,
        parts: 1,
    };

    /// A decimal as the daemon sends it, `-12.500`; `None` for what is none.
    pub fn read(text: &str) -> Option<Self> {
        let (digits, decimals) = figure::minor(text)?;
        let decimals = u32::try_from(decimals).ok()?;
        if decimals <= DECIMALS_MAX {
            return Some(Self::of(digits, decimals));
        }
        let short = figure::scaled(text, 1, 1, usize::try_from(DECIMALS_MAX).ok()?)?;
        let (digits, _) = figure::minor(&short)?;
        Some(Self::of(digits, DECIMALS_MAX))
    }

    /// A decimal, or nothing where the daemon said none.
    pub fn or_zero(text: &str) -> Self {
        Self::read(text).unwrap_or(Self::ZERO)
    }

    /// Seconds as hours: the exact seconds are kept.
    pub fn hours(seconds: &str) -> Option<Self> {
        Self::read(seconds).map(|number| Self {
            parts: 3600,
            ..number
        })
    }

    /// A count.
    pub fn whole(count: i64) -> Self {
        Self::of(count.into(), 0)
    }

    /// So many minor units, of which ten to the power of `decimals` (0 to 9) are one.
    pub fn of(digits: i128, decimals: u32) -> Self {
        Self {
            digits: digits.clamp(-DIGITS_MAX, DIGITS_MAX),
            decimals: decimals.min(DECIMALS_MAX),
            parts: 1,
        }
    }

    /// How many decimals are shown of it.
    pub fn decimals(self) -> u32 {
        match self.parts {
            1 => self.decimals,
            _ => PART_DECIMALS,
        }
    }

    /// Its minor units at a precision, 0 to 9, that is not below what is shown; at most 10^36. Parts of a
    /// whole are rounded half to even.
    pub fn minor(self, decimals: u32) -> i128 {
        let decimals = decimals.min(DECIMALS_MAX);
        if self.parts == 1 {
            return self.units(decimals);
        }
        let above = self.digits.saturating_mul(10_i128.pow(decimals));
        let below = i128::from(self.parts).saturating_mul(10_i128.pow(self.decimals));
        let (whole, rest) = (above.div_euclid(below), above.rem_euclid(below));
        let doubled = rest.saturating_mul(2);
        let is_up = doubled > below || (doubled == below && whole.rem_euclid(2) == 1);
        whole.saturating_add(i128::from(is_up))
    }

    /// Its digits at a precision, 0 to 9, that is not below its own, whatever parts they are.
    fn units(self, decimals: u32) -> i128 {
        let more = decimals.min(DECIMALS_MAX).saturating_sub(self.decimals);
        self.digits.saturating_mul(10_i128.pow(more))
    }

    /// As it is shown, where it is parts of a whole.
    fn plain(self) -> Self {
        Self::of(self.minor(self.decimals()), self.decimals())
    }

    /// The sum, with the decimals of the finer of both; exact, unless they are parts of different wholes.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let parts = match (self.parts, other.parts) {
            (a, b) if a == b => a,
            (_, b) if self.is_zero() => b,
            (a, _) if other.is_zero() => a,
            _ => return self.plain().plus(other.plain()),
        };
        let decimals = self.decimals.max(other.decimals);
        let sum = self.units(decimals).saturating_add(other.units(decimals));
        Self {
            parts,
            ..Self::of(sum, decimals)
        }
    }

    /// The difference, with the decimals of the finer of both.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        self.plus(Self {
            digits: -other.digits,
            ..other
        })
    }

    /// It times a part of a whole, rounded towards zero: what of an even change has come about after
    /// `part` of `whole` µs.
    #[must_use]
    pub fn part(self, part: i64, whole: i64) -> Self {
        let (part, whole) = (i128::from(part), i128::from(whole.max(1)));
        // Where the product does not fit, the last digits of the amount say nothing on a picture.
        let exact = self.digits.checked_mul(part).map(|product| product / whole);
        let rough = || (self.digits / whole).saturating_mul(part);
        Self {
            parts: self.parts,
            ..Self::of(exact.unwrap_or_else(rough), self.decimals)
        }
    }

    /// It as an amount in other units; as it is where that is no number.
    #[must_use]
    pub fn in_units(self, scale: Scale) -> Self {
        let decimals = usize::try_from(self.decimals()).unwrap_or(0);
        let plain = figure::plain(self.minor(self.decimals()), decimals);
        let scaled = scale.of(&plain);
        scaled.and_then(|text| Self::read(&text)).unwrap_or(self)
    }

    /// Whether it is zero.
    pub fn is_zero(self) -> bool {
        self.digits == 0
    }

    /// Whether it is below zero.
    pub fn is_below_zero(self) -> bool {
        self.digits < 0
    }

    /// Without its sign.
    #[must_use]
    pub fn size(self) -> Self {
        Self {
            digits: self.digits.abs(),
            ..self
        }
    }

    /// Which of two is larger.
    pub fn compare(self, other: Self) -> std::cmp::Ordering {
        if self.parts == other.parts {
            let decimals = self.decimals.max(other.decimals);
            return self.units(decimals).cmp(&other.units(decimals));
        }
        self.minor(DECIMALS_MAX).cmp(&other.minor(DECIMALS_MAX))
    }

    /// With all its decimals, for programs: `-1234.500`.
    pub fn raw(self) -> String {
        let places = usize::try_from(self.decimals()).unwrap_or(0);
        figure::plain(self.minor(self.decimals()), places)
    }

    /// With all its decimals, thousands separated: `−1,234.500`.
    pub fn shown(self) -> String {
        self.shown_to(self.decimals())
    }

    /// Likewise, with zeros up to so many decimals, 0 to 9; with all of its own where it has more.
    pub fn shown_to(self, decimals: u32) -> String {
        let decimals = decimals.clamp(self.decimals(), DECIMALS_MAX);
        let places = usize::try_from(decimals).unwrap_or(0);
        figure::grouped(&figure::plain(self.minor(decimals), places))
    }

    /// Its share of a whole in percent with two decimals, half away from zero on the exact fraction;
    /// `None` where the whole is not above zero.
    pub fn share(self, whole: Self) -> Option<Self> {
        if self.parts != whole.parts {
            return self.plain().share(whole.plain());
        }
        let decimals = self.decimals.max(whole.decimals).min(6);
        let (part, whole) = (self.rounded(decimals), whole.rounded(decimals));
        if whole <= 0 {
            return None;
        }
        let doubled = part.abs().saturating_mul(20_000).saturating_add(whole);
        let share = doubled.checked_div(whole.saturating_mul(2))?;
        Some(Self::of(share * part.signum(), 2))
    }

    /// Minor units at a precision that may lie below its own.
    fn rounded(self, decimals: u32) -> i128 {
        let less = self.decimals.saturating_sub(decimals);
        self.units(decimals.max(self.decimals)) / 10_i128.pow(less)
    }
}

/// The sum of several.
pub fn total(numbers: impl IntoIterator<Item = Number>) -> Number {
    numbers.into_iter().fold(Number::ZERO, Number::plus)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A third of an hour thrice is an hour, though none of them is a decimal.
    #[test]
    fn hours_are_added_in_seconds_and_rounded_when_they_are_shown() {
        let third = Number::hours("1200.000000").unwrap();
        assert_eq!(third.shown(), "0.333");
        let sum = total([third; 3]);
        assert_eq!((sum.shown().as_str(), sum.decimals()), ("1.000", 3));
        assert_eq!(third.share(sum).unwrap().shown(), "33.33");
        assert_eq!(sum.minus(third).shown(), "0.667");
        assert_eq!(Number::hours("-1200").unwrap().shown(), "−0.333");
        assert_eq!(third.size().compare(third), std::cmp::Ordering::Equal);
        assert_eq!(third.compare(Number::of(334, 3)), std::cmp::Ordering::Less);
        // Half to even, from the exact seconds: 0.0005 and 0.0015 hours.
        for (seconds, shown) in [("1.8", "0.000"), ("5.4", "0.002"), ("1.800001", "0.001")] {
            assert_eq!(Number::hours(seconds).unwrap().shown(), shown, "{seconds}");
        }
        assert_eq!(Number::whole(2).plus(third).shown(), "2.333");
    }
}
