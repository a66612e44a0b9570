//! Why a submission has no answer.

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubmitError {
    /// The queue is full.
    #[error("busy: the queue is full")]
    Busy,
    /// The disk is full; nothing was written.
    #[error("the disk of the database is full")]
    Full,
    /// A file of the database is no longer at its path; nothing was written.
    #[error("a file of the database was moved or replaced")]
    Moved,
    /// The store failed; nothing was written.
    #[error("the store failed")]
    Failed,
    /// The daemon is going down.
    #[error("shutting down")]
    Stopped,
    /// It cannot be undone, because a partner bank is asked first: it is not written together with others.
    #[error("a command for a project of a partner bank is written alone")]
    Alone,
    /// A command was refused that it is written together with; nothing was written.
    #[error("undone with another command")]
    Undone,
    /// Another node of the cluster writes. Nothing was done here; with an unknown outcome, a repeat under the same key
    /// gets the answer.
    #[error("another node of the cluster writes")]
    Elsewhere,
    /// The log of the cluster cannot be reached; nothing was written.
    #[error("the log of the cluster cannot be reached")]
    NoLog,
}
