//! Requests of AUDITOR's API to the writer: the records that are to be stored, and what each of them does
//! to the ledger.

use super::change::Change;
use super::{Caller, SubmitError, Task, Writer};
use bank_core::command::Command;
use bankd_store::RecordRow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::TrySendError;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::time::{Instant, sleep, timeout_at};

/// Wait before another try with a full queue.
const BREATH: Duration = Duration::from_millis(5);

/// Records of a list that are no more work than a batch of commands.
const FEW: usize = 64;

/// Memory of a request, out of a bounded room: held as long as the request is anywhere.
pub type Memory = Option<Arc<OwnedSemaphorePermit>>;

/// The prefix of a reason if a record is stored and the rules refuse its charge.
pub const NOT_CHARGED: &str = "stored, not charged: ";

/// A request, with everything that its rows need.
#[derive(Clone, Debug)]
pub struct Collect {
    /// The request.
    pub what: Collecting,
    /// The collector that it counts for.
    pub source: String,
    /// The caller.
    pub caller: Caller,
    /// The request's id.
    pub request_id: String,
    /// The route, for the quarantine.
    pub place: &'static str,
    /// The sender, for the quarantine.
    pub peer: String,
    /// The memory that its records take, also in the queue, after its caller has gone.
    pub memory: Memory,
}

impl Task {
    /// Whether it holds the writer for much longer than a command: a chunk of an import, a list of
    /// records.
    pub(super) fn is_long(&self) -> bool {
        match self {
            // A month: each of its days is looked at, and a row written for each key.
            Task::Portion(..)
            | Task::Open(..)
            | Task::Whole(_)
            | Task::Change(Change::Block(_), _) => true,
            Task::Collect(query, _) => {
                matches!(&query.what, Collecting::Add { records, .. } if records.len() > FEW)
            }
            _ => false,
        }
    }

    /// Whether a long task is not done: it comes behind what failed, or it is a list of records whose caller
    /// has gone. That caller has no answer, so it sends the list again.
    pub(super) fn is_void(&self) -> bool {
        match self {
            Task::Portion(portion, _) => portion.row.is_broken(),
            Task::Collect(query, reply) => {
                matches!(query.what, Collecting::Add { .. }) && reply.is_closed()
            }
            _ => false,
        }
    }
}

/// The requests of a collector.
#[derive(Clone, Debug)]
pub enum Collecting {
    /// Store records, all or none.
    Add {
        /// The records; no name comes twice.
        records: Vec<Gathered>,
        /// Store those that are new, where some are there already.
        lenient: bool,
    },
    /// Move a record's end.
    End {
        /// Its name.
        record_id: String,
        /// The end, µs.
        stop: i64,
        /// Whole seconds from its start.
        runtime: i64,
        /// Its keys and values, as [`pair`](bankd_store::read::auditor::pair) numbers them.
        pairs: Vec<i64>,
        /// The effect of the end on the ledger.
        work: Box<Work>,
    },
    /// Keep aside what is refused for good.
    Refuse {
        /// Why.
        reason: String,
        /// It, as it came.
        body: Vec<u8>,
    },
    /// Place a record's lien again.
    Renew {
        /// Its name.
        record_id: String,
        /// The lien.
        work: Box<Work>,
        /// When to come again, µs; none for never.
        next: Option<i64>,
    },
}

/// A record with what it does to the ledger.
#[derive(Clone, Debug)]
pub struct Gathered {
    /// The record.
    pub row: RecordRow,
    /// Its effect on the ledger.
    pub work: Work,
}

/// The effect of a record on the ledger.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// The command; none for nothing.
    pub command: Option<Command>,
    /// The record as it is answered, for the quarantine where the rules refuse the command.
    pub record: String,
}

/// The result of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Collected {
    /// Done.
    Done(Details),
    /// Nothing was done: a record of a name is there already.
    Exists(Details),
    /// There is no record of that name.
    Unknown,
}

/// Further results of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Details {
    /// Records that were there already.
    pub known: u64,
    /// Those of them that differ from the stored ones.
    pub conflicts: Vec<String>,
    /// The records that the rules refused, with the code; they are stored all the same.
    pub refused: Vec<(String, &'static str)>,
}

impl Writer {
    /// Takes records in and waits until they are durable, for so long at most. A full queue is
    /// waited for.
    ///
    /// # Errors
    /// If it takes longer, the store fails, which leaves nothing of it, or the daemon is going down.
    pub async fn collect(
        &self,
        what: Collect,
        patience: Duration,
    ) -> Result<Collected, SubmitError> {
        let until = Instant::now() + patience;
        let (reply, answer) = oneshot::channel();
        let mut task = Task::Collect(Box::new(what), reply);
        self.shared.depth.fetch_add(1, Ordering::Relaxed);
        loop {
            task = match self.queue.try_send(task) {
                Ok(()) => break,
                Err(TrySendError::Full(task)) if Instant::now() < until => task,
                Err(error) => {
                    self.shared.depth.fetch_sub(1, Ordering::Relaxed);
                    return Err(match error {
                        TrySendError::Full(_) => SubmitError::Busy,
                        TrySendError::Disconnected(_) => SubmitError::Stopped,
                    });
                }
            };
            sleep(BREATH).await;
        }
        match timeout_at(until, answer).await {
            Ok(answered) => answered.unwrap_or(Err(SubmitError::Failed)),
            Err(_) => Err(SubmitError::Busy),
        }
    }
}
