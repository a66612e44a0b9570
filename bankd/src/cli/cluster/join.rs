//! `bankd cluster join`: a further node of a cluster (decision 0208).
//!
//! A new node has only its settings. The log's database contains the addresses of the nodes, the secret with which they
//! sign requests, and the secrets of keys. The database of the bank is a copy of that of another node.

use std::fs::{self, Permissions};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use bank_api::cluster::Copy;
use bank_api::sign::{Secret, SigningKey};
use bank_core::directory::Policy;
use bankd_cluster::{Log, NodeRow, PostgresLog, is_running};
use bankd_config::Cluster;
use bankd_config::data_dir::{self, DataDir};
use bankd_ledger::hooks;
use bankd_ledger::keys::new_secret;
use bankd_safekeeping::copy;
use bankd_services::cluster::log_settings;
use bankd_services::fetch::Source;
use bankd_services::secrets::compare;
use bankd_store::replica::{Place, schema};
use bankd_store::{Outdated, SqliteStore};

use super::{ClusterCommands, report, warn};

/// Percent between two lines about the progress.
const STEP: u64 = 10;

/// A node that is made from a copy.
pub(super) struct Fetch {
    from: Option<String>,
    bank: Option<String>,
    limit: Duration,
}

impl Fetch {
    /// Of a command; none if it does not copy.
    pub(super) fn of(command: &ClusterCommands) -> Option<Self> {
        match command {
            ClusterCommands::Join {
                from,
                bank,
                timeout,
                restored: false,
                ..
            } => Some(Self {
                from: from.clone(),
                bank: bank.clone(),
                limit: Duration::from_secs(*timeout),
            }),
            _ => None,
        }
    }
}

/// Makes a node from a copy of another one.
pub(super) fn fetched(dir: &DataDir, cluster: &Cluster, fetch: &Fetch) -> Result<()> {
    let is_own = !dir.path().exists();
    if is_own {
        let made = fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(dir.path());
        made.with_context(|| format!("cannot make {}", dir.path().display()))?;
    }
    let _lock = data_dir::lock(dir)?;
    refuse_bank(dir)?;
    let mut log = log_of(dir, cluster, fetch)?;
    check_name(&mut log, cluster)?;
    let secret = log.secret(new_secret()?.bytes())?;
    let secret = Secret::from_bytes(secret).context("the secret of the cluster in the log")?;
    let key = SigningKey::new(&secret);
    let nodes = candidates(&mut log, cluster, fetch)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let copied = runtime.block_on(copied(dir, (cluster, fetch), &key, &nodes));
    let entered = copied.and_then(|()| {
        let partial = copy::partial(dir);
        let place = enter(dir, &partial, cluster, &mut log)?;
        hooks::point("join_entered");
        copy::install(dir)?;
        Ok(place)
    });
    let place = match entered {
        Ok(place) => place,
        Err(error) => {
            copy::clear(dir)?;
            return Err(error);
        }
    };
    if is_own {
        // Open to callers of the socket, now that everything is there.
        fs::set_permissions(dir.path(), Permissions::from_mode(0o711))?;
    }
    announce_node(&place, &mut log)?;
    say!(
        "next     copy to this machine what bankd.toml names: certificates, secrets of other programs, keys/partner-*"
    );
    say!("next     bankd serve --data {}", dir.path().display());
    Ok(())
}

/// Refuses a directory with a bank: nothing of it is replaced.
fn refuse_bank(dir: &DataDir) -> Result<()> {
    for suffix in ["", "-wal", "-shm"] {
        let mut name = dir.database().into_os_string();
        name.push(suffix);
        let path = Path::new(&name);
        ensure!(
            path.symlink_metadata().is_err(),
            "{} is there already: move the old bank away, or use a restored backup with --restored",
            path.display()
        );
    }
    Ok(())
}

/// The log of the bank of the command, or of the only one in the database.
fn log_of(dir: &DataDir, cluster: &Cluster, fetch: &Fetch) -> Result<Box<PostgresLog>> {
    let mut any = PostgresLog::connect(&log_settings(cluster, dir.path(), ""))?;
    let banks = any.banks()?;
    let bank = match (&fetch.bank, banks.as_slice()) {
        (Some(named), all) if all.contains(named) => named,
        (Some(named), _) => bail!(
            "the log contains no bank {named}: it contains {}",
            banks.join(", ")
        ),
        (None, [only]) => only,
        (None, []) => bail!("the log is empty: `bankd cluster init` on the first node makes it"),
        (None, all) => bail!(
            "the log contains {} banks: choose one with --bank: {}",
            all.len(),
            banks.join(", ")
        ),
    };
    Ok(Box::new(PostgresLog::connect(&log_settings(
        cluster,
        dir.path(),
        bank,
    ))?))
}

/// The nodes to copy, in order: those that follow, the writer last.
fn candidates(log: &mut impl Log, cluster: &Cluster, fetch: &Fetch) -> Result<Vec<NodeRow>> {
    let writer = log.lease()?.map(|lease| lease.node);
    let mut nodes = log.nodes()?;
    nodes.retain(|row| row.node != cluster.node);
    if let Some(from) = &fetch.from {
        nodes.retain(|row| row.node == *from);
        ensure!(
            !nodes.is_empty(),
            "no node {from}: `bankd cluster status` on another node lists them"
        );
    }
    ensure!(!nodes.is_empty(), "the log names no other node");
    nodes.sort_by_key(|row| (Some(&row.node) == writer.as_ref(), row.age_ms));
    Ok(nodes)
}

/// Copies the first node that gives a copy.
async fn copied(
    dir: &DataDir,
    (cluster, fetch): (&Cluster, &Fetch),
    key: &SigningKey,
    nodes: &[NodeRow],
) -> Result<()> {
    let mut failed = Vec::new();
    for node in nodes {
        let source = Source {
            key,
            own: &cluster.node,
            node,
        };
        say!("copy     of node {} at {}", node.node, node.address);
        let copy = match source.prepare(fetch.limit).await {
            Ok(copy) => copy,
            Err(error) => {
                say!("copy     not given: {error:#}");
                failed.push(format!("{error:#}"));
                continue;
            }
        };
        announce(&copy);
        let mut shown = 0;
        let progress = |here: u64, all: u64| {
            let percent = here.saturating_mul(100) / all.max(1);
            if percent >= shown + STEP {
                shown = percent - percent % STEP;
                say!("copy     {shown} % of {all} bytes");
            }
        };
        return source.fetch(dir, copy, fetch.limit, progress).await;
    }
    bail!("no node gives a copy: {}", failed.join("; "))
}

fn announce(copy: &Copy) {
    say!(
        "copy     {} bytes, position {}, bankd {}, schema {}",
        copy.bytes,
        copy.position,
        copy.version,
        copy.schema
    );
}

/// Makes a restored backup a node.
pub(super) fn restored(dir: &DataDir, cluster: &Cluster) -> Result<()> {
    let _lock = data_dir::lock(dir)?;
    let database = dir.database();
    let reader = bankd_store::open_reader(&database)?;
    let bank = bankd_store::bank::read(&reader)?.bank.uuid;
    drop(reader);
    let mut log = PostgresLog::connect(&log_settings(cluster, dir.path(), &bank))?;
    check_name(&mut log, cluster)?;
    if let Some(mut older) = Outdated::open(&database)? {
        check_place(older.place(), older.last_hash(), &mut log)?;
        older.rename(&cluster.node)?;
        report(&mut log, cluster, older.place().position)?;
        say!(
            "schema   version {}: `bankd serve` migrates the file where the log has schema version {}",
            older.schema(),
            schema()
        );
        return announce_node(older.place(), &mut log);
    }
    let place = enter(dir, &database, cluster, &mut log)?;
    announce_node(&place, &mut log)
}

/// Refuses the name or the address of another node, and the name of one that runs and so reports each second.
fn check_name(log: &mut impl Log, cluster: &Cluster) -> Result<()> {
    let rows = log.nodes()?;
    let is_half = |row: &&NodeRow| (row.node == cluster.node) != (row.address == cluster.address);
    if let Some(other) = rows.iter().find(is_half) {
        bail!(
            "node {} is known at {}: choose another cluster.node and cluster.address, or run `bankd cluster remove {}` on \
             another node if that one is gone",
            other.node,
            other.address,
            other.node
        );
    }
    ensure!(
        !is_running(log, &cluster.node)?,
        "node {} runs already: choose another cluster.node and cluster.address, or stop that node first",
        cluster.node
    );
    Ok(())
}

/// Checks that the log follows a file.
fn check_place(place: &Place, hash: &[u8], log: &mut PostgresLog) -> Result<()> {
    let (first, last) = (log.first()?, log.last()?);
    if place.position > last {
        bail!(
            "the file contains entry {}, and the log ends at {last}: it is another log, or it lost entries",
            place.position
        );
    }
    if place.position.saturating_add(1) < first {
        bail!(
            "the file contains entries up to {}, and the log begins at {first}: it was trimmed. Restore a newer backup of a \
             node, or make a copy with `bankd cluster join` in an empty directory",
            place.position
        );
    }
    if let Some(own) = log.find(place.position)?
        && own.hash_after != hash
    {
        bail!(
            "entry {} of the log belongs to another journal than that of the file",
            place.position
        );
    }
    Ok(())
}

/// Makes a database the node of the settings, with the secrets of its keys.
fn enter(
    dir: &DataDir,
    database: &Path,
    cluster: &Cluster,
    log: &mut PostgresLog,
) -> Result<Place> {
    let mut store = SqliteStore::open_node(database, Policy::default())?;
    let place = store.place()?.unwrap_or_default();
    check_place(&place, store.last_hash(), log)?;
    let place = Place {
        node: cluster.node.clone(),
        ..place
    };
    store.join(Some(&place))?;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir.keys())?;
    compare(log, &dir.keys(), &store.reference(), false).map_err(anyhow::Error::msg)?;
    report(log, cluster, place.position)?;
    Ok(place)
}

fn announce_node(place: &Place, log: &mut PostgresLog) -> Result<()> {
    let last = log.last()?;
    say!(
        "{} is a node of the cluster, at position {} of {last}: start `bankd serve`",
        place.node,
        place.position
    );
    warn(log)
}
