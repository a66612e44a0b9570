//! `bank report personal`, `bank report efficiency-letter`: pages of one person. Every answer is in the view
//! of that person, also if somebody else requests it.

use bank_api::v1::{
    ContributionQuery, ContributionReport, EfficiencyLetter, EfficiencyQuery, EfficiencyReport,
    ExpiringRow, ForecastQuery, ForecastRow, List, PersonalReport, Statement, StatementQuery,
    UsageQuery, UsageTable,
};
use bank_picture::{self as picture, Report, personal};
use chrono::{Datelike as _, Days, Months, NaiveDate};
use serde::Serialize;
use serde_json::json;

use crate::{
    cli::{Command, Format, LetterArgs, PersonArgs, PersonalArgs, ReportCommand},
    config,
    context::Context,
    fail::Failure,
    out::{Kind, Sheet, column},
    period,
};

/// Statements on one page.
const PROJECTS_MAX: usize = 100;

/// The person in whose view a command asks; an empty name is the caller without roles over the whole bank.
pub(crate) fn view_as(command: &Command) -> Option<String> {
    let Command::Report(report) = command else {
        return None;
    };
    let of = match &report.command {
        ReportCommand::Personal(args) => &args.of,
        ReportCommand::EfficiencyLetter(args) => &args.of,
        _ => return None,
    };
    Some(of.user.clone().unwrap_or_default())
}

/// `bank report personal`
pub(super) fn report(context: &Context, args: &PersonalArgs) -> Result<String, Failure> {
    let (from, until) = times(context, &args.of, last_month)?;
    let own = asked(context, args, (from, until))?;
    if args.of.scheduled && personal::is_empty(&own) {
        return Ok(String::new());
    }
    let own = context.form.in_units(own)?;
    let page = personal::page(&own, context.zone, context.now_us);
    shown(context, &args.of, &own, &page)
}

/// `bank report efficiency-letter`
pub(super) fn letter(context: &Context, args: &LetterArgs) -> Result<String, Failure> {
    let (from, to) = times(context, &args.of, last_week)?;
    let query = EfficiencyQuery {
        from: Some(from),
        to: Some(to),
        by: Some(args.group_by.clone()),
        machine: args.machine.clone(),
        ..EfficiencyQuery::default()
    };
    let report: EfficiencyReport = context.get(&["report", "efficiency"], &query)?;
    if args.of.scheduled && report.total.uses == 0 {
        return Ok(String::new());
    }
    let own = EfficiencyLetter {
        user: args.of.user.clone(),
        report,
    };
    let page = personal::letter(&own, context.zone, context.now_us);
    shown(context, &args.of, &own, &page)
}

/// The answers of a page.
fn asked(
    context: &Context,
    args: &PersonalArgs,
    (from, until): (String, String),
) -> Result<PersonalReport, Failure> {
    let projects: List<super::Record> = context.all(&["projects"], &())?;
    let names = projects.items.iter().filter_map(|own| own.get("name"));
    let names: Vec<&str> = names.filter_map(serde_json::Value::as_str).collect();
    let (mut statements, mut without) = (Vec::new(), 0_usize);
    for project in names.iter().take(PROJECTS_MAX) {
        let query = StatementQuery {
            project: Some((*project).to_owned()),
            from: Some(from.clone()),
            until: Some(until.clone()),
            ..StatementQuery::default()
        };
        let statement: Result<Statement, Failure> = context.get(&["statements"], &query);
        match statement {
            Ok(statement) => statements.push(statement),
            // A project without an account has no statement.
            Err(failure) if failure.is("no_usable_account") => without += 1,
            Err(failure) => return Err(failure),
        }
    }
    let query = UsageQuery {
        from: Some(from.clone()),
        until: Some(until.clone()),
        by: Some("project,user".to_owned()),
        tz: args.of.zone.tz.clone().or_else(config::zone_name),
        ..UsageQuery::default()
    };
    let usage: UsageTable = context.get(&["report", "usage"], &query)?;
    let query = ContributionQuery {
        from: Some(from.clone()),
        to: Some(until.clone()),
        buckets: Some("1".to_owned()),
        own: Some(true),
        ..ContributionQuery::default()
    };
    let report: ContributionReport = context.get(&["report", "contribution"], &query)?;
    // Without a period, the person is no user of a contributor.
    let contribution = Some(report).filter(|report| !report.periods.is_empty());
    let query = ForecastQuery::default();
    let forecast: List<ForecastRow> = context.all(&["report", "forecast"], &query)?;
    let query = ForecastQuery {
        days: Some(args.within),
        ..query
    };
    let expiring: List<ExpiringRow> = context.all(&["report", "expiring"], &query)?;
    Ok(PersonalReport {
        user: args.of.user.clone(),
        from,
        until,
        unit: usage.unit.clone(),
        projects: names.len().saturating_sub(without),
        statements,
        usage,
        contribution,
        forecast: forecast.items,
        expiring: expiring.items,
        within_days: args.within,
    })
}

/// The page in the form that was asked for; the daemon gets a text before the page.
fn shown(
    context: &Context,
    of: &PersonArgs,
    own: &impl Serialize,
    page: &Report,
) -> Result<String, Failure> {
    match context.form.format {
        Format::Table => Ok(context.form.page(page)),
        Format::Html => {
            let html = picture::report(page)?;
            let text = of.scheduled.then(|| context.form.page(page) + "\u{c}");
            Ok(text.unwrap_or_default() + &html)
        }
        _ => {
            let rows = picture::amounts(page).into_iter().map(|[section, row, name, value]| {
                json!({"section": section, "row": row, "column": name, "value": value})
            });
            let columns = ["section", "row", "column", "value"];
            let titles = ["Section", "Row", "Column", "Value"];
            let columns = columns.into_iter().zip(titles);
            let columns = columns.map(|(key, title)| column(key, title, Kind::Text));
            let sheet = Sheet::new(columns.collect(), &rows.collect::<Vec<_>>(), "no data");
            context.form.list(own, &sheet)
        }
    }
}

/// The period as instants: the one of the options, else the usual one before today.
fn times(
    context: &Context,
    of: &PersonArgs,
    usual: fn(NaiveDate) -> Option<(NaiveDate, NaiveDate)>,
) -> Result<(String, String), Failure> {
    if let Some((_, named)) = period::named(&of.named, context.zone)? {
        return Ok((named.from, named.until));
    }
    let today = context.zone.show(context.now_us).date_naive();
    let none = || Failure::internal("the calendar ends here");
    let (first, after) = usual(today).ok_or_else(none)?;
    let typed = |text: &Option<String>, date: NaiveDate| {
        let text = text
            .clone()
            .unwrap_or_else(|| date.format("%Y-%m-%d").to_string());
        let time = context.bounded(Some(&text))?;
        time.ok_or_else(none)
    };
    Ok((typed(&of.from, first)?, typed(&of.to, after)?))
}

fn last_month(today: NaiveDate) -> Option<(NaiveDate, NaiveDate)> {
    let after = today.with_day(1)?;
    Some((after.checked_sub_months(Months::new(1))?, after))
}

/// From Monday to Monday.
fn last_week(today: NaiveDate) -> Option<(NaiveDate, NaiveDate)> {
    let since = u64::from(today.weekday().num_days_from_monday());
    let after = today.checked_sub_days(Days::new(since))?;
    Some((after.checked_sub_days(Days::new(7))?, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_periods_are_over() {
        let date = |text: &str| text.parse::<NaiveDate>().unwrap();
        let dates = |from: &str, to: &str| Some((date(from), date(to)));
        assert_eq!(
            last_month(date("2026-03-31")),
            dates("2026-02-01", "2026-03-01")
        );
        // 2026-03-02 is a Monday.
        assert_eq!(
            last_week(date("2026-03-02")),
            dates("2026-02-23", "2026-03-02")
        );
        assert_eq!(
            last_week(date("2026-03-08")),
            dates("2026-02-23", "2026-03-02")
        );
    }
}
