//! Closed periods of the books (decision note 0054). Every caller may read them. Only administrators may
//! close and reopen periods.

use axum::response::IntoResponse;
use bank_api::v1::{self, CloseQuery, List, NewClose, UndoClose};
use bank_core::command::{ClosePeriod, Command, Period};
use bank_core::directory::Bank;
use bank_core::effects::{Outcome, PeriodClosed, PeriodReopened};
use bankd_ledger::writer::Decided;
use bankd_store::answer::Answer;
use bankd_store::read::closes::{self, CloseRow};

use super::call::{Call, Handled, new_state, ok, rendered};
use super::{json, pages};

/// `GET /api/v1/closes`: the newest first.
pub(super) async fn list(call: Call) -> Handled {
    let query: CloseQuery = call.query()?;
    let (limit, before) = pages::numbered(&call, query.limit, query.after.as_deref())?;
    let more = limit.saturating_add(1);
    let mut rows = call.ask(move |c| closes::all(c, before, more)).await?;
    let has_more = rows.len() > limit;
    rows.truncate(limit);
    let next = rows.last().filter(|_| has_more);
    let bank = &call.directory().bank;
    ok(&List {
        next: next.map(|row| row.close.tx.0.to_string()),
        items: rows.iter().map(|row| shaped(row, bank)).collect(),
    })
}

/// `POST /api/v1/closes`
pub(super) async fn close(call: Call) -> Handled {
    let new: NewClose = call.json()?;
    let from = new.from.as_deref();
    let start = from.map(|text| json::read_time(text, "from")).transpose();
    let command = Command::Period(Period::Close(ClosePeriod {
        start: start.map_err(|r| call.refused(&r))?,
        end: json::read_time(&new.until, "until").map_err(|r| call.refused(&r))?,
        note: new.note.unwrap_or_default(),
    }));
    Ok(call.write(command, render).await?.into_response())
}

/// `POST /api/v1/closes/undo`
pub(super) async fn undo(call: Call) -> Handled {
    let body: UndoClose = call.json()?;
    let command = Command::Period(Period::Reopen(body.note.unwrap_or_default()));
    Ok(call.write(command, render_undone).await?.into_response())
}

fn shaped(row: &CloseRow, bank: &Bank) -> v1::Close {
    v1::Close {
        closed_by: Some(row.close.tx.0),
        from: row.close.start.map(json::time),
        until: json::time(row.close.end),
        at: Some(json::time(row.at)),
        actor: json::some(&row.actor),
        reason: json::some(&row.reason),
        reopened_by: row.reopened_by,
        amount: None,
        accounts: None,
        unit: bank.unit.clone(),
    }
}

fn closed(closed: &PeriodClosed, decided: &Decided<'_>) -> v1::Close {
    let bank = &decided.directory.bank;
    let totals = || closed.close.totals.iter();
    let amount = totals().map(|total| i128::from(total.amount)).sum();
    let with = totals().filter(|total| total.amount != 0 || total.held != 0);
    v1::Close {
        // On a dry run it has no number yet.
        closed_by: (!decided.dry_run).then_some(closed.tx.0),
        from: closed.close.start.map(json::time),
        until: json::time(closed.close.end),
        amount: Some(json::sum(amount, bank)),
        accounts: i64::try_from(with.count()).ok(),
        unit: bank.unit.clone(),
        ..v1::Close::default()
    }
}

fn reopened(reopened: &PeriodReopened, decided: &Decided<'_>) -> v1::Close {
    v1::Close {
        closed_by: Some(reopened.close.tx.0),
        from: reopened.close.start.map(json::time),
        until: json::time(reopened.close.end),
        reopened_by: (!decided.dry_run).then_some(reopened.tx.0),
        unit: decided.directory.bank.unit.clone(),
        ..v1::Close::default()
    }
}

fn render(decided: &Decided<'_>) -> Answer {
    rendered(decided, 201, |outcome| match outcome {
        Outcome::PeriodClosed(period) => {
            let mut written = new_state(closed(period, decided), decided);
            if let (true, Some(start)) = (period.is_first, period.close.start) {
                let start = json::time(start);
                written.warnings.push(format!(
                    "closes_before: nothing was closed yet, so everything before {start} is closed too"
                ));
            }
            Some(written)
        }
        _ => None,
    })
}

fn render_undone(decided: &Decided<'_>) -> Answer {
    rendered(decided, 200, |outcome| match outcome {
        Outcome::PeriodReopened(period) => Some(new_state(reopened(period, decided), decided)),
        _ => None,
    })
}
