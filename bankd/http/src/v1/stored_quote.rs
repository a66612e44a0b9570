//! Quotes that were given: listed, shown, ended.

use axum::response::IntoResponse;
use bank_api::v1::{GivenQuote, GivenQuoteQuery, List};
use bank_core::command::Command;
use bank_core::directory::Directory;
use bank_core::ids::QuoteId;
use bank_core::model::Quote;
use bank_core::refusal::Refusal;
use bank_core::time::Timestamp;
use bankd_store::read::quotes::{self, QuoteRow};

use super::call::{Call, Handled, ok, removed};
use super::path::Path;
use super::view::View;
use super::{json, pages};
use crate::error::Failure;

/// `GET /api/v1/quotes`: newest first.
pub(super) async fn list(call: Call) -> Handled {
    let query: GivenQuoteQuery = call.query()?;
    let (limit, below) = pages::numbered(&call, query.limit, query.after.as_deref())?;
    let (view, now) = (call.view.clone(), call.now());
    let keep = move |quote: &Quote| {
        sees(&view, quote) && (!query.valid || (quote.uses > 0 && quote.window.contains(now)))
    };
    let more = limit.saturating_add(1);
    let page = call.ask(move |connection| quotes::list(connection, below, more, keep));
    let page = page.await?.within(limit, |row| row.quote.id.0);
    let directory = call.directory();
    ok(&List {
        items: page
            .rows
            .iter()
            .map(|row| shaped(directory, row, now))
            .collect(),
        next: page.next.map(|id| id.to_string()),
    })
}

/// `GET /api/v1/quotes/{id}`
pub(super) async fn show(Path(id): Path<String>, call: Call) -> Handled {
    let number = number(&call, &id)?;
    let found = call
        .ask(move |connection| quotes::one(connection, number))
        .await?;
    let found = found.filter(|row| sees(&call.view, &row.quote));
    let row = found.ok_or_else(|| call.refused(&Refusal::not_found("quote", &id)))?;
    ok(&shaped(call.directory(), &row, call.now()))
}

/// `DELETE /api/v1/quotes/{id}`: jobs that are bound to it keep its price.
pub(super) async fn remove(Path(id): Path<String>, call: Call) -> Handled {
    let command = Command::RemoveQuote(number(&call, &id)?);
    Ok(call.write(command, removed).await?.into_response())
}

fn number(call: &Call, id: &str) -> Result<QuoteId, Failure> {
    let unknown = |_| call.refused(&Refusal::not_found("quote", id));
    id.parse().map(QuoteId).map_err(unknown)
}

/// A quote is visible if its work is.
fn sees(view: &View, quote: &Quote) -> bool {
    let directory = view.directory();
    let machine = quote.machine.and_then(|id| directory.machine(id));
    let machine = machine.map_or("", |m| &m.name);
    let project = directory.project(quote.project);
    let user = quote.user.and_then(|id| directory.user(id));
    let user = user.map_or("", |u| &u.name);
    project.is_some_and(|p| view.sees_work(&p.name, user, machine))
}

fn shaped(directory: &Directory, row: &QuoteRow, now: Timestamp) -> GivenQuote {
    let quote = &row.quote;
    let state = match (quote.uses, quote.window.is_over(now)) {
        (0, _) if quote.instance.is_none() => "ended",
        (0, _) => "used",
        (_, true) => "expired",
        (_, false) => "valid",
    };
    let project = directory.project(quote.project);
    let user = quote.user.and_then(|id| directory.user(id));
    let machine = quote.machine.and_then(|id| directory.machine(id));
    GivenQuote {
        id: quote.id.0,
        tid: quote.tid.clone(),
        state: state.to_owned(),
        project: project.map(|p| p.name.clone()).unwrap_or_default(),
        user: user.map(|u| u.name.clone()),
        machine: machine.map(|m| m.name.clone()),
        amount: json::amount(quote.amount, &directory.bank),
        duration_s: quote.duration.0,
        valid_from: quote.window.start.map(json::time),
        valid_until: quote.window.end.map(json::time),
        uses: quote.uses,
        job: row.job.clone(),
        unit: directory.bank.unit.clone(),
    }
}
