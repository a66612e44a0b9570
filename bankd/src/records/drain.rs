//! The thread that takes lines from the outbox to their files.
//!
//! Each round: read some lines, one write each, wait for the disk, tell the ledger. Whatever fails
//! is logged, counted and tried again later from what the ledger knows, so that neither a crash nor
//! a full disk loses or doubles a line (`usage-records.md` 4.6).

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::Notify;

use super::{Files, Sink};
use crate::emit::appender::{Appender, Confirmed, Finding};
use crate::hooks;
use crate::obs::Counters;
use crate::store::{self, SinkState};
use crate::writer::Writer;

/// Lines between two waits for the disk. Whatever is not confirmed after a crash is among so many.
const BATCH: i64 = 256;
/// The first and the longest wait after a failure.
const RETRY: (Duration, Duration) = (Duration::from_secs(1), Duration::from_mins(1));

/// The running thread.
#[derive(Debug)]
pub struct Drain {
    stop: Arc<Notify>,
    thread: Option<JoinHandle<()>>,
}

impl Drain {
    /// Writes what is in the outbox now, then ends the thread. The writer must still run.
    pub fn stop(mut self) {
        self.stop.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Starts the thread, unless no file is switched on. To be called inside the runtime that serves.
///
/// # Errors
/// If the database cannot be opened for reading, or the system has no thread to give.
pub fn start(
    files: &Files,
    database: &Path,
    writer: Writer,
    counters: Arc<Counters>,
) -> anyhow::Result<Drain> {
    let stop = Arc::new(Notify::new());
    let sinks = files.sinks();
    if sinks.is_empty() {
        return Ok(Drain { stop, thread: None });
    }
    let mut pump = Pump {
        connection: store::open_reader(database)?,
        sinks: sinks.into_iter().map(Open::new).collect(),
        writer,
        counters,
    };
    let stopping = Arc::clone(&stop);
    let runtime = tokio::runtime::Handle::current();
    let name = std::thread::Builder::new().name("records".to_owned());
    let thread = name.spawn(move || pump.run(&runtime, &stopping))?;
    Ok(Drain {
        stop,
        thread: Some(thread),
    })
}

struct Pump {
    connection: Connection,
    sinks: Vec<Open>,
    writer: Writer,
    counters: Arc<Counters>,
}

/// A sink with its file once that is open.
struct Open {
    sink: Sink,
    upto: i64,
    file: Option<Appender>,
}

impl Open {
    fn new(sink: Sink) -> Self {
        Self {
            sink,
            upto: 0,
            file: None,
        }
    }
}

impl Pump {
    fn run(&mut self, runtime: &tokio::runtime::Handle, stopping: &Notify) {
        let mut wait = RETRY.0;
        loop {
            let well = self.drain();
            wait = if well { RETRY.0 } else { RETRY.1.min(wait * 2) };
            let writer = self.writer.clone();
            let stop = runtime.block_on(async {
                tokio::select! {
                    () = stopping.notified() => true,
                    () = writer.outbox_grew(), if well => false,
                    () = tokio::time::sleep(wait), if !well => false,
                }
            });
            if stop {
                self.drain();
                return;
            }
        }
    }

    /// Writes everything that waits; false if something has to be tried again.
    fn drain(&mut self) -> bool {
        let mut well = true;
        for open in &mut self.sinks {
            if let Err(e) = open.drain(&self.connection, &self.writer) {
                // What is known of the file is what the ledger says: it is opened anew.
                open.file = None;
                well = false;
                self.counters.record_failed();
                let path = open.sink.path.display();
                tracing::error!(sink = open.sink.name, %path, "records wait: {e:#}");
            }
        }
        well
    }
}

impl Open {
    fn drain(&mut self, connection: &Connection, writer: &Writer) -> anyhow::Result<()> {
        let mut file = match self.file.take() {
            Some(file) => file,
            None => self.open(connection, writer)?,
        };
        loop {
            let (ids, lines) = self.pending(connection)?;
            if ids.is_empty() {
                self.file = Some(file);
                return Ok(());
            }
            let done = file.append(&lines)?;
            hooks::point("record_written");
            self.confirm(&mut file, &ids, done, writer)?;
        }
    }

    /// Opens the file and settles what an earlier run left behind.
    fn open(&mut self, connection: &Connection, writer: &Writer) -> anyhow::Result<Appender> {
        let state = store::sink_state(connection, self.sink.name)?;
        self.upto = state.as_ref().map_or(0, |state| state.upto);
        let confirmed = state.map(|state| Confirmed {
            device: state.device,
            inode: state.inode,
            length: state.length,
        });
        let (ids, lines) = self.pending(connection)?;
        let sink = &self.sink;
        let (mut file, done) = Appender::open(&sink.path, confirmed, &lines, sink.fsync)?;
        self.confirm(&mut file, &ids, done, writer)?;
        Ok(file)
    }

    fn pending(&self, connection: &Connection) -> anyhow::Result<(Vec<i64>, Vec<Vec<u8>>)> {
        let rows = store::pending(connection, self.sink.name, self.upto, BATCH)?;
        let with_feed = |mut line: String| {
            line.push('\n');
            line.into_bytes()
        };
        Ok(rows
            .into_iter()
            .map(|row| (row.id, with_feed(row.line)))
            .unzip())
    }

    /// Waits for the disk, then lets the ledger know that the first `done` lines are there.
    fn confirm(
        &mut self,
        file: &mut Appender,
        ids: &[i64],
        done: usize,
        writer: &Writer,
    ) -> anyhow::Result<()> {
        let confirmed = file.confirm()?;
        hooks::point("record_synced");
        for finding in file.take_findings() {
            self.report(finding);
        }
        let last = done.checked_sub(1).and_then(|last| ids.get(last));
        let upto = last.copied().unwrap_or(self.upto);
        writer.confirm(SinkState {
            name: self.sink.name.to_owned(),
            upto,
            device: confirmed.device,
            inode: confirmed.inode,
            length: confirmed.length,
        })?;
        self.upto = upto;
        Ok(())
    }

    fn report(&self, finding: Finding) {
        let (sink, path) = (self.sink.name, self.sink.path.display());
        match finding {
            Finding::OwnTail { bytes } => {
                tracing::info!(sink, %path, bytes, "unconfirmed end of the file is written again");
            }
            Finding::Foreign { bytes } => {
                tracing::warn!(sink, %path, bytes, "another process wrote to the file");
            }
            Finding::Shrunk { from, to } => {
                tracing::error!(sink, %path, from, to, "the file was made shorter in place");
            }
            Finding::Rotated => tracing::info!(sink, %path, "the file was rotated"),
        }
    }
}
