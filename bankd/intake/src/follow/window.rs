//! One window of a live file through a reader: which records are final, and where the next window
//! begins.
//!
//! A reader returns a record as soon as no later input can change it. Records that it returns only
//! at the end of its input may continue in the next line: the steps of a job, the rest of a quoted
//! cell, the second half of a block. Such records are left, and the next window begins at the first
//! of them. So this module depends on no format.

use std::cell::Cell;
use std::io::{self, BufRead, Read};

use bankd_ingest::{Format, Options, Reader, Record};

/// Bytes of a window. Every record that a reader can give is smaller.
pub(super) const BYTES_MAX: usize = 8 << 20;

/// Records at the beginning of a file that give a reader its context.
const CONTEXT_RECORDS: usize = 100;

/// How a window ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// More data will follow: incomplete records wait.
    Open,
    /// No writes for some time: incomplete records are taken, except half a line.
    Quiet,
    /// No more data will follow: all of it, including a last line without its end.
    Over,
}

/// Result of a window.
#[derive(Debug, Default)]
pub(super) struct Cut {
    /// Records that nothing can change any more, in the order of the reader. Their lines count from 1
    /// at the beginning of the window.
    pub(super) records: Vec<Record>,
    /// Bytes from the beginning of the window that are dealt with.
    pub(super) bytes: usize,
    /// Lines among them.
    pub(super) lines: u64,
    /// There were more records than the limit.
    pub(super) is_full: bool,
}

/// The beginning of a file, read again before each window for readers that need it: a header line,
/// and as many records as a reader needs to detect the layout.
#[derive(Clone, Debug, Default)]
pub(super) struct Context {
    bytes: Vec<u8>,
    lines: u64,
}

impl Context {
    /// The context from the first bytes of a file, of which this many were processed before.
    ///
    /// # Errors
    /// If the file is not of the format.
    pub(super) fn of(how: &How<'_>, head: &[u8]) -> io::Result<Self> {
        let few = How {
            limit: CONTEXT_RECORDS,
            ..*how
        };
        let cut = few.read(&Self::default(), head, Ending::Open)?;
        Ok(Self {
            bytes: head.get(..cut.bytes).unwrap_or_default().to_vec(),
            lines: cut.lines,
        })
    }
}

/// How windows are read.
#[derive(Clone, Copy)]
pub(super) struct How<'a> {
    /// The format.
    pub(super) format: &'static Format,
    /// Its options.
    pub(super) options: &'a Options,
    /// Name of the file for readers.
    pub(super) name: &'a str,
    /// Records of a window at most, as far as they end at a line.
    pub(super) limit: usize,
}

impl How<'_> {
    /// Reads a window.
    ///
    /// # Errors
    /// If it is not of the format at all.
    pub(super) fn read(&self, context: &Context, window: &[u8], ending: Ending) -> io::Result<Cut> {
        let whole = match ending {
            Ending::Over => window.len(),
            Ending::Open | Ending::Quiet => complete(window),
        };
        let window = window.get(..whole).unwrap_or_default();
        if window.is_empty() {
            return Ok(Cut::default());
        }
        let mut reader = (self.format.reader)(self.options)
            .map_err(|why| io::Error::new(io::ErrorKind::InvalidInput, why))?;
        self.through(&mut *reader, context, window, ending)
    }

    fn through(
        &self,
        reader: &mut dyn Reader,
        context: &Context,
        window: &[u8],
        ending: Ending,
    ) -> io::Result<Cut> {
        let (is_full, is_over) = (Cell::new(false), Cell::new(false));
        let mut input = Feed {
            parts: [&context.bytes, window],
            is_full: &is_full,
            is_over: &is_over,
        };
        let mut records: Vec<Record> = Vec::new();
        // The first line of an incomplete record.
        let mut open: Option<u64> = None;
        let mut sink = |mut record: Record| {
            let Some(line) = record.line.checked_sub(context.lines).filter(|l| *l > 0) else {
                return Ok(());
            };
            if is_over.get() && (ending == Ending::Open || is_full.get()) {
                open = Some(open.map_or(line, |first| first.min(line)));
                return Ok(());
            }
            record.line = line;
            records.push(record);
            if records.len() >= self.limit {
                is_full.set(true);
            }
            Ok(())
        };
        reader.file(self.name, &mut input, &mut sink)?;
        let left = input.parts.map(<[u8]>::len).iter().sum::<usize>();
        let bytes = match open {
            Some(first) => start_of(window, first),
            None => window.len().saturating_sub(left),
        };
        let done = window.get(..bytes).unwrap_or_default();
        // A last line without its end is one all the same.
        let torn = u64::from(done.last().is_some_and(|byte| *byte != b'\n'));
        let lines = feeds(done).saturating_add(torn);
        // Records after the first incomplete line are read again with it.
        records.retain(|record| record.line <= lines);
        Ok(Cut {
            records,
            bytes,
            lines,
            is_full: is_full.get(),
        })
    }
}

/// The length of a window without the line that has no end yet.
pub(super) fn complete(window: &[u8]) -> usize {
    let last = window.iter().rposition(|byte| *byte == b'\n');
    last.map_or(0, |at| at.saturating_add(1))
}

fn feeds(bytes: &[u8]) -> u64 {
    let parts = bytes.split(|byte| *byte == b'\n').count();
    u64::try_from(parts.saturating_sub(1)).unwrap_or(u64::MAX)
}

/// Where a line begins, counted from 1.
fn start_of(window: &[u8], line: u64) -> usize {
    let mut left = line.saturating_sub(1);
    if left == 0 {
        return 0;
    }
    let at = window.iter().position(|byte| {
        left = left.saturating_sub(u64::from(*byte == b'\n'));
        left == 0
    });
    at.map_or(window.len(), |at| at.saturating_add(1))
}

/// The context and the window as one input, which ends early once there are records enough.
struct Feed<'a> {
    parts: [&'a [u8]; 2],
    is_full: &'a Cell<bool>,
    /// The reader has seen the end of the input.
    is_over: &'a Cell<bool>,
}

impl Read for Feed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut ready = self.fill_buf()?;
        let read = ready.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for Feed<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let [context, window] = self.parts;
        let ready = match (context.is_empty(), self.is_full.get()) {
            (false, _) => context,
            (true, false) => window,
            (true, true) => &[],
        };
        self.is_over.set(ready.is_empty());
        Ok(ready)
    }

    fn consume(&mut self, used: usize) {
        let [context, window] = &mut self.parts;
        let part = if context.is_empty() { window } else { context };
        *part = part.get(used..).unwrap_or_default();
    }
}
