//! `bank report`: what happened over a time, as a table for people or rows for programs.

use bank_api::v1::{FallbackQuery, FallbackReport};

use super::Context;
use crate::{
    cli::{FallbackArgs, ReportCommand},
    fail::Failure,
    out::{self, Kind, Sheet, column},
    when,
};

pub(super) fn run(context: &Context, command: ReportCommand) -> Result<String, Failure> {
    match command {
        ReportCommand::Fallback(args) => fallback(context, args),
    }
}

fn fallback(context: &Context, args: FallbackArgs) -> Result<String, Failure> {
    let query = FallbackQuery {
        from: context.time(args.from.as_ref())?,
        until: context.time(args.to.as_ref())?,
        project: args.project,
        user: args.user,
        machine: args.machine,
    };
    let report: FallbackReport = context.get(&["report", "fallback"], &query)?;
    if !report.complete {
        out::warn("more than one answer takes: ask for a shorter time");
    }
    context.form.list(&report, &sheet(context, &report))
}

fn sheet(context: &Context, report: &FallbackReport) -> Sheet {
    let columns = vec![
        column("at", "Short at", Kind::Time),
        column("job", "Job", Kind::Text),
        column("machine", "Machine", Kind::Text),
        column("user", "User", Kind::Text),
        column("project", "Project", Kind::Text),
        column("from", "From", Kind::Text),
        column("to", "To", Kind::Text),
        column("by", "By", Kind::Text),
        column("needed", "Needed", Kind::Amount),
        column("available", "Available", Kind::Amount),
        column("held", "Held", Kind::Amount),
        column("charged", "Charged", Kind::Amount),
    ];
    let empty = "nobody ran on a fallback account in this time";
    let mut sheet = Sheet::new(columns, &report.items, empty).unit(&report.unit);
    let form = &context.form;
    sheet.remark = format!(
        "from {} to {} (exclusive); held {}, charged {}",
        when::moment(&report.from, context.zone),
        when::moment(&report.until, context.zone),
        form.amount(&report.held),
        form.amount(&report.charged),
    );
    sheet
}
