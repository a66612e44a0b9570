//! Makes the services of a bank: opens its database, starts the writer and the threads of its record files.
//! The caller starts listeners and timers.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use bank_core::directory::{Directory, FallbackMode};
use bank_core::time::Timestamp;
use bankd_config::data_dir::DataDir;
use bankd_config::{self as config, Config};
use bankd_intake::follow;
use bankd_intake::uploads::Uploads;
use bankd_ledger::access::People;
use bankd_ledger::clock::{self, LedgerClock, Stopwatch};
use bankd_ledger::keys::KeyRing;
use bankd_ledger::obs::Counters;
use bankd_ledger::writer;
use bankd_partners::Partners;
use bankd_records as records;
use bankd_safekeeping::backup::{self, Clerk};
use bankd_safekeeping::checkpoint::{Checkpoints, Keeper};
use bankd_safekeeping::copy::Copies;
use bankd_safekeeping::proof::Prover;
use bankd_store::SqliteStore;
use bankd_store::read::Pool;
use tokio::sync::Semaphore;

use super::limits::Limits;
use super::links::Links;
use super::meets::Meets;
use super::passage::Door;
use super::requests::Requests;
use super::sessions::Sessions;
use super::settings::Settings;
use super::{Services, Thread, cluster};

/// Bodies above `http.body_limit` at once: each is a migration of at most 16 MiB.
const LARGE_BODIES: usize = 4;

/// Everything but the listeners.
///
/// # Errors
/// As [`start_with`].
pub fn start(data: &DataDir, config: &Config) -> Result<(Arc<Services>, records::Drain)> {
    start_with(data, config, clock::for_bank)
}

/// The same with a ledger clock that the caller makes; its argument is true for a test bank.
///
/// # Errors
/// If the bank cannot be opened, its journal is broken, or a thread cannot be started.
pub fn start_with(
    data: &DataDir,
    config: &Config,
    clock: impl FnOnce(bool) -> Result<Arc<dyn LedgerClock>, String>,
) -> Result<(Arc<Services>, records::Drain)> {
    let (database, mut store) = (data.database(), open(data, config)?);
    let bank = store.bank()?;
    check_fallbacks(&store.reference())?;
    warm_up(&store, data.path(), bank.test);
    let clock = clock(bank.test).map_err(anyhow::Error::msg)?;
    let now = store.ledger_now(clock.now());
    let files = records::Files::new(config.sinks(), data.path(), &bank.bank);
    let notices = config.notices();
    let meets = (Meets::new(&notices, &files), now);
    let replica = cluster::replica(&config.cluster, data, &mut store, meets)?;
    let secrets = cluster::secrets(&config.cluster, data, &bank.bank.uuid)?;
    let uses = store.key_uses()?;
    let spent_until_s = spent_until_s(&store, replica.is_none(), now)?;
    let sessions = Sessions::new(store.web_sessions()?, &config.web);
    let (most, keep) = (config.ledger.batch_max, records::keep);
    let started = writer::start_node(store, Arc::clone(&clock), keep, most, replica);
    let (writer, thread) = started.context("cannot start the writer")?;
    let counters = Arc::new(Counters::default());
    let records = records::start(&files, &database, &writer, &counters)
        .context("cannot start the record files")?;
    let services = Arc::new(Services {
        readers: Pool::open(&database)?,
        keys: KeyRing::new(&data.keys(), config.auth.nonces_per_key),
        secrets,
        copies: Arc::new(Copies::new(data)),
        people: People::new(bank.init_uid, config.access.clone()),
        counters,
        requests: Requests::default(),
        files,
        records: records.board(),
        follow: board(&config.follow),
        uploads: Uploads::new(config.uploads()),
        proof: Prover::new(&database),
        checkpoints: Arc::new(checkpoints(data, &config.checkpoint)),
        limits: Limits::new(config.limits.clone()),
        backups: Clerk::new(data, config.backup.clone()),
        slots: Semaphore::new(config.http.concurrency),
        web_slots: Semaphore::new(config.web.concurrency),
        large_bodies: Semaphore::new(LARGE_BODIES),
        sessions,
        links: links(data, config)?,
        spent_until_s,
        started: Stopwatch::start(),
        writer,
        writer_thread: Thread::new(thread),
        clock,
        http: config.http.clone(),
        auth: config.auth.clone(),
        nami: Arc::new(config.nami.clone()),
        gold: config.gold.clone(),
        auditor: config.auditor.clone(),
        web: config.web.in_data(data.path()),
        sources: config.sources.clone(),
        export: config.export.clone(),
        report: config.report.clone(),
        partners: partners(data, config),
        notices: Arc::new(notices),
        settings: Settings::new(config.list(config, &data.config())),
        collectors: Door::default(),
        approval_keep: config.approval.keep(),
    });
    services.keys.reload(&services.writer.directory());
    services.keys.remember_uses(uses);
    Ok((services, records))
}

/// Nonces of requests that were signed until this second are looked up. A node of a cluster always looks.
fn spent_until_s(store: &SqliteStore, is_alone: bool, now: Timestamp) -> Result<i64> {
    if !is_alone {
        return Ok(i64::MAX);
    }
    Ok(store.spent_until(now)?.unwrap_or(i64::MIN))
}

/// The board of the followed files.
fn board(followed: &[config::Follow]) -> follow::Board {
    let files = followed.iter();
    follow::Board::new(files.map(|follow| (follow.source.as_str(), follow.path.as_str())))
}

/// Access to partner banks.
fn partners(data: &DataDir, config: &Config) -> Partners {
    let ca = config::path_in(data.path(), &config.partners.ca).unwrap_or_default();
    Partners::new(&data.keys(), &ca)
}

/// Refuses to start over a broken journal.
fn check_journal(store: &SqliteStore, data: &DataDir) -> Result<()> {
    let database = data.database();
    let (file, folder) = (database.display(), data.path().display());
    let broken = store.broken_journal();
    let unread = || format!("{file}: its journal cannot be read: `bankd verify --data {folder}`");
    match broken.with_context(unread)? {
        Some(finding) => anyhow::bail!(
            "{file}: {finding}. `bankd verify --data {folder}` lists all findings; \
             restore the last good backup"
        ),
        None => Ok(()),
    }
}

/// The signer of checkpoints, and their destination.
fn checkpoints(data: &DataDir, settings: &config::Checkpoint) -> Checkpoints {
    let keeper = Keeper {
        database: data.database(),
        key: data.path().join(&settings.key),
    };
    let folder = data.path().join(&settings.folder);
    Checkpoints::new(keeper, folder, settings.every_s)
}

/// The store with a sound journal.
fn open(data: &DataDir, config: &Config) -> Result<SqliteStore> {
    let mut store = migrated(data, config)?;
    check_journal(&store, data)?;
    store.bound_quarantine_to(config.sources.quarantine_bytes());
    Ok(store)
}

/// Opens the bank; before its schema changes, a backup is made.
fn migrated(data: &DataDir, config: &Config) -> Result<SqliteStore> {
    let kept = backup::before_migration(data, &config.backup)?;
    let opened = if config.cluster.is_on() {
        SqliteStore::open_node(&data.database(), config.policy())
    } else {
        SqliteStore::open(&data.database(), config.policy())
    };
    match (opened, kept) {
        (Err(error), Some(path)) => {
            let backup = format!("the backup from before the migration is {}", path.display());
            Err(anyhow::Error::from(error).context(backup))
        }
        (store, _) => Ok(store?),
    }
}

/// Grows the log to what fits on the disk. It only makes the first commits faster, and a test bank lives too briefly for
/// that.
fn warm_up(store: &SqliteStore, folder: &Path, is_test: bool) {
    if is_test {
        return;
    }
    let free = match rustix::fs::statvfs(folder) {
        Ok(disk) => disk.f_bavail.saturating_mul(disk.f_frsize),
        Err(error) => {
            let path = folder.display();
            tracing::warn!(
                %error, %path,
                "the free space of the disk is unknown: the write-ahead log is not grown"
            );
            return;
        }
    };
    match store.warm_up(free) {
        Ok(0) => tracing::warn!(
            free_bytes = free,
            "the disk has little room: the write-ahead log is not grown"
        ),
        Ok(_) => {}
        Err(error) => tracing::warn!(%error, "the write-ahead log was not grown"),
    }
}

/// The bank's own fallback does not start over settings that make a chain or a loop (nami.md 5).
fn check_fallbacks(directory: &Directory) -> Result<()> {
    let by_bank = directory.policy.fallback == FallbackMode::Bank;
    match directory.fallback_fault().filter(|_| by_bank) {
        Some(name) => anyhow::bail!(
            "account {name} is a fallback account and has a fallback itself: start with \
             fallback.mode = \"scheduler\", remove one fallback with `bank account set` or \
             `bank machine set`, and start again"
        ),
        None => Ok(()),
    }
}

/// What signs addresses of the web pages, if there are pages.
fn links(data: &DataDir, config: &Config) -> Result<Option<Links>> {
    let has_pages = !config.web.listen.is_empty();
    let links = has_pages.then(|| Links::open(data.path())).transpose();
    links.context("cannot read or make web-links.key in the data directory")
}
