//! `bank export`: the lines of the record files again, for any span of the past, and what was used in the
//! formats of other programs (`feed`). Page by page, so that a long past needs little memory.

mod feed;
mod month;
mod spool;
mod state;

use std::io::{self, Write};

use bank_api::v1::{List, OnDemandBalances, OnDemandQuery, RecordLine, RecordQuery, Truth};

use crate::{
    cli::{ExportCommand, ExportFile, ExportOnDemand, ExportUr1, OnDemandValue, SpanArgs},
    context::Context,
    fail::Failure,
    file::{destination, into_file},
    out,
};

/// Records that the daemon looks at for one page.
const PAGE: u32 = 500;
pub(super) fn run(context: &Context, command: ExportCommand) -> Result<String, Failure> {
    context.form.of_export()?;
    let (span, query) = match command {
        ExportCommand::File(args) => of_file(args),
        ExportCommand::Ur1(args) if args.document => return feed::document(context, args),
        ExportCommand::Ur1(args) => of_ur1(args)?,
        ExportCommand::Ur2(args) => return feed::run(context, "ur2", &args),
        ExportCommand::Xdmod(args) => return feed::xdmod(context, &args),
        ExportCommand::Csv(args) => return feed::csv(context, "csv", &args),
        ExportCommand::Focus(args) => return feed::csv(context, "focus", &args),
        ExportCommand::NercPods(args) => return feed::pods(context, &args),
        ExportCommand::NercInvoice(args) => return feed::invoice(context, args),
        ExportCommand::Jsonl(args) => return feed::jsonl(context, &args),
        ExportCommand::Apel(args) => return spool::apel(context, &args),
        ExportCommand::Ondemand(args) => return ondemand(context, &args),
        ExportCommand::Swf(args) if args.ids => return feed::run(context, "swf-ids", &args.feed),
        ExportCommand::Swf(args) => return feed::run(context, "swf", &args.feed),
    };
    let query = RecordQuery {
        from: context.time(span.from.as_ref())?,
        to: context.time(span.to.as_ref())?,
        machine: span.machine,
        records: span.records,
        limit: Some(PAGE),
        ..query
    };
    let Some(path) = destination(span.output.as_ref()) else {
        let mut output = io::stdout().lock();
        let written = write(context, query, &mut output)?;
        out::written(written.and_then(|_| output.flush()))?;
        return Ok(String::new());
    };
    let count = into_file(path, |output| write(context, query, output))?;
    let noun = if count == 1 { "record" } else { "records" };
    Ok(format!("{count} {noun} in {}\n", path.display()))
}

/// `bank export ondemand`.
fn ondemand(context: &Context, args: &ExportOnDemand) -> Result<String, Failure> {
    let value = match args.value {
        OnDemandValue::Amount => "amount",
        OnDemandValue::Percent => "percent",
        OnDemandValue::Days => "days",
    };
    let query = OnDemandQuery {
        value: Some(value.to_owned()),
    };
    let balances: OnDemandBalances = context.get(&["ondemand", "balances.json"], &query)?;
    let text = serde_json::to_string(&balances)
        .map_err(|e| Failure::internal(format!("the balances cannot be written: {e}")))?;
    let Some(path) = destination(args.output.as_ref()) else {
        return Ok(text + "\n");
    };
    into_file(path, |output| Ok(writeln!(output, "{text}")))?;
    let count = balances.balances.len();
    let noun = if count == 1 { "balance" } else { "balances" };
    Ok(format!("{count} {noun} in {}\n", path.display()))
}

fn of_file(args: ExportFile) -> (SpanArgs, RecordQuery) {
    let query = RecordQuery {
        format: args.sink.is_none().then(|| "file".to_owned()),
        sink: args.sink,
        dialect: args.dialect.map(|dialect| dialect.word().to_owned()),
        interim: args.interim.map(Truth::from),
        extended: args.extended.map(Truth::from),
        escape: args.escape.map(|escape| escape.word().to_owned()),
        blank_account: args.blank_account,
        blank_user: args.blank_user,
        ..RecordQuery::default()
    };
    (args.span, query)
}

fn of_ur1(args: ExportUr1) -> Result<(SpanArgs, RecordQuery), Failure> {
    let more = &args.more;
    let along = more.since.is_some() || more.state.is_some() || more.explain_loss;
    if along || more.project.is_some() || more.user.is_some() {
        return Err(Failure::usage(
            "--since, --state, --explain-loss, -A and -u go with --document",
        ));
    }
    let query = RecordQuery {
        format: args.sink.is_none().then(|| "ur1".to_owned()),
        sink: args.sink,
        adjustments: args.adjustments.map(Truth::from),
        ..RecordQuery::default()
    };
    Ok((args.span, query))
}

/// Writes every line; the outer error is the daemon's, the inner one that of the output.
fn write(
    context: &Context,
    mut query: RecordQuery,
    output: &mut impl Write,
) -> Result<io::Result<u64>, Failure> {
    let (mut count, mut left_out) = (0, 0_u64);
    loop {
        let page: List<RecordLine> = context.get(&["records"], &query)?;
        for item in page.items {
            if item.left_out {
                left_out = left_out.saturating_add(1);
                continue;
            }
            let Some(mut line) = item.line else {
                let key = item.rejected.unwrap_or_default();
                out::warn(&format!(
                    "record {} has no line: its {key} would be escaped",
                    item.record
                ));
                continue;
            };
            line.push('\n');
            if let Err(e) = output.write_all(line.as_bytes()) {
                return Ok(Err(e));
            }
            count += 1;
        }
        match page.next {
            Some(next) => query.after = Some(next),
            None => break,
        }
    }
    if left_out > 0 {
        out::warn(&format!(
            "left out: {left_out} corrections of charges (refunds, undone and amended charges), for which the \
             format has no line; `bank export csv` lists them"
        ));
    }
    Ok(Ok(count))
}
