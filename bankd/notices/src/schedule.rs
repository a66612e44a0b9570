//! Reports that the daemon makes by itself: once for each period of a definition, whether or not it was
//! up when that ended (decision note 0081).
//!
//! A thread looks for periods that are over and runs `bank` as a user would. It keeps the text, the
//! mark of the period and the notices for the recipients in one transaction; `deliver` sends them.
//! A crash before that leaves nothing, and the report is made again. After the transaction it is
//! never made again.

pub mod check;
mod child;
mod pages;
pub mod people;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use bank_api::text::format_rfc3339;
use bank_core::calendar::Zone;
use bank_core::time::{Seconds, Timestamp};
use bank_core_figures::rollup::due::{due, named};
use bank_core_figures::rollup::grid::{Period, holding};
use bankd_config::zones;
use bankd_config::{DeliverWord, Notices, ScheduledReport};
use bankd_ledger::hooks;
use bankd_ledger::writer::Writer;
use bankd_store::{
    self as store, MadeReport, NoticeChange, ReportRun, RunState, ScheduleChange, ScheduleRow,
    SpanRow, runs_of, schedules, wanted_runs,
};
use rusqlite::Connection;

use child::{Child, Trouble};

/// How often it is asked whether something is due.
const POLL: Duration = Duration::from_secs(1);
/// Seconds before something that failed is tried again, and the longest wait, as it doubles.
const RETRY_S: i64 = 60;
const RETRY_MAX_S: i64 = 3600;
/// Seconds from one removal of old texts to the next.
const FORGET_S: i64 = 3600;
/// The longest line that is kept about a report or a failure, in bytes.
const MESSAGE_MAX: usize = 300;

/// The running thread.
#[derive(Debug)]
pub struct Scheduler {
    stop: Arc<AtomicBool>,
    /// None where nothing is scheduled.
    thread: Option<JoinHandle<()>>,
}

impl Scheduler {
    /// Asks the thread to end, before the listeners stop, because its requests need them. A running
    /// program is stopped, and its report is made after the next start.
    pub fn halt(&self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }

    /// Waits for its end. The writer must still run.
    pub fn stop(self) {
        self.halt();
        if let Some(thread) = self.thread {
            let _ = thread.join();
        }
    }
}

/// The definitions in the form that the store keeps.
pub fn rows(definitions: &[ScheduledReport], now: Timestamp) -> Vec<ScheduleRow> {
    let row = |report: &ScheduledReport| ScheduleRow {
        name: report.name.clone(),
        every: report.every.word().to_owned(),
        tz: report.tz.clone(),
        from: holding(now, report.every.every(), &zone(report)).map_or(now, |period| period.from),
    };
    definitions.iter().map(row).collect()
}

/// The zone of a definition; the settings have been checked.
pub fn zone(report: &ScheduledReport) -> Zone {
    zones::zone(&report.tz).unwrap_or_default()
}

/// The next period of a definition that is done up to an instant, and when its report is made.
pub fn next(report: &ScheduledReport, done_to: Timestamp) -> Option<(Period, Timestamp)> {
    let period = holding(done_to, report.every.every(), &zone(report))?;
    let at = period.until.plus(Seconds(report.delay_s));
    Some((period, at))
}

/// The period of a name, where a definition has such; without a name the last one that is over.
pub fn period_of(report: &ScheduledReport, name: Option<&str>, now: Timestamp) -> Option<Period> {
    let (every, zone) = (report.every.every(), zone(report));
    if let Some(name) = name {
        return named(name, every, &zone);
    }
    let running = holding(now, every, &zone)?;
    holding(Timestamp(running.from.0.saturating_sub(1)), every, &zone)
}

/// Starts the thread, unless nothing is scheduled.
///
/// # Errors
/// If the program is not there, the database cannot be opened for reading, or the system has no thread
/// to give.
pub fn start(
    settings: &Notices,
    (database, socket): (&Path, &Path),
    writer: &Writer,
) -> anyhow::Result<Scheduler> {
    let stop = Arc::new(AtomicBool::new(false));
    if settings.scheduled_report.is_empty() {
        return Ok(Scheduler { stop, thread: None });
    }
    let mut desk = Desk {
        connection: store::open_reader(database)?,
        program: check::program(&settings.program).map_err(anyhow::Error::msg)?,
        server: format!("unix:{}", socket.display()),
        definitions: settings
            .scheduled_report
            .iter()
            .map(|report| (report.clone(), zone(report)))
            .collect(),
        mailers: settings
            .deliver
            .iter()
            .filter(|target| target.by == DeliverWord::Sendmail)
            .map(|target| target.name.clone())
            .collect(),
        writer: writer.clone(),
        stop: Arc::clone(&stop),
        again: HashMap::new(),
        keep: settings.keep(),
        forget_at: None,
    };
    let name = std::thread::Builder::new().name("reports".to_owned());
    let thread = name.spawn(move || desk.run())?;
    Ok(Scheduler {
        stop,
        thread: Some(thread),
    })
}

struct Desk {
    connection: Connection,
    /// The program `bank`, and where it finds the daemon.
    program: PathBuf,
    server: String,
    definitions: Vec<(ScheduledReport, Zone)>,
    /// Targets that send mail.
    mailers: HashSet<String>,
    writer: Writer,
    stop: Arc<AtomicBool>,
    /// Failures: consecutive count, and time of the next attempt.
    again: HashMap<String, (u32, Timestamp)>,
    keep: Seconds,
    forget_at: Option<Timestamp>,
}

impl Desk {
    fn run(&mut self) {
        while !self.is_over() {
            match self.round() {
                // There may be more that is due.
                Ok(true) => {}
                Ok(false) => std::thread::park_timeout(POLL),
                Err(error) => {
                    if !self.is_over() {
                        tracing::error!("scheduled reports are delayed: {error:#}");
                    }
                    std::thread::park_timeout(POLL);
                }
            }
        }
    }

    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// Makes one report, or some pages, of each request and of each definition that is due, the requests
    /// first; false if there is none.
    fn round(&mut self) -> anyhow::Result<bool> {
        if !self.writer.is_writing() {
            return Ok(false);
        }
        self.forget()?;
        let mut has_made = false;
        for wanted in wanted_runs(&self.connection)? {
            if self.is_over() {
                return Ok(true);
            }
            let Some((report, _)) = self.definition(&wanted.schedule) else {
                let gone = "it is no longer in the settings".to_owned();
                let change = ScheduleChange::Failed(wanted.schedule, gone, Some(wanted.id));
                self.writer.keep_schedule(change)?;
                continue;
            };
            has_made |= self.serve(&report, &wanted.period, Some(&wanted))?;
        }
        for known in schedules(&self.connection)? {
            let Some((report, zone)) = self.definition(&known.name) else {
                continue;
            };
            let now = self.writer.now();
            if self.is_over() || !self.is_time(&known.name) {
                continue;
            }
            let grid = (report.every.every(), &zone);
            let due = due(
                known.done_to,
                now,
                grid,
                Seconds(report.delay_s),
                report.catch_up,
            );
            if let Some(last) = due.last_passed_over {
                self.pass_over(&report, due.passed_over, &last)?;
            }
            if let Some(period) = due.next {
                has_made |= self.make_due(&report, &period)?;
            }
        }
        Ok(has_made)
    }

    /// Makes a report, a page, or some pages of many; false if none could be made now.
    fn serve(
        &mut self,
        report: &ScheduledReport,
        period: &SpanRow,
        wanted: Option<&ReportRun>,
    ) -> anyhow::Result<bool> {
        match (report.each, wanted) {
            (Some(each), Some(run)) if !run.person.is_empty() => {
                self.make_wanted_page(report, each, run)
            }
            (Some(each), _) => self.make_pages(report, each, period, wanted),
            (None, Some(run)) if !run.person.is_empty() => {
                let why = "it has no pages for people any more";
                self.failed(report, &period.name, why, Some(run.id))?;
                Ok(true)
            }
            (None, _) => self.make(report, period, wanted.map(|run| run.id)),
        }
    }

    fn definition(&self, name: &str) -> Option<(ScheduledReport, Zone)> {
        let mut all = self.definitions.iter();
        all.find(|(report, _)| report.name == name).cloned()
    }

    fn pass_over(&self, report: &ScheduledReport, count: i64, last: &Period) -> anyhow::Result<()> {
        let (name, period) = (&report.name, &last.name);
        tracing::warn!(
            report = %name,
            "{count} periods to {period} are skipped: more than catch_up = {} were missed; \
             `bank report run {name} --period {period}` makes one",
            report.catch_up
        );
        let change = ScheduleChange::PassedOver(name.clone(), count, span(last));
        self.writer.keep_schedule(change)?;
        Ok(())
    }

    /// Makes a due report, unless it was already made on request.
    fn make_due(&mut self, report: &ScheduledReport, period: &Period) -> anyhow::Result<bool> {
        let there = runs_of(&self.connection, &report.name, &period.name, "")?;
        if there.iter().any(|run| run.state == RunState::Made) {
            let done = ScheduleChange::Done(report.name.clone(), period.until);
            self.writer.keep_schedule(done)?;
            return Ok(true);
        }
        // The pages of a request are under way.
        if report.each.is_some() && !there.is_empty() {
            return Ok(false);
        }
        self.serve(report, &span(period), None)
    }

    fn make(
        &mut self,
        report: &ScheduledReport,
        period: &SpanRow,
        wanted: Option<i64>,
    ) -> anyhow::Result<bool> {
        let child = Child {
            program: &self.program,
            words: &words(report, period, &self.server, None),
            zone: &report.tz,
            limit: Duration::from_secs(report.timeout_s),
            most: report.most_mib.saturating_mul(1 << 20),
        };
        let (name, of) = (report.name.clone(), &period.name);
        match child.run(&self.stop) {
            Ok(text) => {
                hooks::point("report_made");
                let made = made(report, period, wanted, text);
                let size = made.body.as_ref().map_or(0, Vec::len);
                self.writer
                    .keep_schedule(ScheduleChange::Made(Box::new(made)))?;
                hooks::point("report_kept");
                tracing::info!(report = %name, period = %of, size, "scheduled report created");
                self.again.remove(&name);
            }
            // It is made after the next start.
            Err(Trouble::Stopped) => return Ok(false),
            Err(Trouble::Failed(why)) => self.failed(report, of, &why, wanted)?,
        }
        Ok(true)
    }

    /// Keeps the failure of a report. That of the timer is tried again later.
    fn failed(
        &mut self,
        report: &ScheduledReport,
        of: &str,
        why: &str,
        wanted: Option<i64>,
    ) -> anyhow::Result<()> {
        let name = &report.name;
        let why = short(&format!("{of}: {why}"));
        tracing::error!(report = %name, period = %of, "a scheduled report failed: {why}");
        if wanted.is_none() {
            self.put_off(name);
        }
        let change = ScheduleChange::Failed(name.clone(), why, wanted);
        self.writer.keep_schedule(change)?;
        Ok(())
    }

    /// Removes old notices with their texts, also if alerts are switched off.
    fn forget(&mut self) -> anyhow::Result<()> {
        let now = self.writer.now();
        if self.forget_at.is_none_or(|at| now >= at) {
            let old = NoticeChange::Forget(now.minus(self.keep));
            self.writer.settle_notice(old)?;
            self.forget_at = Some(now.plus(Seconds(FORGET_S)));
        }
        Ok(())
    }
}

fn span(period: &Period) -> SpanRow {
    SpanRow {
        name: period.name.clone(),
        from: period.from.0,
        until: period.until.0,
    }
}

/// The arguments of `bank`. The fixed arguments come first: configured options, even `--`, cannot
/// change them.
fn words(
    report: &ScheduledReport,
    period: &SpanRow,
    server: &str,
    person: Option<&str>,
) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut add = |more: &[&str]| words.extend(more.iter().map(|word| (*word).to_owned()));
    let Some(kind) = report.kind() else {
        return words;
    };
    add(kind.words);
    add(&["--server", server, "--config", "/dev/null"]);
    if kind.spans {
        let (from, until) = (format_rfc3339(period.from), format_rfc3339(period.until));
        add(&["--from", &from, "--to", &until]);
    }
    if kind.zoned {
        add(&["--tz", &report.tz]);
    }
    if !kind.acts {
        add(&["-O", report.form.option()]);
    }
    if let Some(person) = person {
        add(&["--scheduled", &format!("--user={person}")]);
    }
    words.extend(report.options.iter().cloned());
    words
}

fn made(
    report: &ScheduledReport,
    period: &SpanRow,
    wanted: Option<i64>,
    text: Vec<u8>,
) -> MadeReport {
    let acts = report.kind().is_some_and(|kind| kind.acts);
    let message = if acts {
        last_line(&String::from_utf8_lossy(&text))
    } else {
        String::new()
    };
    MadeReport {
        schedule: report.name.clone(),
        file: format!("{}-{}.{}", report.name, period.name, report.form.ending()),
        period: period.clone(),
        wanted,
        form: report.form.word().to_owned(),
        recipients: report.to.join(","),
        message,
        body: (!report.deliver.is_empty()).then_some(text),
        targets: report.deliver.clone(),
        ..MadeReport::default()
    }
}

/// The last line of an output: the sum, if the output is a table.
fn last_line(text: &str) -> String {
    let mut lines = text.lines().rev().map(str::trim_end);
    short(lines.find(|line| !line.is_empty()).unwrap_or_default())
}

/// A line as it is kept.
fn short(text: &str) -> String {
    let line = text.replace(char::is_control, " ");
    let mut end = line.len().min(MESSAGE_MAX);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    line.get(..end).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;
