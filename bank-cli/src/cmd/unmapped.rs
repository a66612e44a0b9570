//! `bank unmapped`: usage that waits for a project, and the project that gets it.

use std::fmt::Write as _;

use bank_api::text;
use bank_api::v1::{
    AssignDone, AssignReason, AssignRefused, List, NewAssign, Status, Unmapped, UnmappedQuery,
};
use bank_picture::figure::{self, grouped};
use ureq::http::Method;

use super::{Record, confirm, mapping};
use crate::{
    cli::{AssignArgs, UnmappedArgs, UnmappedCommand, WriteArgs},
    context::Context,
    fail::Failure,
    out::{self, Kind, Sheet, column},
};

/// Refusals that are told one by one; the others are counted.
const LISTED_MAX: usize = 20;

pub(super) fn run(context: &Context, args: UnmappedArgs) -> Result<String, Failure> {
    match args.command {
        Some(UnmappedCommand::Assign(args)) => assign(context, args),
        None => list(context, args),
    }
}

fn list(context: &Context, args: UnmappedArgs) -> Result<String, Failure> {
    let query = UnmappedQuery {
        by: args.by,
        source: args.source,
        machine: args.machine,
        account: args.account,
        user: args.user,
        ..UnmappedQuery::default()
    };
    let report: Unmapped = context.whole(&["unmapped"], &query)?;
    if !report.complete {
        out::warn("more than 100,000 groups: those that are not listed are in the total");
    }
    let mut sheet = sheet(context, &report);
    sheet.attention.extend(unbilled_jobs(context));
    context.form.list(&report, &sheet)
}

/// A line about the jobs whose price is on `#unbilled`: those of records, and those of schedulers and people, which no
/// mapping assigns.
fn unbilled_jobs(context: &Context) -> Option<String> {
    if context.is_json() {
        return None;
    }
    // The list is complete without it.
    let status: Status = context.get(&["status"], &()).ok()?;
    let unbilled = status.unbilled.filter(|unbilled| unbilled.count > 0)?;
    let (amount, unit) = (context.form.amount(&unbilled.amount), &status.unit);
    let jobs = figure::counted(&unbilled.count.to_string(), "job");
    Some(format!(
        "{jobs} on #unbilled, {amount} {unit}, with those that schedulers and people charged: \
         `bank jobs --outcome unbilled` lists them, `bank settle JOB -A PROJECT` bills one"
    ))
}

fn sheet(context: &Context, report: &Unmapped) -> Sheet {
    let items = &report.items;
    let columns = vec![
        column("source", "Source", Kind::Text)
            .on_screen_if(items.iter().any(|row| row.source.is_some())),
        column("machine", "Machine", Kind::Text)
            .on_screen_if(items.iter().any(|row| row.machine.is_some())),
        column("account", "Account", Kind::Text)
            .on_screen_if(items.iter().any(|row| row.account.is_some())),
        column("user", "User", Kind::Text).on_screen_if(items.iter().any(|row| row.user.is_some())),
        column("group", "Group", Kind::Text)
            .on_screen_if(items.iter().any(|row| row.group.is_some())),
        column("queue", "Queue", Kind::Text)
            .on_screen_if(items.iter().any(|row| row.queue.is_some())),
        column("records", "Records", Kind::Number),
        column("core_hours", "Core-hours", Kind::Amount),
        column("unbilled", "On #unbilled", Kind::Amount),
        column("shadow", "Shadow", Kind::Amount),
        column("first", "First start", Kind::Time),
        column("last", "Last end", Kind::Time),
    ];
    let mut sheet = Sheet::new(columns, items, "no unmapped usage");
    sheet = sheet.unit(&report.unit);
    let total = &report.total;
    if total.records > 0 {
        sheet.remark = format!(
            "In all {}, {} core-hours, {} on #unbilled. \
             `bank unmapped assign account=NAME PROJECT` gives them to a project.",
            text::counted(total.records, "record"),
            context.form.amount(&total.core_hours),
            context.form.amount(&total.unbilled),
        );
    }
    sheet
}

/// What would happen first, then the mapping, then the records, page by page.
fn assign(context: &Context, args: AssignArgs) -> Result<String, Failure> {
    let AssignArgs {
        when,
        project,
        user,
        pi,
        no_rule,
        remove,
    } = args;
    let body = NewAssign {
        when,
        project,
        user,
        pi,
        ..NewAssign::default()
    };
    let write = &remove.write;
    let mut rule = Record::new();
    rule.insert("when".to_owned(), body.when.clone().into());
    rule.insert("project".to_owned(), body.project.clone().into());
    rule.insert("user".to_owned(), body.user.clone().into());
    rule.insert("pi".to_owned(), body.pi.clone().into());
    let known = if no_rule { None } else { same(context, &rule)? };
    let requested = !no_rule && known.is_none();
    let dry = WriteArgs {
        dry_run: true,
        key: None,
    };
    if requested {
        mapping::posted(context, &rule, &dry)?;
    }
    let trial = |why: &str| -> Result<AssignDone, Failure> {
        let done = all(context, &body, &dry)?;
        out::warn(&format!("{why}: {}", sentence(&done, &body.project)));
        Ok(done)
    };
    if write.dry_run {
        let done = all(context, &body, &dry)?;
        return assigned(context, &done, &body.project, None, requested);
    }
    if !remove.yes {
        trial("this would happen")?;
        confirm(&format!("give this usage to project {:?}", body.project))?;
    }
    let made = match known {
        Some(id) => Some(id),
        None if requested => number(&mapping::posted(context, &rule, write)?.object),
        None => None,
    };
    let body = NewAssign {
        mapping: made,
        ..body
    };
    let done = all(context, &body, write)?;
    assigned(context, &done, &body.project, made, false)
}

/// An existing mapping that does the same.
fn same(context: &Context, rule: &Record) -> Result<Option<i64>, Failure> {
    let list: List<Record> = context.all(&["mappings"], &())?;
    let is = |own: &&Record| {
        rule.iter()
            .all(|(field, value)| own.get(field) == Some(value))
    };
    Ok(list.items.iter().find(is).and_then(number))
}

fn number(record: &Record) -> Option<i64> {
    record.get("id")?.as_i64()
}

/// Page after page until all was seen. What is done stays done: the same command goes on.
fn all(context: &Context, body: &NewAssign, write: &WriteArgs) -> Result<AssignDone, Failure> {
    let mut whole = AssignDone {
        dry_run: write.dry_run,
        ..AssignDone::default()
    };
    let mut body = body.clone();
    loop {
        let sent = context.send(Method::POST, &["unmapped", "assign"], &body, write);
        let page: AssignDone = sent.map_err(|failure: Failure| {
            failure.hint("completed assignments stay: the same command continues".to_owned())
        })?;
        body.after.clone_from(&page.next);
        add(&mut whole, page);
        if body.after.is_none() {
            return Ok(whole);
        }
    }
}

fn add(whole: &mut AssignDone, page: AssignDone) {
    whole.records += page.records;
    whole.changed += page.changed;
    whole.was = plus(&whole.was, &page.was);
    whole.amount = plus(&whole.amount, &page.amount);
    whole.debt = plus(&whole.debt, &page.debt);
    whole.unit = page.unit;
    whole.refused.extend(page.refused);
    for reason in page.reasons {
        let same = |own: &&mut AssignReason| own.code == reason.code;
        match whole.reasons.iter_mut().find(same) {
            Some(own) => own.records += reason.records,
            None => whole.reasons.push(reason),
        }
    }
    whole.transaction = whole.transaction.or(page.transaction);
}

/// The sum of two decimals with the same places; the first may be empty.
fn plus(one: &str, two: &str) -> String {
    let places = two.split_once('.').map_or(0, |(_, part)| part.len());
    let minor = |text: &str| -> i128 { text.replace('.', "").parse().unwrap_or(0) };
    let sum = minor(one).saturating_add(minor(two));
    let digits = format!("{:0>width$}", sum.unsigned_abs(), width = places + 1);
    let (whole, part) = digits.split_at(digits.len() - places);
    let sign = if sum < 0 { "-" } else { "" };
    if places == 0 {
        return format!("{sign}{whole}");
    }
    format!("{sign}{whole}.{part}")
}

fn sentence(done: &AssignDone, project: &str) -> String {
    let mut text = format!(
        "{} of {} records go to project {project:?}: their charges and shadow charges were {} {unit}, and are {} {unit} now",
        done.changed,
        done.records,
        grouped(&done.was),
        grouped(&done.amount),
        unit = done.unit
    );
    for reason in &done.reasons {
        let AssignReason {
            code,
            detail,
            records,
        } = reason;
        // Writing into a text never fails.
        let _ = write!(text, "; {records} stay ({code}: {detail})");
    }
    text
}

fn assigned(
    context: &Context,
    done: &AssignDone,
    project: &str,
    mapping: Option<i64>,
    would_add: bool,
) -> Result<String, Failure> {
    for AssignRefused {
        source,
        id,
        code,
        detail,
    } in done.refused.iter().take(LISTED_MAX)
    {
        out::warn(&format!("{source} {id}: {code}: {detail}"));
    }
    let refused = done.refused.len();
    let mut text = sentence(done, project);
    if let Some(id) = mapping {
        text = format!("{text}; mapping {id} assigns later usage too");
    }
    if would_add {
        text = format!("{text}; a mapping would assign later usage too");
    }
    let message = context.done(done, &text, done.transaction, done.dry_run, &[])?;
    if refused == 0 {
        return Ok(message);
    }
    let mut failure = Failure::of(
        bank_api::exit::bank::REFUSED,
        format!(
            "{} could not be given to project {project:?}",
            text::counted(refused, "record")
        ),
    );
    failure.before = Some(message);
    Err(failure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_add_up_to_the_last_place() {
        for (one, two, sum) in [
            ("", "0.000", "0.000"),
            ("1.005", "2.995", "4.000"),
            ("-0.010", "0.003", "-0.007"),
            ("7", "5", "12"),
            ("99999999999999999999.9", "0.1", "100000000000000000000.0"),
        ] {
            assert_eq!(plus(one, two), sum, "{one} + {two}");
        }
    }
}
