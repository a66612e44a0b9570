//! The rows of an account's lists, and what of a request they look at (ledger.md 4).

use crate::decimal::Decimal;
use crate::ids::check_name;
use crate::refusal::Refusal;
use crate::usage::Usage;

/// The property that a constraint row checks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dimension {
    /// The project.
    Project,
    /// The user.
    User,
    /// The machine.
    Machine,
    /// The class or queue.
    Class,
    /// The quality of service.
    Qos,
    /// The group that the scheduler names.
    Group,
    /// The organisation of the project or of the user.
    Organization,
    /// Any other property of the usage, by its name in lower case.
    Attribute(String),
}

/// Every name with a special meaning; the first of each dimension is its word.
const NAMES: [(Dimension, &str); 13] = [
    (Dimension::Project, "project"),
    (Dimension::User, "user"),
    (Dimension::Machine, "machine"),
    (Dimension::Class, "class"),
    (Dimension::Qos, "qos"),
    (Dimension::Group, "group"),
    (Dimension::Organization, "organization"),
    (Dimension::Project, "projectid"),
    (Dimension::User, "userid"),
    (Dimension::Machine, "machinename"),
    (Dimension::Class, "queue"),
    (Dimension::Qos, "qualityofservice"),
    (Dimension::Group, "groupid"),
];

impl Dimension {
    /// Its word: what is stored and shown.
    pub fn word(&self) -> &str {
        if let Dimension::Attribute(name) = self {
            return name;
        }
        NAMES
            .iter()
            .find(|(dimension, _)| dimension == self)
            .map_or("", |(_, word)| word)
    }

    /// From its word, matched without case; refused with `bad_name` where it cannot be the name of
    /// a property.
    pub fn parse(word: &str) -> Result<Dimension, Refusal> {
        let lower = word.to_ascii_lowercase();
        if let Some((dimension, _)) = NAMES.iter().find(|(_, name)| *name == lower) {
            return Ok(dimension.clone());
        }
        check_name(&lower)?;
        Ok(Dimension::Attribute(lower))
    }

    /// Whether it is one of the three lists that every account has.
    pub fn is_ordinary(&self) -> bool {
        matches!(
            self,
            Dimension::Project | Dimension::User | Dimension::Machine
        )
    }
}

/// One row of an account's lists (ledger.md 4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// The property that it checks.
    pub dimension: Dimension,
    /// A name, `ANY` or `MEMBERS`.
    pub value: String,
    /// Allows, or denies.
    pub allow: bool,
    /// A project row that matches the project's descendants too.
    pub subtree: bool,
}

/// The traits of a request beyond project, user and machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traits {
    /// Class, quality of service and attributes.
    pub usage: Usage,
    /// The group; empty where none was named.
    pub group: String,
}

impl Traits {
    /// Whether a property has a value. Texts are compared with their case, and where both are
    /// numbers their values count.
    pub fn has(&self, dimension: &Dimension, value: &str) -> bool {
        match dimension {
            Dimension::Class => self.usage.class.as_deref() == Some(value),
            Dimension::Qos => self.usage.qos.as_deref() == Some(value),
            Dimension::Group => !self.group.is_empty() && self.group == value,
            Dimension::Attribute(name) => {
                let number = || self.usage.number(name).zip(Decimal::parse(value));
                self.usage.text(name) == Some(value) || number().is_some_and(|(own, v)| own == v)
            }
            Dimension::Project | Dimension::User | Dimension::Machine | Dimension::Organization => {
                false
            }
        }
    }
}
