//! `bank quote`: what a job would cost, and whether it could start.

use std::fmt::Write as _;

use bank_api::v1::{NewQuote, Quote, QuoteLine};
use bank_picture::figure;
use ureq::http::Method;

use super::once::once;
use super::stored_quote;
use crate::{
    cli::QuoteArgs,
    client::{self, Call},
    context::Context,
    fail::Failure,
    out::{self, Form, Sheet, fitted, warn},
    when,
};

pub(super) fn run(context: &Context, args: QuoteArgs) -> Result<String, Failure> {
    if let Some(command) = args.given {
        return stored_quote::run(context, command);
    }
    let write = args.write.clone();
    let project = args.project.clone().or_else(|| context.project.clone());
    let body = body(args, project)?;
    let response: Result<Quote, Failure> = if body.guarantee {
        context.send(Method::POST, &["quotes"], &body, &write)
    } else {
        plain(context, &body)
    };
    let quote = match response {
        Ok(quote) => quote,
        Err(failure) if failure.is("insufficient_funds") => {
            return Err(short(context, body, failure));
        }
        Err(failure) => return Err(failure),
    };
    for warning in &quote.warnings {
        warn(warning);
    }
    if !context.form.is_table() {
        return context.form.one(&quote, &sheet(&quote));
    }
    Ok(text(&context.form, &quote))
}

fn body(args: QuoteArgs, project: Option<String>) -> Result<NewQuote, Failure> {
    let usage = args.usage;
    Ok(NewQuote {
        wall_s: when::seconds(&args.wall.unwrap_or_default())?,
        memory_mb: usage.memory,
        disk_mb: usage.disk,
        group: usage.group,
        uses: args.uses,
        project,
        user: args.user,
        machine: args.machine,
        processors: usage.procs,
        nodes: usage.nodes,
        gres: once("--gres", usage.gres)?,
        qos: usage.qos,
        class: usage.class,
        attributes: once("--attribute", usage.attributes)?,
        guarantee: args.guarantee,
        cost_only: args.cost_only,
    })
}

/// A quote that writes nothing needs no key.
fn plain(context: &Context, body: &NewQuote) -> Result<Quote, Failure> {
    let call = Call::send(Method::POST, client::path(&["quotes"]), body, None)?;
    Ok(context.client.call(&call)?)
}

/// The money is short: the price, and by how much it is short. Rates of hours change the price from one second to the
/// next, so both are of one answer.
fn short(context: &Context, mut body: NewQuote, mut failure: Failure) -> Failure {
    body.guarantee = false;
    body.cost_only = true;
    let Ok(quote) = plain(context, &body) else {
        return failure;
    };
    let problem = failure.problem.as_ref();
    if let Some(available) = problem.and_then(|problem| problem.available.as_ref())
        && let Some(missing) = figure::difference(&quote.cost, available)
    {
        let who = quote
            .project
            .as_deref()
            .or(body.project.as_deref())
            .unwrap_or("the account");
        let form = &context.form;
        let (available, missing) = (form.amount(available), form.amount(&missing));
        failure.what = format!(
            "refused: insufficient funds: {who} has {available} {}, short by {missing}",
            quote.unit
        );
    }
    if context.form.is_table() && !context.quiet {
        failure.before = Some(lines(&context.form, &quote.lines, 0));
    }
    failure
}

/// The lines of the price, then what is available.
fn text(form: &Form, quote: &Quote) -> String {
    let available = quote.available.as_ref().map(|amount| form.amount(amount));
    let least = available.as_deref().map_or(0, out::width);
    let mut out = lines(form, &quote.lines, least);
    if quote.lines.is_empty() {
        let _ = writeln!(out, "cost {} {}", form.amount(&quote.cost), quote.unit);
    }
    if let Some(available) = available {
        let who = quote
            .project
            .as_deref()
            .or(quote.account.as_deref())
            .unwrap_or("the account");
        let (label, amount) = widths(form, &quote.lines, least);
        let remaining = quote
            .remaining
            .as_ref()
            .map(|amount| format!(" ({} would remain)", form.amount(amount)))
            .unwrap_or_default();
        let line = format!(
            "{} {available:>amount$} {} available: the job can start{remaining}",
            padded(&format!("{who} has"), label),
            quote.unit
        );
        out.push_str(&fitted(&line, form.width, |_| label + 1));
    } else if let (Some(_), Some(project)) = (&quote.needed, &quote.project) {
        let _ = writeln!(
            out,
            "{project}: the partner bank has its credits, and the job can start"
        );
    }
    let mut below = String::new();
    if let (Some(id), Some(tid)) = (quote.id, &quote.tid) {
        let until = quote
            .valid_until
            .as_ref()
            .map(|time| when::moment(time, form.zone));
        let until = until
            .map(|time| format!(", valid until {time}, exclusive"))
            .unwrap_or_default();
        let _ = writeln!(below, "guaranteed as quote {id} (TID {tid}){until}");
    }
    if let Some(transaction) = quote.transaction {
        let _ = writeln!(below, "transaction {transaction}");
    }
    out + &fitted(&below, form.width, |_| 2)
}

/// `64 procs × 12:00:00 =     768.000 core-hours`, with the amounts below one another.
fn lines(form: &Form, lines: &[QuoteLine], least: usize) -> String {
    let (label, amount) = widths(form, lines, least);
    let line = |line: &QuoteLine| {
        format!(
            "{} = {:>amount$} {}\n",
            padded(&spoken(form, &line.text), label),
            form.amount(&line.amount),
            line.unit
        )
    };
    let text: String = lines.iter().map(line).collect();
    fitted(&text, form.width, |_| label + 1)
}

/// A text with blanks behind it, so wide at least.
fn padded(text: &str, wide: usize) -> String {
    let blanks = wide.saturating_sub(out::width(text));
    format!("{text}{:blanks$}", "")
}

/// `4,096 procs × …`: the thousands of the number in front are separated.
fn spoken(form: &Form, text: &str) -> String {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at(end);
    if number.is_empty() || !rest.starts_with(' ') {
        return text.to_owned();
    }
    format!("{}{rest}", form.amount(number))
}

/// The widths of the texts and of the amounts. Texts that leave no room for an amount and its unit are not
/// counted: their lines continue below themselves.
fn widths(form: &Form, lines: &[QuoteLine], least: usize) -> (usize, usize) {
    let amounts = lines
        .iter()
        .map(|line| out::width(&form.amount(&line.amount)));
    let amount = amounts.max().unwrap_or(0).max(least);
    let units = lines.iter().map(|line| out::width(&line.unit)).max();
    let room = form
        .width
        .saturating_sub(amount + units.unwrap_or(0) + " =  ".len());
    let texts = lines
        .iter()
        .map(|line| out::width(&spoken(form, &line.text)));
    let label = texts.filter(|text| *text <= room).max();
    (label.unwrap_or(0), amount)
}

fn sheet(quote: &Quote) -> Sheet {
    use crate::out::{Kind, column};
    let columns = vec![
        column("cost", "Cost", Kind::Amount),
        column("available", "Available", Kind::Amount),
        column("remaining", "Remaining", Kind::Amount),
        column("project", "Project", Kind::Text),
        column("account", "Account", Kind::Text),
        column("id", "Id", Kind::Number),
        column("valid_until", "Valid until", Kind::Time),
        column("unit", "Unit", Kind::Text),
        column("needed", "Needed", Kind::Amount).on_request(),
        column("tid", "TID", Kind::Text).on_request(),
        column("valid_from", "Valid from", Kind::Time).on_request(),
        column("transaction", "Txn", Kind::Number).on_request(),
    ];
    Sheet::new(columns, std::slice::from_ref(quote), "no quote")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::out::{assert_fits, filled, test_form};

    fn line(text: &str, amount: &str, unit: &str) -> QuoteLine {
        QuoteLine {
            text: text.into(),
            amount: amount.into(),
            unit: unit.into(),
        }
    }

    #[test]
    fn the_widest_quote_fits_a_terminal() {
        for mut quote in filled::<Quote>() {
            assert_fits(&text(&test_form(), &quote));
            // One line with a long text, and one with a short one.
            quote.lines = vec![line("1 proc", "1.000", "SU"), quote.lines.remove(0)];
            assert_fits(&text(&test_form(), &quote));
        }
    }
}
