//! Time of reservations, and the jobs of each reservation that used it: which processors were idle, and when.
//!
//! A reservation whose scheduler reports all of its time pays for idle processors only. Charges add rows of
//! time, reserved or used, and a reversal adds the same rows with the opposite sign. Sums of rows do not depend
//! on the order of charges, so neither does the idle part. All times are whole seconds.

use crate::decimal::Decimal;
use crate::ids::{InstanceId, TxId};
use crate::span::Span;
use crate::time::{MICROS, Seconds, Timestamp};
use std::collections::BTreeMap;

/// The reservation that time belongs to: every reuse of its id on a machine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReservationKey {
    /// The machine's name as given.
    pub machine: String,
    /// The scheduler's id of the reservation.
    pub reservation: String,
}

/// Time that a charge counted: of a reservation, or of a job in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReservationTime {
    /// The transaction of the charge.
    pub tx: TxId,
    /// The reservation itself, or the job.
    pub instance: InstanceId,
    /// The reservation.
    pub key: ReservationKey,
    /// The time, in whole seconds.
    pub span: Span,
    /// Processors during this time.
    pub processors: Decimal,
    /// For time of the reservation itself: its priced usage, as [`crate::usage::text`] writes it. None for
    /// time that a job used.
    pub facts: Option<String>,
    /// Whether it takes equal time back.
    pub back: bool,
    /// The addition of the transaction to the exact sum of the reservation, in trillionths: in one row of the
    /// reservation's own charge, else 0.
    pub exact: i128,
    /// The idle processor-seconds that the usage row of the transaction counts, in billionths: in one row of the
    /// reservation's own charge, else 0. None in banks of before, whose usage rows count all reserved time.
    pub idle: Option<i128>,
    /// The instant at which the charge counts.
    pub at: Timestamp,
}

impl ReservationTime {
    /// The row that takes this one back.
    #[must_use]
    pub fn taken_back(&self, tx: TxId) -> ReservationTime {
        ReservationTime {
            tx,
            back: !self.back,
            exact: self.exact.saturating_neg(),
            idle: self.idle.map(i128::saturating_neg),
            ..self.clone()
        }
    }

    /// Its processor-seconds, in billionths: below zero if it takes time back.
    pub fn processor_seconds(&self) -> i128 {
        let seconds = i128::from(self.span.length().0);
        let whole = self.processors.billionths().saturating_mul(seconds);
        whole.saturating_mul(self.sign())
    }

    /// Whether it is about the same time of the same reservation.
    fn equals(&self, other: &ReservationTime) -> bool {
        let own = (&self.key, &self.span, &self.processors, &self.facts);
        own == (&other.key, &other.span, &other.processors, &other.facts)
    }

    /// 1, or -1 if it takes time back.
    pub fn sign(&self) -> i128 {
        if self.back { -1 } else { 1 }
    }
}

/// Rows of time of a reservation, for a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeQuery {
    /// Of this reservation.
    pub key: ReservationKey,
    /// Rows that overlap this span; none for all of them.
    pub span: Option<Span>,
}

/// A day in microseconds: idle time is priced day by day, so that a charge reads the days that it changes.
const DAY: i64 = 86_400 * MICROS;

/// The whole UTC days with a part of a span.
pub fn whole_days(span: Span) -> Span {
    let up = span.end.0.saturating_add(DAY.saturating_sub(1));
    Span {
        start: Timestamp(span.start.0.div_euclid(DAY).saturating_mul(DAY)),
        end: Timestamp(up.div_euclid(DAY).saturating_mul(DAY)),
    }
}

/// The UTC days of a span of whole days.
pub fn days(span: Span) -> impl Iterator<Item = Span> {
    let first = span.start.0.div_euclid(DAY);
    let last = span.end.0.div_euclid(DAY);
    let at = |day: i64| Timestamp(day.saturating_mul(DAY));
    (first..last).map(move |day| Span {
        start: at(day),
        end: at(day.saturating_add(1)),
    })
}

/// A span of seconds before an instant, which is rounded down to a second.
pub fn before(end: Timestamp, length: Seconds) -> Span {
    let end = Timestamp::from_seconds(end.seconds());
    Span {
        start: end.minus(length),
        end,
    }
}

/// The rows of an instance that no other row takes back, each once.
pub fn in_force(times: &[ReservationTime], instance: InstanceId) -> Vec<&ReservationTime> {
    let own = times.iter().filter(|time| time.instance == instance);
    let mut left: Vec<&ReservationTime> = Vec::new();
    let mut owed: Vec<&ReservationTime> = Vec::new();
    for time in own {
        let (opposite, same) = if time.back {
            (&mut left, &mut owed)
        } else {
            (&mut owed, &mut left)
        };
        match opposite.iter().position(|other| other.equals(time)) {
            Some(place) => {
                opposite.remove(place);
            }
            None => same.push(time),
        }
    }
    left
}

/// The rows that undo those of a transaction, or do them again. Time of a job that another record took back since stays so, and
/// time of a charge that is not in force does not come back.
pub fn undone(
    times: &[ReservationTime],
    (target, tx): (TxId, TxId),
    is_in_force: impl Fn(TxId) -> bool,
) -> Vec<ReservationTime> {
    let own = times.iter().filter(|time| time.tx == target);
    let mut left: BTreeMap<InstanceId, Vec<&ReservationTime>> = BTreeMap::new();
    let mut found = Vec::new();
    for time in own {
        let left = left.entry(time.instance);
        let left = left.or_insert_with_key(|instance| in_force(times, *instance));
        // A reservation's own rows have its exact sum.
        let counts = if time.facts.is_some() {
            true
        } else if time.back {
            let mut before = times
                .iter()
                .filter(|other| other.tx < target && !other.back);
            let origin =
                before.rfind(|other| other.instance == time.instance && other.equals(time));
            origin.is_none_or(|origin| is_in_force(origin.tx))
        } else {
            let place = left.iter().position(|other| other.equals(time));
            place.is_some_and(|place| !left.remove(place).back)
        };
        if counts {
            found.push(time.taken_back(tx));
        }
    }
    found
}

/// A change of a reservation's time by one transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeChange {
    /// The transaction.
    pub tx: TxId,
    /// The object whose time changed.
    pub instance: InstanceId,
    /// The reservation.
    pub key: ReservationKey,
    /// The changed time.
    pub span: Span,
}

/// The changes in rows of time that were written together.
pub fn changes(times: &[ReservationTime]) -> Vec<TimeChange> {
    let mut found: Vec<TimeChange> = Vec::new();
    for time in times {
        let same = |change: &&mut TimeChange| change.tx == time.tx && change.key == time.key;
        match found.iter_mut().find(same) {
            Some(known) => {
                known.span.start = known.span.start.min(time.span.start);
                known.span.end = known.span.end.max(time.span.end);
            }
            None => found.push(TimeChange {
                tx: time.tx,
                instance: time.instance,
                key: time.key.clone(),
                span: time.span,
            }),
        }
    }
    found
}

/// The part of a span inside a reservation, as usage counts it: the time of a charge ends when the charge happened, which
/// can be after the reported end.
pub fn counted_span(times: &[ReservationTime], id: InstanceId, span: Span) -> Span {
    let Some(charge) = charge_of(times, id, span) else {
        return span;
    };
    let own = times
        .iter()
        .filter(|time| time.instance == id && !time.back);
    let inside = Span {
        start: own
            .clone()
            .map(|time| time.span.start)
            .min()
            .unwrap_or(span.start),
        end: own
            .clone()
            .map(|time| time.span.end)
            .max()
            .unwrap_or(span.end),
    };
    let of_charge = own.filter(|time| time.tx == charge.tx);
    let end = of_charge
        .map(|time| time.span.end)
        .max()
        .unwrap_or(charge.at);
    let late = Seconds(charge.at.seconds().saturating_sub(end.seconds()).max(0));
    Span {
        start: span.start.max(inside.start).plus(late),
        end: span.end.min(inside.end).plus(late),
    }
}

/// The last row of a reservation's charges for a span; none if it was not charged.
pub fn charge_of(
    times: &[ReservationTime],
    id: InstanceId,
    span: Span,
) -> Option<&ReservationTime> {
    let own = times.iter().filter(|time| time.instance == id);
    let own = own.filter(|time| time.facts.is_some() && time.span.meets(&span));
    own.max_by_key(|time| time.at)
}

/// The uses of a reservation with time of their own among rows, in the order of their numbers.
pub fn reserved_by(times: &[ReservationTime]) -> Vec<InstanceId> {
    let own = times.iter().filter(|time| time.facts.is_some());
    let mut found: Vec<InstanceId> = own.map(|time| time.instance).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// A part of the time of a reservation with constant processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part<'a> {
    /// The use of the reservation.
    pub instance: InstanceId,
    /// When.
    pub span: Span,
    /// Its priced usage.
    pub facts: &'a str,
    /// Its processors, in billionths.
    pub processors: i128,
    /// Of these, those that no job used.
    pub idle: i128,
}

impl Part<'_> {
    /// Its length in seconds.
    pub fn seconds(&self) -> i64 {
        self.span.length().0
    }

    /// Idle processor-seconds, in billionths.
    pub fn idle_seconds(&self) -> i128 {
        self.idle.saturating_mul(self.seconds().into())
    }
}

/// Reserved time that counts, with the number of equal rows.
struct Reserved<'a> {
    time: &'a ReservationTime,
    rows: i128,
}

/// The reserved time of all uses of a reservation, split wherever its processors or those of its jobs change,
/// and at `cuts`. Jobs use the time of the earliest use first, and never more than there is.
pub fn parts<'a>(times: &[&'a ReservationTime], window: Span, cuts: &[Timestamp]) -> Vec<Part<'a>> {
    let reserved = reserved(times, window);
    let mut used: BTreeMap<Timestamp, i128> = BTreeMap::new();
    let mut change = |at: Timestamp, by: i128| {
        let sum = used.entry(at).or_default();
        *sum = sum.saturating_add(by);
    };
    for time in times.iter().filter(|time| time.facts.is_none()) {
        let processors = time.processors.billionths().saturating_mul(time.sign());
        if time.span.meets(&window) {
            change(time.span.start.max(window.start), processors);
            change(time.span.end.min(window.end), processors.saturating_neg());
        }
    }
    let of_reserved = reserved
        .iter()
        .flat_map(|own| [own.time.span.start, own.time.span.end]);
    for edge in of_reserved.chain(cuts.iter().copied()) {
        change(edge.max(window.start).min(window.end), 0);
    }
    let mut found = Vec::new();
    let mut now = 0_i128;
    let mut edges = used.iter().peekable();
    while let Some((start, by)) = edges.next() {
        now = now.saturating_add(*by);
        let Some((end, _)) = edges.peek() else { break };
        let span = Span {
            start: *start,
            end: **end,
        };
        add_parts(&mut found, &reserved, span, now);
    }
    found
}

/// Adds the parts of one span; jobs use `used` processors in it.
fn add_parts<'a>(found: &mut Vec<Part<'a>>, reserved: &[Reserved<'a>], span: Span, used: i128) {
    let mut used = used.max(0);
    for own in reserved.iter().filter(|own| own.time.span.meets(&span)) {
        let processors = own.time.processors.billionths().saturating_mul(own.rows);
        let taken = used.min(processors.max(0));
        used = used.saturating_sub(taken);
        found.push(Part {
            instance: own.time.instance,
            span,
            facts: own.time.facts.as_deref().unwrap_or_default(),
            processors,
            idle: processors.saturating_sub(taken),
        });
    }
}

/// The reserved time in a window that counts, in a fixed order.
fn reserved<'a>(times: &[&'a ReservationTime], window: Span) -> Vec<Reserved<'a>> {
    let own = times.iter().filter(|time| time.facts.is_some());
    let mut sorted: Vec<&ReservationTime> = own
        .filter(|time| time.span.meets(&window))
        .copied()
        .collect();
    let key = |time: &ReservationTime| {
        (
            time.instance,
            time.span.start,
            time.span.end,
            time.processors,
        )
    };
    sorted.sort_by(|a, b| key(a).cmp(&key(b)).then_with(|| a.facts.cmp(&b.facts)));
    let mut found: Vec<Reserved<'a>> = Vec::new();
    for time in sorted {
        match found.last_mut() {
            Some(last) if key(last.time) == key(time) && last.time.facts == time.facts => {
                last.rows = last.rows.saturating_add(time.sign());
            }
            _ => found.push(Reserved {
                time,
                rows: time.sign(),
            }),
        }
    }
    found.retain(|own| own.rows > 0);
    found
}

#[cfg(test)]
mod tests;
