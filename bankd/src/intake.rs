//! Takes what readers found into the bank: a portion of records after the other, each in one database
//! transaction.
//!
//! Blocking: it runs in a thread of its own. It never reads a file and never decides about money; what
//! it cannot give to the ledger goes into the quarantine.

mod report;

pub use report::report;

use std::collections::BTreeMap;
use std::io;

use bank_api::v1::ImportSummary;
use bank_core::time::Timestamp;

use crate::ingest::{Extra, Found, Job, Record, Summary};
use crate::store::{FollowMark, QuarantineRow, RawBlock, SourceSeen};
use crate::writer::{Caller, Item, Portion, SubmitError, Writer};

/// Jobs in one transaction while others are served (limits.md 6.8).
pub const CHUNK_ONLINE: usize = 5_000;

/// What is taken in, and for whom.
#[derive(Clone, Debug)]
pub struct Feed {
    /// The collector, such as `slurm:colony`: part of a record's identity.
    pub source: String,
    /// The format of its input; empty for none.
    pub format: String,
    /// The machine that the records are of; none where each says it, else the only one is meant.
    pub machine: Option<String>,
    /// Who gives them.
    pub caller: Caller,
    /// The request's id.
    pub request_id: String,
    /// Decide, and write nothing.
    pub dry_run: bool,
    /// Keep the lines as they came.
    pub keep_raw: bool,
}

/// What an intake came to.
#[derive(Clone, Debug)]
pub struct Taken {
    /// What was read.
    pub summary: ImportSummary,
    /// What became of the jobs: `charged`, `kept`, `duplicate`, `refused`, …
    pub outcomes: BTreeMap<String, u64>,
    /// What went into the quarantine.
    pub quarantined: u64,
}

/// Records on their way into the bank.
pub struct Intake {
    writer: Writer,
    feed: Feed,
    chunk: usize,
    place: String,
    summary: Summary,
    items: Vec<Item>,
    seen: SourceSeen,
    quarantine: Vec<QuarantineRow>,
    marks: Vec<FollowMark>,
    raw: Vec<u8>,
    raw_lines: u64,
    outcomes: BTreeMap<String, u64>,
    quarantined: u64,
}

impl Intake {
    /// One that gives `chunk` jobs to the ledger in one transaction.
    pub fn new(writer: Writer, feed: Feed, chunk: usize) -> Intake {
        Intake {
            seen: seen(&feed),
            writer,
            feed,
            chunk: chunk.max(1),
            place: String::new(),
            summary: Summary::default(),
            items: Vec::new(),
            quarantine: Vec::new(),
            marks: Vec::new(),
            raw: Vec::new(),
            raw_lines: 0,
            outcomes: BTreeMap::new(),
            quarantined: 0,
        }
    }

    /// Whose records come next.
    pub fn place(&mut self, file: &str) {
        file.clone_into(&mut self.place);
        self.summary.begin(file);
    }

    /// Takes a record in; gives what waits to the ledger once it is a chunk.
    ///
    /// # Errors
    /// If the store fails or the daemon is going down: what waited is not in the bank.
    pub fn take(&mut self, record: Record) -> io::Result<()> {
        self.summary.take(&record)?;
        let counts = record.counts;
        self.seen.records = self.seen.records.saturating_add(counts);
        match record.found {
            Found::Jobs(jobs) => {
                let directory = self.writer.directory();
                for job in jobs {
                    self.note(&job);
                    let report = report(&job, &self.feed, &directory);
                    self.items.push(Item {
                        report,
                        place: self.place.clone(),
                        line: record.line,
                        raw: record.raw.clone(),
                    });
                }
                self.keep_line(&record.raw);
            }
            Found::Skipped(_) => self.seen.skipped = self.seen.skipped.saturating_add(counts),
            Found::Malformed(reason) => {
                self.seen.rejected = self.seen.rejected.saturating_add(counts);
                self.quarantine.push(QuarantineRow {
                    source: self.feed.source.clone(),
                    peer: self.feed.caller.client.clone(),
                    place: self.place.clone(),
                    line: record.line,
                    reason,
                    body: record.raw,
                });
            }
        }
        if self.items.len().max(self.quarantine.len()) >= self.chunk {
            self.flush()?;
        }
        Ok(())
    }

    fn note(&mut self, job: &Job) {
        self.seen.jobs = self.seen.jobs.saturating_add(1);
        let end = Timestamp(job.end_us);
        self.seen.last_event = Some(self.seen.last_event.map_or(end, |at| at.max(end)));
    }

    fn keep_line(&mut self, line: &[u8]) {
        if self.feed.keep_raw {
            let length = u32::try_from(line.len()).unwrap_or(u32::MAX);
            self.raw.extend_from_slice(&length.to_le_bytes());
            self.raw.extend_from_slice(line);
            self.raw_lines = self.raw_lines.saturating_add(1);
        }
    }

    /// Says how far a followed file is: kept in the transaction of what was taken so far.
    pub fn mark(&mut self, mark: FollowMark) {
        self.marks.retain(|known| known.path != mark.path);
        self.marks.push(mark);
    }

    /// Gives to the ledger what waits, and waits until it is durable.
    ///
    /// # Errors
    /// If the store fails or the daemon is going down: nothing of it is in the bank, and it is gone
    /// from here.
    pub fn flush(&mut self) -> io::Result<()> {
        let portion = Portion {
            seen: std::mem::replace(&mut self.seen, seen(&self.feed)),
            caller: self.feed.caller.clone(),
            request_id: self.feed.request_id.clone(),
            items: std::mem::take(&mut self.items),
            raw: self.block()?,
            quarantine: std::mem::take(&mut self.quarantine),
            marks: std::mem::take(&mut self.marks),
            dry_run: self.feed.dry_run,
        };
        if portion.seen.records == 0 && portion.marks.is_empty() {
            return Ok(());
        }
        let landed = self.writer.portion(portion).map_err(failed)?;
        for (word, more) in landed.outcomes {
            let count = self.outcomes.entry(word).or_default();
            *count = count.saturating_add(more);
        }
        self.quarantined = self.quarantined.saturating_add(landed.quarantined);
        Ok(())
    }

    /// The lines that wait, compressed.
    fn block(&mut self) -> io::Result<Option<RawBlock>> {
        if self.raw.is_empty() {
            return Ok(None);
        }
        let block = RawBlock {
            lines: self.raw_lines,
            bytes: u64::try_from(self.raw.len()).unwrap_or(u64::MAX),
            body: zstd::encode_all(self.raw.as_slice(), 1)?,
        };
        self.raw.clear();
        self.raw_lines = 0;
        Ok(Some(block))
    }

    /// How many records were taken so far.
    pub fn records(&self) -> u64 {
        self.summary.records()
    }

    /// Gives the rest to the ledger, and says what it all came to. `extra` is what the reader's
    /// [`finish`](crate::ingest::Reader::finish) said.
    ///
    /// # Errors
    /// As [`flush`](Intake::flush), and if the temporary file of identities cannot be read.
    pub fn end(mut self, extra: Vec<Extra>) -> io::Result<Taken> {
        self.flush()?;
        self.summary.close(extra)?;
        Ok(Taken {
            summary: self.summary.shown(),
            outcomes: self.outcomes,
            quarantined: self.quarantined,
        })
    }
}

fn seen(feed: &Feed) -> SourceSeen {
    SourceSeen {
        name: feed.source.clone(),
        format: feed.format.clone(),
        machine: feed.machine.clone().unwrap_or_default(),
        ..SourceSeen::default()
    }
}

fn failed(error: SubmitError) -> io::Error {
    let kind = match error {
        SubmitError::Busy => io::ErrorKind::ResourceBusy,
        SubmitError::Stopped => io::ErrorKind::Interrupted,
        SubmitError::Failed => io::ErrorKind::Other,
    };
    io::Error::new(kind, error)
}

#[cfg(test)]
mod tests;
