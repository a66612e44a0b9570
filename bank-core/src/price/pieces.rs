//! A window in pieces, by the hours of the rates with calendars.

use super::Priced;
use crate::calendar::Calendar;
use crate::exact::Fraction;
use crate::rate::Rate;
use crate::time::{MICROS, Timestamp};

/// All parts of a window in which the same hours hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// The first instant of them.
    pub(super) at: Timestamp,
    /// Their length in microseconds.
    pub(super) micros: i64,
    /// Which calendars hold.
    holds: Vec<bool>,
}

impl Piece {
    /// Its length in seconds.
    pub(super) fn length(&self) -> Option<Fraction> {
        Fraction::new(i128::from(self.micros), i128::from(MICROS))
    }
}

/// Whether any rate that may count has hours.
pub(super) fn has_hours(priced: &Priced<'_>, rates: &[Rate]) -> bool {
    rates
        .iter()
        .any(|rate| rate.when.is_some() && rate.applies(priced.at, priced.machine))
}

/// The window of a price, split at every edge of a calendar; parts with the same hours are one. The
/// lengths add up to the duration. One piece where no rate has hours.
pub(super) fn pieces(priced: &Priced<'_>, rates: &[Rate]) -> Vec<Piece> {
    let may_count = rates
        .iter()
        .filter(|rate| rate.applies(priced.at, priced.machine));
    let mut calendars: Vec<&Calendar> = Vec::new();
    for hours in may_count.filter_map(|rate| rate.when.as_deref()) {
        if !calendars.contains(&hours) {
            calendars.push(hours);
        }
    }
    let end = priced.from.plus(priced.duration);
    let mut pieces: Vec<Piece> = Vec::new();
    let mut now = priced.from;
    loop {
        let edges = calendars.iter().map(|c| c.next_edge(now));
        let next = edges.min().map_or(end, |edge| edge.min(end));
        let holds: Vec<bool> = calendars.iter().map(|c| c.contains(now)).collect();
        let micros = next.0.saturating_sub(now.0);
        match pieces.iter_mut().find(|piece| piece.holds == holds) {
            Some(piece) => piece.micros = piece.micros.saturating_add(micros),
            None => pieces.push(Piece {
                at: now,
                micros,
                holds,
            }),
        }
        if next >= end {
            return pieces;
        }
        now = next;
    }
}
