//! One value of a row: how it is written, and how a condition is met.

use std::cmp::Ordering;

use super::super::reply::escaped;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    /// Text; empty for none.
    Text(String),
    /// A whole number, or seconds since 1970; `None` for none.
    Number(Option<i64>),
    /// True or false.
    Flag(bool),
}

/// The comparison of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
}

impl Op {
    /// From the attribute `op`; equal without one.
    pub(super) fn parse(word: &str) -> Option<Op> {
        Some(match word {
            "" | "EQ" => Op::Equal,
            "NE" => Op::NotEqual,
            "G" => Op::Greater,
            "GE" => Op::GreaterOrEqual,
            "L" => Op::Less,
            "LE" => Op::LessOrEqual,
            _ => return None,
        })
    }

    fn holds(self, order: Ordering) -> bool {
        match self {
            Op::Equal => order.is_eq(),
            Op::NotEqual => order.is_ne(),
            Op::Greater => order.is_gt(),
            Op::GreaterOrEqual => order.is_ge(),
            Op::Less => order.is_lt(),
            Op::LessOrEqual => order.is_le(),
        }
    }
}

impl Cell {
    /// Text, or none.
    pub(super) fn text(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }

    /// The inside of its element.
    pub(super) fn xml(&self) -> String {
        match self {
            Cell::Text(text) => escaped(text),
            Cell::Number(number) => number.map(|n| n.to_string()).unwrap_or_default(),
            Cell::Flag(true) => "True".to_owned(),
            Cell::Flag(false) => "False".to_owned(),
        }
    }

    /// Whether a condition is met. A missing value is unequal to every value.
    pub(super) fn meets(&self, op: Op, value: &Cell) -> bool {
        let order = match (self, value) {
            (Cell::Text(own), Cell::Text(other)) => own.cmp(other),
            (Cell::Flag(own), Cell::Flag(other)) => own.cmp(other),
            (Cell::Number(Some(own)), Cell::Number(Some(other))) => own.cmp(other),
            _ => return op == Op::NotEqual,
        };
        op.holds(order)
    }
}

/// The type of an attribute's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Number,
    Flag,
}

impl Kind {
    /// A value of a condition; `None` if it has another type.
    pub(super) fn read(self, value: &str) -> Option<Cell> {
        Some(match self {
            Kind::Text => Cell::text(value),
            Kind::Number => Cell::Number(Some(value.parse().ok()?)),
            Kind::Flag => Cell::Flag(match value {
                "True" | "true" | "1" => true,
                "False" | "false" | "0" => false,
                _ => return None,
            }),
        })
    }

    /// Description of the expected value.
    pub(super) fn expected(self) -> &'static str {
        match self {
            Kind::Text => "text",
            Kind::Number => "a whole number",
            Kind::Flag => "True or False",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_compare() {
        let (text, nine) = (Cell::text("chem"), Cell::Number(Some(9)));
        let (absent, yes) = (Cell::Number(None), Cell::Flag(true));
        for (cell, kind, op, value, expected) in [
            (&text, Kind::Text, "", "chem", Some(true)),
            (&text, Kind::Text, "EQ", "Chem", Some(false)),
            (&text, Kind::Text, "NE", "physics", Some(true)),
            (&text, Kind::Text, "G", "bio", Some(true)),
            (&text, Kind::Text, "L", "bio", Some(false)),
            (&nine, Kind::Number, "L", "10", Some(true)),
            (&nine, Kind::Number, "GE", "9", Some(true)),
            (&nine, Kind::Number, "LE", "8", Some(false)),
            (&nine, Kind::Number, "EQ", "nine", None),
            (&absent, Kind::Number, "EQ", "0", Some(false)),
            (&absent, Kind::Number, "NE", "0", Some(true)),
            (&absent, Kind::Number, "L", "9", Some(false)),
            (&yes, Kind::Flag, "EQ", "True", Some(true)),
            (&yes, Kind::Flag, "NE", "1", Some(false)),
            (&yes, Kind::Flag, "EQ", "yes", None),
        ] {
            let value_read = kind.read(value);
            let met = value_read.map(|value| cell.meets(Op::parse(op).unwrap(), &value));
            assert_eq!(met, expected, "{cell:?} {op} {value}");
        }
        assert_eq!(Op::parse("M"), None);
    }
}
