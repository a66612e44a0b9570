//! Checkpoints that are made by themselves while the bank is served.

use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError};

use bankd_ledger::clock;
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::{Keeper, newest};
use crate::proof::{Proof, Prover};

/// Makes checkpoints of the bank that is served, one at a time.
#[derive(Debug)]
pub struct Checkpoints {
    pub(super) keeper: Keeper,
    pub(super) folder: PathBuf,
    /// Microseconds from one to the next; 0 for never.
    every_us: i64,
    /// When the next is due, µs since 1970 by the machine's clock.
    next_us: AtomicI64,
    turn: Arc<Mutex<()>>,
    /// Why the last one was not made.
    trouble: std::sync::Mutex<Option<String>>,
}

impl Checkpoints {
    /// With seconds from one to the next, 0 for never. The first is due so long after the newest that
    /// is in the folder.
    pub fn new(keeper: Keeper, folder: PathBuf, every_s: i64) -> Checkpoints {
        let interval = every_s.saturating_mul(1_000_000);
        let written = newest(&folder).map(|at| at.saturating_mul(1_000_000));
        let next = written.map_or(0, |at| at.saturating_add(interval));
        Checkpoints {
            keeper,
            folder,
            every_us: interval,
            next_us: AtomicI64::new(next),
            turn: Arc::default(),
            trouble: std::sync::Mutex::default(),
        }
    }

    /// Creates the checkpoints.
    pub fn keeper(&self) -> &Keeper {
        &self.keeper
    }

    /// Waits until no other is made.
    pub async fn turn(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.turn).lock_owned().await
    }

    /// Why the last one was not made; none where it was.
    pub fn error(&self) -> Option<String> {
        self.trouble().clone()
    }

    /// Remembers why one was not made.
    pub fn note(&self, error: Option<String>) {
        *self.trouble() = error;
    }

    fn trouble(&self) -> MutexGuard<'_, Option<String>> {
        let locked = self.trouble.lock();
        locked.unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins the next one if it is due: the bank is proven, and signed only where it is sound. Never
    /// waits for it.
    pub fn tick(self: &Arc<Self>, prover: &Prover, now_us: i64) {
        if self.every_us == 0 || now_us < self.next_us.load(Ordering::Relaxed) {
            return;
        }
        let Ok(turn) = Arc::clone(&self.turn).try_lock_owned() else {
            return;
        };
        // Also after a failure: a missing key is logged once per interval, not each second.
        let next = now_us.saturating_add(self.every_us);
        self.next_us.store(next, Ordering::Relaxed);
        let (own, prover) = (Arc::clone(self), prover.clone());
        tokio::spawn(async move {
            let _turn = turn;
            let kept = match prover.prove().await {
                Proof::Sound(tx) => own.keep(tx).await,
                Proof::Broken(finding) => Err(format!("the bank is not sound: {finding}")),
                Proof::Failed(error) => Err(format!("the bank could not be verified: {error}")),
                Proof::Stopped => {
                    tracing::info!("no checkpoint was made: the daemon is stopping");
                    return;
                }
            };
            match kept {
                Ok(path) => {
                    tracing::info!(file = %path.display(), "checkpoint made");
                    own.note(None);
                }
                Err(error) => {
                    tracing::error!(error, "no checkpoint was made");
                    own.note(Some(error));
                }
            }
        });
    }

    async fn keep(&self, proven: i64) -> Result<PathBuf, String> {
        let (keeper, folder) = (self.keeper.clone(), self.folder.clone());
        let keep = move || keeper.keep(&folder, proven, clock::real_us());
        match tokio::task::spawn_blocking(keep).await {
            Ok(kept) => kept.map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }
}
