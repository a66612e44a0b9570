//! What a reserve costs on an account with few or with many open liens: reserve and delete in turn,
//! in-process, so that their number stays as it is (ledger.md 2.7: what is held is a column).

use crate::document::{Spread, Step};
use crate::seed::{made, open};
use anyhow::{Result, bail};
use bank_core::command::Scope;
use bank_core::ledger;
use bankd_ledger::clock::{LedgerClock, Stopwatch, SystemClock};
use bankd_nami::Event;
use bankd_store::{SqliteStore, Stamp};
use std::path::Path;
use std::time::Duration;

/// Pairs in one commit.
const BATCH: u64 = 64;

/// The first job's number: beyond all that are open.
const FIRST: u64 = 1_000_000;

/// What one of the two ledgers took.
#[derive(Default)]
pub(crate) struct Taken {
    /// Reserves.
    pub(crate) reserves: u64,
    /// The time of the reserves alone.
    pub(crate) time: Duration,
}

/// Runs two ledgers for a time, a batch of the one and a batch of the other in turn, so that
/// whatever else the machine does falls on both.
pub(crate) fn run(folders: [&Path; 2], limit: Duration) -> Result<[Taken; 2]> {
    let mut taken = [Taken::default(), Taken::default()];
    let [first, second] = folders;
    let mut stores = [open(first)?, open(second)?];
    for store in &stores {
        store.warm_up(u64::MAX)?;
    }
    let whole = Stopwatch::start();
    while whole.elapsed() < limit {
        for (store, taken) in stores.iter_mut().zip(&mut taken) {
            batch(store, taken)?;
        }
    }
    Ok(taken)
}

fn batch(store: &mut SqliteStore, taken: &mut Taken) -> Result<()> {
    store.begin()?;
    let first = FIRST.saturating_add(taken.reserves);
    for job in first..first.saturating_add(BATCH) {
        let time = one(store, Event::Reserve, job)?;
        taken.time = taken.time.saturating_add(time);
        one(store, Event::Delete, job)?;
    }
    taken.reserves = taken.reserves.saturating_add(BATCH);
    store.commit()?;
    Ok(())
}

fn one(store: &mut SqliteStore, event: Event, job: u64) -> Result<Duration> {
    let command = made(Step { event, job }, Spread::Hot)?.command;
    let now = store.ledger_now(SystemClock::default().now());
    store.stamp(Stamp {
        now,
        ..Stamp::default()
    });
    let watch = Stopwatch::start();
    let decision = ledger::execute(store, &command, &Scope::default(), now, false)?;
    let taken = watch.elapsed();
    match decision {
        Ok(_) => Ok(taken),
        Err(refusal) => bail!("{} of job {job}: {}", command.op(), refusal.code()),
    }
}
