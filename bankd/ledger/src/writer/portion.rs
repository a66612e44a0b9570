//! What an intake gives to the ledger in one go: usage, what could not be read, lines as they came,
//! and how far a followed file is. All of it in one database transaction.

use super::thread::Thread;
use super::{Caller, SubmitError, Task, Writer};
use crate::hooks;
use bank_core::command::{Chunk, Command, Reports, UsageReport};
use bank_core::effects::{Billing, Fate, Outcome, Used};
use bank_core::ledger;
use bank_core::refusal::Refusal;
use bank_core::time::Timestamp;
use bankd_store::{
    self as store, FollowMark, QuarantineRow, RawBlock, Snapshot, SourceSeen, Stamp,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::oneshot;

/// A finished use with where it came from.
#[derive(Clone, Debug)]
pub struct Item {
    /// The use.
    pub report: Arc<UsageReport>,
    /// Its digest ([`digest`](bankd_store::digest)).
    pub said: [u8; 16],
    /// File or route.
    pub file: Arc<str>,
    /// Which line of it, from 1.
    pub line: u64,
    /// Which line of the portion, from 0.
    pub place: u32,
    /// Where that line lies in [`Portion::lines`]: from there, so many bytes.
    pub raw: (usize, usize),
}

/// Who else uses the bank while a portion goes in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Others {
    /// Nobody can: what is left alone goes in with the portion, each use as a command of its own.
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
    /// What was seen of the collector.
    pub seen: SourceSeen,
    /// For whom.
    pub caller: Caller,
    /// The request's id.
    pub request_id: String,
    /// Finished uses, in the order in which they came.
    pub items: Vec<Item>,
    /// They as one command takes them; none where each is a command of its own.
    pub reports: Reports,
    /// Each use is a command of its own: those that a portion before left alone.
    pub alone: bool,
    /// The lines as they came, each behind its length.
    pub lines: Arc<Vec<u8>>,
    /// SHA-256 in hex: over them where they are kept, else over the digests of the items.
    pub digest: String,
    /// They as they are kept, where they are.
    pub raw: Option<RawBlock>,
    /// The block that they are in already.
    pub block: Option<i64>,
    /// What could not be read.
    pub quarantine: Vec<QuarantineRow>,
    /// What snapshots showed.
    pub snapshots: Vec<Snapshot>,
    /// How far followed files are.
    pub marks: Vec<FollowMark>,
    /// More follows, until [`settled`](Writer::settled): an import that has the database alone may
    /// commit it with that.
    pub goes_on: bool,
    /// The portions that it comes behind and before.
    pub row: Row,
    /// Who else uses the bank.
    pub others: Others,
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
    /// Items that are to come in portions of commands of their own, by their places in the portion.
    /// Where there are any, the marks wait for the last of them.
    pub alone: Vec<usize>,
    /// The block that the lines are in.
    pub block: Option<i64>,
}

/// A portion on its way.
pub struct OnItsWay(oneshot::Receiver<Back>);

/// What became of a portion, and it itself: it is large, and whoever gave it has more time to clear it
/// away than the writer.
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
        self.sweep(now)?;
        let mut taking = Taking {
            portion,
            now,
            landed: Landed::default(),
            refused: Vec::new(),
        };
        if portion.alone {
            taking.landed.block = portion.block;
            for item in &portion.items {
                self.alone(&mut taking, item)?;
            }
        } else if !portion.items.is_empty() {
            self.together(&mut taking)?;
            let left = &mut taking.landed.alone;
            let left = if portion.others == Others::None {
                std::mem::take(left)
            } else {
                Vec::new()
            };
            for item in left.iter().filter_map(|place| portion.items.get(*place)) {
                self.alone(&mut taking, item)?;
            }
        }
        self.store.of_block(None, None);
        let Taking {
            mut landed,
            refused,
            ..
        } = taking;
        let aside = portion.quarantine.len().saturating_add(refused.len());
        landed.quarantined = number(aside);
        if portion.dry_run {
            return Ok(landed);
        }
        let mut seen = portion.seen.clone();
        seen.rejected = seen.rejected.saturating_add(number(refused.len()));
        self.store.saw(&seen, now)?;
        for snapshot in &portion.snapshots {
            self.store.count(&portion.seen.name, snapshot)?;
        }
        let marks = if landed.alone.is_empty() {
            portion.marks.as_slice()
        } else {
            &[]
        };
        self.aside(&portion.quarantine, marks, now)?;
        self.store.quarantine(&refused, now)?;
        hooks::point("portion");
        Ok(landed)
    }

    fn stamp_portion(&mut self, portion: &Portion, now: Timestamp) {
        self.store.stamp(Stamp {
            now,
            request_id: portion.request_id.clone(),
            actor: portion.caller.actor.clone(),
            client: portion.caller.client.clone(),
            origin: portion.caller.origin.word(),
            key: None,
        });
    }

    /// All items as one command.
    fn together(&mut self, taking: &mut Taking<'_>) -> Result<(), store::Error> {
        let portion = taking.portion;
        self.stamp_portion(portion, taking.now);
        let block = match &portion.raw {
            Some(_) if !portion.dry_run => Some(self.store.begin_block()?),
            _ => None,
        };
        let items = &portion.items;
        let lines = items
            .last()
            .map_or(0, |item| u64::from(item.place).saturating_add(1));
        let command = Command::Import(Box::new(Chunk {
            source: portion.seen.name.clone(),
            digest: portion.digest.clone(),
            lines,
            reports: portion.reports.clone(),
            said: items.iter().map(|item| item.said).collect(),
            places: items.iter().map(|item| item.place).collect(),
        }));
        let (scope, now) = (&portion.caller.scope, taking.now);
        let decision = self.recorded(|recording| {
            ledger::execute(recording, &command, scope, now, portion.dry_run)
        })?;
        let imported = match decision {
            Ok(Outcome::Imported(imported)) => *imported,
            Ok(_) => return Ok(()),
            Err(refusal) => {
                for item in items {
                    taking.refuse(item, &refusal);
                }
                return Ok(());
            }
        };
        for (n, (item, fate)) in items.iter().zip(&imported.fates).enumerate() {
            match fate {
                Fate::Took(became) => taking.count(became.word()),
                Fate::Alone => taking.landed.alone.push(n),
                Fate::Refused(refusal) => taking.refuse(item, refusal),
            }
        }
        let is_kept = imported.tx.is_some() || !taking.landed.alone.is_empty();
        if let (Some(id), Some(raw), true) = (block, &portion.raw, is_kept) {
            let tx = imported.tx.map(|tx| tx.0);
            self.store.keep_raw(id, &portion.seen.name, tx, raw)?;
            taking.landed.block = Some(id);
        }
        Ok(())
    }

    /// One item as a command of its own.
    fn alone(&mut self, taking: &mut Taking<'_>, item: &Item) -> Result<(), store::Error> {
        let portion = taking.portion;
        self.sweep(taking.now)?;
        self.stamp_portion(portion, taking.now);
        self.store.of_block(taking.landed.block, Some(item.place));
        let command = Command::Usage(Box::new(UsageReport::clone(&item.report)));
        let (scope, now) = (&portion.caller.scope, taking.now);
        let decision = self.recorded(|recording| {
            ledger::execute(recording, &command, scope, now, portion.dry_run)
        })?;
        match decision {
            Ok(Outcome::Used(used)) => taking.count(became(&used)),
            Ok(_) => taking.count("charged"),
            Err(refusal) => taking.refuse(item, &refusal),
        }
        Ok(())
    }
}

/// A portion as it is taken in.
struct Taking<'a> {
    portion: &'a Portion,
    now: Timestamp,
    landed: Landed,
    refused: Vec<QuarantineRow>,
}

impl Taking<'_> {
    fn count(&mut self, word: &str) {
        if let Some(count) = self.landed.outcomes.get_mut(word) {
            *count = count.saturating_add(1);
        } else {
            self.landed.outcomes.insert(word.to_owned(), 1);
        }
    }

    fn refuse(&mut self, item: &Item, refusal: &Refusal) {
        self.count("refused");
        let (start, length) = item.raw;
        let lines = self.portion.lines.get(start..).unwrap_or_default();
        self.refused.push(QuarantineRow {
            source: item.report.source.clone(),
            peer: self.portion.caller.client.clone(),
            place: item.file.to_string(),
            line: item.line,
            reason: refusal.code().to_owned(),
            body: lines.get(..length).unwrap_or(lines).to_vec(),
        });
    }
}

fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// What became of a use, in one word.
fn became(used: &Used) -> &'static str {
    let charged = used.charged.as_ref();
    if charged.is_some_and(|charged| charged.billing == Billing::Unbilled) {
        return "unbilled";
    }
    used.became.word()
}
