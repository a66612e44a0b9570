//! Declared usage attributes: properties in a site's documents beyond the built-in ones (ledger.md 6).

use crate::decimal::Decimal;
use crate::refusal::Refusal;
use crate::usage::{ATTRIBUTE_NAME_MAX, Usage};

/// Properties that need no declaration, in the spelling of rates.
pub const PROPERTIES: [&str; 14] = [
    "Processors",
    "Nodes",
    "Memory",
    "Disk",
    "QualityOfService",
    "QOS",
    "Class",
    "Queue",
    "User",
    "UserId",
    "Project",
    "Group",
    "Machine",
    "ConsumptionRate",
];

/// The value type of an attribute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AttributeKind {
    /// Any text.
    #[default]
    Text,
    /// Decimal numbers.
    Number,
}

/// Every one with its word.
const ATTRIBUTE_KINDS: [(AttributeKind, &str); 2] = [
    (AttributeKind::Text, "text"),
    (AttributeKind::Number, "number"),
];

crate::words!(AttributeKind, ATTRIBUTE_KINDS, "text");

/// A declared usage attribute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attribute {
    /// Its name, unique without regard to case.
    pub name: String,
    /// The type of its values.
    pub kind: AttributeKind,
    /// Free text.
    pub description: String,
    /// Taken back; usage keeps its values.
    pub deleted: bool,
}

/// Checks the name of a new attribute: a letter, then letters, digits, `_`, `-` and `.`, at most 64 bytes.
/// Returns `bad_name` for others, and `already_exists` for a built-in property.
pub fn check_name(name: &str) -> Result<(), Refusal> {
    let mut bytes = name.bytes();
    let begins = bytes.next().is_some_and(|b| b.is_ascii_alphabetic());
    let goes_on = bytes.all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b));
    if !begins || !goes_on || name.len() > ATTRIBUTE_NAME_MAX {
        let rule = "an attribute has a letter, then letters, digits, _, - and ., at most 64 bytes";
        return Err(Refusal::bad_name(name, rule));
    }
    if PROPERTIES.iter().any(|own| own.eq_ignore_ascii_case(name)) {
        return Err(Refusal::already_exists("property", name));
    }
    Ok(())
}

/// Checks the attributes of a request that may be refused: their number and length, and that a
/// declared number is one. `bad_value`.
pub fn check_usage(usage: &Usage, declared: &[Attribute]) -> Result<(), Refusal> {
    if !usage.is_bounded() {
        return Err(Refusal::BadValue {
            field: "attributes",
            expected: "at most 64, names up to 64 and values up to 1024 bytes",
        });
    }
    let number = |name: &str| {
        declared.iter().any(|a| {
            !a.deleted && a.kind == AttributeKind::Number && a.name.eq_ignore_ascii_case(name)
        })
    };
    let mut given = usage.attributes.iter();
    if given.any(|(name, value)| number(name) && Decimal::parse(value).is_none()) {
        return Err(Refusal::BadValue {
            field: "attributes",
            expected: "a decimal number where the attribute is declared as one",
        });
    }
    Ok(())
}
