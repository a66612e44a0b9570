//! `bank usage`: what was used, by whose it is and by buckets of time.

mod figures;
pub(super) mod picture;
mod sampled;

use std::fmt::Write as _;

use bank_api::v1::{UsageFigures, UsageLine, UsageQuery, UsageTable};
use bank_picture::{figure, reports::usage::value};

use self::figures::{Figures, figures};
use crate::{
    cli::{PeriodArgs, Resource, UsageTableArgs},
    config,
    context::Context,
    fail::Failure,
    out::{self, Column, Form, Kind, Row, Sheet, column, fitted, named},
    period,
};

/// Words of `--by` that are lengths of time.
const TIMES: [&str; 7] = [
    "hour",
    "day",
    "week",
    "month",
    "quarter",
    "half-year",
    "year",
];
/// Where the right end of the head line stands.
const WIDTH: usize = 77;

pub(super) fn run(context: &Context, args: &UsageTableArgs) -> Result<String, Failure> {
    let query = query(context, args)?;
    if args.sampled {
        return sampled::run(context, query, args.chart);
    }
    let table: UsageTable = context.get(&["report", "usage"], &query)?;
    let picture = || picture::report(context, &table, &args.resource);
    if let Some(answer) = context.pictured(args.chart, picture) {
        return answer;
    }
    if context.form.is_table() && context.form.columns.is_empty() {
        return Ok(screen(
            &context.form,
            "",
            &table,
            &args.resource,
            args.records,
        ));
    }
    context
        .form
        .report(&table, &sheet(&table, context.form.in_seconds()))
}

fn query(context: &Context, args: &UsageTableArgs) -> Result<UsageQuery, Failure> {
    let (mut by, mut every) = (Vec::new(), None);
    for word in &args.by {
        if !TIMES.contains(&word.as_str()) {
            by.push(word.clone());
        } else if every.replace(word.clone()).is_some() {
            let (by, times) = (args.by.join(","), TIMES.join(", "));
            let what = format!("invalid value '{by}' for '--by': expected one of {times}");
            return Err(Failure::usage(what));
        }
    }
    let project = args.project.clone().or_else(|| args.name.clone());
    let project = project.or_else(|| {
        let is_other = args.account.is_some() || args.user.is_some();
        context.project.clone().filter(|_| !is_other)
    });
    if by.is_empty() && every.is_none() {
        let word = if project.is_some() { "user" } else { "project" };
        by.push(word.to_owned());
    }
    let tz = args.tz.clone().or_else(config::zone_name);
    let (from, until) = times(context, &args.period, tz.is_some())?;
    Ok(UsageQuery {
        from,
        until,
        by: (!by.is_empty()).then(|| by.join(",")),
        every,
        tz,
        tree: args.tree && project.is_some(),
        project,
        account: args.account.clone(),
        user: args.user.clone(),
        machine: args.machine.clone(),
        queue: args.queue.clone(),
        qos: args.qos.clone(),
        credit: Some(args.credit.clone()).filter(|credit| credit != "time"),
        top: args.top,
        sort: args.sort.clone(),
        users: !args.resource.is_empty(),
        // Rollups do not know the speed of processors.
        records: args.records || args.resource.contains(&Resource::Mhz),
        sums: false,
    })
}

/// The period as dates of the zone that is asked for: the daemon knows when they begin there.
fn times(
    context: &Context,
    args: &PeriodArgs,
    is_named: bool,
) -> Result<(Option<String>, Option<String>), Failure> {
    if let Some((named, _)) = period::named(&args.named, context.zone)? {
        let (from, until) = period::dates(named)?;
        return Ok((Some(from), Some(until)));
    }
    // Without an end of its own a period has all there is on that side.
    let from = args.from.as_ref().filter(|from| *from != "-infinity");
    let to = args.to.as_ref().filter(|to| *to != "infinity");
    let (from, until) = (
        context.time_or_date(from, is_named)?,
        context.time_or_date(to, is_named)?,
    );
    if args.from.is_none() && args.to.is_none() {
        let today = context.zone.show(context.now_us);
        return Ok((Some(today.format("%Y-%m-01").to_string()), None));
    }
    Ok((from, until))
}

/// For scripts: one row for each, the figures in columns of their own.
pub(super) fn sheet(table: &UsageTable, in_seconds: bool) -> Sheet {
    let mut columns: Vec<Column> = vec![
        column("bucket", "Bucket", Kind::Text),
        column("bucket_from", "From", Kind::Time).if_machine(),
        column("bucket_until", "To", Kind::Time).if_machine(),
    ];
    columns.extend(table.by.iter().map(|word| named(word, Kind::Text)));
    columns.extend([
        column("others", "Others", Kind::Text).if_machine(),
        column("jobs", "Jobs", Kind::Number),
        column("started", "Started", Kind::Number).if_machine(),
        column("ended", "Ended", Kind::Number).if_machine(),
        column("core_hours", "Core-hours", Kind::Amount).screen_if(!in_seconds),
        column("gpu_hours", "GPU-hours", Kind::Amount).if_machine(),
        column("node_hours", "Node-hours", Kind::Amount).if_machine(),
        column("wall_hours", "Wall hours", Kind::Amount).if_machine(),
        column("cpu_hours", "CPU hours", Kind::Amount).if_machine(),
        column("memory_mib_hours", "MiB-hours of memory", Kind::Amount).if_machine(),
        column("disk_mib_hours", "MiB-hours of disk", Kind::Amount).if_machine(),
        column("cpu_mhz_hours", "MHz-hours", Kind::Amount).if_machine(),
        column("factored_hours", "Factored", Kind::Amount).if_machine(),
        column("charged", "Charged", Kind::Amount),
        column("shadow_charged", "Shadow", Kind::Amount).if_machine(),
        column("share", "Share", Kind::Number),
        column("users", "Users", Kind::Number).if_machine(),
        column("submitted", "Submitted", Kind::Number).if_machine(),
        column("wait_mean_s", "Mean wait", Kind::Number).if_machine(),
        column("expansion", "Expansion", Kind::Number).if_machine(),
        column("core_seconds", "Core-seconds", Kind::Amount).screen_if(in_seconds),
        column("gpu_seconds", "GPU-seconds", Kind::Amount).if_machine(),
        column("node_seconds", "Node-seconds", Kind::Amount).if_machine(),
        column("wall_seconds", "Wall seconds", Kind::Amount).if_machine(),
        column("cpu_seconds", "CPU seconds", Kind::Amount).if_machine(),
        column("memory_mib_seconds", "MiB-seconds of memory", Kind::Amount).if_machine(),
        column("disk_mib_seconds", "MiB-seconds of disk", Kind::Amount).if_machine(),
        column("cpu_mhz_seconds", "MHz-seconds", Kind::Amount).if_machine(),
        column("factored_seconds", "Factored seconds", Kind::Amount).if_machine(),
    ]);
    if table.by.iter().any(|word| word == "user") {
        columns.extend([
            column("common_name", "Name", Kind::Text).if_machine(),
            column("email", "E-mail", Kind::Text).if_machine(),
        ]);
    }
    if in_seconds {
        columns.retain(|column| !column.key().ends_with("_hours"));
    }
    let flat = |line: &UsageLine| -> Row {
        let mut row = out::row(line);
        for (word, value) in &line.keys {
            row.insert(word.clone(), value.clone().unwrap_or_default().into());
        }
        row
    };
    Sheet {
        columns,
        rows: table.rows.iter().map(flat).collect(),
        unit: table.unit.clone(),
        empty: "no usage in this period".into(),
        ..Sheet::default()
    }
}

/// The screen of ux.md 2.3; `of` begins its first line.
pub(super) fn screen(
    form: &Form,
    of: &str,
    table: &UsageTable,
    resources: &[Resource],
    waits: bool,
) -> String {
    let mut columns = figures(form, table, resources, waits);
    if table.rows.is_empty() {
        let head = head(of, table, &columns, true);
        return fitted(&(head + "no usage in this period\n"), form.width, |_| 2);
    }
    let lines = || {
        table
            .rows
            .iter()
            .map(|row| &row.figures)
            .chain([&table.total])
    };
    let amounts = columns.iter().filter(|column| column.is_amount());
    let whole = amounts
        .flat_map(|column| lines().map(|line| column.of(line, 6)))
        .all(|amount| figure::is_whole(&amount));
    let shown = |column: &Figures, line: &UsageFigures| {
        let text = column.of(line, if whole { 0 } else { 3 });
        form.amount(text.trim_end_matches('.'))
    };
    for column in &mut columns {
        let widest = lines().map(|line| out::width(&shown(column, line)) + 3);
        column.width = widest
            .chain([out::width(&column.title) + 3, column.width])
            .max()
            .unwrap_or(0);
    }
    if let Some(jobs) = columns.first_mut() {
        jobs.width = jobs.width.saturating_sub(2).max(6);
    }
    let names: Vec<Vec<String>> = table.rows.iter().map(|row| names(table, row)).collect();
    let cells = |line: &UsageFigures| columns.iter().map(|c| shown(c, line)).collect();
    let mut lines: Vec<Line> = table
        .rows
        .iter()
        .zip(names)
        .map(|(row, names)| Line {
            names,
            cells: cells(&row.figures),
            share: row.figures.share.as_deref().map(percent),
        })
        .collect();
    let titles = titles(table);
    let widths = widths(&titles, lines.iter().map(|line| &line.names));
    let mut total = titles.iter().map(|_| String::new());
    total.next();
    lines.push(Line {
        names: ["total".to_owned()].into_iter().chain(total).collect(),
        cells: cells(&table.total),
        share: table.total.share.as_ref().map(|_| "100%".to_owned()),
    });
    let mut out = fitted(&head(of, table, &columns, whole), form.width, |_| 2);
    let names: usize = widths.iter().map(|width| width + 2).sum();
    let figures: usize = columns.iter().map(|column| column.width).sum();
    if names + figures + "   share".len() > form.width + 2 {
        return out + &folded(form, &titles, &columns, &lines);
    }
    lines.insert(0, heads(titles, &columns));
    for line in &lines {
        push(&mut out, line, &widths, &columns);
    }
    out
}

/// The heads of the columns.
fn heads(titles: Vec<String>, columns: &[Figures]) -> Line {
    Line {
        cells: columns.iter().map(|column| column.title.clone()).collect(),
        names: titles,
        share: Some("share".to_owned()),
    }
}

/// A line of the screen: the names on the left, the figures, and the share of all.
struct Line {
    names: Vec<String>,
    cells: Vec<String>,
    share: Option<String>,
}

/// The lines as a table that is folded, for a terminal that is narrower than they are.
fn folded(form: &Form, titles: &[String], figures: &[Figures], lines: &[Line]) -> String {
    let titles = titles.iter().map(|title| match title.as_str() {
        "" => named("name", Kind::Text),
        title => named(title, Kind::Text),
    });
    let figures = figures.iter().map(|f| named(&f.title, Kind::Number));
    let share = named("share", Kind::Number);
    let columns: Vec<Column> = titles.chain(figures).chain([share]).collect();
    let row = |line: &Line| -> Row {
        let cells = line.names.iter().chain(&line.cells).chain(&line.share);
        let keys = columns.iter().map(|column| column.key().to_owned());
        keys.zip(cells.map(|cell| cell.as_str().into())).collect()
    };
    let rows: Vec<Row> = lines.iter().map(row).collect();
    form.table(&Sheet::new(columns, &rows, ""))
}

/// `from … to … (exclusive)`, and what the figures are in.
fn head(of: &str, table: &UsageTable, columns: &[Figures], whole: bool) -> String {
    let (from, until) = (&table.shown_from, &table.shown_until);
    let zone = if table.tz == "UTC" { " UTC" } else { "" };
    let period = format!("{of}from {from} to {until} (exclusive){zone}");
    let units: Vec<&str> = columns
        .iter()
        .filter(|column| column.is_amount())
        .map(|column| column.title.as_str())
        .collect();
    let units = units.join(", ");
    let units = if whole {
        format!("whole {units}")
    } else {
        units
    };
    let width = WIDTH.saturating_sub(period.chars().count()).max(2);
    format!(
        "{period}{units:>width$}\n",
        width = width.max(units.len() + 2)
    )
}

/// Names of the columns on the left: none where there is but one, whose values say what they are.
fn titles(table: &UsageTable) -> Vec<String> {
    let bucket = (table.every != "all").then(|| table.every.clone());
    let all: Vec<String> = bucket.into_iter().chain(table.by.iter().cloned()).collect();
    match all.len() {
        0 | 1 => vec![String::new()],
        _ => all,
    }
}

fn names(table: &UsageTable, row: &UsageLine) -> Vec<String> {
    let bucket = row.bucket.clone();
    let mut all: Vec<String> = bucket
        .into_iter()
        .chain(table.by.iter().map(|word| value(row, word)))
        .collect();
    if all.is_empty() {
        all.push(String::new());
    }
    all
}

fn widths<'a>(titles: &[String], names: impl Iterator<Item = &'a Vec<String>>) -> Vec<usize> {
    let length = |text: &String| out::width(text);
    let mut widths: Vec<usize> = titles.iter().map(length).collect();
    for row in names {
        for (width, name) in widths.iter_mut().zip(row) {
            *width = (*width).max(length(name));
        }
    }
    let others: usize = widths.iter().map(|width| width + 2).sum();
    if let Some(last) = widths.last_mut() {
        // With the space before the figures at least two spaces.
        *last += 24_usize.saturating_sub(others).max(1);
    }
    widths
}

fn push(out: &mut String, row: &Line, widths: &[usize], columns: &[Figures]) {
    let mut line = String::new();
    for (at, (name, width)) in row.names.iter().zip(widths).enumerate() {
        let gap = if at == 0 { "" } else { "  " };
        // Writing to a string cannot fail.
        let blanks = width.saturating_sub(out::width(name));
        let _ = write!(line, "{gap}{name}{:blanks$}", "");
    }
    for (column, cell) in columns.iter().zip(&row.cells) {
        let _ = write!(line, "{cell:>width$}", width = column.width);
    }
    if let Some(share) = &row.share {
        let _ = write!(line, "   {share:>4}");
    }
    out.push_str(line.trim_end());
    out.push('\n');
}

/// A share of two decimals in whole percent.
fn percent(share: &str) -> String {
    let whole = figure::scaled(share, 1, 1, 0).unwrap_or_default();
    format!("{}%", whole.trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::out::{assert_fits, filled};
    use bank_picture::Zone;
    use clap::ValueEnum as _;

    fn figures(jobs: &str, core: &str, charged: &str, share: &str) -> UsageFigures {
        UsageFigures {
            jobs: jobs.to_owned(),
            core_seconds: figure::scaled(core, 3600, 1, 6).unwrap(),
            charged: charged.to_owned(),
            share: Some(share.to_owned()),
            ..UsageFigures::default()
        }
    }

    fn line(user: &str, figures: UsageFigures) -> UsageLine {
        UsageLine {
            keys: [("user".to_owned(), Some(user.to_owned()))].into(),
            figures,
            ..UsageLine::default()
        }
    }

    fn form() -> Form {
        let flags = crate::cli::Global::default();
        let zone = Zone::Named(chrono_tz::Etc::GMTMinus1);
        Form::new(&flags, None, zone).unwrap()
    }

    /// The sample of ux.md 2.3, to the letter.
    #[test]
    fn usage_by_user_is_the_sample() {
        let table = UsageTable {
            shown_from: "2026-10-01".to_owned(),
            shown_until: "2026-11-01".to_owned(),
            tz: "Europe/Berlin".to_owned(),
            every: "all".to_owned(),
            by: vec!["user".to_owned()],
            unit: "SU".to_owned(),
            rows: vec![
                line("amy", figures("702", "18240.000000", "18240.000", "59.12")),
                line("bob", figures("391", "9910.000000", "12610.000", "40.88")),
            ],
            total: figures("1093", "28150.000000", "30850.000", "100.00"),
            ..UsageTable::default()
        };
        let sample = "\
from 2026-10-01 to 2026-11-01 (exclusive)                whole core-hours, SU
                        jobs   core-hours       SU   share
amy                      702       18,240   18,240    59%
bob                      391        9,910   12,610    41%
total                  1,093       28,150   30,850   100%
";
        assert_eq!(screen(&form(), "", &table, &[], false), sample);
    }

    #[test]
    fn the_widest_usage_fits_a_terminal() {
        let names = filled::<String>();
        for (name, figures) in names.iter().zip(filled::<UsageFigures>()) {
            for name in [name, "amy"] {
                let table = UsageTable {
                    shown_from: "2026-10-01 00:00:00".to_owned(),
                    shown_until: "2026-11-01 00:00:00".to_owned(),
                    tz: "UTC".to_owned(),
                    every: "all".to_owned(),
                    by: vec!["user".to_owned()],
                    unit: "service-units".to_owned(),
                    rows: vec![line(name, figures.clone())],
                    total: figures.clone(),
                    ..UsageTable::default()
                };
                for resources in [
                    &[][..],
                    &Resource::value_variants()[..1],
                    Resource::value_variants(),
                ] {
                    assert_fits(&screen(&form(), "By project, ", &table, resources, true));
                }
            }
        }
    }

    #[test]
    fn others_and_buckets_have_their_names() {
        let mut others = line("x", figures("2", "0.500000", "0.000", "1.00"));
        others.others = true;
        others.bucket = Some("2026-10".to_owned());
        let mut hidden = line("x", figures("1", "1.250000", "3.000", "2.00"));
        hidden.keys.insert("user".to_owned(), None);
        hidden.bucket = Some("2026-10".to_owned());
        let table = UsageTable {
            every: "month".to_owned(),
            by: vec!["user".to_owned()],
            unit: "SU".to_owned(),
            rows: vec![hidden, others],
            total: figures("3", "1.750000", "3.000", "100.00"),
            ..UsageTable::default()
        };
        let text = screen(&form(), "", &table, &[], false);
        assert!(text.contains("\nmonth    user"), "{text}");
        assert!(text.contains("2026-10  (not shown)"), "{text}");
        assert!(text.contains("2026-10  (all others)"), "{text}");
        assert!(text.contains("1.250"), "{text}");
    }
}
