//! Windows with both ends: of charges, of billed time and of reservations.

use crate::time::{Seconds, Timestamp};

/// A window with both ends, `[start, end)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First instant inside.
    pub start: Timestamp,
    /// First instant after it.
    pub end: Timestamp,
}

impl Span {
    /// Its length in whole seconds, rounded down.
    pub fn length(&self) -> Seconds {
        Seconds(self.end.seconds().saturating_sub(self.start.seconds()))
    }

    /// Whether two have an instant in common.
    pub fn meets(&self, other: &Span) -> bool {
        self.start < other.end && other.start < self.end
    }

    /// The rest of it without others, which are in order and disjoint.
    pub fn without(&self, others: &[Span]) -> Vec<Span> {
        let mut rest = Vec::new();
        let mut start = self.start;
        for other in others.iter().filter(|o| o.meets(self)) {
            if start < other.start {
                let end = other.start;
                rest.push(Span { start, end });
            }
            start = start.max(other.end);
        }
        if start < self.end {
            let end = self.end;
            rest.push(Span { start, end });
        }
        rest
    }

    /// Others with this one, in order; those that touch become one.
    pub fn joined(self, others: &[Span]) -> Vec<Span> {
        let mut all = others.to_vec();
        all.push(self);
        all.sort_unstable_by_key(|span| (span.start, span.end));
        let mut merged: Vec<Span> = Vec::with_capacity(all.len());
        for span in all {
            match merged.last_mut() {
                Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
                _ => merged.push(span),
            }
        }
        merged
    }
}
