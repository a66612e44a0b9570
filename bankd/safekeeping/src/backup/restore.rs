//! A bank from a backup: all of it or nothing.
//!
//! Every file is copied next to its destination, digested during the copy, and verified there. Only
//! then are the files renamed, the database last. Existing files are moved aside, never removed.

use std::fs::{self, DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use bank_api::v1::{Backup, BackupFile};
use bankd_config::data_dir::{self, DataDir};
use bankd_ledger::{clock, hooks};
use bankd_store as store;

use super::{MANIFEST, MARGIN, files, folder, mib, prove, rekey};

/// Where a bank grows until it is whole.
const PARTIAL: &str = ".restore-partial";

/// Begins the name of the folder of what was there before.
const ASIDE: &str = "replaced-";

/// How to bring a bank back.
#[derive(Clone, Debug)]
pub struct Choices {
    /// The backup's folder, or a file in it.
    pub from: PathBuf,
    /// Replace existing files.
    pub force: bool,
    /// Switch off every key of the copy and what acts outside of it, and leave the secrets where they are.
    pub rekey: bool,
}

/// A finished restore.
#[derive(Clone, Debug)]
pub struct Restored {
    /// The manifest of the backup.
    pub manifest: Backup,
    /// As [`Backup::proof`], now.
    pub proof: String,
    /// Where that went which was in the way.
    pub aside: Option<PathBuf>,
    /// Keys that were switched off.
    pub rekeyed: Vec<String>,
    /// Settings of the original that were switched off.
    pub off: Vec<String>,
    /// Whether there are secrets of keys now.
    pub secrets: bool,
}

/// Brings a bank back.
///
/// # Errors
/// If a daemon serves the directory, a bank exists and `force` is not set, a file differs
/// from the manifest, or the journal cannot be verified; then the directory is unchanged. If the
/// disk fails during the renames, the previous files are in the folder beside; without a database
/// the directory is not a bank.
pub fn restore(data: &DataDir, choices: &Choices) -> Result<Restored> {
    let from = backup_folder(&choices.from)?;
    let manifest = folder::read(&from.join(MANIFEST))?;
    check_names(&manifest)?;
    let own = !data.path().exists();
    files::private_folder(data.path())
        .with_context(|| format!("cannot make {}", data.path().display()))?;
    let lock = data_dir::lock(data)?;
    let restored = under_lock(data, choices, &from, manifest);
    if own && restored.is_err() {
        // Made for nothing: empty but for the lock.
        let _ = fs::remove_file(data.lock());
        let _ = fs::remove_dir(data.path());
    } else if own {
        // Open to callers of the socket only when everything is there.
        fs::set_permissions(data.path(), Permissions::from_mode(0o711))?;
    }
    drop(lock);
    restored
}

fn under_lock(
    data: &DataDir,
    choices: &Choices,
    from: &Path,
    manifest: Backup,
) -> Result<Restored> {
    let in_the_way = in_the_way(data, &manifest, choices);
    if let (Some(first), false) = (in_the_way.first(), choices.force) {
        bail!(
            "{} is there already: restore into another directory, or --force moves it aside",
            first.display()
        );
    }
    room(data, &manifest)?;
    let partial = data.path().join(PARTIAL);
    remove(&partial)?;
    let staged = stage(from, &manifest, &partial, choices);
    let (proof, rekeyed, off) = match staged {
        Ok(staged) => staged,
        Err(error) => {
            // A leftover has no owner: if the removal fails now, the next restore repeats it.
            let _ = fs::remove_dir_all(&partial);
            return Err(error);
        }
    };
    data.give(&partial)?;
    hooks::point("restore_staged");
    let aside = put_aside(data, &in_the_way)?;
    hooks::point("restore_aside");
    install(data, &partial)?;
    let secrets = fs::read_dir(data.keys()).is_ok_and(|mut keys| keys.next().is_some());
    Ok(Restored {
        manifest,
        proof: proof.to_owned(),
        aside,
        rekeyed,
        off,
        secrets,
    })
}

/// The backup folder for a path: the path itself, or the folder of the named manifest or database.
fn backup_folder(named: &Path) -> Result<PathBuf> {
    ensure!(named.exists(), "{} is not there", named.display());
    let folder = if named.is_dir() {
        named
    } else {
        named.parent().unwrap_or(Path::new("."))
    };
    let manifest = folder.join(MANIFEST);
    ensure!(
        manifest.is_file(),
        "{} is not a backup: there is no {}",
        named.display(),
        manifest.display()
    );
    Ok(folder.to_owned())
}

/// Files that a manifest may name: those of a bank, and none elsewhere.
fn check_names(manifest: &Backup) -> Result<()> {
    let mut names: Vec<&str> = manifest.files.iter().map(|f| f.name.as_str()).collect();
    for name in &names {
        let parts: Option<Vec<&str>> = Path::new(name)
            .components()
            .map(|part| match part {
                Component::Normal(part) => part.to_str(),
                _ => None,
            })
            .collect();
        let ours = match parts.as_deref() {
            Some(["bank.db" | "bankd.toml"]) => true,
            Some(["keys", secret]) => !secret.starts_with('.'),
            _ => false,
        };
        ensure!(ours, "{MANIFEST}: {name:?} is not a file of a bank");
    }
    ensure!(names.contains(&"bank.db"), "{MANIFEST}: names no bank.db");
    names.sort_unstable();
    let before = names.len();
    names.dedup();
    ensure!(names.len() == before, "{MANIFEST}: names a file twice");
    Ok(())
}

fn has_keys(manifest: &Backup) -> bool {
    manifest.files.iter().any(|f| f.name.starts_with("keys/"))
}

/// Existing files that the restore would replace.
fn in_the_way(data: &DataDir, manifest: &Backup, choices: &Choices) -> Vec<PathBuf> {
    let mut paths = vec![data.database()];
    for suffix in ["-wal", "-shm"] {
        let mut name = data.database().into_os_string();
        name.push(suffix);
        paths.push(name.into());
    }
    if manifest.files.iter().any(|f| f.name == "bankd.toml") {
        paths.push(data.config());
    }
    if has_keys(manifest) && !choices.rekey {
        paths.push(data.keys());
    }
    paths.retain(|path| path.symlink_metadata().is_ok());
    paths
}

/// Copies and proves everything beside where it goes.
fn stage(
    from: &Path,
    manifest: &Backup,
    partial: &Path,
    choices: &Choices,
) -> Result<(&'static str, Vec<String>, Vec<String>)> {
    DirBuilder::new()
        .mode(0o700)
        .create(partial)
        .with_context(|| format!("cannot make {}", partial.display()))?;
    for file in &manifest.files {
        if file.name.starts_with("keys/") {
            if choices.rekey {
                continue;
            }
            files::private_folder(&partial.join("keys"))?;
        }
        let mode = if file.name == "bankd.toml" {
            0o640
        } else {
            0o600
        };
        let to = partial.join(&file.name);
        let copied = files::copied(&from.join(&file.name), &to, &file.name, mode)?;
        check(from, file, &copied)?;
    }
    let database = partial.join("bank.db");
    let holding = store::holding(&database)?;
    let found = (holding.uuid.as_str(), holding.transactions, &holding.head);
    let expected = (
        manifest.bank.as_str(),
        manifest.transactions,
        &manifest.head,
    );
    ensure!(
        found == expected,
        "{}: the end of its journal differs from {MANIFEST}",
        from.join("bank.db").display()
    );
    let proof = prove(&database)?;
    let (rekeyed, off) = if choices.rekey {
        let off = rekey::own_settings(&partial.join("bankd.toml"))?;
        (rekey::switch_off(&database)?, off)
    } else {
        (Vec::new(), Vec::new())
    };
    Ok((proof, rekeyed, off))
}

/// Rejects a file that differs from its manifest entry.
fn check(from: &Path, expected: &BackupFile, found: &BackupFile) -> Result<()> {
    ensure!(
        found == expected,
        "{}: {} bytes with digest {}, and {MANIFEST} says {} bytes with {}: the backup is damaged, \
         take another one",
        from.join(&expected.name).display(),
        found.bytes,
        found.sha256,
        expected.bytes,
        expected.sha256
    );
    Ok(())
}

/// Rejects the restore if the disk has too little room beside the existing files.
fn room(data: &DataDir, manifest: &Backup) -> Result<()> {
    let bytes = manifest.files.iter().map(|file| file.bytes).sum::<u64>();
    let needed = bytes.saturating_add(MARGIN);
    let free = files::free(data.path())?;
    ensure!(
        free >= needed,
        "{}: {} MiB are free, the backup needs {}",
        data.path().display(),
        mib(free),
        mib(needed)
    );
    Ok(())
}

/// Moves existing files into a separate folder, the database first: after that the directory is not
/// a bank.
fn put_aside(data: &DataDir, paths: &[PathBuf]) -> Result<Option<PathBuf>> {
    if paths.is_empty() {
        return Ok(None);
    }
    let stamp = folder::stamp(clock::real_us());
    let aside = (1..100)
        .map(|number| data.path().join(format!("{ASIDE}{stamp}-{number}")))
        .find(|path| path.symlink_metadata().is_err())
        .context("too many restores in one second")?;
    DirBuilder::new().mode(0o700).create(&aside)?;
    for path in paths {
        let name = path.file_name().unwrap_or_default();
        fs::rename(path, aside.join(name))
            .with_context(|| format!("cannot move {} aside", path.display()))?;
    }
    files::sync_folder(&aside)?;
    data.give(&aside)?;
    Ok(Some(aside))
}

/// What to do in a directory that a restore left without a bank, because it was interrupted between its renames.
pub fn interrupted(data: &DataDir) -> Option<String> {
    if !data.path().join(PARTIAL).exists() {
        return None;
    }
    let again = "`bankd restore` was interrupted here: run it again";
    let entries = fs::read_dir(data.path()).ok()?.flatten();
    let aside = entries.map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(ASIDE) && path.join("bank.db").exists()
    });
    Some(match aside.max() {
        Some(newest) => format!("{again}; the bank before it is in {}", newest.display()),
        None => again.to_owned(),
    })
}

/// Gives everything its name, the database last.
fn install(data: &DataDir, partial: &Path) -> Result<()> {
    for (name, to) in [
        ("keys", data.keys()),
        ("bankd.toml", data.config()),
        ("bank.db", data.database()),
    ] {
        let from = partial.join(name);
        if from.symlink_metadata().is_ok() {
            fs::rename(&from, &to).with_context(|| format!("cannot name {}", to.display()))?;
        }
    }
    files::private_folder(&data.keys())?;
    data.give(&data.keys())?;
    // A record of the last backup of another bank, or of another state, does not apply to this
    // bank.
    let _ = fs::remove_file(data.last_backup());
    files::sync_folder(data.path())?;
    remove(partial)
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            Err(e).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}
