//! The place of a command in a request of many: the order in which they reach the queue, and those that are
//! written together or not at all.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{Notify, oneshot};

use super::{Reply, Submission, SubmitError, Task, Writer};

/// A command that waits for the others of its request, and where its reply goes.
pub(super) type Waiting = (Submission, oneshot::Sender<Result<Reply, SubmitError>>);

/// The place of one command. Clones are the same place.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    entered: Arc<Notify>,
    whole: Option<Whole>,
}

/// Commands that are written together or not at all.
#[derive(Clone, Debug)]
pub struct Whole(Arc<Mutex<Option<Vec<Waiting>>>>);

impl Turn {
    /// A place among those that are written together.
    pub fn of(whole: &Whole) -> Turn {
        Turn {
            entered: Arc::default(),
            whole: Some(whole.clone()),
        }
    }

    /// Whether the command is written with others or not at all.
    pub fn is_of_whole(&self) -> bool {
        self.whole.is_some()
    }

    /// Waits until the command is in the queue, or until [`Turn::leave`].
    pub async fn entered(&self) {
        self.entered.notified().await;
    }

    /// The command is in the queue, or never gets there.
    pub fn leave(&self) {
        self.entered.notify_one();
    }

    /// Puts a command into the queue, or among those that it is written with.
    pub(super) fn enter(&self, writer: &Writer, waiting: Waiting) -> Result<(), SubmitError> {
        let entered = match &self.whole {
            Some(whole) => {
                whole.add(waiting);
                Ok(())
            }
            None => writer.enqueue(Task::submit(waiting)),
        };
        self.leave();
        entered
    }
}

impl Default for Whole {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Some(Vec::new()))))
    }
}

impl Whole {
    /// How many commands wait.
    pub fn len(&self) -> usize {
        let waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.as_ref().map_or(0, Vec::len)
    }

    /// Whether no command waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes the commands that wait in one transaction of the database, or none of them where one is refused.
    /// Each gets its reply.
    ///
    /// # Errors
    /// If the queue is full, or the daemon stops: no command was written.
    pub fn submit(&self, writer: &Writer) -> Result<(), SubmitError> {
        let waiting = self.close();
        if waiting.is_empty() {
            return Ok(());
        }
        writer.enqueue(Task::Whole(waiting))
    }

    /// Writes none of the commands that wait: each gets [`SubmitError::Undone`].
    pub fn abandon(&self) {
        for (_, reply) in self.close() {
            let _ = reply.send(Err(SubmitError::Undone));
        }
    }

    /// A command that comes when the others were written is not.
    fn add(&self, (submission, reply): Waiting) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match open.as_mut() {
            Some(waiting) => waiting.push((submission, reply)),
            None => {
                let _ = reply.send(Err(SubmitError::Undone));
            }
        }
    }

    fn close(&self) -> Vec<Waiting> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.take().unwrap_or_default()
    }
}
