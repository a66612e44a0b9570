//! `bank statement`: what came and went, on the screen, for scripts, and as a page to print.
//!
//! Lines come page by page and go out as they come, so that a long statement needs little memory;
//! that they add up to the statement is checked before the end is written (`movements`).

mod html;
mod text;

use bank_api::v1::{List, Statement, StatementGroup, StatementLine, StatementQuery, StatementSum};
use bank_picture::reports::money::Track;
use bank_picture::{self as picture, Chart, Report, Section, figure};

use self::html::Html;
use super::burn;
use super::movements::pages;
use crate::{
    cli::{Format, PeriodArgs, StatementArgs},
    context::Context,
    fail::Failure,
    out::{Kind, Parts, Sheet, column},
    period, when,
};

/// Movements of a page of HTML at most: a browser should open it, and somebody print it.
const MOVEMENTS_MAX: i64 = 50_000;

pub(super) fn run(context: &Context, args: &StatementArgs) -> Result<String, Failure> {
    let query = query(context, args)?;
    let (query, statement) = ask(context, query, args.name.is_some())?;
    if args.chart {
        let page = || charts(context, &query, &statement);
        if let Some(answer) = context.charted(page) {
            return answer;
        }
    }
    if args.summary {
        return summary(context, &query, &statement);
    }
    match context.form.format {
        Format::Table => itemised(context, &query, &statement, &mut text::Screen::new(context)),
        Format::Html if statement.entries > MOVEMENTS_MAX => Err(too_long(statement.entries)),
        Format::Html => itemised(
            context,
            &query,
            &statement,
            &mut pictured(context, &query, &statement)?,
        ),
        Format::Svg => drawing(context, &query, &statement),
        Format::Json => itemised(context, &query, &statement, &mut Json),
        _ => separated(context, &query, &statement),
    }
}

/// What is said of a page that nobody could open.
fn too_long(movements: i64) -> Failure {
    let shown = |count: i64| figure::grouped(&count.to_string());
    Failure::usage(format!(
        "the page is too large: the statement has {} movements; the limit is {}",
        shown(movements),
        shown(MOVEMENTS_MAX)
    ))
    .hint("--summary for the sums alone, or a shorter period; --csv has every movement")
}

/// What is asked for; the name of the command line is taken for a project's first.
fn query(context: &Context, args: &StatementArgs) -> Result<StatementQuery, Failure> {
    let is_drawn = args.chart || matches!(context.form.format, Format::Html | Format::Svg);
    let at = context.time(args.at.at.as_ref())?;
    let now_us = at.as_deref().and_then(when::read);
    let (from, until) = times(context, &args.period, now_us.unwrap_or(context.now_us))?;
    let mut query = StatementQuery {
        project: args.project.clone().or_else(|| args.name.clone()),
        account: args.account.clone(),
        user: args.user.clone(),
        machine: args.machine.clone(),
        tree: args.tree,
        from,
        until,
        at,
        recorded: args.at.recorded,
        samples: Some(burn::SAMPLES).filter(|_| is_drawn),
    };
    let named = [&query.project, &query.account, &query.user, &query.machine];
    if named.iter().all(|name| name.is_none()) {
        query.project.clone_from(&context.project);
        if query.project.is_none() {
            return Err(Failure::usage("the project or account is missing").hint(
                "name a project or an account, or one of -A PROJECT, -a ACCOUNT, -u USER, -m MACHINE",
            ));
        }
    }
    Ok(query)
}

/// The period: what was named, else the month so far.
pub(super) fn times(
    context: &Context,
    args: &PeriodArgs,
    now_us: i64,
) -> Result<(Option<String>, Option<String>), Failure> {
    let zone = context.zone;
    if let Some((_, named)) = period::named(&args.named, zone)? {
        return Ok((Some(named.from), Some(named.until)));
    }
    let (from, until) = (
        context.time(args.from.as_ref())?,
        context.time(args.to.as_ref())?,
    );
    if from.is_none() && until.is_none() {
        return Ok((Some(period::first_of_month(now_us, zone)?), None));
    }
    Ok((from, until))
}

/// The statement; a name alone may be that of an account.
fn ask(
    context: &Context,
    query: StatementQuery,
    is_name: bool,
) -> Result<(StatementQuery, Statement), Failure> {
    let first = context.get(&["statements"], &query);
    let failure = match first {
        Ok(statement) => return Ok((query, statement)),
        Err(failure) => failure,
    };
    let could_be = failure.is("not_found") || failure.is("no_usable_account");
    if !is_name || !could_be || query.tree {
        return Err(failure);
    }
    let of_account = StatementQuery {
        account: query.project.clone(),
        project: None,
        ..query
    };
    match context.get(&["statements"], &of_account) {
        Ok(statement) => Ok((of_account, statement)),
        Err(_) => Err(failure),
    }
}

/// What the movements come to: they are read for this once more, so that little memory is needed.
fn tracked(
    context: &Context,
    query: &StatementQuery,
    statement: &Statement,
) -> Result<Track, Failure> {
    let mut track = burn::track(context, statement);
    pages(context, query, statement, |lines| {
        for line in &lines {
            track.take(line);
        }
        Ok(true)
    })?;
    Ok(track)
}

/// The page with its pictures.
fn pictured(
    context: &Context,
    query: &StatementQuery,
    statement: &Statement,
) -> Result<Html, Failure> {
    let track = tracked(context, query, statement)?;
    let burn = burn::of_statement(context, query, statement, &track)?;
    Ok(Html::new(context).with(burn, track.charged(&statement.unit)?))
}

/// Both pictures, in plain characters.
fn charts(
    context: &Context,
    query: &StatementQuery,
    statement: &Statement,
) -> Result<Report, Failure> {
    let track = tracked(context, query, statement)?;
    let name = &statement.name;
    let burn = burn::of_statement(context, query, statement, &track)?;
    let burn = burn.map(|burn| {
        let title = format!("Burn-down of {name}");
        Section::chart(&title, Chart::Burn(Box::new(burn)))
    });
    let charged = track.charged(&statement.unit)?;
    let by = format!("Charged by {}", charged.what);
    let bars = Section::chart(&by, Chart::Bars(charged.bars()));
    let columns = Section::chart("Charged over time", Chart::Columns(charged));
    let sections = burn.into_iter().chain([bars, columns]).collect();
    Ok(context.report("Statement", Vec::new(), sections))
}

/// One picture: the burn-down, or of a user or a machine what was charged.
fn drawing(
    context: &Context,
    query: &StatementQuery,
    statement: &Statement,
) -> Result<String, Failure> {
    let track = tracked(context, query, statement)?;
    let name = &statement.name;
    let burn = burn::of_statement(context, query, statement, &track)?;
    let (title, chart) = if let Some(burn) = burn {
        (format!("Burn-down of {name}"), Chart::Burn(Box::new(burn)))
    } else {
        let charged = track.charged(&statement.unit)?;
        (format!("Charged to {name}"), Chart::Columns(charged))
    };
    let section = Section::chart(&title, chart);
    Ok(picture::drawing(&context.report(
        "Statement",
        Vec::new(),
        vec![section],
    )))
}

fn summary(
    context: &Context,
    query: &StatementQuery,
    statement: &Statement,
) -> Result<String, Failure> {
    match context.form.format {
        Format::Table => Ok(text::summary(&context.form, statement)),
        Format::Html => {
            let html = pictured(context, query, statement)?;
            Ok(html.head(statement) + &Html::foot())
        }
        Format::Svg => drawing(context, query, statement),
        Format::Json | Format::Jsonl => context.form.one(statement, &Sheet::default()),
        _ => context.form.list(&sums(statement), &sums_sheet(statement)),
    }
}

/// Opening, each heading, closing.
fn sums(statement: &Statement) -> Vec<StatementSum> {
    let end = |heading: &str, amount: &Option<String>| {
        amount.as_ref().map(|amount| StatementSum {
            side: "balance".to_owned(),
            heading: heading.to_owned(),
            adjustment: false,
            amount: amount.clone(),
            entries: None,
            jobs: None,
        })
    };
    let of = |side: &str, groups: &[StatementGroup]| -> Vec<StatementSum> {
        let sum = |group: &StatementGroup| StatementSum {
            side: side.to_owned(),
            heading: group.heading.clone(),
            adjustment: group.adjustment,
            amount: group.amount.clone(),
            entries: Some(group.entries),
            jobs: Some(group.jobs),
        };
        groups.iter().map(sum).collect()
    };
    let mut rows: Vec<StatementSum> = end("opening", &statement.opening).into_iter().collect();
    rows.extend(of("credit", &statement.credits));
    rows.extend(of("debit", &statement.debits));
    rows.extend(end("closing", &statement.closing));
    rows.extend(end("held", &statement.held));
    rows.extend(end("available", &statement.available));
    rows
}

fn sums_sheet(statement: &Statement) -> Sheet {
    let columns = vec![
        column("side", "Side", Kind::Text),
        column("heading", "Heading", Kind::Text),
        column("adjustment", "Adjustment", Kind::Text),
        column("amount", "Amount", Kind::Amount),
        column("entries", "Entries", Kind::Number),
        column("jobs", "Jobs", Kind::Number),
    ];
    Sheet::new(columns, &sums(statement), "no movements")
}

/// A form that is written as the lines come.
trait Writer {
    /// Before the lines.
    fn head(&self, statement: &Statement) -> Result<String, Failure>;
    /// Some lines, and what was left before them where that is known.
    fn lines(
        &mut self,
        statement: &Statement,
        lines: &[StatementLine],
        after: &[Option<String>],
        first: bool,
    ) -> Result<String, Failure>;
    /// After the lines.
    fn foot(&mut self, statement: &Statement) -> Result<String, Failure>;
}

/// A statement with its lines, printed as they come.
fn itemised(
    context: &Context,
    query: &StatementQuery,
    statement: &Statement,
    writer: &mut impl Writer,
) -> Result<String, Failure> {
    if !context.print(&writer.head(statement)?)? {
        return Ok(String::new());
    }
    let (mut first, mut left) = (true, statement.opening.clone());
    let all = pages(context, query, statement, |lines| {
        let mut after = Vec::with_capacity(lines.len());
        for line in &lines {
            left = left
                .take()
                .and_then(|left| figure::added(&left, &line.amount));
            after.push(left.clone());
        }
        let text = writer.lines(statement, &lines, &after, first)?;
        first = first && lines.is_empty();
        context.print(&text)
    })?;
    if all {
        return writer.foot(statement);
    }
    Ok(String::new())
}

/// JSON as one document: the statement, and its lines as `items`.
struct Json;

impl Writer for Json {
    fn head(&self, statement: &Statement) -> Result<String, Failure> {
        let statement = json(statement)?;
        Ok(format!("{{\"statement\":{statement},\n\"items\":["))
    }

    fn lines(
        &mut self,
        _: &Statement,
        lines: &[StatementLine],
        _: &[Option<String>],
        first: bool,
    ) -> Result<String, Failure> {
        let mut out = String::new();
        for (at, line) in lines.iter().enumerate() {
            out.push_str(if first && at == 0 { "\n" } else { ",\n" });
            out.push_str(&json(line)?);
        }
        Ok(out)
    }

    fn foot(&mut self, _: &Statement) -> Result<String, Failure> {
        Ok("\n]}\n".to_owned())
    }
}

fn json(value: &impl serde::Serialize) -> Result<String, Failure> {
    serde_json::to_string(value)
        .map_err(|error| Failure::internal(format!("cannot write JSON: {error}")))
}

/// Lines for scripts: separated values, or an object a line.
fn separated(
    context: &Context,
    query: &StatementQuery,
    statement: &Statement,
) -> Result<String, Failure> {
    let mut parts = Parts::new(&context.form);
    pages(context, query, statement, |lines| {
        let list = List::whole(lines);
        let text = parts.list(&list, &lines_sheet(&list.items, &statement.unit))?;
        context.print(&text)
    })?;
    Ok(String::new())
}

/// The columns of lines.
fn lines_sheet(lines: &[StatementLine], unit: &str) -> Sheet {
    let columns = vec![
        column("at", "Time", Kind::Time),
        column("kind", "Kind", Kind::Text),
        column("adjustment", "Adjustment", Kind::Text),
        column("account", "Account", Kind::Text),
        column("allocation", "Allocation", Kind::Number),
        column("project", "Project", Kind::Text),
        column("user", "User", Kind::Text),
        column("machine", "Machine", Kind::Text),
        column("job", "Job", Kind::Text),
        column("amount", "Amount", Kind::Amount),
        column("transaction", "Txn", Kind::Number),
        column("running", "Running sum", Kind::Amount).on_request(),
        column("job_type", "Type", Kind::Text).on_request(),
        column("entry", "Entry", Kind::Number).on_request(),
    ];
    Sheet::new(columns, lines, "no movements").unit(unit)
}

#[cfg(test)]
mod tests;
