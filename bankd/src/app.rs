//! The composition root: everything that a handler may reach, and the order in which the daemon
//! starts and stops.
//!
//! Start: store, writer, record files, keys, listeners. Stop: listeners, open requests, writer's
//! queue, record files. Nothing else in the daemon makes a thread that outlives a request.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{Semaphore, watch};

use crate::access::People;
use crate::clock::{self, LedgerClock, Stopwatch};
use crate::config::Config;
use crate::keys::KeyRing;
use crate::obs::Counters;
use crate::store::{self, SqliteStore};
use crate::writer::{self, Writer};
use crate::{http, records};

/// How long open requests may take to end once the daemon stops.
const DRAIN: Duration = Duration::from_secs(10);
/// How often boundaries that have passed are journalled while nobody asks.
const TICK: Duration = Duration::from_secs(1);

/// The state behind every handler: `State<Arc<App>>`.
pub struct App {
    /// The one way to change the ledger.
    pub writer: Writer,
    /// Read-only connections.
    pub readers: store::read::Pool,
    /// The settings in force.
    pub config: Arc<Config>,
    /// Signing keys with their secrets.
    pub keys: KeyRing,
    /// When money moves.
    pub clock: Arc<dyn LedgerClock>,
    /// Who is behind a uid of the socket.
    pub people: People,
    /// What is counted since the start.
    pub counters: Counters,
    /// Room for requests under way.
    pub slots: Semaphore,
    /// When the daemon started.
    pub started: Stopwatch,
}

/// The files of a data directory (decision 4).
#[derive(Clone, Debug)]
pub struct DataDir(PathBuf);

impl DataDir {
    /// A data directory, there or not.
    pub fn new(path: &Path) -> Self {
        Self(path.to_owned())
    }

    /// The directory itself.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The database.
    pub fn database(&self) -> PathBuf {
        self.0.join("bank.db")
    }

    /// The settings.
    pub fn config(&self) -> PathBuf {
        self.0.join("bankd.toml")
    }

    /// The secrets.
    pub fn keys(&self) -> PathBuf {
        self.0.join("keys")
    }

    /// The socket.
    pub fn socket(&self) -> PathBuf {
        self.0.join("bankd.sock")
    }

    /// The lock that the serving daemon holds.
    pub fn lock(&self) -> PathBuf {
        self.0.join("bankd.lock")
    }
}

/// Where requests come in; at least one of the two.
#[derive(Debug, Default)]
pub struct Listeners {
    /// Signed requests.
    pub tcp: Option<TcpListener>,
    /// Requests of local people and programs.
    pub unix: Option<UnixListener>,
}

/// Serves until `shutdown` is done, then drains and returns.
pub async fn run(
    data: &DataDir,
    config: Config,
    listeners: Listeners,
    shutdown: impl Future<Output = ()>,
) -> Result<()> {
    let database = data.database();
    let config = Arc::new(config);
    let store = SqliteStore::open(&database, config.policy())
        .with_context(|| format!("cannot open {}", database.display()))?;
    let bank = store.bank().clone();
    let clock = clock::for_bank(bank.test).map_err(anyhow::Error::msg)?;
    let files = records::Files::new(&config, data.path(), &bank.bank);
    let (writer, thread) = writer::start(store, Arc::clone(&clock), files.renderer())
        .context("cannot start the writer")?;
    let records = records::start(files, &database, writer.clone())?;
    let app = Arc::new(App {
        readers: store::read::Pool::open(&database)
            .with_context(|| format!("cannot open {} for reading", database.display()))?,
        keys: KeyRing::new(&data.keys(), config.auth.nonces_per_key),
        people: People::new(bank.init_uid, config.access.clone()),
        counters: Counters::default(),
        slots: Semaphore::new(config.http.concurrency),
        started: Stopwatch::start(),
        writer: writer.clone(),
        config,
        clock,
    });
    app.keys.reload(&app.writer.directory());

    let (stop, stopped) = watch::channel(());
    let ticker = tokio::spawn(tick(Arc::clone(&app), stopped.clone()));
    let served = http::serve(&app, listeners, stopped);
    tokio::pin!(served);
    let early = tokio::select! {
        result = &mut served => Some(result),
        () = shutdown => None,
    };
    tracing::info!("stopping");
    drop(stop);
    match early {
        Some(result) => result?,
        None => match tokio::time::timeout(DRAIN, served).await {
            Ok(result) => result?,
            Err(_) => tracing::warn!("requests still open after {} s", DRAIN.as_secs()),
        },
    }
    let _ = ticker.await;
    drop(app);
    tokio::task::spawn_blocking(move || {
        writer.stop();
        let writer_ended = thread.join().is_ok();
        records.stop();
        writer_ended
    })
    .await
    .ok()
    .filter(|ended| *ended)
    .context("the writer ended badly")?;
    Ok(())
}

/// Journals boundaries that have passed, and forgets answers whose time is over.
async fn tick(app: Arc<App>, mut stopped: watch::Receiver<()>) {
    let mut interval = tokio::time::interval(TICK);
    interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
    loop {
        tokio::select! {
            _ = interval.tick() => {
                if app.writer.settle().await.is_err() {
                    tracing::debug!("boundaries are left for the next command");
                }
            }
            _ = stopped.changed() => return,
        }
    }
}
