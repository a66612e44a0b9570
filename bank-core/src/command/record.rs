//! Commands about records of a kind ([`crate::kind`]).

use crate::kind::{Key, Kind, Type, Value, Writers};

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
