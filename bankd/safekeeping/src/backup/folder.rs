//! The folder of backups: their names, which there are, and which may go.
//!
//! Only two things are removed: backups of this bank, identified by their manifest, and the one
//! partial folder of an aborted backup.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use bank_api::text::{format_rfc3339, parse_rfc3339};
use bank_api::v1::Backup;
use bankd_config::data_dir::DataDir;

use super::{FORMAT, MANIFEST, Plan, Reason, files};

/// Prefix of the name of each backup.
const PREFIX: &str = "bank-";
/// Where one grows.
const PARTIAL: &str = ".bank-backup-partial";
/// Held while one is made.
const LOCK: &str = ".bank-backup-lock";
/// Backups of one second.
const SAME_SECOND: u32 = 100;
/// Backups made before a migration that stay.
const BEFORE_MIGRATION: usize = 3;
/// A day in microseconds.
const DAY_US: i64 = 86_400_000_000;

/// A backup in a folder.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its folder.
    pub path: PathBuf,
    /// The manifest that was read.
    pub manifest: Backup,
}

/// The lock of a folder of backups.
pub(super) fn lock(data: &DataDir, out: &Path) -> Result<File> {
    let path = out.join(LOCK);
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600);
    let file = options.open(&path);
    let file = file.with_context(|| format!("cannot open {}", path.display()))?;
    data.give(&path)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            bail!("another backup is being made in {}", out.display())
        }
        Err(TryLockError::Error(e)) => Err(e).context(format!("cannot lock {}", path.display())),
    }
}

/// An empty folder to fill, in place of one that broke off. The lock is held.
pub(super) fn fresh_partial(out: &Path) -> Result<PathBuf> {
    let path = out.join(PARTIAL);
    match fs::remove_dir_all(&path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => {
            return Err(e).context(format!("cannot remove {}", path.display()));
        }
        _ => {}
    }
    let made = fs::DirBuilder::new().mode(0o700).create(&path);
    made.with_context(|| format!("cannot make {}", path.display()))?;
    Ok(path)
}

/// Gives a whole backup its name.
pub(super) fn publish(out: &Path, partial: &Path, now_us: i64) -> Result<PathBuf> {
    let stamp = stamp(now_us);
    for number in 1..=SAME_SECOND {
        let name = match number {
            1 => format!("{PREFIX}{stamp}"),
            _ => format!("{PREFIX}{stamp}-{number}"),
        };
        let path = out.join(name);
        if path.symlink_metadata().is_ok() {
            continue;
        }
        fs::rename(partial, &path).with_context(|| format!("cannot name {}", path.display()))?;
        files::sync_folder(out)?;
        return Ok(path);
    }
    bail!("{}: {SAME_SECOND} backups of one second", out.display())
}

/// `20261122T030000Z`.
pub(super) fn stamp(now_us: i64) -> String {
    let whole = now_us.div_euclid(1_000_000).saturating_mul(1_000_000);
    let mut text = format_rfc3339(whole);
    text.retain(|c| c != '-' && c != ':');
    text
}

/// The backups in a folder, the oldest first. A folder without a readable manifest is not a backup.
///
/// # Errors
/// If the folder cannot be read.
pub fn list(out: &Path) -> io::Result<Vec<Found>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(out)? {
        let entry = entry?;
        let ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        if !ours || !entry.file_type()?.is_dir() {
            continue;
        }
        let path = entry.path();
        if let Ok(manifest) = read(&path.join(MANIFEST)) {
            found.push(Found { path, manifest });
        }
    }
    found.sort_by_cached_key(|backup| (made_us(backup), backup.path.clone()));
    Ok(found)
}

fn made_us(backup: &Found) -> i64 {
    parse_rfc3339(&backup.manifest.made_at).unwrap_or(i64::MIN)
}

/// A manifest.
///
/// # Errors
/// If it cannot be read, or is of another format.
pub(super) fn read(path: &Path) -> Result<Backup> {
    let shown = || path.display().to_string();
    let text = files::short(path).with_context(shown)?;
    let manifest: Backup = serde_json::from_str(&text).with_context(shown)?;
    if manifest.format != FORMAT {
        let format = manifest.format;
        bail!(
            "{}: format {format}: use the bankd that wrote it",
            path.display()
        );
    }
    Ok(manifest)
}

/// Removes backups of the same bank beyond the newest `keep`, and those older than `keep_days`.
/// Backups before a migration are counted separately. The newest of each group remains. The one that was
/// just made counts as the newest, whatever the clock stamped on others.
pub(super) fn retire(out: &Path, made: &Found, plan: &Plan, now_us: i64) -> Result<Vec<PathBuf>> {
    let mut all = list(out).with_context(|| format!("cannot read {}", out.display()))?;
    all.sort_by_key(|one| one.path == made.path);
    let bank = &made.manifest.bank;
    let own = all.into_iter().filter(|one| one.manifest.bank == *bank);
    let before = |one: &Found| one.manifest.reason == Reason::Migration.word();
    let (migrations, others): (Vec<Found>, Vec<Found>) = own.partition(before);
    let oldest_us = match plan.keep_days {
        0 => i64::MIN,
        days => now_us.saturating_sub(days.saturating_mul(DAY_US)),
    };
    let mut gone = beyond(migrations, BEFORE_MIGRATION, i64::MIN);
    gone.extend(beyond(others, plan.keep, oldest_us));
    for path in &gone {
        // Rename first, so that an aborted removal leaves no folder that looks like a backup.
        let going = out.join(PARTIAL);
        fs::rename(path, &going)
            .and_then(|()| fs::remove_dir_all(&going))
            .with_context(|| format!("cannot remove {}", path.display()))?;
    }
    Ok(gone)
}

/// Those that go, of backups with the oldest first.
fn beyond(all: Vec<Found>, keep: usize, oldest_us: i64) -> Vec<PathBuf> {
    let most = if keep == 0 { usize::MAX } else { keep };
    let newest_first = all.into_iter().rev().enumerate();
    newest_first
        .filter(|(place, one)| *place > 0 && (*place >= most || made_us(one) < oldest_us))
        .map(|(_, one)| one.path)
        .collect()
}
