//! Conditions: a field of usage, and the pattern that it must fit or must not.

use super::{Naming, Pattern};
use crate::ids::NAME_BYTES_MAX;
use std::fmt;

/// What of usage a condition looks at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// The collector's name.
    Source,
    /// The machine.
    Machine,
    /// Who ran it.
    User,
    /// Their group.
    Group,
    /// What names the project where no mapping does.
    Account,
    /// Queue, class or partition.
    Queue,
    /// Quality of service.
    Qos,
    /// Namespace of the cluster.
    Namespace,
    /// An attribute, annotation or label, by its name.
    Attribute(String),
}

/// Every field but attributes, with its word.
pub const FIELDS: [(Field, &str); 8] = [
    (Field::Source, "source"),
    (Field::Machine, "machine"),
    (Field::User, "user"),
    (Field::Group, "group"),
    (Field::Account, "account"),
    (Field::Queue, "queue"),
    (Field::Qos, "qos"),
    (Field::Namespace, "namespace"),
];

/// What stands before the name of an attribute.
const ATTRIBUTE: &str = "attr.";

impl Field {
    /// From its word; `attr.NAME` is an attribute.
    pub fn parse(word: &str) -> Option<Field> {
        if let Some(name) = word.strip_prefix(ATTRIBUTE) {
            let clean = !name.chars().any(|c| c.is_control() || "=!{}".contains(c));
            let bounded = !name.is_empty() && name.len() <= NAME_BYTES_MAX;
            return (clean && bounded).then(|| Field::Attribute(name.to_owned()));
        }
        let found = FIELDS.iter().find(|(_, known)| *known == word);
        found.map(|(field, _)| field.clone())
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Field::Attribute(name) = self {
            return write!(f, "{ATTRIBUTE}{name}");
        }
        let found = FIELDS.iter().find(|(field, _)| field == self);
        f.write_str(found.map_or("", |(_, word)| word))
    }
}

/// One condition: `FIELD=PATTERN`, or `FIELD!=PATTERN` for what must not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// What it looks at.
    pub field: Field,
    /// What that must fit. The empty pattern fits where usage says nothing, and `*` where it says
    /// anything.
    pub pattern: Pattern,
    /// It must not fit.
    pub is_not: bool,
}

impl Condition {
    /// Reads a condition as it is typed.
    pub fn parse(text: &str) -> Option<Condition> {
        let (field, pattern) = text.split_once('=')?;
        let (field, is_not) = match field.strip_suffix('!') {
            Some(field) => (field, true),
            None => (field, false),
        };
        Some(Condition {
            field: Field::parse(field.trim())?,
            pattern: Pattern::parse(pattern)?,
            is_not,
        })
    }

    /// That a field has exactly this value; none for a value that no pattern can hold.
    pub fn exact(field: Field, value: &str) -> Option<Condition> {
        Some(Condition {
            field,
            pattern: Pattern::literal(value)?,
            is_not: false,
        })
    }

    /// The texts of its stars where it holds; one that says what must not be has none.
    pub(super) fn holds<'a>(&self, naming: &Naming<'a>) -> Option<Vec<&'a str>> {
        let value = naming.get(&self.field);
        let is_void = self.pattern.text().is_empty();
        let fits = match value {
            Some(value) if !is_void => self.pattern.fit(value),
            None if is_void => Some(Vec::new()),
            _ => None,
        };
        match (fits, self.is_not) {
            (Some(_), true) => None,
            (None, true) => Some(Vec::new()),
            (fits, false) => fits,
        }
    }

    /// The only value that it lets through.
    pub(super) fn exactly(&self) -> Option<&str> {
        let exactly = self.pattern.exactly().filter(|value| !value.is_empty());
        exactly.filter(|_| !self.is_not)
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.is_not { "!=" } else { "=" };
        write!(f, "{}{sign}{}", self.field, self.pattern.text())
    }
}
