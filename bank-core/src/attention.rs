//! What wants attention: the kinds, and when each threshold is raised and cleared (ux.md 4).
//!
//! A figure is looked at as a *level* that rises with urgency. A threshold is raised when the level
//! reaches it, and stays so until the level falls below a lower one, so that a figure that hovers
//! about a threshold is told once. Nothing here reads a figure: what was observed comes in.

use crate::amount::Amount;
use crate::ids::{AccountId, AllocationId, LienId, TxId};
use std::collections::{BTreeMap, BTreeSet};

/// Changes in one command at most.
pub const CHANGES_MAX: usize = 256;

/// The level of a state that is either there or not.
pub const THERE: i64 = 1;

/// What wants attention.
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
    /// A lien holds although the time that was asked for is over.
    LienStuck,
    /// A collector has not been heard.
    CollectorSilent,
}

/// Every kind with its word.
pub const ATTENTION_KINDS: [(AttentionKind, &str); 6] = [
    (AttentionKind::Used, "used"),
    (AttentionKind::Expiring, "expiring"),
    (AttentionKind::Negative, "negative"),
    (AttentionKind::FallbackUsed, "fallback_used"),
    (AttentionKind::LienStuck, "lien_stuck"),
    (AttentionKind::CollectorSilent, "collector_silent"),
];

impl AttentionKind {
    /// Its word.
    pub fn word(self) -> &'static str {
        ATTENTION_KINDS
            .iter()
            .find(|(kind, _)| *kind == self)
            .map_or("used", |(_, word)| word)
    }

    /// From its word.
    pub fn parse(word: &str) -> Option<AttentionKind> {
        ATTENTION_KINDS
            .iter()
            .find(|(_, w)| *w == word)
            .map(|(kind, _)| *kind)
    }
}

/// What is raised once and cleared once: a threshold of a kind, of one subject.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Topic {
    /// The kind.
    pub kind: AttentionKind,
    /// Of what: `account:3`, `allocation:7`, `lien:12`, `source:sge`.
    pub subject: String,
    /// Percent for [`AttentionKind::Used`], days for [`AttentionKind::Expiring`], 0 for the others.
    pub threshold: i64,
}

/// Whom and what an event is about, as far as it has one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Concern {
    /// The account.
    pub account: Option<AccountId>,
    /// The allocation.
    pub allocation: Option<AllocationId>,
    /// The lien.
    pub lien: Option<LienId>,
    /// The project whose people are told; empty for none.
    pub project: String,
    /// The user; empty for none.
    pub user: String,
    /// The machine; empty for none.
    pub machine: String,
}

/// What was seen of one subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    /// The kind.
    pub kind: AttentionKind,
    /// Of what, as in [`Topic`].
    pub subject: String,
    /// How urgent it is: a percent for `used`, days left below zero for `expiring`, [`THERE`] for the
    /// others.
    pub level: i64,
    /// Whom it concerns.
    pub concern: Concern,
    /// The amount that it is about, minor units.
    pub amount: Option<Amount>,
    /// One sentence for people, with names and figures.
    pub says: String,
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
    /// Told at once, not with the next digest.
    pub urgent: bool,
}

/// What of each kind is watched; a kind without steps is not.
pub type Rules = BTreeMap<AttentionKind, Vec<Step>>;

/// What an event of the journal says of a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The threshold was reached.
    Raised,
    /// It is so no more.
    Cleared,
    /// Somebody has seen it; it stands.
    Acked,
}

/// Every turn with its word.
pub const TURNS: [(Turn, &str); 3] = [
    (Turn::Raised, "raised"),
    (Turn::Cleared, "cleared"),
    (Turn::Acked, "acked"),
];

impl Turn {
    /// Its word.
    pub fn word(self) -> &'static str {
        TURNS
            .iter()
            .find(|(turn, _)| *turn == self)
            .map_or("raised", |(_, word)| word)
    }

    /// From its word.
    pub fn parse(word: &str) -> Option<Turn> {
        TURNS
            .iter()
            .find(|(_, w)| *w == word)
            .map(|(turn, _)| *turn)
    }
}

/// A change of a topic, as it goes into the journal beside a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// What changed.
    pub topic: Topic,
    /// How.
    pub turn: Turn,
    /// The transaction that raised it; none for one that raises.
    pub of: Option<TxId>,
    /// The level at which it was seen; 0 where the subject is gone.
    pub level: i64,
    /// Whom it concerns.
    pub concern: Concern,
    /// The amount that it is about, minor units.
    pub amount: Option<Amount>,
    /// Told at once, not with the next digest.
    pub urgent: bool,
    /// Whether anybody is told: of several thresholds of a subject that were passed together only
    /// the last is.
    pub told: bool,
    /// One sentence for people: the reason of its transaction.
    pub says: String,
}

/// A topic that is raised and not cleared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    /// Which.
    pub topic: Topic,
    /// The transaction that raised it.
    pub tx: TxId,
    /// The transaction in which somebody said to have seen it.
    pub acked: Option<TxId>,
    /// Whom it concerns.
    pub concern: Concern,
    /// Told at once.
    pub urgent: bool,
    /// Whether anybody was told.
    pub told: bool,
}

impl Open {
    /// What people call it: the project, else the subject itself.
    fn called(&self) -> &str {
        match self.concern.project.as_str() {
            "" => &self.topic.subject,
            project => project,
        }
    }
}

/// What changes, given what was observed and what is raised: what clears first, then what is raised,
/// each in the order of topics. A subject that was not observed is gone, and what was raised of it
/// clears; so does a threshold that nobody watches any more.
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
            last.told = true;
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
        told: false,
        says: observed.says.clone(),
    };
    (step.raise, event)
}

/// The end of a topic; none where it stands.
fn cleared(open: &Open, observed: Option<&Observed>, rules: &Rules) -> Option<Event> {
    let steps = rules.get(&open.topic.kind);
    let step = steps.and_then(|steps| {
        let mut own = steps.iter();
        own.find(|step| step.threshold == open.topic.threshold)
    });
    let stands = observed.zip(step);
    if stands.is_some_and(|(observed, step)| observed.level >= step.clear) {
        return None;
    }
    let says = match (observed, step) {
        (Some(observed), Some(_)) => observed.says.clone(),
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
        // Who was not told of it need not hear that it is over.
        told: open.told,
        says,
    })
}

#[cfg(test)]
mod tests;
