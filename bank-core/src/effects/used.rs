//! What became of finished usage, and of reserves that money was short for.

use super::Charged;
use crate::amount::Amount;
use crate::ids::InstanceId;
use crate::model::InstanceKey;
use crate::time::Timestamp;

/// A finished use as it is kept: what tells a repeat, and what `bank reconcile` compares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UseRow {
    /// Who reported it.
    pub source: String,
    /// About which object.
    pub key: InstanceKey,
    /// When it started; 0 where it never did. With source and id its identity.
    pub start: Timestamp,
    /// When it ended.
    pub end: Option<Timestamp>,
    /// Project as named.
    pub project: String,
    /// User as named.
    pub user: String,
    /// Everything that was reported, as [`crate::command::UsageReport::canonical`] writes it.
    pub record: String,
    /// How often it was amended.
    pub revision: i64,
    /// What became of it.
    pub became: Became,
    /// The charge policy's word; empty where none was asked.
    pub policy: String,
    /// What the policy counted, such as `cpu 28800`, or why it counted nothing.
    pub counted: String,
    /// The instance that was charged or closed.
    pub instance: Option<InstanceId>,
}

/// What became of a finished use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Became {
    /// It was charged.
    Charged,
    /// Its figures are others than before: the difference was charged or given back.
    Adjusted,
    /// It is kept with amount 0: the policy charges nothing for it.
    Free,
    /// It used nothing; a lien that waited for it is released.
    Unused,
    /// It is known already: nothing changed.
    Duplicate,
    /// It is kept for reconciliation: another source charges the machine.
    Kept,
}

/// Every end of a finished use with its word.
const BECAME: [(Became, &str); 6] = [
    (Became::Charged, "charged"),
    (Became::Adjusted, "adjusted"),
    (Became::Free, "free"),
    (Became::Unused, "unused"),
    (Became::Duplicate, "duplicate"),
    (Became::Kept, "kept"),
];

impl Became {
    /// Its word.
    pub fn word(self) -> &'static str {
        let found = BECAME.iter().find(|(became, _)| *became == self);
        found.map_or("charged", |(_, word)| word)
    }

    /// From its word.
    pub fn parse(word: &str) -> Option<Became> {
        let found = BECAME.iter().find(|(_, known)| *known == word);
        found.map(|(became, _)| *became)
    }
}

/// The answer to a finished use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Used {
    /// What became of it.
    pub became: Became,
    /// The charge policy's word; empty where none was asked.
    pub policy: String,
    /// What the policy counted, or why it counted nothing.
    pub counted: String,
    /// The charge, where there was one.
    pub charged: Option<Charged>,
    /// The source that charges the machine instead.
    pub charged_by: Option<String>,
}

/// A reserve that money was short for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// For which object.
    pub key: InstanceKey,
    /// The project that was named.
    pub project: String,
    /// The user as named.
    pub user: String,
    /// When.
    pub at: Timestamp,
    /// What the lien would have held.
    pub needed: Amount,
    /// What there was.
    pub available: Amount,
}
