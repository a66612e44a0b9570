//! Usage over time: the part of a use in a span (reports.md 1.7 item 2).

use crate::natural::Natural;
use crate::rollup::HOUR;
use bank_core::time::{Timestamp, Window};

/// A half-open span of time with an end after its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    from: Timestamp,
    to: Timestamp,
}

/// Where the usage of a job counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Credit {
    /// Where it ran, evenly.
    #[default]
    Spread,
    /// All where it ended, as older reports have it.
    End,
}

impl Span {
    /// From inclusive, to exclusive; none unless the first comes before the second.
    pub fn new(from: Timestamp, to: Timestamp) -> Option<Span> {
        (from < to).then_some(Span { from, to })
    }

    /// Its first instant.
    pub fn from(self) -> Timestamp {
        self.from
    }

    /// The first instant after it.
    pub fn to(self) -> Timestamp {
        self.to
    }

    /// Its length.
    pub fn micros(self) -> u64 {
        self.to.0.abs_diff(self.from.0)
    }

    /// The part of it in a window; none if there is none.
    pub fn within(self, window: &Window) -> Option<Span> {
        let from = window.start.map_or(self.from, |start| start.max(self.from));
        let to = window.end.map_or(self.to, |end| end.min(self.to));
        Span::new(from, to)
    }

    /// The microseconds of it in a window.
    pub fn shared(self, window: &Window) -> u64 {
        self.within(window).map_or(0, Span::micros)
    }

    /// Whether an instant is in it.
    pub fn contains(self, at: Timestamp) -> bool {
        self.from <= at && at < self.to
    }

    /// Cut into so many parts of the same length: their edges with both ends. Each is on a full hour
    /// where both ends are and there are as many hours, and as near as that comes; else to the
    /// microsecond.
    pub fn cut(self, parts: u32) -> Vec<Timestamp> {
        let parts = parts.max(1);
        let hour = HOUR.unsigned_abs();
        let is_on_hours = [self.from, self.to]
            .iter()
            .all(|end| end.0.rem_euclid(HOUR) == 0);
        let hours = self.micros().checked_div(hour).unwrap_or(0);
        let unit = if is_on_hours && hours >= parts.into() {
            hour
        } else {
            1
        };
        let units = u128::from(self.micros().checked_div(unit).unwrap_or(0));
        let edge = |place: u32| {
            let passed = units.saturating_mul(place.into());
            let passed = passed.checked_div(parts.into()).unwrap_or(0);
            let passed = passed.saturating_mul(unit.into());
            let passed = i64::try_from(passed).unwrap_or(i64::MAX);
            Timestamp(self.from.0.saturating_add(passed))
        };
        (0..=parts).map(edge).collect()
    }
}

/// The part of a job's usage in a span: the usage up to the end of the span less the usage up to its start.
/// Both are cut, so that the parts of adjacent spans add up to the whole. A job of zero length counts at its
/// instant.
pub fn part(total: u128, ran: (Timestamp, Timestamp), span: Span, credit: Credit) -> u128 {
    let (start, end) = ran;
    match credit {
        Credit::Spread if start < end => {
            let upto = |at: Timestamp| used(total, start, end, at);
            upto(span.to).saturating_sub(upto(span.from))
        }
        // Older reports take the instant of the end itself: from inclusive, to exclusive.
        Credit::End if span.contains(end) => total,
        Credit::Spread if span.contains(start) => total,
        _ => 0,
    }
}

/// The usage up to an instant.
fn used(total: u128, start: Timestamp, end: Timestamp, at: Timestamp) -> u128 {
    if at <= start {
        return 0;
    }
    if at >= end {
        return total;
    }
    let passed = u128::from(at.0.abs_diff(start.0));
    let whole = u128::from(end.0.abs_diff(start.0));
    if let Some(product) = total.checked_mul(passed) {
        return product.checked_div(whole).unwrap_or(0);
    }
    let wide = Natural::from(total).times(&passed.into());
    let cut = wide
        .divided(&whole.into())
        .and_then(|(cut, _)| cut.as_u128());
    cut.unwrap_or(total)
}
