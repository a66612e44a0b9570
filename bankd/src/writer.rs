//! The one writer: a bounded queue, one thread, one database transaction for many commands, and
//! no answer before its commit (limits.md 6.1).
//!
//! Acknowledged means durable. The thread takes what is waiting, up to 256 commands, and never
//! waits to fill a batch. If a batch fails, each of its commands is tried alone, so that one bad
//! command cannot take others with it.

use crate::answer::Answer;
use crate::clock::LedgerClock;
use crate::hooks;
use crate::store::{self, Known, SinkState, SqliteStore, Stamp, StoredAnswer};
use bank_core::command::{Command, Scope};
use bank_core::directory::Directory;
use bank_core::effects::{Effects, Outcome, RecordEvent};
use bank_core::ledger::{self, Decision, Ledger};
use bank_core::need::Need;
use bank_core::time::Timestamp;
use bank_core::view::View;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::Instant;
use tokio::sync::{Notify, oneshot};

/// Commands that may wait; one more is answered 503.
pub const QUEUE_CAPACITY: usize = 4096;

/// Commands in one database transaction at most.
pub const BATCH_MAX: usize = 256;

/// Where a command came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The JSON API: a person or a program of the site's.
    Cli,
    /// A scheduler's script.
    Nami,
    /// The daemon itself.
    System,
}

impl Origin {
    /// Its word in the journal.
    pub fn word(self) -> &'static str {
        match self {
            Origin::Cli => "cli",
            Origin::Nami => "nami",
            Origin::System => "system",
        }
    }
}

/// Who asks.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The key's id, or the person's name.
    pub actor: String,
    /// The client: the scope of idempotency keys.
    pub client: String,
    /// Where it came from.
    pub origin: Origin,
    /// What it may touch.
    pub scope: Scope,
}

/// A request's idempotency key, and what it was used for.
#[derive(Clone, Debug)]
pub struct IdempotencyKey {
    /// The key.
    pub key: String,
    /// SHA-256 over method, path, query and body.
    pub fingerprint: [u8; 32],
    /// The nonce of the signature; empty on the socket.
    pub nonce: String,
}

/// Makes the answer inside the transaction, so that it is stored with what it says.
pub type Render = fn(&Directory, &Decision) -> Answer;

/// Turns what happened into the lines of the record files: sink and line.
pub type RecordRenderer = Box<dyn Fn(&Directory, &RecordEvent) -> Vec<(String, String)> + Send>;

/// A command with everything that its journal rows need.
#[derive(Debug)]
pub struct Submission {
    /// What to do.
    pub command: Command,
    /// For whom.
    pub caller: Caller,
    /// Its idempotency key; without one nothing is stored.
    pub key: Option<IdempotencyKey>,
    /// The request's id.
    pub request_id: String,
    /// Decide, and write nothing.
    pub dry_run: bool,
    /// How the answer looks.
    pub render: Render,
}

/// What one command came to, for the log line.
#[derive(Clone, Copy, Debug)]
pub struct Summary {
    /// The command's word.
    pub op: &'static str,
    /// The refusal's code; empty when it was accepted.
    pub code: &'static str,
    /// Its transaction, the first if there are several.
    pub transaction: Option<i64>,
    /// The amount it is about, in minor units.
    pub amount: Option<i64>,
    /// Commands in the same commit.
    pub batch: usize,
    /// Time in the queue, in microseconds.
    pub queue_us: u64,
    /// Time of the commit, in microseconds.
    pub commit_us: u64,
}

/// The answer to a submission.
#[derive(Clone, Debug)]
pub enum Reply {
    /// Decided now.
    Fresh {
        /// The answer.
        answer: Answer,
        /// For the log.
        summary: Summary,
    },
    /// Decided before, under the same key.
    Stored(Answer),
    /// The key belongs to another request: 409 `key_reused`.
    KeyReused,
    /// The same signed bytes again: 401.
    Replay,
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubmitError {
    /// The queue is full.
    #[error("busy: the queue is full")]
    Busy,
    /// The store failed; nothing was written.
    #[error("the store failed")]
    Failed,
    /// The daemon is going down.
    #[error("shutting down")]
    Stopped,
}

/// Figures of the writer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Commits so far.
    pub commits: u64,
    /// Commands answered so far.
    pub commands: u64,
    /// Commands that wait.
    pub queue_depth: u64,
    /// Commands that may wait.
    pub queue_capacity: u64,
}

enum Task {
    Submit(
        Box<Submission>,
        Instant,
        oneshot::Sender<Result<Reply, SubmitError>>,
    ),
    Settle(oneshot::Sender<Result<(), SubmitError>>),
    Confirm(SinkState, oneshot::Sender<Result<(), SubmitError>>),
    Stop,
}

struct Shared {
    commits: AtomicU64,
    commands: AtomicU64,
    depth: AtomicU64,
    next_due: AtomicI64,
    healthy: AtomicBool,
    directory: RwLock<Arc<Directory>>,
    outbox: Notify,
    clock: Arc<dyn LedgerClock>,
}

/// A handle to the writer thread.
#[derive(Clone)]
pub struct Writer {
    queue: SyncSender<Task>,
    shared: Arc<Shared>,
}

/// Starts the writer thread over a store.
pub fn start(
    store: SqliteStore,
    clock: Arc<dyn LedgerClock>,
    records: RecordRenderer,
    batch_max: usize,
) -> std::io::Result<(Writer, JoinHandle<()>)> {
    let (queue, tasks) = sync_channel(QUEUE_CAPACITY);
    let shared = Arc::new(Shared {
        commits: AtomicU64::new(0),
        commands: AtomicU64::new(0),
        depth: AtomicU64::new(0),
        next_due: AtomicI64::new(store.next_due().map_or(i64::MAX, |t| t.0)),
        healthy: AtomicBool::new(true),
        directory: RwLock::new(store.reference()),
        outbox: Notify::new(),
        clock,
    });
    let writer = Writer {
        queue,
        shared: Arc::clone(&shared),
    };
    let batch_max = batch_max.clamp(1, BATCH_MAX);
    let mut thread = Thread {
        store,
        shared,
        records,
        batch_max,
        has_records: false,
    };
    let name = std::thread::Builder::new().name("writer".to_owned());
    let handle = name.spawn(move || thread.run(&tasks))?;
    Ok((writer, handle))
}

impl Writer {
    /// Runs a command and waits until it is durable.
    pub async fn submit(&self, submission: Submission) -> Result<Reply, SubmitError> {
        let (reply, answer) = oneshot::channel();
        self.enqueue(Task::Submit(Box::new(submission), Instant::now(), reply))?;
        answer.await.unwrap_or(Err(SubmitError::Failed))
    }

    /// Journals the boundaries that are due; costs nothing when none is.
    pub async fn settle(&self) -> Result<(), SubmitError> {
        let now = self.shared.clock.now();
        if self.shared.next_due.load(Ordering::Acquire) > now.0 {
            return Ok(());
        }
        let (reply, answer) = oneshot::channel();
        self.enqueue(Task::Settle(reply))?;
        answer.await.unwrap_or(Err(SubmitError::Failed))
    }

    /// Says that lines of the outbox are in their file. Waits for room in the queue: it is called
    /// from a thread of its own.
    pub fn confirm(&self, state: SinkState) -> Result<(), SubmitError> {
        let (reply, answer) = oneshot::channel();
        self.shared.depth.fetch_add(1, Ordering::Relaxed);
        self.queue
            .send(Task::Confirm(state, reply))
            .map_err(|_| SubmitError::Stopped)?;
        answer.blocking_recv().unwrap_or(Err(SubmitError::Failed))
    }

    /// The reference data as of the last commit.
    pub fn directory(&self) -> Arc<Directory> {
        Arc::clone(
            &self
                .shared
                .directory
                .read()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }

    /// Commits, commands and the queue.
    pub fn counters(&self) -> Counters {
        Counters {
            commits: self.shared.commits.load(Ordering::Relaxed),
            commands: self.shared.commands.load(Ordering::Relaxed),
            queue_depth: self.shared.depth.load(Ordering::Relaxed),
            queue_capacity: u64::try_from(QUEUE_CAPACITY).unwrap_or(u64::MAX),
        }
    }

    /// Whether the last commit went well.
    pub fn is_healthy(&self) -> bool {
        self.shared.healthy.load(Ordering::Relaxed)
    }

    /// Waits until lines were put into the outbox.
    pub async fn outbox_grew(&self) {
        self.shared.outbox.notified().await;
    }

    /// Lets the thread finish what is queued and end. What is submitted later is refused.
    pub fn stop(&self) {
        // A full queue is being worked off: waiting for room is right here.
        self.shared.depth.fetch_add(1, Ordering::Relaxed);
        let _ = self.queue.send(Task::Stop);
    }

    fn enqueue(&self, task: Task) -> Result<(), SubmitError> {
        self.shared.depth.fetch_add(1, Ordering::Relaxed);
        self.queue.try_send(task).map_err(|error| {
            self.shared.depth.fetch_sub(1, Ordering::Relaxed);
            match error {
                TrySendError::Full(_) => SubmitError::Busy,
                TrySendError::Disconnected(_) => SubmitError::Stopped,
            }
        })
    }
}

struct Thread {
    store: SqliteStore,
    shared: Arc<Shared>,
    records: RecordRenderer,
    batch_max: usize,
    has_records: bool,
}

/// What a task came to inside a transaction that is not committed yet.
enum Done {
    Reply(Reply),
    Nothing,
}

impl Thread {
    fn run(&mut self, tasks: &Receiver<Task>) {
        let mut batch = Vec::with_capacity(self.batch_max);
        let mut stopping = false;
        while !stopping {
            let Ok(first) = tasks.recv() else { break };
            batch.push(first);
            while batch.len() < self.batch_max {
                match tasks.try_recv() {
                    Ok(task) => batch.push(task),
                    Err(_) => break,
                }
            }
            stopping = batch.iter().any(|task| matches!(task, Task::Stop));
            self.shared
                .depth
                .fetch_sub(count(batch.len()), Ordering::Relaxed);
            self.work(std::mem::take(&mut batch));
        }
        if let Err(error) = self.store.checkpoint() {
            tracing::warn!(%error, "checkpoint at shutdown failed");
        }
    }

    /// Runs a batch in one transaction; if that fails, each task in one of its own.
    fn work(&mut self, batch: Vec<Task>) {
        let taken = Instant::now();
        match self.transaction(&batch) {
            Ok(done) => self.answer(batch, done, taken),
            Err(error) if batch.len() == 1 => {
                tracing::error!(%error, "command failed");
                self.shared.healthy.store(false, Ordering::Relaxed);
                batch.into_iter().for_each(fail);
            }
            Err(error) => {
                tracing::warn!(%error, commands = batch.len(), "batch failed, trying one by one");
                batch.into_iter().for_each(|task| self.work(vec![task]));
            }
        }
    }

    fn transaction(&mut self, batch: &[Task]) -> Result<(Vec<Done>, u64), store::Error> {
        self.has_records = false;
        self.store.begin()?;
        let now = self.store.ledger_now(self.shared.clock.now());
        let done = batch
            .iter()
            .map(|task| self.task(task, now))
            .collect::<Result<Vec<_>, _>>();
        let committing = Instant::now();
        let committed = done.and_then(|done| self.store.commit().map(|()| done));
        match committed {
            Ok(done) => {
                hooks::point("committed");
                self.publish();
                Ok((done, micros(committing)))
            }
            Err(error) => {
                self.store.rollback();
                Err(error)
            }
        }
    }

    fn task(&mut self, task: &Task, now: Timestamp) -> Result<Done, store::Error> {
        match task {
            Task::Submit(submission, ..) => self.submission(submission, now).map(Done::Reply),
            Task::Settle(_) => {
                self.sweep(now)?;
                self.store.prune_answers(now)?;
                Ok(Done::Nothing)
            }
            Task::Confirm(state, _) => self.store.confirm(state).map(|()| Done::Nothing),
            Task::Stop => Ok(Done::Nothing),
        }
    }

    fn sweep(&mut self, now: Timestamp) -> Result<(), store::Error> {
        if self.store.next_due().is_none_or(|due| due > now) {
            return Ok(());
        }
        self.store.stamp(Stamp { now, ..system() });
        let mut recording = Recording::new(&mut self.store, &self.records);
        ledger::sweep(&mut recording, now)?;
        self.has_records = self.has_records || recording.sent;
        Ok(())
    }

    fn submission(&mut self, s: &Submission, now: Timestamp) -> Result<Reply, store::Error> {
        let client = &s.caller.client;
        if let Some(key) = &s.key {
            match self
                .store
                .known(client, &key.key, &key.fingerprint, &key.nonce)?
            {
                Known::New => {}
                Known::Answered(answer) => return Ok(Reply::Stored(answer)),
                Known::Reused => return Ok(Reply::KeyReused),
                Known::Replay => return Ok(Reply::Replay),
            }
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
        let mut recording = Recording::new(&mut self.store, &self.records);
        let decision =
            ledger::execute(&mut recording, &s.command, &s.caller.scope, now, s.dry_run)?;
        let first_tx = recording.first_tx;
        self.has_records = self.has_records || recording.sent;
        hooks::point("decided");
        let answer = (s.render)(&self.store.reference(), &decision);
        let of_access = matches!(&decision, Err(refusal) if refusal.is_of_access());
        if let (Some(key), false, false) = (&s.key, of_access, s.dry_run) {
            let stored = StoredAnswer {
                answer: answer.clone(),
                fingerprint: key.fingerprint.to_vec(),
                nonce: key.nonce.clone(),
            };
            let for_ever = s.command.is_charge();
            self.store
                .keep_answer(client, &key.key, &stored, for_ever, now)?;
        }
        hooks::point("appended");
        let summary = Summary {
            op: s.command.op(),
            code: decision.as_ref().err().map_or("", |refusal| refusal.code()),
            transaction: first_tx,
            amount: decision.as_ref().ok().and_then(amount),
            batch: 0,
            queue_us: 0,
            commit_us: 0,
        };
        Ok(Reply::Fresh { answer, summary })
    }

    /// Lets readers see what was committed.
    fn publish(&self) {
        self.shared.commits.fetch_add(1, Ordering::Relaxed);
        self.shared.healthy.store(true, Ordering::Relaxed);
        let due = self.store.next_due().map_or(i64::MAX, |t| t.0);
        self.shared.next_due.store(due, Ordering::Release);
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
        if self.has_records {
            self.shared.outbox.notify_one();
        }
    }

    fn answer(&self, batch: Vec<Task>, (done, commit_us): (Vec<Done>, u64), taken: Instant) {
        let size = batch.len();
        self.shared
            .commands
            .fetch_add(count(size), Ordering::Relaxed);
        for (task, done) in batch.into_iter().zip(done) {
            match (task, done) {
                (Task::Submit(_, queued, reply), Done::Reply(mut answer)) => {
                    if let Reply::Fresh { summary, .. } = &mut answer {
                        let waited = taken.saturating_duration_since(queued);
                        summary.queue_us = u64::try_from(waited.as_micros()).unwrap_or(u64::MAX);
                        summary.batch = size;
                        summary.commit_us = commit_us;
                    }
                    // A caller that has gone away has its answer stored with its key.
                    let _ = reply.send(Ok(answer));
                }
                (Task::Settle(reply) | Task::Confirm(_, reply), _) => {
                    let _ = reply.send(Ok(()));
                }
                _ => {}
            }
        }
        hooks::point("replied");
    }
}

fn fail(task: Task) {
    match task {
        Task::Submit(_, _, reply) => {
            let _ = reply.send(Err(SubmitError::Failed));
        }
        Task::Settle(reply) | Task::Confirm(_, reply) => {
            let _ = reply.send(Err(SubmitError::Failed));
        }
        Task::Stop => {}
    }
}

/// The store, with the record lines of everything that is appended put into the outbox.
struct Recording<'a> {
    store: &'a mut SqliteStore,
    records: &'a RecordRenderer,
    first_tx: Option<i64>,
    sent: bool,
}

impl<'a> Recording<'a> {
    fn new(store: &'a mut SqliteStore, records: &'a RecordRenderer) -> Self {
        Recording {
            store,
            records,
            first_tx: None,
            sent: false,
        }
    }
}

impl Ledger for Recording<'_> {
    type Error = store::Error;

    fn directory(&mut self) -> Result<Arc<Directory>, store::Error> {
        self.store.directory()
    }

    fn load(&mut self, need: &Need) -> Result<View, store::Error> {
        self.store.load(need)
    }

    fn load_due(&mut self, now: Timestamp) -> Result<Option<View>, store::Error> {
        self.store.load_due(now)
    }

    fn open_instances(&mut self, project: &str) -> Result<i64, store::Error> {
        self.store.open_instances(project)
    }

    fn append(&mut self, effects: &Effects) -> Result<(), store::Error> {
        self.store.append(effects)?;
        self.first_tx = effects.transactions.first().map(|tx| tx.id.0);
        if effects.records.is_empty() {
            return Ok(());
        }
        let directory = self.store.reference();
        for event in &effects.records {
            for (sink, line) in (self.records)(&directory, event) {
                self.store.send_out(&sink, &line)?;
                self.sent = true;
            }
        }
        Ok(())
    }
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
        Outcome::Closed(c) => Some(c.released.0),
        _ => None,
    }
}

fn count(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

fn micros(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX)
}
