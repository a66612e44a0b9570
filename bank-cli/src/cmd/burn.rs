//! Burn-downs: what the daemon knows of money over a time, gathered for a chart.
//!
//! What there was follows from a statement's opening and its movements; what of it was held is asked
//! for at some instants of the past; what is to come is the daemon's own forecast.

use std::collections::BTreeMap;

use bank_api::v1::{
    Allocation, AllocationQuery, Balance, BalanceQuery, ForecastRow, List, Statement,
    StatementLine, StatementQuery,
};
use bank_picture::{self as picture, Burn, Number, Span, Timed};

use super::movements;
use crate::{context::Context, fail::Failure, when};

/// One day, µs.
const DAY: i64 = 86_400_000_000;
/// How far back a forecast looks: what it is made of.
const BACK: i64 = 30 * DAY;
/// No picture looks further ahead.
const AHEAD: i64 = 400 * DAY;
/// Questions for what was held, for one chart.
const SAMPLES: usize = 16;
/// Movements are thinned when there are so many: memory has an end, and a picture its pixels.
const KEPT: usize = 4 * picture::POINTS_MAX;

/// What is said below a burn-down.
pub(super) const EXPLAINED: &str = "Amount: sum of active allocations after each movement. Held of it: open liens, \
    sampled. Spent evenly: a straight line to the end of the last active allocation.";
/// What is said below one that goes on into the future.
pub(super) const COMING: &str = "Forecast: the rate of the last 30 days, less amounts that end unused, until the \
    account is empty, for at most 400 days. The area around it: the slowest and the fastest seven days of those \
    30.";

/// What movements come to, as they are read.
#[derive(Debug, Default)]
pub(super) struct Track {
    left: Option<Number>,
    from: i64,
    to: i64,
    amount: Vec<(i64, Number)>,
    deposits: Vec<(i64, Number)>,
    spans: Vec<Span>,
    /// By span and by whom.
    charges: BTreeMap<(usize, String), Number>,
    by_project: bool,
}

impl Track {
    /// Of a statement, before its first line.
    pub(super) fn new(statement: &Statement, context: &Context) -> Self {
        let to = when::read(&statement.until).unwrap_or(context.now_us);
        let mut track = Self {
            left: statement.opening.as_deref().map(Number::or_zero),
            to,
            from: to,
            by_project: !matches!(statement.of.as_str(), "project" | "account"),
            ..Self::default()
        };
        if let Some(from) = statement.from.as_deref().and_then(when::read) {
            track.begin(from, context);
        }
        track
    }

    fn begin(&mut self, from: i64, context: &Context) {
        self.from = from.min(self.to);
        let period = Span {
            from: self.from,
            to: self.to,
        };
        self.spans = picture::spans(period, context.zone);
        self.amount.extend(self.left.map(|left| (self.from, left)));
    }

    /// Takes a line.
    pub(super) fn take(&mut self, line: &StatementLine, context: &Context) {
        // A correction of a closed period keeps a date of its own: it moves money here all the same.
        let at = when::read(&line.at).unwrap_or(self.from);
        if self.spans.is_empty() {
            self.begin(at, context);
        }
        let latest = self.amount.last().map_or(self.from, |(us, _)| *us);
        let amount = Number::or_zero(&line.amount);
        if let Some(left) = self.left {
            let left = left.plus(amount);
            self.left = Some(left);
            self.amount
                .push((at.clamp(latest, self.to.max(latest)), left));
            if self.amount.len() > KEPT {
                self.amount = picture::thinned(&self.amount);
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
        let is_use = line.kind.contains("charge") || line.kind.contains("refund");
        let at = at.clamp(self.from, (self.to - 1).max(self.from));
        let Some(place) = picture::span_of(&self.spans, at).filter(|_| is_use) else {
            return;
        };
        let who = if self.by_project {
            &line.project
        } else {
            &line.user
        };
        let who = who.clone().unwrap_or_else(|| "-".to_owned());
        let sum = self.charges.entry((place, who)).or_insert(Number::ZERO);
        *sum = sum.minus(amount);
    }

    /// What was charged in each span, less what was given back.
    pub(super) fn charged(&self, unit: &str) -> Result<Timed, Failure> {
        let what = if self.by_project { "project" } else { "user" };
        let sums = self.charges.iter();
        let sums = sums.map(|((place, who), sum)| (*place, who.clone(), *sum));
        Ok(Timed::gathered(what, unit, self.spans.clone(), sums)?)
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
}

/// The burn-down of a statement's own period; none of a user or a machine.
pub(super) fn of_statement(
    context: &Context,
    query: &StatementQuery,
    statement: &Statement,
    track: &Track,
) -> Result<Option<Burn>, Failure> {
    let Some(mut burn) = track.burn(statement) else {
        return Ok(None);
    };
    // What is said of a closed period must never change; of what was held, and of the ends of
    // allocations, other things may become known.
    if statement.closed {
        return Ok(Some(burn));
    }
    // What was known at an instant of the past was not asked for then.
    if query.at.is_none() {
        burn.held = held(context, statement, &burn);
    }
    let end = last_end(context, statement, query)?;
    burn.ideal = ideal(&burn, end).map(|line| cut(line, burn.to));
    Ok(Some(burn))
}

/// The burn-down of an account: the last days, and what is to come.
pub(super) fn of_account(context: &Context, row: &ForecastRow) -> Result<Burn, Failure> {
    let requested = BalanceQuery {
        account: Some(row.account.clone()),
        ..BalanceQuery::default()
    };
    // The ledger's clock says when now is.
    let balances: List<Balance> = context.get(&["balances"], &requested)?;
    let now = balances.items.first().and_then(|row| when::read(&row.at));
    let until = now.unwrap_or(context.now_us);
    let from = until.saturating_sub(BACK);
    let query = StatementQuery {
        account: Some(row.account.clone()),
        from: Some(bank_api::text::format_rfc3339(from)),
        until: Some(bank_api::text::format_rfc3339(until)),
        ..StatementQuery::default()
    };
    let statement: Statement = context.get(&["statements"], &query)?;
    let mut track = Track::new(&statement, context);
    movements::pages(context, &query, &statement, |lines| {
        for line in &lines {
            track.take(line, context);
        }
        Ok(true)
    })?;
    let mut burn = track.burn(&statement).unwrap_or_default();
    burn.held = held(context, &statement, &burn);
    let end = last_end(context, &statement, &query)?;
    burn.forecast = coming(row, &statement, &burn);
    let speeds = track.charged(&statement.unit)?.speeds();
    if let Some((speeds, a_day)) = speeds.zip(row.burn_per_day.as_deref()) {
        burn.spread = picture::spread(&burn.forecast, Number::or_zero(a_day), speeds);
    }
    let ahead = burn.forecast.last().map_or(burn.to, |(us, _)| *us);
    let ideal = ideal(&burn, end);
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

/// What was held at some instants; nothing where an answer is missing.
fn held(context: &Context, statement: &Statement, burn: &Burn) -> Vec<(i64, Number, Number)> {
    let accounts = &statement.accounts;
    let samples = SAMPLES.checked_div(accounts.len()).unwrap_or(0);
    let (true, Ok(count)) = (samples >= 2, i64::try_from(samples)) else {
        return Vec::new();
    };
    let length = burn.to.saturating_sub(burn.from);
    let mut found = Vec::new();
    for n in 0..count {
        // The last sample is the end itself, which the statement knows.
        let at = burn.from.saturating_add(length / count * n);
        let mut sums = (Number::ZERO, Number::ZERO);
        for account in accounts {
            let query = BalanceQuery {
                account: Some(account.clone()),
                at: Some(bank_api::text::format_rfc3339(at)),
                ..BalanceQuery::default()
            };
            let answer: Result<List<Balance>, Failure> = context.get(&["balances"], &query);
            // An account may be younger than the period: then nothing was held.
            for balance in answer.map(|list| list.items).unwrap_or_default() {
                sums.0 = sums.0.plus(Number::or_zero(&balance.amount));
                sums.1 = sums.1.plus(Number::or_zero(&balance.held));
            }
        }
        found.push((at, sums.0, sums.1));
    }
    if let (Some(amount), Some(held)) = (&statement.closing, &statement.held) {
        found.push((burn.to, Number::or_zero(amount), Number::or_zero(held)));
    }
    // Where nothing ever was, there is nothing to show.
    if found.iter().all(|(_, _, held)| held.is_zero()) {
        found.clear();
    }
    found
}

/// The end of the last allocation that was active at the end of the period; none where one has no end.
fn last_end(
    context: &Context,
    statement: &Statement,
    query: &StatementQuery,
) -> Result<Option<i64>, Failure> {
    let mut last = None;
    for account in statement.accounts.iter().take(SAMPLES) {
        let requested = AllocationQuery {
            account: Some(account.clone()),
            at: query.at.clone(),
            recorded: query.recorded,
            ..AllocationQuery::default()
        };
        let allocations: List<Allocation> = context.all(&["allocations"], &requested)?;
        let until = when::read(&statement.until).unwrap_or(i64::MAX);
        for allocation in allocations.items {
            let time = |text: &Option<String>| text.as_deref().and_then(when::read);
            let begins = time(&allocation.start).is_none_or(|start| start < until);
            let Some(end) = time(&allocation.until) else {
                if begins && allocation.state == "active" {
                    return Ok(None);
                }
                continue;
            };
            if begins && end > until {
                last = last.max(Some(end));
            }
        }
    }
    Ok(last)
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

/// What will be: spent as of late, less what ends unused, until nothing is left.
fn coming(row: &ForecastRow, statement: &Statement, burn: &Burn) -> Vec<(i64, Number)> {
    let Some((_, amount)) = burn.amount.last().copied() else {
        return Vec::new();
    };
    let time = |text: &Option<String>| text.as_deref().and_then(when::read);
    let a_day = row
        .burn_per_day
        .as_deref()
        .map_or(Number::ZERO, Number::or_zero);
    let spent = |until: i64| amount.minus(a_day.part(until.saturating_sub(burn.now), DAY));
    let mut points = vec![(burn.now, amount)];
    if let (Some(at), Some(unused)) = (time(&row.unused_at), &row.unused) {
        let before = spent(at);
        points.push((at, before));
        points.push((at, before.minus(Number::or_zero(unused))));
    }
    // Nothing is available: the amount is below zero by the credit.
    let credit = statement
        .credit_limit
        .as_deref()
        .map_or(Number::ZERO, Number::or_zero);
    let floor = Number::ZERO.minus(credit);
    if let Some(at) = time(&row.empty_at) {
        if at > burn.now {
            points.push((at, floor));
        }
    } else if points.len() == 1 {
        let at = burn.now.saturating_add(BACK);
        points.push((at, spent(at)));
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
