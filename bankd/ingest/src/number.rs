//! Exact decimals of any number of places: values of accounting files, added without loss.

use std::fmt;

/// An exact decimal number: `units` / 10^`places`, kept without trailing zeros.
///
/// Places go up to [`PLACES_MAX`]; operations beyond the range return `None`, and the caller
/// rejects the record. Sums of values with 19 places stay far inside it (`collectors.md` h.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Number {
    units: i128,
    places: u8,
}

/// The most places that a number has.
pub const PLACES_MAX: u8 = 30;

/// The most places of a mean: so many that its product with a time is exact to the microsecond.
pub const MEAN_PLACES: u8 = 18;

/// Number of digits that always fits into 64 bits. Values of accounting files nearly always do, and
/// 64 bits are many times faster than 128.
const DIGITS: usize = 18;

/// Powers of ten of so many digits.
const TENS: [i64; DIGITS + 1] = tens();

#[allow(clippy::indexing_slicing, reason = "checked when it is compiled")]
const fn tens() -> [i64; DIGITS + 1] {
    let mut tens = [1; DIGITS + 1];
    let mut at = 1;
    while at <= DIGITS {
        tens[at] = tens[at - 1] * 10;
        at += 1;
    }
    tens
}

impl Number {
    /// Nothing.
    pub const ZERO: Number = Number {
        units: 0,
        places: 0,
    };

    /// A whole number.
    pub fn whole(value: impl Into<i128>) -> Self {
        Self {
            units: value.into(),
            places: 0,
        }
    }

    /// `units` / 10^`places`.
    pub fn scaled(units: i128, places: u8) -> Self {
        let mut number = Self { units, places };
        number.trim();
        number
    }

    /// Seconds, of microseconds.
    pub fn seconds(us: i64) -> Self {
        Self::scaled(i128::from(us), 6)
    }

    /// Units and places, as [`Number::scaled`] takes them.
    pub fn parts(self) -> (i128, u8) {
        (self.units, self.places)
    }

    /// Reads `12`, `-0.5`, `.5`, `5.`, `1e3`, `2.5E-4`; nothing else: no blanks, no `+`, no words.
    pub fn parse(text: &str) -> Option<Self> {
        Self::short(text).or_else(|| Self::long(text))
    }

    /// Few digits, with a point or without.
    fn short(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        if bytes.len() > DIGITS {
            return None;
        }
        let (mut units, mut point) = (0_i64, None);
        for (at, byte) in bytes.iter().enumerate() {
            match byte {
                b'0'..=b'9' => units = units * 10 + i64::from(*byte & 0xf),
                b'.' if point.is_none() => point = Some(at),
                _ => return None,
            }
        }
        let behind = point.map_or(0, |at| bytes.len().saturating_sub(at).saturating_sub(1));
        let has_digits = bytes.len() > usize::from(point.is_some());
        let places = u8::try_from(behind).ok()?;
        has_digits.then(|| Self::scaled(units.into(), places))
    }

    /// The general case.
    fn long(text: &str) -> Option<Self> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (negative, digits) = match mantissa.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, mantissa),
        };
        let (whole, places) = digits.split_once('.').unwrap_or((digits, ""));
        let plain = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        if (whole.is_empty() && places.is_empty()) || !plain(whole) || !plain(places) {
            return None;
        }
        let mut units: i128 = 0;
        for digit in whole.bytes().chain(places.bytes()) {
            let digit = i128::from(digit.checked_sub(b'0')?);
            units = units.checked_mul(10)?.checked_add(digit)?;
        }
        let units = if negative {
            units.checked_neg()?
        } else {
            units
        };
        let places = i32::try_from(places.len()).ok()?.checked_sub(exponent)?;
        if units == 0 {
            return Some(Self::ZERO);
        }
        if places < 0 {
            let up = 10_i128.checked_pow(places.unsigned_abs())?;
            return Some(Self::whole(units.checked_mul(up)?));
        }
        let mut number = Self {
            units,
            places: u8::try_from(places).ok()?,
        };
        number.trim();
        (number.places <= PLACES_MAX).then_some(number)
    }

    /// The sum.
    pub fn plus(self, other: Self) -> Option<Self> {
        if self.places == 0 && other.places == 0 {
            return self.units.checked_add(other.units).map(Self::whole);
        }
        let places = self.places.max(other.places);
        let units = self.at(places)?.checked_add(other.at(places)?)?;
        Some(Self::scaled(units, places))
    }

    /// The difference.
    pub fn minus(self, other: Self) -> Option<Self> {
        self.plus(Self {
            units: other.units.checked_neg()?,
            places: other.places,
        })
    }

    /// The product.
    pub fn times(self, other: Self) -> Option<Self> {
        let places = self.places.checked_add(other.places)?;
        let product = Self::scaled(product(self.units, other.units)?, places);
        (product.places <= PLACES_MAX).then_some(product)
    }

    /// The quotient, cut to so many places.
    pub fn over(self, other: Self, places: u8) -> Option<Self> {
        let most = self.places.max(other.places);
        let up = 10_i128.checked_pow(places.into())?;
        let top = self.at(most)?.checked_mul(up)?;
        Some(Self::scaled(top.checked_div(other.at(most)?)?, places))
    }

    /// The mean over a time, cut to as many places as exact arithmetic allows, at most [`MEAN_PLACES`]; none over
    /// no time.
    pub fn mean_over(self, time: Self) -> Option<Self> {
        let places = [MEAN_PLACES, 15, 12, 9];
        places
            .into_iter()
            .find_map(|places| self.over(time, places))
    }

    /// It divided by a count above zero, for people: rounded to so many places, halves to even, with
    /// commas between thousands.
    pub fn shared_out(self, among: i64, places: u8) -> Option<String> {
        let up = 10_i128.checked_pow(places.into())?;
        let down = 10_i128.checked_pow(self.places.into())?;
        let (top, bottom) = (
            self.units.checked_mul(up)?,
            down.checked_mul(among.into()).filter(|down| *down > 0)?,
        );
        let (whole, rest) = (top.div_euclid(bottom), top.rem_euclid(bottom));
        let twice = rest.checked_mul(2)?;
        let is_up = twice > bottom || (twice == bottom && whole % 2 != 0);
        let rounded = whole.checked_add(i128::from(is_up))?;
        let rounded = i64::try_from(rounded).ok()?;
        Some(bank_api::text::format_grouped(rounded, places))
    }

    /// Whether it is below zero.
    pub fn is_negative(self) -> bool {
        self.units < 0
    }

    /// Whether it is above zero.
    pub fn is_above_zero(self) -> bool {
        self.units > 0
    }

    /// Whether it is zero.
    pub fn is_zero(self) -> bool {
        self.units == 0
    }

    /// The whole number that it is, if it is one.
    pub fn as_whole(self) -> Option<i128> {
        (self.places == 0).then_some(self.units)
    }

    /// It, cut to so many places towards zero.
    #[must_use]
    pub fn cut(self, places: u8) -> Self {
        if self.places <= places {
            return self;
        }
        let over = self.places.saturating_sub(places);
        let down = 10_i128.checked_pow(u32::from(over)).unwrap_or(i128::MAX);
        let units = self.units.checked_div(down).unwrap_or(0);
        Self::scaled(units, self.places.min(places))
    }

    /// Microseconds, of seconds: finer ones are cut.
    pub fn as_microseconds(self) -> Option<i64> {
        if self.places == 0 {
            return i64::try_from(self.units).ok()?.checked_mul(1_000_000);
        }
        i64::try_from(self.cut(6).at(6)?).ok()
    }

    fn at(self, places: u8) -> Option<i128> {
        let more = places.checked_sub(self.places)?;
        match TENS.get(usize::from(more)) {
            Some(ten) => product(self.units, i128::from(*ten)),
            None => self
                .units
                .checked_mul(10_i128.checked_pow(u32::from(more))?),
        }
    }

    fn trim(&mut self) {
        if let Ok(mut units) = i64::try_from(self.units) {
            while self.places > 0 && units % 10 == 0 {
                units /= 10;
                self.places = self.places.saturating_sub(1);
            }
            self.units = units.into();
            return;
        }
        while self.places > 0 && self.units % 10 == 0 {
            self.units /= 10;
            self.places = self.places.saturating_sub(1);
        }
    }
}

/// The product of two; factors within 64 bits cannot exceed 128 bits.
fn product(one: i128, other: i128) -> Option<i128> {
    match (i64::try_from(one), i64::try_from(other)) {
        (Ok(one), Ok(other)) => Some(i128::from(one) * i128::from(other)),
        _ => one.checked_mul(other),
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.places == 0 {
            return write!(f, "{}", self.units);
        }
        let sign = if self.units < 0 { "-" } else { "" };
        let width = usize::from(self.places).saturating_add(1);
        let digits = format!("{:0>width$}", self.units.unsigned_abs());
        let point = digits.len().saturating_sub(usize::from(self.places));
        let (whole, places) = digits.split_at_checked(point).unwrap_or((&digits, ""));
        write!(f, "{sign}{whole}.{places}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_and_written_exactly() {
        for (text, expected) in [
            ("0", "0"),
            ("-0.0", "0"),
            ("12", "12"),
            ("12.500", "12.5"),
            ("-0.05", "-0.05"),
            (".5", "0.5"),
            ("5.", "5"),
            ("1e3", "1000"),
            ("2.5E-4", "0.00025"),
            ("0.0123456789012345678", "0.0123456789012345678"),
            ("999999999999999999", "999999999999999999"),
            ("0000000000000000000001", "1"),
            ("00.50000000000000000", "0.5"),
            ("9223372036854775808", "9223372036854775808"),
            ("-9223372036854775808.50", "-9223372036854775808.5"),
        ] {
            assert_eq!(
                Number::parse(text).map(|n| n.to_string()).as_deref(),
                Some(expected),
                "{text}"
            );
        }
        for text in [
            "", ".", "..", "1.2.3", "-", "+1", " 1", "1_0", "0x1", "NaN", "inf", "1e", "1e99", "１",
        ] {
            assert_eq!(Number::parse(text), None, "{text}");
        }
    }

    #[test]
    fn arithmetic_is_exact() {
        let number = |text| Number::parse(text).unwrap();
        assert_eq!(number("0.1").plus(number("0.2")), Some(number("0.3")));
        assert_eq!(number("1").minus(number("0.001")), Some(number("0.999")));
        assert_eq!(number("0.25").times(number("4")), Some(Number::whole(1)));
        assert_eq!(number("1.23456789").cut(3), number("1.234"));
        assert_eq!(number("36.5").over(number("0.25"), 3), Some(number("146")));
        assert_eq!(number("2").over(number("3"), 6), Some(number("0.666666")));
        assert_eq!(number("2").over(Number::ZERO, 6), None);
        assert_eq!(number("-1.9").cut(0), number("-1"));
        assert_eq!(number("1.0000019").as_microseconds(), Some(1_000_001));
        for (text, expected) in [
            ("4500", "1.250"),
            ("1.8", "0.000"),
            ("5.4", "0.002"),
            ("12345678000", "3,429,355.000"),
            ("-3600", "-1.000"),
        ] {
            assert_eq!(
                number(text).shared_out(3600, 3).as_deref(),
                Some(expected),
                "{text}"
            );
        }
        assert_eq!(Number::whole(i128::MAX).plus(Number::whole(1)), None);
        let large = number("9223372036854775807");
        assert_eq!(
            large.times(large).map(|n| n.to_string()).as_deref(),
            Some("85070591730234615847396907784232501249")
        );
        assert_eq!(large.times(large).and_then(|n| n.times(large)), None);
        assert_eq!(
            large
                .plus(number("0.0000000000000000001"))
                .map(|n| n.to_string())
                .as_deref(),
            Some("9223372036854775807.0000000000000000001")
        );
    }
}
