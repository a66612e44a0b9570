//! One import, as requests find it.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use bank_core::time::{MICROS, Timestamp};
use bankd_ledger::writer::{IdempotencyKey, Writer};
use tokio::sync::{mpsc, watch};

use super::Trouble;
use super::inbox::{GivenUp, Piece};
use super::position::Place;
use super::worker::{Done, Failed, Progress};

/// State of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Its id.
    pub id: String,
    /// The sender.
    pub client: String,
    /// The collector.
    pub source: String,
    /// The format.
    pub format: &'static str,
    /// `running`, `ended` or `failed`.
    pub state: &'static str,
    /// The file that is being sent.
    pub file: String,
    /// Bytes of it that are taken.
    pub at: u64,
    /// Bytes taken of all files.
    pub bytes: u64,
    /// Files read.
    pub files: u64,
    /// Records read.
    pub records: u64,
    /// Whether it writes nothing.
    pub dry_run: bool,
    /// Whether it is well only where all could be read.
    pub strict: bool,
    /// Seconds since the last data.
    pub idle_s: i64,
}

/// Result of an import, shared by all callers.
pub(super) type Outcome = Arc<Result<Done, Failed>>;

/// An import on its way.
pub(super) struct Session {
    pub(super) id: String,
    pub(super) client: String,
    pub(super) key: Option<IdempotencyKey>,
    pub(super) source: String,
    pub(super) format: &'static str,
    pub(super) dry_run: bool,
    pub(super) strict: bool,
    /// The way to the reader, for one request at a time; none once the last file is over.
    pub(super) pieces: tokio::sync::Mutex<Option<mpsc::Sender<Piece>>>,
    pub(super) place: Mutex<Place>,
    pub(super) progress: Arc<Progress>,
    pub(super) outcome: watch::Receiver<Option<Outcome>>,
    /// Time of the last data, on the steady clock in µs.
    pub(super) seen: AtomicI64,
    pub(super) thread: Mutex<Option<JoinHandle<()>>>,
    pub(super) given_up: GivenUp,
}

impl Session {
    pub(super) fn is_of(&self, who: Option<&str>) -> bool {
        who.is_none_or(|client| client == self.client)
    }

    pub(super) fn touch(&self, writer: &Writer) {
        self.seen.store(writer.steady().0, Ordering::Relaxed);
    }

    pub(super) fn place(&self) -> MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn outcome(&self) -> Option<Outcome> {
        self.outcome.borrow().clone()
    }

    pub(super) fn idle_s(&self, now: Timestamp) -> i64 {
        let seen = self.seen.load(Ordering::Relaxed);
        now.0.saturating_sub(seen).div_euclid(MICROS).max(0)
    }

    /// An import that is over takes nothing more.
    pub(super) fn check(&self) -> Result<(), Trouble> {
        match self.outcome() {
            None => Ok(()),
            Some(outcome) => match outcome.as_ref() {
                Ok(_) => Err(Trouble::Ended),
                Err(failed) => Err(Trouble::Failed(failed.clone())),
            },
        }
    }

    /// Why the reader takes nothing more.
    pub(super) fn broken(&self) -> Trouble {
        self.check().err().unwrap_or_else(|| {
            Trouble::Failed(Failed {
                code: "internal",
                detail: "the reader of this import has ended; the log has more".to_owned(),
            })
        })
    }

    pub(super) fn standing(&self, now: Timestamp) -> Standing {
        let place = self.place().clone();
        Standing {
            id: self.id.clone(),
            client: self.client.clone(),
            source: self.source.clone(),
            format: self.format,
            state: match self.outcome().as_deref() {
                None => "running",
                Some(Ok(_)) => "ended",
                Some(Err(_)) => "failed",
            },
            file: place.file,
            at: place.at,
            bytes: place.bytes,
            files: self.progress.files(),
            records: self.progress.records(),
            dry_run: self.dry_run,
            strict: self.strict,
            idle_s: self.idle_s(now),
        }
    }
}
