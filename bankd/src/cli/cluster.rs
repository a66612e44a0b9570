//! `bankd cluster`: makes a bank a node of a cluster, and shows and changes the cluster.

mod join;

use anyhow::{Context as _, Result, bail, ensure};
use bank_api::exit::bank as exit;
use bank_core::directory::Policy;
use bankd_cluster::{Appended, Entry, Log, NodeRow, PostgresLog, is_running};
use bankd_config::{Cluster, data_dir};
use bankd_ledger::keys::new_secret;
use bankd_ledger::writer::opening_body;
use bankd_services::cluster::log_settings;
use bankd_services::secrets::compare;
use bankd_store::SqliteStore;
use bankd_store::replica::Place;
use clap::Subcommand;
use std::cmp::Reverse;

use super::{Data, Failure, exists, settings, unchecked};

/// Age of the last report of a node that may be removed from another machine, in milliseconds.
const GONE_MS: i64 = 60_000;

/// `bankd cluster`.
#[derive(Debug, Subcommand)]
pub(super) enum ClusterCommands {
    /// Make a bank the first node of a cluster; the daemon must be stopped
    Init {
        #[command(flatten)]
        data: Data,
    },
    /// Make a further node from a copy of another node, or from a restored backup
    Join {
        #[command(flatten)]
        data: Data,
        /// The node to copy [default: the first that answers, followers first]
        #[arg(long, value_name = "NODE", conflicts_with = "restored")]
        from: Option<String>,
        /// Use the bank in the directory, which is a restored backup of a node
        #[arg(long)]
        restored: bool,
        /// The bank, if the log contains several
        #[arg(long, value_name = "UUID", conflicts_with = "restored")]
        bank: Option<String>,
        /// Seconds that the copy may take
        #[arg(long, value_name = "SECONDS", default_value_t = 14_400,
              value_parser = clap::value_parser!(u64).range(1..=604_800))]
        timeout: u64,
    },
    /// Make a node a bank on a single machine again; the daemon must be stopped
    Leave {
        #[command(flatten)]
        data: Data,
        /// Leave also if the log cannot be reached, or if the directory is a copy of a node that runs
        #[arg(long)]
        force: bool,
    },
    /// Remove a node that is gone for good, such as one whose machine is lost; run it on another node
    Remove {
        #[command(flatten)]
        data: Data,
        /// The node that is gone
        #[arg(value_name = "NODE")]
        node: String,
    },
    /// Show the writer, the nodes with their positions, and unsafe settings of the log's database
    Status {
        #[command(flatten)]
        data: Data,
    },
    /// Make another node the writer
    Promote {
        #[command(flatten)]
        data: Data,
        /// The next writer
        #[arg(value_name = "NODE")]
        node: String,
    },
    /// Delete entries of the log that every node contains
    Trim {
        #[command(flatten)]
        data: Data,
        /// Number of the newest of these entries to keep
        #[arg(long, value_name = "N", default_value_t = 10_000,
              value_parser = clap::value_parser!(i64).range(1..))]
        keep: i64,
    },
}

pub(super) fn run(command: &ClusterCommands) -> Result<u8, Failure> {
    let (ClusterCommands::Init { data }
    | ClusterCommands::Join { data, .. }
    | ClusterCommands::Leave { data, .. }
    | ClusterCommands::Remove { data, .. }
    | ClusterCommands::Status { data }
    | ClusterCommands::Promote { data, .. }
    | ClusterCommands::Trim { data, .. }) = command;
    let fetch = join::Fetch::of(command);
    let config = if fetch.is_some() {
        // The secrets of keys that the settings name are fetched too.
        unchecked(&data.dir())?
    } else {
        exists(&data.dir())?;
        settings(&data.dir())?
    };
    let cluster = config.cluster;
    let is_forced = matches!(command, ClusterCommands::Leave { force: true, .. });
    if !cluster.is_on() && !is_forced {
        return Err(Failure {
            error: anyhow::anyhow!("no cluster: the setting cluster.log is empty"),
            code: exit::USAGE,
            hint: Some(
                "set cluster.log, cluster.node and cluster.address in bankd.toml".to_owned(),
            ),
        });
    }
    match command {
        ClusterCommands::Init { .. } => init(data, &cluster)?,
        ClusterCommands::Join { .. } => match fetch {
            Some(fetch) => join::fetched(&data.dir(), &cluster, &fetch)?,
            None => join::restored(&data.dir(), &cluster)?,
        },
        ClusterCommands::Leave { force, .. } => leave(data, &cluster, *force)?,
        ClusterCommands::Remove { node, .. } => remove(&mut *log(data, &cluster)?, node)?,
        ClusterCommands::Status { .. } => status(&mut *log(data, &cluster)?)?,
        ClusterCommands::Promote { node, .. } => promote(&mut *log(data, &cluster)?, node)?,
        ClusterCommands::Trim { keep, .. } => trim(&mut *log(data, &cluster)?, *keep)?,
    }
    Ok(exit::DONE)
}

/// The log of the bank in a data directory.
fn log(data: &Data, cluster: &Cluster) -> Result<Box<PostgresLog>> {
    let dir = data.dir();
    let reader = bankd_store::open_reader(&dir.database())?;
    let bank = bankd_store::bank::read(&reader)?.bank.uuid;
    Ok(Box::new(PostgresLog::connect(&log_settings(
        cluster,
        dir.path(),
        &bank,
    ))?))
}

fn init(data: &Data, cluster: &Cluster) -> Result<()> {
    let dir = data.dir();
    let _lock = data_dir::lock(&dir)?;
    let mut store = SqliteStore::open(&dir.database(), Policy::default())?;
    let bank = store.bank()?.bank.uuid;
    let mut log = PostgresLog::new(&log_settings(cluster, dir.path(), &bank))?;
    log.create().context("cannot make the tables of the log")?;
    log.secret(new_secret()?.bytes())?;
    compare(&mut log, &dir.keys(), &store.reference(), true).map_err(anyhow::Error::msg)?;
    let hash = store.last_hash().to_vec();
    // A first attempt may have ended before the file was marked.
    if log.last()? > 1 || log.find(1)?.is_some_and(|first| first.hash_after != hash) {
        bail!("the log contains this bank already: make a further node with `bankd cluster join`");
    }
    let lease = log.take(&cluster.node, &cluster.address, cluster.lease())?;
    let lease = lease.context("another node has the lease of this bank")?;
    let first = Entry {
        position: 1,
        epoch: lease.epoch,
        batch: *uuid::Uuid::new_v4().as_bytes(),
        body: opening_body(),
        hash_before: hash.clone(),
        hash_after: hash,
        at_us: bankd_ledger::clock::real_us(),
    };
    let first = match log.append(&first)? {
        Appended::Done => first,
        Appended::Taken => log.find(1)?.context("the log changed meanwhile")?,
    };
    store.join(Some(&Place {
        node: cluster.node.clone(),
        position: first.position,
        epoch: first.epoch,
    }))?;
    log.hand_over(&cluster.node, lease.epoch, None)?;
    report(&mut log, cluster, first.position)?;
    say!(
        "{} is the first node of the cluster, at position {}",
        cluster.node,
        first.position
    );
    warn(&mut log)
}

fn report(log: &mut impl Log, cluster: &Cluster, applied: i64) -> Result<()> {
    let row = NodeRow {
        node: cluster.node.clone(),
        address: cluster.address.clone(),
        applied,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        age_ms: 0,
    };
    Ok(log.report(&row)?)
}

fn warn(log: &mut impl Log) -> Result<()> {
    for warning in log.warnings()? {
        say!("warning: {warning}");
    }
    Ok(())
}

fn leave(data: &Data, cluster: &Cluster, force: bool) -> Result<()> {
    let dir = data.dir();
    let _lock = data_dir::lock(&dir)?;
    let mut store = SqliteStore::open_node(&dir.database(), Policy::default())?;
    let node = store.place()?.unwrap_or_default().node;
    let done = log(data, cluster).and_then(|mut log| {
        ensure!(
            !is_running(&mut *log, &node)?,
            "node {node} runs with another directory, and this is a copy of it"
        );
        if let Some(lease) = log.lease()?.filter(|lease| lease.node == node) {
            log.hand_over(&node, lease.epoch, None)?;
        }
        Ok(log.leave(&node)?)
    });
    match done {
        Err(error) if !force => {
            return Err(error.context("the node stays in the cluster; --force leaves nevertheless"));
        }
        _ => {}
    }
    store.join(None)?;
    say!(
        "{node} left the cluster: the file is a bank on a single machine; remove cluster.log from bankd.toml"
    );
    Ok(())
}

fn remove(log: &mut impl Log, node: &str) -> Result<()> {
    let rows = log.nodes()?;
    let Some(row) = rows.iter().find(|row| row.node == node) else {
        bail!("no node {node}: `bankd cluster status` lists them");
    };
    if row.age_ms < GONE_MS {
        bail!(
            "node {node} reported {} ms ago: if it runs, stop it and run `bankd cluster leave` on its machine. A node that \
             is gone can be removed {} s after its last report",
            row.age_ms,
            GONE_MS / 1_000
        );
    }
    log.leave(node)?;
    say!("{node} is removed: `bankd cluster trim` keeps no more entries for it");
    Ok(())
}

fn status(log: &mut impl Log) -> Result<()> {
    let (first, last) = (log.first()?, log.last()?);
    match log.lease()? {
        Some(lease) if lease.node.is_empty() => {
            say!(
                "writer   none: handed over {} ms ago, epoch {}",
                lease.age_ms,
                lease.epoch
            );
        }
        Some(lease) => say!(
            "writer   {} at {}, epoch {}, seen {} ms ago",
            lease.node,
            lease.address,
            lease.epoch,
            lease.age_ms
        ),
        None => say!("writer   none yet"),
    }
    say!("log      entries {first} to {last}");
    for row in log.nodes()? {
        let behind = last.saturating_sub(row.applied);
        say!(
            "node     {} at {}, position {} ({behind} behind), bankd {}, seen {} ms ago",
            row.node,
            row.address,
            row.applied,
            row.version,
            row.age_ms
        );
    }
    warn(log)
}

fn promote(log: &mut impl Log, node: &str) -> Result<()> {
    if !log.nodes()?.iter().any(|row| row.node == node) {
        bail!("no node {node}: `bankd cluster status` lists them");
    }
    let Some(lease) = log.lease()?.filter(|lease| !lease.node.is_empty()) else {
        bail!("no node writes now: one takes the lease by itself within a few seconds");
    };
    if lease.node == node {
        say!("{node} writes already");
        return Ok(());
    }
    if !log.hand_over(&lease.node, lease.epoch, Some(node))? {
        bail!("the writer changed meanwhile: look at `bankd cluster status`");
    }
    say!("the lease is handed over from {} to {node}", lease.node);
    Ok(())
}

fn trim(log: &mut impl Log, keep: i64) -> Result<()> {
    let rows = log.nodes()?;
    let key = |row: &&NodeRow| (row.applied, Reverse(row.age_ms));
    let Some(slowest) = rows.iter().min_by_key(key) else {
        bail!("no node is known");
    };
    let applied = slowest.applied;
    let gone = log.trim(applied.saturating_sub(keep))?;
    say!("deleted {gone} entries: every node contains those up to {applied}");
    let last = log.last()?;
    if slowest.age_ms >= GONE_MS && applied < last {
        say!(
            "warning: the log keeps {} entries for node {}, which reported {} s ago: start it, or run `bankd cluster remove {}` \
             if it is gone",
            last - applied,
            slowest.node,
            slowest.age_ms / 1_000,
            slowest.node
        );
    }
    Ok(())
}
