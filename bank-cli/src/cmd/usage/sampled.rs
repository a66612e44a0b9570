//! `bank usage --sampled`: how many jobs ran and waited when collectors took snapshots.

mod picture;

use bank_api::v1::{SampledLine, SampledQuery, SampledSource, SampledTable, UsageQuery};
use bank_picture::{HIDDEN, NOBODY, figure, printable::printable};

use crate::{
    context::Context,
    fail::Failure,
    out::{self, Column, Kind, Row, Sheet, column, named},
    when,
};

/// Collectors that are told below a table; JSON has them all.
const SOURCES: usize = 4;

pub(super) fn run(context: &Context, query: UsageQuery, chart: bool) -> Result<String, Failure> {
    if context.form.in_seconds() {
        return Err(Failure::usage(
            "--sampled counts jobs: they have no --units",
        ));
    }
    let query = SampledQuery {
        from: query.from,
        until: query.until,
        by: query.by,
        every: query.every,
        tz: query.tz,
        project: query.project,
        tree: query.tree,
        user: query.user,
        machine: query.machine,
        queue: query.queue,
    };
    let table: SampledTable = context.get(&["report", "sampled"], &query)?;
    if let Some(answer) = context.pictured(chart, || Ok(picture::report(context, &table))) {
        return answer;
    }
    context.form.list(&table, &sheet(context, &table))
}

fn sheet(context: &Context, table: &SampledTable) -> Sheet {
    let is_table = context.form.is_table();
    let mut columns: Vec<Column> = vec![
        column("bucket", "Bucket", Kind::Text).screen_if(table.every != "all"),
        column("bucket_from", "From", Kind::Time).if_machine(),
        column("bucket_until", "To", Kind::Time).if_machine(),
    ];
    columns.extend(table.by.iter().map(|word| named(word, Kind::Text)));
    columns.extend([
        column("snapshots", "Snapshots", Kind::Number),
        column("running_sampled_mean", "Running", Kind::Amount),
        column("running_sampled_max", "Most", Kind::Number),
        column("queued_sampled_mean", "Queued", Kind::Amount),
        column("queued_sampled_max", "Most", Kind::Number),
    ]);
    if table.rows.iter().any(is_gap) {
        columns.push(column("gap", "", Kind::Text).on_screen());
    }
    let flat = |line: &SampledLine| -> Row {
        let mut row = out::row(line);
        for word in &table.by {
            let text = if is_table {
                shown(line, word)
            } else {
                line.keys.get(word).cloned().flatten().unwrap_or_default()
            };
            row.insert(word.clone(), text.into());
        }
        if is_gap(line) {
            row.insert("gap".to_owned(), "no snapshot".into());
        }
        row
    };
    Sheet {
        columns,
        rows: table.rows.iter().map(flat).collect(),
        remark: remark(context, table),
        empty: "no running or queued jobs in the snapshots".into(),
        ..Sheet::default()
    }
}

/// Whether nobody looked in its bucket.
fn is_gap(line: &SampledLine) -> bool {
    line.figures.snapshots == 0
}

/// What a row has under a word.
fn shown(line: &SampledLine, word: &str) -> String {
    match line.keys.get(word) {
        _ if is_gap(line) => String::new(),
        Some(Some(value)) if value.is_empty() => NOBODY.to_owned(),
        Some(Some(value)) => value.clone(),
        _ => HIDDEN.to_owned(),
    }
}

/// What is said below the table: the period, all together, and how often was looked.
fn remark(context: &Context, table: &SampledTable) -> String {
    let zone = if table.tz == "UTC" { " UTC" } else { "" };
    let all = &table.total;
    let mut lines = vec![format!(
        "from {} to {} (exclusive){zone}; sampled jobs: mean and maximum per snapshot",
        table.shown_from, table.shown_until
    )];
    let mean = |mean: &Option<String>| mean.as_deref().map(|mean| context.form.amount(mean));
    let means = mean(&all.running_sampled_mean).zip(mean(&all.queued_sampled_mean));
    lines.extend(
        means.map(|(running, queued)| format!("Total: {running} running, {queued} queued.")),
    );
    let sources = table.sources.iter().take(SOURCES);
    lines.extend(sources.map(|source| looks(context, source)));
    let more = table.sources.len().saturating_sub(SOURCES);
    if more > 0 {
        lines.push(format!("{more} more collectors."));
    }
    if table.sources.is_empty() {
        let way = "`bank import nomad` or `bank collect nomad`";
        lines.push(format!("No snapshots are recorded. Take them with {way}."));
    }
    lines.join("\n")
}

/// How often a collector looked, and how long it did not.
fn looks(context: &Context, source: &SampledSource) -> String {
    let name = printable(&source.source);
    let count = figure::grouped(&source.snapshots.to_string());
    let gap = source.gap_from.as_deref().zip(source.gap_until.as_deref());
    let gap = gap.map(|(from, until)| {
        let time = |at| when::moment(at, context.zone);
        let (from, until) = (time(from), time(until));
        format!("; longest gap from {from} to {until}")
    });
    let snapshots = if source.snapshots == 1 {
        "snapshot"
    } else {
        "snapshots"
    };
    format!("{name}: {count} {snapshots}{}.", gap.unwrap_or_default())
}
