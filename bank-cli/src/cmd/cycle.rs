//! `bank cycle`: money that comes again each period.

use bank_api::v1::{Cycle, CycleRun, NewCycle, PatchCycle, Written};
use bank_picture::figure;
use ureq::http::Method;

use super::{Sent, nothing_to_set};
use crate::{
    cli::{AddCycle, CycleCommand, SetCycle, WriteArgs},
    context::Context,
    fail::Failure,
    out::{Kind, Sheet, column},
    when,
};

pub(super) fn run(context: &Context, command: CycleCommand) -> Result<String, Failure> {
    match command {
        CycleCommand::Add(args) => add(context, args),
        CycleCommand::Ls => context.list(&["cycles"], &(), sheet),
        CycleCommand::Show { name } => context.show(&["cycles", &name], &(), sheet),
        CycleCommand::Set(args) => set(context, args),
        CycleCommand::Rm { name, remove } => {
            let what = format!("remove cycle {name:?}");
            let answer = context.remove(&["cycles", &name], &what, &remove)?;
            context.removed(&answer, &format!("cycle {name:?} removed"))
        }
        CycleCommand::Run { name, write } => run_now(context, &name, &write),
    }
}

fn add(context: &Context, args: AddCycle) -> Result<String, Failure> {
    let body = NewCycle {
        start: context.time(args.start.as_ref())?,
        name: args.name,
        account: args.account,
        every: args.every.word().to_owned(),
        amount: args.amount,
        rollover_percent: args.rollover,
        note: args.note,
    };
    let sent = context.send_or_propose(Method::POST, &["cycles"], &body, &args.write)?;
    let answer: Written<Cycle> = match sent {
        Sent::Done(answer) => answer,
        Sent::Proposed(message) => return Ok(message),
    };
    let cycle = &answer.object;
    let first = cycle.next.as_deref().unwrap_or(&cycle.start);
    let sentence = format!(
        "cycle {:?} added: {} {} to {} each {}, first {}",
        cycle.name,
        figure::grouped(&cycle.amount),
        cycle.unit,
        cycle.account,
        cycle.every,
        when::date(first, context.zone)
    );
    context.written(&answer, &sentence)
}

fn set(context: &Context, args: SetCycle) -> Result<String, Failure> {
    let body = PatchCycle {
        active: args.active.map(bool::from),
        every: args.every.map(|every| every.word().to_owned()),
        amount: args.amount,
        rollover_percent: args.rollover,
        note: args.note,
    };
    if body == PatchCycle::default() {
        return Err(nothing_to_set());
    }
    let path = ["cycles", args.name.as_str()];
    let answer: Written<Cycle> =
        match context.send_or_propose(Method::PATCH, &path, &body, &args.write)? {
            Sent::Done(answer) => answer,
            Sent::Proposed(message) => return Ok(message),
        };
    let verb = answer.verb();
    context.written(&answer, &format!("cycle {:?} {verb}", args.name))
}

fn run_now(context: &Context, name: &str, write: &WriteArgs) -> Result<String, Failure> {
    let answer: Written<CycleRun> =
        context.send(Method::POST, &["cycles", name, "run"], &(), write)?;
    let run = &answer.object;
    let sentence = format!(
        "cycle {:?}: {} gets {} {} from {} until {} (exclusive), and {} from the period before",
        run.name,
        run.account,
        figure::grouped(&run.amount),
        run.unit,
        when::date(&run.start, context.zone),
        when::date(&run.until, context.zone),
        figure::grouped(&run.rollover)
    );
    context.written(&answer, &sentence)
}

fn sheet(cycles: &[Cycle]) -> Sheet {
    let columns = vec![
        column("name", "Name", Kind::Text),
        column("account", "Account", Kind::Text),
        column("every", "Every", Kind::Text),
        column("amount", "Amount", Kind::Amount),
        column("rollover_percent", "Rollover %", Kind::Number),
        column("next", "Next", Kind::Date),
        column("last_allocation", "Last allocation", Kind::Number).secondary(),
        column("active", "Active", Kind::Text),
        column("start", "Start", Kind::Date).on_request(),
        column("note", "Note", Kind::Text),
    ];
    let unit = cycles.first().map_or("", |cycle| &cycle.unit);
    Sheet::new(columns, cycles, "no cycles").unit(unit)
}
