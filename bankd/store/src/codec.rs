//! Column formats of values that are not integers.

use super::Error;
use bank_core::decimal::Decimal;
use bank_core::exact::TRILLIONTHS;
use bank_core::model::Dimension;
use bank_core::usage::{self, Usage};
use rusqlite::Row;
use std::borrow::Cow;

/// Reads a word of a fixed set.
pub(super) fn word<T>(
    what: &'static str,
    value: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<T, Error> {
    parse(value).ok_or_else(|| Error::Value {
        what,
        value: value.to_owned(),
    })
}

/// The usage that a charge priced.
pub(super) fn usage(processors: &str, facts: &str) -> Result<Usage, Error> {
    let processors = word("usage.processors", processors, Decimal::read)?;
    word("usage.facts", facts, |facts| {
        usage::text::read(facts, Some(processors))
    })
}

/// A text column in place, without a copy.
pub(super) fn text<'r>(row: &'r Row<'_>, column: usize) -> rusqlite::Result<&'r str> {
    Ok(row.get_ref(column)?.as_str()?)
}

/// The same of a column that may be empty.
pub(super) fn text_or_null<'r>(
    row: &'r Row<'_>,
    column: usize,
) -> rusqlite::Result<Option<&'r str>> {
    Ok(row.get_ref(column)?.as_str_or_null()?)
}

/// A chain that leads to a row that is not there.
pub(super) fn broken(what: &'static str, id: i64) -> Error {
    Error::Value {
        what,
        value: id.to_string(),
    }
}

/// An error for reference data that would change without a transaction that records it.
pub(super) fn unexplained(kind: &str, key: &str) -> Error {
    Error::Value {
        what: "change of reference data without a transaction",
        value: format!("{kind} {key}"),
    }
}

/// The dimension of a constraint by its word.
pub(super) fn dimension(word: &str) -> Option<Dimension> {
    Dimension::parse(word).ok()
}

/// A list of names, one a line: names hold no control characters.
pub(super) fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

/// The text of a list of names.
pub(super) fn join(names: &[String]) -> String {
    names.join("\n")
}

/// A decimal, or nothing.
pub(super) fn decimal(what: &'static str, text: Option<String>) -> Result<Option<Decimal>, Error> {
    text.map(|t| word(what, &t, Decimal::read)).transpose()
}

/// Names with values as a JSON array of pairs; empty text for none.
pub(super) fn pairs(pairs: &[(String, String)]) -> Cow<'static, str> {
    if pairs.is_empty() {
        return Cow::Borrowed("");
    }
    Cow::Owned(serde_json::to_string(pairs).unwrap_or_default())
}

/// Reads the format of [`pairs`].
pub(super) fn read_pairs(what: &'static str, text: &str) -> Result<Vec<(String, String)>, Error> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    word(what, text, |t| serde_json::from_str(t).ok())
}

/// Names with quantities as text.
pub(super) fn quantities(quantities: &[(String, Decimal)]) -> Cow<'static, str> {
    if quantities.is_empty() {
        return Cow::Borrowed("");
    }
    let text: Vec<(String, String)> = quantities
        .iter()
        .map(|(name, value)| (name.clone(), value.to_string()))
        .collect();
    pairs(&text)
}

/// Reads the format of [`quantities`].
pub(super) fn read_quantities(
    what: &'static str,
    text: &str,
) -> Result<Vec<(String, Decimal)>, Error> {
    let pairs = read_pairs(what, text)?;
    let number = |(name, value): (String, String)| {
        word(what, &value, Decimal::read).map(|decimal| (name, decimal))
    };
    pairs.into_iter().map(number).collect()
}

/// Trillionths from whole credits and the part below one.
pub(super) fn trillionths(whole: i64, part: i64) -> i128 {
    i128::from(whole)
        .saturating_mul(TRILLIONTHS)
        .saturating_add(i128::from(part))
}

/// Trillionths as whole credits and the fraction, each in a column. A sum beyond the range of the
/// column exceeds that of any amount; the rules prevent it.
pub(super) fn columns(trillionths: i128) -> (i64, i64) {
    let (whole, part) = bank_core::exact::split(trillionths);
    (
        i64::try_from(whole).unwrap_or(i64::MAX),
        i64::try_from(part).unwrap_or(0),
    )
}

/// Bytes in hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(bytes.len().saturating_mul(2));
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// 32 bytes from the format of [`hex`].
pub(super) fn read_hash(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (n, byte) in bytes.iter_mut().enumerate() {
        let pair = text.get(n * 2..n * 2 + 2)?;
        *byte = u8::from_str_radix(pair, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn names_with_values_read_back(all in prop::collection::vec((any::<String>(), any::<String>()), 0..5)) {
            let text = pairs(&all);
            prop_assert_eq!(read_pairs("x", &text).unwrap(), all);
        }

        #[test]
        fn names_with_quantities_read_back(all in prop::collection::vec((any::<String>(), any::<i64>()), 0..5)) {
            let all: Vec<(String, Decimal)> = all
                .into_iter()
                .map(|(name, n)| (name, Decimal::from_billionths(n.into())))
                .collect();
            let text = quantities(&all);
            prop_assert_eq!(read_quantities("x", &text).unwrap(), all);
        }

        #[test]
        fn lists_of_names_read_back(all in prop::collection::vec("[^\\p{Cc}]{1,20}", 0..5)) {
            prop_assert_eq!(lines(&join(&all)), all);
        }

        #[test]
        fn sums_read_back(sum in any::<i64>(), part in 0_i64..1_000_000_000_000) {
            let whole = trillionths(sum, part);
            let (a, b) = columns(whole);
            prop_assert_eq!(trillionths(a, b), whole);
        }
    }
}
