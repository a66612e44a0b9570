//! The thread of an import: reads files from the inbox with a reader into the intake.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use bank_api::v1::ImportSummary;
use bankd_ingest::{Format, Options, Record, screen};
use bankd_ledger::writer::Writer;
use tokio::sync::mpsc::Receiver;

use super::inbox::{self, GivenUp, Inbox, Next, Piece};
use crate::{Feed, Intake};

/// Input and options of a thread.
pub(super) struct Work {
    pub(super) writer: Writer,
    pub(super) feed: Feed,
    pub(super) format: &'static Format,
    pub(super) options: Options,
    /// Jobs that ended before are skipped, µs since 1970.
    pub(super) since_us: Option<i64>,
    /// Sum up by UTC day too.
    pub(super) days: bool,
    /// Records of a chunk.
    pub(super) chunk: usize,
    /// The longest file, in bytes without its compression.
    pub(super) file_bytes: u64,
    /// The options as they are kept, to read a line of this collector again.
    pub(super) reading: String,
    /// Whether it is given up.
    pub(super) given_up: GivenUp,
}

/// Progress, for other threads.
#[derive(Debug, Default)]
pub(super) struct Progress {
    records: AtomicU64,
    files: AtomicU64,
}

impl Progress {
    pub(super) fn records(&self) -> u64 {
        self.records.load(Ordering::Relaxed)
    }

    pub(super) fn files(&self) -> u64 {
        self.files.load(Ordering::Relaxed)
    }
}

/// Reason of a failed import: a row of the table of refusals, and one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// The code.
    pub code: &'static str,
    /// Object, position and reason.
    pub detail: String,
}

/// Result of an import.
#[derive(Clone, Debug)]
pub struct Done {
    /// Summary of the input.
    pub summary: ImportSummary,
    /// Outcomes of the jobs.
    pub outcomes: BTreeMap<String, u64>,
    /// Number of records in the quarantine.
    pub quarantined: u64,
    /// All of it in words.
    pub summary_text: String,
}

/// Reads to the end of the last file, and keeps how it was read.
///
/// # Errors
/// If a file is not of the format, is too large or truncated; or the ledger accepts no more.
/// Earlier records remain.
pub(super) fn run(
    work: Work,
    pieces: Receiver<Piece>,
    progress: &Progress,
) -> Result<Done, Failed> {
    let kept = (!work.feed.dry_run).then(|| {
        let (writer, source) = (work.writer.clone(), work.feed.source.clone());
        (writer, source, work.reading.clone())
    });
    let done = read(work, pieces, progress);
    if let Some((writer, source, reading)) = kept.filter(|_| progress.records() > 0)
        && let Err(error) = writer.keep_reading(source, reading)
    {
        // Only a repeated read of a line uses it.
        tracing::warn!(%error, "cannot store the read options of an import");
    }
    done
}

fn read(work: Work, pieces: Receiver<Piece>, progress: &Progress) -> Result<Done, Failed> {
    let options = |why| Failed {
        code: "bad_request",
        detail: why,
    };
    let mut reader = (work.format.reader)(&work.options).map_err(options)?;
    let (source, is_tried) = (work.feed.source.clone(), work.feed.dry_run);
    let mut intake = Intake::new(work.writer, work.feed, work.chunk);
    if work.days {
        intake.by_day();
    }
    let inbox = Inbox::new(pieces, work.given_up.clone());
    let mut place = work.format.name.to_owned();
    loop {
        let next = inbox.borrow_mut().next_file();
        match next.map_err(|e| unreadable(&place, &e))? {
            Next::End => break,
            Next::File(name) => place = name,
        }
        progress.files.fetch_add(1, Ordering::Relaxed);
        intake.place(&place);
        let mut sink = Sink::new(&mut intake, work.since_us, progress, &work.given_up);
        let opened = inbox::file(&inbox, work.file_bytes);
        let read = opened.and_then(|mut input| {
            let base = place.rsplit('/').next().unwrap_or(&place);
            reader.file(base, &mut input, &mut |record| sink.take(record))
        });
        sink.judge(&place, read)?;
    }
    let mut sink = Sink::new(&mut intake, work.since_us, progress, &work.given_up);
    let extra = reader.finish(&mut |record| sink.take(record));
    let extra = sink.judge(&place, extra)?;
    let unknown = intake.unknown_machines();
    let (summary, outcomes, quarantined) = intake.close(extra).map_err(|e| not_taken(&e))?;
    if summary.has_overflown() {
        let why =
            "the sums exceed the range of exact numbers: a record contains an impossible value";
        let (code, detail) = ("bad_value", why.to_owned());
        return Err(Failed { code, detail });
    }
    let summary_text = screen::people(&summary, progress.files(), is_tried)
        + &screen::taken(&source, (&outcomes, quarantined), &unknown, is_tried);
    Ok(Done {
        summary: summary.shown(),
        outcomes,
        quarantined,
        summary_text,
    })
}

/// Destination of records; records whether the ledger rejected one.
struct Sink<'a> {
    intake: &'a mut Intake,
    since_us: Option<i64>,
    progress: &'a Progress,
    given_up: &'a GivenUp,
    failed: Option<Failed>,
}

impl<'a> Sink<'a> {
    fn new(
        intake: &'a mut Intake,
        since_us: Option<i64>,
        progress: &'a Progress,
        given_up: &'a GivenUp,
    ) -> Self {
        Self {
            intake,
            since_us,
            progress,
            given_up,
            failed: None,
        }
    }

    fn take(&mut self, record: Record) -> io::Result<()> {
        self.given_up.check()?;
        let records = &self.progress.records;
        records.fetch_add(record.counts, Ordering::Relaxed);
        let taken = self.intake.take(record.since(self.since_us));
        taken.inspect_err(|error| self.failed = Some(not_taken(error)))
    }

    /// Classifies a reader's result: an error of the ledger is not one of the file.
    fn judge<T>(self, place: &str, read: io::Result<T>) -> Result<T, Failed> {
        read.map_err(|error| self.failed.unwrap_or_else(|| unreadable(place, &error)))
    }
}

/// A file that ends the import.
fn unreadable(place: &str, error: &io::Error) -> Failed {
    let code = match error.kind() {
        io::ErrorKind::FileTooLarge => "too_large",
        io::ErrorKind::ConnectionAborted => "not_found",
        _ => "bad_value",
    };
    let text = error.to_string();
    let detail = if text.starts_with(place) {
        text
    } else {
        format!("{place}: {text}")
    };
    Failed { code, detail }
}

/// Failure of the ledger.
fn not_taken(error: &io::Error) -> Failed {
    let code = match error.kind() {
        io::ErrorKind::ResourceBusy | io::ErrorKind::Interrupted => "busy",
        io::ErrorKind::StorageFull => "disk_full",
        io::ErrorKind::InvalidData => "bad_value",
        _ => "internal",
    };
    Failed {
        code,
        detail: error.to_string(),
    }
}
