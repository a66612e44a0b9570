//! The threads that take records to their files, one for each file.
//!
//! Each round: read some records, one write for each line, wait for the disk, report to the ledger. Failures
//! are logged, counted and retried later from the ledger's state, so that neither a crash nor a full disk
//! loses or doubles a line (`usage-records.md` 4.6).

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use bankd_config as config;
use bankd_emit::appender::{Appender, Confirmed, Finding, Fsync};
use bankd_ledger::hooks;
use bankd_ledger::obs::Counters;
use bankd_ledger::writer::Writer;
use bankd_store::{self as store, KeptRecord, SinkState};
use rusqlite::Connection;
use tokio::sync::watch;

use super::board::Post;
use super::form::{self, Facts, Form, Made};
use super::{Board, Files};

/// Records between two waits for the disk. After a crash, at most this many are unconfirmed.
const BATCH: i64 = 256;
/// Records without a line that are passed before a report to the ledger.
const PASSED_MAX: i64 = 1024;
/// Bytes at the end of a file that are searched for records of uses that the bank does not have.
const TAIL: u64 = 256 << 10;
/// The first and the longest wait after a failure.
const RETRY: (Duration, Duration) = (Duration::from_secs(1), Duration::from_mins(1));

/// The running threads.
#[derive(Debug)]
pub struct Drain {
    board: Board,
    threads: Vec<JoinHandle<()>>,
}

impl Drain {
    /// The states of the files.
    pub fn board(&self) -> Board {
        self.board.clone()
    }

    /// Writes what waits now, then ends the threads. The writer must still run.
    pub fn stop(self) {
        self.board
            .posts
            .iter()
            .for_each(|post| post.stop.notify_one());
        for thread in self.threads {
            let _ = thread.join();
        }
    }
}

/// Starts a thread for each file. To be called inside the runtime that serves; the ledger has met the
/// sinks.
///
/// # Errors
/// If the database cannot be opened for reading, or the system has no thread to give.
pub fn start(
    files: &Files,
    database: &Path,
    writer: &Writer,
    counters: &Arc<Counters>,
) -> anyhow::Result<Drain> {
    let runtime = tokio::runtime::Handle::current();
    let mut drain = Drain {
        board: Board::default(),
        threads: Vec::new(),
    };
    for sink in files.sinks() {
        let post = Post::new(sink.clone());
        let mut pump = Pump {
            connection: store::open_reader(database)?,
            facts: files.facts.clone(),
            post: Arc::clone(&post),
            writer: writer.clone(),
            counters: Arc::clone(counters),
            upto: 0,
            stored: 0,
            file: None,
        };
        let runtime = runtime.clone();
        let name = std::thread::Builder::new().name(format!("records {}", sink.name));
        let thread = name.spawn(move || pump.run(&runtime))?;
        drain.board.posts.push(post);
        drain.threads.push(thread);
    }
    Ok(drain)
}

struct Pump {
    connection: Connection,
    facts: Facts,
    post: Arc<Post>,
    writer: Writer,
    counters: Arc<Counters>,
    /// The last record that is dealt with.
    upto: i64,
    /// The last one that the ledger has stored.
    stored: i64,
    file: Option<Appender>,
}

/// Why the thread woke.
enum Bell {
    Work,
    Reopen,
    Stop,
}

/// Some records with their results.
#[derive(Default)]
struct Batch {
    /// The place of each record, and its result without the text of its line.
    made: Vec<(i64, Word)>,
    lines: Vec<Vec<u8>>,
}

#[derive(Clone, Copy)]
enum Word {
    Nothing,
    LeftOut,
    Line { is_raised: bool },
    Rejected(&'static str),
}

impl Batch {
    fn add(&mut self, kept: &KeptRecord, form: &Form, facts: &Facts) -> anyhow::Result<()> {
        let word = match form.make(&form::read(kept)?, facts) {
            Made::Nothing => Word::Nothing,
            Made::LeftOut => Word::LeftOut,
            Made::Rejected(key) => Word::Rejected(key),
            Made::Line { text, is_raised } => {
                self.lines.push(text.into_bytes());
                Word::Line { is_raised }
            }
        };
        self.made.push((kept.id, word));
        Ok(())
    }

    /// Takes the first `lines` lines out, with every record before the next one, and gives these.
    fn take(&mut self, lines: usize) -> Vec<(i64, Word)> {
        let is_line = |(_, word): &&(i64, Word)| matches!(word, Word::Line { .. });
        let mut left = lines;
        let end = self.made.iter().position(|made| {
            if is_line(&made) && left == 0 {
                return true;
            }
            left = left.saturating_sub(usize::from(is_line(&made)));
            false
        });
        self.lines.drain(..lines.min(self.lines.len()));
        self.made.drain(..end.unwrap_or(self.made.len())).collect()
    }
}

/// The greatest number of a use among the last usage records of a file; none in a file without them.
fn last_record(path: &Path, facts: &Facts) -> std::io::Result<Option<i64>> {
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(TAIL)))?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let mark = format!("recordId=\"bank:{}:", facts.bank());
    let numbers = text.split(&mark).skip(1).filter_map(|rest| {
        let (number, _) = rest.split_once('"')?;
        number.parse().ok()
    });
    Ok(numbers.max())
}

impl Pump {
    fn run(&mut self, runtime: &tokio::runtime::Handle) {
        let mut grown = self.writer.records();
        let mut wait = RETRY.0;
        loop {
            grown.mark_unchanged();
            let well = self.round();
            wait = if well { RETRY.0 } else { RETRY.1.min(wait * 2) };
            match runtime.block_on(bell(&self.post, &mut grown, well, wait)) {
                Bell::Work => {}
                Bell::Reopen => self.file = None,
                Bell::Stop => return self.finish(),
            }
        }
    }

    /// Writes the waiting records, and reports records without a line to the ledger too.
    fn finish(&mut self) {
        let (well, file) = (self.round(), self.file.take());
        let Some(mut file) = file.filter(|_| well && self.upto > self.stored) else {
            return;
        };
        if let Err(e) = self.confirm(&mut file, &[]) {
            // They are looked at again at the next start.
            tracing::debug!("the place of a record file was not stored: {e:#}");
        }
    }

    /// Writes everything that waits; false if something has to be tried again.
    fn round(&mut self) -> bool {
        if !self.writer.is_writing() {
            self.file = None;
            return true;
        }
        let Err(e) = self.drain() else {
            self.post.change(|standing| standing.error = None);
            return true;
        };
        // The ledger has the confirmed state of the file: the file is opened again.
        self.file = None;
        self.counters.record_failed();
        let text = format!("{e:#}");
        let (sink, path) = (&self.post.sink.name, self.post.sink.path.display());
        tracing::error!(%sink, %path, "records not written, retrying: {text}");
        self.post.change(|standing| {
            standing.failures = standing.failures.saturating_add(1);
            standing.error = Some(text);
        });
        false
    }

    fn drain(&mut self) -> anyhow::Result<()> {
        let mut file = match self.file.take() {
            Some(file) => file,
            None => self.open()?,
        };
        loop {
            let mut batch = self.read(self.upto, BATCH)?;
            if batch.made.is_empty() {
                self.file = Some(file);
                return Ok(());
            }
            while !batch.lines.is_empty() {
                let most = match self.post.sink.fsync {
                    Fsync::Each => 1,
                    Fsync::Batch | Fsync::Never => batch.lines.len(),
                };
                let done = file.append(batch.lines.get(..most).unwrap_or_default())?;
                hooks::point("record_written");
                let passed = batch.take(done);
                self.confirm(&mut file, &passed)?;
            }
            // Records without a line need no look at the disk.
            let passed = batch.take(0);
            self.pass(&passed);
            if self.upto.saturating_sub(self.stored) >= PASSED_MAX {
                self.confirm(&mut file, &[])?;
            }
        }
    }

    /// Opens the file and settles what an earlier run left behind, which was made by the form that the
    /// ledger remembers.
    fn open(&mut self) -> anyhow::Result<Appender> {
        let sink = &self.post.sink;
        let state = store::sink_state(&self.connection, &sink.name)?.unwrap_or_default();
        // Records that were passed since have no line: they need not be passed again.
        (self.upto, self.stored) = (self.upto.max(state.upto), state.upto);
        let form = config::Sink::read(&state.form).map(|sink| Form::of(&sink));
        let form = form.unwrap_or_else(|| sink.form.clone());
        let mut pending = Batch::default();
        for kept in self.kept_after(self.upto, PASSED_MAX + 2 * BATCH)? {
            pending.add(&kept, &form, &self.facts)?;
        }
        let confirmed = (state.inode != 0).then_some(Confirmed {
            device: state.device,
            inode: state.inode,
            length: state.length,
            print: state.print.as_slice().try_into().ok(),
        });
        let (mut file, done) = Appender::open(&sink.path, confirmed, &pending.lines, sink.fsync)?;
        let passed = match done {
            0 => Vec::new(),
            done => pending.take(done),
        };
        self.confirm(&mut file, &passed)?;
        self.warn_of_later_uses();
        Ok(file)
    }

    /// Warns of a file with usage records of uses that the bank does not have: a backup was restored since, and new uses
    /// get their record ids again.
    fn warn_of_later_uses(&self) {
        let (sink, path) = (&self.post.sink.name, &self.post.sink.path);
        let newest = store::read::usage::newest(&self.connection);
        let there = last_record(path, &self.facts);
        if let (Ok(newest), Ok(Some(there))) = (newest, there)
            && there > newest
        {
            let path = path.display();
            tracing::warn!(
                %sink, %path, newest, there,
                "the file has records of uses that this bank does not have, as after the restore of an older backup: new \
                 uses get their record ids again. Inform the readers of this file"
            );
        }
    }

    fn kept_after(&self, after: i64, limit: i64) -> anyhow::Result<Vec<KeptRecord>> {
        Ok(store::records_after(&self.connection, after, limit)?)
    }

    fn read(&self, after: i64, limit: i64) -> anyhow::Result<Batch> {
        let mut batch = Batch::default();
        for kept in self.kept_after(after, limit)? {
            batch.add(&kept, &self.post.sink.form, &self.facts)?;
        }
        Ok(batch)
    }

    /// Waits for the disk, then reports the finished records to the ledger.
    fn confirm(&mut self, file: &mut Appender, passed: &[(i64, Word)]) -> anyhow::Result<()> {
        let confirmed = file.confirm()?;
        hooks::point("record_synced");
        for finding in file.take_findings() {
            self.report(finding);
        }
        let upto = passed.last().map_or(self.upto, |(id, _)| *id);
        self.writer.confirm(SinkState {
            name: self.post.sink.name.clone(),
            upto,
            device: confirmed.device,
            inode: confirmed.inode,
            length: confirmed.length,
            print: confirmed.print.unwrap_or_default().to_vec(),
            form: self.post.sink.settings.clone(),
        })?;
        self.pass(passed);
        self.stored = upto;
        self.post.change(|standing| standing.upto = upto);
        Ok(())
    }

    /// Counts what is dealt with.
    fn pass(&mut self, passed: &[(i64, Word)]) {
        self.upto = passed.last().map_or(self.upto, |(id, _)| *id);
        let (mut raised, mut rejected, mut left_out) = (0, 0, 0);
        for (id, word) in passed {
            match word {
                Word::Nothing => {}
                Word::LeftOut => left_out += 1,
                Word::Line { is_raised } => raised += u64::from(*is_raised),
                Word::Rejected(key) => {
                    rejected += 1;
                    let sink = &self.post.sink.name;
                    tracing::error!(%sink, record = id, key, "a record has no line: its value would be escaped");
                }
            }
        }
        let upto = self.upto;
        self.post.change(|standing| {
            standing.upto = upto;
            standing.raised = standing.raised.saturating_add(raised);
            standing.rejected = standing.rejected.saturating_add(rejected);
            standing.left_out = standing.left_out.saturating_add(left_out);
        });
    }

    fn report(&self, finding: Finding) {
        let (sink, path) = (&self.post.sink.name, self.post.sink.path.display());
        match finding {
            Finding::OwnTail { bytes } => {
                tracing::info!(%sink, %path, bytes, "unconfirmed end of the file is written again");
            }
            Finding::Foreign { bytes } => {
                tracing::warn!(%sink, %path, bytes, "another process wrote to the file");
            }
            Finding::Shrunk { from, to } => {
                tracing::error!(%sink, %path, from, to, "the file was made shorter in place");
            }
            Finding::Changed { from, to } => {
                tracing::error!(
                    %sink, %path, from, to,
                    "confirmed lines of the file were overwritten in place"
                );
            }
            Finding::Rotated => tracing::info!(%sink, %path, "the file was rotated"),
            Finding::Earlier { lines, torn } => {
                tracing::info!(
                    %sink, %path, lines, torn,
                    "unconfirmed lines are in the rotated file; they are not written again"
                );
            }
            Finding::Missing { lines } => {
                tracing::warn!(
                    %sink, %path, lines,
                    "the rotated file was not found in its folder: unconfirmed lines are written to \
                     the new file, and may be in both"
                );
            }
        }
    }
}

/// Waits for something to do; after a failure only for so long, however many records come meanwhile.
async fn bell(post: &Post, grown: &mut watch::Receiver<i64>, well: bool, wait: Duration) -> Bell {
    tokio::select! {
        () = post.stop.notified() => Bell::Stop,
        () = post.reopen.notified() => Bell::Reopen,
        // The writer is gone: nothing comes any more but the end.
        changed = grown.changed(), if well => match changed {
            Ok(()) => Bell::Work,
            Err(_) => Bell::Stop,
        },
        () = tokio::time::sleep(wait), if !well => Bell::Work,
    }
}
