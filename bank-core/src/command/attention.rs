//! Commands about alerts.

use crate::attention::Event;
use crate::ids::TxId;

/// Alerts: observations of the daemon, and acknowledgements by people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attention {
    /// Thresholds that were reached, and others that are so no more, as
    /// [`crate::attention::judge`] found them. What another one was quicker with is left out.
    Turn(Vec<Event>),
    /// Somebody has seen what this transaction raised.
    Ack(Ack),
    /// Whether anything of a project is watched.
    Switch(Switch),
}

impl Attention {
    /// The word for it in the journal's `op` column.
    pub fn op(&self) -> &'static str {
        match self {
            Attention::Turn(_) => "attention",
            Attention::Ack(_) => "attention_ack",
            Attention::Switch(_) => "attention_set",
        }
    }
}

/// Acknowledges an alert.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ack {
    /// The transaction that raised it.
    pub tx: TxId,
    /// Kept in the journal.
    pub note: String,
}

/// Switches the attention of a project on or off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// Its name.
    pub project: String,
    /// On: the default.
    pub on: bool,
}
