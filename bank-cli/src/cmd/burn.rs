//! Burn-downs: what the daemon knows of money over a time, asked for, and gathered for a chart.

use bank_api::v1::{
    Allocation, AllocationQuery, Balance, BalanceQuery, ForecastRow, List, Statement,
    StatementQuery,
};
use bank_picture::reports::money::{self, BACK, Beside, Ends, Track};
use bank_picture::{Burn, Number};

use super::movements;
use crate::{context::Context, fail::Failure, when};

/// Questions for what was held, for one chart.
const SAMPLES: usize = 16;

/// What movements come to, before the first one.
pub(super) fn track(context: &Context, statement: &Statement) -> Track {
    Track::new(statement, context.zone, context.now_us)
}

/// The burn-down of a statement's own period; none of a user or a machine.
pub(super) fn of_statement(
    context: &Context,
    query: &StatementQuery,
    statement: &Statement,
    track: &Track,
) -> Result<Option<Burn>, Failure> {
    let mut beside = Beside::default();
    if statement.opening.is_some() && !statement.closed {
        // What was known at an instant of the past was not asked for then.
        if query.at.is_none() {
            beside.held = held(context, statement, track);
        }
        beside.end = last_end(context, statement, query)?;
    }
    Ok(money::past(statement, track, beside))
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
    let mut track = track(context, &statement);
    movements::pages(context, &query, &statement, |lines| {
        for line in &lines {
            track.take(line);
        }
        Ok(true)
    })?;
    let beside = Beside {
        held: held(context, &statement, &track),
        end: last_end(context, &statement, &query)?,
    };
    let rows = std::slice::from_ref(row);
    Ok(money::ahead(&statement, &track, beside, rows)?)
}

/// What was held at some instants; nothing where an answer is missing.
fn held(context: &Context, statement: &Statement, track: &Track) -> Vec<(i64, Number, Number)> {
    let accounts = &statement.accounts;
    let samples = SAMPLES.checked_div(accounts.len()).unwrap_or(0);
    if samples < 2 {
        return Vec::new();
    }
    let sample = |at: i64| {
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
        (at, sums.0, sums.1)
    };
    track.samples(samples).into_iter().map(sample).collect()
}

/// The end of the last allocation that was active at the end of the period; none where one has no end.
fn last_end(
    context: &Context,
    statement: &Statement,
    query: &StatementQuery,
) -> Result<Option<i64>, Failure> {
    let until = when::read(&statement.until).unwrap_or(i64::MAX);
    let mut ends = Ends::default();
    for account in statement.accounts.iter().take(SAMPLES) {
        let requested = AllocationQuery {
            account: Some(account.clone()),
            at: query.at.clone(),
            recorded: query.recorded,
            ..AllocationQuery::default()
        };
        let allocations: List<Allocation> = context.all(&["allocations"], &requested)?;
        for allocation in &allocations.items {
            ends.take(allocation, until);
        }
    }
    Ok(ends.last())
}
