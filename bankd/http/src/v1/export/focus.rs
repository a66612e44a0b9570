//! Costs as FOCUS has them, along the journal (`usage-records.md` 5.4). Its cursor is a transaction.

use std::sync::Arc;

use bank_api::v1::ExportQuery;
use bank_core::ids::AccountId;
use bank_core::refusal::Refusal;
use bankd_emit::focus::{self, Money};
use bankd_records::costs::{project, row};
use bankd_store::numbers;
use bankd_store::read::costs::{self, Cost, What};

use super::mark::{self, Mark};
use super::{Call, DEFAULT_LIMIT, Handled, Making, Wanted, go_on, ok, pages, unset};
use crate::error::Failure;

/// Between the head and the transaction of a cursor.
const KIND: &str = "tx";

/// `focus`
pub(super) async fn page(call: &Call, wanted: Wanted, query: &ExportQuery) -> Handled {
    let money = money(call)?;
    let refused = |refusal: Refusal| call.refused(&refusal);
    let limit = pages::limit(query.limit, DEFAULT_LIMIT).map_err(refused)?;
    let since = query
        .since
        .as_deref()
        .map(|text| read_cursor(text, &money.bank));
    let (mark, since) = since.transpose().map_err(refused)?.unwrap_or_default();
    let directory = Arc::clone(call.directory());
    let read = call.ask(move |connection| {
        let is_ahead = since > numbers::last_transaction(connection)?;
        go_on(connection, is_ahead, &mark, |connection| {
            let page = costs::page(connection, since, limit)?;
            let top = |cost| costs::top(connection, cost, project(&directory, cost));
            let tops: Result<Vec<String>, _> = page.rows.iter().map(top).collect();
            Ok((page, tops?))
        })
    });
    let ((page, tops), mark) = read.await?.map_err(refused)?;
    let is_safe = query.spreadsheet_safe.is_some_and(bool::from);
    let mut making = Making::default();
    for (cost, top) in page.rows.iter().zip(tops) {
        if !is_seen(call, &wanted, cost) {
            continue;
        }
        let row = row(call.directory(), &page.closes, (cost, top));
        let row = row.filter(|row| wanted.is_at(row.end));
        let Some(row) = row else { continue };
        let Some(line) = focus::line(&row, &money, is_safe) else {
            let record = format!("transaction {}", cost.tx);
            making.leave_out(record, "a figure is out of range");
            continue;
        };
        making.text.push_str(&line);
        making.records = making.records.saturating_add(1);
    }
    let next = format!("{}{KIND}-{}", mark::head(&money.bank, &mark), page.last);
    ok(&making.done(focus::head(), "", Some(next), page.more))
}

/// Off unless a currency and a price are set: a bank's credits are no money of any country.
fn money(call: &Call) -> Result<Money, Failure> {
    let (settings, bank) = (&call.services.export, &call.directory().bank);
    if settings.billing_currency.is_empty() {
        return Err(unset("export.billing_currency"));
    }
    let price = settings
        .price()
        .ok_or_else(|| unset("export.credit_price"))?;
    let short: String = bank.uuid.chars().filter(|c| *c != '-').take(8).collect();
    let issuer = match settings.site.as_str() {
        "" => format!("bank {short}"),
        site => site.to_owned(),
    };
    Ok(Money {
        currency: settings.billing_currency.clone(),
        price,
        unit: match bank.unit.as_str() {
            "" => "Credits".to_owned(),
            unit => unit.to_owned(),
        },
        precision: u32::from(bank.precision.places()),
        issuer,
        bank: short,
        names: settings.focus_names,
    })
}

/// Usage is visible as jobs are. Deposits are visible to callers who see the account.
fn is_seen(call: &Call, wanted: &Wanted, cost: &Cost) -> bool {
    if cost.what != What::Deposit {
        return wanted.work.holds(&cost.project, &cost.user, &cost.machine);
    }
    let account = cost
        .account
        .and_then(|id| call.directory().account(AccountId(id)));
    let Some(account) = account else {
        return false;
    };
    let project = wanted.work.project();
    call.view.sees_account(account)
        && wanted.work.is_of_anybody()
        && project.is_none_or(|name| account.only_project() == Some(name))
}

fn read_cursor(text: &str, bank: &str) -> Result<(Mark, i64), Refusal> {
    let read = || {
        let (mark, rest) = mark::behind_head(text, bank)?;
        let number = rest.strip_prefix(KIND)?.strip_prefix('-')?;
        let number = number.parse::<i64>().ok().filter(|number| *number >= 0)?;
        Some((mark, number))
    };
    read().ok_or(Refusal::bad_value(
        "since",
        "the `next` of this export of this bank",
    ))
}
