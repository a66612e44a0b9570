//! `bank explain`: how a job's charges, or one transaction, came about.

use std::fmt::Write as _;

use bank_api::v1::{
    Considered, ExplainQuery, Explained, Explanation, JournalEntry, Rate, RefusedReserve,
    ReservationTime,
};
use bank_picture::{
    NOBODY, figure,
    printable::{printable, printable_lines},
};

use super::partner;
use crate::{
    cli::{ExplainArgs, Format},
    context::Context,
    fail::Failure,
    out::{Form, Kind, Sheet, column, fitted},
    when,
};

pub(super) fn run(context: &Context, args: ExplainArgs) -> Result<String, Failure> {
    let query = ExplainQuery {
        machine: args.machine,
        number: args.number,
        transaction: args.transaction,
    };
    let answer: Explanation = context.get(&["explanations", &args.name], &query)?;
    if context.form.format != Format::Table || !context.form.columns.is_empty() {
        return context.form.list(&answer, &flat(&answer));
    }
    screen(context, &answer, args.partner)
}

fn screen(context: &Context, answer: &Explanation, asks: bool) -> Result<String, Failure> {
    let mut out = String::new();
    if let Some(job) = &answer.job {
        let machine = answer.machine.as_deref().unwrap_or_default();
        let head = format!("job {job} on {machine}, amounts in {}", answer.unit);
        out.push_str(&fitted(&printable_lines(&head), context.form.width, inner));
        out.push('\n');
    }
    out.push_str(&uses(context, answer));
    if let Some(refused) = &answer.refused {
        out.push_str(&refusal(context, refused));
        if !answer.items.is_empty() {
            out.push('\n');
        }
    }
    if let Some(time) = &answer.reservation {
        let text = reservation(time);
        out.push_str(&fitted(&printable_lines(&text), context.form.width, inner));
        out.push('\n');
    }
    for (at, one) in answer.items.iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        out.push_str(&text(context, one, asks)?);
    }
    if !answer.complete {
        out.push_str("\n! more entries exist: bank journal -j shows them\n");
    }
    Ok(out)
}

/// The uses of an id that was used again.
fn uses(context: &Context, answer: &Explanation) -> String {
    let mut out = String::new();
    for one in &answer.uses {
        let mark = if answer.number == Some(one.number) {
            "*"
        } else {
            " "
        };
        let start = when::moment(&one.start, context.zone);
        let end = one
            .end
            .as_deref()
            .map(|end| when::moment(end, context.zone));
        let end = end.unwrap_or_else(|| "now".to_owned());
        let named = |name: &Option<String>| name.clone().unwrap_or_else(|| NOBODY.to_owned());
        let (user, project) = (named(&one.user), named(&one.project));
        let _ = writeln!(
            out,
            "{mark} use {}: {start} until {end}, user {user}, project {project}",
            one.number
        );
    }
    if !out.is_empty() {
        out.push_str("  bank explain JOB --use N explains another use\n\n");
    }
    fitted(&printable_lines(&out), context.form.width, inner)
}

/// The latest refused reserve of a job.
fn refusal(context: &Context, refused: &RefusedReserve) -> String {
    let RefusedReserve {
        code,
        detail,
        tries,
        project,
        user,
        ..
    } = refused;
    let time = when::moment(&refused.at, context.zone);
    let mut out = format!("! reserve refused {time} ({code}): {detail}\n");
    let (user, project) = (or_none(user), or_none(project));
    let times = if *tries == 1 { "time" } else { "times" };
    let _ = writeln!(
        out,
        "  user {user}, project {project}, refused {tries} {times}"
    );
    if let Some(hint) = &refused.hint {
        let _ = writeln!(out, "  hint: {hint}");
    }
    fitted(&printable_lines(&out), context.form.width, inner)
}

/// The time of a reservation, and which jobs used it.
fn reservation(time: &ReservationTime) -> String {
    let ReservationTime { reserved, idle, .. } = time;
    let mut out = format!("reserved {reserved} processor-seconds, idle {idle}\n");
    for one in &time.jobs {
        let job = one.job.as_deref().unwrap_or("(other jobs)");
        let project = one.project.as_deref().unwrap_or_default();
        let of = if project.is_empty() {
            ""
        } else {
            " of project "
        };
        let _ = writeln!(out, "  job {job}{of}{project} used {}", one.used);
    }
    out
}

/// Where a line continues: behind its own indent.
fn inner(line: &str) -> usize {
    line.len() - line.trim_start().len() + 2
}

fn or_none(name: &str) -> &str {
    if name.is_empty() { NOBODY } else { name }
}

/// For machines: a row for each account that was looked at.
fn flat(answer: &Explanation) -> Sheet {
    let columns = vec![
        column("transaction", "txn", Kind::Number),
        column("op", "op", Kind::Text),
        column("at_effective", "time", Kind::Time),
        column("lien", "lien", Kind::Number).on_request(),
        column("place", "place", Kind::Number),
        column("account", "account", Kind::Text),
        column("allocation", "allocation", Kind::Number),
        column("priority", "priority", Kind::Number),
        column("distance", "distance", Kind::Number),
        column("free", "free", Kind::Amount),
        column("taken", "taken", Kind::Amount),
        column("verdict", "verdict", Kind::Text),
        column("why", "why", Kind::Text),
    ];
    let mut sheet = Sheet::new(columns, &[] as &[Considered], "no account was considered");
    for one in &answer.items {
        let head = crate::out::row(one);
        for considered in &one.considered {
            let mut row = crate::out::row(considered);
            for key in ["transaction", "op", "at_effective"] {
                if let Some(value) = head.get(key) {
                    row.insert(key.to_owned(), value.clone());
                }
            }
            sheet.rows.push(row);
        }
    }
    sheet.unit(&answer.unit)
}

fn text(context: &Context, one: &Explained, asks: bool) -> Result<String, Failure> {
    let form = &context.form;
    let mut out = String::new();
    let time = when::moment(&one.at_effective, context.zone);
    let _ = write!(
        out,
        "transaction {}  {}  {time}  by {}",
        one.transaction, one.op, one.actor
    );
    if let Some(reason) = &one.reason {
        let _ = write!(out, "  ({})", when::reason(reason, context.zone));
    }
    out.push('\n');
    for line in &one.effects {
        let _ = writeln!(out, "  {line}");
    }
    for entry in &one.entries {
        let _ = writeln!(out, "  {}", movement(context, entry));
    }
    if !one.price.is_empty() || one.charge.is_some() {
        out.push_str(&price(context, one));
    }
    for entry in &one.counterparts {
        out.push_str(&partner::counterpart(context, entry, asks));
    }
    let mut out = fitted(&printable_lines(&out), form.width, inner);
    if one.considered.is_empty() {
        return Ok(out);
    }
    let moved = one.considered.iter().any(|c| c.lien.is_some());
    let columns = vec![
        column("lien", "  lien", Kind::Number).screen_if(moved),
        column("place", "  #", Kind::Number),
        column("account", "account", Kind::Text),
        column("allocation", "allocation", Kind::Text),
        column("priority", "priority", Kind::Number),
        column("free", "free", Kind::Amount),
        column("taken", "taken", Kind::Amount),
        column("why", "why", Kind::Text),
    ];
    let sheet = Sheet::new(columns, &one.considered, "");
    let indented = Form {
        width: form.width.saturating_sub(2),
        ..form.clone()
    };
    let table = indented.list(&one.considered, &sheet)?;
    out.push_str("  accounts in the order in which they were considered\n");
    for line in table.lines() {
        let line = format!("  {}", printable(line));
        let _ = writeln!(out, "{}", line.trim_end());
    }
    Ok(out)
}

fn movement(context: &Context, entry: &JournalEntry) -> String {
    let form = &context.form;
    let mut words = entry.kind.clone();
    if let Some(account) = &entry.account {
        let _ = write!(words, "  {account}");
    }
    if let Some(allocation) = entry.allocation {
        let _ = write!(words, "/{allocation}");
    }
    for (name, amount) in [
        ("amount", &entry.amount),
        ("held", &entry.held),
        ("shadow", &entry.shadow),
        ("shadow held", &entry.shadow_held),
    ] {
        if !amount.is_empty() && !figure::is_zero(amount) {
            let sign = if amount.starts_with('-') { "" } else { "+" };
            let _ = write!(words, "  {name} {sign}{}", form.amount(amount));
        }
    }
    if let Some(after) = &entry.amount_after {
        let _ = write!(words, "  amount after {}", form.amount(after));
    }
    words
}

fn price(context: &Context, one: &Explained) -> String {
    let mut out = String::new();
    for line in &one.price {
        let amount = context.form.amount(&line.amount);
        let _ = writeln!(out, "  {} = {amount} {}", line.text, line.unit);
    }
    if let Some(charge) = &one.charge {
        if let Some(itemisation) = &charge.itemisation {
            let _ = writeln!(out, "  {itemisation}");
        }
        let kind = charge.explanation.as_deref().unwrap_or(&charge.kind);
        let _ = writeln!(
            out,
            "  billed {} ({kind})",
            context.form.amount(&charge.amount)
        );
    }
    for rate in &one.rates {
        let _ = writeln!(out, "  {}", version(context, rate));
    }
    out
}

/// The version of a rate: its number, and from when until when it holds.
fn version(context: &Context, rate: &Rate) -> String {
    let mut words = format!("rate {}: {} {}", rate.id, rate.kind, rate.name);
    if let Some(from) = &rate.from {
        let _ = write!(words, ", from {}", when::moment(from, context.zone));
    }
    if let Some(until) = &rate.until {
        let _ = write!(
            words,
            ", until {} (exclusive)",
            when::moment(until, context.zone)
        );
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        context::test_context,
        out::{assert_fits, filled},
    };

    #[test]
    fn the_widest_explanation_fits_a_terminal() {
        let context = test_context();
        for answer in filled::<Explanation>() {
            assert_fits(&screen(&context, &answer, false).unwrap());
        }
    }
}
