//! `bank allocation`.

use std::fmt::Write as _;

use bank_api::v1::{Allocation, AllocationQuery, PastQuery, PatchAllocation, Written};
use bank_picture::figure;
use ureq::http::Method;

use super::{Sent, nothing_to_set};
use crate::{
    cli::{AllocationCommand, SetAllocation},
    context::Context,
    fail::Failure,
    out::{Kind, Sheet, column},
    when,
};

pub(super) fn run(context: &Context, command: AllocationCommand) -> Result<String, Failure> {
    match command {
        AllocationCommand::Ls {
            account,
            project,
            state,
            then,
        } => {
            let PastQuery { at, recorded } = context.past(&then)?;
            let query = AllocationQuery {
                account,
                project,
                state,
                at,
                recorded,
                ..AllocationQuery::default()
            };
            context.list(&["allocations"], &query, sheet)
        }
        AllocationCommand::Show { id, then } => {
            let query = context.past(&then)?;
            context.show(&["allocations", &id.to_string()], &query, sheet)
        }
        AllocationCommand::Set(args) => set(context, args),
        AllocationCommand::Rm { id, force, remove } => {
            let what = format!("remove allocation {id}");
            let segments = ["allocations", &id.to_string()];
            let answer = context.remove_forced(&segments, &what, &remove, force)?;
            context.removed(&answer, &format!("allocation {id} removed"))
        }
    }
}

fn set(context: &Context, args: SetAllocation) -> Result<String, Failure> {
    let body = PatchAllocation {
        start: context.time(args.start.as_ref())?,
        until: context.time(args.end.as_ref())?,
        allow_past: args.allow_past,
        credit_limit: args.limit,
        amount: args.amount,
        active: args.active.map(bool::from),
        deposited: args.deposited,
        account: args.account,
    };
    let nothing = PatchAllocation {
        allow_past: body.allow_past,
        ..PatchAllocation::default()
    };
    if body == nothing {
        return Err(nothing_to_set());
    }
    let id = args.id.to_string();
    // Only for the sentence: who may change it may see it.
    let before: Option<Allocation> = match body.until {
        Some(_) if !context.is_json() => context.get(&["allocations", &id], &()).ok(),
        _ => None,
    };
    let sent = context.send_or_propose(Method::PATCH, &["allocations", &id], &body, &args.write)?;
    let answer: Written<Allocation> = match sent {
        Sent::Done(answer) => answer,
        Sent::Proposed(message) => return Ok(message),
    };
    let verb = answer.verb();
    let mut sentence = format!("allocation {} {verb}", args.id);
    if let Some(before) = before {
        sentence.push_str(&moved_end(context, &before, &answer.object));
    }
    context.written(&answer, &sentence)
}

/// The old and the new end, and the amount that cannot be spent any more. An end in the past becomes now.
fn moved_end(context: &Context, before: &Allocation, after: &Allocation) -> String {
    if before.until == after.until {
        return String::new();
    }
    let end = |allocation: &Allocation| {
        let until = allocation.until.as_deref();
        until.map_or_else(
            || "never".to_owned(),
            |until| when::date(until, context.zone),
        )
    };
    let (old, new) = (end(before), end(after));
    let mut text = format!(": it ends {new} instead of {old}");
    if after.state == "expired" && before.state != "expired" {
        let (amount, unit) = (context.form.amount(&after.amount), &after.unit);
        if after.amount.starts_with('-') {
            let _ = write!(text, ", so it has ended, with its debt of {amount} {unit}");
        } else {
            let _ = write!(text, ", so it has ended: {amount} {unit} expire");
        }
    }
    text
}

fn sheet(allocations: &[Allocation]) -> Sheet {
    let some = |field: fn(&Allocation) -> &String| {
        allocations
            .iter()
            .any(|allocation| !figure::is_zero(field(allocation)))
    };
    let columns = vec![
        column("id", "Id", Kind::Number),
        column("account", "Account", Kind::Text),
        column("state", "State", Kind::Text),
        column("start", "Start", Kind::Date).secondary(),
        column("until", "Until", Kind::Date),
        column("deposited", "Deposited", Kind::Amount),
        column("amount", "Amount", Kind::Amount),
        column("held", "Held", Kind::Amount),
        column("credit_limit", "Credit limit", Kind::Amount).secondary(),
        column("shadow_charged", "Shadow charged", Kind::Amount)
            .secondary()
            .on_screen_if(some(|a| &a.shadow_charged)),
        column("shadow_held", "Shadow held", Kind::Amount)
            .secondary()
            .on_screen_if(some(|a| &a.shadow_held)),
    ];
    let unit = allocations
        .first()
        .map_or("", |allocation| &allocation.unit);
    let mut sheet = Sheet::new(columns, allocations, "no allocations").unit(unit);
    "Windows end before Until.".clone_into(&mut sheet.remark);
    sheet
}
