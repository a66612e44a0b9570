//! The thread that writes waypoints of the journal, so that the past is found fast (decision note 0057), and
//! adds up past days and months, so that a report reads little (0089, 0190).
//!
//! It reads committed data on a separate connection, and passes the writer a waypoint or a block at a time to
//! store. It decides nothing. Only the time of a look into the past depends on its progress. Start at
//! [`start`].

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::thread::JoinHandle;

use rusqlite::Connection;

use bank_core::time::Timestamp;
use bank_core_figures::rollup::DAY;
use bankd_store::{self as store, Spacing, Surveyor};
use bankd_store::{background, rollup};

use crate::clock::LedgerClock;
use crate::writer::Writer;

/// The time between two looks for missing blocks, by the ledger's clock, in microseconds: late records for a
/// past day do not cause a new sum each.
const BLOCKS_US: i64 = DAY / 144;

/// Wakes the thread, and ends it when it is dropped.
#[derive(Clone, Debug)]
pub struct Waker(SyncSender<()>);

impl Waker {
    /// Reports that there may be a waypoint to write. Never waits.
    pub fn wake(&self) {
        match self.0.try_send(()) {
            // It is at work, and looks again when it is done.
            Ok(()) | Err(TrySendError::Full(())) => {}
            Err(TrySendError::Disconnected(())) => tracing::debug!("the waypoint thread has ended"),
        }
    }
}

/// Begins the thread; it ends when every [`Waker`] is gone.
///
/// # Errors
/// If there can be no thread.
pub fn start(
    database: &Path,
    writer: &Writer,
    clock: &Arc<dyn LedgerClock>,
) -> std::io::Result<(Waker, JoinHandle<()>)> {
    let (waker, woken) = sync_channel(1);
    let (database, writer, clock) = (database.to_path_buf(), writer.clone(), Arc::clone(clock));
    let thread = background::spawn("survey", move || run(&database, &writer, &*clock, &woken))?;
    Ok((Waker(waker), thread))
}

fn run(database: &Path, writer: &Writer, clock: &dyn LedgerClock, woken: &Receiver<()>) {
    // Kept from round to round: it contains the changes since the last sums.
    let mut survey = None;
    let mut looked = None;
    while woken.recv().is_ok() {
        if !writer.is_writing() {
            survey = None;
            continue;
        }
        let now = clock.now();
        if looked
            .is_none_or(|at: Timestamp| now.0.saturating_sub(at.0).saturating_abs() >= BLOCKS_US)
        {
            looked = Some(now);
            if let Err(error) = blocks(database, writer, now, woken) {
                tracing::warn!(%error, "rollups not added up; the next round retries");
            }
        }
        match round(survey.take(), database, writer, woken) {
            Ok(goes_on) => survey = goes_on,
            Err(error) => tracing::warn!(%error, "waypoints not written; the next round retries"),
        }
    }
}

/// Adds up past days and months without a block.
fn blocks(
    database: &Path,
    writer: &Writer,
    now: Timestamp,
    woken: &Receiver<()>,
) -> Result<(), store::Error> {
    let connection = store::open_reader(database)?;
    for unit in rollup::UNITS {
        let mut from = i64::MIN;
        while let Some(number) = rollup::next_missing(&connection, unit, from, now)? {
            from = number.saturating_add(1);
            let Some(made) = rollup::add_up(&connection, unit, number)? else {
                continue;
            };
            let unit = unit.word();
            match writer.place_block(made) {
                Ok(true) => tracing::debug!(unit, number, "added up"),
                Ok(false) => {
                    tracing::debug!(unit, number, "changed meanwhile; the next round retries");
                }
                Err(error) => {
                    tracing::debug!(%error, "block not written; the next round retries");
                    return Ok(());
                }
            }
            if is_over(woken) {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// A surveyor with the connection that it reads on.
type Survey = (Connection, Surveyor);

/// Writes the due waypoints. Returns none if the next round has to begin from the start.
fn round(
    survey: Option<Survey>,
    database: &Path,
    writer: &Writer,
    woken: &Receiver<()>,
) -> Result<Option<Survey>, store::Error> {
    let (connection, mut surveyor) = if let Some(survey) = survey {
        survey
    } else {
        let connection = store::open_reader(database)?;
        let surveyor = Surveyor::new(&connection, Spacing::default())?;
        (connection, surveyor)
    };
    while let Some(waypoint) = surveyor.next(&connection)? {
        match writer.mark(waypoint) {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(error) => {
                tracing::debug!(%error, "waypoint not written; the next round retries");
                return Ok(None);
            }
        }
        if is_over(woken) {
            return Ok(None);
        }
    }
    Ok(Some((connection, surveyor)))
}

/// Whether the daemon is going down.
fn is_over(woken: &Receiver<()>) -> bool {
    woken.try_recv() == Err(TryRecvError::Disconnected)
}
