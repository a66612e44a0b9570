//! Results of finished usage, and of reserves that were short of money.

use super::Charged;
use crate::amount::Amount;
use crate::command::{AsNamed, HISTORY, Identity, UsageReport};
use crate::ids::{AllocationId, InstanceId, TxId};
use crate::model::{Facts, InstanceKey};
use crate::refusal::Refusal;
use crate::time::Timestamp;
use std::borrow::Cow;
use std::sync::Arc;

/// A finished use as stored: the data to detect a repeat, and the input of `bank reconcile`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UseRow {
    /// The report.
    pub report: Arc<UsageReport>,
    /// The shell's digest of the report, if the shell has computed it already.
    pub digest: Option<[u8; 16]>,
    /// The number of amendments.
    pub revision: i64,
    /// The result of the use.
    pub became: Became,
    /// The charge policy's word; empty where none was asked.
    pub policy: &'static str,
    /// The quantity that the policy counted, such as `cpu 28800`, or the reason why it counted nothing.
    pub counted: String,
    /// The instance that was charged or closed.
    pub instance: Option<InstanceId>,
    /// Its price, in the shadow totals too; none if nothing was charged.
    pub amount: Option<Amount>,
    /// The allocation with its shadow total, if it came with a chunk.
    pub on: Option<AllocationId>,
    /// The refusal code of strict enforcement; none without a refusal.
    pub refusal: Option<Cow<'static, str>>,
    /// The available amount at that refusal, if money was short; none too if an earlier record of the
    /// identity has it.
    pub available: Option<Amount>,
    /// Which line of its chunk it is from, counted from 0, where lines are kept.
    pub place: Option<u32>,
    /// A person gave it to its owner, and its source named nobody else since.
    pub given: bool,
}

/// The stored use of an identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownUse {
    /// The source that reported it.
    pub source: String,
    /// About which object.
    pub key: InstanceKey,
    /// The project that it was for.
    pub project: String,
    /// The user of the use.
    pub user: String,
    /// The principal investigator; empty for none.
    pub pi: String,
    /// The names in the latest report of the source.
    pub named: AsNamed,
    /// A person gave it to its owner, and its source named nobody else since.
    pub given: bool,
    /// The priced facts that the latest report states, of those that a report can leave out.
    pub stated: Vec<PricedFact>,
    /// Whether the new report equals the stored one.
    pub is_same: bool,
    /// Whether the new report equals one that another replaced since.
    pub is_earlier: bool,
    /// The number of amendments.
    pub revision: i64,
    /// The result of the use.
    pub became: Became,
    /// The charge policy's word; empty where none was asked.
    pub policy: String,
    /// The quantity that the policy counted, or the reason why it counted nothing.
    pub counted: String,
    /// The instance that was charged or closed.
    pub instance: Option<InstanceId>,
    /// Its price; none if nothing was charged.
    pub amount: Option<Amount>,
    /// The allocation with its shadow total, if it came with a chunk.
    pub on: Option<AllocationId>,
    /// The refusal code of strict enforcement; none without a refusal.
    pub refusal: Option<Cow<'static, str>>,
}

/// A fact of a use that its price depends on, and that a report can leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PricedFact {
    /// The quality of service.
    Qos,
    /// The class, which is the queue or partition.
    Class,
    /// The group of the user.
    Group,
    /// The number of nodes.
    Nodes,
    /// Memory.
    Memory,
    /// Disk.
    Disk,
}

impl PricedFact {
    /// Every fact.
    pub const ALL: [PricedFact; 6] = [
        PricedFact::Qos,
        PricedFact::Class,
        PricedFact::Group,
        PricedFact::Nodes,
        PricedFact::Memory,
        PricedFact::Disk,
    ];

    /// Whether the facts of an object have it.
    pub fn is_in(self, facts: &Facts) -> bool {
        let usage = &facts.usage;
        match self {
            PricedFact::Qos => usage.qos.is_some(),
            PricedFact::Class => usage.class.is_some(),
            PricedFact::Group => !facts.group.is_empty(),
            PricedFact::Nodes => usage.nodes.is_some(),
            PricedFact::Memory => usage.memory_mb.is_some(),
            PricedFact::Disk => usage.disk_mb.is_some(),
        }
    }

    /// Removes it from the facts of an object.
    pub fn remove_from(self, facts: &mut Facts) {
        let usage = &mut facts.usage;
        match self {
            PricedFact::Qos => usage.qos = None,
            PricedFact::Class => usage.class = None,
            PricedFact::Group => facts.group.clear(),
            PricedFact::Nodes => usage.nodes = None,
            PricedFact::Memory => usage.memory_mb = None,
            PricedFact::Disk => usage.disk_mb = None,
        }
    }
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
    /// The priced facts that its report states.
    fn stated(&self) -> Vec<PricedFact> {
        let facts = &self.report.request.facts;
        let all = PricedFact::ALL.into_iter();
        all.filter(|fact| fact.is_in(facts)).collect()
    }

    /// The fields that decide whether another report describes the same use.
    pub fn other(&self) -> OtherUse {
        OtherUse {
            source: self.report.source.clone(),
            start: self.report.incarnation(),
            end: self.report.request.facts.end,
            instance: self.instance,
            is_charged: self.became.counts() && self.policy != HISTORY,
        }
    }

    /// The project that it was for.
    pub fn project(&self) -> &str {
        let project = &self.report.request.whose.project;
        project.as_deref().unwrap_or_default()
    }

    /// The user of the use.
    pub fn user(&self) -> &str {
        let user = &self.report.request.whose.user;
        user.as_deref().unwrap_or_default()
    }

    /// As stored, for the comparison with a new record.
    pub fn known(&self, identity: &Identity) -> KnownUse {
        KnownUse {
            source: self.report.source.clone(),
            key: self.report.request.key(),
            project: self.project().to_owned(),
            user: self.user().to_owned(),
            pi: self.report.pi.clone(),
            named: self.report.as_named(),
            given: self.given,
            stated: self.stated(),
            is_same: self.report.canonical() == identity.record
                && identity.is_in_reservation_of(self.report.more.as_deref()),
            is_earlier: false,
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

/// The result of one report of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was taken in, or was known.
    Took(Became),
    /// It moves money, or an instance exists for it: it needs its own command.
    Alone,
    /// A rule refused it.
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

/// The result of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// Its transaction; none where nothing of it was new.
    pub tx: Option<TxId>,
    /// The result of each of its reports, in their order.
    pub fates: Vec<Fate>,
}

/// The result of a finished use.
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

crate::words!(Became, BECAME, "charged");

impl Became {
    /// Whether the use counts: it is neither kept for another source nor unused.
    pub fn counts(self) -> bool {
        matches!(self, Became::Charged | Became::Adjusted | Became::Free)
    }
}

/// The answer to a finished use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Used {
    /// The result of the use.
    pub became: Became,
    /// The charge policy's word; empty where none was asked.
    pub policy: String,
    /// The quantity that the policy counted, or the reason why it counted nothing.
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
    /// The amount that the lien would have held.
    pub needed: Amount,
    /// The available amount.
    pub available: Amount,
}

/// A refused reserve with any reason: the latest of its object.
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
    /// It was a request for the start of the use, and not for more time.
    pub is_start: bool,
    /// Why.
    pub refusal: Refusal,
}
