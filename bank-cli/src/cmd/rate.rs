//! `bank rate`: what use costs.

mod proposed;
mod twice;

use std::fmt::Write as _;

use bank_api::v1::{Job, List, NewRate, PastQuery, Rate, RateQuery, Written};
use ureq::http::Method;

use crate::{
    cli::{AtArgs, RateCommand, SetRate},
    context::Context,
    fail::Failure,
    out::{Form, Kind, Sheet, column, fitted},
    when,
};

pub(super) fn run(context: &Context, command: RateCommand) -> Result<String, Failure> {
    match command {
        RateCommand::Ls(then) => list(context, &then, false),
        RateCommand::Set(args) => set(context, args),
        RateCommand::History(then) => list(context, &then, true),
        RateCommand::Test(args) => proposed::run(context, *args),
        RateCommand::Explain { job, machine } => explain(context, &job, machine),
        RateCommand::Rm { id, remove } => {
            let what = format!("remove rate {id}");
            let answer = context.remove(&["rates", &id.to_string()], &what, &remove)?;
            context.removed(&answer, &format!("rate {id} removed"))
        }
    }
}

fn list(context: &Context, then: &AtArgs, history: bool) -> Result<String, Failure> {
    let PastQuery { at, recorded } = context.past(then)?;
    let query = RateQuery {
        history,
        at,
        recorded,
        ..RateQuery::default()
    };
    context.list(&["rates"], &query, |rates| {
        let empty = if recorded {
            "no rates were recorded by then"
        } else {
            "no rates: everything is free"
        };
        sheet(rates, empty)
    })
}

fn set(context: &Context, args: SetRate) -> Result<String, Failure> {
    let write = args.write.clone();
    let body = body(context, args)?;
    let answer: Written<Rate> = context.send(Method::POST, &["rates"], &body, &write)?;
    let rate = &answer.object;
    warn(context, rate);
    let instance = if rate.instance.is_empty() { "" } else { " " };
    let per = if rate.per == "none" {
        String::new()
    } else {
        format!(" per {}", rate.per)
    };
    let machine = rate
        .machine
        .as_ref()
        .map(|name| format!(" on {name}"))
        .unwrap_or_default();
    let hours = rate.when.as_ref();
    let hours = hours.map(|hours| format!(" ({hours})")).unwrap_or_default();
    let is_known = answer.transaction.is_none() && !answer.dry_run;
    let verb = if is_known { "unchanged" } else { "set" };
    context.written(
        &answer,
        &format!(
            "rate {} {verb}: {} {}{instance}{} {}{per}{machine}{hours}",
            rate.id, rate.kind, rate.name, rate.instance, rate.rate
        ),
    )
}

/// Warns of a rate of a resource that another rate in force contains, or that no job has.
fn warn(context: &Context, rate: &Rate) {
    // The rate is set: a failure of the list is none of the command.
    let list: Result<List<Rate>, Failure> = context.all(&["rates"], &RateQuery::default());
    let rates = list.map(|list| list.items).unwrap_or_default();
    if let Some(text) = twice::warning(rate, &rates) {
        crate::out::warn(&text);
    }
}

/// The body of a rate as it is typed: `NAME RATE`, `NAME INSTANCE RATE`, `NAME=INSTANCE RATE`,
/// `NAME by P=V RATE`, or the amount alone for a minimum or maximum.
fn body(context: &Context, args: SetRate) -> Result<NewRate, Failure> {
    let missing = || Failure::usage("a rate is missing").hint("bank rate set KIND NAME RATE");
    let mut words = args.words;
    let rate = words.pop().ok_or_else(missing)?;
    words.retain(|word| word != "by");
    let mut words = words.into_iter();
    let name = words.next();
    let instance = args.instance.or_else(|| words.next());
    if words.next().is_some() {
        return Err(Failure::usage("too many words").hint("bank rate set KIND NAME INSTANCE RATE"));
    }
    let limit = ["MIN", "MAX"]
        .iter()
        .any(|kind| kind.eq_ignore_ascii_case(&args.kind));
    let name = name.or_else(|| limit.then(String::new));
    let name = name.ok_or_else(missing)?;
    let (name, instance) = match (name.split_once('='), instance) {
        (Some((name, value)), None) => (name.to_owned(), Some(value.to_owned())),
        (_, instance) => (name, instance),
    };
    let rate = crate::cli::value::amount(&rate)
        .map_err(|why| Failure::usage(format!("rate {rate:?}: {why}")))?;
    Ok(NewRate {
        from: context.time(args.from.as_ref())?,
        until: context.time(args.until.as_ref())?,
        kind: args.kind,
        name,
        instance: instance.unwrap_or_default(),
        rate,
        per: args.per,
        machine: args.machine,
        when: args.when,
        description: args.description,
    })
}

/// The arithmetic of a job's charges.
fn explain(context: &Context, job: &str, machine: Option<String>) -> Result<String, Failure> {
    let query: Vec<(&str, String)> = machine.map(|m| ("machine", m)).into_iter().collect();
    let job: Job = context.get(&["jobs", job], &query)?;
    if !context.form.is_table() {
        let columns = vec![
            column("transaction", "Txn", Kind::Number),
            column("at", "At", Kind::Time),
            column("seconds", "Seconds", Kind::Number),
            column("amount", "Amount", Kind::Amount),
            column("itemisation", "Arithmetic", Kind::Text),
        ];
        let sheet = Sheet::new(columns, &job.charges, "no charges");
        return context.form.list(&List::whole(job.charges), &sheet);
    }
    Ok(arithmetic(&context.form, &job))
}

/// Each charge with its arithmetic below it, and the total.
fn arithmetic(form: &Form, job: &Job) -> String {
    let mut out = String::new();
    for charge in &job.charges {
        let at = when::moment(&charge.at, form.zone);
        let amount = form.amount(&charge.amount);
        if charge.seconds == Some(0)
            && ["refund", "reverse", "settle"].contains(&charge.kind.as_str())
        {
            // It has no use of its own: the price of nothing would explain nothing.
            let kind = charge.explanation.as_deref().unwrap_or(&charge.kind);
            let _ = writeln!(out, "{at}  billed {amount} {} ({kind})", job.unit);
            continue;
        }
        let text = charge.itemisation.as_deref().unwrap_or("no price");
        let _ = writeln!(out, "{at}  billed {amount} {}\n  {text}", job.unit);
    }
    if job.charges.is_empty() {
        out.push_str("no charges\n");
    } else {
        let (total, unit) = (form.amount(&job.charged), &job.unit);
        let _ = writeln!(
            out,
            "total {total} {unit}: each charge bills the rounded sum less what was billed before"
        );
        if let [(_, refunded), (_, net)] = super::job::refunds(job).as_slice() {
            let (refunded, net) = (form.amount(refunded), form.amount(net));
            let _ = writeln!(out, "refunded {refunded} {unit}: net {net} {unit}");
        }
    }
    fitted(&out, form.width, |_| 4)
}

fn sheet(rates: &[Rate], empty: &'static str) -> Sheet {
    let columns = vec![
        column("id", "Id", Kind::Number),
        column("kind", "Type", Kind::Text),
        column("name", "Name", Kind::Text),
        column("instance", "Instance", Kind::Text),
        column("rate", "Rate", Kind::Number),
        column("per", "Per", Kind::Text),
        column("machine", "Machine", Kind::Text),
        column("from", "From", Kind::Date),
        column("until", "Until", Kind::Date),
        column("when", "Hours", Kind::Text),
        column("description", "Description", Kind::Text).secondary(),
    ];
    Sheet::new(columns, rates, empty)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::out::{assert_fits, filled, test_form};

    #[test]
    fn the_widest_arithmetic_fits_a_terminal() {
        for job in filled::<Job>() {
            assert_fits(&arithmetic(&test_form(), &job));
        }
    }
}
