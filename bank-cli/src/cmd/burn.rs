//! Burn-downs: what the daemon knows of money over a time, asked for, and gathered for a chart.

use bank_api::v1::{
    Allocation, AllocationQuery, Balance, BalanceQuery, ForecastRow, List, Statement,
    StatementQuery,
};
use bank_picture::Burn;
use bank_picture::reports::money::{self, BACK, Beside, Ends, Track};

use super::movements;
use crate::{context::Context, fail::Failure, when};

/// Instants of one chart at which the amount and what of it was held are asked for.
pub(super) const SAMPLES: u32 = 60;

/// Accounts whose allocations are read.
const ACCOUNTS: usize = 16;

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
        beside.held = money::sampled(statement);
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
        samples: Some(SAMPLES),
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
        held: money::sampled(&statement),
        end: last_end(context, &statement, &query)?,
    };
    let rows = std::slice::from_ref(row);
    Ok(money::ahead(&statement, &track, beside, rows)?)
}

/// The end of the last allocation that was active at the end of the period; none where one has no end.
fn last_end(
    context: &Context,
    statement: &Statement,
    query: &StatementQuery,
) -> Result<Option<i64>, Failure> {
    let until = when::read(&statement.until).unwrap_or(i64::MAX);
    let mut ends = Ends::default();
    for account in statement.accounts.iter().take(ACCOUNTS) {
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
