//! Commands about records of a kind ([`crate::kind`]).

use super::Command;
use crate::kind::{self, Key, Kind, Type, Value, Writers};

/// A change of one record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordChange {
    /// The word of its kind.
    pub kind: String,
    /// The journal's word for the change, from [`crate::kind::Kind::ops`].
    pub op: &'static str,
    /// Who may change records of the kind, as the caller's right was checked.
    pub writers: Writers,
    /// The types by which the values were read, by field.
    pub types: Vec<(String, Type)>,
    /// The change.
    pub action: RecordAction,
}

impl RecordChange {
    /// A change of a record of a kind.
    pub fn new(kind: &Kind, action: RecordAction) -> RecordChange {
        let [add, set, remove] = kind.ops;
        let values = match &action {
            RecordAction::Add(_, set) | RecordAction::Set(_, set) => set.as_slice(),
            RecordAction::Remove(_) => &[],
        };
        let fields = values.iter().filter_map(|(name, _)| kind.field(name));
        RecordChange {
            kind: kind.word.clone(),
            writers: kind.writers,
            types: fields
                .map(|field| (field.name.clone(), field.of.clone()))
                .collect(),
            op: match action {
                RecordAction::Add(..) => add,
                RecordAction::Set(..) => set,
                RecordAction::Remove(_) => remove,
            },
            action,
        }
    }
}

impl RecordChange {
    /// The name of the record that it adds.
    pub fn new_name(&self) -> Option<&str> {
        match &self.action {
            RecordAction::Add(Some(Key::Name(name)), _) => Some(name),
            _ => None,
        }
    }
}

/// What happens to a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordAction {
    /// Adds it, with these values; a kind whose keys are names needs the key.
    Add(Option<Key>, Vec<(String, Value)>),
    /// Changes these values; [`Value::None`] takes one away.
    Set(Key, Vec<(String, Value)>),
    /// Removes it: reports of the past are as if it had never existed.
    Remove(Key),
}

impl Command {
    /// Adds a record with a name of a kind of the program, with these values by field.
    pub fn add_record(kind: &str, name: &str, values: &[(&str, Value)]) -> Command {
        let key = Key::Name(name.to_owned());
        Self::of_record(kind, RecordAction::Add(Some(key), owned(values)))
    }

    /// Changes values of a record with a name of a kind of the program.
    pub fn set_record(kind: &str, name: &str, values: &[(&str, Value)]) -> Command {
        let key = Key::Name(name.to_owned());
        Self::of_record(kind, RecordAction::Set(key, owned(values)))
    }

    /// Removes a record with a name of a kind of the program.
    pub fn remove_record(kind: &str, name: &str) -> Command {
        Self::of_record(kind, RecordAction::Remove(Key::Name(name.to_owned())))
    }

    fn of_record(word: &str, action: RecordAction) -> Command {
        // The rules refuse a kind that does not exist.
        let change = match kind::of(word) {
            Some(kind) => RecordChange::new(kind, action),
            None => RecordChange {
                kind: word.to_owned(),
                op: "record_set",
                writers: Writers::Administrators,
                types: Vec::new(),
                action,
            },
        };
        Command::Record(Box::new(change))
    }
}

fn owned(values: &[(&str, Value)]) -> Vec<(String, Value)> {
    let values = values.iter();
    values
        .map(|(field, value)| ((*field).to_owned(), value.clone()))
        .collect()
}
