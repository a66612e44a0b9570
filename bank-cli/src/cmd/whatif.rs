//! `bank what-if` and `bank clock`: what strict would have refused, and the word of an operator
//! about a clock that jumped.

use bank_api::v1::{ClockStatus, ConfirmClock, WhatIf, WhatIfQuery, Written};
use ureq::http::Method;

use crate::{
    cli::{ClockCommand, WhatIfArgs},
    context::Context,
    fail::Failure,
    out::{self, Kind, Sheet, column},
    when,
};

pub(super) fn run(context: &Context, args: WhatIfArgs) -> Result<String, Failure> {
    let query = WhatIfQuery {
        days: args.days,
        project: args.project,
        machine: args.machine,
        ..WhatIfQuery::default()
    };
    let answer: WhatIf = context.whole(&["what-if"], &query)?;
    if !answer.complete {
        out::warn(
            "the answer is incomplete because it is too long; select fewer days, one project or one machine",
        );
    }
    let mut text = context.form.list(&answer, &jobs(context, &answer))?;
    if context.form.is_table() && context.form.columns.is_empty() && !answer.items.is_empty() {
        text.push('\n');
        text.push_str(&context.form.list(&answer, &projects(&answer))?);
    }
    Ok(text)
}

fn jobs(context: &Context, answer: &WhatIf) -> Sheet {
    let columns = vec![
        column("at", "Time", Kind::Time),
        column("job", "Job", Kind::Text),
        column("machine", "Machine", Kind::Text).secondary(),
        column("project", "Project", Kind::Text),
        column("user", "User", Kind::Text),
        column("code", "Why", Kind::Text),
        column("needed", "Needed", Kind::Amount),
        column("available", "Available", Kind::Amount).secondary(),
        column("used", "Used", Kind::Amount),
        column("used_s", "Used s", Kind::Number).if_machine(),
        column("times", "Times", Kind::Number).if_machine(),
        column("transaction", "Transaction", Kind::Number).if_machine(),
    ];
    let mut sheet = Sheet::new(
        columns,
        &answer.items,
        "strict would have refused nothing in this time",
    )
    .unit(&answer.unit);
    sheet.remark = format!(
        "From {} to {} (exclusive).",
        when::moment(&answer.from, context.zone),
        when::moment(&answer.until, context.zone)
    );
    sheet
}

fn projects(answer: &WhatIf) -> Sheet {
    let columns = vec![
        column("project", "Project", Kind::Text),
        column("jobs", "Jobs", Kind::Number),
        column("needed", "Needed", Kind::Amount),
        column("used", "Used anyway", Kind::Amount),
    ];
    Sheet::new(columns, &answer.projects, "no projects").unit(&answer.unit)
}

pub(super) fn clock(context: &Context, command: ClockCommand) -> Result<String, Failure> {
    let ClockCommand::Confirm { note, write } = command;
    let body = ConfirmClock { note };
    let answer: Written<ClockStatus> = context.send(Method::POST, &["clock"], &body, &write)?;
    let shown = when::moment(&answer.object.clock, context.zone);
    context.written(&answer, &format!("the clock is right: it is {shown}"))
}
