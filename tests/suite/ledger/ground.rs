//! The grounds on which the same rules run, as the tests see them: the book in memory and the
//! store on disk.
//!
//! Both do with a command what the writer does: look the idempotency key up, journal the boundaries
//! that have passed, decide, write, and keep the answer with its key.

use bank_core::amount::Precision;
use bank_core::clock::Reading;
use bank_core::command::Command;
use bank_core::directory::{Bank, Directory};
use bank_core::effects::Delta;
use bank_core::model::{Allocation, Instance, InstanceKey};
use bank_core::need::Need;
use bank_core::time::Timestamp;
use rusqlite::Connection;
use std::sync::Arc;

/// The client of every request in these tests.
pub(crate) const CLIENT: &str = "test";

/// A journal transaction as the tests read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tx {
    pub(crate) id: i64,
    pub(crate) op: String,
    pub(crate) effective: Timestamp,
    pub(crate) recorded: Timestamp,
    pub(crate) reason: String,
    pub(crate) entries: Vec<Line>,
}

/// A journal entry as the tests read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) kind: String,
    pub(crate) account: Option<i64>,
    pub(crate) allocation: Option<i64>,
    pub(crate) lien: Option<i64>,
    pub(crate) delta: Delta,
    pub(crate) project: String,
}

/// A usage row as the tests read it: seconds, amount, how it ended.
pub(crate) type Used = (i64, i64, String);

/// Something that commands run on.
pub(crate) trait Ground {
    /// Its name, for messages.
    fn name(&self) -> &'static str;
    /// Runs a command at what the clock shows; gives the answer as text.
    fn submit(&mut self, command: &Command, key: Option<&str>, clock: Timestamp) -> String;
    /// Journals the boundaries that have passed.
    fn settle(&mut self, clock: Timestamp);
    /// The ledger clock: never before what was recorded.
    fn ledger_now(&self, clock: Timestamp) -> Timestamp;
    /// The clock is about to jump so far without time passing, in microseconds.
    fn unseen(&mut self, jump: i64);
    /// An operator says that the clock is right.
    fn confirm_clock(&mut self);
    /// The reference data.
    fn directory(&self) -> Arc<Directory>;
    /// Every allocation, by number.
    fn allocations(&mut self) -> Vec<Allocation>;
    /// The uses of an object's id, newest first, with their liens.
    fn instances(&mut self, key: &InstanceKey) -> Vec<Instance>;
    /// The journal after a transaction.
    fn journal(&mut self, after: i64) -> Vec<Tx>;
    /// Every lien with the word for its state, by number.
    fn liens(&mut self) -> Vec<(i64, String)>;
    /// Every usage row, by number.
    fn usages(&mut self) -> Vec<Used>;
    /// What breaks the invariants of ledger.md 7, cheaply enough for every step.
    fn findings(&mut self) -> Vec<String>;
    /// The same at the end, with everything that can be proved.
    fn proof(&mut self) -> Vec<String>;
    /// A connection that only reads, where it has a file.
    fn reader(&mut self) -> Option<&Connection> {
        None
    }
    /// Closes it and opens it again, where it has a file.
    fn reopen(&mut self) {}
}

/// The bank of these tests: precision 0, as the conventions of ledger.md 11 want it.
pub(crate) fn bank() -> Bank {
    Bank {
        uuid: "00000000-0000-4000-8000-000000000001".to_owned(),
        precision: Precision::new(0).unwrap(),
        unit: "credits".to_owned(),
    }
}

/// What the machine shows: a clock that has jumped so far beside one that has not.
pub(crate) fn reading(clock: Timestamp, jumped: i64) -> Reading {
    Reading {
        steady: Timestamp(clock.0.saturating_sub(jumped)),
        ..Reading::moved(clock)
    }
}

/// What tells two requests with one key apart.
pub(crate) fn fingerprint(command: &Command) -> String {
    format!("{command:?}")
}

/// The uses of an object's id, for [`bank_core::ledger::Ledger::load`].
pub(crate) fn of_key(key: &InstanceKey) -> Need {
    Need {
        instance: Some(key.clone()),
        ..Need::default()
    }
}
