//! The files of a data directory, and the lock that one process holds on it.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, lchown};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

/// The files of a data directory (decisions.md 4).
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

    /// File with the data of the last backup.
    pub fn last_backup(&self) -> PathBuf {
        self.0.join("backup.json")
    }

    /// Why the daemon's own backup was not made, where the last try failed.
    pub fn failed_backup(&self) -> PathBuf {
        self.0.join("backup.failed")
    }

    /// Gives what root made to the owner of this directory, as [`give`].
    ///
    /// # Errors
    /// Of the file system.
    pub fn give(&self, path: &Path) -> Result<()> {
        let given = give(path, &self.0);
        given.with_context(|| format!("cannot give {} to the owner of the bank", path.display()))
    }

    /// The lock that the serving daemon holds.
    pub fn lock(&self) -> PathBuf {
        self.0.join("bankd.lock")
    }
}

/// Gives a path, with everything in it, to the owner of a folder where root made it, as `SQLite` does with its own
/// files: the daemon reads, replaces and removes what a command of root wrote. Files of others stay theirs.
///
/// # Errors
/// Of the file system.
pub fn give(path: &Path, folder: &Path) -> io::Result<()> {
    let owner = fs::metadata(folder)?;
    let made = path.symlink_metadata()?;
    if owner.uid() == 0 {
        return Ok(());
    }
    if made.is_dir() {
        for entry in fs::read_dir(path)? {
            give(&entry?.path(), folder)?;
        }
    }
    if made.uid() == 0 {
        lchown(path, Some(owner.uid()), Some(owner.gid()))?;
    }
    Ok(())
}

/// The lock of a directory: one daemon, or one `init`, at a time.
///
/// # Errors
/// If another process holds it.
pub fn lock(data: &DataDir) -> Result<File> {
    let path = data.lock();
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600);
    let file = options
        .open(&path)
        .with_context(|| format!("cannot open {}", path.display()))?;
    data.give(&path)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            bail!(
                "another bankd serves {}: stop it first",
                data.path().display()
            )
        }
        Err(TryLockError::Error(e)) => {
            Err(e).with_context(|| format!("cannot lock {}", path.display()))
        }
    }
}
