//! `bank hardware downtime`: when nodes are known not to work.

use bank_api::v1::{Downtime, NewDowntime, PatchDowntime, Written};
use ureq::http::Method;

use super::{Rows, bound, nothing_to_set};
use crate::{
    cli::{AddDowntime, DowntimeCommand, SetDowntime},
    context::Context,
    fail::Failure,
    out::{Kind, Sheet, column},
    when,
};

const DOWNTIMES: Rows<Downtime> = Rows {
    word: "downtime",
    path: "downtimes",
    sheet,
};

pub(super) fn run(context: &Context, command: DowntimeCommand) -> Result<String, Failure> {
    match command {
        DowntimeCommand::Add(args) => add(context, args),
        DowntimeCommand::Ls => DOWNTIMES.list(context),
        DowntimeCommand::Show { id } => DOWNTIMES.show(context, &id.to_string()),
        DowntimeCommand::Set(args) => set(context, args),
        DowntimeCommand::Rm { id, remove } => DOWNTIMES.remove(context, &id.to_string(), &remove),
    }
}

fn add(context: &Context, args: AddDowntime) -> Result<String, Failure> {
    let body = NewDowntime {
        hardware: args.hardware,
        nodes: args.nodes,
        from: context.time(Some(&args.from))?.unwrap_or_default(),
        until: bound(context, args.until.as_ref())?,
        reason: args.reason,
    };
    let answer: Written<Downtime> =
        context.send(Method::POST, &["downtimes"], &body, &args.write)?;
    let own = &answer.object;
    let told = said(context, own);
    context.written(&answer, &format!("downtime {} added: {told}", own.id))
}

fn set(context: &Context, args: SetDowntime) -> Result<String, Failure> {
    let body = PatchDowntime {
        nodes: args.nodes,
        from: context.time(args.from.as_ref())?,
        until: bound(context, args.until.as_ref())?,
        reason: args.reason,
    };
    if body == PatchDowntime::default() {
        return Err(nothing_to_set());
    }
    let id = args.id.to_string();
    let answer: Written<Downtime> =
        context.send(Method::PATCH, &["downtimes", &id], &body, &args.write)?;
    let told = said(context, &answer.object);
    context.written(&answer, &format!("downtime {id} changed: {told}"))
}

/// A downtime in words.
fn said(context: &Context, own: &Downtime) -> String {
    let nodes = match own.nodes {
        None => "all nodes".to_owned(),
        Some(1) => "1 node".to_owned(),
        Some(nodes) => format!("{nodes} nodes"),
    };
    let time = |text: &str| when::moment(text, context.zone);
    let until = own.until.as_deref();
    let until = until.map_or_else(String::new, |text| {
        format!(" to {} (exclusive)", time(text))
    });
    let from = time(&own.from);
    format!("{nodes} of hardware {} from {from}{until}", own.hardware)
}

fn sheet(rows: &[Downtime]) -> Sheet {
    let columns = vec![
        column("id", "Id", Kind::Number),
        column("hardware", "Hardware", Kind::Number),
        column("nodes", "Nodes", Kind::Number),
        column("from", "From", Kind::Date),
        column("until", "Until", Kind::Date),
        column("reason", "Reason", Kind::Text),
    ];
    Sheet::new(columns, rows, "no known downtimes")
}
