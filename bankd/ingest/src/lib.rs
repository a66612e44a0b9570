//! Usage that others wrote down: accounting files, snapshots, samples, as one kind of record.
//!
//! One file for each format, all behind [`Reader`]. This crate is independent of the ledger, the
//! database and HTTP. A reader gets bytes and returns [`Record`]s: one or more jobs, a skip with
//! its label, or an unreadable line. An unreadable line never stops it (`collectors.md` 0.3).
//! [`formats::FORMATS`] lists the readers.

mod auditor;
mod beside;
mod bounds;
mod condor;
mod csv;
mod days;
pub mod formats;
mod identities;
mod instant;
pub mod job;
mod json;
mod kubernetes;
pub mod lines;
mod lsf;
mod moab;
mod nomad;
pub mod number;
pub mod open;
mod openshift;
mod options;
mod pbs;
mod prometheus;
mod repair;
mod samples;
pub mod screen;
mod sge;
mod slurm;
mod spans;
mod split;
pub mod summary;
mod swf;
mod tally;
mod text;

pub use auditor::job as auditor_job;
pub use formats::{FORMATS, Format};
pub use job::{Counted, Counts, Extra, Found, Job, Label, Record, State};
pub use lines::Lines;
pub use number::Number;
pub use options::Options;
pub use summary::Summary;
pub use text::{known, object_id};

use std::io::{self, BufRead};

/// Receives the records, in the order of the input. An error of it stops the reading.
pub type Sink<'a> = dyn FnMut(Record) -> io::Result<()> + 'a;

/// Reads one source: a file, or several that make one result.
///
/// Readers stream: they keep one record, or the state that their format needs of earlier ones,
/// never a file. Documents of one JSON value are read whole, up to [`lines::DOCUMENT_MAX`].
pub trait Reader {
    /// Reads one file from its beginning to its end.
    ///
    /// # Errors
    /// If the input is unreadable, is not of this format at all (`InvalidData` with the reason), or
    /// the sink fails.
    fn file(&mut self, name: &str, input: &mut dyn BufRead, sink: &mut Sink<'_>) -> io::Result<()>;

    /// The list of a document that has the records; none in formats whose records are no elements of a list.
    fn list(&self) -> Option<&'static str> {
        None
    }

    /// Reads one record by itself: the text that [`Record::raw`] kept of it, or a corrected one. It has no lines
    /// before it and no list around it.
    ///
    /// # Errors
    /// As [`file`](Reader::file), and if the record is of no use without the rest of its file.
    fn again(
        &mut self,
        name: &str,
        input: &mut dyn BufRead,
        sink: &mut Sink<'_>,
    ) -> io::Result<()> {
        match self.list() {
            Some(list) => self.file(name, &mut json::listed(input, list)?.as_slice(), sink),
            None => self.file(name, input, sink),
        }
    }

    /// After the last file: returns records that are complete only at the end, and figures of the
    /// whole source.
    ///
    /// # Errors
    /// If the sink fails.
    fn finish(&mut self, _sink: &mut Sink<'_>) -> io::Result<Vec<Extra>> {
        Ok(Vec::new())
    }
}

/// An error for input of another format.
pub(crate) fn not_of_the_format(why: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why.into())
}
