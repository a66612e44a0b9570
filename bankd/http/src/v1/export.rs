//! Exports of usage in the formats of other programs: in pages, with a cursor for later exports, or as a
//! whole.

mod focus;
mod pods;
mod samples;

use std::collections::{BTreeMap, HashMap};

use bank_api::v1::{ExportPage, ExportQuery, Lost, Skipped};
use bank_core::refusal::Refusal;
use bank_core::time::Timestamp;
use bankd_emit::export::{Site, Written};
use bankd_emit::{Record, apel, swf};
use bankd_records::export::{self, Format};
use bankd_store::read::feed::{self, Place, Run};
use bankd_store::{self as store, Numbered, Numbering};
use chrono::{DateTime, Datelike as _, Timelike as _, Utc};
use rusqlite::Connection;

use super::call::{Call, Handled, ok};
use super::job::Work;
use super::json;
use super::mark::{self, Mark};
use super::named::Names;
use super::pages;
use super::path::Path;
use crate::error::Failure;

/// Default number of records per page.
const DEFAULT_LIMIT: u32 = 500;
/// Maximum number of listed reasons per page.
const SKIPPED_MAX: usize = 100;
/// Jobs of one workload at most: it is sorted, and so made as a whole.
const JOBS_MAX: usize = 100_000;

const FORMATS: &str = "ur1, ur2, xdmod, csv, jsonl, apel, apel-summary, apel-sync, swf, swf-ids, focus, \
                       nerc-pods or nerc-invoice";

/// `GET /api/v1/export/{format}`
pub(super) async fn show(Path(format): Path<String>, call: Call) -> Handled {
    let query: ExportQuery = call.query()?;
    let wanted = Wanted::of(&call, &query)?;
    let names = Names {
        project: query.project.as_deref(),
        user: query.user.as_deref(),
        machine: query.machine.as_deref(),
        ..Names::default()
    };
    names.check(&call).await?;
    if query.ignore.is_some() && !matches!(format.as_str(), "nerc-pods" | "nerc-invoice") {
        return Err(bad(&call, "ignore", "nothing: only nerc-* leave times out"));
    }
    let is_by_sample = match (format.as_str(), query.layout.as_deref()) {
        (_, None) | ("xdmod", Some("slurm")) => false,
        ("xdmod", Some("openshift")) => true,
        ("xdmod", Some(_)) => return Err(bad(&call, "layout", "slurm or openshift")),
        _ => return Err(bad(&call, "layout", "nothing: only xdmod has layouts")),
    };
    let site = export::site(&call.directory().bank, &call.services.export);
    // People open the bank's own table in spreadsheets; other formats follow their specifications.
    let is_safe = query.spreadsheet_safe.is_none_or(bool::from);
    let format = match (format.as_str(), query.profile.as_deref()) {
        ("jsonl", None | Some("bank")) => Format::Jsonl,
        ("jsonl", Some("auditor")) => Format::Auditor,
        ("jsonl", Some(_)) => return Err(bad(&call, "profile", "bank or auditor")),
        (_, Some(_)) => return Err(bad(&call, "profile", "nothing: only jsonl has profiles")),
        ("ur1", None) => Format::Ur1,
        ("ur2", None) => Format::Ur2,
        ("xdmod", None) if is_by_sample => return samples::page(&call, wanted, &query).await,
        ("xdmod", None) => Format::Xdmod,
        ("csv", None) => Format::Csv { is_safe },
        ("apel", None) => {
            named_site(&site)?;
            Format::Apel
        }
        ("focus", None) => return focus::page(&call, wanted, &query).await,
        (whole, None) => {
            if query.since.is_some() {
                return Err(bad(
                    &call,
                    "since",
                    "nothing: this format is made as a whole",
                ));
            }
            return match whole {
                "apel-summary" => sums(&call, wanted, site, true).await,
                "apel-sync" => sums(&call, wanted, site, false).await,
                "swf" => workload(&call, wanted).await,
                "swf-ids" => numbers(&call).await,
                "nerc-pods" => pods::list(&call, wanted, &query).await,
                "nerc-invoice" => pods::invoice(&call, wanted, &query).await,
                _ => Err(bad(&call, "format", FORMATS)),
            };
        }
    };
    page(&call, &query, wanted, site, format).await
}

fn bad(call: &Call, field: &'static str, expected: &'static str) -> Failure {
    call.refused(&Refusal::BadValue { field, expected })
}

/// APEL stores usage under the name of the site.
fn named_site(site: &Site) -> Result<(), Failure> {
    if site.name.is_empty() {
        return Err(unset("export.site"));
    }
    Ok(())
}

fn unset(setting: &str) -> Failure {
    Failure::new("bad_value", format!("{setting} is not set"))
        .hint("this format requires it; set it in bankd.toml")
}

/// Selection of uses.
struct Wanted {
    from: Option<Timestamp>,
    to: Option<Timestamp>,
    work: Work,
}

impl Wanted {
    fn of(call: &Call, query: &ExportQuery) -> Result<Self, Failure> {
        let refused = |refusal: Refusal| call.refused(&refusal);
        let (from, to) = ((query.from.as_ref(), "from"), (query.to.as_ref(), "to"));
        let period = json::read_period(from, to).map_err(refused)?;
        let (project, user) = (query.project.clone(), query.user.clone());
        let work = Work::new(&call.view, project, user, query.machine.clone());
        Ok(Self {
            from: period.start,
            to: period.end,
            work,
        })
    }

    /// Uses belong to the time in which they ended.
    fn holds(&self, record: &Record) -> bool {
        let when = record.when();
        let project = record.project.as_deref().unwrap_or_default();
        let user = record.user.as_deref().unwrap_or_default();
        self.is_at(when) && self.work.holds(project, user, &record.machine)
    }

    /// Whether an end is in the requested period.
    fn is_at(&self, when: i64) -> bool {
        self.from.is_none_or(|from| when >= from.0) && self.to.is_none_or(|to| when < to.0)
    }

    fn ends(&self) -> (i64, i64) {
        let from = self.from.map_or(i64::MIN, |from| from.0);
        (from, self.to.map_or(i64::MAX, |to| to.0))
    }
}

/// A page of a format that is made record by record.
async fn page(
    call: &Call,
    query: &ExportQuery,
    wanted: Wanted,
    site: Site,
    format: Format,
) -> Handled {
    let refused = |refusal: Refusal| call.refused(&refusal);
    let limit = pages::limit(query.limit, DEFAULT_LIMIT).map_err(refused)?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let since = query.since.as_deref();
    let since = since.map(|text| read_cursor(text, &site.bank)).transpose();
    let (mark, since) = since.map_err(refused)?.unwrap_or_default();
    let answer = call.ask(move |connection| {
        let newest = feed::newest(connection)?;
        let is_ahead = since.record > newest.record
            || since.identity > newest.identity
            || since.run.map_or(since.change, |run| run.to) > newest.change;
        go_on(connection, is_ahead, &mark, |connection| {
            feed::page(connection, since, limit, format.charge_form())
        })
    });
    let (portion, mark) = answer.await?.map_err(refused)?;
    let mut page = Making::default();
    let explains = query.explain_loss.is_some_and(bool::from);
    for item in &portion.items {
        let record = export::selected(item, call.directory(), |record| wanted.holds(record));
        let record = record.map_err(|e| Failure::new("internal", format!("{e:#}")))?;
        let Some(record) = record else {
            continue;
        };
        let written = format.write(&record, &site, call.now().0);
        if explains && matches!(written, Written::Text(_)) {
            format.lose(&record, &site, &mut page.lost);
        }
        page.take(&record, written, &site);
    }
    let (head, tail) = format.frame();
    let next = write_cursor(portion.place, &mark::head(&site.bank, &mark));
    ok(&page.done(head, tail, Some(next), portion.more))
}

/// The portion behind a cursor, and the mark for the next cursor.
///
/// # Errors
/// The inner one for a cursor of a newer copy of the bank, or from before it was restored.
fn go_on<T>(
    connection: &Connection,
    is_ahead: bool,
    mark: &Mark,
    read: impl FnOnce(&Connection) -> Result<T, store::Error>,
) -> Result<Result<(T, Mark), Refusal>, store::Error> {
    if is_ahead {
        let expected = "a cursor within this journal: this one is from a newer copy of the bank";
        return Ok(Err(Refusal::bad_value("since", expected)));
    }
    if !mark.is_in(connection)? {
        return Ok(Err(Mark::refused("since")));
    }
    Ok(Ok((read(connection)?, Mark::newest(connection)?)))
}

/// A page in the making.
#[derive(Default)]
struct Making {
    text: String,
    records: i64,
    skipped: Vec<Skipped>,
    skipped_count: i64,
    reasons: BTreeMap<String, i64>,
    lost: BTreeMap<String, i64>,
}

impl Making {
    fn take(&mut self, record: &Record, written: Written, site: &Site) {
        match written {
            Written::Nothing => {}
            Written::Text(text) => {
                self.text.push_str(&text);
                self.records = self.records.saturating_add(1);
            }
            Written::Skipped(reason) => {
                self.leave_out(format!("bank:{}", record.name(&site.bank)), reason);
            }
        }
    }

    fn leave_out(&mut self, record: String, reason: &str) {
        self.skipped_count = self.skipped_count.saturating_add(1);
        match self.reasons.get_mut(reason) {
            Some(count) => *count = count.saturating_add(1),
            None => drop(self.reasons.insert(reason.to_owned(), 1)),
        }
        if self.skipped.len() < SKIPPED_MAX {
            self.skipped.push(Skipped {
                record,
                reason: reason.to_owned(),
            });
        }
    }

    fn done(self, head: String, tail: &str, next: Option<String>, more: bool) -> ExportPage {
        let lost = self.lost.into_iter();
        ExportPage {
            head,
            text: self.text,
            tail: tail.to_owned(),
            records: self.records,
            next,
            more,
            skipped: self.skipped,
            skipped_count: self.skipped_count,
            skipped_reasons: self.reasons,
            lost: lost
                .map(|(field, records)| Lost { field, records })
                .collect(),
        }
    }
}

/// Behind its head, how far a cursor is in records, uses and changes: `412-17-3`. Within a run of changes, its
/// beginning and its end follow.
fn write_cursor(place: Place, head: &str) -> String {
    let (record, identity, change) = (place.record, place.identity, place.change);
    let run = place.run.map(|run| format!("-{}-{}", run.from, run.to));
    let run = run.unwrap_or_default();
    format!("{head}{record}-{identity}-{change}{run}")
}

fn read_cursor(text: &str, bank: &str) -> Result<(Mark, Place), Refusal> {
    let bad = || Refusal::bad_value("since", "the `next` of an export of this bank");
    let (mark, rest) = mark::behind_head(text, bank).ok_or_else(bad)?;
    let numbers: Option<Vec<i64>> = rest
        .split('-')
        .map(|part| part.parse().ok().filter(|number| *number >= 0))
        .collect();
    let (record, identity, change, run) = match numbers.as_deref() {
        Some(&[record, identity, change]) => (record, identity, change, None),
        Some(&[record, identity, change, from, to]) if from <= change && change < to => {
            (record, identity, change, Some(Run { from, to }))
        }
        _ => return Err(bad()),
    };
    let place = Place {
        record,
        identity,
        change,
        run,
    };
    Ok((mark, place))
}

/// Reads everything that ended in the requested period, in a snapshot. `take` returns whether to continue.
async fn all<T: Send + 'static>(
    call: &Call,
    wanted: Wanted,
    mut start: T,
    mut take: impl FnMut(&mut T, &Record) -> bool + Send + 'static,
) -> Result<T, Failure> {
    let directory = std::sync::Arc::clone(call.directory());
    let found = call.ask(move |connection| {
        feed::whole(connection, wanted.ends(), |item| {
            let record = export::record(&item, &directory);
            let record = record.map_err(|e| store::Error::Value {
                what: "record.text",
                value: format!("{e:#}"),
            })?;
            let record = record.filter(|record| wanted.holds(record));
            Ok(record.is_none_or(|record| take(&mut start, &record)))
        })?;
        Ok(start)
    });
    found.await
}

/// Messages with sums or counts of whole months. APEL replaces its data of the month with each.
async fn sums(call: &Call, wanted: Wanted, site: Site, is_summary: bool) -> Handled {
    named_site(&site)?;
    if site.benchmark.is_none() {
        return Err(unset("export.benchmark"));
    }
    for (bound, field) in [(wanted.from, "from"), (wanted.to, "to")] {
        let fits = match bound {
            Some(at) => is_month(at),
            None => !is_summary,
        };
        if !fits {
            return Err(bad(call, field, "the first instant of a month in UTC"));
        }
    }
    let now = call.now().0;
    if wanted.from.is_some_and(|at| at.0 > now) {
        return Err(bad(call, "from", "a month that has begun"));
    }
    let begun = (apel::Sums::default(), Making::default(), site);
    let done = all(call, wanted, begun, move |(sums, page, site), record| {
        if let Err(instead) = sums.add(record, site, now) {
            page.take(record, instead, site);
        }
        sums.len() <= apel::Sums::GROUPS_MAX
    });
    let (sums, mut page, site) = done.await?;
    if sums.len() > apel::Sums::GROUPS_MAX {
        return Err(too_many("groups of jobs", apel::Sums::GROUPS_MAX));
    }
    let (head, records) = if is_summary {
        (apel::SUMMARIES, sums.summaries(&site))
    } else {
        (apel::SYNC, sums.counts(&site))
    };
    page.records = i64::try_from(records.len()).unwrap_or(i64::MAX);
    page.text = records.concat();
    ok(&page.done(head.to_owned(), "", None, false))
}

/// Whether a time is the first instant of a month in UTC.
fn is_month(at: Timestamp) -> bool {
    let at = DateTime::<Utc>::from_timestamp_micros(at.0);
    at.is_some_and(|at| {
        at.day() == 1 && at.num_seconds_from_midnight() == 0 && at.nanosecond() == 0
    })
}

fn too_many(what: &str, most: usize) -> Failure {
    Failure::new("too_large", format!("there are more than {most} {what}"))
        .hint("export a shorter time, or one machine or project at a time")
}

/// A workload, sorted and numbered.
async fn workload(call: &Call, wanted: Wanted) -> Handled {
    let site = export::site(&call.directory().bank, &call.services.export);
    let begun = (Vec::new(), Making::default());
    let done = all(call, wanted, begun, move |(jobs, page), record| {
        match swf::job(record) {
            Ok(job) => jobs.push(job),
            Err(instead) => page.take(record, instead, &site),
        }
        jobs.len() <= JOBS_MAX
    });
    let (mut jobs, mut page) = done.await?;
    if jobs.len() > JOBS_MAX {
        return Err(too_many("jobs", JOBS_MAX));
    }
    swf::sort(&mut jobs);
    let mut names: Vec<Numbered> = Vec::new();
    let mut known = call.ask(store::swf_numbers).await?;
    for job in &jobs {
        for (kind, name) in names_of(job) {
            let Some(name) = name else { continue };
            let key = (kind, name.clone());
            if !known.contains_key(&key) {
                known.insert(key.clone(), 0);
                names.push(key);
            }
        }
    }
    if !names.is_empty() {
        call.services.writer.number_names(names).await?;
        known = call.ask(store::swf_numbers).await?;
    }
    page.records = i64::try_from(jobs.len()).unwrap_or(i64::MAX);
    page.text = swf::render(&jobs, |job| {
        names_of(job).map(|(kind, name)| match name {
            Some(name) => known.get(&(kind, name.clone())).copied().unwrap_or(-1),
            None => -1,
        })
    });
    ok(&page.done(String::new(), "", None, false))
}

fn names_of(job: &swf::Job) -> [(Numbering, Option<&String>); 3] {
    [
        (Numbering::User, job.user.as_ref()),
        (Numbering::Group, job.group.as_ref()),
        (Numbering::Queue, job.queue.as_ref()),
    ]
}

/// Numbers of names. They identify the users of an exported workload.
async fn numbers(call: &Call) -> Handled {
    let known: HashMap<Numbered, i64> = call.ask(store::swf_numbers).await?;
    let mut rows: Vec<(Numbering, i64, String)> = known
        .into_iter()
        .map(|((kind, name), number)| (kind, number, name))
        .filter(|(kind, _, name)| match kind {
            Numbering::User | Numbering::Queue => call.view.is_unlimited(),
            Numbering::Group => call.view.sees_work(name, "", ""),
        })
        .collect();
    rows.sort();
    let mut page = Making {
        records: i64::try_from(rows.len()).unwrap_or(i64::MAX),
        ..Making::default()
    };
    for (kind, number, name) in rows {
        page.text.push_str(&bankd_emit::lines::row(&[
            kind.word(),
            &number.to_string(),
            &name,
        ]));
    }
    ok(&page.done("kind,number,name\n".to_owned(), "", None, false))
}
