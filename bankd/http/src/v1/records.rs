//! Usage records as the lines of a record file, for exports: the same lines again, however often they
//! are asked for (`usage-records.md` 8, item 5).

use bank_api::v1::{List, RecordLine, RecordQuery, SinkStatus};
use bank_core::refusal::Refusal;
use bank_core::time::Timestamp;
use bankd_emit::Record;
use bankd_emit::file::{Dialect, Escape, FileOptions};
use bankd_records::form::{self, Made};
use bankd_records::{Facts, Form};
use bankd_store as store;
use bankd_store::read::records;

use super::call::{Call, Handled, ok};
use super::{json, pages};
use crate::error::Failure;

/// Default number of records per page.
const DEFAULT_LIMIT: u32 = 500;

/// `GET /api/v1/records`
pub(super) async fn list(call: Call) -> Handled {
    let query: RecordQuery = call.query()?;
    let form = form_of(&call, &query)?;
    let span = span(&query).map_err(|r| call.refused(&r))?;
    let limit = i64::try_from(span.limit).unwrap_or(i64::MAX);
    let kept = call.ask(move |connection| {
        let from = match (span.after, span.from) {
            (Some(after), _) => after,
            (None, Some(from)) => records::first_from(connection, from)?.saturating_sub(1),
            (None, None) => 0,
        };
        store::records_after(connection, from, limit)
    });
    let kept = kept.await?;
    let facts = Facts::of(&call.directory().bank);
    let (mut items, mut over) = (Vec::new(), kept.len() < span.limit);
    for row in &kept {
        let record = form::read(row).map_err(|e| Failure::new("internal", format!("{e:#}")))?;
        if span.to.is_some_and(|to| record.created_at >= to.0) {
            over = true;
            break;
        }
        if !span.holds(&record) || !sees(&call, &record) {
            continue;
        }
        items.extend(line(form.make(&record, &facts), record.record_id));
    }
    let next = kept.last().filter(|_| !over).map(|row| row.id.to_string());
    ok(&List { items, next })
}

fn line(made: Made, record: i64) -> Option<RecordLine> {
    match made {
        Made::Nothing => None,
        Made::Line { text, .. } => Some(RecordLine {
            record,
            line: Some(text.trim_end_matches('\n').to_owned()),
            ..RecordLine::default()
        }),
        Made::LeftOut => Some(RecordLine {
            record,
            left_out: true,
            ..RecordLine::default()
        }),
        Made::Rejected(key) => Some(RecordLine {
            record,
            rejected: Some(key.to_owned()),
            ..RecordLine::default()
        }),
    }
}

/// Whether the work of the record is visible.
fn sees(call: &Call, record: &Record) -> bool {
    let project = record.project.as_deref().unwrap_or_default();
    let user = record.user.as_deref().unwrap_or_default();
    call.view.is_unlimited() || call.view.sees_work(project, user, &record.machine)
}

/// Selection of records.
#[derive(Clone)]
struct Span {
    from: Option<Timestamp>,
    to: Option<Timestamp>,
    after: Option<i64>,
    machine: Option<String>,
    numbers: Option<(i64, i64)>,
    limit: usize,
}

impl Span {
    fn holds(&self, record: &Record) -> bool {
        let number = record.record_id;
        let is_in = |(first, last): (i64, i64)| (first..=last).contains(&number);
        self.machine.as_deref().is_none_or(|m| m == record.machine)
            && self.numbers.is_none_or(is_in)
    }
}

fn span(query: &RecordQuery) -> Result<Span, Refusal> {
    let (from, to) = ((query.from.as_ref(), "from"), (query.to.as_ref(), "to"));
    let period = json::read_period(from, to)?;
    Ok(Span {
        from: period.start,
        to: period.end,
        after: query.after.as_deref().map(pages::cursor).transpose()?,
        machine: query.machine.clone(),
        numbers: query.records.as_deref().map(numbers).transpose()?,
        limit: pages::limit(query.limit, DEFAULT_LIMIT)?,
    })
}

fn numbers(text: &str) -> Result<(i64, i64), Refusal> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let both = first.parse().ok().zip(last.parse().ok());
    both.filter(|(first, last)| first <= last)
        .ok_or(Refusal::bad_value(
            "records",
            "a number such as 412, or 412-415",
        ))
}

/// The form that is asked for: a record file's own, or one by its settings.
fn form_of(call: &Call, query: &RecordQuery) -> Result<Form, Failure> {
    let refused = |field, expected| call.refused(&Refusal::BadValue { field, expected });
    if let Some(name) = &query.sink {
        if *query != of_sink_alone(query) {
            return Err(refused(
                "sink",
                "no settings in addition to the name of a record file",
            ));
        }
        let mut sinks = call.services.files.sinks().iter();
        let sink = sinks.find(|sink| sink.name == *name);
        let sink = sink.ok_or_else(|| call.refused(&Refusal::not_found("record file", name)))?;
        return Ok(sink.form.clone());
    }
    let plain = FileOptions::default();
    match query.format.as_deref() {
        Some("file") => Ok(Form::File {
            dialect: match query.dialect.as_deref() {
                None | Some("moab6") => Dialect::Moab6,
                Some("maui") => Dialect::Maui,
                Some(_) => return Err(refused("dialect", "moab6 or maui")),
            },
            interim: query.interim.map_or(plain.interim, bool::from),
            extended: query.extended.map_or(plain.extended, bool::from),
            escape: match query.escape.as_deref() {
                None | Some("percent") => Escape::Percent,
                Some("reject") => Escape::Reject,
                Some(_) => return Err(refused("escape", "percent or reject")),
            },
            blank_account: blank(query.blank_account.as_ref(), plain.blank_account)
                .ok_or_else(|| refused("blank_account", BLANK))?,
            blank_user: blank(query.blank_user.as_ref(), plain.blank_user)
                .ok_or_else(|| refused("blank_user", BLANK))?,
        }),
        Some("ur1") => Ok(Form::Ggf {
            adjustments: query.adjustments.is_none_or(bool::from),
        }),
        _ => Err(refused("format", "file or ur1")),
    }
}

const BLANK: &str = "1 to 64 bytes without control characters";

fn blank(given: Option<&String>, plain: &str) -> Option<String> {
    let word = given.map_or(plain, String::as_str);
    let fits = (1..=64).contains(&word.len()) && !word.contains(char::is_control);
    fits.then(|| word.to_owned())
}

/// The query without other parameters.
fn of_sink_alone(query: &RecordQuery) -> RecordQuery {
    RecordQuery {
        sink: query.sink.clone(),
        from: query.from.clone(),
        to: query.to.clone(),
        machine: query.machine.clone(),
        records: query.records.clone(),
        after: query.after.clone(),
        limit: query.limit,
        ..RecordQuery::default()
    }
}

/// The record files, for the state of the daemon: `last` is the place of the newest record.
pub(super) fn standings(call: &Call, last: i64) -> Vec<SinkStatus> {
    let whole = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let sinks = call.services.records.standings().map(|(sink, standing)| {
        let format = match sink.form {
            Form::File { .. } => "file",
            Form::Ggf { .. } => "ggf",
        };
        SinkStatus {
            name: sink.name.clone(),
            format: format.to_owned(),
            path: sink.path.display().to_string(),
            behind: last.saturating_sub(standing.upto).max(0),
            error: standing.error,
            failures: whole(standing.failures),
            raised: whole(standing.raised),
            rejected: whole(standing.rejected),
            left_out: whole(standing.left_out),
        }
    });
    sinks.collect()
}
