//! The record files: lines about charges for other programs (`usage-records.md` 1.8, 4.5, 4.6).
//!
//! A record is made inside the charge's own transaction and kept for ever. Each file is a place among the
//! records, with a thread that writes and confirms the lines after that place. A file that cannot be written
//! delays its lines, and neither a charge nor another file. [`keep`] makes the records, [`Files`] lists the
//! files, [`start`] begins the threads, [`form`] makes the lines, for files and for exports alike.

mod board;
pub mod costs;
mod drain;
pub mod export;
pub mod form;
mod make;
mod reported;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use bank_core::directory::{Bank, Directory};
use bank_core::effects::RecordEvent;
use bankd_config as config;
use bankd_emit::appender::Fsync;
use bankd_emit::stored;
use bankd_ledger::writer::Kept;
use bankd_store::Counted;

pub use board::{Board, Standing};
pub use drain::{Drain, start};
pub use form::{Facts, Form};
pub use make::job_name;

/// The record files that are switched on, with what the bank adds to their lines.
#[derive(Clone, Debug)]
pub struct Files {
    sinks: Vec<Sink>,
    facts: Facts,
}

/// A record file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sink {
    /// Its name: `file`, `ggf`, or that of a `[[sink]]`.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// When a line counts as written.
    pub fsync: Fsync,
    /// The form of its lines.
    pub form: Form,
    /// The settings as text: the form by which lines were made that are not confirmed.
    pub settings: String,
}

impl Files {
    /// The files of these settings, for a bank.
    pub fn new(sinks: Vec<config::Sink>, data: &Path, bank: &Bank) -> Self {
        let sink = |sink: config::Sink| {
            Some(Sink {
                path: config::path_in(data, &sink.path)?,
                fsync: sink.fsync.into(),
                form: Form::of(&sink),
                settings: sink.text(),
                name: sink.name,
            })
        };
        Self {
            sinks: sinks.into_iter().filter_map(sink).collect(),
            facts: Facts::of(bank),
        }
    }

    /// The files that are switched on.
    pub fn sinks(&self) -> &[Sink] {
        &self.sinks
    }
}

/// Called by the writer for every charge, close and later change: a [`bankd_ledger::writer::RecordKeeper`].
pub fn keep(directory: &Directory, event: &RecordEvent, counted: Counted) -> Kept {
    let record = make::record(directory, event, counted);
    Kept {
        created_at: record.created_at,
        number: record.record_id,
        text: stored::write(&record),
    }
}
