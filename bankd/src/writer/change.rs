//! Changes beside the ledger: the quarantine is emptied, and how a collector is read is kept.

use super::thread::Thread;
use super::{SubmitError, Task, Writer};
use crate::store::{self, SourceChange};
use tokio::sync::oneshot;

/// What is changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// These go out of the quarantine.
    Discard(Vec<i64>),
    /// All of a collector go out of the quarantine.
    DiscardOf(String),
    /// How the files of a collector were read, as JSON.
    Reading { source: String, options: String },
    /// What is expected of a collector.
    Source(SourceChange),
}

impl Writer {
    /// Removes some of what is in the quarantine; says how many there were.
    ///
    /// # Errors
    /// If the store fails, or the queue is full.
    pub async fn discard(&self, ids: Vec<i64>) -> Result<u64, SubmitError> {
        self.change(Change::Discard(ids)).await
    }

    /// Removes all that is in the quarantine of a collector; says how many there were.
    ///
    /// # Errors
    /// If the store fails, or the queue is full.
    pub async fn discard_of(&self, source: String) -> Result<u64, SubmitError> {
        self.change(Change::DiscardOf(source)).await
    }

    /// Changes what is expected of a collector; false if there is none of that name.
    ///
    /// # Errors
    /// If the store fails, or the queue is full.
    pub async fn change_source(&self, change: SourceChange) -> Result<bool, SubmitError> {
        Ok(self.change(Change::Source(change)).await? > 0)
    }

    async fn change(&self, change: Change) -> Result<u64, SubmitError> {
        let (reply, answer) = oneshot::channel();
        self.enqueue(Task::Change(change, reply))?;
        answer.await.unwrap_or(Err(SubmitError::Failed))
    }

    /// Keeps how the files of a collector were read, as JSON. From a thread: it waits for room in the
    /// queue.
    ///
    /// # Errors
    /// If the store fails, or the daemon is going down.
    pub fn keep_reading(&self, source: String, options: String) -> Result<(), SubmitError> {
        let (reply, answer) = oneshot::channel();
        self.wait_for_room(Task::Change(Change::Reading { source, options }, reply))?;
        let answer = answer.blocking_recv().unwrap_or(Err(SubmitError::Failed));
        answer.map(|_| ())
    }
}

impl Thread {
    /// How many rows it was about.
    pub(super) fn change(&self, change: &Change) -> Result<u64, store::Error> {
        match change {
            Change::Discard(ids) => self.store.discard(ids),
            Change::DiscardOf(source) => self.store.discard_of(source),
            Change::Source(change) => self.store.change_source(change).map(u64::from),
            Change::Reading { source, options } => {
                self.store.keep_reading(source, options).map(|()| 1)
            }
        }
    }
}
