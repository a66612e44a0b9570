//! Checkpoints that are made by themselves while the bank is served.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use tokio::sync::{Mutex, OwnedMutexGuard};

use super::{Keeper, newest};

/// Makes checkpoints of the bank that is served, one at a time.
#[derive(Debug)]
pub struct Checkpoints {
    keeper: Keeper,
    folder: PathBuf,
    /// Microseconds from one to the next; 0 for never.
    every_us: i64,
    /// When the next is due, µs since 1970 by the machine's clock.
    next_us: AtomicI64,
    turn: Arc<Mutex<()>>,
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
        }
    }

    /// What makes them.
    pub fn keeper(&self) -> &Keeper {
        &self.keeper
    }

    /// Waits until no other is made.
    pub async fn turn(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.turn).lock_owned().await
    }

    /// Begins the next one if it is due; never waits for it.
    pub fn tick(&self, now_us: i64) {
        if self.every_us == 0 || now_us < self.next_us.load(Ordering::Relaxed) {
            return;
        }
        let Ok(turn) = Arc::clone(&self.turn).try_lock_owned() else {
            return;
        };
        // Also where it fails: a missing key is told once in a while, not each second.
        let next = now_us.saturating_add(self.every_us);
        self.next_us.store(next, Ordering::Relaxed);
        let (keeper, folder) = (self.keeper.clone(), self.folder.clone());
        tokio::task::spawn_blocking(move || {
            let _turn = turn;
            match keeper.keep(&folder, now_us) {
                Ok(path) => tracing::info!(file = %path.display(), "checkpoint made"),
                Err(error) => tracing::error!(%error, "no checkpoint was made"),
            }
        });
    }
}
