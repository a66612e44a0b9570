//! What an intake gives to the ledger in one go: usage, what could not be read, lines as they came,
//! and how far a followed file is. All of it in one database transaction.

use super::thread::Thread;
use super::{Caller, SubmitError, Task, Writer};
use crate::store::{self, FollowMark, QuarantineRow, RawBlock, SourceSeen, Stamp};
use bank_core::command::{Command, UsageReport};
use bank_core::effects::{Billing, Outcome, Used};
use bank_core::ledger;
use bank_core::time::Timestamp;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use tokio::sync::oneshot;

/// A finished use with the line that it came from.
#[derive(Clone, Debug)]
pub struct Item {
    /// The use.
    pub report: UsageReport,
    /// File or route.
    pub place: String,
    /// Which line of it, from 1.
    pub line: u64,
    /// The line as it came.
    pub raw: Vec<u8>,
}

/// Everything that goes in together.
#[derive(Clone, Debug)]
pub struct Portion {
    /// What was seen of the collector.
    pub seen: SourceSeen,
    /// For whom.
    pub caller: Caller,
    /// The request's id.
    pub request_id: String,
    /// Finished uses, in the order in which they came.
    pub items: Vec<Item>,
    /// The lines as they came, where they are kept.
    pub raw: Option<RawBlock>,
    /// What could not be read.
    pub quarantine: Vec<QuarantineRow>,
    /// How far followed files are.
    pub marks: Vec<FollowMark>,
    /// Decide, and write nothing.
    pub dry_run: bool,
}

/// What became of a portion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Landed {
    /// How many of its uses by what became of them: `charged`, `kept`, `refused`, …
    pub outcomes: BTreeMap<String, u64>,
    /// What went into the quarantine.
    pub quarantined: u64,
}

impl Writer {
    /// Takes a portion in and waits until it is durable. Waits for room in the queue: it is called
    /// from a thread of its own.
    ///
    /// # Errors
    /// If the store fails, which leaves nothing of it, or the daemon is going down.
    pub fn portion(&self, portion: Portion) -> Result<Landed, SubmitError> {
        let (reply, answer) = oneshot::channel();
        self.wait_for_room(Task::Portion(Box::new(portion), reply))?;
        answer.blocking_recv().unwrap_or(Err(SubmitError::Failed))
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

    /// Puts something into the quarantine, from a thread.
    ///
    /// # Errors
    /// If the store fails, or the daemon is going down.
    pub fn quarantine_blocking(&self, rows: Vec<QuarantineRow>) -> Result<(), SubmitError> {
        self.aside(rows, Vec::new())
    }

    /// Keeps how far a followed file is where nothing of it was taken in, from a thread.
    ///
    /// # Errors
    /// If the store fails, or the daemon is going down.
    pub fn mark_blocking(&self, mark: FollowMark) -> Result<(), SubmitError> {
        self.aside(Vec::new(), vec![mark])
    }

    fn aside(&self, rows: Vec<QuarantineRow>, marks: Vec<FollowMark>) -> Result<(), SubmitError> {
        let (reply, answer) = oneshot::channel();
        self.wait_for_room(Task::Aside(rows, marks, reply))?;
        answer.blocking_recv().unwrap_or(Err(SubmitError::Failed))
    }

    fn wait_for_room(&self, task: Task) -> Result<(), SubmitError> {
        self.shared.depth.fetch_add(1, Ordering::Relaxed);
        self.queue.send(task).map_err(|_| SubmitError::Stopped)
    }
}

impl Thread {
    /// Writes what could not be read, and marks.
    pub(super) fn aside(
        &self,
        rows: &[QuarantineRow],
        marks: &[FollowMark],
        now: Timestamp,
    ) -> Result<(), store::Error> {
        self.store.quarantine(rows, now)?;
        for mark in marks {
            self.store.mark(mark, now)?;
        }
        Ok(())
    }

    /// Takes a portion in. What the rules refuse goes into the quarantine, with the reason.
    pub(super) fn portion(
        &mut self,
        portion: &Portion,
        now: Timestamp,
    ) -> Result<Landed, store::Error> {
        let mut landed = Landed::default();
        let mut refused = Vec::new();
        for item in &portion.items {
            self.sweep(now)?;
            self.store.stamp(Stamp {
                now,
                request_id: portion.request_id.clone(),
                actor: portion.caller.actor.clone(),
                client: portion.caller.client.clone(),
                origin: portion.caller.origin.word(),
                key: None,
            });
            let command = Command::Usage(Box::new(item.report.clone()));
            let decision = self.recorded(|recording| {
                let scope = &portion.caller.scope;
                ledger::execute(recording, &command, scope, now, portion.dry_run)
            })?;
            let word = match decision {
                Ok(Outcome::Used(used)) => became(&used),
                Ok(_) => "charged",
                Err(refusal) => {
                    refused.push(QuarantineRow {
                        source: item.report.source.clone(),
                        peer: portion.caller.client.clone(),
                        place: item.place.clone(),
                        line: item.line,
                        reason: refusal.code().to_owned(),
                        body: item.raw.clone(),
                    });
                    "refused"
                }
            };
            let count = landed.outcomes.entry(word.to_owned()).or_default();
            *count = count.saturating_add(1);
        }
        let aside = portion.quarantine.len().saturating_add(refused.len());
        landed.quarantined = u64::try_from(aside).unwrap_or(u64::MAX);
        if portion.dry_run {
            return Ok(landed);
        }
        let mut seen = portion.seen.clone();
        let more = u64::try_from(refused.len()).unwrap_or(u64::MAX);
        seen.rejected = seen.rejected.saturating_add(more);
        self.store.saw(&seen, now)?;
        if let Some(raw) = &portion.raw {
            self.store.keep_raw(&seen.name, raw)?;
        }
        self.aside(&portion.quarantine, &portion.marks, now)?;
        self.store.quarantine(&refused, now)?;
        Ok(landed)
    }
}

/// What became of a use, in one word.
fn became(used: &Used) -> &'static str {
    let charged = used.charged.as_ref();
    if charged.is_some_and(|charged| charged.billing == Billing::Unbilled) {
        return "unbilled";
    }
    used.became.word()
}
