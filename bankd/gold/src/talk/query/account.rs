//! Query of Account: access and, on request, balances.

use std::sync::Arc;

use bank_api::text::format_amount;
use bank_core::amount::Amount;
use bank_core::directory::{Bank, Directory};
use bank_core::ids::UNBILLED;
use bank_core::model::Account;
use bankd_ledger::usable::{By, usable};
use bankd_services::Services;
use bankd_store::read::money::{self, Figures};

use super::cell::{Cell, Kind};
use super::select::{Select, Shape};
use super::{Call, Fault, ask, project, written};
use crate::Verified;

const SHAPE: Shape = Shape {
    usual: &["Id", "Name", "Description"],
    special: &["Amount", "Reserved", "Balance", "CreditLimit", "Available"],
    conditions: &[("Id", Kind::Number), ("Name", Kind::Text)],
    relations: &["Project", "User", "Machine"],
};

/// An account with its figures, if requested.
type Row<'a> = (&'a Account, Figures);

/// The accounts of an answer.
pub(super) async fn rows(
    services: &Arc<Services>,
    request: &Verified,
    query: &Call,
) -> Result<Vec<String>, Fault> {
    let select = Select::read(query, &SHAPE)?;
    let directory = services.writer.directory();
    let scope = &request.peer.scope;
    let seen = |account: &&Account| {
        let spends = |project| {
            usable(
                &directory,
                account,
                By {
                    project,
                    ..By::default()
                },
            )
        };
        let mut projects = directory.projects();
        account.name != UNBILLED
            && (scope.projects.is_empty()
                || projects.any(|p| project::sees(&directory, scope, p) && spends(Some(p))))
    };
    let related = |account: &&Account| is_related(&directory, &select, account);
    let bank = &directory.bank;
    let listed = directory.accounts().filter(seen).filter(related);
    let mut rows: Vec<Row<'_>> = listed.map(|a| (a, Figures::default())).collect();
    rows.retain(|row| select.accepts(|name| cell(bank, row, name)));
    rows.sort_by_key(|(account, _)| account.id);
    if SHAPE.special.iter().any(|name| select.asks_for(name)) {
        let ids: Vec<_> = rows.iter().map(|(account, _)| account.id).collect();
        let now = services.writer.ledger_now();
        let question = move |connection: &_| money::figures(connection, &ids, now);
        let figures = ask(services, question).await?;
        for (row, figures) in rows.iter_mut().zip(figures) {
            row.1 = figures;
        }
    }
    Ok(written(&select, "Account", rows, |row, name| {
        cell(bank, row, name)
    }))
}

/// Whether the names in the conditions may together spend from an account, and the excluded ones may not.
/// An unknown name may spend from none.
fn is_related(directory: &Directory, select: &Select, account: &Account) -> bool {
    let mut together = By::default();
    for (name, must, value) in select.relations() {
        let mut one = By::default();
        let known = match *name {
            "Project" => {
                one.project = directory.project_named(value);
                one.project.is_some()
            }
            "User" => {
                one.user = directory.user_named(value);
                one.user.is_some()
            }
            _ => {
                one.machine = directory.machine_named(value);
                one.machine.is_some()
            }
        };
        if !must {
            if known && usable(directory, account, one) {
                return false;
            }
            continue;
        }
        if !known || together.contradicts(one) {
            return false;
        }
        together = together.and(one);
    }
    usable(directory, account, together)
}

fn cell(bank: &Bank, (account, figures): &Row<'_>, attribute: &str) -> Cell {
    let amount = |sum: i128| {
        let sum = Amount::clamped(sum);
        Cell::Text(format_amount(sum.0, bank.precision.places()))
    };
    match attribute {
        "Id" => Cell::Number(Some(account.id.0)),
        "Name" => Cell::text(&account.name),
        "Amount" => amount(figures.amount),
        "Reserved" => amount(figures.held),
        "Balance" => amount(figures.balance()),
        "CreditLimit" => amount(figures.credit_limit),
        "Available" => amount(figures.available()),
        _ => Cell::text(&account.description),
    }
}
