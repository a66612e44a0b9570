//! The open file, its read part, and the imported position.

use std::io;
use std::path::PathBuf;

use super::input::{Input, Look, Node};
use super::trace::{Fingerprint, Trace};
use super::window::{Context, Ending};

/// The file that is read.
pub(super) struct Open {
    pub(super) input: Input,
    pub(super) trace: Trace,
    pub(super) line: u64,
    pub(super) context: Option<Context>,
    pub(super) seen: Option<Look>,
    /// When it was seen to have changed.
    pub(super) changed_us: i64,
    /// When it had been written when it was opened, in nanoseconds since 1970.
    written: i64,
    /// The bytes that the list of files has of it.
    pub(super) listed: Option<(u64, Fingerprint)>,
    /// The look and the ending of a read without result: the same read again would have none either.
    pub(super) vain: Option<(Option<Look>, Ending)>,
}

/// How far a file is taken in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark {
    /// The file, by its own name.
    pub(super) file: PathBuf,
    pub(super) node: Node,
    /// Bytes that are dealt with, and lines in them.
    pub(super) offset: u64,
    pub(super) line: u64,
    /// The fingerprint of these bytes.
    pub(super) print: Fingerprint,
    /// When the file had been written last, in nanoseconds since 1970.
    pub(super) written: i64,
}

impl Open {
    pub(super) fn new(input: Input, trace: Trace, line: u64, now_us: i64) -> Self {
        Self {
            written: input.at_first.written,
            input,
            trace,
            line,
            context: None,
            seen: None,
            changed_us: now_us,
            listed: None,
            vain: None,
        }
    }

    /// Bytes of it that are dealt with.
    pub(super) fn offset(&self) -> u64 {
        self.trace.passed()
    }

    /// How far it is taken in.
    pub(super) fn mark(&self) -> Mark {
        Mark {
            file: self.input.path.clone(),
            node: self.input.node,
            offset: self.offset(),
            line: self.line,
            print: self.trace.fingerprint(),
            written: self.seen.map_or(self.written, |seen| seen.written),
        }
    }

    /// The same, if these next bytes of it were dealt with too.
    pub(super) fn mark_behind(&self, next: &[u8]) -> Mark {
        let mut trace = self.trace.clone();
        trace.pass(next);
        Mark {
            offset: trace.passed(),
            print: trace.fingerprint(),
            ..self.mark()
        }
    }

    /// How the file looked when it was read last.
    pub(super) fn look(&self) -> Look {
        self.seen.unwrap_or(self.input.at_first)
    }

    /// Looks at the file: false if it no longer begins with the bytes that were read.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn check(&mut self, now_us: i64) -> io::Result<bool> {
        let look = self.input.look()?;
        if self.seen.is_none() || look != self.seen {
            self.seen = look;
            self.changed_us = now_us;
            return self.is_same();
        }
        Ok(true)
    }

    /// Whether the file still begins with the bytes read.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn is_same(&mut self) -> io::Result<bool> {
        if self.input.is_packed() {
            return Ok(true);
        }
        let there = self.input.trace(self.trace.passed())?;
        Ok(there.is_some_and(|there| there == self.trace))
    }
}
