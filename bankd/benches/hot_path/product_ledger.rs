//! L: the product's ledger in-process, as the writer thread runs it, without HTTP: the look-up of
//! the idempotency key, the rules, the rows, the journal, the answer and its storing.

use crate::document::{Spread, step};
use crate::seed::{SCHEDULER, made, open};
use anyhow::{Result, bail};
use bank_core::command::Scope;
use bank_core::ledger;
use bank_core::time::Timestamp;
use bankd_http::nami::command::Made;
use bankd_ledger::clock::{LedgerClock, Stopwatch, SystemClock};
use bankd_ledger::writer::Decided;
use bankd_store::{Known, SqliteStore, Stamp, StoredAnswer};
use std::path::Path;
use std::time::Duration;
use uuid::Uuid;

struct Prepared {
    made: Made,
    key: String,
    request_id: String,
    nonce: String,
}

/// Runs it for a time, and for so many commands at most, `batch` of them in a commit; returns commands and the time they
/// took.
pub(crate) fn run(
    data: &Path,
    spread: Spread,
    batch: u64,
    (limit, most): (Duration, u64),
) -> Result<(u64, Duration)> {
    let mut store = open(data)?;
    store.warm_up(u64::MAX)?;
    let scope = Scope {
        projects: Vec::new(),
        machines: vec![crate::document::MACHINE.to_owned()],
        ..Scope::default()
    };
    let (mut done, mut taken) = (0_u64, Duration::ZERO);
    while taken < limit && done < most {
        let commands = (done..done.saturating_add(batch))
            .map(|n| prepare(n, spread))
            .collect::<Result<Vec<_>>>()?;
        let watch = Stopwatch::start();
        store.begin()?;
        let now = store.ledger_now(SystemClock::default().now());
        for prepared in commands {
            run_one(&mut store, prepared, &scope, now)?;
        }
        store.commit()?;
        taken = taken.saturating_add(watch.elapsed());
        done = done.saturating_add(batch);
    }
    Ok((done, taken))
}

fn prepare(n: u64, spread: Spread) -> Result<Prepared> {
    Ok(Prepared {
        made: made(step(n), spread)?,
        key: Uuid::now_v7().to_string(),
        request_id: Uuid::now_v7().to_string(),
        nonce: Uuid::new_v4().simple().to_string(),
    })
}

fn run_one(
    store: &mut SqliteStore,
    prepared: Prepared,
    scope: &Scope,
    now: Timestamp,
) -> Result<()> {
    let Prepared {
        made,
        key,
        request_id,
        nonce,
    } = prepared;
    let fingerprint = [7_u8; 32];
    if !matches!(
        store.known(SCHEDULER, &key, &fingerprint, &nonce)?,
        Known::New
    ) {
        bail!("the key is known");
    }
    store.stamp(Stamp {
        now,
        request_id: request_id.clone(),
        actor: SCHEDULER.to_owned(),
        client: SCHEDULER.to_owned(),
        origin: "nami",
        key: Some(key.clone()),
    });
    let decision = ledger::execute(store, &made.command, scope, now, false)?;
    if let Err(refusal) = &decision {
        bail!("{} of {}: {}", made.command.op(), made.job, refusal.code());
    }
    let stored = StoredAnswer {
        answer: (made.render)(&Decided {
            directory: &store.reference(),
            command: &made.command,
            scope,
            decision: &decision,
            now,
            transaction: None,
            dry_run: false,
            request_id: &request_id,
            fingerprint: "",
        }),
        fingerprint: fingerprint.to_vec(),
        nonce,
    };
    store.keep_answer(SCHEDULER, &key, &stored, made.command.is_charge(), now)?;
    Ok(())
}
