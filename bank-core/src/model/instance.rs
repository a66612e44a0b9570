//! Instances, their liens and quotes.

use crate::amount::Amount;
use crate::ids::{
    AccountId, AllocationId, InstanceId, LienId, MachineId, ProjectId, QuoteId, UsageId, UserId,
};
use crate::model::Mode;
use crate::price::Named;
use crate::time::{Seconds, Timestamp, Window};
use crate::usage::Usage;

/// The kind of scheduler object of an instance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ObjectType {
    /// A job.
    #[default]
    Job,
    /// A reservation of the scheduler.
    Reservation,
}

/// Every one with its word.
const OBJECT_TYPES: [(ObjectType, &str); 2] = [
    (ObjectType::Job, "job"),
    (ObjectType::Reservation, "reservation"),
];

crate::words!(ObjectType, OBJECT_TYPES, "job");

/// Which scheduler object: the same key names every reuse of its id.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InstanceKey {
    /// The machine's name as given, known or not.
    pub machine: String,
    /// Job or reservation.
    pub object_type: ObjectType,
    /// The scheduler's id, 1 to 256 bytes.
    pub object_id: String,
}

/// The event that closed an instance (decisions.md 13).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// The scheduler destroyed the object.
    Delete,
    /// Its use ended.
    End,
    /// Its lien expired and the grace passed, or it had none and seven days went by.
    Expiry,
}

/// Every closing with its word.
pub const CLOSINGS: [(Closing, &str); 3] = [
    (Closing::Delete, "delete"),
    (Closing::End, "end"),
    (Closing::Expiry, "expiry"),
];

crate::words!(Closing, CLOSINGS, "end");

/// The scheduler's facts about an object, kept with the instance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The project as named.
    pub project: String,
    /// The user as named; empty where none was.
    pub user: String,
    /// The group as named.
    pub group: String,
    /// Quantities and classes.
    pub usage: Usage,
    /// The requested wall duration.
    pub wall: Option<Seconds>,
    /// The object's own times.
    pub start: Option<Timestamp>,
    /// The object's own end.
    pub end: Option<Timestamp>,
    /// When it was submitted.
    pub submit: Option<Timestamp>,
    /// The scheduler's word for its state.
    pub state: String,
    /// Its exit code.
    pub exit_code: Option<i64>,
    /// Everything else of the document, verbatim, at most 64 KiB (nami.md 3.1).
    pub other: Vec<(String, String)>,
}

impl Facts {
    /// The names on the usage, for rates by user, project or group.
    pub fn named(&self) -> Named<'_> {
        Named {
            user: &self.user,
            project: &self.project,
            group: &self.group,
        }
    }
}

/// One use of a scheduler object's id: what its lien, its quote and its charges belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// Its number.
    pub id: InstanceId,
    /// Which object.
    pub key: InstanceKey,
    /// Which reuse of the id, from 1.
    pub number: i64,
    /// First document, at its event time.
    pub opened: Timestamp,
    /// When and by what it was closed.
    pub closed: Option<(Timestamp, Closing)>,
    /// The account that pays; kept through fallback and expiry.
    pub account: Option<AccountId>,
    /// The account that was short when the fallback took over.
    pub fallback_from: Option<AccountId>,
    /// The scheduler's latest facts.
    pub facts: Facts,
    /// The price in trillionths so far, without the once-only part.
    pub exact_sum: i128,
    /// The once-only part (fees, per-use charges) in trillionths so far.
    pub once_sum: i128,
    /// The sum of its charges.
    pub billed: Amount,
    /// The sum of its shadow charges.
    pub shadow_billed: Amount,
    /// Seconds charged so far.
    pub charged: Seconds,
    /// Processor-seconds charged so far, each weighted with the consumption rate of its charge, in
    /// billionths: what FILE's PROCCRATE is made of.
    pub processor_seconds: i128,
    /// The first usage row: the record id of the whole (usage-records.md 1.8).
    pub record: Option<UsageId>,
    /// The latest usage row.
    pub last_usage: Option<UsageId>,
    /// A bound quote: prices are those of this instant.
    pub rates_at: Option<Timestamp>,
    /// The quote bound to it.
    pub quote: Option<QuoteId>,
    /// A start after the end was absorbed already (decisions.md 13).
    pub absorbed: bool,
    /// Its lien expired; the grace runs, and no document makes it longer (decisions.md 13).
    pub lien_expired: bool,
    /// When the sweeper looks at it next: its lien's end, or its closing.
    pub due: Option<Timestamp>,
    /// The earlier of its first reserve and the start in its documents; none before both.
    pub began: Option<Timestamp>,
    /// Where a charge came before any reserve: the earliest instant at which it can have run. Before the
    /// first charge and the first reserve: when it was created.
    pub earliest: Option<Timestamp>,
    /// The latest event time of its charges.
    pub used_until: Option<Timestamp>,
    /// Seconds reported beyond what can have been used (nami.md 1.4).
    pub disputed: Seconds,
    /// The mode of its first charge; later charges stay in it. None before there is one.
    pub mode: Option<Mode>,
    /// Seconds that were reported by a source which does not charge the machine, and that are not billed yet.
    pub kept: Seconds,
    /// Its live lien.
    pub lien: Option<Lien>,
}

impl Instance {
    /// A use that has begun, without facts, lien and charges.
    pub fn new(id: InstanceId, key: InstanceKey, number: i64, opened: Timestamp) -> Instance {
        Instance {
            id,
            key,
            number,
            opened,
            closed: None,
            account: None,
            fallback_from: None,
            facts: Facts::default(),
            exact_sum: 0,
            once_sum: 0,
            billed: Amount::ZERO,
            shadow_billed: Amount::ZERO,
            charged: Seconds(0),
            processor_seconds: 0,
            record: None,
            last_usage: None,
            rates_at: None,
            quote: None,
            absorbed: false,
            lien_expired: false,
            due: None,
            began: None,
            earliest: None,
            used_until: None,
            disputed: Seconds(0),
            mode: None,
            kept: Seconds(0),
            lien: None,
        }
    }

    /// Whether nothing closed it yet.
    pub fn is_open(&self) -> bool {
        self.closed.is_none()
    }

    /// Its current state.
    pub fn standing(&self) -> Standing {
        Standing {
            closed: self.closed,
            account: self.account,
            fallback_from: self.fallback_from,
            rates_at: self.rates_at,
            quote: self.quote,
            absorbed: self.absorbed,
            lien_expired: self.lien_expired,
            due: self.due,
            began: self.began,
            earliest: self.earliest,
            disputed: self.disputed,
            kept: self.kept,
            lien: self.lien.as_ref().map(|lien| lien.id),
        }
    }

    /// Whether it ended, and all of its use is billed: no other source bills it again. One whose charges are all undone is
    /// not.
    pub fn is_billed(&self) -> bool {
        let has_ended = matches!(self.closed, Some((_, Closing::End | Closing::Delete)));
        has_ended && self.is_charged() && self.kept == Seconds(0)
    }

    /// Whether a charge of it is in force: an amount or time. It is not, if all of them are undone.
    pub fn is_charged(&self) -> bool {
        let is_paid = !(self.billed.is_zero() && self.shadow_billed.is_zero());
        self.record.is_some() && (is_paid || self.charged > Seconds(0))
    }

    /// Whether a reserve came for it, which set its begin. The start that documents state is none.
    pub fn is_reserved(&self) -> bool {
        self.began.is_some() && self.began != self.facts.start
    }

    /// Whether it was open at an instant.
    pub fn was_open(&self, at: Timestamp) -> bool {
        self.opened <= at && self.closed.is_none_or(|(closed, _)| at < closed)
    }
}

/// The fields of an instance apart from the scheduler's facts and the totals of its charges. Most charges
/// leave these fields unchanged, and a store need not write them then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    closed: Option<(Timestamp, Closing)>,
    account: Option<AccountId>,
    fallback_from: Option<AccountId>,
    rates_at: Option<Timestamp>,
    quote: Option<QuoteId>,
    absorbed: bool,
    lien_expired: bool,
    due: Option<Timestamp>,
    began: Option<Timestamp>,
    earliest: Option<Timestamp>,
    disputed: Seconds,
    kept: Seconds,
    lien: Option<LienId>,
}

/// The event that ended a lien.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LienState {
    /// It holds.
    Open,
    /// Charged away.
    Settled,
    /// The rest was given back at the close.
    Released,
    /// A later one of the same instance took its place.
    Replaced,
    /// Its end passed.
    Expired,
}

/// Every state with its word.
pub const LIEN_STATES: [(LienState, &str); 5] = [
    (LienState::Open, "open"),
    (LienState::Settled, "settled"),
    (LienState::Released, "released"),
    (LienState::Replaced, "replaced"),
    (LienState::Expired, "expired"),
];

crate::words!(LienState, LIEN_STATES, "open");

/// Money held for an instance (decisions.md 12).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lien {
    /// Its number.
    pub id: LienId,
    /// Its instance.
    pub instance: InstanceId,
    /// Open, or what ended it.
    pub state: LienState,
    /// The original amount.
    pub placed: Amount,
    /// When it was placed, at the event time.
    pub start: Timestamp,
    /// When it expires.
    pub end: Timestamp,
    /// It holds shadow money only.
    pub shadow: bool,
    /// The held amounts, in the order in which they pay.
    pub portions: Vec<Portion>,
    /// The amount that it held when it expired, and holds again if it is extended.
    pub lapsed: Amount,
}

/// The amount that a lien holds on one allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Portion {
    /// The allocation.
    pub allocation: AllocationId,
    /// The rest of it.
    pub amount: Amount,
}

impl Lien {
    /// The total that it still holds.
    pub fn remaining(&self) -> i128 {
        self.portions.iter().map(|p| i128::from(p.amount.0)).sum()
    }
}

/// A price with a promise: only one with a TID or a guarantee is a row (decisions.md 15).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quote {
    /// Its number.
    pub id: QuoteId,
    /// The text that travels with the job, `[A-Za-z0-9_-]{1,32}` (nami.md 2).
    pub tid: String,
    /// The project of the quote.
    pub project: ProjectId,
    /// The user of the quote.
    pub user: Option<UserId>,
    /// For which machine.
    pub machine: Option<MachineId>,
    /// The price.
    pub amount: Amount,
    /// The requested duration.
    pub duration: Seconds,
    /// When it holds; its rates are those of the start.
    pub window: Window,
    /// The instance it was bound to last.
    pub instance: Option<InstanceId>,
    /// The number of instances to which it may still be bound.
    pub uses: i64,
}
