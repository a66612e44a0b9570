//! `bank reconcile`: what a machine was charged beside what others recorded.

use std::collections::BTreeMap;

use bank_api::v1::{ReconcileQuery, ReconcileSum, Reconciled};
use bank_picture::figure;

use crate::{
    cli::ReconcileArgs,
    context::Context,
    fail::Failure,
    out::{self, Kind, Sheet, column},
    when,
};

/// Rows of one request.
const PAGE: u32 = 10_000;
/// Rows that are shown at most: more are no list that anybody reads.
const ROWS_MAX: usize = 100_000;

pub(super) fn run(context: &Context, args: ReconcileArgs) -> Result<String, Failure> {
    let query = ReconcileQuery {
        machine: args.machine,
        source: args.source,
        from: context.time(args.from.as_ref())?,
        until: context.time(args.to.as_ref())?,
        tolerance_s: Some(args.tolerance),
        all: args.all,
        limit: Some(PAGE),
        after: None,
    };
    let whole = whole(context, query)?;
    let mut text = context.form.list(&whole, &sheet(context, &whole))?;
    if context.form.is_table() && context.form.columns.is_empty() && !whole.totals.is_empty() {
        text.push('\n');
        text.push_str(&context.form.list(&whole, &sums(&whole))?);
    }
    Ok(text)
}

/// Every page as one answer.
fn whole(context: &Context, mut query: ReconcileQuery) -> Result<Reconciled, Failure> {
    let mut whole: Reconciled = context.get(&["reconcile"], &query)?;
    // The time of the first page is that of all, however late it becomes.
    (query.from, query.until) = (Some(whole.from.clone()), Some(whole.until.clone()));
    let mut is_cut = false;
    while let Some(after) = whole.next.take() {
        query.after = Some(after);
        let page: Reconciled = context.get(&["reconcile"], &query)?;
        let room = ROWS_MAX.saturating_sub(whole.items.len());
        is_cut |= page.items.len() > room;
        whole.items.extend(page.items.into_iter().take(room));
        for (kind, sum) in page.totals {
            add(whole.totals.entry(kind).or_default(), &sum)?;
        }
        whole.next = page.next;
    }
    if is_cut {
        out::warn(&format!(
            "more than {ROWS_MAX} rows: the sums count all of them, the list does not"
        ));
    }
    Ok(whole)
}

fn add(sum: &mut ReconcileSum, more: &ReconcileSum) -> Result<(), Failure> {
    sum.jobs = sum.jobs.saturating_add(more.jobs);
    for (sum, more) in [
        (&mut sum.processor_s, &more.processor_s),
        (&mut sum.charged_processor_s, &more.charged_processor_s),
        (&mut sum.amount, &more.amount),
    ] {
        *sum = figure::added(sum, more)
            .ok_or_else(|| Failure::internal(format!("{sum:?} and {more:?} have no sum")))?;
    }
    Ok(())
}

fn sheet(context: &Context, found: &Reconciled) -> Sheet {
    let columns = vec![
        column("kind", "What", Kind::Text),
        column("job", "Job", Kind::Text),
        column("source", "Recorded by", Kind::Text),
        column("end", "End", Kind::Time),
        column("differences", "Differences", Kind::Text),
        column("wall_s", "Wall s", Kind::Number).secondary(),
        column("charged_wall_s", "Charged s", Kind::Number).secondary(),
        column("processors", "Procs", Kind::Number).secondary(),
        column("charged_processors", "Charged", Kind::Number).secondary(),
        column("project", "Project", Kind::Text),
        column("charged_project", "Charged to", Kind::Text).secondary(),
        column("amount", "Amount", Kind::Amount),
        column("user", "User", Kind::Text).if_machine(),
        column("charged_user", "Charged user", Kind::Text).if_machine(),
        column("start", "Start", Kind::Time).if_machine(),
    ];
    let empty = "no differences";
    let mut sheet = Sheet::new(columns, &found.items, empty).unit(&found.unit);
    sheet.remark = format!(
        "{}, charged by {}: uses that ended from {} to {} (exclusive)",
        found.machine,
        found.charged_by,
        when::moment(&found.from, context.zone),
        when::moment(&found.until, context.zone)
    );
    sheet
}

fn sums(found: &Reconciled) -> Sheet {
    let columns = vec![
        column("kind", "What", Kind::Text),
        column("jobs", "Jobs", Kind::Number),
        column("processor_s", "Processor s", Kind::Number),
        column("charged_processor_s", "Charged s", Kind::Number),
        column("amount", "Amount", Kind::Amount),
    ];
    let line = |(kind, sum): (&String, &ReconcileSum)| {
        BTreeMap::from([
            ("kind", kind.clone()),
            ("jobs", sum.jobs.to_string()),
            ("processor_s", sum.processor_s.clone()),
            ("charged_processor_s", sum.charged_processor_s.clone()),
            ("amount", sum.amount.clone()),
        ])
    };
    let lines: Vec<BTreeMap<&str, String>> = found.totals.iter().map(line).collect();
    Sheet::new(columns, &lines, "nothing").unit(&found.unit)
}
