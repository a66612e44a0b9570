//! The one writer: a bounded queue, one thread, one database transaction for many commands, and
//! no answer before its commit (limits.md 6.1).
//!
//! Acknowledged means durable. The thread takes what is waiting, up to 256 commands, and never
//! waits to fill a batch. If a batch fails, each of its commands is tried alone, so that one bad
//! command cannot take others with it.

mod change;
mod collect;
mod failure;
mod full;
mod meter;
mod moved;
mod opening;
mod portion;
mod recording;
mod replica;
mod standing;
mod thread;
mod turn;

pub use collect::{Collect, Collected, Collecting, Details, Gathered, Memory, NOT_CHARGED, Work};
pub use failure::SubmitError;
pub use opening::{Opened, Opening, Step, StepDone, StepKey, Unopened};
pub use portion::{Item, Landed, OnItsWay, Others, Portion, Row, result};
pub use recording::Recording;
pub use replica::{Cluster, Keeper, OnLead, Replica, Role, State, entry_changes, opening_body};
pub use standing::Standing;
pub use turn::{Turn, Whole};

use crate::clock::LedgerClock;
use bank_core::clock::Watch;
use bank_core::command::{Command, Scope};
use bank_core::directory::Directory;
use bank_core::effects::RecordEvent;
use bank_core::ledger::Decision;
use bank_core::time::Timestamp;
use bankd_config::BATCH_MAX;
use bankd_store::answer::Answer;
use bankd_store::{Counted, FollowMark, QuarantineRow, SinkState, SqliteStore};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::Instant;
use tokio::sync::{oneshot, watch};

/// Commands that may wait; one more is answered 503.
pub const QUEUE_CAPACITY: usize = 4096;

/// Where a command came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The JSON API: a person or a program of the site's.
    Cli,
    /// A scheduler's script.
    Nami,
    /// A client of the gateway.
    Gold,
    /// A client of AUDITOR's API.
    Auditor,
    /// A person on the web pages.
    Web,
    /// The daemon itself.
    System,
}

impl Origin {
    /// Its word in the journal.
    pub fn word(self) -> &'static str {
        match self {
            Origin::Cli => "cli",
            Origin::Nami => "nami",
            Origin::Gold => "gold",
            Origin::Auditor => "auditor",
            Origin::Web => "web",
            Origin::System => "system",
        }
    }
}

/// The caller.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The key's id, or the person's name.
    pub actor: String,
    /// The client: the scope of idempotency keys.
    pub client: String,
    /// Where it came from.
    pub origin: Origin,
    /// The scope of the caller.
    pub scope: Scope,
}

/// A request's idempotency key, and what it was used for.
#[derive(Clone, Debug)]
pub struct IdempotencyKey {
    /// The key.
    pub key: String,
    /// The key of the whole request, where this is one of several objects: what was one object's key
    /// is not that of several, and the other way round (decisions.md 26).
    pub whole: Option<String>,
    /// SHA-256 over method, path, query and body.
    pub fingerprint: [u8; 32],
    /// The nonce of the signature; empty on the socket.
    pub nonce: String,
    /// It is derived from the message itself. A refused caller has no other message to retry with, so a
    /// refusal is not kept.
    pub is_content: bool,
}

impl IdempotencyKey {
    /// The key of one of several objects, `KEY#n` (decisions.md 26).
    #[must_use]
    pub fn part(&self, number: usize) -> IdempotencyKey {
        IdempotencyKey {
            key: format!("{}#{number}", self.key),
            whole: Some(self.key.clone()),
            ..self.clone()
        }
    }
}

/// A command that was decided, as its answer is made of it.
#[derive(Clone, Copy, Debug)]
pub struct Decided<'a> {
    /// The reference data after the command.
    pub directory: &'a Arc<Directory>,
    /// The command.
    pub command: &'a Command,
    /// The scope of the caller: no hint names anything else.
    pub scope: &'a Scope,
    /// The result.
    pub decision: &'a Decision,
    /// The ledger's present.
    pub now: Timestamp,
    /// Its journal transaction, the first if there are several; none where nothing was written.
    pub transaction: Option<i64>,
    /// Whether it was decided only.
    pub dry_run: bool,
    /// The id of the request, for a problem document.
    pub request_id: &'a str,
    /// The fingerprint of the key in the command; empty for all other commands.
    pub fingerprint: &'a str,
}

/// Makes the answer inside the transaction, so that it is stored with the change, and a repeat gets the same
/// bytes (http-auth.md 3).
pub type Render = fn(&Decided<'_>) -> Answer;

/// A usage record on its way into the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// When it was made, µs since 1970.
    pub created_at: i64,
    /// Its number for readers.
    pub number: i64,
    /// The record as text.
    pub text: String,
}

/// Makes the usage record of what happened.
pub type RecordKeeper = fn(&Directory, &RecordEvent, Counted) -> Kept;

/// A command with everything that its journal rows need.
#[derive(Debug)]
pub struct Submission {
    /// The command.
    pub command: Command,
    /// The caller.
    pub caller: Caller,
    /// Its idempotency key; without one nothing is stored.
    pub key: Option<IdempotencyKey>,
    /// The request's id.
    pub request_id: String,
    /// Decide, and write nothing.
    pub dry_run: bool,
    /// The function that renders the answer.
    pub render: Render,
    /// The fingerprint of the key in the command, which the ledger does not store; empty for all other
    /// commands.
    pub fingerprint: String,
    /// Its place in a request of many commands; none in every other request.
    pub turn: Option<Turn>,
}

/// The result of one command, for the log line.
#[derive(Clone, Copy, Debug)]
pub struct Summary {
    /// The command's word.
    pub op: &'static str,
    /// The refusal's code; empty when it was accepted.
    pub code: &'static str,
    /// Its transaction, the first if there are several.
    pub transaction: Option<i64>,
    /// The amount of the command, in minor units.
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

impl Reply {
    /// Whether the command was not done, now or before.
    pub fn is_refusal(&self) -> bool {
        match self {
            Reply::Fresh { summary, .. } => !summary.code.is_empty(),
            Reply::Stored(answer) => bank_api::error::is_refusal(answer.status),
            Reply::KeyReused | Reply::Replay => true,
        }
    }
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
    /// Commands in one transaction, or none of them.
    Whole(Vec<turn::Waiting>),
    Settle(oneshot::Sender<Result<(), SubmitError>>),
    Prune(oneshot::Sender<Result<bool, SubmitError>>),
    Confirm(SinkState, oneshot::Sender<Result<(), SubmitError>>),
    Collect(
        Box<Collect>,
        oneshot::Sender<Result<Collected, SubmitError>>,
    ),
    Portion(Box<Portion>, oneshot::Sender<portion::Back>),
    Open(Box<Opening>, oneshot::Sender<Result<Opened, SubmitError>>),
    Aside(
        Vec<QuarantineRow>,
        Vec<FollowMark>,
        oneshot::Sender<Result<(), SubmitError>>,
    ),
    Change(change::Change, oneshot::Sender<Result<u64, SubmitError>>),
    Stop,
}

impl Task {
    fn submit((submission, reply): turn::Waiting) -> Task {
        Task::Submit(Box::new(submission), Instant::now(), reply)
    }
}

struct Shared {
    commits: AtomicU64,
    commands: AtomicU64,
    depth: AtomicU64,
    next_due: AtomicI64,
    /// When the newest transaction was recorded: the ledger clock never shows less.
    recorded: AtomicI64,
    /// Why the last commit failed; none if it went well.
    failure: Mutex<Option<SubmitError>>,
    directory: RwLock<Arc<Directory>>,
    /// The place of the newest usage record.
    records: watch::Sender<i64>,
    clock: Arc<dyn LedgerClock>,
    standing: Mutex<Standing>,
    meter: meter::Meter,
    /// The node, in a cluster.
    cluster: Option<Arc<Cluster>>,
}

/// A handle to the writer thread.
#[derive(Clone)]
pub struct Writer {
    queue: SyncSender<Task>,
    shared: Arc<Shared>,
}

/// Starts the writer thread over the store of a bank on a single machine.
///
/// # Errors
/// If the store cannot be read, or no thread can be started.
pub fn start(
    store: SqliteStore,
    clock: Arc<dyn LedgerClock>,
    keep: RecordKeeper,
    batch_max: usize,
) -> std::io::Result<(Writer, JoinHandle<()>)> {
    start_node(store, clock, keep, batch_max, None)
}

/// The same for a node of a cluster, which begins as a follower.
///
/// # Errors
/// As [`start`].
pub fn start_node(
    store: SqliteStore,
    clock: Arc<dyn LedgerClock>,
    keep: RecordKeeper,
    batch_max: usize,
    replica: Option<Replica>,
) -> std::io::Result<(Writer, JoinHandle<()>)> {
    let (queue, tasks) = sync_channel(QUEUE_CAPACITY);
    let shared = Arc::new(Shared {
        commits: AtomicU64::new(0),
        commands: AtomicU64::new(0),
        depth: AtomicU64::new(0),
        next_due: AtomicI64::new(store.next_due().map_or(i64::MAX, |t| t.0)),
        recorded: AtomicI64::new(store.ledger_now(Timestamp(i64::MIN)).0),
        failure: Mutex::new(None),
        directory: RwLock::new(store.reference()),
        records: watch::Sender::new(0),
        clock,
        standing: Mutex::default(),
        meter: meter::Meter::default(),
        cluster: replica.as_ref().map(|replica| Arc::clone(&replica.cluster)),
    });
    let writer = Writer {
        queue,
        shared: Arc::clone(&shared),
    };
    let seen = store.seen().map_err(std::io::Error::other)?;
    let policy = store.reference().policy;
    let watch = Watch::new(policy.max_jump, seen).after_downtime(policy.max_downtime);
    let batch_max = batch_max.clamp(1, BATCH_MAX);
    let settings_recorded = store
        .settings_are_recorded()
        .map_err(std::io::Error::other)?;
    let files = moved::Files::of(store.path());
    let mut thread = thread::Thread {
        store,
        files,
        shared,
        keep,
        batch_max,
        newest_record: None,
        watch,
        was_held: false,
        settings_recorded,
        kept: None,
        stuck: Vec::new(),
        stuck_total: 0,
        steps_back: 0,
        full: full::Full::default(),
        replica,
    };
    let name = std::thread::Builder::new().name("writer".to_owned());
    let handle = name.spawn(move || thread.run(&tasks))?;
    Ok((writer, handle))
}

impl Writer {
    /// Runs a command and waits until it is durable.
    pub async fn submit(&self, submission: Submission) -> Result<Reply, SubmitError> {
        let (reply, answer) = oneshot::channel();
        // A dry run writes nothing that could be undone, or that others could come before.
        match submission.turn.clone().filter(|_| !submission.dry_run) {
            Some(turn) => turn.enter(self, (submission, reply))?,
            None => self.enqueue(Task::submit((submission, reply)))?,
        }
        answer.await.unwrap_or(Err(SubmitError::Failed))
    }

    /// Runs several commands in their order, and waits until all of them are durable: those that go
    /// into one commit cost one.
    pub async fn submit_all(&self, all: Vec<Submission>) -> Result<Vec<Reply>, SubmitError> {
        let mut waiting = Vec::with_capacity(all.len());
        for submission in all {
            let (reply, answer) = oneshot::channel();
            self.enqueue(Task::submit((submission, reply)))?;
            waiting.push(answer);
        }
        let mut replies = Vec::with_capacity(waiting.len());
        for answer in waiting {
            replies.push(answer.await.unwrap_or(Err(SubmitError::Failed))?);
        }
        Ok(replies)
    }

    /// Journals the boundaries that are due; costs nothing when none is. A follower leaves them to the writer.
    pub async fn settle(&self) -> Result<(), SubmitError> {
        if self.shared.next_due.load(Ordering::Acquire) > self.now().0 || !self.is_writing() {
            return Ok(());
        }
        self.look().await
    }

    /// Checks the clock and journals due boundaries: once a second, so that the time between two looks has
    /// certainly passed. Costs no transaction if nothing is due.
    pub async fn look(&self) -> Result<(), SubmitError> {
        let (reply, answer) = oneshot::channel();
        self.enqueue(Task::Settle(reply))?;
        answer.await.unwrap_or(Err(SubmitError::Failed))
    }

    /// The ledger clock: what the clock shows, never before what was recorded (decisions.md 9).
    pub fn ledger_now(&self) -> Timestamp {
        let recorded = Timestamp(self.shared.recorded.load(Ordering::Acquire));
        self.shared.clock.now().max(recorded)
    }

    /// Removes expired stored answers, a bounded number of them; returns whether there may be more. Costs one
    /// look at an index if there are none.
    pub async fn prune(&self) -> Result<bool, SubmitError> {
        let (reply, answer) = oneshot::channel();
        self.enqueue(Task::Prune(reply))?;
        answer.await.unwrap_or(Err(SubmitError::Failed))
    }

    /// Reports that records are in their file. Waits for room in the queue: call it from a separate thread.
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

    /// The next instant at which the journal records a boundary; none if there is none.
    pub fn next_due(&self) -> Option<Timestamp> {
        let due = self.shared.next_due.load(Ordering::Acquire);
        (due != i64::MAX).then_some(Timestamp(due))
    }

    /// Notifies of every commit with usage records.
    pub fn records(&self) -> watch::Receiver<i64> {
        self.shared.records.subscribe()
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

#[cfg(test)]
mod tests;
