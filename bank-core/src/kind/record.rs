//! Records: the key and the values of one object of a kind.

use super::Value;
use super::{Field, Key, Kind, Readers};
use crate::amount::Precision;
use crate::time::{Timestamp, Window};
use bank_core_values::value::shown;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The word of its kind.
    pub kind: String,
    /// Its key.
    pub key: Key,
    /// Its number beside the name of a [`super::KeyType::Object`], from 1; else 0.
    pub id: i64,
    /// Its values by field; a field without a value is absent.
    pub values: BTreeMap<String, Value>,
    /// Whether it was removed.
    pub deleted: bool,
}

impl Record {
    /// A record without values.
    pub fn new(kind: &str, key: Key) -> Record {
        Record {
            kind: kind.to_owned(),
            key,
            id: 0,
            values: BTreeMap::new(),
            deleted: false,
        }
    }

    /// A value; [`Value::None`] where there is none.
    pub fn value(&self, field: &str) -> &Value {
        self.values.get(field).unwrap_or(&Value::None)
    }

    /// Sets a value, or takes it away.
    pub fn set(&mut self, field: &str, value: Value) {
        if value.is_none() {
            self.values.remove(field);
        } else {
            self.values.insert(field.to_owned(), value);
        }
    }

    /// The number of its key; 0 where the key is a name.
    pub fn number(&self) -> i64 {
        match self.key {
            Key::Number(number) => number,
            Key::Name(_) => 0,
        }
    }

    /// The name of its key; empty where the key is a number.
    pub fn name(&self) -> &str {
        match &self.key {
            Key::Number(_) => "",
            Key::Name(name) => name,
        }
    }

    /// A text; empty where there is none.
    pub fn text(&self, field: &str) -> &str {
        match self.value(field) {
            Value::Text(text) => text,
            _ => "",
        }
    }

    /// A number, where there is one.
    pub fn whole(&self, field: &str) -> Option<i64> {
        match self.value(field) {
            Value::Whole(number) => Some(*number),
            _ => None,
        }
    }

    /// A flag; false where there is none.
    pub fn flag(&self, field: &str) -> bool {
        matches!(self.value(field), Value::Flag(true))
    }

    /// A list; empty where there is none.
    pub fn list(&self, field: &str) -> &[String] {
        match self.value(field) {
            Value::List(list) => list,
            _ => &[],
        }
    }

    /// The window of its fields `from` and `until`.
    pub fn window(&self) -> Window {
        Window {
            start: self.time("from"),
            end: self.time("until"),
        }
    }

    fn time(&self, field: &str) -> Option<Timestamp> {
        match self.value(field) {
            Value::Time(at) => Some(*at),
            _ => None,
        }
    }

    /// A change of the record as the journal shows it: the values of a new record that are not the default, `downtime=3 hardware=1 nodes=4`;
    /// the old and the new values of a changed one, `downtime=3 nodes=4>6`; the key of a removed one. Everyone
    /// reads the journal, so private fields, and records that not everyone may see, have the names of fields
    /// only: `contribution=2 fields=split,factor`.
    pub fn journal_text(
        &self,
        before: Option<&Record>,
        kind: &Kind,
        precision: Precision,
    ) -> String {
        let mut text = format!("{}={}", kind.word, self.key);
        if self.deleted {
            return text;
        }
        let before = before.filter(|before| !before.deleted);
        let old = |field: &str| before.map_or(&Value::None, |before| before.value(field));
        let fields = kind.fields.iter();
        let changed = fields.filter(|field| old(&field.name) != self.value(&field.name));
        let is_default = |field: &Field| self.value(&field.name) == field.default_value();
        let changed = changed.filter(|field| before.is_some() || !is_default(field));
        let is_private = |field: &&Field| field.private || kind.readers != Readers::Everyone;
        let (private, open): (Vec<&Field>, Vec<&Field>) = changed.partition(is_private);
        for field in open {
            let value = |value| shown(&field.of, value, precision);
            // Writing to a string cannot fail.
            let _ = write!(text, " {}=", field.name);
            if before.is_some() {
                let _ = write!(text, "{}>", value(old(&field.name)));
            }
            text.push_str(&value(self.value(&field.name)));
        }
        if !private.is_empty() {
            let names: Vec<&str> = private.iter().map(|field| field.name.as_str()).collect();
            // Writing to a string cannot fail.
            let _ = write!(text, " fields={}", names.join(","));
        }
        text
    }

    /// The size of the values of the fields that count, in bytes; numbers, flags and times count as 8.
    pub(crate) fn size(&self, counts: impl Fn(&str) -> bool) -> usize {
        let size = |value: &Value| match value {
            Value::Text(text) => text.len(),
            Value::List(list) => list.iter().map(String::len).sum(),
            Value::None | Value::Whole(_) | Value::Flag(_) | Value::Time(_) => 8,
        };
        let values = self.values.iter().filter(|(name, _)| counts(name));
        values.map(|(_, value)| size(value)).sum()
    }
}
