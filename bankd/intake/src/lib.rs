//! Imports the records of readers: one portion after the other, each in one database transaction.
//!
//! Blocking: it runs in a thread of its own. It never reads a file and never decides about money;
//! records that the ledger cannot take go into the quarantine.

pub mod follow;
pub mod uploads;

mod counts;
mod report;
mod waiting;

pub mod auditor;

use waiting::{Waiting, seen};

pub use report::{namespace, report};

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::sync::Arc;

use bank_api::v1::ImportSummary;
use bank_core::command::{Reports, UsageReport};
use bank_core::directory::Directory;
use bankd_config::CHUNK_ONLINE;
use bankd_ingest::{Extra, Found, Job, Record, Summary};
use bankd_ledger::writer::{
    Caller, Item, Landed, OnItsWay, Others, Portion, Row, SubmitError, Writer,
};
use bankd_store::{FollowMark, QuarantineRow, digest};

/// Jobs in one transaction while others have commands: so few that they hardly wait for it.
const BESIDE: usize = 100;

/// Number of short chunks after the last command of another client: a client with a request every
/// few milliseconds has none in progress most of the time.
const CALM: u32 = 64;

/// Portions under way at once where the bank is an intake's alone: a commit holds the writer for some
/// of them (decision 0088).
const AHEAD: usize = 3;

/// Uses that are commands of their own and go into one database transaction together.
const ALONE: usize = 64;
/// Names of unknown machines that are kept at most.
const MACHINES_MAX: usize = 16;

/// Options of an import.
#[derive(Clone, Debug)]
pub struct Feed {
    /// The collector, such as `slurm:colony`: part of a record's identity.
    pub source: String,
    /// The format of its input; empty for none.
    pub format: String,
    /// The machine of the records; none if each record names it, or there is only one.
    pub machine: Option<String>,
    /// The caller.
    pub caller: Caller,
    /// The request's id.
    pub request_id: String,
    /// Decide, and write nothing.
    pub dry_run: bool,
    /// Keep the raw lines.
    pub keep_raw: bool,
}

/// Result of an import.
#[derive(Clone, Debug)]
pub struct Taken {
    /// Summary of the input.
    pub summary: ImportSummary,
    /// Outcomes of the jobs: `charged`, `kept`, `duplicate`, `refused`, …
    pub outcomes: BTreeMap<String, u64>,
    /// Number of records in the quarantine.
    pub quarantined: u64,
}

/// Records on their way into the bank. While a chunk is decided and written, the next one is read.
pub struct Intake {
    writer: Writer,
    feed: Feed,
    /// The most jobs of a chunk, and how many the next one has.
    chunk: usize,
    next: usize,
    /// Commands of others that the writer had answered when the last chunk was sent, and how many
    /// chunks were sent since there was one.
    commands: u64,
    calm: u32,
    file: Arc<str>,
    summary: Summary,
    waiting: Waiting,
    /// The reference data as the first record that waits found it.
    directory: Arc<Directory>,
    /// Room for lines, of a portion that has landed.
    spare: Vec<u8>,
    /// Whether the portion before was sent as one that goes on.
    goes_on: bool,
    row: Row,
    /// How many portions may be under way.
    ahead: usize,
    /// Those that are.
    under_way: VecDeque<OnItsWay>,
    outcomes: BTreeMap<String, u64>,
    quarantined: u64,
    /// Machines of the jobs that the bank does not have, up to a limit.
    unknown_machines: BTreeSet<String>,
}

impl Intake {
    /// One that gives `chunk` jobs to the ledger in one transaction.
    pub fn new(writer: Writer, feed: Feed, chunk: usize) -> Intake {
        Intake {
            directory: writer.directory(),
            spare: Vec::new(),
            chunk: chunk.max(1),
            next: chunk.max(1),
            commands: writer.counters().commands,
            calm: CALM,
            writer,
            file: Arc::from(""),
            summary: Summary::default(),
            waiting: Waiting::new(&feed),
            goes_on: false,
            row: Row::default(),
            ahead: 1,
            under_way: VecDeque::new(),
            outcomes: BTreeMap::new(),
            quarantined: 0,
            unknown_machines: BTreeSet::new(),
            feed,
        }
    }

    /// This import has exclusive access to the bank: no client waits between two portions. Call it
    /// before the first record.
    pub fn has_bank_alone(&mut self) {
        self.ahead = AHEAD;
    }

    /// Sums up by UTC day too; before the first record.
    pub fn by_day(&mut self) {
        self.summary = Summary::by_day();
    }

    /// The file of the following records.
    pub fn place(&mut self, file: &str) {
        self.file = Arc::from(file);
        self.summary.begin(file);
    }

    /// Adds a record; sends the pending ones to the ledger once they are a chunk.
    ///
    /// # Errors
    /// If the store fails or the daemon is stopping: pending records are not in the bank.
    pub fn take(&mut self, record: Record) -> io::Result<()> {
        self.summary.take(&record)?;
        let counts = record.counts;
        let waiting = &mut self.waiting;
        waiting.seen.records = waiting.seen.records.saturating_add(counts);
        match record.found {
            Found::Jobs(jobs) => {
                if waiting.items.is_empty() {
                    self.directory = self.writer.directory();
                    waiting.items.reserve(self.chunk.min(CHUNK_ONLINE));
                }
                self.jobs(jobs, &record.raw, record.line)?;
            }
            Found::Skipped(_) => {
                waiting.seen.skipped = waiting.seen.skipped.saturating_add(counts);
            }
            Found::Counts(counts) => {
                let directory = self.writer.directory();
                let snapshot = counts::snapshot(counts, &self.feed, &directory);
                waiting.snapshots.push(snapshot);
            }
            Found::Malformed(reason) => {
                waiting.seen.rejected = waiting.seen.rejected.saturating_add(counts);
                waiting.aside = waiting.aside.saturating_add(record.raw.len());
                waiting.quarantine.push(QuarantineRow {
                    source: self.feed.source.clone(),
                    peer: self.feed.caller.client.clone(),
                    place: self.file.to_string(),
                    line: record.line,
                    reason,
                    body: record.raw,
                });
            }
        }
        if self.waiting.is_full(self.next) {
            self.send(true)?;
        }
        Ok(())
    }

    /// Adds the jobs of one line. The tasks of a large array are several portions, each with the line.
    fn jobs(&mut self, jobs: Vec<Job>, line: &[u8], number: u64) -> io::Result<()> {
        let mut raw = self.waiting.keep(line);
        for job in jobs {
            if self.waiting.is_full(self.next) && !self.waiting.items.is_empty() {
                self.waiting.count = self.waiting.count.saturating_add(1);
                self.send(true)?;
                self.directory = self.writer.directory();
                raw = self.waiting.keep(line);
            }
            self.waiting.note(&job);
            let report = report(job, &self.feed, &self.directory);
            self.note_machine(&report);
            let waiting = &mut self.waiting;
            waiting.items.push(Item {
                digest: digest(&report.canonical()),
                report: Arc::new(report),
                file: Arc::clone(&self.file),
                line: number,
                place: waiting.count,
                raw,
            });
        }
        self.waiting.count = self.waiting.count.saturating_add(1);
        Ok(())
    }

    /// Notes a machine that the bank does not have: its jobs have the general rates and the default mode.
    fn note_machine(&mut self, report: &UsageReport) {
        let name = &report.request.whose.machine;
        let has_room = self.unknown_machines.len() < MACHINES_MAX;
        if has_room && !name.is_empty() && self.directory.any_machine_named(name).is_none() {
            self.unknown_machines.insert(name.clone());
        }
    }

    /// The machines of the records so far that the bank does not have, in the order of their names; 16 at most.
    pub fn unknown_machines(&self) -> BTreeSet<String> {
        self.unknown_machines.clone()
    }

    /// Sets the position of a followed file: stored in the transaction of the records so far.
    pub fn mark(&mut self, mark: FollowMark) {
        let marks = &mut self.waiting.marks;
        marks.retain(|known| known.path != mark.path);
        marks.push(mark);
    }

    /// Sends pending records to the ledger, and waits until they are durable.
    ///
    /// # Errors
    /// If the store fails or the daemon is going down: nothing of it is in the bank, and it is gone
    /// from here.
    pub fn flush(&mut self) -> io::Result<()> {
        self.send(false)?;
        while self.land()?.is_some() {}
        if std::mem::take(&mut self.goes_on) {
            self.writer.settled().map_err(failed)?;
        }
        Ok(())
    }

    /// Sends pending records to the ledger, once there is room: while other clients have commands,
    /// the previous portion must be complete.
    fn send(&mut self, goes_on: bool) -> io::Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let fresh = Waiting {
            lines: std::mem::take(&mut self.spare),
            ..Waiting::new(&self.feed)
        };
        let waiting = std::mem::replace(&mut self.waiting, fresh);
        let portion = Portion {
            goes_on,
            row: self.row.clone(),
            others: self.others(),
            ..waiting.portion(&self.feed)?
        };
        let landed = if self.under_way.len() < self.ahead {
            None
        } else {
            self.land()?
        };
        self.goes_on = goes_on;
        let under_way = self.writer.portion(portion).map_err(failed)?;
        self.under_way.push_back(under_way);
        // Only now, so that the ledger does not wait for it.
        self.reuse(landed);
        self.pace();
        Ok(())
    }

    fn others(&self) -> Others {
        match (self.ahead > 1, self.calm < CALM) {
            (true, _) => Others::None,
            (false, true) => Others::Busy,
            (false, false) => Others::Quiet,
        }
    }

    /// Keeps the room of a portion that has landed.
    fn reuse(&mut self, landed: Option<Box<Portion>>) {
        let lines = landed.and_then(|portion| Arc::into_inner(portion.lines));
        if let Some(mut lines) = lines {
            lines.clear();
            self.spare = lines;
        }
    }

    /// Size of the next chunk: short immediately if other clients had commands, because a command
    /// waits for the current chunk. It grows step by step while no other client has one.
    fn pace(&mut self) {
        let commands = self.writer.counters().commands;
        let is_alone = commands == std::mem::replace(&mut self.commands, commands);
        self.calm = if is_alone {
            self.calm.saturating_add(1)
        } else {
            0
        };
        let most = if self.calm < CALM {
            BESIDE
        } else {
            self.next.saturating_mul(2)
        };
        self.next = most.min(self.chunk);
    }

    /// Waits for the first pending portion. Its skipped records are sent one by one, a few at a
    /// time, so that other clients do not wait long; marks are sent with the last of them. Returns
    /// the finished portion.
    fn land(&mut self) -> io::Result<Option<Box<Portion>>> {
        let Some(under_way) = self.under_way.pop_front() else {
            return Ok(None);
        };
        let (mut landed, portion) = under_way.landed().map_err(failed)?;
        let (alone, block) = (std::mem::take(&mut landed.alone), landed.block);
        self.count(landed);
        let mut left = alone.chunks(ALONE).peekable();
        while let Some(items) = left.next() {
            let is_last = left.peek().is_none();
            let part = Portion {
                items: items.to_vec(),
                block,
                marks: if is_last {
                    portion.marks.clone()
                } else {
                    Vec::new()
                },
                ..self.part(&portion)
            };
            let part = self.writer.portion(part).map_err(failed)?;
            let (landed, _) = part.landed().map_err(failed)?;
            self.count(landed);
        }
        Ok(Some(portion))
    }

    /// A portion of commands of their own, of the same lines, with nothing in it yet.
    fn part(&self, of: &Portion) -> Portion {
        Portion {
            seen: seen(&self.feed),
            caller: self.feed.caller.clone(),
            request_id: self.feed.request_id.clone(),
            items: Vec::new(),
            reports: Reports::default(),
            alone: true,
            lines: Arc::clone(&of.lines),
            digest: String::new(),
            raw: None,
            block: None,
            quarantine: Vec::new(),
            snapshots: Vec::new(),
            marks: Vec::new(),
            goes_on: of.goes_on,
            row: of.row.clone(),
            others: of.others,
            dry_run: self.feed.dry_run,
        }
    }

    fn count(&mut self, landed: Landed) {
        for (word, more) in landed.outcomes {
            let count = self.outcomes.entry(word).or_default();
            *count = count.saturating_add(more);
        }
        self.quarantined = self.quarantined.saturating_add(landed.quarantined);
    }

    /// How many records were taken so far.
    pub fn records(&self) -> u64 {
        self.summary.records()
    }

    /// Sends the rest to the ledger, and returns the total result. `extra` is the result of the
    /// reader's [`finish`](bankd_ingest::Reader::finish).
    ///
    /// # Errors
    /// As [`flush`](Intake::flush), and if the temporary file of identities cannot be read.
    pub fn end(self, extra: Vec<Extra>) -> io::Result<Taken> {
        let (summary, outcomes, quarantined) = self.close(extra)?;
        Ok(Taken {
            summary: summary.shown(),
            outcomes,
            quarantined,
        })
    }

    /// The same with the summary itself.
    pub fn close(mut self, extra: Vec<Extra>) -> io::Result<(Summary, BTreeMap<String, u64>, u64)> {
        self.flush()?;
        self.summary.close(extra)?;
        Ok((self.summary, self.outcomes, self.quarantined))
    }
}

fn failed(error: SubmitError) -> io::Error {
    let kind = match error {
        SubmitError::Busy | SubmitError::Elsewhere | SubmitError::NoLog | SubmitError::Moved => {
            io::ErrorKind::ResourceBusy
        }
        SubmitError::Stopped => io::ErrorKind::Interrupted,
        SubmitError::Full => io::ErrorKind::StorageFull,
        SubmitError::Failed | SubmitError::Alone | SubmitError::Undone => io::ErrorKind::Other,
    };
    io::Error::new(kind, error)
}

#[cfg(test)]
mod tests;
