//! A node of a cluster: its log, the thread that keeps its lease, and what it does when it becomes the writer.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use anyhow::{Context as _, Result};
use bank_core::time::Timestamp;
use bankd_cluster::{Log, Node, PostgresLog, Settings, is_running};
use bankd_config as config;
use bankd_config::data_dir::DataDir;
use bankd_ledger::clock;
use bankd_ledger::writer::{Cluster, Keeper, Replica};
use bankd_store::SqliteStore;

use super::meets::Meets;
use super::secrets::Secrets;

/// The node of the settings for the writer thread, which stores what the settings name when it becomes the writer. None
/// for a bank on a single machine, which stores that now.
///
/// # Errors
/// If the settings do not fit the file, another process runs as this node, or the thread of the lease cannot be started. A log that cannot be reached is
/// no error: the node follows when it can.
pub(super) fn replica(
    settings: &config::Cluster,
    data: &DataDir,
    store: &mut SqliteStore,
    (meets, now): (Meets, Timestamp),
) -> Result<Option<Replica>> {
    if !settings.is_on() {
        meets.alone(store, now)?;
        return Ok(None);
    }
    let place = store.place()?.unwrap_or_default();
    anyhow::ensure!(
        place.node == settings.node,
        "cluster.node is {:?}, and the file is node {:?}: correct the setting, or run `bankd cluster join`",
        settings.node,
        place.node
    );
    let bank = store.bank()?.bank.uuid;
    let log = || open_log(settings, data.path(), &bank);
    let (name, address) = (&settings.node, &settings.address);
    // The directory is locked: what reports has another one. A log that is away is asked by nobody now.
    let mut asked = log()?;
    let runs = std::thread::scope(|scope| {
        let waits = scope.spawn(|| is_running(&mut asked, name).unwrap_or(false));
        waits.join().unwrap_or(false)
    });
    anyhow::ensure!(
        !runs,
        "node {name} runs already with another directory, and this one may be a copy of it: stop that node first, or \
         make the copy a bank on a single machine with `bankd restore --rekey` or `bankd cluster leave --force`"
    );
    let node = Node::new(log()?, name, address, settings.lease(), clock::real_us);
    let (wake, woken) = sync_channel(1);
    let cluster = Arc::new(Cluster::new(name, address, settings.lease(), wake));
    Keeper::start(log()?, &cluster, woken).context("cannot keep a lease")?;
    let on_lead = move |store: &mut SqliteStore, now| {
        store.move_sinks()?;
        meets.store(store, now)
    };
    Ok(Some(Replica::new(node, cluster, Box::new(on_lead))))
}

/// The secrets of keys in the log of the settings. Nothing is sent yet.
///
/// # Errors
/// If a setting is wrong.
pub(super) fn secrets(settings: &config::Cluster, data: &DataDir, bank: &str) -> Result<Secrets> {
    let log = settings
        .is_on()
        .then(|| open_log(settings, data.path(), bank));
    Ok(Secrets::new(log.transpose()?))
}

/// The log of the settings. Nothing is sent yet.
///
/// # Errors
/// If a setting is wrong.
pub fn open_log(settings: &config::Cluster, data: &Path, bank: &str) -> Result<Box<dyn Log>> {
    Ok(Box::new(PostgresLog::new(&log_settings(
        settings, data, bank,
    ))?))
}

/// What the log is opened with.
pub fn log_settings(settings: &config::Cluster, data: &Path, bank: &str) -> Settings {
    Settings {
        address: settings.log.clone(),
        password: None,
        ca: config::path_in(data, &settings.ca),
        bank: bank.to_owned(),
    }
}
