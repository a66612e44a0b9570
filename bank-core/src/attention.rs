//! Alerts: their kinds, and when each threshold is raised and cleared (ux.md 4).
//!
//! Each figure is a *level* that rises with urgency. A threshold is raised when the level reaches it, and
//! clears when the level falls below a lower one. So a figure that hovers about a threshold notifies once.
//! This module reads no figures; the caller passes the observations.

use crate::amount::Amount;
use crate::ids::{AccountId, AllocationId, LienId, TxId};
use std::collections::{BTreeMap, BTreeSet};

/// Changes in one command at most.
pub const CHANGES_MAX: usize = 256;

/// The level of a state that is either there or not.
pub const THERE: i64 = 1;

/// The kinds of alerts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AttentionKind {
    /// An account has used so many percent of what it was given.
    Used,
    /// An allocation with money ends in so many days.
    Expiring,
    /// An account is below zero.
    Negative,
    /// A fallback account paid.
    FallbackUsed,
    /// A lien still holds after its requested time is over.
    LienStuck,
    /// A collector sends nothing.
    CollectorSilent,
    /// Messages wait for a partner bank.
    PartnerWaiting,
    /// A running job that the money of its account does not cover.
    JobUnfunded,
}

/// Every kind with its word.
pub const ATTENTION_KINDS: [(AttentionKind, &str); 8] = [
    (AttentionKind::Used, "used"),
    (AttentionKind::Expiring, "expiring"),
    (AttentionKind::Negative, "negative"),
    (AttentionKind::FallbackUsed, "fallback_used"),
    (AttentionKind::LienStuck, "lien_stuck"),
    (AttentionKind::CollectorSilent, "collector_silent"),
    (AttentionKind::PartnerWaiting, "partner_waiting"),
    (AttentionKind::JobUnfunded, "job_unfunded"),
];

crate::words!(AttentionKind, ATTENTION_KINDS, "used");

/// A threshold of one kind for one subject: raised once and cleared once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Topic {
    /// The kind.
    pub kind: AttentionKind,
    /// Of what: `account:3`, `allocation:7`, `lien:12`, `instance:12`, `source:sge`.
    pub subject: String,
    /// Percent for [`AttentionKind::Used`], days for [`AttentionKind::Expiring`], 0 for the others.
    pub threshold: i64,
}

/// The project, account or other thing that an event concerns, as far as it has one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Concern {
    /// The account.
    pub account: Option<AccountId>,
    /// The allocation.
    pub allocation: Option<AllocationId>,
    /// The lien.
    pub lien: Option<LienId>,
    /// The project whose people are notified; empty for none.
    pub project: String,
    /// The user; empty for none.
    pub user: String,
    /// The machine; empty for none.
    pub machine: String,
}

/// The observation of one subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    /// The kind.
    pub kind: AttentionKind,
    /// Of what, as in [`Topic`].
    pub subject: String,
    /// Urgency: a percentage for `used`, days left below zero for `expiring`, [`THERE`] for the others.
    pub level: i64,
    /// The project, account or other thing concerned.
    pub concern: Concern,
    /// The amount concerned, minor units.
    pub amount: Option<Amount>,
    /// One sentence for people, with names and figures.
    pub message: String,
}

/// One threshold of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its number, as in [`Topic`].
    pub threshold: i64,
    /// Raised from this level on.
    pub raise: i64,
    /// Cleared below this one; never above `raise`.
    pub clear: i64,
    /// Notified at once, not with the next digest.
    pub urgent: bool,
}

/// The watched thresholds of each kind; a kind without steps is not watched.
pub type Rules = BTreeMap<AttentionKind, Vec<Step>>;

/// The change of a topic that an event of the journal records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The threshold was reached.
    Raised,
    /// It is so no more.
    Cleared,
    /// Somebody acknowledged it; it remains raised.
    Acked,
}

/// Every turn with its word.
pub const TURNS: [(Turn, &str); 3] = [
    (Turn::Raised, "raised"),
    (Turn::Cleared, "cleared"),
    (Turn::Acked, "acked"),
];

crate::words!(Turn, TURNS, "raised");

/// A change of a topic, as it goes into the journal beside a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The topic that changes.
    pub topic: Topic,
    /// The change.
    pub turn: Turn,
    /// The transaction that raised it; none for one that raises.
    pub of: Option<TxId>,
    /// The level at which it was seen; 0 where the subject is gone.
    pub level: i64,
    /// The project, account or other thing concerned.
    pub concern: Concern,
    /// The amount concerned, minor units.
    pub amount: Option<Amount>,
    /// Notified at once, not with the next digest.
    pub urgent: bool,
    /// Whether anybody is notified. If a subject passes several thresholds together, only the last one
    /// notifies.
    pub is_notified: bool,
    /// One sentence for people: the reason of its transaction.
    pub message: String,
}

/// A topic that is raised and not cleared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    /// Which.
    pub topic: Topic,
    /// The transaction that raised it.
    pub tx: TxId,
    /// The transaction that acknowledged it.
    pub acked: Option<TxId>,
    /// The project, account or other thing concerned.
    pub concern: Concern,
    /// Notified at once.
    pub urgent: bool,
    /// Whether anybody was notified.
    pub is_notified: bool,
}

impl Open {
    /// The name for people: the project, else the subject itself.
    fn called(&self) -> &str {
        match self.concern.project.as_str() {
            "" => &self.topic.subject,
            project => project,
        }
    }
}

/// The changes between the observations and the raised topics: first the cleared ones, then the raised ones,
/// each in the order of topics. A topic clears if its subject is gone (not observed), or if nobody watches
/// its threshold any more.
pub fn judge(observed: &[Observed], open: &[Open], rules: &Rules) -> Vec<Event> {
    let seen: BTreeMap<(AttentionKind, &str), &Observed> = observed
        .iter()
        .map(|o| ((o.kind, o.subject.as_str()), o))
        .collect();
    let standing: BTreeSet<&Topic> = open.iter().map(|open| &open.topic).collect();
    let mut changes: Vec<Event> = open
        .iter()
        .filter_map(|open| {
            let of = seen.get(&(open.topic.kind, open.topic.subject.as_str()));
            cleared(open, of.copied(), rules)
        })
        .collect();
    changes.sort_by(|a, b| a.topic.cmp(&b.topic));
    for ((kind, _), observed) in &seen {
        let steps = rules.get(kind).map_or(&[][..], Vec::as_slice);
        let new = steps
            .iter()
            .filter(|step| observed.level >= step.raise)
            .map(|step| raised(observed, step))
            .filter(|(_, event)| !standing.contains(&event.topic));
        let mut new: Vec<(i64, Event)> = new.collect();
        new.sort_by_key(|(raise, _)| *raise);
        if let Some((_, last)) = new.last_mut() {
            last.is_notified = true;
        }
        changes.extend(new.into_iter().map(|(_, event)| event));
    }
    changes
}

fn raised(observed: &Observed, step: &Step) -> (i64, Event) {
    let event = Event {
        topic: Topic {
            kind: observed.kind,
            subject: observed.subject.clone(),
            threshold: step.threshold,
        },
        turn: Turn::Raised,
        of: None,
        level: observed.level,
        concern: observed.concern.clone(),
        amount: observed.amount,
        urgent: step.urgent,
        is_notified: false,
        message: observed.message.clone(),
    };
    (step.raise, event)
}

/// The end of a topic; none while it remains raised.
fn cleared(open: &Open, observed: Option<&Observed>, rules: &Rules) -> Option<Event> {
    let steps = rules.get(&open.topic.kind);
    let step = steps.and_then(|steps| {
        let mut own = steps.iter();
        own.find(|step| step.threshold == open.topic.threshold)
    });
    let raised_step = observed.zip(step);
    if raised_step.is_some_and(|(observed, step)| observed.level >= step.clear) {
        return None;
    }
    let message = match (observed, step) {
        (Some(observed), Some(_)) => observed.message.clone(),
        (_, None) => format!("{}: not watched any more", open.called()),
        (None, Some(_)) => format!("{}: over", open.called()),
    };
    Some(Event {
        topic: open.topic.clone(),
        turn: Turn::Cleared,
        of: Some(open.tx),
        level: observed.map_or(0, |observed| observed.level),
        concern: open.concern.clone(),
        amount: observed.and_then(|observed| observed.amount),
        urgent: open.urgent,
        // Nobody was notified of the start, so nobody is notified of the end.
        is_notified: open.is_notified,
        message,
    })
}

#[cfg(test)]
mod tests;
