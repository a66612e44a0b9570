//! Utilisation of the capacity, bucket by bucket (reports.md 1.7 item 3).

use super::hardware::{self, Kind};
use super::spread::Span;
use super::{fixed, positive};
use crate::natural::Natural;
use bank_core::time::Timestamp;

/// Usage in buckets side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buckets {
    edges: Vec<Timestamp>,
    used: Vec<i128>,
    /// No capacity has passed after it.
    until: Option<Timestamp>,
}

/// One bucket as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// When.
    pub span: Span,
    /// Usage, in [`super::USAGE_UNITS`]; below zero if more credits were given back than charged.
    pub used: i128,
    /// Capacity, in the same units.
    pub capacity: u128,
    /// Percent with two decimals, from zero on; none where there was nothing to use.
    pub percent: Option<String>,
}

impl Buckets {
    /// Buckets between edges in their order.
    pub fn new(edges: Vec<Timestamp>) -> Buckets {
        let count = edges.len().saturating_sub(1);
        Buckets {
            edges,
            used: vec![0; count],
            until: None,
        }
    }

    /// The same with the capacity of the time that has passed at an instant.
    #[must_use]
    pub fn until(mut self, now: Timestamp) -> Buckets {
        self.until = Some(now);
        self
    }

    /// Adds what was used in one of them, in [`super::USAGE_UNITS`]; none where the sum does not fit, or
    /// there is no such bucket.
    pub fn add(&mut self, bucket: usize, usage: i128) -> Option<()> {
        let sum = self.used.get_mut(bucket)?;
        *sum = sum.checked_add(usage)?;
        Some(())
    }

    /// The buckets with what the kinds of a machine could give, or those of all machines. Where `held`
    /// is set nothing is shown above 100 percent: allocated slots cannot be more than there are, and a
    /// job that keeps its factor over a change of hardware would seem to. None where a sum does not fit.
    pub fn shown(&self, kinds: &[Kind], machine: Option<&str>, held: bool) -> Option<Vec<Bucket>> {
        let pairs = self.edges.iter().zip(self.edges.iter().skip(1));
        let mut shown = Vec::with_capacity(self.used.len());
        for (used, (from, to)) in self.used.iter().zip(pairs) {
            if let Some(span) = Span::new(*from, *to) {
                shown.push(self.bucket(*used, span, kinds, machine, held)?);
            }
        }
        Some(shown)
    }

    /// All buckets as one, by the same rules; none where a sum does not fit, or there are no buckets.
    pub fn whole(&self, kinds: &[Kind], machine: Option<&str>, held: bool) -> Option<Bucket> {
        let span = Span::new(*self.edges.first()?, *self.edges.last()?)?;
        let mut used = self.used.iter();
        let used = used.try_fold(0_i128, |sum, used| sum.checked_add(*used))?;
        self.bucket(used, span, kinds, machine, held)
    }

    fn bucket(
        &self,
        used: i128,
        span: Span,
        kinds: &[Kind],
        machine: Option<&str>,
        held: bool,
    ) -> Option<Bucket> {
        let end = self.until.map_or(span.to(), |until| until.min(span.to()));
        let capacity = match Span::new(span.from(), end) {
            Some(passed) => hardware::capacity(kinds, machine, passed)?,
            None => 0,
        };
        let counted = positive(used);
        let counted = if held { counted.min(capacity) } else { counted };
        let hundred = Natural::from(counted).times(&100.into());
        Some(Bucket {
            span,
            used,
            capacity,
            percent: fixed(&hundred, &capacity.into(), 2),
        })
    }
}
