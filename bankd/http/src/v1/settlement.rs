//! Settlements with a partner bank, and what a message did there: for people of this bank, if they see all projects.

use bank_api::v1::{
    PartnerEntryQuery, PartnerExplained, PartnerLine, PartnerMessageQuery, Settlement,
    SettlementQuery,
};
use bank_core::kind::Record;
use bank_core::refusal::Refusal;
use bankd_partners::client::{Client, Fault};
use bankd_partners::settle::{self, Entries};
use bankd_store::partner as rows;
use bankd_store::read::journal;

use super::call::{Call, Handled, ok};
use super::json;
use super::partner::page;
use super::path::Path;
use super::share::whole_bank;
use crate::error::Failure;

/// `GET /api/v1/partners/{name}/settlement`
pub(super) async fn show(Path(name): Path<String>, call: Call) -> Handled {
    let SettlementQuery { month } = call.query()?;
    whole_bank(&call)?;
    let partner = partner(&call, &name)?;
    let ours = Entries {
        sent: own(&call, &name, &month, true).await?,
        received: own(&call, &name, &month, false).await?,
    };
    let lost = without_message(&call, &name, &month).await?;
    let asked = month.clone();
    let theirs = ask(&call, &partner, move |client| {
        Ok(Entries {
            sent: settle::theirs(client, &asked, true)?,
            received: settle::theirs(client, &asked, false)?,
        })
    });
    let (theirs, cause) = match theirs.await {
        Ok(theirs) => (Some(theirs), None),
        Err(fault) => {
            tracing::warn!(partner = %name, "the settlement is not compared: {fault}");
            (None, Some(fault.to_string()))
        }
    };
    let bank = &call.directory().bank;
    let mut settlement: Settlement =
        settle::settlement((&name, &month), &ours, theirs.as_ref(), bank);
    settlement.cause = cause;
    settle::add_without_message(&mut settlement, &lost, bank);
    ok(&settlement)
}

/// Charges of a month that should have made a message.
async fn without_message(
    call: &Call,
    name: &str,
    month: &str,
) -> Result<Vec<rows::PartnerRow>, Failure> {
    let Some(span) = settle::month(month) else {
        return Ok(Vec::new());
    };
    let partner = name.to_owned();
    let mut found = call
        .ask(move |connection| rows::without_message(connection, &partner, span))
        .await?;
    let directory = call.directory();
    found.retain(|row| {
        let named = format!("{}@{name}", row.project);
        directory.used_by_partner(&named).is_some()
    });
    Ok(found)
}

/// All entries of a month in one direction.
async fn own(
    call: &Call,
    name: &str,
    month: &str,
    sent: bool,
) -> Result<Vec<bank_api::v1::PartnerEntry>, Failure> {
    let mut query = PartnerEntryQuery {
        month: month.to_owned(),
        sent,
        after: 0,
    };
    let mut all = Vec::new();
    loop {
        let page = page(call, name.to_owned(), &query).await?;
        query.after = page.items.last().map_or(0, |entry| entry.number);
        all.extend(page.items);
        if page.next.is_none() {
            return Ok(all);
        }
    }
}

/// `GET /api/v1/partners/{name}/messages/{number}`: what a message is at the partner.
pub(super) async fn explain(Path((name, number)): Path<(String, i64)>, call: Call) -> Handled {
    let PartnerMessageQuery { sent } = call.query()?;
    whole_bank(&call)?;
    let partner = partner(&call, &name)?;
    // A message that is none here is not asked for there: a partner may have no address yet.
    let own = call.ask(move |connection| rows::entry(connection, &name, sent, number));
    if own.await?.is_none() {
        return Err(call.refused(&Refusal::not_found("message", &number.to_string())));
    }
    let target = format!("/api/v1/partner/messages/{number}?sent={sent}");
    let asked = ask(&call, &partner, move |client| client.get(&target));
    let explained: PartnerExplained = asked.await.map_err(|fault| match fault {
        Fault::Refused(problem) => {
            Failure::new("partner_refused", problem.detail.unwrap_or_default())
        }
        Fault::Away(why) => Failure::new("partner_away", why),
    })?;
    ok(&explained)
}

/// `GET /api/v1/partner/messages/{number}`: what a message is here.
pub(super) async fn message(Path(number): Path<i64>, call: Call) -> Handled {
    let PartnerMessageQuery { sent } = call.query()?;
    let client = call.auth.caller.client.clone();
    partner(&call, &client)?;
    let question = move |connection: &_| {
        let Some(row) = rows::entry(connection, &client, !sent, number)? else {
            return Ok(None);
        };
        let entries = journal::entries(connection, row.tx)?;
        Ok(Some((row, entries)))
    };
    let found = call.ask(question).await?;
    let unknown = || call.refused(&Refusal::not_found("message", &number.to_string()));
    let (row, entries) = found.ok_or_else(unknown)?;
    let directory = call.directory();
    let amount = |minor: i64| json::amount(bank_core::amount::Amount(minor), &directory.bank);
    let lines = entries.iter().map(|entry| PartnerLine {
        kind: entry.kind.clone(),
        account: entry
            .account
            .and_then(|id| directory.account(bank_core::ids::AccountId(id)))
            .map(|account| account.name.clone()),
        amount: amount(entry.delta_amount),
        held: Some(amount(entry.delta_held)),
    });
    ok(&PartnerExplained {
        entry: settle::shaped(&row, &directory.bank),
        lines: lines.collect(),
    })
}

fn partner(call: &Call, name: &str) -> Result<Record, Failure> {
    let record = call.directory().records.named("partner", name).cloned();
    record.ok_or_else(|| call.refused(&Refusal::not_found("partner", name)))
}

/// Asks a partner in a thread that may wait.
async fn ask<T: Send + 'static>(
    call: &Call,
    partner: &Record,
    question: impl FnOnce(&Client) -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    let client = call
        .services
        .partners
        .client(partner)
        .map_err(Fault::Away)?;
    let asked = tokio::task::spawn_blocking(move || question(&client));
    let broken = |error: tokio::task::JoinError| Err(Fault::Away(error.to_string()));
    asked.await.unwrap_or_else(broken)
}
