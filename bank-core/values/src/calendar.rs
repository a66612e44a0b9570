//! Hours of the week in a time zone: when a rate with a calendar holds (ledger.md 3.3).
//!
//! The core has no time zone data. A calendar carries the offsets of its zone as a list of changes. The shell
//! makes that list once, when the rate is set, so that a past charge is priced again with the same hours
//! (decisions.md 2).

use crate::refusal::Refusal;
use crate::time::{MICROS, Timestamp};
use std::fmt::Write as _;

/// Longest text of a calendar, in bytes.
const TEXT_BYTES_MAX: usize = 256;
/// Most spans of a calendar.
const SPANS_MAX: usize = 8;
/// Seconds of a day.
const DAY_S: i64 = 86_400;
/// The days as they are written, Monday first.
const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// The offsets of a time zone from UTC, in seconds to the east.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Zone {
    /// Before the first change.
    pub first: i32,
    /// Second since 1970 from which on an offset holds, ascending.
    pub changes: Vec<(i64, i32)>,
}

impl Zone {
    /// As text for a column: `3600;1774746000:7200;…`.
    pub fn text(&self) -> String {
        let mut text = self.first.to_string();
        for (at, offset) in &self.changes {
            // Writing to a string cannot fail.
            let _ = write!(text, ";{at}:{offset}");
        }
        text
    }

    /// Reads what [`Zone::text`] wrote.
    pub fn parse(text: &str) -> Option<Zone> {
        let mut parts = text.split(';');
        let first = parts.next()?.parse().ok()?;
        let change = |part: &str| {
            let (at, offset) = part.split_once(':')?;
            Some((at.parse().ok()?, offset.parse().ok()?))
        };
        let changes = parts.map(change).collect::<Option<_>>()?;
        Some(Zone { first, changes })
    }

    /// The number of changes at or before a second.
    fn passed(&self, second: i64) -> usize {
        self.changes.partition_point(|(at, _)| *at <= second)
    }

    /// The second of the first change after another second.
    pub fn change_after(&self, second: i64) -> Option<i64> {
        self.changes.get(self.passed(second)).map(|(at, _)| *at)
    }

    /// Seconds to the east of UTC at a second.
    pub fn offset(&self, second: i64) -> i64 {
        let last = self.passed(second).checked_sub(1);
        let last = last.and_then(|index| self.changes.get(index));
        i64::from(last.map_or(self.first, |(_, offset)| *offset))
    }
}

/// Hours on some days; those past midnight belong to the day on which they begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    /// One bit a day, Monday the lowest.
    days: u8,
    /// First second of the day.
    from: i64,
    /// First second after it, up to 86,400. It is not after `from` if it is on the next day.
    to: i64,
}

impl Span {
    fn holds(self, weekday: i64, second: i64) -> bool {
        let on = |day: i64| {
            let bit = u32::try_from(day.rem_euclid(7)).unwrap_or(0);
            self.days.checked_shr(bit).unwrap_or(0) & 1 == 1
        };
        if self.from < self.to {
            return on(weekday) && self.from <= second && second < self.to;
        }
        let yesterday = weekday.saturating_sub(1);
        (on(weekday) && self.from <= second) || (on(yesterday) && second < self.to)
    }
}

/// When a rate with a calendar holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calendar {
    /// As it was written: `Mon-Fri 08:00-20:00 Europe/Berlin`.
    pub text: String,
    /// The offsets of its zone.
    pub zone: Zone,
    spans: Vec<Span>,
}

impl Calendar {
    /// Reads `[DAYS] HH:MM-HH:MM[; …] [ZONE]`. Days are for example `Mon-Fri` or `Sat,Sun`; without days it
    /// holds every day, without a zone in UTC. Hours past midnight belong to the day on which they begin.
    /// Returns `bad_value` for anything else. The shell provides the offsets of a zone.
    pub fn read(text: &str, zone: impl FnOnce(&str) -> Option<Zone>) -> Result<Calendar, Refusal> {
        let bad =
            || Refusal::bad_value("when", "hours such as 'Mon-Fri 08:00-20:00 Europe/Berlin'");
        if text.len() > TEXT_BYTES_MAX {
            return Err(bad());
        }
        let (spans, name) = parse(text).ok_or_else(bad)?;
        let zone = zone(name).ok_or(Refusal::BadValue {
            field: "when",
            expected: "a time zone such as Europe/Berlin or UTC at its end",
        })?;
        Ok(Calendar {
            text: text.split_whitespace().collect::<Vec<_>>().join(" "),
            zone,
            spans,
        })
    }

    /// Whether an instant is in its hours.
    pub fn contains(&self, at: Timestamp) -> bool {
        let (day, second) = self.local(at);
        // 1970-01-01 was a Thursday.
        let weekday = day.saturating_add(3).rem_euclid(7);
        self.spans.iter().any(|span| span.holds(weekday, second))
    }

    /// The next instant at which it may begin or end to hold: always later than the one given.
    pub fn next_edge(&self, at: Timestamp) -> Timestamp {
        let second = at.seconds();
        let (day, local) = self.local(at);
        let edges = self.spans.iter().flat_map(|span| [span.from, span.to]);
        let later = edges.filter(|edge| *edge > local).min();
        let edge = later.unwrap_or(DAY_S).min(DAY_S);
        let midnight = day.saturating_mul(DAY_S);
        let next = midnight
            .saturating_add(edge)
            .saturating_sub(self.zone.offset(second));
        let change = self.zone.changes.get(self.zone.passed(second));
        let next = change.map_or(next, |(at, _)| next.min(*at));
        Timestamp(next.saturating_mul(MICROS).max(at.0.saturating_add(1)))
    }

    /// Day since 1970 and second of the day, as clocks of the zone show them.
    fn local(&self, at: Timestamp) -> (i64, i64) {
        let second = at.seconds();
        let local = second.saturating_add(self.zone.offset(second));
        (local.div_euclid(DAY_S), local.rem_euclid(DAY_S))
    }
}

fn parse(text: &str) -> Option<(Vec<Span>, &str)> {
    let mut zone = "UTC";
    let mut spans = Vec::new();
    let groups: Vec<&str> = text.split(';').collect();
    for (place, group) in (1..).zip(&groups) {
        let mut words: Vec<&str> = group.split_whitespace().collect();
        let is_last = place == groups.len();
        if is_last && words.last().is_some_and(|word| !word.contains(':')) {
            zone = words.pop()?;
        }
        let (days, hours) = match words.as_slice() {
            [hours] => (127, hours),
            [days, hours] => (days_of(days)?, hours),
            _ => return None,
        };
        let (from, to) = hours.split_once('-')?;
        let (from, to) = (clock(from)?, clock(to)?);
        if from == to || from == DAY_S {
            return None;
        }
        spans.push(Span { days, from, to });
    }
    (spans.len() <= SPANS_MAX).then_some((spans, zone))
}

fn days_of(text: &str) -> Option<u8> {
    let index = |name: &str| DAYS.iter().position(|day| name.eq_ignore_ascii_case(day));
    let mut days = 0_u8;
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (mut day, last) = (index(first)?, index(last)?);
        // `Sat-Mon` goes round the end of the week.
        loop {
            days |= 1_u8.checked_shl(u32::try_from(day).ok()?)?;
            if day == last {
                break;
            }
            day = day.checked_add(1)?.checked_rem(DAYS.len())?;
        }
    }
    Some(days)
}

fn clock(text: &str) -> Option<i64> {
    let (hours, minutes) = text.split_once(':')?;
    let number = |part: &str| {
        let plain = part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit());
        plain.then(|| part.parse::<i64>().ok()).flatten()
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    let in_range = minutes < 60 && (hours < 24 || (hours == 24 && minutes == 0));
    let seconds = hours
        .saturating_mul(3600)
        .saturating_add(minutes.saturating_mul(60));
    in_range.then_some(seconds)
}

#[cfg(test)]
mod tests;
