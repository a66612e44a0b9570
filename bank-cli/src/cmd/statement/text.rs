//! A statement for people, on the screen.

use bank_api::v1::{Statement, StatementGroup, StatementLine, StatementPart};
use bank_picture::{NOBODY, Zone, figure};

use super::Writer;
use crate::{
    context::Context,
    fail::Failure,
    out::{self, Column, Form, Kind, Parts, Row, Sheet, column, fitted, sentences},
    printable::printable,
    when,
};

/// The columns in which balances and movements end.
const BALANCE: usize = 58;
const MOVEMENT: usize = 59;
/// A forecast is told where money is used up within so many days.
const FORECAST_DAYS: i64 = 90;

/// The screen: each line as it comes, then the sums.
pub(super) struct Screen {
    form: Form,
    parts: Parts,
}

impl Screen {
    pub(super) fn new(context: &Context) -> Self {
        Self {
            form: context.form.clone(),
            parts: Parts::new(&context.form),
        }
    }
}

impl Writer for Screen {
    fn head(&self, statement: &Statement) -> Result<String, Failure> {
        Ok(headline(&self.form, statement, &statement.unit))
    }

    fn lines(
        &mut self,
        statement: &Statement,
        lines: &[StatementLine],
        after: &[Option<String>],
        first: bool,
    ) -> Result<String, Failure> {
        if lines.is_empty() {
            return Ok(String::new());
        }
        let opening = statement.opening.as_ref().filter(|_| first);
        let opening = opening.map(|left| {
            let row = serde_json::json!({"kind": "opening", "left": left});
            out::row(&row)
        });
        let moved = lines.iter().zip(after).map(|(line, left)| {
            let mut row = out::row(line);
            let mark = if line.adjustment { "*" } else { "" };
            row.insert("kind".to_owned(), format!("{}{mark}", line.kind).into());
            row.insert("left".to_owned(), left.clone().into());
            row
        });
        let rows: Vec<Row> = opening.into_iter().chain(moved).collect();
        let columns = columns(statement.opening.is_some());
        self.parts.lines(&Sheet::new(columns, &rows, ""))
    }

    fn foot(&mut self, statement: &Statement) -> Result<String, Failure> {
        let mut out = self.parts.end() + "\n";
        if adjusted(statement) {
            let mark = "* adjustment of a closed period; the original date is shown";
            out.push_str(&sentences(mark, self.form.width));
        }
        out.push_str(&sums(&self.form, statement, false));
        Ok(out)
    }
}

/// The columns of movements.
fn columns(has_left: bool) -> Vec<Column> {
    vec![
        column("at", "Time", Kind::Time).wide(19),
        column("kind", "Kind", Kind::Text).wide(15),
        column("account", "Account", Kind::Text).on_request(),
        column("allocation", "Allocation", Kind::Number).on_request(),
        column("project", "Project", Kind::Text)
            .wide(12)
            .secondary(),
        column("user", "User", Kind::Text).wide(10),
        column("machine", "Machine", Kind::Text).on_request(),
        column("job", "Job", Kind::Text).wide(14),
        column("amount", "Amount", Kind::Amount).wide(16),
        column("left", "Left", Kind::Amount)
            .wide(16)
            .on_screen_if(has_left),
        column("transaction", "Txn", Kind::Number).on_request(),
        column("job_type", "Type", Kind::Text).on_request(),
        column("entry", "Entry", Kind::Number).on_request(),
    ]
}

/// The sums alone.
pub(super) fn summary(form: &Form, statement: &Statement) -> String {
    let whole = is_whole(statement);
    let unit = if whole {
        format!("whole {}", statement.unit)
    } else {
        statement.unit.clone()
    };
    headline(form, statement, &unit) + &sums(form, statement, whole)
}

fn headline(form: &Form, statement: &Statement, unit: &str) -> String {
    let whose = match statement.of.as_str() {
        "project" => String::new(),
        of => format!("{of} "),
    };
    let line = format!(
        "Statement  {whose}{}  {}",
        printable(&statement.name),
        period(form.zone, statement)
    );
    // Fewer blanks before the unit rather than a second line.
    let blanks = form
        .width
        .saturating_sub(out::width(&line) + out::width(unit))
        .clamp(2, 6);
    fitted(&format!("{line}{:blanks$}{unit}", ""), form.width, |_| 11)
}

/// `from 2026-10-01 to 2026-11-21 (exclusive), 51 days`.
pub(super) fn period(zone: Zone, statement: &Statement) -> String {
    let until = when::date(&statement.until, zone);
    let Some(from) = &statement.from else {
        return format!("from the beginning to {until} (exclusive)");
    };
    let days = when::read(from)
        .zip(when::read(&statement.until))
        .map(|(from, until)| when::dates_between(from, until, zone));
    let days = days.map(|days| format!(", {}", counted(days, "day")));
    format!(
        "from {} to {until} (exclusive){}",
        when::date(from, zone),
        days.unwrap_or_default()
    )
}

/// Opening, what came and went, closing, and what follows from it.
fn sums(form: &Form, statement: &Statement, whole: bool) -> String {
    let shown = |amount: &str| shown(form, amount, whole);
    let line = |left: &str, amount: &str, end| line(left, amount, end, form.width);
    let mut out = String::new();
    if let Some(opening) = &statement.opening {
        out.push_str(&line("Opening amount", &shown(opening), BALANCE));
    }
    for (left, amount) in movements(statement) {
        out.push_str(&line(&left, &shown(&amount), MOVEMENT));
    }
    if let Some(closing) = &statement.closing {
        out.push_str(&line("Closing amount", &shown(closing), BALANCE));
    } else {
        let sum = figure::added(&statement.total_credits, &statement.total_debits);
        out.push_str(&line("Total", &shown(&sum.unwrap_or_default()), BALANCE));
    }
    for (left, amount) in beside(statement) {
        out.push_str(&line(&left, &shown(&amount), BALANCE));
    }
    for remark in remarks(form, statement) {
        out.push_str(&sentences(&remark, form.width));
    }
    out + &parts(form, statement, whole)
}

/// What came and went, a line for each heading; those of closed periods last.
pub(super) fn movements(statement: &Statement) -> Vec<(String, String)> {
    let mut lines = Vec::new();
    let of = |groups: &[StatementGroup], heading: &str| -> Option<StatementGroup> {
        let mut own = groups.iter().filter(|group| !group.adjustment);
        own.find(|group| group.heading == heading).cloned()
    };
    let none = |heading: &str| StatementGroup {
        heading: heading.to_owned(),
        amount: zero(&statement.total_credits),
        ..StatementGroup::default()
    };
    let has_balances = statement.opening.is_some();
    // Counts stand in a column of their own, however long a heading is.
    let all = statement.credits.iter().chain(&statement.debits);
    let longest = all.map(|group| label('+', group).chars().count()).max();
    let wide = longest.unwrap_or(0).max(12);
    let heading = |sign: char, group: &StatementGroup| heading(sign, group, wide);
    let deposits = of(&statement.credits, "deposits");
    let refunds = of(&statement.credits, "refunds").unwrap_or_else(|| none("refunds"));
    if deposits.is_none() && has_balances {
        let left = format!(
            "{:<wide$}{:>6}      + refunds{:>7} {}",
            "+ deposits",
            0,
            grouped(refunds.jobs),
            noun(refunds.jobs, "job")
        );
        lines.push((left, refunds.amount));
    } else {
        lines.extend(deposits.map(|group| heading('+', &group)));
        lines.push(heading('+', &refunds));
    }
    let others = |groups: &[StatementGroup], known: &[&str]| -> Vec<StatementGroup> {
        let is_other = |g: &&StatementGroup| !g.adjustment && !known.contains(&g.heading.as_str());
        groups.iter().filter(is_other).cloned().collect()
    };
    let more = others(&statement.credits, &["deposits", "refunds"]);
    lines.extend(more.iter().map(|group| heading('+', group)));
    let charges = of(&statement.debits, "charges").unwrap_or_else(|| none("charges"));
    lines.push(heading('\u{2212}', &charges));
    let more = others(&statement.debits, &["charges"]);
    lines.extend(more.iter().map(|group| heading('\u{2212}', group)));
    for (sign, groups) in [('+', &statement.credits), ('\u{2212}', &statement.debits)] {
        for group in groups.iter().filter(|group| group.adjustment) {
            let (left, amount) = heading(sign, group);
            lines.push((format!("{left}  adjusting a closed period"), amount));
        }
    }
    lines
}

fn label(sign: char, group: &StatementGroup) -> String {
    format!("{sign} {}", group.label())
}

/// `− charges    1,893 jobs`, the count behind so many letters.
fn heading(sign: char, group: &StatementGroup, wide: usize) -> (String, String) {
    let label = label(sign, group);
    let (count, noun) = if matches!(group.heading.as_str(), "charges" | "refunds") {
        (group.jobs, noun(group.jobs, "job"))
    } else {
        (group.entries, String::new())
    };
    let left = format!("{label:<wide$}{:>6} {noun}", grouped(count));
    (left.trim_end().to_owned(), group.amount.clone())
}

/// What is said of the closing: held, available, debt.
pub(super) fn beside(statement: &Statement) -> Vec<(String, String)> {
    let mut lines = Vec::new();
    let some = |amount: &Option<String>| amount.clone().filter(|amount| !figure::is_zero(amount));
    if let Some(held) = some(&statement.held) {
        let jobs = counted(statement.liens.unwrap_or_default(), "running job");
        lines.push((format!("of which held by {jobs}"), held));
    }
    if let Some(limit) = some(&statement.credit_limit) {
        lines.push(("Credit limit".to_owned(), limit));
        lines.extend(
            statement
                .available
                .clone()
                .map(|a| ("Available".to_owned(), a)),
        );
    }
    lines.extend(some(&statement.debt).map(|debt| ("In debt by".to_owned(), debt)));
    lines
}

/// Sentences below the sums.
pub(super) fn remarks(form: &Form, statement: &Statement) -> Vec<String> {
    let mut message = Vec::new();
    let soon = || {
        let empty = when::read(statement.empty_at.as_ref()?)?;
        let until = when::read(&statement.until)?;
        let rate = figure::scaled(statement.burn_per_day.as_ref()?, 1, 1, 0)?;
        (when::days_between(until, empty) <= FORECAST_DAYS).then(|| {
            let day = form.zone.day(empty);
            let (rate, unit) = (form.amount(&rate), &statement.unit);
            format!("At {rate} {unit}/day it is empty on {day}.")
        })
    };
    message.extend(soon());
    match (statement.of.as_str(), statement.tree) {
        ("project", false) => message.push("Without sub-projects.".to_owned()),
        ("project", true) => message.push("With sub-projects.".to_owned()),
        _ => {}
    }
    if statement.closed {
        message.push(format!(
            "Closed by transaction {}. This statement is final.",
            statement.transaction
        ));
    }
    message
}

/// Who was charged what, and the share of each.
fn parts(form: &Form, statement: &Statement, whole: bool) -> String {
    if statement.parts.is_empty() {
        return String::new();
    }
    let total = figure::sum(statement.parts.iter().map(|part| part.charged.as_str()));
    let total = total.unwrap_or_default();
    let row = |part: &StatementPart| {
        let share = figure::percent(&part.charged, &total);
        serde_json::json!({
            "name": named(part.name.as_ref()),
            "jobs": grouped(part.jobs),
            "charged": decimals(&part.charged, whole),
            "refunded": decimals(&part.refunded, whole),
            "share": share.map(|share| format!("{share}%")),
        })
    };
    let rows: Vec<_> = statement.parts.iter().map(row).collect();
    let by = if has_users(statement) {
        "By user"
    } else {
        "By project"
    };
    let columns = vec![
        column("name", by, Kind::Text).wide(12),
        column("jobs", "jobs", Kind::Number),
        column("charged", "charged", Kind::Amount).wide(10),
        column("refunded", "refunded", Kind::Amount).wide(10),
        column("share", "share", Kind::Number),
    ];
    form.table(&Sheet::new(columns, &rows, ""))
}

/// Whether its parts are users.
pub(super) fn has_users(statement: &Statement) -> bool {
    matches!(statement.of.as_str(), "project" | "account")
}

/// The name of a part.
pub(super) fn named(name: Option<&String>) -> String {
    name.map_or_else(|| NOBODY.to_owned(), |name| printable(name))
}

/// Whether anything corrects a closed period.
pub(super) fn adjusted(statement: &Statement) -> bool {
    let mut all = statement.credits.iter().chain(&statement.debits);
    all.any(|group| group.adjustment)
}

/// Whether no amount has anything behind its point.
fn is_whole(statement: &Statement) -> bool {
    let groups = statement.credits.iter().chain(&statement.debits);
    let ends = [
        &statement.opening,
        &statement.closing,
        &statement.held,
        &statement.credit_limit,
        &statement.debt,
    ];
    let parts = statement.parts.iter();
    let parts = parts.flat_map(|part| [&part.charged, &part.refunded]);
    let mut all = groups
        .map(|group| &group.amount)
        .chain(ends.into_iter().flatten())
        .chain(parts);
    all.all(|amount| figure::is_whole(amount))
}

fn shown(form: &Form, amount: &str, whole: bool) -> String {
    form.amount(decimals(amount, whole))
}

/// An amount without its decimals if all are whole.
fn decimals(amount: &str, whole: bool) -> &str {
    match amount.split_once('.') {
        Some((whole_part, _)) if whole => whole_part,
        _ => amount,
    }
}

/// The left side, and the amount so that it ends in a column; below the left side if there is no room
/// beside it.
fn line(left: &str, amount: &str, end: usize, limit: usize) -> String {
    let taken = left.chars().count() + 2;
    let long = amount.chars().count();
    if taken + long > limit {
        return format!("{left}\n{amount:>width$}\n", width = end.max(long));
    }
    let width = end.saturating_sub(taken).max(long);
    format!("{left}  {amount:>width$}\n")
}

fn zero(like: &str) -> String {
    let decimals = like
        .split_once('.')
        .map_or(0, |(_, fraction)| fraction.len());
    figure::plain(0, decimals)
}

fn grouped(count: i64) -> String {
    figure::grouped(&count.to_string())
}

fn noun(count: i64, word: &str) -> String {
    if count == 1 {
        word.to_owned()
    } else {
        format!("{word}s")
    }
}

fn counted(count: i64, word: &str) -> String {
    figure::counted(&count.to_string(), word)
}
