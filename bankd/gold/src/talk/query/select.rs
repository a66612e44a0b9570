//! The parts of a query: attributes, and conditions that every row must meet.

use super::cell::{Cell, Kind, Op};
use super::{Call, Fault, plain, unsupported};

/// The attributes of one kind of object.
pub(super) struct Shape {
    /// The attributes of an answer, in their order.
    pub(super) usual: &'static [&'static str],
    /// Attributes that are returned only on request.
    pub(super) special: &'static [&'static str],
    /// Attributes for conditions: values of the row.
    pub(super) conditions: &'static [(&'static str, Kind)],
    /// Names for conditions: objects related to the row; equal and unequal only.
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
    pub(super) fn read(query: &Call, shape: &Shape) -> Result<Select, Fault> {
        if !query.fields.is_empty() {
            return Err(unsupported("a Query with Data or Set"));
        }
        let find = |list: &[&'static str], name: &str| list.iter().find(|a| **a == name).copied();
        let unknown = |name: &str| {
            let (name, object) = (plain(name), plain(&query.object));
            Fault::new(
                "unknown_attribute",
                format!("{object} has no attribute {name}"),
            )
        };
        let mut select = Select {
            wanted: Vec::new(),
            is_explicit: !query.wanted.is_empty(),
            tests: Vec::new(),
            relations: Vec::new(),
        };
        for name in &query.wanted {
            let known = find(shape.usual, name).or_else(|| find(shape.special, name));
            select.wanted.push(known.ok_or_else(|| unknown(name))?);
        }
        if !select.is_explicit {
            select.wanted = shape.usual.to_vec();
        }
        for condition in &query.conditions {
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

    /// Whether the query names an attribute.
    pub(super) fn asks_for(&self, attribute: &str) -> bool {
        self.is_explicit && self.wanted.contains(&attribute)
    }

    /// Related objects that rows must or must not have: name, must, value.
    pub(super) fn relations(&self) -> &[(&'static str, bool, String)] {
        &self.relations
    }

    /// The text that a condition requires for an attribute.
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
