//! Partner banks: projects of another bank that run here, and projects of this bank that run there.
//!
//! A project of a partner is written `PROJECT@PARTNER`. What its jobs cost is charged to the account of the
//! partner, like any other charge; that account has what the partner owes. Each transaction that moves money
//! of such a job makes a [`Sent`], which the daemon delivers to the partner. The partner charges its project
//! with a [`Delivered`] (decision 0174).

use crate::amount::Amount;
use crate::decimal::Decimal;
use crate::ids::{AccountId, InstanceId, TxId};
use crate::model::InstanceKey;
use crate::refusal::Refusal;
use crate::time::{Seconds, Timestamp};

/// The longest wait for a partner's answer, in milliseconds, where its record names none.
pub const TIMEOUT_MS: i64 = 3_000;

/// What a partner answered to the question whether its project may start a job, or the partner for which this
/// bank holds money.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The partner holds the amount.
    Held(Held),
    /// The partner refused.
    Refused(Refusal),
    /// The partner cannot be reached; its record decides.
    Away,
    /// A partner asked for it, with this id of the question.
    AskedBy(String, String),
}

/// A lien at the partner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The id of the question: the lien is released if no reserve names it.
    pub question: String,
    /// The use of the object's id that the lien is for.
    pub number: i64,
    /// The transaction of the partner.
    pub transaction: i64,
}

/// A charge or a return that a partner delivers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// The partner.
    pub partner: String,
    /// The number of the message: from 1 without gaps.
    pub number: i64,
    /// The transaction at the partner.
    pub transaction: i64,
    /// When the partner recorded it.
    pub recorded: Timestamp,
    /// The amount to charge; below zero to return.
    pub amount: Amount,
    /// The project as the partner names it.
    pub project: String,
    /// SHA-256 of the message: a repeat is the same message.
    pub digest: [u8; 32],
}

/// What a transaction did to the use of a partner's project: delivered to the partner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The transaction.
    pub tx: TxId,
    /// The partner.
    pub partner: String,
    /// The first account that paid; none for a message without an amount.
    pub account: Option<AccountId>,
    /// The use.
    pub instance: InstanceId,
    /// The object and its machine.
    pub key: InstanceKey,
    /// The project at the partner.
    pub project: String,
    /// The user; empty for none.
    pub user: String,
    /// The charged amount; below zero for a return.
    pub amount: Amount,
    /// The charged seconds; below zero where time went back.
    pub seconds: Seconds,
    /// The processors.
    pub processors: Decimal,
    /// When it counts.
    pub at: Timestamp,
    /// What became of the lien.
    pub ends: Ends,
}

/// What a transaction did to the lien of a use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ends {
    /// It holds the rest.
    #[default]
    Nothing,
    /// It was released, and the use goes on.
    Lien,
    /// The use is over.
    Use,
}

/// Every [`Ends`] with its word.
pub const ENDS: [(Ends, &str); 3] = [
    (Ends::Nothing, "nothing"),
    (Ends::Lien, "lien"),
    (Ends::Use, "use"),
];

crate::words!(Ends, ENDS, "nothing");

/// Rows of a command about partners.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// Messages to partners.
    pub sent: Vec<Sent>,
    /// The message of a partner that the command carried out, with its transaction and use.
    pub received: Option<(TxId, InstanceId, Delivered)>,
    /// The question whose lien at the partner is now that of a reserve.
    pub held: Option<String>,
}

/// The id of a use at the partner: that of the object, with the number of the use from the second on.
pub fn object_at_partner(key: &InstanceKey, number: i64) -> String {
    if number > 1 {
        return format!("{}#{number}", key.object_id);
    }
    key.object_id.clone()
}
