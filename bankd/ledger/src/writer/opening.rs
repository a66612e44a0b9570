//! The opening of this bank with the contents of another (decision 0170): many commands in one database
//! transaction, of which all are written or none.

use super::{Caller, IdempotencyKey, SubmitError, Task, Writer};
use bank_core::command::Command;
use bank_core::model::Figures;
use bank_core::refusal::Refusal;
use tokio::sync::oneshot;

/// The commands of an opening, and what must come of them.
#[derive(Clone, Debug)]
pub struct Opening {
    /// In their order.
    pub steps: Vec<Step>,
    /// The figures that accounts must have afterwards, by name.
    pub expected: Vec<(String, Figures)>,
    /// The caller.
    pub caller: Caller,
    /// The request's id.
    pub request_id: String,
    /// Decide, and write nothing.
    pub dry_run: bool,
}

/// One command.
#[derive(Clone, Debug)]
pub struct Step {
    /// The command.
    pub command: Command,
    /// For money: the identity of the step, which is kept for ever. An object without one is left as it is
    /// if one of its name exists.
    pub key: Option<StepKey>,
}

/// The identity of a step in the old bank.
#[derive(Clone, Debug)]
pub struct StepKey {
    /// The client that owns the keys of the old bank.
    pub client: String,
    /// The key.
    pub key: IdempotencyKey,
}

/// The result of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepDone {
    /// It was written, in this transaction; none for a dry run.
    Added(Option<i64>),
    /// An object of its name exists.
    Exists,
    /// An earlier opening wrote it.
    Before,
}

/// Why an opening was not written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unopened {
    /// It was decided only.
    DryRun,
    /// A rule refused the step of this place.
    Refused(usize, Box<Refusal>),
    /// An earlier opening wrote the step of this place with other contents.
    Changed(usize),
    /// The figures of an account are not as expected.
    Unequal,
}

/// The result of an opening.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opened {
    /// The results of its steps up to the one that was refused.
    pub steps: Vec<StepDone>,
    /// The figures of the expected accounts, in their order; none for an account that does not exist.
    pub found: Vec<Option<Figures>>,
    /// Why nothing was written; none if all of it was.
    pub unopened: Option<Unopened>,
}

impl Writer {
    /// Opens the bank, and waits until that is durable.
    ///
    /// # Errors
    /// If the store fails or the queue is full; then nothing was written.
    pub async fn open(&self, opening: Opening) -> Result<Opened, SubmitError> {
        let (reply, answer) = oneshot::channel();
        self.enqueue(Task::Open(Box::new(opening), reply))?;
        answer.await.unwrap_or(Err(SubmitError::Failed))
    }
}
