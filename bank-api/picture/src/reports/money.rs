//! Money over a time: what movements of statements and forecasts come to, for a burn-down.
//!
//! What there was follows from a statement's opening and its movements; what of it was held is sampled; what is to
//! come is the daemon's own forecast. The caller asks for all of these.

use std::collections::BTreeMap;

use bank_api::text::parse_rfc3339;
use bank_api::v1::{Allocation, ForecastRow, Statement, StatementLine};

use crate::bounds::{POINTS_MAX, TooLarge};
use crate::burn::{spread, thinned};
use crate::calendar::{span_of, spans};
use crate::data::{Burn, NOBODY, Span, Timed};
use crate::number::Number;
use crate::zone::Zone;

/// One day, µs.
const DAY: i64 = 86_400_000_000;
/// How far back a forecast looks.
pub const BACK: i64 = 30 * DAY;
/// No picture looks further ahead.
const AHEAD: i64 = 400 * DAY;
/// Movements are thinned when there are so many: memory has an end, and a picture its pixels.
const KEPT: usize = 4 * POINTS_MAX;

/// The explanation of a burn-down.
pub const EXPLAINED: &str = "Amount: sum of active allocations after each movement. Held of it: amounts held for jobs, \
    sampled. Spent evenly: a straight line to the end of the last active allocation.";
/// The explanation of a forecast.
pub const COMING: &str = "Forecast: the rate of the last 30 days, less amounts that end unused, until the \
    account is empty, for at most 400 days. The area around it: the slowest and the fastest seven days of those \
    30.";

/// What movements come to, as they are read.
#[derive(Debug)]
pub struct Track {
    left: Option<Number>,
    zone: Zone,
    from: i64,
    to: i64,
    amount: Vec<(i64, Number)>,
    deposits: Vec<(i64, Number)>,
    charged: Charged,
    /// Of the days from which a forecast is made.
    recent: Charged,
    by_project: bool,
}

/// Charges by span and by whom.
#[derive(Debug, Default)]
struct Charged {
    spans: Vec<Span>,
    sums: BTreeMap<(usize, String), Number>,
}

impl Charged {
    fn take(&mut self, at: i64, who: &str, amount: Number) {
        let Some(place) = span_of(&self.spans, at) else {
            return;
        };
        let key = (place, who.to_owned());
        let sum = self.sums.entry(key).or_insert(Number::ZERO);
        *sum = sum.minus(amount);
    }

    fn timed(&self, what: &str, unit: &str) -> Result<Timed, TooLarge> {
        let sums = self.sums.iter();
        let sums = sums.map(|((place, who), sum)| (*place, who.clone(), *sum));
        Timed::gathered(what, unit, self.spans.clone(), sums)
    }
}

impl Track {
    /// Of a statement, before its first line.
    pub fn new(statement: &Statement, zone: Zone, now_us: i64) -> Self {
        let to = parse_rfc3339(&statement.until).unwrap_or(now_us);
        let mut track = Self {
            left: statement.opening.as_deref().map(Number::or_zero),
            zone,
            to,
            from: to,
            amount: Vec::new(),
            deposits: Vec::new(),
            charged: Charged::default(),
            recent: Charged::default(),
            by_project: !matches!(statement.of.as_str(), "project" | "account"),
        };
        if let Some(from) = statement.from.as_deref().and_then(parse_rfc3339) {
            track.begin(from);
        }
        track
    }

    fn begin(&mut self, from: i64) {
        self.from = from.min(self.to);
        let period = |from| Span { from, to: self.to };
        self.charged.spans = spans(period(self.from), self.zone);
        let recent = self.from.max(self.to.saturating_sub(BACK));
        self.recent.spans = spans(period(recent), self.zone);
        self.amount.extend(self.left.map(|left| (self.from, left)));
    }

    /// Takes a line.
    pub fn take(&mut self, line: &StatementLine) {
        // A correction of a closed period keeps a date of its own: it moves money here all the same.
        let at = parse_rfc3339(&line.at).unwrap_or(self.from);
        if self.charged.spans.is_empty() {
            self.begin(at);
        }
        let latest = self.amount.last().map_or(self.from, |(us, _)| *us);
        let amount = Number::or_zero(&line.amount);
        if let Some(left) = self.left {
            let left = left.plus(amount);
            self.left = Some(left);
            self.amount
                .push((at.clamp(latest, self.to.max(latest)), left));
            if self.amount.len() > KEPT {
                self.amount = thinned(&self.amount);
            }
        }
        if line.kind == "deposit" && !amount.is_below_zero() {
            self.deposits.push((at.max(self.from), amount));
            if self.deposits.len() > KEPT {
                self.deposits.sort_by(|(_, a), (_, b)| b.compare(*a));
                self.deposits.truncate(KEPT / 2);
            }
        }
        self.charge(line, at, amount);
    }

    /// What a line charged or gave back, by its span and by whom.
    fn charge(&mut self, line: &StatementLine, at: i64, amount: Number) {
        if !(line.kind.contains("charge") || line.kind.contains("refund")) {
            return;
        }
        let at = at.clamp(self.from, (self.to - 1).max(self.from));
        let who = if self.by_project {
            &line.project
        } else {
            &line.user
        };
        let who = who.as_deref().unwrap_or(NOBODY);
        self.charged.take(at, who, amount);
        self.recent.take(at, who, amount);
    }

    /// What was charged in each span, less what was given back.
    pub fn charged(&self, unit: &str) -> Result<Timed, TooLarge> {
        let what = if self.by_project { "project" } else { "user" };
        self.charged.timed(what, unit)
    }

    /// The burn-down of what was read; none of what has no balance.
    fn burn(&self, statement: &Statement) -> Option<Burn> {
        self.left?;
        Some(Burn {
            unit: statement.unit.clone(),
            from: self.from,
            to: self.to,
            amount: self.amount.clone(),
            deposits: self.deposits.clone(),
            now: self.to,
            ..Burn::default()
        })
    }

    /// Makes the line of the samples of the statement and its end, for a caller who leaves the lines out.
    pub fn follow(&mut self, statement: &Statement) {
        let samples = sampled(statement).into_iter();
        let samples = samples.map(|(at, amount, _)| (at, amount));
        let closing = statement.closing.as_deref().map(Number::or_zero);
        self.amount = samples.chain(closing.map(|left| (self.to, left))).collect();
        self.left = closing;
    }
}

/// The amounts of a statement at instants, and what of them was held.
pub fn sampled(statement: &Statement) -> Vec<(i64, Number, Number)> {
    let samples = statement.samples.iter();
    let read = samples.filter_map(|sample| {
        let at = parse_rfc3339(&sample.at)?;
        Some((
            at,
            Number::or_zero(&sample.amount),
            Number::or_zero(&sample.held),
        ))
    });
    read.collect()
}

/// What a caller asked for beside the movements.
#[derive(Debug, Default)]
pub struct Beside {
    /// At an instant the amount, and what of it was held.
    pub held: Vec<(i64, Number, Number)>,
    /// The end of the last active allocation.
    pub end: Option<i64>,
}

/// The burn-down of the period of a statement; none of a user or a machine.
pub fn past(statement: &Statement, track: &Track, beside: Beside) -> Option<Burn> {
    let mut burn = track.burn(statement)?;
    // A closed period never changes; what was held, and ends of allocations, may become known later.
    if statement.closed {
        return Some(burn);
    }
    burn.held = to_the_end(beside.held, statement, burn.to);
    burn.ideal = ideal(&burn, beside.end).map(|line| cut(line, burn.to));
    Some(burn)
}

/// The burn-down up to the present, and what is to come by the forecasts of its accounts.
pub fn ahead(
    statement: &Statement,
    track: &Track,
    beside: Beside,
    rows: &[ForecastRow],
) -> Result<Burn, TooLarge> {
    let mut burn = track.burn(statement).unwrap_or_default();
    let until = burn.to;
    burn.held = to_the_end(beside.held, statement, until);
    burn.forecast = coming(rows, statement, &burn);
    let speeds = track.recent.timed("", &statement.unit)?.speeds();
    // An account that is empty now has no forecast, only its end.
    let speeds = speeds.filter(|_| burn.forecast.len() > 1);
    if let Some((speeds, a_day)) = speeds.zip(a_day(rows)) {
        let latest = until.saturating_add(AHEAD);
        let end = beside.end.map_or(latest, |end| end.min(latest));
        burn.spread = spread(&burn.forecast, a_day, speeds, end);
    }
    let ahead = burn.forecast.last().map_or(burn.to, |(us, _)| *us);
    let ahead = burn.spread.last().map_or(ahead, |(us, ..)| ahead.max(*us));
    let ideal = ideal(&burn, beside.end);
    let ideal_end = ideal.map_or(burn.to, |[_, (us, _)]| us);
    burn.to = ahead
        .max(ideal_end)
        .min(until.saturating_add(AHEAD))
        .max(until);
    burn.ideal = ideal.map(|line| cut(line, burn.to));
    burn.forecast = shortened(&burn.forecast, burn.to);
    burn.spread.retain(|(us, ..)| *us <= burn.to);
    Ok(burn)
}

/// The samples with what is held at the end. Where nothing was ever held, there is nothing to show.
fn to_the_end(
    mut held: Vec<(i64, Number, Number)>,
    statement: &Statement,
    to: i64,
) -> Vec<(i64, Number, Number)> {
    if held.is_empty() {
        return held;
    }
    if let (Some(amount), Some(own)) = (&statement.closing, &statement.held) {
        held.push((to, Number::or_zero(amount), Number::or_zero(own)));
    }
    if held.iter().all(|(_, _, held)| held.is_zero()) {
        held.clear();
    }
    held
}

/// The end of the last allocation that was active at the end of a period, as allocations are read.
#[derive(Debug, Default)]
pub struct Ends {
    last: Option<i64>,
    /// One has no end.
    is_open: bool,
}

impl Ends {
    /// Takes an allocation.
    pub fn take(&mut self, allocation: &Allocation, until: i64) {
        let time = |text: &Option<String>| text.as_deref().and_then(parse_rfc3339);
        let begins = time(&allocation.start).is_none_or(|start| start < until);
        match time(&allocation.until) {
            None => self.is_open |= begins && allocation.state == "active",
            Some(end) if begins && end > until => self.last = self.last.max(Some(end)),
            Some(_) => {}
        }
    }

    /// The last end; none where one has no end.
    pub fn last(&self) -> Option<i64> {
        self.last.filter(|_| !self.is_open)
    }
}

/// From the start, or the last deposit, evenly to nothing.
fn ideal(burn: &Burn, end: Option<i64>) -> Option<[(i64, Number); 2]> {
    let end = end?;
    let after = burn.deposits.iter().map(|(us, _)| *us).max();
    let start = after.unwrap_or(burn.from);
    let mut known = burn.amount.iter().filter(|(us, _)| *us <= start);
    let (_, amount) = known.next_back()?;
    (end > start && !amount.is_below_zero()).then_some([(start, *amount), (end, Number::ZERO)])
}

/// The charges of a day on average, of all accounts together.
fn a_day(rows: &[ForecastRow]) -> Option<Number> {
    let known = rows.iter().filter_map(|row| row.burn_per_day.as_deref());
    known.map(Number::or_zero).reduce(Number::plus)
}

/// What will be: spent as of late, less what ends unused, until nothing is left. Of several accounts it ends with
/// the last one, and never falls below nothing before.
fn coming(rows: &[ForecastRow], statement: &Statement, burn: &Burn) -> Vec<(i64, Number)> {
    let Some((_, amount)) = burn.amount.last().copied() else {
        return Vec::new();
    };
    // Nothing is available: the amount is below zero by the credit.
    let credit = statement.credit_limit.as_deref();
    let floor = Number::ZERO.minus(credit.map_or(Number::ZERO, Number::or_zero));
    if !amount.compare(floor).is_gt() {
        return vec![(burn.now, amount)];
    }
    let time = |text: &Option<String>| text.as_deref().and_then(parse_rfc3339);
    let a_day = a_day(rows).unwrap_or(Number::ZERO);
    let spent = |until: i64| amount.minus(a_day.part(until.saturating_sub(burn.now), DAY));
    let unused = rows.iter().filter_map(|row| {
        let amount = row.unused.as_deref().map(Number::or_zero)?;
        Some((time(&row.unused_at)?, amount))
    });
    let mut unused: Vec<(i64, Number)> = unused.collect();
    unused.sort_by_key(|(at, _)| *at);
    let mut points = vec![(burn.now, amount)];
    let mut gone = Number::ZERO;
    for (at, unused) in unused {
        let before = spent(at).minus(gone);
        gone = gone.plus(unused);
        points.push((at, before));
        points.push((at, before.minus(unused)));
    }
    let empty: Option<Vec<i64>> = rows.iter().map(|row| time(&row.empty_at)).collect();
    if let Some(at) = empty.and_then(|all| all.into_iter().max()) {
        if at > burn.now {
            points.push((at, floor));
        }
    } else if points.len() == 1 {
        let at = burn.now.saturating_add(BACK);
        points.push((at, spent(at)));
    }
    if rows.len() > 1 {
        for (_, amount) in points.iter_mut().skip(1) {
            if amount.compare(floor).is_lt() {
                *amount = floor;
            }
        }
    }
    points.sort_by_key(|(us, _)| *us);
    points
}

/// A straight line up to an instant.
fn cut(line: [(i64, Number); 2], to: i64) -> [(i64, Number); 2] {
    let [first, last] = line;
    if last.0 <= to || last.0 <= first.0 {
        return line;
    }
    let change = last.1.minus(first.1);
    let part = change.part(to.saturating_sub(first.0), last.0 - first.0);
    [first, (to, first.1.plus(part))]
}

/// Straight pieces up to an instant.
fn shortened(line: &[(i64, Number)], to: i64) -> Vec<(i64, Number)> {
    let mut kept: Vec<(i64, Number)> = Vec::new();
    for point in line {
        if point.0 <= to {
            kept.push(*point);
            continue;
        }
        if let Some(last) = kept.last().copied() {
            kept.push(cut([last, *point], to)[1]);
        }
        break;
    }
    kept
}

#[cfg(test)]
mod tests;
