//! Answers commands that could not be written. A full disk is logged once a minute with a count, because the
//! log can be on the same disk.

use std::time::{Duration, Instant};

use bankd_store as store;

use super::{SubmitError, Task};

/// Time between two reports of a full disk.
const QUIET: Duration = Duration::from_mins(1);

/// Commands that a full disk refused, and when that was reported last.
#[derive(Debug, Default)]
pub(super) struct Full {
    reported: Option<Instant>,
    /// Since the last report.
    refused: u64,
    /// Since the disk is full.
    total: u64,
}

impl Full {
    /// One more was refused.
    pub(super) fn refuse(&mut self, error: &store::Error) {
        self.refused = self.refused.saturating_add(1);
        self.total = self.total.saturating_add(1);
        if self.reported.is_some_and(|at| at.elapsed() < QUIET) {
            return;
        }
        let (refused, total) = (self.refused, self.total);
        tracing::error!(
            %error, refused, total,
            "the disk of the database is full; commands are refused until there is room"
        );
        self.reported = Some(Instant::now());
        self.refused = 0;
    }

    /// A commit of commands that succeeded. One that wrote nothing, as that of a quote, a dry run or a repeat, does so on
    /// a full disk too.
    pub(super) fn committed(&mut self, has_written: bool) {
        if has_written && self.total > 0 {
            let refused = self.total;
            tracing::warn!(refused, "the disk of the database has room again");
            *self = Self::default();
        }
    }
}

/// The answer for a task that failed with an error.
pub(super) fn cause(error: &store::Error) -> SubmitError {
    if error.is_full() {
        SubmitError::Full
    } else {
        SubmitError::Failed
    }
}

/// Answers the caller of a task that could not be written.
pub(super) fn fail(task: Task, error: SubmitError) {
    match task {
        Task::Submit(_, _, reply) => {
            let _ = reply.send(Err(error));
        }
        Task::Whole(waiting) => {
            for (_, reply) in waiting {
                let _ = reply.send(Err(error));
            }
        }
        Task::Collect(_, reply) => {
            let _ = reply.send(Err(error));
        }
        Task::Portion(portion, reply) => {
            portion.row.breaks();
            let _ = reply.send(Err(error));
        }
        Task::Open(_, reply) => {
            let _ = reply.send(Err(error));
        }
        Task::Settle(reply) | Task::Confirm(_, reply) | Task::Aside(_, _, reply) => {
            let _ = reply.send(Err(error));
        }
        Task::Change(_, reply) => {
            let _ = reply.send(Err(error));
        }
        Task::Prune(reply) => {
            let _ = reply.send(Err(error));
        }
        Task::Stop => {}
    }
}
