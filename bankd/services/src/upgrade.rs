//! The migration of a node of a cluster (decision 0209).
//!
//! A new version of the program finds a file with an older schema. The other nodes may still write rows of that schema,
//! so the node applies them first. It migrates its file at the first entry of the new schema, or makes this entry itself
//! when it becomes the writer: that is the entry without rows with which each writer begins.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use bankd_cluster::{Entry, Fault, Log, Machine, Node, NodeRow, Position};
use bankd_config as config;
use bankd_config::data_dir::DataDir;
use bankd_ledger::clock;
use bankd_ledger::writer::{entry_changes, opening_body};
use bankd_safekeeping::backup;
use bankd_store::Outdated;
use bankd_store::replica::{Place, schema};

use super::cluster::open_log;

/// Time between two looks at the log.
const LOOK: Duration = Duration::from_millis(100);
/// Time between two reports of this node.
const REPORT: Duration = Duration::from_secs(1);

/// The file as the machine that entries change, until the first one of the new schema.
struct Older {
    file: Outdated,
    /// An entry of the schema of this program is next, and durable.
    is_next: bool,
}

impl Machine for Older {
    fn position(&mut self) -> Result<Position, String> {
        let place = self.file.place();
        Ok(Position {
            position: place.position,
            epoch: place.epoch,
        })
    }

    fn hash(&self) -> Vec<u8> {
        self.file.last_hash().to_vec()
    }

    fn apply(&mut self, entry: &Entry) -> Result<(), String> {
        let changes = entry_changes(entry)?;
        let (ours, own) = (schema(), self.file.schema());
        if changes.schema == ours {
            self.is_next = true;
            return Err("this file is migrated first".to_owned());
        }
        if changes.schema != own {
            return Err(format!(
                "the entry has schema version {}, the file {own} and this program {ours}: install and start the version \
                 of bankd with schema version {} first",
                changes.schema, changes.schema
            ));
        }
        let place = Place {
            node: self.file.place().node.clone(),
            position: entry.position,
            epoch: entry.epoch,
        };
        let applied = self.file.apply(&changes.rows, &changes.hash_after, &place);
        applied.map_err(|error| {
            format!("{error}. Make the node again with `bankd cluster join` in an empty directory")
        })
    }

    fn opening(&self) -> Vec<u8> {
        opening_body()
    }
}

/// Brings the file of a node to the schema of this program. Returns at once if it has it, or if the bank has one machine.
/// It waits as long as the writer has the older schema.
///
/// # Errors
/// If the file does not fit the log or the settings, or cannot be migrated.
pub fn run(data: &DataDir, settings: &config::Cluster, backups: &config::Backup) -> Result<()> {
    if !settings.is_on() {
        return Ok(());
    }
    let Some(file) = Outdated::open(&data.database())? else {
        return Ok(());
    };
    let place = file.place();
    ensure!(
        place.node == settings.node,
        "cluster.node is {:?}, and the file is node {:?}: correct the setting",
        settings.node,
        place.node
    );
    let log = open_log(settings, data.path(), file.bank())?;
    let (name, address) = (&settings.node, &settings.address);
    let node = Node::new(log, name, address, settings.lease(), clock::real_us);
    let older = Older {
        file,
        is_next: false,
    };
    let file = until_next(node, older, address)?;
    let (from, position) = (file.schema(), file.place().position);
    backup::before_migration(data, backups)?;
    tracing::info!(
        from,
        to = schema(),
        position,
        "the database is migrated behind this position of the log"
    );
    file.migrate()
        .with_context(|| format!("cannot migrate {}", data.database().display()))
}

/// Applies entries until one of the new schema is next.
fn until_next(mut node: Node<Box<dyn Log>>, mut older: Older, address: &str) -> Result<Outdated> {
    let mut shown = None;
    let mut reported: Option<Instant> = None;
    loop {
        let looked = look(&mut node, &mut older);
        if older.is_next {
            return Ok(older.file);
        }
        let state = match looked {
            Ok(Looked::Behind) => continue,
            Ok(Looked::Waits(writer)) => format!(
                "the writer{writer} has an older version of bankd: this node waits with schema version {} and answers \
                 nothing. `bankd cluster promote {}` makes it the writer, which migrates the bank",
                older.file.schema(),
                node.name()
            ),
            Err(Fault::Stopped(text)) => bail!(text),
            Err(fault) => fault.to_string(),
        };
        if shown.as_ref() != Some(&state) {
            tracing::warn!(
                position = older.file.place().position,
                "the migration waits: {state}"
            );
            shown = Some(state);
        }
        if reported.is_none_or(|at| at.elapsed() >= REPORT) {
            let row = NodeRow {
                node: node.name().to_owned(),
                address: address.to_owned(),
                applied: older.file.place().position,
                version: env!("CARGO_PKG_VERSION").to_owned(),
                age_ms: 0,
            };
            // The next look has the same failure.
            let _ = node.log().report(&row);
            reported = Some(Instant::now());
        }
        std::thread::park_timeout(LOOK);
    }
}

/// The result of a look.
enum Looked {
    /// There may be more to apply.
    Behind,
    /// This node, with a space before its name, writes the older schema; empty if no node writes at the moment.
    Waits(String),
}

fn look(node: &mut Node<Box<dyn Log>>, older: &mut Older) -> Result<Looked, Fault> {
    let followed = node.follow(older)?;
    if followed.is_behind {
        return Ok(Looked::Behind);
    }
    let lease = followed.lease;
    // Its first entry is of the new schema, and is applied after the migration.
    if node.may_lead(lease.as_ref()) && node.lead(older)?.is_some() {
        return Ok(Looked::Behind);
    }
    Ok(Looked::Waits(lease.map_or_else(String::new, |lease| {
        format!(" {}", lease.node).trim_end().to_owned()
    })))
}
