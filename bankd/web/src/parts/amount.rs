//! Amounts of the API as people read them: exact, with groups of thousands.

use bank_core::decimal::Decimal;
use maud::{Markup, html};

/// An exact decimal with commas between groups of three digits, and a true minus sign.
pub(crate) fn grouped(text: &str) -> String {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("\u{2212}", digits),
        None => ("", text),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    if !whole.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.to_owned();
    }
    let mut out = sign.to_owned();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if !part.is_empty() {
        out.push('.');
        out.push_str(part);
    }
    out
}

/// A number of things, with groups of thousands.
pub(crate) fn count(number: impl std::fmt::Display) -> String {
    grouped(&format!("{number}"))
}

/// A figure in a sentence or a cell. One below zero is marked by its sign and by a colour.
pub(crate) fn amount(text: &str) -> Markup {
    let is_debt = text.starts_with('-');
    html! { span .debt[is_debt] { (grouped(text)) } }
}

/// A change, whose sign is its direction and nothing to worry about.
pub(crate) fn change(text: &str) -> Markup {
    html! { (grouped(text)) }
}

/// Hours, rounded to two decimals: the exact figure is the title, and in the data of the table.
pub(crate) fn hours(text: &str) -> Markup {
    let part = text.split_once('.').map_or("", |(_, part)| part);
    let exact = Decimal::parse(text).filter(|_| part.len() > 2);
    let short = exact.map_or_else(|| text.to_owned(), |exact| rounded(exact.billionths()));
    html! { span title=(text) { (grouped(&short)) } }
}

/// Whole seconds: the exact figure is the title, and in the data of the table.
pub(crate) fn seconds(text: Option<&str>) -> Markup {
    let Some(text) = text else {
        return maybe(None);
    };
    let exact = Decimal::parse(text).map(Decimal::billionths);
    let whole = exact.map(|exact| exact.saturating_add(500_000_000).div_euclid(1_000_000_000));
    let shown = whole.map_or_else(|| grouped(text), count);
    html! { span title={ (text) " s" } { (shown) } }
}

/// A share of a hundred with one decimal. Less than all is never shown as all, and more than nothing never as
/// nothing.
pub(crate) fn share(text: &str) -> String {
    let Some(exact) = Decimal::parse(text).map(Decimal::billionths) else {
        return text.to_owned();
    };
    let tenths = exact.unsigned_abs().saturating_add(50_000_000) / 100_000_000;
    let size = exact.unsigned_abs();
    let tenths = match tenths {
        1000 if size < 100_000_000_000 => 999,
        1000 if size > 100_000_000_000 => 1001,
        0 if size > 0 => 1,
        tenths => tenths,
    };
    let sign = if exact < 0 { "-" } else { "" };
    grouped(&format!("{sign}{}.{}", tenths / 10, tenths % 10))
}

/// The sum of two amounts of the API, with their decimals.
pub(crate) fn sum(one: &str, other: &str) -> Option<String> {
    let decimals = one.split_once('.').map_or(0, |(_, part)| part.len());
    let billionths = |text| Decimal::parse(text).map(Decimal::billionths);
    let sum = billionths(one)?.checked_add(billionths(other)?)?;
    let mut text = Decimal::from_billionths(sum).to_string();
    if decimals > 0 && !text.contains('.') {
        text.push('.');
    }
    let has = text.split_once('.').map_or(0, |(_, part)| part.len());
    text.extend(std::iter::repeat_n('0', decimals.saturating_sub(has)));
    Some(text)
}

/// Billionths with two decimals, halves away from zero.
fn rounded(billionths: i128) -> String {
    let hundredths = billionths.unsigned_abs().saturating_add(5_000_000) / 10_000_000;
    let sign = if billionths < 0 && hundredths > 0 {
        "-"
    } else {
        ""
    };
    format!("{sign}{}.{:02}", hundredths / 100, hundredths % 100)
}

/// The same for a figure that may be absent.
pub(crate) fn maybe(text: Option<&str>) -> Markup {
    text.map_or_else(|| html! { span .none { "–" } }, amount)
}

/// Whether an exact decimal is zero.
pub(crate) fn is_zero(text: &str) -> bool {
    text.bytes().all(|byte| b"-0.".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped() {
        for (text, shown) in [
            ("1000.000", "1,000.000"),
            ("-1234567", "\u{2212}1,234,567"),
            ("12", "12"),
            ("0.5", "0.5"),
            ("unlimited", "unlimited"),
        ] {
            assert_eq!(grouped(text), shown);
        }
        for (one, other, both) in [
            ("10.00", "-2.50", "7.50"),
            ("10", "5", "15"),
            ("1.000", "-1.000", "0.000"),
            ("-1.5", "0.5", "-1.0"),
        ] {
            assert_eq!(sum(one, other).as_deref(), Some(both));
        }
        assert!(is_zero("0.000") && !is_zero("0.001"));
        for (text, shown) in [
            ("71.86", "71.9"),
            ("99.99", "99.9"),
            ("100.00", "100.0"),
            ("100.01", "100.1"),
            ("0.01", "0.1"),
            ("0.00", "0.0"),
            ("-12.34", "\u{2212}12.3"),
        ] {
            assert_eq!(share(text), shown);
        }
        for (text, shown) in [
            ("3641.609999", ">3,641.61<"),
            ("0.994999", ">0.99<"),
            ("-0.995", ">\u{2212}1.00<"),
            ("-0.001", ">0.00<"),
            ("12", ">12<"),
            ("1.5", ">1.5<"),
        ] {
            assert!(hours(text).into_string().contains(shown), "{text}");
        }
    }
}
