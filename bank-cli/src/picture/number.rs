//! Exact decimals of a bounded size, so that no sum and no place on a chart overflows.

use crate::figure;

/// Digits at most, as a bound of the absolute value: 18 before the point and 9 behind it.
const DIGITS_MAX: i128 = 10_i128.pow(27);
/// Decimals at most; what has more is rounded half to even.
const DECIMALS_MAX: u32 = 9;

/// A decimal: `digits` over ten to the power of `decimals`. At most 10^18 in size, with at most nine
/// decimals; what is larger stands at that bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Number {
    digits: i128,
    decimals: u32,
}

impl Number {
    /// Nothing.
    pub(crate) const ZERO: Self = Self {
        digits: 0,
        decimals: 0,
    };

    /// A decimal as the daemon sends it, `-12.500`; `None` for what is none.
    pub(crate) fn read(text: &str) -> Option<Self> {
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
    pub(crate) fn or_zero(text: &str) -> Self {
        Self::read(text).unwrap_or(Self::ZERO)
    }

    /// A count.
    pub(crate) fn whole(count: i64) -> Self {
        Self::of(count.into(), 0)
    }

    /// So many minor units, of which ten to the power of `decimals` (0 to 9) are one.
    pub(crate) fn of(digits: i128, decimals: u32) -> Self {
        Self {
            digits: digits.clamp(-DIGITS_MAX, DIGITS_MAX),
            decimals: decimals.min(DECIMALS_MAX),
        }
    }

    /// How many decimals it has.
    pub(crate) fn decimals(self) -> u32 {
        self.decimals
    }

    /// Its minor units at a precision, 0 to 9, that is not below its own; at most 10^36.
    pub(crate) fn minor(self, decimals: u32) -> i128 {
        let more = decimals.min(DECIMALS_MAX).saturating_sub(self.decimals);
        self.digits.saturating_mul(10_i128.pow(more))
    }

    /// The sum, with the decimals of the finer of both.
    pub(crate) fn plus(self, other: Self) -> Self {
        let decimals = self.decimals.max(other.decimals);
        let sum = self.minor(decimals).saturating_add(other.minor(decimals));
        Self::of(sum, decimals)
    }

    /// The difference, with the decimals of the finer of both.
    pub(crate) fn minus(self, other: Self) -> Self {
        self.plus(Self::of(-other.digits, other.decimals))
    }

    /// It times a part of a whole, rounded towards zero: what of an even change has come about after
    /// `part` of `whole` µs.
    pub(crate) fn part(self, part: i64, whole: i64) -> Self {
        let (part, whole) = (i128::from(part), i128::from(whole.max(1)));
        // Where the product does not fit, the last digits of the amount say nothing on a picture.
        let exact = self.digits.checked_mul(part).map(|product| product / whole);
        let rough = || (self.digits / whole).saturating_mul(part);
        Self::of(exact.unwrap_or_else(rough), self.decimals)
    }

    /// Whether it is zero.
    pub(crate) fn is_zero(self) -> bool {
        self.digits == 0
    }

    /// Whether it is below zero.
    pub(crate) fn is_below_zero(self) -> bool {
        self.digits < 0
    }

    /// Without its sign.
    pub(crate) fn size(self) -> Self {
        Self::of(self.digits.abs(), self.decimals)
    }

    /// Which of two is larger.
    pub(crate) fn compare(self, other: Self) -> std::cmp::Ordering {
        let decimals = self.decimals.max(other.decimals);
        self.minor(decimals).cmp(&other.minor(decimals))
    }

    /// With all its decimals, thousands separated: `−1,234.500`.
    pub(crate) fn shown(self) -> String {
        let decimals = usize::try_from(self.decimals).unwrap_or(0);
        figure::grouped(&figure::plain(self.digits, decimals))
    }

    /// Its share of a whole in percent with two decimals, half away from zero on the exact fraction;
    /// `None` where the whole is not above zero.
    pub(crate) fn share(self, whole: Self) -> Option<Self> {
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
        self.minor(decimals.max(self.decimals)) / 10_i128.pow(less)
    }
}

/// The sum of several.
pub(crate) fn total(numbers: impl IntoIterator<Item = Number>) -> Number {
    numbers.into_iter().fold(Number::ZERO, Number::plus)
}
