//! Forecasts: time until funds run out, expiring funds, and accounts below zero.

use std::fmt::Display;
use std::str::FromStr;

use bank_api::v1::{ExpiringRow, ForecastQuery, ForecastRow, List, NegativeRow};
use bank_core::ids::{AccountId, UNBILLED};
use bank_core::model::{Account, Allocation};
use bank_core::refusal::Refusal;
use bank_core::time::{Seconds, Timestamp};
use bank_core_figures::forecast::{DAY_US, Forecast, forecast};

use bankd_store::read::burn::{self, Burn};
use bankd_store::read::money::{self, Figures};
use serde::Serialize;

use super::call::{Call, Handled, ok};
use super::json;
use super::pages::Turn;
use super::view::Lookup as _;
use crate::error::Failure;

/// Days of `expiring`: default and maximum.
const DAYS: u32 = 30;
const DAYS_MAX: u32 = 3660;

/// An account with its forecast.
pub(super) struct Outlook {
    pub(super) id: AccountId,
    allocations: Vec<Allocation>,
    pub(super) figures: Figures,
    pub(super) future: Forecast,
}

/// `GET /api/v1/report/forecast`: the first to be empty first, then by name.
pub(super) async fn lasting(call: Call) -> Handled {
    let query: ForecastQuery = call.query()?;
    let days = query.days.map(|days| checked(&call, days)).transpose()?;
    let (mut all, burn) = outlooks(&call, &query).await?;
    let now = call.now();
    all.retain(|outlook| !outlook.allocations.is_empty());
    if let Some(days) = days {
        let until = in_days(now, days);
        all.retain(|outlook| outlook.future.empty_at.is_some_and(|at| at <= until));
    }
    all.sort_by_key(|o| (o.future.empty_at.is_none(), o.future.empty_at));
    let rows = all
        .iter()
        .filter_map(|outlook| lasts(&call, outlook, &burn, now));
    page(&call, query, rows.collect(), |row| row.account.clone())
}

/// `GET /api/v1/report/expiring`: the first to end first.
pub(super) async fn expiring(call: Call) -> Handled {
    let query: ForecastQuery = call.query()?;
    let days = checked(&call, query.days.unwrap_or(DAYS))?;
    let (all, _) = outlooks(&call, &query).await?;
    let now = call.now();
    let until = in_days(now, days);
    let ends = all.iter().flat_map(|outlook| {
        let ends = outlook.future.ends.iter().filter(|end| end.end <= until);
        ends.map(move |end| (outlook, end))
    });
    let mut ends: Vec<_> = ends.collect();
    ends.sort_by_key(|(_, end)| (end.end, end.allocation));
    let bank = &call.directory().bank;
    let rows = ends.iter().filter_map(|(outlook, end)| {
        let account = call.directory().account(outlook.id)?;
        Some(ExpiringRow {
            allocation: end.allocation.0,
            account: account.name.clone(),
            project: account.only_project().map(str::to_owned),
            until: json::time(end.end),
            days_left: days_up(end.end, now),
            amount: json::sum(end.left, bank),
            unused: json::sum(end.unused, bank),
            unit: bank.unit.clone(),
        })
    });
    page(&call, query, rows.collect(), |row| row.allocation)
}

/// `GET /api/v1/report/negative`: the lowest first.
pub(super) async fn negative(call: Call) -> Handled {
    let query: ForecastQuery = call.query()?;
    no_days(&call, &query)?;
    let (mut all, _) = outlooks(&call, &query).await?;
    all.retain(|outlook| outlook.figures.amount < 0);
    all.sort_by_key(|outlook| outlook.figures.amount);
    let bank = &call.directory().bank;
    let rows = all.iter().filter_map(|outlook| {
        let account = call.directory().account(outlook.id)?;
        let figures = &outlook.figures;
        Some(NegativeRow {
            account: account.name.clone(),
            project: account.only_project().map(str::to_owned),
            amount: json::sum(figures.amount, bank),
            held: json::sum(figures.held, bank),
            credit_limit: json::sum(figures.credit_limit, bank),
            available: json::sum(figures.available(), bank),
            blocked: account.blocked,
            unit: bank.unit.clone(),
        })
    });
    page(&call, query, rows.collect(), |row| row.account.clone())
}

fn checked(call: &Call, days: u32) -> Result<u32, Failure> {
    if (1..=DAYS_MAX).contains(&days) {
        return Ok(days);
    }
    Err(call.refused(&Refusal::bad_value("days", "1 to 3660")))
}

fn in_days(now: Timestamp, days: u32) -> Timestamp {
    now.plus(Seconds(i64::from(days).saturating_mul(86_400)))
}

/// The page that was asked for.
fn page<T, K>(call: &Call, query: ForecastQuery, rows: Vec<T>, key: fn(&T) -> K) -> Handled
where
    T: Serialize,
    K: PartialEq + FromStr + Display,
{
    let turn = Turn::of(call, query.limit, query.after)?;
    let page = turn.behind(rows, key);
    let (items, next) = page.map_err(|refusal| call.refused(&refusal))?;
    ok(&List { items, next })
}

/// Visible accounts by name, with their forecasts.
pub(super) async fn outlooks(
    call: &Call,
    query: &ForecastQuery,
) -> Result<(Vec<Outlook>, Burn), Failure> {
    let directory = call.directory();
    let top = query.project.as_deref();
    let top = top.map(|name| call.view.project(name)).transpose()?;
    let below = |account: &Account| {
        let Some(top) = top else { return true };
        let own = account
            .only_project()
            .and_then(|name| directory.project_named(name));
        own.is_some_and(|own| directory.lineage(own.id).iter().any(|p| p.id == top.id))
    };
    let accounts = directory.accounts();
    let accounts = accounts.filter(|a| a.name != UNBILLED && call.view.sees_account(a) && below(a));
    let mut accounts: Vec<(String, AccountId)> = accounts.map(|a| (a.name.clone(), a.id)).collect();
    accounts.sort();
    let now = call.now();
    call.ask(move |connection| {
        let ids = accounts.iter().map(|(_, id)| *id).collect();
        let burn = burn::burn(connection, Some(&ids), now)?;
        let mut all = Vec::with_capacity(accounts.len());
        for (_, id) in accounts {
            let allocations = money::allocations_of(connection, id)?;
            let figures = Figures::of(&allocations, now);
            let future = forecast(&allocations, burn.speed(id), figures.credit_limit, now);
            all.push(Outlook {
                id,
                allocations,
                figures,
                future,
            });
        }
        Ok((all, burn))
    })
    .await
}

fn lasts(call: &Call, outlook: &Outlook, burn: &Burn, now: Timestamp) -> Option<ForecastRow> {
    let bank = &call.directory().bank;
    let account = call.directory().account(outlook.id)?;
    let future = &outlook.future;
    let speed = burn.speed(outlook.id);
    let is_spent = speed.is_known() && speed.charged > 0;
    let first = future.first_unused();
    let unused: i128 = future.ends.iter().map(|end| end.unused).sum();
    Some(ForecastRow {
        account: account.name.clone(),
        project: account.only_project().map(str::to_owned),
        available: json::sum(outlook.figures.available(), bank),
        burn_per_day: is_spent.then(|| json::sum(speed.in_time(DAY_US), bank)),
        empty_at: future.empty_at.map(json::time),
        again_at: future.again_at.map(json::time),
        days_left: future.empty_at.map(|at| days_down(at, now)),
        spent: future.is_spent,
        days_to_spend: days_to_spend(future, outlook.figures.available(), now),
        unused_at: first.map(|end| json::time(end.end)),
        unused: first.map(|end| json::sum(end.unused, bank)),
        unused_total: json::sum(unused, bank),
        unit: bank.unit.clone(),
    })
}

/// Whole days in which the money of an account can be spent: until it is used up, or until the first end at which some
/// of it is left over. Nothing if there is nothing to spend, or no end in sight.
pub(super) fn days_to_spend(future: &Forecast, available: i128, now: Timestamp) -> Option<i64> {
    if available <= 0 && !future.is_spent {
        return None;
    }
    let spent = future.empty_at.filter(|_| future.is_spent);
    let unused = future.first_unused().map(|end| end.end);
    let first = spent.into_iter().chain(unused).min()?;
    Some(days_down(first, now))
}

/// `days` belongs to one of the reports.
fn no_days(call: &Call, query: &ForecastQuery) -> Result<(), Failure> {
    match query.days {
        None => Ok(()),
        Some(_) => Err(call.refused(&Refusal::BadValue {
            field: "days",
            expected: "nothing here; it is of the reports expiring and forecast",
        })),
    }
}

/// Whole days to an instant.
pub(super) fn days_down(at: Timestamp, now: Timestamp) -> i64 {
    at.0.saturating_sub(now.0).max(0).div_euclid(DAY_US)
}

/// Days to an instant, begun ones whole.
fn days_up(at: Timestamp, now: Timestamp) -> i64 {
    let left = at.0.saturating_sub(now.0).max(0);
    left.saturating_add(DAY_US - 1).div_euclid(DAY_US)
}
