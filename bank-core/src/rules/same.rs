//! Decides whether two reports describe the same use: one machine, one job and overlapping time (decisions.md
//! 43).

use crate::command::Charge;
use crate::effects::OtherUse;
use crate::model::{Facts, Instance};
use crate::time::{Seconds, Timestamp};
use crate::view::View;

/// The largest difference between the clocks of two reporters: the runs of a requeued job follow each other,
/// and may overlap by this much.
const APART: Seconds = Seconds(300);

/// The time of a use, half open; at least a microsecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Time {
    start: Timestamp,
    end: Timestamp,
}

impl Time {
    fn new(start: Timestamp, end: Timestamp) -> Time {
        let least = Timestamp(start.0.saturating_add(1));
        Time {
            start,
            end: end.max(least),
        }
    }

    /// Of a finished use.
    pub(super) fn of_finished(facts: &Facts) -> Time {
        let start = facts.start.or(facts.end).unwrap_or_default();
        Time::new(start, facts.end.unwrap_or(start))
    }

    /// Of a finished use that is known; its start is 0 if unknown.
    fn of_other(other: &OtherUse) -> Time {
        let start = Some(other.start).filter(|start| *start != Timestamp(0));
        let facts = Facts {
            start,
            end: other.end,
            ..Facts::default()
        };
        Time::of_finished(&facts)
    }

    /// Of an instance: by its documents, else by its liens and charges. An open one goes on.
    fn of_instance(instance: &Instance) -> Time {
        let start = instance.facts.start.or(instance.began);
        let start = start.unwrap_or(instance.opened);
        let closed = instance.closed.map(|(closed, _)| closed);
        let end = closed.map(|closed| instance.facts.end.unwrap_or(closed));
        Time::new(start, end.unwrap_or(Timestamp(i64::MAX)))
    }

    /// Of a charge: its window or the times of its document, else the time before it.
    fn of_charge(charge: &Charge, at: Timestamp) -> Time {
        if let Some(window) = charge.terms.window {
            return Time::new(window.start, window.end);
        }
        let Facts { start, end, .. } = &charge.request.facts;
        let end = end.unwrap_or(at);
        let reported = charge.duration.unwrap_or_default();
        Time::new(start.unwrap_or(end.minus(reported)), end)
    }

    /// The time that two have in common, if it makes them one use: more than clocks may differ, or half of
    /// the shorter one.
    fn common(self, other: Time) -> Option<i64> {
        let start = self.start.max(other.start).0;
        let common = self.end.min(other.end).0.saturating_sub(start);
        let length = |time: Time| time.end.0.saturating_sub(time.start.0);
        let shorter = length(self).min(length(other));
        let is_clear =
            common > Timestamp(0).plus(APART).0 || common >= shorter.saturating_sub(common);
        (common > 0 && is_clear).then_some(common)
    }
}

/// The collector whose finished use was charged on an instance.
pub(super) fn collector<'a>(instance: &Instance, view: &'a View) -> Option<&'a str> {
    let own = |other: &&OtherUse| other.instance == Some(instance.id) && other.is_charged;
    let found = view.others.iter().find(own);
    found.map(|other| other.source.as_str())
}

/// The instance of a finished use: of those with the same time, the one with most of it. An instance with
/// another charged use of the same source does not match, since its records identify their uses.
pub(super) fn instance_of<'a>(
    facts: &Facts,
    source: Option<&str>,
    view: &'a View,
) -> Option<&'a Instance> {
    let time = Time::of_finished(facts);
    let is_free = |i: &&Instance| source.is_none() || collector(i, view) != source;
    let free = view.instances.iter().filter(is_free);
    let common = free.filter_map(|i| Some((time.common(Time::of_instance(i))?, i)));
    // Of equal ones the newest, which comes first.
    let most = common.reduce(|best, next| if next.0 > best.0 { next } else { best });
    most.map(|(_, instance)| instance)
}

/// The other source that counted the same use without an instance, or on one that is out of sight.
fn counted_by<'a>(
    time: Time,
    source: Option<&str>,
    (others, seen): (&'a [OtherUse], &[Instance]),
) -> Option<&'a str> {
    let is_seen = |id| seen.iter().any(|i| i.id == id);
    let counts = |other: &&OtherUse| {
        let is_foreign = source != Some(other.source.as_str());
        is_foreign && other.is_charged && !other.instance.is_some_and(is_seen)
    };
    let mut same = others
        .iter()
        .filter(counts)
        .filter(|other| time.common(Time::of_other(other)).is_some());
    same.next().map(|other| other.source.as_str())
}

/// The other source that counted a finished use without an instance.
pub(super) fn finished_by<'a>(
    facts: &Facts,
    source: &str,
    (others, seen): (&'a [OtherUse], &[Instance]),
) -> Option<&'a str> {
    counted_by(Time::of_finished(facts), Some(source), (others, seen))
}

/// The source that already counted the use of a charge, without an instance or on an instance out of scope.
pub(super) fn charge_by<'a>(charge: &Charge, at: Timestamp, view: &'a View) -> Option<&'a str> {
    let known = (&view.others[..], &view.instances[..]);
    counted_by(Time::of_charge(charge, at), None, known)
}

/// Whether a charge belongs to the use of an instance: its times are the same. Without times, it arrives no
/// later than the grace after the end of the use.
pub(super) fn is_of(charge: &Charge, at: Timestamp, instance: &Instance, grace: Seconds) -> bool {
    let facts = &charge.request.facts;
    let is_stated = charge.terms.window.is_some() || facts.start.is_some() || facts.end.is_some();
    let own = Time::of_instance(instance);
    if is_stated {
        return Time::of_charge(charge, at).common(own).is_some();
    }
    at <= own.end.plus(grace)
}
