//! The raw ceiling C: the plainest ledger that is still one, in the *cached* design of
//! `limits.md` 1. Balances and open liens live in memory, the database is only written, and a
//! changed allocation is written once per commit.
//!
//! It knows no rules, no rates, no journal hash, no idempotency and no answers, and it stays as it
//! is: no change of the product may move the bar that the product is held to (decisions.md 35).

use crate::document::{ALLOCATIONS, MACHINE, OPEN, PROJECTS, Spread, job_id, project, step, user};
use anyhow::{Context, Result, bail};
use bankd_ledger::clock::Stopwatch;
use bankd_nami::Event;
use rusqlite::{Connection, params};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::Duration;

/// The instant that all its rows carry.
const NOW: i64 = 1_767_225_600;

/// What an allocation begins with.
const MONEY: i64 = 1_000_000_000_000;

/// What a reserve holds.
const HELD: i64 = 3600;

/// What a charge takes.
const TAKEN: i64 = 3000;

const SCHEMA: &str = "
    PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    PRAGMA wal_autocheckpoint = 4000; PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY;
    PRAGMA foreign_keys = OFF;
    CREATE TABLE account (id INTEGER PRIMARY KEY, project TEXT NOT NULL, user TEXT NOT NULL,
        machine TEXT NOT NULL, credit INTEGER NOT NULL, UNIQUE (project, user, machine)) STRICT;
    CREATE TABLE allocation (id INTEGER PRIMARY KEY, account INTEGER NOT NULL,
        start INTEGER NOT NULL, expiry INTEGER NOT NULL, amount INTEGER NOT NULL,
        held INTEGER NOT NULL) STRICT;
    CREATE INDEX allocation_account ON allocation (account, expiry);
    CREATE TABLE lien (id INTEGER PRIMARY KEY, job TEXT NOT NULL UNIQUE, account INTEGER NOT NULL,
        amount INTEGER NOT NULL, start INTEGER NOT NULL, expiry INTEGER NOT NULL) STRICT;
    CREATE TABLE lien_allocation (lien INTEGER NOT NULL, allocation INTEGER NOT NULL,
        amount INTEGER NOT NULL, PRIMARY KEY (lien, allocation)) STRICT, WITHOUT ROWID;
    CREATE INDEX lien_allocation_allocation ON lien_allocation (allocation);
    CREATE TABLE usage (id INTEGER PRIMARY KEY, job TEXT NOT NULL, account INTEGER NOT NULL,
        charge INTEGER NOT NULL, processors INTEGER NOT NULL, wall INTEGER NOT NULL,
        start INTEGER NOT NULL, finish INTEGER NOT NULL) STRICT;
    CREATE INDEX usage_account ON usage (account, finish);
    CREATE TABLE journal (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, action INTEGER NOT NULL,
        job TEXT NOT NULL, account INTEGER NOT NULL, amount INTEGER NOT NULL,
        detail TEXT NOT NULL) STRICT;";

const WARM_UP: &str = "
    CREATE TABLE warm_up (x BLOB) STRICT; BEGIN;
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 512)
    INSERT INTO warm_up SELECT zeroblob(65000) FROM n; COMMIT;
    DROP TABLE warm_up; PRAGMA wal_checkpoint(RESTART);";

const DETAIL: &str = "actor=moab machine=cluster processors=16 wall=3600 rate=1";

/// Runs it for a time, `batch` commands in a commit; returns commands and the time they took.
pub(crate) fn run(
    folder: &Path,
    spread: Spread,
    batch: u64,
    limit: Duration,
) -> Result<(u64, Duration)> {
    let path = folder.join("plain.db");
    let connection = Connection::open(&path)?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.execute_batch(SCHEMA)?;
    let mut ledger = Ledger::seeded(&connection)?;
    connection.execute_batch(WARM_UP)?;
    connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
    for job in 1..=OPEN {
        ledger.reserve(&connection, &Job::of(job, spread))?;
    }
    ledger.flush(&connection)?;
    connection.prepare_cached("COMMIT")?.execute([])?;

    let (mut done, mut taken) = (0_u64, Duration::ZERO);
    while taken < limit {
        let jobs: Vec<(Event, Job)> = (done..done.saturating_add(batch))
            .map(step)
            .map(|step| (step.event, Job::of(step.job, spread)))
            .collect();
        let watch = Stopwatch::start();
        connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        for (event, job) in &jobs {
            match event {
                Event::Charge => ledger.charge(&connection, job)?,
                _ => ledger.reserve(&connection, job)?,
            }
        }
        ledger.flush(&connection)?;
        connection.prepare_cached("COMMIT")?.execute([])?;
        taken = taken.saturating_add(watch.elapsed());
        done = done.saturating_add(batch);
    }
    Ok((done, taken))
}

/// Project, user and machine.
type Owner = (String, String, String);

struct Job {
    owner: Owner,
    id: String,
}

impl Job {
    fn of(job: u64, spread: Spread) -> Job {
        let owner = spread.project_of(job);
        Job {
            owner: (project(owner), user(owner), MACHINE.to_owned()),
            id: job_id(job),
        }
    }
}

struct Allocation {
    id: i64,
    start: i64,
    expiry: i64,
    amount: i64,
    held: i64,
}

struct Lien {
    id: i64,
    account: usize,
    /// Place in the account's allocations, and how much.
    portions: Vec<(usize, i64)>,
}

#[derive(Default)]
struct Ledger {
    accounts: HashMap<Owner, usize>,
    /// The allocations of each account, the earliest expiry first.
    allocations: Vec<Vec<Allocation>>,
    liens: HashMap<String, Lien>,
    changed: HashSet<(usize, usize)>,
    last_lien: i64,
}

impl Ledger {
    fn seeded(connection: &Connection) -> Result<Ledger> {
        let mut ledger = Ledger::default();
        connection.execute_batch("BEGIN")?;
        for number in 0..PROJECTS {
            let owner = (project(number), user(number), MACHINE.to_owned());
            let place = ledger.allocations.len();
            let account = i64::try_from(place)? + 1;
            connection
                .prepare_cached("INSERT INTO account VALUES (?1, ?2, ?3, ?4, 0)")?
                .execute(params![account, owner.0, owner.1, owner.2])?;
            let mut own = Vec::new();
            for n in 0..i64::try_from(ALLOCATIONS)? {
                let (start, expiry) = (NOW - 86_400, NOW + 86_400 * (n + 1));
                connection
                    .prepare_cached(
                        "INSERT INTO allocation (account, start, expiry, amount, held)
                         VALUES (?1, ?2, ?3, ?4, 0)",
                    )?
                    .execute((account, start, expiry, MONEY))?;
                own.push(Allocation {
                    id: connection.last_insert_rowid(),
                    start,
                    expiry,
                    amount: MONEY,
                    held: 0,
                });
            }
            ledger.accounts.insert(owner, place);
            ledger.allocations.push(own);
        }
        connection.execute_batch("COMMIT")?;
        Ok(ledger)
    }

    fn reserve(&mut self, connection: &Connection, job: &Job) -> Result<()> {
        let account = *self.accounts.get(&job.owner).context("no such account")?;
        let own = self
            .allocations
            .get_mut(account)
            .context("no such account")?;
        let usable = |a: &Allocation| a.start <= NOW && a.expiry > NOW;
        let free: i64 = own
            .iter()
            .filter(|a| usable(a))
            .map(|a| a.amount - a.held)
            .sum();
        if free < HELD || self.liens.contains_key(&job.id) {
            bail!("refused");
        }
        let (mut left, mut portions) = (HELD, Vec::with_capacity(1));
        for (place, allocation) in own.iter_mut().enumerate().filter(|(_, a)| usable(a)) {
            let part = left.min((allocation.amount - allocation.held).max(0));
            if part > 0 {
                allocation.held += part;
                left -= part;
                portions.push((place, part));
            }
            if left == 0 {
                break;
            }
        }
        self.last_lien += 1;
        let row = account_row(account)?;
        connection
            .prepare_cached("INSERT INTO lien VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
            .execute(params![self.last_lien, job.id, row, HELD, NOW, NOW + 7200])?;
        for (place, part) in &portions {
            let allocation = own.get(*place).context("no such allocation")?;
            connection
                .prepare_cached("INSERT INTO lien_allocation VALUES (?1, ?2, ?3)")?
                .execute((self.last_lien, allocation.id, part))?;
            self.changed.insert((account, *place));
        }
        journal(connection, 1, job, row, HELD)?;
        let lien = Lien {
            id: self.last_lien,
            account,
            portions,
        };
        self.liens.insert(job.id.clone(), lien);
        Ok(())
    }

    fn charge(&mut self, connection: &Connection, job: &Job) -> Result<()> {
        let lien = self.liens.remove(&job.id).context("no such lien")?;
        let mut left = TAKEN;
        let last = lien.portions.len().saturating_sub(1);
        for (n, (place, held)) in lien.portions.iter().enumerate() {
            let own = self.allocations.get_mut(lien.account);
            let allocation = own
                .and_then(|own| own.get_mut(*place))
                .context("no such allocation")?;
            let debit = if n == last { left } else { left.min(*held) };
            left -= debit;
            allocation.amount -= debit;
            allocation.held -= held;
            self.changed.insert((lien.account, *place));
            connection
                .prepare_cached("DELETE FROM lien_allocation WHERE lien = ?1 AND allocation = ?2")?
                .execute((lien.id, allocation.id))?;
        }
        connection
            .prepare_cached("DELETE FROM lien WHERE id = ?1")?
            .execute([lien.id])?;
        let row = account_row(lien.account)?;
        connection
            .prepare_cached(
                "INSERT INTO usage (job, account, charge, processors, wall, start, finish)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .execute(params![job.id, row, TAKEN, 16, 3600, NOW, NOW + 3600])?;
        journal(connection, 2, job, row, TAKEN)
    }

    /// Writes every allocation that changed, once.
    fn flush(&mut self, connection: &Connection) -> Result<()> {
        for (account, place) in self.changed.drain() {
            let own = self.allocations.get(account);
            let allocation = own
                .and_then(|own| own.get(place))
                .context("no such allocation")?;
            connection
                .prepare_cached("UPDATE allocation SET amount = ?1, held = ?2 WHERE id = ?3")?
                .execute((allocation.amount, allocation.held, allocation.id))?;
        }
        Ok(())
    }
}

fn account_row(place: usize) -> Result<i64> {
    Ok(i64::try_from(place)? + 1)
}

fn journal(
    connection: &Connection,
    action: i64,
    job: &Job,
    account: i64,
    amount: i64,
) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO journal (at, action, job, account, amount, detail)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![NOW, action, job.id, account, amount, DETAIL])?;
    Ok(())
}
