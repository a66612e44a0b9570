//! `bank report`: what happened over a time and what comes, as a table for people or rows for programs.

use bank_api::text::counted;
use bank_api::v1::{
    ExpiringRow, FallbackQuery, FallbackReport, ForecastQuery, ForecastRow, List, NegativeRow,
};

use super::{monthly, personal, pictured, scheduled, share, sheet};
use crate::{
    cli::{ExpiringArgs, FallbackArgs, ForecastArgs, ReportCommand},
    context::Context,
    fail::Failure,
    out::{self, Kind, Sheet, column},
    when,
};

pub(super) fn run(context: &Context, command: ReportCommand) -> Result<String, Failure> {
    match command {
        ReportCommand::Fallback(args) => fallback(context, args),
        ReportCommand::Forecast(args) => forecast(context, args),
        ReportCommand::Expiring(args) => expiring(context, args),
        ReportCommand::Negative(args) => negative(context, args),
        ReportCommand::Contribution(args) => share::contribution(context, *args),
        ReportCommand::Top(args) => sheet::top(context, *args),
        ReportCommand::BalanceSheet(args) => sheet::balance_sheet(context, &args),
        ReportCommand::Efficiency(args) => share::efficiency(context, args),
        ReportCommand::Monthly(args) => monthly::run(context, &args),
        ReportCommand::Personal(args) => personal::report(context, &args),
        ReportCommand::EfficiencyLetter(args) => personal::letter(context, &args),
        ReportCommand::Scheduled => scheduled::list(context),
        ReportCommand::Run(args) => scheduled::run(context, &args),
        ReportCommand::Utilization(args) => share::utilization(context, *args),
    }
}

fn fallback(context: &Context, args: FallbackArgs) -> Result<String, Failure> {
    let (from, until) = context.span(&args.span)?;
    let query = FallbackQuery {
        from,
        until,
        project: args.project,
        user: args.user,
        machine: args.machine,
        ..FallbackQuery::default()
    };
    let report: FallbackReport = context.whole(&["report", "fallback"], &query)?;
    if !report.complete {
        out::warn("the answer is incomplete because it is too long; select a shorter period");
    }
    let report = context.form.in_units(report)?;
    let picture = || pictured::fallback(context, &report);
    if let Some(answer) = context.pictured(args.chart, picture) {
        return answer;
    }
    context.form.report(&report, &sheet(context, &report))
}

fn sheet(context: &Context, report: &FallbackReport) -> Sheet {
    let columns = vec![
        column("at", "Short at", Kind::Time),
        column("job", "Job", Kind::Text),
        column("machine", "Machine", Kind::Text).secondary(),
        column("user", "User", Kind::Text).secondary(),
        column("project", "Project", Kind::Text),
        column("from", "From", Kind::Text),
        column("to", "To", Kind::Text),
        column("by", "By", Kind::Text).secondary(),
        column("needed", "Needed", Kind::Amount),
        column("available", "Available", Kind::Amount).secondary(),
        column("held", "Held", Kind::Amount).secondary(),
        column("charged", "Charged", Kind::Amount),
    ];
    let empty = "no jobs ran on fallback accounts in this period";
    let mut sheet = Sheet::new(columns, &report.items, empty).unit(&report.unit);
    let form = &context.form;
    sheet.remark = format!(
        "From {} to {} (exclusive); held {}, charged {}.",
        when::moment(&report.from, context.zone),
        when::moment(&report.until, context.zone),
        form.amount(&report.held),
        form.amount(&report.charged),
    );
    sheet
}

fn forecast(context: &Context, args: ForecastArgs) -> Result<String, Failure> {
    let query = ForecastQuery {
        project: args.project,
        days: args.within,
        ..ForecastQuery::default()
    };
    let list: List<ForecastRow> = context.all(&["report", "forecast"], &query)?;
    let picture = || pictured::forecast(context, &list.items);
    if let Some(answer) = context.pictured(args.chart, picture) {
        return answer;
    }
    let list = context.form.in_units(list)?;
    let has_later = list.items.iter().any(|row| row.again_at.is_some());
    let columns = vec![
        column("account", "Account", Kind::Text),
        column("project", "Project", Kind::Text).if_machine(),
        column("available", "Available", Kind::Amount),
        column("burn_per_day", "A day", Kind::Amount),
        column("empty_at", "Empty", Kind::Date),
        column("days_left", "Days left", Kind::Number),
        column("again_at", "Money again", Kind::Date).screen_if(has_later),
        column("unused_at", "Ends", Kind::Date).secondary(),
        column("unused", "Unused then", Kind::Amount).secondary(),
        column("unused_total", "Unused in total", Kind::Amount).if_machine(),
        column("spent", "Spent", Kind::Text).if_machine(),
    ];
    let mut sheet = Sheet::new(columns, &list.items, "no account has an available amount");
    sheet.unit = list
        .items
        .first()
        .map_or_else(String::new, |r| r.unit.clone());
    "Forecast at the rate of the last 30 days. Allocations that end first are spent first."
        .clone_into(&mut sheet.remark);
    context.form.list(&list, &sheet)
}

fn expiring(context: &Context, args: ExpiringArgs) -> Result<String, Failure> {
    let query = ForecastQuery {
        project: args.project,
        days: Some(args.within),
        ..ForecastQuery::default()
    };
    let list: List<ExpiringRow> = context.all(&["report", "expiring"], &query)?;
    let list = context.form.in_units(list)?;
    let picture = || Ok(pictured::expiring(context, &list.items, args.within));
    if let Some(answer) = context.pictured(args.chart, picture) {
        return answer;
    }
    let columns = vec![
        column("until", "Until", Kind::Date),
        column("days_left", "Days to end", Kind::Number),
        column("account", "Account", Kind::Text),
        column("project", "Project", Kind::Text).if_machine(),
        column("allocation", "Allocation", Kind::Number),
        column("amount", "Amount", Kind::Amount),
        column("unused", "Unused at end", Kind::Amount),
    ];
    let mut sheet = Sheet::new(columns, &list.items, "no allocation ends in this period");
    sheet.unit = list
        .items
        .first()
        .map_or_else(String::new, |r| r.unit.clone());
    sheet.remark = format!(
        "Allocations that end within {}. Unused amounts are forecast at the rate of the last 30 days.",
        counted(args.within, "day")
    );
    context.form.list(&list, &sheet)
}

fn negative(context: &Context, args: ForecastArgs) -> Result<String, Failure> {
    let query = ForecastQuery {
        project: args.project,
        ..ForecastQuery::default()
    };
    let list: List<NegativeRow> = context.all(&["report", "negative"], &query)?;
    let list = context.form.in_units(list)?;
    let picture = || Ok(pictured::negative(context, &list.items));
    if let Some(answer) = context.pictured(args.chart, picture) {
        return answer;
    }
    let columns = vec![
        column("account", "Account", Kind::Text),
        column("project", "Project", Kind::Text).if_machine(),
        column("amount", "Amount", Kind::Amount),
        column("held", "Held", Kind::Amount),
        column("credit_limit", "Credit", Kind::Amount),
        column("available", "Available", Kind::Amount),
        column("blocked", "Blocked", Kind::Text),
    ];
    let mut sheet = Sheet::new(columns, &list.items, "no account is below zero");
    sheet.unit = list
        .items
        .first()
        .map_or_else(String::new, |r| r.unit.clone());
    context.form.list(&list, &sheet)
}
