//! Sums, shares and groups of thousands over the exact decimals that the daemon sends.
//!
//! For the screen only: what is decided with an amount is decided by the daemon.

use bank_api::text::noun_of;

/// Amounts in other units: times `up`, over `down`, half to even.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale {
    /// What the units are called.
    pub word: &'static str,
    /// Numerator.
    pub up: i128,
    /// Denominator.
    pub down: i128,
    /// Decimals shown.
    pub decimals: usize,
}

impl Scale {
    /// An amount in these units; none where it is no amount.
    pub fn of(self, amount: &str) -> Option<String> {
        scaled(amount, self.up, self.down, self.decimals)
    }
}

/// A decimal number with an optional sign. The bank checks the number of digits.
///
/// # Errors
/// A sentence about what is expected.
pub fn amount(text: &str) -> Result<String, String> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if number(whole) && number(fraction) && !(whole.is_empty() && fraction.is_empty()) {
        Ok(text.strip_prefix('+').unwrap_or(text).to_owned())
    } else {
        Err("not a number; write digits, with at most one point between them, such as 250000 or 12.5".to_owned())
    }
}

/// The digits of an exact decimal as one integer, with the number of its decimals.
pub fn minor(text: &str) -> Option<(i128, usize)> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
    Some((digits, fraction.len()))
}

/// The inverse of [`minor`].
pub fn plain(minor: i128, decimals: usize) -> String {
    let sign = if minor < 0 { "-" } else { "" };
    let digits = format!("{:0>width$}", minor.unsigned_abs(), width = decimals + 1);
    let (whole, fraction) = digits.split_at(digits.len() - decimals);
    if fraction.is_empty() {
        format!("{sign}{whole}")
    } else {
        format!("{sign}{whole}.{fraction}")
    }
}

/// The sum of amounts of one precision; `None` if one is no number or has other decimals.
pub fn sum<'a>(amounts: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let mut total: Option<(i128, usize)> = None;
    for amount in amounts {
        let (digits, decimals) = minor(amount)?;
        total = match total {
            None => Some((digits, decimals)),
            Some((sum, same)) if same == decimals => Some((sum.checked_add(digits)?, same)),
            Some(_) => return None,
        };
    }
    total.map(|(sum, decimals)| plain(sum, decimals))
}

/// `a + b`, whatever decimals they have; an empty text is nothing.
pub fn added(a: &str, b: &str) -> Option<String> {
    let number = |text: &str| minor(if text.is_empty() { "0" } else { text });
    let ((a, of_a), (b, of_b)) = (number(a)?, number(b)?);
    let decimals = of_a.max(of_b);
    let wide = |digits: i128, own: usize| {
        let more = u32::try_from(decimals.checked_sub(own)?).ok()?;
        digits.checked_mul(10_i128.checked_pow(more)?)
    };
    let sum = wide(a, of_a)?.checked_add(wide(b, of_b)?)?;
    Some(plain(sum, decimals))
}

/// `a - b`, for amounts of one precision.
pub fn difference(a: &str, b: &str) -> Option<String> {
    let ((a, decimals), (b, same)) = (minor(a)?, minor(b)?);
    (decimals == same).then(|| plain(a - b, decimals))
}

/// `part` of `whole` in percent, half up; `None` where the whole is not above zero.
pub fn percent(part: &str, whole: &str) -> Option<i128> {
    let ((part, decimals), (whole, same)) = (minor(part)?, minor(whole)?);
    if whole <= 0 || decimals != same {
        return None;
    }
    let doubled = part.checked_mul(200)?.checked_add(whole)?;
    Some(doubled.div_euclid(whole.checked_mul(2)?))
}

/// An amount times `up` over `down`, rounded half to even to `decimals`; `None` for what is no
/// number or too large.
pub fn scaled(text: &str, up: i128, down: i128, decimals: usize) -> Option<String> {
    let (digits, own) = minor(text)?;
    let power = |n: usize| 10_i128.checked_pow(u32::try_from(n).ok()?);
    let above = digits.checked_mul(up)?.checked_mul(power(decimals)?)?;
    let below = down.checked_mul(power(own)?)?;
    let (whole, rest) = (
        above.checked_div_euclid(below)?,
        above.checked_rem_euclid(below)?,
    );
    let doubled = rest.checked_mul(2)?;
    let up = doubled > below || (doubled == below && whole.rem_euclid(2) == 1);
    Some(plain(whole.checked_add(i128::from(up))?, decimals))
}

/// Credits that are seconds as hours with two decimals, as Gold's `-h` shows them.
pub fn hours(text: &str) -> Option<String> {
    scaled(text, 1, 3600, 2)
}

/// An amount times a whole number, exactly.
pub fn times(text: &str, factor: i128) -> Option<String> {
    let (digits, decimals) = minor(text)?;
    Some(plain(digits.checked_mul(factor)?, decimals))
}

/// True for zero in any precision, and for what is no number.
pub fn is_zero(text: &str) -> bool {
    minor(text).is_none_or(|(digits, _)| digits == 0)
}

/// True where nothing stands behind the point but zeros.
pub fn is_whole(text: &str) -> bool {
    text.split_once('.')
        .is_none_or(|(_, fraction)| fraction.bytes().all(|byte| byte == b'0'))
}

/// A number with its noun, in the plural unless the number is 1: `1 job`, `1,200 jobs`.
pub fn counted(number: &str, noun: &str) -> String {
    format!("{} {}", grouped(number), noun_of(number == "1", noun))
}

/// Thousands separated by commas, and the minus sign of the typesetter: `-1234.5` → `−1,234.5`.
pub fn grouped(text: &str) -> String {
    let (sign, digits) = text
        .strip_prefix('-')
        .map_or(("", text), |digits| ("\u{2212}", digits));
    let whole = digits.split_once('.').map_or(digits, |(whole, _)| whole);
    let mut out = String::from(sign);
    for (at, digit) in whole.char_indices() {
        if at > 0 && (whole.len() - at) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out.push_str(digits.get(whole.len()..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_keep_every_decimal() {
        assert_eq!(added("", "1.5").as_deref(), Some("1.5"));
        assert_eq!(added("0.25", "-1").as_deref(), Some("-0.75"));
        assert_eq!(added("3", "4").as_deref(), Some("7"));
        assert_eq!(added("x", "4"), None);
    }

    #[test]
    fn thousands() {
        let cases = [
            ("0", "0"),
            ("999", "999"),
            ("1000.000", "1,000.000"),
            ("1000000", "1,000,000"),
            ("-12.500", "−12.500"),
            ("-123456.789", "−123,456.789"),
            ("0.001", "0.001"),
        ];
        for (text, expected) in cases {
            assert_eq!(grouped(text), expected);
        }
    }

    #[test]
    fn sums_keep_the_precision() {
        assert_eq!(sum(["1.500", "-0.501"]).as_deref(), Some("0.999"));
        assert_eq!(sum(["-0.500", "0.499"]).as_deref(), Some("-0.001"));
        assert_eq!(sum(["7", "8"]).as_deref(), Some("15"));
        assert_eq!(sum(["7", "8.0"]), None);
        assert_eq!(sum([]), None);
        assert_eq!(
            difference("393216.000", "18400.000").as_deref(),
            Some("374816.000")
        );
    }

    #[test]
    fn hours_round_half_to_even() {
        let cases = [
            ("7200", "2.00"),
            ("18", "0.00"),
            ("54", "0.02"),
            ("-1800.000", "-0.50"),
            ("360000000", "100000.00"),
        ];
        for (text, expected) in cases {
            assert_eq!(hours(text).as_deref(), Some(expected), "{text}");
        }
        assert_eq!(times("1.50", 3600).as_deref(), Some("5400.00"));
        assert_eq!(times("x", 3600), None);
    }

    #[test]
    fn shares_round_half_up() {
        let cases = [
            ("647500.000", "1000000.000", Some(65)),
            ("92000", "120000", Some(77)),
            ("645", "1000", Some(65)),
            ("0", "10", Some(0)),
            ("5", "0", None),
            ("-5", "100", Some(-5)),
        ];
        for (part, whole, expected) in cases {
            assert_eq!(percent(part, whole), expected, "{part} of {whole}");
        }
    }
}
