//! A copy that is served beside the original must reject requests signed for the original: every
//! key of it is switched off (`http-auth.md` 2). This uses normal commands, so that the journal of
//! the copy records it. And it must not act for the original: it is no node of the original's cluster,
//! and its settings have no listener, no target and no folder of the original.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::{Context, Result, bail};
use bank_core::command::{Command, SetKey};
use bankd_config::{self as config, default_policy};
use bankd_ledger::clock;
use bankd_ledger::writer;
use bankd_records as records;
use bankd_store::{self as store, SqliteStore};

use super::files;
use crate::command::submit;

/// Switches off in the settings of a copy what acts outside of it, and returns the names.
pub(super) fn own_settings(file: &Path) -> Result<Vec<String>> {
    if !file.exists() {
        return Ok(Vec::new());
    }
    let text = files::short(file).with_context(|| format!("cannot read {}", file.display()))?;
    let own = config::beside(&text, "bankd.toml").map_err(anyhow::Error::msg)?;
    files::replaced(file, own.text.as_bytes())?;
    fs::set_permissions(file, Permissions::from_mode(0o640))?;
    Ok(own.off)
}

/// Makes the copy of a node a bank on a single machine.
fn leave_cluster(database: &Path) -> Result<()> {
    if store::replica::place(&store::open_reader(database)?)?.is_some() {
        SqliteStore::open_node(database, default_policy())?.join(None)?;
    }
    Ok(())
}

/// Switches off every key of a bank that no daemon serves, and returns their ids. The database is
/// migrated to the current schema.
pub(super) fn switch_off(database: &Path) -> Result<Vec<String>> {
    leave_cluster(database)?;
    let store = SqliteStore::open(database, default_policy())?;
    let test = store.bank()?.test;
    let reference = store.reference();
    let live = reference.keys().filter(|key| !key.disabled);
    let mut ids: Vec<String> = live.map(|key| key.id.clone()).collect();
    ids.sort();
    let clock = clock::for_bank(test).map_err(anyhow::Error::msg)?;
    let (writer, thread) = writer::start(store, clock, records::keep, 1)?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let done = runtime.block_on(async {
        for id in &ids {
            submit(&writer, "bankd restore", disabled(id))
                .await
                .with_context(|| format!("key {id} cannot be switched off"))?;
        }
        Ok(ids)
    });
    writer.stop();
    if thread.join().is_err() {
        bail!("the writer thread failed");
    }
    done
}

fn disabled(id: &str) -> Command {
    Command::SetKey(SetKey {
        id: id.to_owned(),
        roles: None,
        projects: None,
        machines: None,
        until: None,
        disabled: Some(true),
    })
}
