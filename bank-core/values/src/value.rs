//! Values of fields: their types, and how the journal shows them.

use crate::amount::{Amount, Precision};
use crate::decimal::Decimal;
use crate::months;
use crate::time::Timestamp;

/// Type of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// Text without control characters, up to so many bytes.
    Text(usize),
    /// A whole number in a range.
    Whole(i64, i64),
    /// Whole seconds, in a range.
    Duration(i64, i64),
    /// A decimal with so many places, in a range of units of its last place.
    Decimal(u32, i64, i64),
    /// Minor units of the bank, in a range.
    Amount(i64, i64),
    /// True or false.
    Flag,
    /// A time.
    Time,
    /// One of these words.
    Choice(Vec<String>),
    /// The key of an object or record of this kind.
    Reference(String),
    /// Texts, up to so many, each of up to so many bytes.
    Texts(usize, usize),
    /// Keys of objects of this kind, up to so many: each once, in order.
    References(String, usize),
}

/// A value of a field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Value {
    /// None.
    #[default]
    None,
    /// A text, a word, or the name of an object.
    Text(String),
    /// A whole number, units of the last place of a decimal, minor units, or the number of a record.
    Whole(i64),
    /// A flag.
    Flag(bool),
    /// A time.
    Time(Timestamp),
    /// A list.
    List(Vec<String>),
}

impl Value {
    /// Whether there is none, which an empty text and an empty list are too.
    pub fn is_none(&self) -> bool {
        match self {
            Value::None => true,
            Value::Text(text) => text.is_empty(),
            Value::List(list) => list.is_empty(),
            Value::Whole(_) | Value::Flag(_) | Value::Time(_) => false,
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

impl From<Option<&str>> for Value {
    fn from(text: Option<&str>) -> Value {
        text.map_or(Value::None, Value::from)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text)
    }
}

impl From<Vec<String>> for Value {
    fn from(list: Vec<String>) -> Value {
        Value::List(list)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Value {
        Value::Whole(number)
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Value {
        Value::Flag(flag)
    }
}

/// Billionths of one unit of the last of so many places.
fn billionths(places: u32) -> i128 {
    10_i128
        .checked_pow(9_u32.saturating_sub(places))
        .unwrap_or(1)
}

/// A decimal in units of its last place. None where it has more places, or does not fit.
pub fn units(decimal: Decimal, places: u32) -> Option<i64> {
    let unit = billionths(places);
    let exact = decimal.billionths().checked_rem(unit)? == 0;
    let units = decimal.billionths().checked_div(unit)?;
    i64::try_from(units).ok().filter(|_| exact)
}

/// The decimal of so many units of its last place, as text. Where the range is one of hundredths or the like,
/// all places are shown; of billionths those that count.
pub fn decimal(units: i64, places: u32) -> String {
    let number = Decimal::from_billionths(i128::from(units).saturating_mul(billionths(places)));
    let text = number.to_string();
    if places >= 9 {
        return text;
    }
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    let width = usize::try_from(places).unwrap_or(0);
    format!("{whole}.{part:0<width$}")
}

/// A value as the journal shows it, `-` for none. Times are in UTC.
pub fn shown(of: &Type, value: &Value, precision: Precision) -> String {
    match (of, value) {
        (_, Value::None) => "-".to_owned(),
        (Type::Decimal(places, ..), Value::Whole(units)) => decimal(*units, *places),
        (Type::Amount(..), Value::Whole(minor)) => Amount(*minor).display(precision).to_string(),
        (_, Value::Text(text)) => text.clone(),
        (_, Value::Whole(number)) => number.to_string(),
        (_, Value::Flag(flag)) => flag.to_string(),
        (_, Value::Time(at)) => months::text(*at),
        (_, Value::List(list)) => list.join(","),
    }
}
