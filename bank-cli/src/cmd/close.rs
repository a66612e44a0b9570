//! `bank close`: the books of a period, closed and opened again.

use bank_api::v1::{Close, CloseQuery, List, NewClose, UndoClose, Written};
use bank_picture::figure;
use ureq::http::Method;

use super::confirm;
use crate::{
    cli::{CloseArgs, CloseCommand, RemoveArgs},
    context::Context,
    fail::Failure,
    out::{Kind, Sheet, column},
    period::{self, Period},
    when,
};

/// Rows per request.
const PAGE: u32 = 1000;

pub(super) fn run(context: &Context, args: CloseArgs) -> Result<String, Failure> {
    match args.command {
        None => close(context, &args),
        Some(CloseCommand::Ls) => list(context),
        Some(CloseCommand::Undo { note, remove }) => undo(context, note, &remove),
    }
}

fn close(context: &Context, args: &CloseArgs) -> Result<String, Failure> {
    let mut body = NewClose {
        note: args.note.clone(),
        ..NewClose::default()
    };
    if let Some(text) = &args.period {
        let period = period::any(text, context.zone)?;
        body.from = Some(first_open(context, text, &period)?);
        body.until = period.until;
    } else {
        body.until = context.time(args.until.as_ref())?.unwrap_or_default();
    }
    let answer: Written<Close> = context.send(Method::POST, &["closes"], &body, &args.write)?;
    let closed = &answer.object;
    let sentence = format!(
        "closed {} to {} (exclusive): {} {} on {}; later entries are adjustments in the open \
         period",
        from(closed.from.as_deref(), context),
        when::date(&closed.until, context.zone),
        figure::grouped(closed.amount.as_deref().unwrap_or("0")),
        closed.unit,
        figure::counted(&closed.accounts.unwrap_or_default().to_string(), "account"),
    );
    context.written(&answer, &sentence)
}

/// The start of a period, or of its first month that is not closed yet. The end of the last closed period counts
/// only if it is the first instant of a month in the caller's time zone: a close in another zone stays an error.
fn first_open(context: &Context, text: &str, period: &Period) -> Result<String, Failure> {
    let query = CloseQuery {
        limit: Some(PAGE),
        ..CloseQuery::default()
    };
    let newest: List<Close> = context.get(&["closes"], &query)?;
    let last = newest
        .items
        .iter()
        .find(|close| close.reopened_by.is_none());
    // A repeated close has the start of the first one, so that its key is that of the same request.
    let open = last.map(|close| match &close.from {
        Some(from) if close.until == period.until => from,
        _ => &close.until,
    });
    let starts = period::starts_of_months(text, context.zone)?;
    let start = starts.into_iter().find(|start| Some(start) == open);
    Ok(start.unwrap_or_else(|| period.from.clone()))
}

fn undo(context: &Context, note: Option<String>, remove: &RemoveArgs) -> Result<String, Failure> {
    if !(remove.yes || remove.write.dry_run) {
        confirm("open the period that was closed last")?;
    }
    let body = UndoClose { note };
    let path = &["closes", "undo"];
    let answer: Written<Close> = context.send(Method::POST, path, &body, &remove.write)?;
    let opened = &answer.object;
    let sentence = format!(
        "open again {} to {} (exclusive): its statements may change",
        from(opened.from.as_deref(), context),
        when::date(&opened.until, context.zone)
    );
    context.written(&answer, &sentence)
}

fn list(context: &Context) -> Result<String, Failure> {
    let query = CloseQuery {
        limit: Some(PAGE),
        ..CloseQuery::default()
    };
    context.list(&["closes"], &query, sheet)
}

fn sheet(closes: &[Close]) -> Sheet {
    let columns = vec![
        column("from", "From", Kind::Date),
        column("until", "To (exclusive)", Kind::Date),
        column("at", "Closed", Kind::Time),
        column("actor", "By", Kind::Text),
        column("closed_by", "Txn", Kind::Number),
        column("reopened_by", "Reopened", Kind::Number),
        column("reason", "Reason", Kind::Text).on_request(),
    ];
    Sheet::new(columns, closes, "no period is closed")
}

fn from(time: Option<&str>, context: &Context) -> String {
    let from = time.map(|time| format!("from {}", when::date(time, context.zone)));
    from.unwrap_or_else(|| "from the beginning".to_owned())
}
