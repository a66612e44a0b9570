//! `bank monitor`: what strict would refuse, as it happens, and its sums by project; and what
//! enforcement from a day on would have come to (`bank what-if --enforce-from`).

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use bank_api::exit::bank as exit;
use bank_api::v1::{
    Enforced, EnforcedQuery, Monitor, MonitorQuery, MonitorSum, Monitored, Watched,
};
use bank_picture::{self as picture, Bars, Chart, Number, Report, Section, Span, Timed, figure};

use crate::{
    cli::{Format, MonitorArgs, WhatIfArgs},
    clock,
    context::Context,
    fail::Failure,
    out::{self, Kind, Parts, Sheet, column},
    when,
};

/// Rows per request.
const PAGE: u32 = 1000;
/// Rows that a table shows where nobody says how many.
const SHOWN: usize = 20;
/// Rows that are kept at most: of more only the newest are shown, and all are counted.
const ROWS_MAX: usize = 100_000;
/// How long a follower waits before it looks again.
const PAUSE: Duration = Duration::from_millis(500);

pub(super) fn run(context: &Context, args: MonitorArgs) -> Result<String, Failure> {
    let query = MonitorQuery {
        since: context.time(args.since.as_ref())?,
        until: context.time(args.until.as_ref())?,
        project: args.only.project,
        user: args.only.user,
        machine: args.only.machine,
        code: args.code,
        after: None,
        limit: Some(PAGE),
    };
    let mut seen = Seen::default();
    let next = seen.read(context, &query)?;
    let picture = || seen.pictured(context, &query);
    if !args.follow
        && let Some(output) = context.pictured(args.chart, picture)
    {
        return output;
    }
    let limit = args.limit.and_then(|limit| usize::try_from(limit).ok());
    let text = seen.shown(context, limit, args.totals)?;
    if !args.follow {
        return Ok(text);
    }
    if !context.quiet && !crate::print(&text)? {
        return Ok(String::new());
    }
    follow(
        context,
        MonitorQuery {
            after: Some(next),
            // Whatever is recorded from now on is new, also a job of long ago.
            since: None,
            ..query
        },
    )
}

/// What was seen so far: the newest rows, and the sums of all.
#[derive(Default)]
struct Seen {
    rows: VecDeque<Watched>,
    left_out: usize,
    sums: BTreeMap<String, MonitorSum>,
    users: BTreeMap<String, BTreeSet<String>>,
    unit: String,
}

impl Seen {
    /// Reads to the end of what there is; gives where to go on.
    fn read(&mut self, context: &Context, query: &MonitorQuery) -> Result<String, Failure> {
        let mut query = query.clone();
        loop {
            let page: Monitor = context.get(&["monitor"], &query)?;
            self.unit.clone_from(&page.unit);
            for row in page.items {
                self.count(&row);
                if self.rows.len() >= ROWS_MAX {
                    self.rows.pop_front();
                    self.left_out += 1;
                }
                self.rows.push_back(row);
            }
            if !page.more {
                return Ok(page.next);
            }
            query.after = Some(page.next);
        }
    }

    fn count(&mut self, row: &Watched) {
        let total = self.sums.entry(row.project.clone()).or_default();
        total.project.clone_from(&row.project);
        total.refused += 1;
        if let Some(needed) = &row.needed {
            total.short += 1;
            let sum = figure::sum([total.needed.as_str(), needed.as_str()]);
            total.needed = sum.unwrap_or_else(|| needed.clone());
        }
        let users = self.users.entry(row.project.clone()).or_default();
        users.insert(row.user.clone());
        total.users = i64::try_from(users.len()).unwrap_or(i64::MAX);
        if total.first.is_empty() || row.at < total.first {
            total.first.clone_from(&row.at);
        }
        if row.at > total.last {
            total.last.clone_from(&row.at);
        }
    }

    /// Refusals by project and by day, and what was missing.
    fn pictured(&self, context: &Context, query: &MonitorQuery) -> Result<Report, Failure> {
        let first = self.rows.front().and_then(|row| when::read(&row.at));
        let from = query.since.as_deref().and_then(when::read).or(first);
        let to = query.until.as_deref().and_then(when::read);
        let to = to.unwrap_or(context.now_us);
        let from = from.unwrap_or(to);
        // What is shown as it happens may be of a clock that goes before this one.
        let last = self.rows.back().and_then(|row| when::read(&row.at));
        let to = to.max(last.map_or(to, |last| last + 1));
        let period = Some(Span { from, to }).filter(|_| from < to);
        let spans = period.map_or_else(Vec::new, |period| picture::spans(period, context.zone));
        let rows = self.rows.iter().filter_map(|row| {
            let at = picture::span_of(&spans, when::read(&row.at)?)?;
            Some((at, row.project.clone(), Number::whole(1)))
        });
        let timed = Timed::gathered("project", "refusals", spans.clone(), rows)?;
        let sums = self.sums.values();
        let bars = |unit: &str, of: fn(&MonitorSum) -> Number| Bars {
            what: "project".to_owned(),
            unit: unit.to_owned(),
            rows: sums
                .clone()
                .map(|sum| (sum.project.clone(), of(sum)))
                .collect(),
        };
        let refused = bars("refusals", |sum| Number::whole(sum.refused));
        let needed = bars(&self.unit, |sum| Number::or_zero(&sum.needed));
        let mut remarks =
            vec!["What strict enforcement would have refused; it was let through.".to_owned()];
        if self.left_out > 0 {
            remarks.push(format!(
                "The picture by day contains the newest {ROWS_MAX} rows; {} older rows are included in the sums only.",
                self.left_out
            ));
        }
        let sections = vec![
            Section::chart("Refusals by project", Chart::Bars(refused)),
            Section::chart("Refusals over time", Chart::Columns(timed)),
            Section::chart("Amounts needed by refused requests", Chart::Bars(needed)),
        ];
        let mut made = context.report("What would have been refused", remarks, sections);
        made.period = period;
        Ok(made)
    }

    fn shown(
        &self,
        context: &Context,
        limit: Option<usize>,
        totals: bool,
    ) -> Result<String, Failure> {
        let form = &context.form;
        let usual = if form.is_table() { SHOWN } else { usize::MAX };
        let most = limit.unwrap_or(usual);
        let skipped = self.rows.len().saturating_sub(most);
        let items: Vec<Watched> = self.rows.iter().skip(skipped).cloned().collect();
        if self.left_out > 0 {
            let (kept, left) = (ROWS_MAX, self.left_out);
            out::warn(&format!(
                "the newest {kept} rows are shown, {left} older ones only counted; ask for a shorter time"
            ));
        }
        let answer = Monitored {
            items,
            projects: self.sums.values().cloned().collect(),
            complete: self.left_out == 0,
            unit: self.unit.clone(),
        };
        let sums = sums(&answer);
        if totals {
            return form.list(&answer, &sums);
        }
        let has_source = answer.items.iter().any(|row| row.source.is_some());
        let mut sheet = rows(&answer.items, &self.unit, has_source);
        let hidden = self.left_out.saturating_add(skipped);
        if hidden > 0 && form.is_table() {
            sheet.remark = format!(
                "The newest {} of {}; --limit shows more.",
                answer.items.len(),
                answer.items.len() + hidden
            );
        }
        let mut text = form.list(&answer, &sheet)?;
        if form.is_table() && form.columns.is_empty() && !answer.items.is_empty() {
            text.push('\n');
            text.push_str(&form.list(&answer, &sums)?);
        }
        Ok(text)
    }
}

/// Each new refusal as it is journalled, until the program is stopped or nobody reads.
fn follow(context: &Context, mut query: MonitorQuery) -> Result<String, Failure> {
    let mut form = context.form.clone();
    if form.format == Format::Json {
        form.format = Format::Jsonl;
    }
    // Separated values have their header already. A table comes below the sums, and has its own.
    form.header &= form.is_table();
    let mut parts = Parts::new(&form);
    let mut is_away = false;
    loop {
        clock::wait(PAUSE);
        let page: Monitor = match context.get(&["monitor"], &query) {
            Ok(page) => page,
            // A follower outlives the daemon: where it is stands in `after`.
            Err(failure) if failure.exit == exit::UNAVAILABLE => {
                if !is_away && !context.quiet {
                    out::warn(&format!("{}; waiting for it", failure.what));
                }
                is_away = true;
                continue;
            }
            Err(failure) => return Err(failure),
        };
        is_away = false;
        query.after = Some(page.next.clone());
        if page.items.is_empty() {
            continue;
        }
        let text = parts.list(&page, &rows(&page.items, &page.unit, true))? + &parts.end();
        if !context.quiet && !crate::print(&text)? {
            return Ok(String::new());
        }
    }
}

/// Shown for an empty period. Records of usage can be older than the last day, which is the usual one.
const NOTHING: &str =
    "strict would have refused nothing in this time; --since -30d shows a longer time";

fn rows(items: &[Watched], unit: &str, has_source: bool) -> Sheet {
    let columns = vec![
        column("at", "Time", Kind::Time),
        column("job", "Job", Kind::Text),
        column("machine", "Machine", Kind::Text).secondary(),
        column("project", "Project", Kind::Text),
        column("user", "User", Kind::Text),
        column("code", "Why", Kind::Text),
        column("needed", "Needed", Kind::Amount),
        column("available", "Available", Kind::Amount).secondary(),
        column("source", "Source", Kind::Text)
            .secondary()
            .screen_if(has_source),
        column("transaction", "Transaction", Kind::Number).if_machine(),
    ];
    Sheet::new(columns, items, NOTHING).unit(unit)
}

fn sums(answer: &Monitored) -> Sheet {
    let columns = vec![
        column("project", "Project", Kind::Text),
        column("refused", "Refused", Kind::Number),
        column("short", "Short of money", Kind::Number),
        column("needed", "Needed", Kind::Amount),
        column("users", "Users", Kind::Number),
        column("first", "First", Kind::Time).secondary(),
        column("last", "Last", Kind::Time),
    ];
    Sheet::new(columns, &answer.projects, NOTHING).unit(&answer.unit)
}

/// `bank what-if --enforce-from`.
pub(super) fn enforced(context: &Context, args: WhatIfArgs) -> Result<String, Failure> {
    let from = context.time(args.enforce_from.as_ref())?;
    let query = EnforcedQuery {
        from: from.ok_or_else(|| {
            Failure::usage("--enforce-from: write a time such as 2026-10-01 or -30d")
        })?,
        until: context.time(args.until.as_ref())?,
        project: args.project,
        machine: args.machine,
        limit: None,
        after: None,
    };
    let answer: Enforced = context.whole(&["what-if", "enforced"], &query)?;
    if !answer.complete {
        out::warn(
            "more uses than one answer takes: the latest are left out; ask for a shorter time with --until",
        );
    }
    let columns = vec![
        column("project", "Project", Kind::Text),
        column("jobs", "Would run", Kind::Number),
        column("cost", "Cost", Kind::Amount),
        column("refused", "Refused", Kind::Number),
        column("refused_cost", "Cost refused", Kind::Amount),
        column("first_refused", "First refused", Kind::Time),
    ];
    let empty = "no use in the modes track and notional in this time";
    let mut sums = Sheet::new(columns, &answer.projects, empty).unit(&answer.unit);
    sums.remark = format!(
        "Enforced from {} to {} (exclusive).",
        when::moment(&answer.from, context.zone),
        when::moment(&answer.until, context.zone)
    );
    let columns = vec![
        column("at", "Start", Kind::Time),
        column("job", "Job", Kind::Text),
        column("machine", "Machine", Kind::Text).secondary(),
        column("project", "Project", Kind::Text),
        column("user", "User", Kind::Text),
        column("code", "Why", Kind::Text),
        column("cost", "Cost", Kind::Amount),
        column("available", "Available", Kind::Amount).secondary(),
    ];
    let items =
        Sheet::new(columns, &answer.items, "no use would have been refused").unit(&answer.unit);
    let form = &context.form;
    if !form.is_table() || !form.columns.is_empty() {
        return form.list(&answer, &items);
    }
    let mut text = form.list(&answer, &sums)?;
    if !answer.projects.is_empty() {
        text.push('\n');
        text.push_str(&form.list(&answer, &items)?);
    }
    Ok(text)
}
