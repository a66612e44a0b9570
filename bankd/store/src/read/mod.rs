//! Reading the ledger: bounded questions over read-only connections.
//!
//! [`Pool`] lends connections for the time of one question. The modules answer these questions:
//! `money`: accounts and allocations; `past`: the same at an earlier time; `burn`: spending rates;
//! `statement`: movements; `liens`, `jobs` and `charges`: work; `chunked`: uses without an instance; `monitor`: requests that strict
//! mode would have rejected; `enforced`: a simulation of strict mode; `fallback`: jobs on another
//! account; `report`: usage totals and counted snapshots; `explain`: the reasons of a transaction;
//! `questions`: liens for partners; `journal` (with `newest`, latest first): history; `records`:
//! exports; `sources`: collectors; `reconcile`: recorded usage compared with charges; `unmapped`:
//! usage that waits for a project; `uses`: every use once; `attention`: alerts and targets;
//! `status`: the daemon's own figures. Every function takes a connection and returns rows. None may
//! write, decide a rule, or read a growing table without a bound.

pub mod attention;
pub mod auditor;
pub mod burn;
pub mod charges;
pub mod chunked;
pub mod closes;
pub mod costs;
pub mod enforced;
pub mod explain;
pub mod fallback;
pub mod feed;
pub mod jobs;
pub mod journal;
pub mod liens;
pub mod money;
pub mod monitor;
pub mod past;
pub mod pods;
pub mod quarantine;
pub mod questions;
pub mod quotes;
pub mod reconcile;
pub mod recorded;
pub mod records;
pub mod report;
pub mod sources;
pub mod statement;
pub mod statement_ends;
pub mod status;
pub mod unmapped;
pub mod usage;
pub mod uses;
pub mod whatif;

use super::{Error, open_reader};
use rusqlite::{Connection, InterruptHandle, Row, Rows};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Rows that one question may look at before it answers with a cursor.
pub const SCAN_MAX: usize = 50_000;

/// Connections of a pool.
const READERS: usize = 4;
/// How long a question may wait for a connection, and then take.
const LIMIT: Duration = Duration::from_secs(5);

/// A page of rows, and the cursor of the next one; none on the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T, C = i64> {
    /// The rows.
    pub rows: Vec<T>,
    /// Where the next page goes on.
    pub next: Option<C>,
}

impl<T, C> Page<T, C> {
    /// The first rows of a page that was asked for one row more: it has a next page only if that row is there, so
    /// that no page is empty. `key` is the cursor of a row.
    #[must_use]
    pub fn within(mut self, limit: usize, key: impl Fn(&T) -> C) -> Self {
        if self.rows.len() > limit {
            self.rows.truncate(limit);
            self.next = self.rows.last().map(key);
        }
        self
    }
}

/// The rows that `take` keeps, until a page is full or enough rows were looked at. `take` returns the cursor of each row,
/// and what it keeps of it.
fn scan<T>(
    rows: &mut Rows<'_>,
    limit: usize,
    mut take: impl FnMut(&Row<'_>) -> Result<(i64, Option<T>), Error>,
) -> Result<Page<T>, Error> {
    let mut page = Page {
        rows: Vec::new(),
        next: None,
    };
    let (mut looked, mut last) = (0, None);
    while let Some(row) = rows.next()? {
        if page.rows.len() >= limit || looked >= SCAN_MAX {
            page.next = last;
            break;
        }
        looked += 1;
        let (cursor, kept) = take(row)?;
        last = Some(cursor);
        page.rows.extend(kept);
    }
    Ok(page)
}

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Every connection is in use for too long.
    #[error("all readers are busy")]
    Busy,
    /// The question took longer than it may.
    #[error("the question took too long")]
    Late,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] Error),
}

/// A fixed number of read-only connections. A cheap handle.
#[derive(Clone)]
pub struct Pool {
    shared: Arc<Shared>,
}

struct Shared {
    idle: Mutex<Vec<Connection>>,
    permits: Arc<Semaphore>,
    limit: Duration,
}

impl Pool {
    /// Opens four connections; a question may take five seconds.
    pub fn open(path: &Path) -> Result<Pool, Error> {
        Pool::sized(path, READERS, LIMIT)
    }

    /// Opens `size` connections, at least one. A question may wait `limit` for a connection, and
    /// then take as long again.
    pub fn sized(path: &Path, size: usize, limit: Duration) -> Result<Pool, Error> {
        let size = size.max(1);
        let idle: Vec<Connection> = (0..size)
            .map(|_| open_reader(path))
            .collect::<Result<_, _>>()?;
        let shared = Shared {
            idle: Mutex::new(idle),
            permits: Arc::new(Semaphore::new(size)),
            limit,
        };
        Ok(Pool {
            shared: Arc::new(shared),
        })
    }

    /// Runs a question on a thread of its own. All its statements see the same committed state. It
    /// is interrupted at its time limit, and when the caller stops waiting.
    pub async fn run<T, F>(&self, question: F) -> Result<T, ReadError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, Error> + Send + 'static,
    {
        let limit = self.shared.limit;
        let permit = Arc::clone(&self.shared.permits).acquire_owned();
        let permit = tokio::time::timeout(limit, permit).await;
        let permit = permit
            .map_err(|_| ReadError::Busy)?
            .map_err(|_| ReadError::Busy)?;
        let lease = Lease::take(&self.shared, permit).ok_or(ReadError::Busy)?;
        let interrupt = lease.interrupt().ok_or(ReadError::Busy)?;
        // The lease returns with the answer: a connection is idle only after no interruption can
        // reach it any more.
        let mut task = tokio::task::spawn_blocking(move || {
            let answer = lease.ask(question);
            (lease, answer)
        });
        let mut alarm = Alarm(Some(interrupt));
        let in_time = tokio::time::timeout(limit, &mut task).await;
        let late = in_time.is_err();
        let joined = if let Ok(joined) = in_time {
            joined
        } else {
            alarm.ring();
            task.await
        };
        alarm.0 = None;
        match joined {
            Ok((_, Ok(answer))) => Ok(answer),
            Ok((_, Err(_))) | Err(_) if late => Err(ReadError::Late),
            Ok((_, Err(error))) => Err(ReadError::Store(error)),
            Err(_) => Err(ReadError::Late),
        }
    }
}

impl Shared {
    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection on loan; it goes back when this is dropped.
struct Lease {
    connection: Option<Connection>,
    shared: Arc<Shared>,
    _permit: OwnedSemaphorePermit,
}

impl Lease {
    fn take(shared: &Arc<Shared>, permit: OwnedSemaphorePermit) -> Option<Lease> {
        let connection = shared.idle().pop()?;
        Some(Lease {
            connection: Some(connection),
            shared: Arc::clone(shared),
            _permit: permit,
        })
    }

    fn interrupt(&self) -> Option<InterruptHandle> {
        self.connection
            .as_ref()
            .map(Connection::get_interrupt_handle)
    }

    fn ask<T>(&self, question: impl FnOnce(&Connection) -> Result<T, Error>) -> Result<T, Error> {
        let Some(connection) = &self.connection else {
            return Err(Error::Sqlite(rusqlite::Error::InvalidQuery));
        };
        // One snapshot for all statements; rolled back on drop, for there is nothing to keep.
        let _snapshot = connection.unchecked_transaction()?;
        question(connection)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let connection = self.connection.take();
        self.shared.idle().extend(connection);
    }
}

/// Interrupts a question whose caller stopped waiting.
struct Alarm(Option<InterruptHandle>);

impl Alarm {
    fn ring(&mut self) {
        if let Some(handle) = self.0.take() {
            handle.interrupt();
        }
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        self.ring();
    }
}

#[cfg(test)]
mod tests;
