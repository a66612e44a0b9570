//! Copies of a bank, made while it is served, and the way back.
//!
//! A backup is a folder: the database as of one moment, the settings, the secrets if requested, and
//! `manifest.json` with the digest of each file. The folder gets its name only after everything is
//! on disk and the journal in it was verified. So a folder with a backup's name is always complete.
//! Start at [`make`]; [`restore`] is the reverse (decision 0064).

mod clerk;
pub(crate) mod files;
mod folder;
mod rekey;
pub mod restore;
#[cfg(test)]
mod tests;

pub use clerk::Clerk;
pub use folder::{Found, list};

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use bank_api::text::format_rfc3339;
use bank_api::v1::{Backup, BackupFile, LastBackup};
use bankd_config::data_dir::DataDir;
use bankd_config::{self as config, path_in};
use bankd_ledger::{clock, hooks};
use bankd_store::{self as store, Holding, verify};

/// The file with the contents of a backup.
pub const MANIFEST: &str = "manifest.json";
/// The value of `format` in the manifests that this program writes and reads.
const FORMAT: u8 = 1;
/// Space that must remain free on the disk beside a copy.
pub(crate) const MARGIN: u64 = 16 << 20;
/// Characters that are kept of why one failed.
const FAILURE_MAX: usize = 1000;

/// Options of a backup.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The folder in which it gets a folder of its own.
    pub out: PathBuf,
    /// Copy the secrets too.
    pub with_keys: bool,
    /// Why it is made.
    pub reason: Reason,
    /// The newest that stay; 0 for all.
    pub keep: usize,
    /// Days after which one goes; 0 for never.
    pub keep_days: i64,
}

/// Why a backup is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A person requested it.
    Requested,
    /// It was time.
    Timer,
    /// The schema of the database is about to change.
    Migration,
}

impl Reason {
    /// Its word in a manifest.
    pub fn word(self) -> &'static str {
        match self {
            Reason::Requested => "asked",
            Reason::Timer => "timer",
            Reason::Migration => "migration",
        }
    }
}

impl Plan {
    /// The plan that the settings define.
    pub fn of(data: &DataDir, settings: &config::Backup, reason: Reason) -> Self {
        Self {
            out: path_in(data.path(), &settings.folder).unwrap_or_else(|| data.path().to_owned()),
            with_keys: settings.with_keys,
            reason,
            keep: settings.keep,
            keep_days: settings.keep_days,
        }
    }
}

/// A backup that was made.
#[derive(Clone, Debug)]
pub struct Made {
    /// Its folder.
    pub path: PathBuf,
    /// The manifest that was written.
    pub manifest: Backup,
    /// Older ones that went.
    pub removed: Vec<PathBuf>,
    /// Why it is not noted in the data directory as the last backup, if it is not.
    pub unnoted: Option<String>,
}

impl Made {
    /// Logs that it is not noted as the last backup.
    fn warn(&self) {
        if let Some(error) = &self.unnoted {
            tracing::warn!(path = %self.path.display(), error, "the backup is complete, and not noted as the last one");
        }
    }
}

/// Makes a backup of a bank, served or not. One at a time in a folder.
///
/// # Errors
/// If there is no room, something cannot be read or written, or the copy is not sound; then no
/// folder has the name of a backup that had none before. Or if an older backup cannot be removed.
pub fn make(data: &DataDir, plan: &Plan) -> Result<Made> {
    let out = &plan.out;
    let is_new = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
    let new = out.ancestors().take_while(is_new).last();
    files::private_folder(out).with_context(|| format!("cannot make {}", out.display()))?;
    new.map_or(Ok(()), |new| data.give(new))?;
    let _lock = folder::lock(data, out)?;
    let partial = folder::fresh_partial(out)?;
    room(data, out)?;
    let now_us = clock::real_us();
    let manifest = fill(data, plan, &partial, now_us);
    let manifest = match manifest {
        Ok(manifest) => manifest,
        Err(error) => {
            // If the removal fails now, the next backup repeats it.
            let _ = fs::remove_dir_all(&partial);
            return Err(error);
        }
    };
    data.give(&partial)?;
    hooks::point("backup_written");
    let path = folder::publish(out, &partial, now_us)?;
    hooks::point("backup_named");
    let unnoted = note(data, &path, &manifest).err();
    let unnoted = unnoted.map(|error| format!("{error:#}"));
    let made = Found { path, manifest };
    let removed = folder::retire(out, &made, plan, now_us)?;
    Ok(Made {
        path: made.path,
        manifest: made.manifest,
        removed,
        unnoted,
    })
}

/// Writes everything into a folder whose name does not mark it as a backup yet.
fn fill(data: &DataDir, plan: &Plan, partial: &Path, now_us: i64) -> Result<Backup> {
    let database = partial.join("bank.db");
    files::empty(&database).with_context(|| format!("cannot make {}", database.display()))?;
    store::snapshot(&data.database(), &database)
        .with_context(|| format!("cannot copy {}", data.database().display()))?;
    hooks::point("backup_copied");
    let holding = store::holding(&database)?;
    let proof = prove(&database)?;
    let mut listed = vec![files::sealed(&database, "bank.db")?];
    if data.config().exists() {
        let to = partial.join("bankd.toml");
        listed.push(files::copied(&data.config(), &to, "bankd.toml", 0o600)?);
    }
    if plan.with_keys {
        listed.extend(secrets(&data.keys(), &partial.join("keys"))?);
    }
    let manifest = manifest(&holding, plan.reason, proof, listed, now_us);
    let text = serde_json::to_string_pretty(&manifest)? + "\n";
    files::written(&partial.join(MANIFEST), text.as_bytes())?;
    files::sync_folder(partial)?;
    Ok(manifest)
}

/// The secrets of the bank's keys: every file of the folder that can be one.
fn secrets(from: &Path, to: &Path) -> Result<Vec<BackupFile>> {
    let cannot = || format!("cannot copy {}", from.display());
    files::private_folder(to).with_context(cannot)?;
    let mut names = Vec::new();
    for entry in fs::read_dir(from).with_context(cannot)? {
        let entry = entry.with_context(cannot)?;
        if let (true, Ok(name)) = (
            entry.file_type()?.is_file(),
            entry.file_name().into_string(),
        ) {
            names.push(name);
        }
    }
    names.sort();
    let mut listed = Vec::with_capacity(names.len());
    for name in names {
        let shown = format!("keys/{name}");
        listed.push(files::copied(
            &from.join(&name),
            &to.join(&name),
            &shown,
            0o600,
        )?);
    }
    files::sync_folder(to)?;
    Ok(listed)
}

fn manifest(
    holding: &Holding,
    reason: Reason,
    proof: &str,
    files: Vec<BackupFile>,
    now_us: i64,
) -> Backup {
    Backup {
        format: FORMAT,
        bank: holding.uuid.clone(),
        unit: holding.unit.clone(),
        precision: holding.precision,
        schema: holding.schema,
        made_by: concat!("bankd ", env!("CARGO_PKG_VERSION")).to_owned(),
        made_at: format_rfc3339(now_us),
        reason: reason.word().to_owned(),
        transactions: holding.transactions,
        entries: holding.entries,
        head: holding.head.clone(),
        proof: proof.to_owned(),
        files,
    }
}

/// Verifies a database that no daemon serves, and returns the depth of the check: the whole
/// journal, or only the structure if its schema is older. Only the `bankd` of that version can
/// verify such a journal.
pub(crate) fn prove(database: &Path) -> Result<&'static str> {
    let file = database.display();
    if store::outdated(database)?.is_some() {
        return match store::broken_pages(database)? {
            None => Ok("pages"),
            Some(finding) => bail!("{file} is not sound: {finding}"),
        };
    }
    let proven = || verify::run(database).with_context(|| format!("cannot verify {file}"));
    let mut report = proven()?;
    if let (None, Some(derived)) = (report.serious(), report.findings.first()) {
        tracing::warn!(finding = %derived, "rebuilding the derived tables of the copy");
        store::rebuild_derived(database)?;
        report = proven()?;
        if let Some(derived) = report.findings.first() {
            tracing::error!(finding = %derived, "a derived table of the copy is wrong");
        }
    }
    match report.serious() {
        None => Ok("journal"),
        Some(first) => {
            let more = match report.findings.len().saturating_sub(1) {
                0 => String::new(),
                more => format!(" (and {more} more)"),
            };
            bail!(
                "the copy is not sound: {first}{more}: `bankd verify` lists the findings of the bank itself"
            )
        }
    }
}

/// Refuses where there is no room for a copy.
pub(crate) fn room(data: &DataDir, out: &Path) -> Result<()> {
    let needed = size(data).saturating_add(MARGIN);
    let free = files::free(out).with_context(|| format!("no figures of {}", out.display()))?;
    if free >= needed {
        return Ok(());
    }
    let (needed, free) = (mib(needed), mib(free));
    bail!(
        "{}: {free} MiB are free, a backup needs {needed}: make room, or name another folder",
        out.display()
    )
}

/// Bytes of a bank's database with its write-ahead log.
pub fn size(data: &DataDir) -> u64 {
    let length = |path: &Path| fs::metadata(path).map_or(0, |file| file.len());
    length(&data.database()).saturating_add(wal_bytes(data))
}

/// Bytes of the write-ahead log.
pub fn wal_bytes(data: &DataDir) -> u64 {
    let mut name = data.database().into_os_string();
    name.push("-wal");
    fs::metadata(PathBuf::from(name)).map_or(0, |file| file.len())
}

/// Bytes that are free for us on the disk of a folder.
///
/// # Errors
/// Of the file system.
pub fn free(folder: &Path) -> std::io::Result<u64> {
    files::free(folder)
}

pub(crate) fn mib(bytes: u64) -> u64 {
    bytes.div_ceil(1 << 20)
}

/// Remembers in the data directory which backup was the last.
fn note(data: &DataDir, path: &Path, manifest: &Backup) -> Result<()> {
    // A later call may use another working directory.
    let whole = path.canonicalize();
    let path = whole.as_deref().unwrap_or(path);
    let last = LastBackup {
        path: path.display().to_string(),
        made_at: manifest.made_at.clone(),
        proof: manifest.proof.clone(),
        transactions: manifest.transactions,
        bytes: manifest.files.iter().map(|file| file.bytes).sum(),
    };
    note_failure(data, None);
    let text = serde_json::to_string(&last)? + "\n";
    files::replaced(&data.last_backup(), text.as_bytes())
        .with_context(|| format!("cannot write {}", data.last_backup().display()))?;
    data.give(&data.last_backup())
}

/// Remembers in the data directory why the daemon's own backup was not made, and since when; with none
/// that it was.
fn note_failure(data: &DataDir, why: Option<&str>) {
    let file = data.failed_backup();
    let written = match why {
        Some(why) => {
            let at = format_rfc3339(clock::real_us());
            let line: String = why.chars().take(FAILURE_MAX).collect();
            files::replaced(&file, format!("{at} {line}\n").as_bytes())
        }
        None => match fs::remove_file(&file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        },
    };
    if let Err(error) = written {
        tracing::warn!(file = %file.display(), error = %format!("{error:#}"), "how a backup went is not remembered");
    }
}

/// When the daemon's own backup failed last and why, unless one was made since.
pub fn failure(data: &DataDir) -> Option<String> {
    let text = files::short(&data.failed_backup()).ok()?;
    Some(text.trim_end().to_owned())
}

/// Data of the last backup.
pub fn last(data: &DataDir) -> Option<LastBackup> {
    let text = files::short(&data.last_backup()).ok()?;
    serde_json::from_str(&text).ok()
}

/// Makes a backup before a schema migration, if the settings require it, and returns its path.
///
/// # Errors
/// If it cannot be made; then the schema must stay as it is.
pub fn before_migration(data: &DataDir, settings: &config::Backup) -> Result<Option<PathBuf>> {
    if !settings.before_migration || !data.database().exists() {
        return Ok(None);
    }
    // If the file is not a bank or is unreadable, the code that opens it reports the error.
    let Ok(Some((from, to))) = store::outdated(&data.database()) else {
        return Ok(None);
    };
    // An empty file is on its way to be a bank.
    if from == 0 {
        return Ok(None);
    }
    let plan = Plan::of(data, settings, Reason::Migration);
    let made = make(data, &plan).with_context(|| {
        format!(
            "no backup before the schema changes from version {from} to {to}, so nothing was changed \
             (backup.before_migration = false does without)"
        )
    })?;
    tracing::info!(from, to, path = %made.path.display(), "backup made before the schema changes");
    made.warn();
    Ok(Some(made.path))
}

/// Closes a file of ours to everybody else.
fn close_to_others(path: &Path) -> std::io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(0o600))
}
