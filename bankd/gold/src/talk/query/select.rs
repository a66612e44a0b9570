//! What a query asks for: attributes, and conditions that rows must meet, all of them.

use super::cell::{Cell, Kind, Op};
use super::{Asked, Fault, plain, unsupported};

/// What there is to ask about one kind of object.
pub(super) struct Shape {
    /// The attributes of an answer, in their order.
    pub(super) usual: &'static [&'static str],
    /// Attributes that are answered only where they are asked for.
    pub(super) special: &'static [&'static str],
    /// Attributes that conditions may be about, values of the row.
    pub(super) conditions: &'static [(&'static str, Kind)],
    /// Names that conditions may be about, what the row has to do with: equal and unequal only.
    pub(super) relations: &'static [&'static str],
}

/// A query that can be answered.
#[derive(Clone, Debug)]
pub(super) struct Select {
    wanted: Vec<&'static str>,
    is_explicit: bool,
    tests: Vec<(&'static str, Op, Cell)>,
    /// Name, whether it must or must not be so, and value.
    relations: Vec<(&'static str, bool, String)>,
}

impl Select {
    /// Reads a query.
    ///
    /// # Errors
    /// An attribute that there is not, or a condition that cannot be tested.
    pub(super) fn read(asked: &Asked, shape: &Shape) -> Result<Select, Fault> {
        if !asked.fields.is_empty() {
            return Err(unsupported("a Query with Data or Set"));
        }
        let find = |list: &[&'static str], name: &str| list.iter().find(|a| **a == name).copied();
        let unknown = |name: &str| {
            let (name, object) = (plain(name), plain(&asked.object));
            Fault::new(
                "unknown_attribute",
                format!("{object} has no attribute {name}"),
            )
        };
        let mut select = Select {
            wanted: Vec::new(),
            is_explicit: !asked.wanted.is_empty(),
            tests: Vec::new(),
            relations: Vec::new(),
        };
        for name in &asked.wanted {
            let known = find(shape.usual, name).or_else(|| find(shape.special, name));
            select.wanted.push(known.ok_or_else(|| unknown(name))?);
        }
        if !select.is_explicit {
            select.wanted = shape.usual.to_vec();
        }
        for condition in &asked.conditions {
            let name = &condition.name;
            let op = Op::parse(&condition.op);
            let op = op.ok_or_else(|| unsupported("Where with this op"))?;
            let value = condition.value.clone();
            if let Some((known, kind)) = shape.conditions.iter().find(|(own, _)| own == name) {
                let unusable = || {
                    let message = format!("Where {known}: not {}", kind.expected());
                    Fault::new("bad_number", message)
                };
                let value = kind.read(&value).ok_or_else(unusable)?;
                select.tests.push((known, op, value));
            } else if let Some(known) = find(shape.relations, name) {
                let must = match op {
                    Op::Equal => true,
                    Op::NotEqual => false,
                    _ => return Err(unsupported(&format!("Where {known} with this op"))),
                };
                select.relations.push((known, must, value));
            } else if find(shape.usual, name)
                .or(find(shape.special, name))
                .is_some()
            {
                return Err(unsupported(&format!("Where {}", plain(name))));
            } else {
                return Err(unknown(name));
            }
        }
        Ok(select)
    }

    /// The attributes to answer, in the order asked.
    pub(super) fn wanted(&self) -> &[&'static str] {
        &self.wanted
    }

    /// Whether an attribute was asked for by name.
    pub(super) fn asks_for(&self, attribute: &str) -> bool {
        self.is_explicit && self.wanted.contains(&attribute)
    }

    /// What rows must and must not have to do with: name, must, value.
    pub(super) fn relations(&self) -> &[(&'static str, bool, String)] {
        &self.relations
    }

    /// The text that an attribute must be, where a condition says so.
    pub(super) fn exactly(&self, attribute: &str) -> Option<&str> {
        self.tests.iter().find_map(|(name, op, value)| match value {
            Cell::Text(text) if *name == attribute && *op == Op::Equal => Some(text.as_str()),
            _ => None,
        })
    }

    /// Whether a row meets every condition on its values.
    pub(super) fn accepts(&self, cell: impl Fn(&str) -> Cell) -> bool {
        let mut tests = self.tests.iter();
        tests.all(|(name, op, value)| cell(name).meets(*op, value))
    }
}
