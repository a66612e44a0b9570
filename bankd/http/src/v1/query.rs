//! The query language.

use bank_api::text::{format_amount, format_rfc3339, format_scaled};
use bank_api::v1::{QueryAnswer, QueryColumn, QueryQuery, QueryValue};
use bank_core::directory::Bank;
use bankd_ledger::access::right::Right;
use bankd_query::{Cell, Column, Found, Kind, Mistake, Plan};

use super::call::{Call, Handled, ok};
use super::view;
use crate::error::Failure;

/// Additional decimals of an average.
const AVERAGE_MORE: u32 = 6;

/// `GET /api/v1/query`: a query of the visible part of the bank.
pub(super) async fn ask(call: Call) -> Handled {
    let QueryQuery { text } = call.query()?;
    let bank = call.directory().bank.clone();
    let sources = Right::SeeSources.is_held(call.auth.roles);
    let sight = call.view.sight(sources, view::readers(call.auth.roles));
    let records = &call.directory().records;
    let plan = Plan::read(&text, bank.precision, call.now(), sight, records).map_err(failure)?;
    let found = call.ask(move |connection| plan.run(connection)).await?;
    ok(&shaped(&found.map_err(failure)?, &bank))
}

fn failure(mistake: Mistake) -> Failure {
    let code = if mistake.denied {
        "not_allowed"
    } else {
        "bad_request"
    };
    let failure = Failure::new(code, format!("query: {}", mistake.what));
    match mistake.hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

fn shaped(found: &Found, bank: &Bank) -> QueryAnswer {
    let column = |c: &Column| QueryColumn {
        name: c.name.clone(),
        kind: c.kind.word().to_owned(),
    };
    let row = |cells: &Vec<Cell>| {
        let cells = found.columns.iter().zip(cells);
        cells
            .map(|(c, cell)| (c.name.clone(), value(cell, c.kind, bank)))
            .collect()
    };
    QueryAnswer {
        columns: found.columns.iter().map(column).collect(),
        items: found.rows.iter().map(row).collect(),
        next: found.next.map(|offset| offset.to_string()),
        unit: bank.unit.clone(),
    }
}

fn value(cell: &Cell, kind: Kind, bank: &Bank) -> QueryValue {
    let places = match kind {
        Kind::Amount => u32::from(bank.precision.places()),
        Kind::Decimal => 9,
        _ => 0,
    };
    let text = match cell {
        Cell::None => return QueryValue::None,
        Cell::Text(text) => text.clone(),
        Cell::Number(number) => match kind {
            Kind::Flag => return QueryValue::Flag(*number != 0),
            Kind::Time => format_rfc3339(*number),
            Kind::Amount => format_amount(*number, bank.precision.places()),
            Kind::Decimal => format_scaled(i128::from(*number), 9, 0),
            Kind::Whole | Kind::Text => number.to_string(),
        },
        Cell::Sum(sum) => {
            let least = if kind == Kind::Amount { places } else { 0 };
            format_scaled(*sum, places, least)
        }
        Cell::Average(average) => {
            let least = if kind == Kind::Amount { places } else { 0 };
            let sum = average.with_decimals(AVERAGE_MORE);
            format_scaled(sum, places.saturating_add(AVERAGE_MORE), least)
        }
    };
    QueryValue::Text(text)
}
