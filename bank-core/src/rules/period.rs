//! The books of a period: closed, and opened again (ledger.md 7, decision note 0054).

use crate::command::ClosePeriod;
use crate::effects::{Effects, Outcome, PeriodClosed, PeriodReopened};
use crate::ids::AccountId;
use crate::model::Account;
use crate::months;
use crate::period::PeriodClose;
use crate::postings::Postings;
use crate::refusal::Refusal;
use crate::time::{Timestamp, Window};
use crate::view::{Context, View};

/// Closes everything before an instant that has passed, right after what is closed already.
pub(super) fn close(
    close: &ClosePeriod,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    let window = Window {
        start: close.start,
        end: Some(close.end),
    };
    if !window.is_proper() {
        return Err(Refusal::BadWindow);
    }
    if close.end > ctx.now {
        return Err(Refusal::PeriodNotOver { end: close.end });
    }
    let start = match view.closed {
        None => close.start,
        Some(last) => {
            let start = close.start.unwrap_or(last.end);
            if start < last.end || close.end <= last.end {
                return Err(Refusal::PeriodClosed { until: last.end });
            }
            if start > last.end {
                return Err(Refusal::PeriodGap {
                    from: last.end,
                    until: start,
                });
            }
            Some(start)
        }
    };
    let mut totals = view.totals.clone();
    totals.sort_unstable_by_key(|total| total.account);
    for total in &mut totals {
        total.projects = projects(total.account, ctx);
    }
    let mut postings = Postings::new(view);
    let tx = postings.begin("period_close", ctx.now);
    postings.remark(&described(start, close.end));
    postings.remark(&close.note);
    let made = PeriodClose {
        start,
        end: close.end,
        totals,
    };
    postings.close_period(made.clone());
    Ok(
        postings.finish(Outcome::PeriodClosed(Box::new(PeriodClosed {
            tx,
            close: made,
            is_first: view.closed.is_none(),
        }))),
    )
}

/// Opens the period again that was closed last.
pub(super) fn reopen(note: &str, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    let Some(last) = view.closed else {
        return Err(Refusal::NothingClosed);
    };
    let mut postings = Postings::new(view);
    let tx = postings.begin("period_reopen", ctx.now);
    postings.remark(&described(last.start, last.end));
    postings.remark(&format!("closed_by={}", last.tx.0));
    postings.remark(note);
    postings.reopen_period(last.tx);
    Ok(postings.finish(Outcome::PeriodReopened(PeriodReopened { tx, close: last })))
}

/// The time at which a transaction counts: not after now, and not in a closed period.
///
/// # Errors
/// [`Refusal::BadValue`] for a later time, [`Refusal::PeriodClosed`].
pub(super) fn effective(
    at: Option<Timestamp>,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Timestamp, Refusal> {
    let Some(at) = at else { return Ok(ctx.now) };
    if at > ctx.now {
        return Err(Refusal::bad_value(
            "effective",
            "a time that is not later than now",
        ));
    }
    match view.closed {
        Some(closed) if at < closed.end => Err(Refusal::PeriodClosed { until: closed.end }),
        _ => Ok(at),
    }
}

/// The only project that may spend from an account, below those above it.
fn projects(account: AccountId, ctx: &Context<'_>) -> Vec<String> {
    let account = ctx.directory.account(account);
    let name = account.and_then(Account::only_project);
    let Some(project) = name.and_then(|name| ctx.directory.project_named(name)) else {
        return Vec::new();
    };
    let line = ctx.directory.lineage(project.id);
    line.iter().rev().map(|p| p.name.clone()).collect()
}

fn described(start: Option<Timestamp>, end: Timestamp) -> String {
    let until = months::text(end);
    match start {
        Some(start) => format!("from={} until={until}", months::text(start)),
        None => format!("until={until}"),
    }
}
