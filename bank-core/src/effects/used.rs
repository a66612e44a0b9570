//! What became of finished usage, and of reserves that money was short for.

use super::Charged;
use crate::amount::Amount;
use crate::command::UsageReport;
use crate::ids::{AllocationId, InstanceId, TxId};
use crate::model::InstanceKey;
use crate::refusal::Refusal;
use crate::time::Timestamp;
use std::borrow::Cow;
use std::sync::Arc;

/// A finished use as it is kept: what tells a repeat, and what `bank reconcile` compares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UseRow {
    /// What was reported.
    pub report: Arc<UsageReport>,
    /// The shell's digest of what it says, where it has it already.
    pub said: Option<[u8; 16]>,
    /// How often it was amended.
    pub revision: i64,
    /// What became of it.
    pub became: Became,
    /// The charge policy's word; empty where none was asked.
    pub policy: &'static str,
    /// What the policy counted, such as `cpu 28800`, or why it counted nothing.
    pub counted: String,
    /// The instance that was charged or closed.
    pub instance: Option<InstanceId>,
    /// What it came to, in the shadow totals too; none where nothing was charged.
    pub amount: Option<Amount>,
    /// Where that lies in the shadow totals, if it was taken in with a chunk.
    pub on: Option<AllocationId>,
    /// The code of what strict enforcement would have said to it; none where nothing.
    pub refusal: Option<Cow<'static, str>>,
    /// What there was when it said that, where money was short; none too where an earlier record of
    /// the identity has it.
    pub available: Option<Amount>,
    /// Which line of its chunk it is from, counted from 0, where lines are kept.
    pub place: Option<u32>,
}

/// What is known of an identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownUse {
    /// Who reported it.
    pub source: String,
    /// About which object.
    pub key: InstanceKey,
    /// The project that it was for.
    pub project: String,
    /// The user who used it.
    pub user: String,
    /// What is said of it now says the same as what is known.
    pub is_same: bool,
    /// How often it was amended.
    pub revision: i64,
    /// What became of it.
    pub became: Became,
    /// The charge policy's word; empty where none was asked.
    pub policy: String,
    /// What the policy counted, or why it counted nothing.
    pub counted: String,
    /// The instance that was charged or closed.
    pub instance: Option<InstanceId>,
    /// What it came to; none where nothing was charged.
    pub amount: Option<Amount>,
    /// Where that lies in the shadow totals, if it was taken in with a chunk.
    pub on: Option<AllocationId>,
    /// The code of what strict enforcement would have said to it; none where nothing.
    pub refusal: Option<Cow<'static, str>>,
}

/// A finished use of an object, from any source: the fields that decide whether two reports are one use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherUse {
    /// The source that reported it.
    pub source: String,
    /// When it began; 0 if unknown.
    pub start: Timestamp,
    /// When it ended.
    pub end: Option<Timestamp>,
    /// The instance that was charged or closed.
    pub instance: Option<InstanceId>,
    /// It counts: it is neither kept for another source nor unused.
    pub is_charged: bool,
}

impl UseRow {
    /// The fields that decide whether another report is about the same use.
    pub fn other(&self) -> OtherUse {
        OtherUse {
            source: self.report.source.clone(),
            start: self.report.incarnation(),
            end: self.report.request.facts.end,
            instance: self.instance,
            is_charged: self.became.counts(),
        }
    }

    /// The project that it was for.
    pub fn project(&self) -> &str {
        let project = &self.report.request.whose.project;
        project.as_deref().unwrap_or_default()
    }

    /// The user who used it.
    pub fn user(&self) -> &str {
        let user = &self.report.request.whose.user;
        user.as_deref().unwrap_or_default()
    }

    /// As it is known when a record says something of it.
    pub fn known(&self, record: &str) -> KnownUse {
        KnownUse {
            source: self.report.source.clone(),
            key: self.report.request.key(),
            project: self.project().to_owned(),
            user: self.user().to_owned(),
            is_same: self.report.canonical() == record,
            revision: self.revision,
            became: self.became,
            policy: self.policy.to_owned(),
            counted: self.counted.clone(),
            instance: self.instance,
            amount: self.amount,
            on: self.on,
            refusal: self.refusal.clone(),
        }
    }
}

/// What became of one report of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was taken in, or was known.
    Took(Became),
    /// It moves money, or belongs to an instance: it is for a command of its own.
    Alone,
    /// A rule said no to it.
    Refused(Refusal),
}

impl Fate {
    /// Its word.
    pub fn word(&self) -> &'static str {
        match self {
            Fate::Took(became) => became.word(),
            Fate::Alone => "alone",
            Fate::Refused(_) => "refused",
        }
    }
}

/// What became of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// Its transaction; none where nothing of it was new.
    pub tx: Option<TxId>,
    /// What became of each of its reports, in their order.
    pub fates: Vec<Fate>,
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
    /// Whether the use counts: it is neither kept for another source nor unused.
    pub fn counts(self) -> bool {
        matches!(self, Became::Charged | Became::Adjusted | Became::Free)
    }

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

/// A reserve that was refused, whatever the reason: the latest of its object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedReserve {
    /// For which object.
    pub key: InstanceKey,
    /// The project that was named.
    pub project: String,
    /// The user as named.
    pub user: String,
    /// When.
    pub at: Timestamp,
    /// It asked for the start of the use, and not for more time.
    pub is_start: bool,
    /// Why.
    pub refusal: Refusal,
}
