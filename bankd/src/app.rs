//! The composition root: the order in which the daemon starts and stops. Nothing but the commands of the
//! program uses it.
//!
//! Start order: store, writer, record files, keys, followed files, notification targets, partners,
//! scheduled reports, listeners. Stop order: listeners, open requests, followed files, scheduled reports,
//! notification targets, partners, record files, imports, waypoints, writer's queue. No other daemon thread
//! outlives a request, except a backup; the stop does not wait for it.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result};
use bankd_auditor as auditor;
use bankd_auditor::Gate;
use bankd_config::data_dir::DataDir;
use bankd_config::{Config, Notices};
use bankd_gold as gold;
use bankd_http as http;
use bankd_intake::follow::{self, Followers};
use bankd_ledger::{clock, survey};
use bankd_notices::attention;
use bankd_notices::deliver::{self, Deliveries};
use bankd_notices::schedule::{self, Scheduler};
use bankd_partners::deliver as partners;
use bankd_records::Drain;
use bankd_services::{Services, start};
use bankd_store::web_session::web_sessions;
use bankd_web as web;
use tokio::net::{TcpListener, UnixListener};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::reload::Reload;

/// How long open requests may take to end once the daemon stops.
const DRAIN: Duration = Duration::from_secs(10);
/// Interval at which passed boundaries are journalled when no request arrives.
const TICK: Duration = Duration::from_secs(1);
/// Ticks from one removal of expired answers to the next.
const PRUNE_TICKS: u32 = 60;

/// Listeners for requests; at least one of the first two is set.
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
    /// The web pages.
    pub web: Option<TcpListener>,
}

/// Serves until `shutdown` is done, then drains and returns. `ready` is called when everything is
/// there to answer.
///
/// # Errors
/// If the bank cannot be opened, or the writer thread failed.
pub async fn run(
    data: &DataDir,
    config: Config,
    listeners: Listeners,
    ready: impl FnOnce(&Arc<Services>),
    shutdown: impl Future<Output = ()>,
) -> Result<()> {
    check_schedules(data, config.notices()).await?;
    let (daemon, waker) = Daemon::start(data, &config)?;
    web::announce(&daemon.services, listeners.web.as_ref());
    ready(&daemon.services);
    let (stop, stopped) = watch::channel(());
    let ticker = tokio::spawn(tick(
        Arc::clone(&daemon.services),
        Arc::clone(&daemon.gate),
        Reload::new(config),
        waker,
        stopped.clone(),
    ));
    let bank = attention::Bank {
        settings: Arc::clone(&daemon.services.notices),
        writer: daemon.services.writer.clone(),
        readers: daemon.services.readers.clone(),
    };
    let watcher = tokio::spawn(attention::watch(bank, stopped.clone()));
    let keeper = tokio::spawn(keep_keys(Arc::clone(&daemon.services), stopped.clone()));
    {
        let served = daemon.serve(&listeners, stopped);
        tokio::pin!(served);
        let early = tokio::select! {
            () = &mut served => true,
            () = shutdown => false,
        };
        tracing::info!("stopping");
        daemon.services.proof.stop();
        daemon.scheduler.halt();
        drop(stop);
        if !early && tokio::time::timeout(DRAIN, served).await.is_err() {
            tracing::warn!("requests still open after {} s", DRAIN.as_secs());
        }
    }
    drop(listeners);
    let _ = ticker.await;
    let _ = watcher.await;
    let _ = keeper.await;
    let ended = tokio::task::spawn_blocking(move || daemon.end());
    anyhow::ensure!(ended.await.unwrap_or(false), "the writer thread failed");
    tracing::info!("stopped");
    Ok(())
}

/// Tasks and services that run beside the listeners.
struct Daemon {
    services: Arc<Services>,
    gate: Arc<Gate>,
    database: PathBuf,
    followers: Followers,
    deliveries: Deliveries,
    partners: partners::Deliveries,
    scheduler: Scheduler,
    surveyor: JoinHandle<()>,
    records: Drain,
}

impl Daemon {
    /// Makes the services and starts the threads.
    fn start(data: &DataDir, config: &Config) -> Result<(Self, survey::Waker)> {
        let (services, records) = start::start(data, config)?;
        let gate = Arc::new(Gate::open(&services.auditor, data.path())?);
        let (database, socket) = (data.database(), data.socket());
        let followers = follow::start(
            &config.follow,
            data.path(),
            &database,
            &services.follow,
            &services.writer,
            &services.clock,
        )
        .context("cannot follow files")?;
        let deliveries =
            deliver::start(&services.notices, data.path(), &database, &services.writer)
                .context("cannot deliver notices")?;
        let (known, writer) = (&services.partners, &services.writer);
        let partners = partners::start(known, &database, writer)
            .context("cannot deliver messages to partners")?;
        let scheduler = schedule::start(&services.notices, (&database, &socket), &services.writer)
            .context("cannot schedule reports")?;
        let (waker, surveyor) = survey::start(&database, &services.writer, &services.clock)
            .context("cannot survey the bank")?;
        let daemon = Self {
            services,
            gate,
            database,
            followers,
            deliveries,
            partners,
            scheduler,
            surveyor,
            records,
        };
        Ok((daemon, waker))
    }

    /// Serves every listener until the sender of `stopped` is gone and every open request is answered.
    async fn serve(&self, listeners: &Listeners, stopped: watch::Receiver<()>) {
        let (tcp, unix) = (listeners.tcp.as_ref(), listeners.unix.as_ref());
        let doors = auditor::Doors {
            plain: listeners.auditor.as_ref(),
            secure: listeners.auditor_tls.as_ref(),
        };
        let services = &self.services;
        tokio::join!(
            http::serve(services, tcp, unix, stopped.clone()),
            gold::serve(services, listeners.gold.as_ref(), stopped.clone()),
            web::serve(services, listeners.web.as_ref(), stopped.clone()),
            auditor::serve(services, &self.gate, &self.database, doors, stopped),
        );
    }

    /// Stops the threads, the writer last: the others give to it, and it keeps how far record files are. False
    /// if it ended badly.
    fn end(self) -> bool {
        self.followers.stop();
        self.scheduler.stop();
        self.deliveries.stop();
        self.partners.stop();
        self.records.stop();
        self.services.uploads.stop();
        self.services.proof.join();
        // No sender is left to wake it.
        let _ = self.surveyor.join();
        self.services.writer.stop();
        self.services.writer_thread.wait()
    }
}

/// Refuses scheduled reports that could not be made; the program is asked, in a thread that may wait.
async fn check_schedules(data: &DataDir, settings: Notices) -> Result<()> {
    let file = data.config();
    let checked = tokio::task::spawn_blocking(move || schedule::check::all(&settings, &file));
    checked.await?.map_err(anyhow::Error::msg)
}

/// Journals passed boundaries, removes expired answers and starts due backups. Reloads the
/// configuration on SIGHUP.
async fn tick(
    services: Arc<Services>,
    gate: Arc<Gate>,
    mut reload: Reload,
    survey: survey::Waker,
    mut stopped: watch::Receiver<()>,
) {
    let mut interval = tokio::time::interval(TICK);
    interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
    let mut hangup = signal(SignalKind::hangup()).ok();
    let mut hung_up = async || match &mut hangup {
        Some(hangup) => hangup.recv().await,
        None => std::future::pending().await,
    };
    let mut until_prune = 0;
    let mut kept_uses = services.keys.uses();
    loop {
        tokio::select! {
            _ = interval.tick() => {
                if services.writer.cluster().is_some() {
                    refresh_sessions(&services).await;
                }
                if !services.writer.is_writing() {
                    until_prune = if until_prune == 0 { PRUNE_TICKS } else { until_prune - 1 };
                    if until_prune == 0 {
                        services.sessions.keep(&services.writer).await;
                    }
                    continue;
                }
                if services.writer.look().await.is_err() {
                    tracing::debug!("boundaries are left for the next command");
                }
                survey.wake();
                services.uploads.expire(&services.writer);
                services.checkpoints.tick(&services.proof, clock::real_us());
                if until_prune == 0 {
                    services.backups.look();
                    let may_be_more = services.writer.prune().await.unwrap_or(false);
                    until_prune = if may_be_more { 1 } else { PRUNE_TICKS };
                    keep_uses(&services, &mut kept_uses).await;
                    services.sessions.keep(&services.writer).await;
                }
                until_prune -= 1;
            }
            _ = hung_up() => {
                reload.run(&services, &gate).await;
            }
            _ = stopped.changed() => return,
        }
    }
}

/// Keys of a cluster come and go with the entries of the log: reads them again when an entry changed reference data, and
/// their secrets with them.
async fn keep_keys(services: Arc<Services>, mut stopped: watch::Receiver<()>) {
    let Some(cluster) = services.writer.cluster() else {
        return;
    };
    let mut moved = cluster.moved();
    let mut interval = tokio::time::interval(TICK);
    interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
    let mut keys_of = None;
    loop {
        let is_tick = tokio::select! {
            _ = interval.tick() => true,
            _ = moved.changed() => false,
            _ = stopped.changed() => return,
        };
        let directory = services.writer.directory();
        let is_same = keys_of
            .as_ref()
            .is_some_and(|old| Arc::ptr_eq(old, &directory));
        if is_tick {
            services.copies.expire();
        }
        if is_tick || !is_same {
            services
                .secrets
                .look(&services.keys, &services.writer)
                .await;
        }
        if !is_same {
            services.keys.reload(&directory);
            keys_of = Some(directory);
        }
    }
}

/// Reads the sessions that people began and ended on the web pages of other nodes.
async fn refresh_sessions(services: &Services) {
    match services.readers.run(web_sessions).await {
        Ok(stored) => services.sessions.refresh(stored),
        Err(error) => tracing::debug!(?error, "the sessions of other nodes are read later"),
    }
}

/// Writes down when keys and tokens were used, to the minute, where that has changed.
async fn keep_uses(services: &Services, kept: &mut Vec<(String, i64)>) {
    let to_minute = |(id, used_s): (String, i64)| (id, used_s - used_s.rem_euclid(60));
    let now: Vec<(String, i64)> = services.keys.uses().into_iter().map(to_minute).collect();
    let new = now.iter().filter(|one| !kept.contains(one)).cloned();
    let new: Vec<(String, i64)> = new.collect();
    if !new.is_empty() && services.writer.keep_uses(new).await.is_ok() {
        *kept = now;
    }
}
