//! Sets of times, as spans in microseconds.

/// A set of times.
#[derive(Clone, Debug, Default)]
pub(super) struct Spans(Vec<(i64, i64)>);

impl Spans {
    /// Adds a span. One that continues the last one prolongs it, so that a series without gaps is one span.
    pub(super) fn add(&mut self, from: i64, to: i64) {
        match self.0.last_mut() {
            Some((start, end)) if *start <= from && from <= *end => *end = to.max(*end),
            _ => self.0.push((from, to)),
        }
    }

    /// Adds all of another set.
    pub(super) fn merge(&mut self, other: Spans) {
        self.0.extend(other.0);
        self.settle();
    }

    /// Puts the spans in order, with none that touch.
    fn settle(&mut self) {
        self.0.sort_unstable();
        let mut settled = Spans::default();
        for (from, to) in self.0.drain(..) {
            settled.add(from, to);
        }
        *self = settled;
    }

    /// Microseconds of all of them, each time once.
    pub(super) fn length(&self) -> i64 {
        let mut settled = self.clone();
        settled.settle();
        let lengths = settled.0.iter().map(|(from, to)| to.saturating_sub(*from));
        lengths.fold(0, i64::saturating_add)
    }

    /// Microseconds of a span that are not in the set, which is a merged one.
    pub(super) fn missing(&self, from: i64, to: i64) -> i64 {
        let first = self.0.partition_point(|(_, end)| *end <= from);
        let behind = self.0.get(first..).unwrap_or_default().iter();
        let common = behind
            .take_while(|(start, _)| *start < to)
            .map(|(start, end)| to.min(*end).saturating_sub(from.max(*start)));
        common.fold(to.saturating_sub(from), i64::saturating_sub)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_time_counts_once() {
        let of = |list: &[(i64, i64)]| {
            let mut spans = Spans::default();
            for (from, to) in list {
                spans.add(*from, *to);
            }
            spans
        };
        for (list, length) in [
            (vec![], 0),
            (vec![(0, 10), (10, 20), (15, 30)], 30),
            (vec![(20, 30), (0, 10), (5, 25)], 30),
            (vec![(0, 10), (0, 10), (20, 21)], 11),
        ] {
            assert_eq!(of(&list).length(), length, "{list:?}");
        }
        let mut known = of(&[(0, 10)]);
        known.merge(of(&[(20, 30), (30, 40), (5, 12)]));
        for (from, to, missing) in [
            (0, 12, 0),
            (12, 20, 8),
            (10, 25, 8),
            (-5, 50, 23),
            (40, 45, 5),
        ] {
            assert_eq!(known.missing(from, to), missing, "{from} {to}");
        }
    }
}
