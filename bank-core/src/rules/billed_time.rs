//! The time that a use is billed for, against which a charge with a window bills the rest only (decisions.md 8,
//! decision 0235).

use crate::model::Instance;
use crate::terms::Span;
use crate::time::{MICROS, Seconds, Timestamp};
use crate::view::View;

/// The billed time of a use.
pub(super) struct BilledTime {
    /// The windows that charges stated, in order and disjoint.
    pub(super) windows: Vec<Span>,
    /// The time that documents and records have billed, in order and disjoint.
    reported: Vec<Span>,
    /// The billed time of the other uses of the id, which overlaps no time of this one.
    others: Vec<Span>,
}

impl BilledTime {
    /// Of a use, beside the other uses of its id.
    pub(super) fn of(instance: &Instance, view: &View) -> BilledTime {
        let is_other = |i: &&Instance| i.key == instance.key && i.id != instance.id;
        let others = view.instances.iter().filter(is_other);
        let others = others.flat_map(|other| BilledTime::alone(other, view).all());
        BilledTime {
            others: others.collect(),
            ..BilledTime::alone(instance, view)
        }
    }

    fn alone(instance: &Instance, view: &View) -> BilledTime {
        let known = view.windows.iter().find(|(id, _)| *id == instance.id);
        let windows = known.map(|(_, spans)| spans.clone()).unwrap_or_default();
        let times = (instance.facts.start, instance.facts.end);
        let reported = reported(times, instance.charged, &windows);
        BilledTime {
            windows,
            reported,
            others: Vec::new(),
        }
    }

    /// All of it, in order and disjoint.
    pub(super) fn all(&self) -> Vec<Span> {
        let add = |all: Vec<Span>, span: &Span| span.joined(&all);
        let further = self.reported.iter().chain(&self.others);
        further.fold(self.windows.clone(), add)
    }

    /// The first billed time within a window.
    pub(super) fn within(&self, window: &Span) -> Option<Span> {
        let all = self.all();
        let met = all.iter().find(|known| known.meets(window))?;
        Some(Span {
            start: met.start.max(window.start),
            end: met.end.min(window.end),
        })
    }
}

/// The seconds that no window states, from the start in the documents and up to the end in them: a use is billed from its
/// start on. None where no document states the start.
fn reported(
    (start, end): (Option<Timestamp>, Option<Timestamp>),
    charged: Seconds,
    windows: &[Span],
) -> Vec<Span> {
    let Some(start) = start else {
        return Vec::new();
    };
    let in_windows = windows
        .iter()
        .fold(Seconds(0), |sum, span| sum.plus(span.length()));
    let mut rest = Seconds(charged.0.saturating_sub(in_windows.0));
    let start = Timestamp(start.0.saturating_sub(start.0.rem_euclid(MICROS)));
    let latest = start.plus(charged);
    let end = end.map_or(latest, |end| end.min(latest));
    let mut found = Vec::new();
    for free in (Span { start, end }).without(windows) {
        let length = free.length().min(rest);
        if length > Seconds(0) {
            let end = free.start.plus(length);
            found.push(Span {
                start: free.start,
                end,
            });
            rest = Seconds(rest.0.saturating_sub(length.0));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp(0).plus(Seconds(seconds))
    }

    fn span(start: i64, end: i64) -> Span {
        Span {
            start: at(start),
            end: at(end),
        }
    }

    /// A use of an hour of which so many seconds are billed, some of them by windows.
    fn of_an_hour(charged: i64, windows: &[Span]) -> Vec<Span> {
        reported((Some(at(0)), Some(at(3600))), Seconds(charged), windows)
    }

    #[test]
    fn time_without_a_window_is_billed_from_the_start_on() {
        assert_eq!(of_an_hour(0, &[]), []);
        assert_eq!(of_an_hour(600, &[]), [span(0, 600)]);
        assert_eq!(of_an_hour(3600, &[]), [span(0, 3600)]);
        assert_eq!(
            of_an_hour(7200, &[]),
            [span(0, 3600)],
            "no more than it lasted"
        );
        let windows = [span(0, 600), span(1200, 1800)];
        assert_eq!(of_an_hour(1200, &windows), [], "all of it in windows");
        assert_eq!(
            of_an_hour(2000, &windows),
            [span(600, 1200), span(1800, 2000)]
        );
    }
}
