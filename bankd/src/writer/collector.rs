//! Changes of what is expected of a collector: no matter of the ledger, so nothing is journalled.

use super::{SubmitError, Task, Writer};
use crate::store::SourceChange;
use tokio::sync::oneshot;

impl Writer {
    /// Makes a change and waits until it is durable; false if there is no such collector.
    ///
    /// # Errors
    /// If the store fails, or the queue is full.
    pub async fn change_source(&self, change: SourceChange) -> Result<bool, SubmitError> {
        let (reply, answer) = oneshot::channel();
        self.enqueue(Task::Source(change, reply))?;
        answer.await.unwrap_or(Err(SubmitError::Failed))
    }
}
