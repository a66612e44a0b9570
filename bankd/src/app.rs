//! The composition root: everything that a handler may reach, and the order in which the daemon
//! starts and stops.
//!
//! Start: store, writer, record files, keys, followed files, those who are told, scheduled reports,
//! listeners. Stop: listeners, open requests, followed files, scheduled reports, those who are told,
//! record files, imports, waypoints, writer's queue. Nothing else in the daemon makes a thread that outlives a request, but a backup,
//! which nobody waits for.

use std::future::Future;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result};
use bank_core::directory::{Directory, FallbackMode};
use bank_core::time::Timestamp;
use tokio::net::{TcpListener, UnixListener};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Semaphore, watch};

use crate::access::People;
use crate::auditor::access::{Access, Lists};
use crate::auditor::tls::Tls;
use crate::backup::{self, Clerk};
use crate::checkpoint::{Checkpoints, Keeper};
use crate::clock::{self, LedgerClock, Stopwatch};
use crate::config::Config;
use crate::data_dir::DataDir;
use crate::keys::KeyRing;
use crate::obs::Counters;
use crate::proof::Prover;
use crate::store::{self, SqliteStore};
use crate::uploads::Uploads;
use crate::writer::{self, Writer};
use crate::{attention, auditor, deliver, follow, gold, http, records, reload, schedule, survey};

/// How long open requests may take to end once the daemon stops.
const DRAIN: Duration = Duration::from_secs(10);
/// How often boundaries that have passed are journalled while nobody asks.
const TICK: Duration = Duration::from_secs(1);
/// Ticks from one removal of expired answers to the next.
const PRUNE_TICKS: u32 = 60;

/// The state behind every handler: `State<Arc<App>>`.
pub struct App {
    /// The one way to change the ledger.
    pub writer: Writer,
    /// The thread behind it.
    pub writer_thread: Thread,
    /// Read-only connections.
    pub readers: store::read::Pool,
    /// The settings of the start. Those that change later are kept where they are used.
    pub config: Arc<Config>,
    /// The settings as they were read last.
    settings_read: Mutex<Arc<Config>>,
    /// Signing keys with their secrets.
    pub keys: KeyRing,
    /// When money moves.
    pub clock: Arc<dyn LedgerClock>,
    /// Who is behind a uid of the socket.
    pub people: People,
    /// What is counted since the start.
    pub counters: Arc<Counters>,
    /// Requests by route since the start.
    pub requests: http::meter::Meter,
    /// How the record files stand.
    pub records: records::Board,
    /// How the followed files stand.
    pub follow: follow::Board,
    /// Usage files on their way in.
    pub uploads: Uploads,
    /// Verifications while it serves.
    pub proof: Prover,
    /// Who may do what at AUDITOR's routes.
    pub auditor_access: Lists,
    /// Signed checkpoints while it serves.
    pub checkpoints: Arc<Checkpoints>,
    /// What one client may ask.
    pub limits: http::limits::Limits,
    /// What makes the daemon's own backups.
    pub backups: Clerk,
    /// Room for requests under way.
    pub slots: Semaphore,
    /// The certificates of AUDITOR's listener with TLS.
    pub auditor_tls: Option<Tls>,
    /// When the daemon started.
    pub started: Stopwatch,
}

impl App {
    /// The settings as they were read last.
    pub(crate) fn settings_read(&self) -> Arc<Config> {
        Arc::clone(
            &self
                .settings_read
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }

    /// Remembers settings that were read anew.
    pub(crate) fn settings_were_read(&self, config: Config) {
        let mut read = self
            .settings_read
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *read = Arc::new(config);
    }
}

/// Where requests come in; at least one of the first two.
#[derive(Debug, Default)]
pub struct Listeners {
    /// Signed requests.
    pub tcp: Option<TcpListener>,
    /// Requests of local people and programs.
    pub unix: Option<UnixListener>,
    /// The Gold gateway.
    pub gold: Option<TcpListener>,
    /// AUDITOR's API, without TLS.
    pub auditor: Option<TcpListener>,
    /// The same for callers with a certificate.
    pub auditor_tls: Option<TcpListener>,
}

/// Serves until `shutdown` is done, then drains and returns. `ready` is called when everything is
/// there to answer.
///
/// # Errors
/// If the bank cannot be opened, or the writer ended badly.
pub async fn run(
    data: &DataDir,
    config: Config,
    listeners: Listeners,
    ready: impl FnOnce(),
    shutdown: impl Future<Output = ()>,
) -> Result<()> {
    check_schedules(data, &config).await?;
    let (app, records) = start(data, config)?;
    let followers = follow::start(
        &app.config,
        data.path(),
        &data.database(),
        &app.follow,
        &app.writer,
        &app.clock,
    )
    .context("cannot follow files")?;
    let (database, socket) = (data.database(), data.socket());
    let deliveries = deliver::start(&app.config, data.path(), &database, &app.writer)
        .context("cannot tell what wants attention")?;
    let scheduler = schedule::start(&app.config, (&database, &socket), &app.writer)
        .context("cannot schedule reports")?;
    let (waker, surveyor) =
        survey::start(&database, &app.writer, &app.clock).context("cannot survey the bank")?;
    ready();
    let (stop, stopped) = watch::channel(());
    let ticker = tokio::spawn(tick(Arc::clone(&app), waker, stopped.clone()));
    let watcher = tokio::spawn(attention::watch(Arc::clone(&app), stopped.clone()));
    {
        let served = async {
            tokio::join!(
                http::serve(&app, &listeners, stopped.clone()),
                gold::serve(&app, listeners.gold.as_ref(), stopped.clone()),
                auditor::serve(&app, &database, &listeners, stopped.clone()),
            )
        };
        tokio::pin!(served);
        let early = tokio::select! {
            _ = &mut served => true,
            () = shutdown => false,
        };
        tracing::info!("stopping");
        app.proof.stop();
        scheduler.halt();
        drop(stop);
        if !early && tokio::time::timeout(DRAIN, served).await.is_err() {
            tracing::warn!("requests still open after {} s", DRAIN.as_secs());
        }
    }
    drop(listeners);
    let _ = ticker.await;
    let _ = watcher.await;
    // What gives to the writer first, and the record files: what they have to say is written by it.
    let ended = tokio::task::spawn_blocking(move || {
        followers.stop();
        scheduler.stop();
        deliveries.stop();
        records.stop();
        app.uploads.stop();
        app.proof.join();
        // Nobody wakes it any more.
        let _ = surveyor.join();
        app.writer.stop();
        app.writer_thread.wait()
    });
    anyhow::ensure!(ended.await.unwrap_or(false), "the writer ended badly");
    tracing::info!("stopped");
    Ok(())
}

/// Refuses scheduled reports that could not be made; the program is asked, in a thread that may wait.
async fn check_schedules(data: &DataDir, config: &Config) -> Result<()> {
    let (config, file) = (config.clone(), data.config());
    let checked = tokio::task::spawn_blocking(move || schedule::check::all(&config, &file));
    checked.await?.map_err(anyhow::Error::msg)
}

/// Everything but the listeners.
pub(crate) fn start(data: &DataDir, config: Config) -> Result<(Arc<App>, records::Drain)> {
    start_with(data, config, clock::for_bank)
}

/// The same with a ledger clock that the caller makes; its argument is true for a test bank.
///
/// # Errors
/// If the bank cannot be opened, its journal is broken, or a thread cannot be started.
pub fn start_with(
    data: &DataDir,
    config: Config,
    clock: impl FnOnce(bool) -> Result<Arc<dyn LedgerClock>, String>,
) -> Result<(Arc<App>, records::Drain)> {
    let database = data.database();
    let mut store = open(data, &config)?;
    let (file, folder) = (database.display(), data.path().display());
    let broken = store.broken_journal();
    let unread = || format!("{file}: its journal cannot be read: `bankd verify --data {folder}`");
    if let Some(finding) = broken.with_context(unread)? {
        anyhow::bail!(
            "{file}: {finding}. `bankd verify --data {folder}` tells all that is wrong; \
             restore the last good backup"
        );
    }
    store.bound_quarantine_to(config.sources.quarantine_bytes());
    let bank = store.bank()?;
    check_fallbacks(&store.reference())?;
    // It only makes the first commits faster, and a test bank lives too briefly for that.
    if !bank.test {
        warm_up(&store, data.path());
    }
    let clock = clock(bank.test).map_err(anyhow::Error::msg)?;
    let now = store.ledger_now(clock.now());
    let files = records::Files::new(&config, data.path(), &bank.bank);
    meet(&mut store, &config, &files, now)?;
    let batch_max = config.ledger.batch_max;
    let uses = store.key_uses()?;
    let (writer, thread) = writer::start(store, Arc::clone(&clock), records::keep, batch_max)
        .context("cannot start the writer")?;
    let counters = Arc::new(Counters::default());
    let records = records::start(&files, &database, &writer, &counters)
        .context("cannot start the record files")?;
    let config = Arc::new(config);
    let app = Arc::new(App {
        readers: store::read::Pool::open(&database)?,
        keys: KeyRing::new(&data.keys(), config.auth.nonces_per_key),
        people: People::new(bank.init_uid, config.access.clone()),
        counters,
        requests: http::meter::Meter::default(),
        records: records.board(),
        follow: follow::Board::new(
            config
                .follow
                .iter()
                .map(|follow| (follow.source.as_str(), follow.path.as_str())),
        ),
        uploads: Uploads::new(config.uploads()),
        proof: Prover::new(&database),
        checkpoints: Arc::new(checkpoints(data, &config)),
        limits: http::limits::Limits::new(config.limits.clone()),
        backups: Clerk::new(data, config.backup.clone()),
        slots: Semaphore::new(config.http.concurrency),
        auditor_tls: certificates(data, &config)?,
        auditor_access: Lists::new(Access::from(&config.auditor.access)),
        started: Stopwatch::start(),
        writer,
        writer_thread: Thread::new(thread),
        settings_read: Mutex::new(Arc::clone(&config)),
        config,
        clock,
    });
    app.keys.reload(&app.writer.directory());
    app.keys.remember_uses(uses);
    Ok((app, records))
}

/// Tells the store what the settings name.
fn meet(
    store: &mut SqliteStore,
    config: &Config,
    files: &records::Files,
    now: Timestamp,
) -> Result<()> {
    store.meet_targets(&deliver::targets(config), now)?;
    store.meet_schedules(&schedule::rows(config, now))?;
    for sink in files.sinks() {
        store.meet_sink(&sink.name, &sink.settings)?;
    }
    Ok(())
}

/// What signs checkpoints, and where they go.
fn checkpoints(data: &DataDir, config: &Config) -> Checkpoints {
    let settings = &config.checkpoint;
    let keeper = Keeper {
        database: data.database(),
        key: data.path().join(&settings.key),
    };
    let folder = data.path().join(&settings.folder);
    Checkpoints::new(keeper, folder, settings.every_s)
}

/// Opens the bank; before its schema changes, a backup is made.
fn open(data: &DataDir, config: &Config) -> Result<SqliteStore> {
    let kept = backup::before_migration(data, config)?;
    match (SqliteStore::open(&data.database(), config.policy()), kept) {
        (Err(error), Some(path)) => {
            let told = format!("as the bank was it is in {}", path.display());
            Err(anyhow::Error::from(error).context(told))
        }
        (store, _) => Ok(store?),
    }
}

/// What AUDITOR's listener with TLS shows, and whom it lets in.
fn certificates(data: &DataDir, config: &Config) -> Result<Option<Tls>> {
    let settings = &config.auditor.tls;
    if settings.listen.is_empty() {
        return Ok(None);
    }
    let tls = Tls::load(settings, data.path(), clock::auth_now_s());
    tls.map(Some).map_err(anyhow::Error::msg)
}

/// Grows the log to what fits on the disk.
fn warm_up(store: &SqliteStore, folder: &Path) {
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
            "account {name} stands in for another and falls back itself: start with \
             fallback.mode = \"scheduler\", take one fallback away with `bank account set` or \
             `bank machine set`, and start again"
        ),
        None => Ok(()),
    }
}

/// Journals boundaries that have passed, removes expired answers and begins backups that are due; reads
/// anew what can be when asked to (SIGHUP).
async fn tick(app: Arc<App>, survey: survey::Waker, mut stopped: watch::Receiver<()>) {
    let mut interval = tokio::time::interval(TICK);
    interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
    let mut hangup = signal(SignalKind::hangup()).ok();
    let mut hung_up = async || match &mut hangup {
        Some(hangup) => hangup.recv().await,
        None => std::future::pending().await,
    };
    let mut until_prune = 0;
    let mut kept_uses = app.keys.uses();
    loop {
        tokio::select! {
            _ = interval.tick() => {
                if app.writer.look().await.is_err() {
                    tracing::debug!("boundaries are left for the next command");
                }
                survey.wake();
                app.uploads.expire(&app.writer);
                app.checkpoints.tick(&app.proof, clock::real_us());
                if until_prune == 0 {
                    app.backups.look();
                    let may_be_more = app.writer.prune().await.unwrap_or(false);
                    until_prune = if may_be_more { 1 } else { PRUNE_TICKS };
                    keep_uses(&app, &mut kept_uses).await;
                }
                until_prune -= 1;
            }
            _ = hung_up() => {
                reload::reload(&app).await;
            }
            _ = stopped.changed() => return,
        }
    }
}

/// Writes down when keys and tokens were used, to the minute, where that has changed.
async fn keep_uses(app: &App, kept: &mut Vec<(String, i64)>) {
    let to_minute = |(id, used_s): (String, i64)| (id, used_s - used_s.rem_euclid(60));
    let now: Vec<(String, i64)> = app.keys.uses().into_iter().map(to_minute).collect();
    let new = now.iter().filter(|one| !kept.contains(one)).cloned();
    let new: Vec<(String, i64)> = new.collect();
    if !new.is_empty() && app.writer.keep_uses(new).await.is_ok() {
        *kept = now;
    }
}

/// The writer's thread, to be asked after and waited for.
#[derive(Debug)]
pub struct Thread(Mutex<Option<JoinHandle<()>>>);

impl Thread {
    fn new(handle: JoinHandle<()>) -> Self {
        Self(Mutex::new(Some(handle)))
    }

    /// Whether it has ended.
    pub fn is_finished(&self) -> bool {
        let handle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        handle.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for its end; false if it ended by a panic.
    pub(crate) fn wait(&self) -> bool {
        let handle = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        handle.is_none_or(|handle| handle.join().is_ok())
    }
}
