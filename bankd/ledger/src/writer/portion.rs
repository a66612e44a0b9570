//! A portion of an intake: usage, unreadable input, raw lines, and the progress in a followed file. All of it
//! goes into the ledger in one database transaction.

use super::{Caller, SubmitError, Task, Writer};
use bank_core::command::{Reports, UsageReport};
use bank_core::effects::{Became, Billing, Charged};
use bankd_store::{FollowMark, QuarantineRow, RawBlock, Snapshot, SourceSeen};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::oneshot;

/// A finished use with where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The use.
    pub report: Arc<UsageReport>,
    /// Its digest ([`digest`](bankd_store::digest)).
    pub digest: [u8; 16],
    /// File or route.
    pub file: Arc<str>,
    /// Which line of it, from 1.
    pub line: u64,
    /// Which line of the portion, from 0.
    pub place: u32,
    /// The place of that line in [`Portion::lines`]: offset and length in bytes.
    pub raw: (usize, usize),
}

/// Concurrent clients of the bank during a portion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Others {
    /// None: uses that are left alone go in with the portion, each as a separate command.
    None,
    /// Nobody has for a while.
    #[default]
    Quiet,
    /// They have commands: what the portion adds to the log is written back at once, so that none of
    /// them waits until much of it is.
    Busy,
}

/// Portions of one intake, in their order: behind one that failed none is taken in, so that what is
/// in the bank is always the beginning of what was read.
#[derive(Clone, Debug, Default)]
pub struct Row(Arc<AtomicBool>);

impl Row {
    /// A portion of it failed.
    pub(super) fn breaks(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether one did.
    pub(super) fn is_broken(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Everything that goes in together.
#[derive(Clone, Debug)]
pub struct Portion {
    /// The observation of the collector.
    pub seen: SourceSeen,
    /// The caller.
    pub caller: Caller,
    /// The request's id.
    pub request_id: String,
    /// Finished uses, in the order in which they came.
    pub items: Vec<Item>,
    /// The uses as one command; none if each is a separate command.
    pub reports: Reports,
    /// Each use is a separate command: those that an earlier portion left alone.
    pub alone: bool,
    /// The lines as they came, each behind its length.
    pub lines: Arc<Vec<u8>>,
    /// SHA-256 in hex: over them where they are kept, else over the digests of the items.
    pub digest: String,
    /// They as they are kept, where they are.
    pub raw: Option<RawBlock>,
    /// The block that they are in already.
    pub block: Option<i64>,
    /// Unreadable input.
    pub quarantine: Vec<QuarantineRow>,
    /// Snapshots.
    pub snapshots: Vec<Snapshot>,
    /// The progress in followed files.
    pub marks: Vec<FollowMark>,
    /// More follows, until [`settled`](Writer::settled): an import that has the database alone may
    /// commit it with that.
    pub goes_on: bool,
    /// The portions that it comes behind and before.
    pub row: Row,
    /// Concurrent clients of the bank.
    pub others: Others,
    /// Decide, and write nothing.
    pub dry_run: bool,
}

/// The result of a portion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Landed {
    /// The number of its uses by result: `charged`, `kept`, `refused`, …
    pub outcomes: BTreeMap<String, u64>,
    /// The number of rows that went into the quarantine.
    pub quarantined: u64,
    /// Items that must come in portions of separate commands. If there are any, the marks wait for the last of
    /// them.
    pub alone: Vec<Item>,
    /// The block that the lines are in.
    pub block: Option<i64>,
}

/// A portion on its way.
pub struct OnItsWay(oneshot::Receiver<Back>);

/// The result of a portion, and the portion itself: it is large, and its sender has more time than the writer
/// to free it.
pub(super) type Back = Result<(Landed, Box<Portion>), SubmitError>;

impl OnItsWay {
    /// Waits until it is written, and durable unless it [goes on](Portion::goes_on); from a thread. Gives
    /// the portion back.
    ///
    /// # Errors
    /// If the store fails, which leaves nothing of it nor of what went on into it, if it did with a portion
    /// before it in the same [row](Portion::row), or if the daemon is going down.
    pub fn landed(self) -> Result<(Landed, Box<Portion>), SubmitError> {
        self.0.blocking_recv().unwrap_or(Err(SubmitError::Failed))
    }
}

impl Writer {
    /// Gives a portion to the ledger. Waits for room in the queue: it is called from a thread of its
    /// own, which may go on reading meanwhile.
    ///
    /// # Errors
    /// If the daemon is going down.
    pub fn portion(&self, portion: Portion) -> Result<OnItsWay, SubmitError> {
        let (reply, answer) = oneshot::channel();
        self.wait_for_room(Task::Portion(Box::new(portion), reply))?;
        Ok(OnItsWay(answer))
    }

    /// Puts something into the quarantine.
    ///
    /// # Errors
    /// If the store fails, or the queue is full.
    pub async fn quarantine(&self, rows: Vec<QuarantineRow>) -> Result<(), SubmitError> {
        let (reply, answer) = oneshot::channel();
        self.enqueue(Task::Aside(rows, Vec::new(), reply))?;
        answer.await.unwrap_or(Err(SubmitError::Failed))
    }

    /// Keeps how far a followed file is where nothing of it was taken in, from a thread.
    ///
    /// # Errors
    /// If the store fails, or the daemon is going down.
    pub fn mark_blocking(&self, mark: FollowMark) -> Result<(), SubmitError> {
        self.aside(Vec::new(), vec![mark])
    }

    /// Waits until every portion that landed is durable; from a thread.
    ///
    /// # Errors
    /// If the store fails, which leaves nothing of those that went on, or the daemon is going down.
    pub fn settled(&self) -> Result<(), SubmitError> {
        self.aside(Vec::new(), Vec::new())
    }

    fn aside(&self, rows: Vec<QuarantineRow>, marks: Vec<FollowMark>) -> Result<(), SubmitError> {
        let (reply, answer) = oneshot::channel();
        self.wait_for_room(Task::Aside(rows, marks, reply))?;
        answer.blocking_recv().unwrap_or(Err(SubmitError::Failed))
    }

    pub(super) fn wait_for_room(&self, task: Task) -> Result<(), SubmitError> {
        self.shared.depth.fetch_add(1, Ordering::Relaxed);
        self.queue.send(task).map_err(|_| SubmitError::Stopped)
    }
}

/// The result of a use, in one word. Of a use that moves no money it is `notional`, as in lists of jobs, unless another
/// bank charged it before.
pub fn result(report: &UsageReport, became: Became, charged: Option<&Charged>) -> &'static str {
    let moves_nothing = report.charged_before.is_none() && became == Became::Charged;
    match charged.map(|charged| charged.billing) {
        Some(Billing::Unbilled) => "unbilled",
        Some(Billing::Shadow) | None if moves_nothing => "notional",
        _ => became.word(),
    }
}
