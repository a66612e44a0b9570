//! Whole numbers from zero on without a bound: where products of sums must stay exact.
//!
//! Shares of shares and priorities multiply sums that each may fill 128 bits. Nothing here is used on
//! the way of a charge; prices have [`bank_core::exact::Fraction`].

use std::cmp::Ordering;
use std::fmt;

/// Decimal digits that [`Natural::parse`] reads at most.
const DIGITS_MAX: usize = 1_000;

/// A whole number from zero on.
///
/// ```
/// use bank_core_figures::natural::Natural;
/// let big = Natural::from(u128::MAX).times(&Natural::from(10));
/// assert_eq!(big.to_string(), "3402823669209384634633746074317682114550");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Natural {
    /// Words of 32 bits, the lowest first, none of them zero at the end.
    words: Vec<u32>,
}

impl From<u128> for Natural {
    fn from(mut value: u128) -> Self {
        let mut words = Vec::with_capacity(4);
        while value != 0 {
            words.push(low(value));
            value >>= 32_u32;
        }
        Natural { words }
    }
}

impl Natural {
    /// Nothing.
    pub const ZERO: Natural = Natural { words: Vec::new() };

    /// Whether it is zero.
    pub fn is_zero(&self) -> bool {
        self.words.is_empty()
    }

    /// The number, where 128 bits hold it.
    pub fn as_u128(&self) -> Option<u128> {
        if self.words.len() > 4 {
            return None;
        }
        let folded = self.words.iter().rev();
        Some(folded.fold(0, |sum, word| (sum << 32_u32) | u128::from(*word)))
    }

    /// Reads decimal digits, at most 1,000 of them and nothing else.
    pub fn parse(digits: &str) -> Option<Natural> {
        let plain = digits.bytes().all(|b| b.is_ascii_digit());
        if digits.is_empty() || digits.len() > DIGITS_MAX || !plain {
            return None;
        }
        let ten = Natural::from(10);
        let add = |sum: Natural, digit: u8| {
            let digit = Natural::from(u128::from(digit.saturating_sub(b'0')));
            sum.times(&ten).plus(&digit)
        };
        Some(digits.bytes().fold(Natural::ZERO, add))
    }

    /// The sum.
    #[must_use]
    pub fn plus(&self, other: &Natural) -> Natural {
        let count = self.words.len().max(other.words.len());
        let mut words = Vec::with_capacity(count.saturating_add(1));
        let mut carry = 0_u64;
        for place in 0..count {
            let sum = carry
                .saturating_add(self.word(place))
                .saturating_add(other.word(place));
            words.push(low(sum.into()));
            carry = sum >> 32_u32;
        }
        words.push(low(carry.into()));
        Natural::of(words)
    }

    /// The difference; none where it is below zero.
    pub fn minus(&self, other: &Natural) -> Option<Natural> {
        if *self < *other {
            return None;
        }
        let mut words = Vec::with_capacity(self.words.len());
        let mut borrow = 0_u64;
        for place in 0..self.words.len() {
            // Borrowed from the next word, so that it is never below zero.
            let have = self.word(place).saturating_add(1 << 32_u32);
            let rest = have
                .saturating_sub(other.word(place))
                .saturating_sub(borrow);
            words.push(low(rest.into()));
            borrow = u64::from(rest < (1 << 32_u32));
        }
        Some(Natural::of(words))
    }

    /// The product.
    #[must_use]
    pub fn times(&self, other: &Natural) -> Natural {
        let count = self.words.len().saturating_add(other.words.len());
        let mut words = vec![0_u32; count];
        for (at, left) in self.words.iter().enumerate() {
            let mut carry = 0_u64;
            let tail = words.iter_mut().skip(at);
            let factors = other.words.iter().copied().chain(std::iter::repeat(0));
            for (word, right) in tail.zip(factors) {
                // At most (2^32 - 1)^2 + 2 * (2^32 - 1), which is the largest of 64 bits.
                let sum = u64::from(*left)
                    .saturating_mul(right.into())
                    .saturating_add(u64::from(*word))
                    .saturating_add(carry);
                *word = low(sum.into());
                carry = sum >> 32_u32;
            }
        }
        Natural::of(words)
    }

    /// The quotient and the remainder; none for a divisor of zero.
    pub fn divided(&self, by: &Natural) -> Option<(Natural, Natural)> {
        if by.is_zero() {
            return None;
        }
        if let (Some(over), Some(under)) = (self.as_u128(), by.as_u128()) {
            let whole = over.checked_div(under)?;
            return Some((whole.into(), over.checked_rem(under)?.into()));
        }
        let mut whole = vec![0_u32; self.words.len()];
        let mut rest = Natural::ZERO;
        for (place, word) in self.words.iter().enumerate().rev() {
            for bit in (0..32_u32).rev() {
                let set = word.checked_shr(bit).unwrap_or(0) & 1;
                rest = rest.doubled(set);
                if let Some(less) = rest.minus(by) {
                    rest = less;
                    *whole.get_mut(place)? |= 1_u32.checked_shl(bit)?;
                }
            }
        }
        Some((Natural::of(whole), rest))
    }

    /// The nearest whole number to a fraction, half away from zero; none where the lower one is zero.
    pub fn nearest(&self, by: &Natural) -> Option<Natural> {
        let (whole, rest) = self.divided(by)?;
        let up = rest.doubled(0) >= *by;
        Some(if up { whole.plus(&1.into()) } else { whole })
    }

    /// Ten to a power.
    pub fn ten_to(places: u32) -> Natural {
        let ten = Natural::from(10);
        (0..places).fold(1.into(), |product: Natural, _| product.times(&ten))
    }

    fn doubled(&self, lowest: u32) -> Natural {
        let mut carry = lowest;
        let mut words: Vec<u32> = Vec::with_capacity(self.words.len().saturating_add(1));
        for word in &self.words {
            words.push((word << 1_u32) | carry);
            carry = word >> 31_u32;
        }
        words.push(carry);
        Natural::of(words)
    }

    fn of(mut words: Vec<u32>) -> Natural {
        while words.last() == Some(&0) {
            words.pop();
        }
        Natural { words }
    }

    fn word(&self, place: usize) -> u64 {
        self.words.get(place).copied().unwrap_or(0).into()
    }
}

/// The lowest 32 bits.
fn low(value: u128) -> u32 {
    u32::try_from(value & 0xffff_ffff).unwrap_or(0)
}

impl PartialOrd for Natural {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Natural {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_length = self.words.len().cmp(&other.words.len());
        by_length.then_with(|| self.words.iter().rev().cmp(other.words.iter().rev()))
    }
}

impl fmt::Display for Natural {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let chunk = Natural::from(10_u128.pow(9));
        let mut parts = Vec::new();
        let mut left = self.clone();
        while let Some((whole, rest)) = left.divided(&chunk).filter(|_| !left.is_zero()) {
            parts.push(rest.as_u128().unwrap_or(0));
            left = whole;
        }
        write!(f, "{}", parts.pop().unwrap_or(0))?;
        parts
            .iter()
            .rev()
            .try_for_each(|part| write!(f, "{part:09}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn numbers() -> impl Strategy<Value = Natural> {
        let edge = prop_oneof![Just(0_u32), Just(1), Just(u32::MAX), any::<u32>()];
        prop::collection::vec(edge, 0..9).prop_map(Natural::of)
    }

    #[test]
    fn digits_read_as_written_or_not_at_all() {
        let long = "9".repeat(1_000);
        for text in [
            "0",
            "7",
            "4294967296",
            "340282366920938463463374607431768211456",
            &long,
        ] {
            assert_eq!(Natural::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "-1", "1.5", "1e3", " 1", &"9".repeat(1_001)] {
            assert_eq!(Natural::parse(text), None, "{text}");
        }
    }

    #[test]
    fn halves_go_away_from_zero_and_nothing_divides_by_zero() {
        for (over, under, nearest) in [
            (1, 2, Some(1)),
            (3, 2, Some(2)),
            (1, 3, Some(0)),
            (2, 3, Some(1)),
            (0, 5, Some(0)),
            (5, 0, None),
        ] {
            let got = Natural::from(over).nearest(&Natural::from(under));
            assert_eq!(got, nearest.map(Natural::from), "{over}/{under}");
        }
        assert_eq!(Natural::from(5).divided(&Natural::ZERO), None);
    }

    proptest! {
        #[test]
        fn short_ones_are_as_those_of_the_machine(a in any::<u64>(), b in any::<u64>()) {
            let (x, y) = (u128::from(a), u128::from(b));
            let (a, b) = (Natural::from(x), Natural::from(y));
            prop_assert_eq!(a.plus(&b).as_u128(), Some(x + y));
            prop_assert_eq!(a.times(&b).as_u128(), Some(x * y));
            prop_assert_eq!(a.minus(&b).and_then(|d| d.as_u128()), x.checked_sub(y));
            prop_assert_eq!(a.cmp(&b), x.cmp(&y));
            prop_assert_eq!(a.to_string(), x.to_string());
        }

        #[test]
        fn what_is_divided_comes_back(a in numbers(), b in numbers()) {
            match a.divided(&b) {
                None => prop_assert!(b.is_zero()),
                Some((whole, rest)) => {
                    prop_assert!(rest < b);
                    prop_assert_eq!(whole.times(&b).plus(&rest), a);
                }
            }
        }

        #[test]
        fn sums_and_products_obey_their_laws(a in numbers(), b in numbers(), c in numbers()) {
            prop_assert_eq!(a.plus(&b).minus(&b), Some(a.clone()));
            prop_assert_eq!(a.times(&b), b.times(&a));
            prop_assert_eq!(a.plus(&b).times(&c), a.times(&c).plus(&b.times(&c)));
            prop_assert_eq!(Natural::parse(&a.to_string()), Some(a));
        }

        #[test]
        fn rounding_errs_by_half_at_most(a in numbers(), b in numbers()) {
            if let Some(near) = a.nearest(&b) {
                let (two, near) = (Natural::from(2), near.times(&b));
                let off = near.minus(&a).or_else(|| a.minus(&near)).unwrap();
                prop_assert!(off.times(&two) <= b);
            }
        }
    }
}
