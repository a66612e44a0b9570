//! The writer thread: batches, transactions, answers.

mod change;
mod cluster;
mod collect;
mod discipline;
mod kept;
mod opening;
mod portion;
mod run;
mod samples;
mod whole;

use super::full::{self, Full};
use super::moved::{Files, Look};
use super::recording::Recording;
use super::replica::{Replica, Undone};
use super::turn::Waiting;
use super::{
    Collected, Decided, Landed, Opened, Origin, Others, Portion, RecordKeeper, Reply, Shared,
    Submission, SubmitError, Summary, Task,
};
use crate::hooks;
use bank_core::clock::Watch;
use bank_core::command::Command;
use bank_core::effects::Outcome;
use bank_core::ledger;
use bank_core::rules::sweep::Stuck;
use bank_core::time::Timestamp;
use bankd_store::{self as store, Known, PRUNE_MAX, SqliteStore, Stamp};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

pub(super) struct Thread {
    pub(super) store: SqliteStore,
    /// Its files, as they were opened.
    pub(super) files: Files,
    pub(super) shared: Arc<Shared>,
    pub(super) keep: RecordKeeper,
    pub(super) batch_max: usize,
    /// The last usage record of the transaction at hand.
    pub(super) newest_record: Option<i64>,
    /// The machine's clock as it was seen.
    pub(super) watch: Watch,
    /// Whether the log reported that a jump of the clock waits for an operator.
    pub(super) was_held: bool,
    /// Whether the journal contains the present settings.
    pub(super) settings_recorded: bool,
    /// When what was seen was kept last, on the steady clock.
    pub(super) kept: Option<Timestamp>,
    /// Boundaries that cannot be journalled.
    pub(super) stuck: Vec<Stuck>,
    pub(super) stuck_total: u64,
    pub(super) steps_back: u64,
    /// The tasks that a full disk refused.
    pub(super) full: Full,
    /// The node, in a cluster.
    pub(super) replica: Option<Replica>,
}

/// The result of a task inside a transaction that is not committed yet.
enum Done {
    Reply(Reply),
    Whole(whole::Decided),
    Pruned { may_be_more: bool },
    Changed(u64),
    Landed(Landed),
    Opened(Opened),
    Collected(Collected),
    Nothing,
}

impl Thread {
    /// Runs a batch in one transaction; if that fails, each task in a separate one.
    fn work(&mut self, batch: Vec<Task>) {
        if batch.is_empty() {
            return;
        }
        if self.is_moved() {
            for task in batch {
                full::fail(task, SubmitError::Moved);
            }
            return;
        }
        let taken = Instant::now();
        match self.transaction(&batch) {
            Ok(done) => {
                let busy = |portion: &Portion| portion.others == Others::Busy;
                let gives_way = matches!(&*batch, [Task::Portion(portion, _)] if busy(portion));
                self.answer(batch, done, taken);
                if gives_way {
                    self.store.write_back();
                }
            }
            Err(Undone::Log(cause)) => {
                for task in batch {
                    full::fail(task, cause);
                }
            }
            Err(Undone::Store(error)) if batch.len() == 1 => {
                if error.is_full() {
                    self.full.refuse(&error);
                } else {
                    tracing::error!(%error, "command failed");
                }
                let cause = full::cause(&error);
                self.shared.note(Some(cause));
                for task in batch {
                    full::fail(task, cause);
                }
            }
            Err(Undone::Store(error)) => {
                if !error.is_full() {
                    let commands = batch.len();
                    tracing::warn!(%error, commands, "batch failed, trying one by one");
                }
                for task in batch {
                    self.work(vec![task]);
                }
            }
        }
    }

    /// Whether a file of the database is not at its path: what is written would not be there after a restart.
    fn is_moved(&mut self) -> bool {
        match self.files.look() {
            Look::InPlace => false,
            Look::StillMoved => true,
            Look::Moved(path) => {
                let path = path.display();
                tracing::error!(%path, "a file of the database was moved or replaced; commands are refused until it is back");
                self.shared.note(Some(SubmitError::Moved));
                true
            }
            Look::Back => {
                tracing::warn!("the files of the database are back");
                self.shared.note(None);
                false
            }
        }
    }

    fn transaction(&mut self, batch: &[Task]) -> Result<(Vec<Done>, u64), Undone> {
        self.newest_record = None;
        let (watch, was_held) = (self.watch, self.was_held);
        let look = self.look();
        if batch.iter().all(|task| matches!(task, Task::Settle(_))) && self.is_quiet(&look) {
            self.publish_standing(&look);
            return Ok((batch.iter().map(|_| Done::Nothing).collect(), 0));
        }
        // What is undone must be its own.
        if matches!(batch, [Task::Open(..) | Task::Whole(_)]) && self.store.is_held() {
            self.commit(true)?;
        }
        self.store.begin()?;
        let before = self.store.rows_written();
        let ready = self.discipline(&look).and_then(|()| self.settings(&look));
        let done = ready.and_then(|()| {
            let tasks = batch.iter().map(|task| self.task(task, look.now));
            tasks.collect::<Result<Vec<_>, _>>()
        });
        let committing = Instant::now();
        let was_open = self.store.is_held();
        if matches!(done.as_deref(), Ok([only]) if only.is_undone()) {
            self.store.rollback();
            (self.watch, self.was_held) = (watch, was_held);
            return Ok(done.map(|done| (done, 0))?);
        }
        let committed = done
            .map_err(Undone::from)
            .and_then(|done| self.end(batch).map(|is_over| (done, is_over)));
        match committed {
            Ok((done, false)) => Ok((done, micros(committing))),
            Ok((done, true)) => {
                // Housekeeping commits too, but no client waits for it.
                if has_command(batch) || was_open {
                    hooks::point("committed");
                }
                self.settings_recorded = true;
                self.shared.meter.committed(micros(committing));
                let has_written = self.store.rows_written() != before;
                // What housekeeping writes can fit into room that the log has already.
                self.full.committed(has_written && has_command(batch));
                if has_written {
                    self.shared.note(None);
                }
                self.publish();
                self.publish_standing(&look);
                Ok((done, micros(committing)))
            }
            Err(error) => {
                self.store.rollback();
                (self.watch, self.was_held) = (watch, was_held);
                Err(error)
            }
        }
    }

    /// Commits, and gives true; not where more of an import follows that has the database alone.
    fn end(&mut self, batch: &[Task]) -> Result<bool, Undone> {
        if let [Task::Portion(portion, _)] = batch
            && portion.goes_on
            && self.store.hold(portion.items.len())
        {
            return Ok(false);
        }
        self.commit(has_command(batch)).map(|()| true)
    }

    fn task(&mut self, task: &Task, now: Timestamp) -> Result<Done, store::Error> {
        match task {
            Task::Submit(submission, ..) => self.submission(submission, now).map(Done::Reply),
            Task::Whole(waiting) => self.whole(waiting, now).map(Done::Whole),
            Task::Settle(_) => {
                self.sweep(now)?;
                self.keep_now_and_then()?;
                Ok(Done::Nothing)
            }
            Task::Prune(_) => {
                let may_be_more = self.store.prune_answers(now)? == PRUNE_MAX;
                Ok(Done::Pruned { may_be_more })
            }
            Task::Confirm(state, _) => self.store.confirm(state).map(|()| Done::Nothing),
            Task::Collect(collect, _) => self.collect(collect, now).map(Done::Collected),
            Task::Portion(portion, _) => self.portion(portion, now).map(Done::Landed),
            Task::Open(opening, _) => self.open(opening, now).map(Done::Opened),
            Task::Aside(rows, marks, _) => self.aside(rows, marks, now).map(|()| Done::Nothing),
            Task::Change(change, _) => self.change(change, now).map(Done::Changed),
            Task::Stop => self.keep().map(|()| Done::Nothing),
        }
    }

    /// Runs something over the store; usage records of what it does are kept.
    fn recorded<T>(
        &mut self,
        work: impl FnOnce(&mut Recording<'_>) -> Result<T, store::Error>,
    ) -> Result<T, store::Error> {
        let mut recording = Recording::new(&mut self.store, self.keep);
        let done = work(&mut recording)?;
        self.newest_record = recording.newest.or(self.newest_record);
        Ok(done)
    }

    fn sweep(&mut self, now: Timestamp) -> Result<(), store::Error> {
        if self.store.next_due().is_none_or(|due| due > now) {
            if !self.stuck.is_empty() {
                self.note_stuck(Vec::new());
            }
            return Ok(());
        }
        self.store.stamp(Stamp { now, ..system() });
        let mut recording = Recording::new(&mut self.store, self.keep);
        let stuck = ledger::sweep(&mut recording, now)?;
        self.newest_record = recording.newest.or(self.newest_record);
        hooks::point("swept");
        self.note_stuck(stuck);
        Ok(())
    }

    fn submission(&mut self, s: &Submission, now: Timestamp) -> Result<Reply, store::Error> {
        let client = &s.caller.client;
        match self.known(s)? {
            Known::New => {}
            Known::Answered(answer) => return Ok(Reply::Stored(answer)),
            Known::Reused => return Ok(Reply::KeyReused),
            Known::Replay => return Ok(Reply::Replay),
        }
        // Boundaries that have passed are the bank's doing, not the caller's.
        self.sweep(now)?;
        self.store.stamp(Stamp {
            now,
            request_id: s.request_id.clone(),
            actor: s.caller.actor.clone(),
            client: client.clone(),
            origin: s.caller.origin.word(),
            key: s.key.as_ref().map(|k| k.key.clone()),
        });
        let mut recording = Recording::new(&mut self.store, self.keep);
        let decision =
            ledger::execute(&mut recording, &s.command, &s.caller.scope, now, s.dry_run)?;
        let transaction = recording.first_tx.filter(|_| decision.is_ok());
        self.newest_record = recording.newest.or(self.newest_record);
        hooks::point("decided");
        if let (Command::ConfirmClock(..), Ok(_), false) = (&s.command, &decision, s.dry_run) {
            self.watch.confirm();
            self.keep()?;
        }
        if let (Command::Usage(report), Ok(_), false) = (&s.command, &decision, s.dry_run) {
            self.heard(report, now)?;
        }
        let answer = (s.render)(&Decided {
            directory: &self.store.reference(),
            command: &s.command,
            scope: &s.caller.scope,
            decision: &decision,
            now,
            transaction,
            dry_run: s.dry_run,
            request_id: &s.request_id,
            fingerprint: &s.fingerprint,
        });
        self.keep_answer(s, &decision, &answer, now)?;
        hooks::point("appended");
        let summary = Summary {
            op: s.command.op(),
            code: decision.as_ref().err().map_or("", |refusal| refusal.code()),
            transaction,
            amount: decision.as_ref().ok().and_then(amount),
            batch: 0,
            queue_us: 0,
            commit_us: 0,
        };
        Ok(Reply::Fresh { answer, summary })
    }

    /// Lets readers see what was committed.
    pub(super) fn publish(&self) {
        self.shared.commits.fetch_add(1, Ordering::Relaxed);
        let due = self.store.next_due().map_or(i64::MAX, |t| t.0);
        self.shared.next_due.store(due, Ordering::Release);
        let recorded = self.store.ledger_now(Timestamp(i64::MIN));
        self.shared.recorded.store(recorded.0, Ordering::Release);
        let current = self.store.reference();
        let shown = self
            .shared
            .directory
            .read()
            .map(|d| Arc::ptr_eq(&d, &current));
        if !shown.unwrap_or(false) {
            *self
                .shared
                .directory
                .write()
                .unwrap_or_else(PoisonError::into_inner) = current;
        }
        if let Some(newest) = self.newest_record {
            self.shared.records.send_replace(newest);
        }
    }

    /// Answers one command: how many were in its commit, how long it waited, and how long the commit took.
    fn reply(
        &self,
        (submission, reply): Waiting,
        mut answer: Reply,
        (batch, queue_us, commit_us): (usize, u64, u64),
    ) {
        self.shared.meter.decided(&submission, &answer);
        if let Reply::Fresh { summary, .. } = &mut answer {
            *summary = Summary {
                batch,
                queue_us,
                commit_us,
                ..*summary
            };
        }
        // A caller that has gone away has its answer stored with its key.
        let _ = reply.send(Ok(answer));
    }

    fn answer(&self, batch: Vec<Task>, (done, commit_us): (Vec<Done>, u64), taken: Instant) {
        let size = batch.len();
        let has_command = has_command(&batch);
        let commands = count(batch.iter().map(commands).sum());
        self.shared.commands.fetch_add(commands, Ordering::Relaxed);
        for (task, done) in batch.into_iter().zip(done) {
            match (task, done) {
                (Task::Submit(submission, queued, reply), Done::Reply(answer)) => {
                    let waited = taken.saturating_duration_since(queued);
                    let waited = u64::try_from(waited.as_micros()).unwrap_or(u64::MAX);
                    self.reply((*submission, reply), answer, (size, waited, commit_us));
                }
                (Task::Whole(waiting), Done::Whole(decided)) => {
                    self.answer_whole(waiting, decided, commit_us);
                }
                (Task::Settle(reply) | Task::Confirm(_, reply) | Task::Aside(_, _, reply), _) => {
                    let _ = reply.send(Ok(()));
                }
                (Task::Prune(reply), Done::Pruned { may_be_more }) => {
                    let _ = reply.send(Ok(may_be_more));
                }
                (Task::Change(_, reply), Done::Changed(rows)) => {
                    let _ = reply.send(Ok(rows));
                }
                (Task::Collect(_, reply), Done::Collected(collected)) => {
                    let _ = reply.send(Ok(collected));
                }
                (Task::Open(_, reply), Done::Opened(opened)) => {
                    let _ = reply.send(Ok(opened));
                }
                (Task::Portion(portion, reply), Done::Landed(landed)) => {
                    self.shared.meter.landed(&landed);
                    let _ = reply.send(Ok((landed, portion)));
                }
                _ => {}
            }
        }
        if has_command {
            hooks::point("replied");
        }
    }
}

impl Done {
    /// Whether nothing of the task is to be written.
    fn is_undone(&self) -> bool {
        match self {
            Done::Opened(opened) => opened.unopened.is_some(),
            Done::Whole(decided) => decided.is_undone,
            _ => false,
        }
    }
}

/// How many commands with an answer of their own a task has.
fn commands(task: &Task) -> usize {
    match task {
        Task::Submit(..) => 1,
        Task::Whole(waiting) => waiting.len(),
        _ => 0,
    }
}

/// Whether the batch contains a request from outside.
fn has_command(batch: &[Task]) -> bool {
    let asks = |task: &Task| {
        matches!(
            task,
            Task::Submit(..)
                | Task::Whole(_)
                | Task::Portion(..)
                | Task::Open(..)
                | Task::Collect(..)
        )
    };
    batch.iter().any(asks)
}

fn system() -> Stamp {
    let name = "bankd".to_owned();
    Stamp {
        actor: name.clone(),
        client: name,
        origin: Origin::System.word(),
        ..Stamp::default()
    }
}

fn amount(outcome: &Outcome) -> Option<i64> {
    match outcome {
        Outcome::Deposited(d) => Some(d.amount.0),
        Outcome::Withdrawn(w) => Some(w.amount.0),
        Outcome::Quoted(q) => Some(q.cost.0),
        Outcome::Reserved(r) => Some(r.held.0),
        Outcome::Charged(c) => Some(c.amount.0),
        Outcome::Used(u) => u.charged.as_ref().map(|c| c.amount.0),
        Outcome::Closed(c) => Some(c.released.0),
        Outcome::LienChanged(c) => Some(c.released.0),
        Outcome::Transferred(t) => Some(t.amount.0),
        Outcome::Refunded(r) => Some(r.amount.0),
        Outcome::Adjusted(a) => Some(a.amount.0),
        Outcome::Settled(s) => Some(s.amount.0),
        _ => None,
    }
}

fn count(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

fn micros(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX)
}
