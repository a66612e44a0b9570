//! Many clients at once, through the writer thread of the daemon.

use super::ask::Ask;
use super::fixture::T0;
use super::ground::CLIENT;
use super::reply;
use bank_core::command::Scope;
use bank_core::time::Timestamp;
use bankd_config::BATCH_MAX;
use bankd_ledger::clock::LedgerClock;
use bankd_ledger::writer::{self, Caller, IdempotencyKey, Origin, Reply, Submission, Writer};
use bankd_records as records;
use bankd_store::SqliteStore;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Barrier;

/// A clock that shows T0.
struct Stopped;

impl LedgerClock for Stopped {
    fn now(&self) -> Timestamp {
        T0
    }
}

/// What came back: the answer, and whether it was decided now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Got {
    pub(crate) text: String,
    pub(crate) fresh: bool,
}

/// Runs asks through a writer over this store, all clients at once, and ends it.
pub(crate) fn at_once(store: SqliteStore, asks: Vec<Ask>) -> Vec<Got> {
    at_once_in_batches(store, asks, BATCH_MAX)
}

/// The same with at most so many commands per commit.
pub(crate) fn at_once_in_batches(store: SqliteStore, asks: Vec<Ask>, batch_max: usize) -> Vec<Got> {
    let (writer, thread) =
        writer::start(store, Arc::new(Stopped), records::keep, batch_max).unwrap();
    let got = runtime().block_on(submit_all(&writer, asks));
    writer.stop();
    thread.join().unwrap();
    got
}

fn runtime() -> Runtime {
    Builder::new_multi_thread()
        .worker_threads(4)
        .build()
        .unwrap()
}

/// Each ask in a task of its own; none submits before all are ready.
async fn submit_all(writer: &Writer, asks: Vec<Ask>) -> Vec<Got> {
    let ready = Arc::new(Barrier::new(asks.len()));
    let tasks = asks.into_iter().enumerate().map(|(n, ask)| {
        let (writer, ready) = (writer.clone(), Arc::clone(&ready));
        tokio::spawn(async move {
            let submission = submission(ask, n);
            ready.wait().await;
            got(writer.submit(submission).await.unwrap())
        })
    });
    let tasks: Vec<_> = tasks.collect();
    let mut answers = Vec::new();
    for task in tasks {
        answers.push(task.await.unwrap());
    }
    answers
}

fn got(reply: Reply) -> Got {
    let (answer, fresh) = match reply {
        Reply::Fresh { answer, .. } => (answer, true),
        Reply::Stored(answer) => (answer, false),
        Reply::KeyReused => {
            let text = reply::refused("key_reused");
            return Got { text, fresh: false };
        }
        Reply::Replay => panic!("no request here has a nonce"),
    };
    let text = String::from_utf8(answer.body).unwrap();
    Got { text, fresh }
}

fn submission(ask: Ask, n: usize) -> Submission {
    let command = ask.command.unwrap();
    let mut hasher = DefaultHasher::new();
    format!("{command:?}").hash(&mut hasher);
    let mut fingerprint = [0; 32];
    fingerprint[..8].copy_from_slice(&hasher.finish().to_be_bytes());
    Submission {
        command,
        caller: Caller {
            actor: "admin".to_owned(),
            client: CLIENT.to_owned(),
            origin: Origin::Cli,
            scope: Scope::default(),
        },
        key: Some(IdempotencyKey {
            whole: None,
            key: ask.key.unwrap_or_else(|| format!("client-{n}")),
            fingerprint,
            nonce: String::new(),
            is_content: false,
        }),
        request_id: format!("r{n}"),
        dry_run: false,
        render: reply::render,
        fingerprint: String::new(),
        turn: None,
    }
}

/// Runs each list of asks in a thread of its own, one ask after the other, through one writer.
pub(crate) fn in_threads(store: SqliteStore, lists: Vec<Vec<Ask>>) -> Vec<Got> {
    let (writer, thread) =
        writer::start(store, Arc::new(Stopped), records::keep, BATCH_MAX).unwrap();
    let runtime = runtime();
    let got = std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for (n, list) in lists.into_iter().enumerate() {
            let (writer, handle) = (writer.clone(), runtime.handle().clone());
            threads.push(scope.spawn(move || {
                let one = |(k, ask)| {
                    let submission = submission(ask, n * 1_000_000 + k);
                    got(handle.block_on(writer.submit(submission)).unwrap())
                };
                list.into_iter().enumerate().map(one).collect::<Vec<Got>>()
            }));
        }
        let joined = threads.into_iter().map(|t| t.join().unwrap());
        joined.flatten().collect()
    });
    writer.stop();
    thread.join().unwrap();
    got
}

/// How often each answer came, in the order of the answers.
pub(crate) fn tally(got: &[Got]) -> Vec<(&str, usize)> {
    let mut texts: Vec<&str> = got.iter().map(|g| g.text.as_str()).collect();
    texts.sort_unstable();
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for text in texts {
        match counts.last_mut() {
            Some((last, count)) if *last == text => *count += 1,
            _ => counts.push((text, 1)),
        }
    }
    counts
}
