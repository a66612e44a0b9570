//! What a reserve costs on an account with few or with many open liens: reserve and delete in turn,
//! in-process, so that their number stays as it is (ledger.md 2.7: what is held is a column).

use crate::document::{Spread, Step};
use crate::seed::{made, open};
use anyhow::{Result, bail};
use bank_core::command::Scope;
use bank_core::ledger;
use bankd::clock::{LedgerClock, Stopwatch, SystemClock};
use bankd::nami::Event;
use bankd::store::{SqliteStore, Stamp};
use std::path::Path;
use std::time::Duration;

/// Pairs in one commit.
const BATCH: u64 = 64;

/// The first job's number: beyond all that are open.
const FIRST: u64 = 1_000_000;

/// Runs it for a time; returns the pairs, and the time that their reserves alone took.
pub(crate) fn run(data: &Path, limit: Duration) -> Result<(u64, Duration)> {
    let mut store = open(data)?;
    store.warm_up()?;
    let whole = Stopwatch::start();
    let (mut done, mut taken) = (0_u64, Duration::ZERO);
    while whole.elapsed() < limit {
        store.begin()?;
        let first = FIRST.saturating_add(done);
        for job in first..first.saturating_add(BATCH) {
            taken = taken.saturating_add(one(&mut store, Event::Reserve, job)?);
            one(&mut store, Event::Delete, job)?;
        }
        store.commit()?;
        done = done.saturating_add(BATCH);
    }
    Ok((done, taken))
}

fn one(store: &mut SqliteStore, event: Event, job: u64) -> Result<Duration> {
    let command = made(Step { event, job }, Spread::Hot)?.command;
    let now = store.ledger_now(SystemClock.now());
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
