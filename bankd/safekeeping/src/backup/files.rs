//! Files that are copied, digested and brought to the disk.
//!
//! Nothing here overwrites a file in place, and nothing is open to others.

use std::fmt::Write as _;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use anyhow::{Context, Result};
use bank_api::v1::BackupFile;
use sha2::{Digest, Sha256};

/// Bytes in memory at once.
const PIECE: usize = 1 << 20;
/// Longest text that is read whole: manifests have a line for each key.
const TEXT_MAX: u64 = 16 << 20;

/// Creates a folder and its parents, accessible to the owner only; an existing folder is not
/// changed.
pub(crate) fn private_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Makes an empty file for its owner alone.
pub(crate) fn empty(path: &Path) -> io::Result<()> {
    create(path, 0o600).map(drop)
}

fn create(path: &Path, mode: u32) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(mode).open(path)
}

/// Syncs an existing file to disk, and returns its manifest entry.
pub(crate) fn sealed(path: &Path, name: &str) -> Result<BackupFile> {
    let cannot = || format!("cannot read {}", path.display());
    super::close_to_others(path).with_context(cannot)?;
    let file = File::open(path).with_context(cannot)?;
    file.sync_all().with_context(cannot)?;
    let (bytes, sha256) = pour(file, io::sink()).with_context(cannot)?;
    Ok(entry(name, bytes, sha256))
}

/// Copies a file to a new one and syncs it, and returns the manifest entry.
pub(super) fn copied(from: &Path, to: &Path, name: &str, mode: u32) -> Result<BackupFile> {
    let cannot = || format!("cannot copy {} to {}", from.display(), to.display());
    let source = File::open(from).with_context(cannot)?;
    let mut target = create(to, mode).with_context(cannot)?;
    let (bytes, sha256) = pour(source, &mut target).with_context(cannot)?;
    target.sync_all().with_context(cannot)?;
    Ok(entry(name, bytes, sha256))
}

fn entry(name: &str, bytes: u64, sha256: String) -> BackupFile {
    BackupFile {
        name: name.to_owned(),
        bytes,
        sha256,
    }
}

/// Everything of one into the other, and its length and digest.
fn pour(mut from: impl Read, mut to: impl Write) -> io::Result<(u64, String)> {
    let mut digest = Sha256::new();
    let mut piece = vec![0; PIECE];
    let mut bytes = 0_u64;
    loop {
        let read = match from.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => read,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        let part = piece.get(..read).unwrap_or_default();
        digest.update(part);
        to.write_all(part)?;
        bytes = bytes.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
    }
    Ok((bytes, hex(&digest.finalize())))
}

/// Bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(64);
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Writes a new file to the disk.
pub(crate) fn written(path: &Path, text: &[u8]) -> Result<()> {
    let cannot = || format!("cannot write {}", path.display());
    let mut file = create(path, 0o600).with_context(cannot)?;
    file.write_all(text).with_context(cannot)?;
    file.sync_all().with_context(cannot)
}

/// Puts a file in place of another one, whole or not at all.
pub(super) fn replaced(path: &Path, text: &[u8]) -> Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    let new = Path::new(&name);
    // A leftover of an aborted attempt: it has no owner.
    let _ = fs::remove_file(new);
    written(new, text)?;
    fs::rename(new, path)?;
    sync_folder(path.parent().unwrap_or(Path::new(".")))
}

/// Brings the names in a folder to the disk.
pub(crate) fn sync_folder(path: &Path) -> Result<()> {
    let folder = File::open(path).and_then(|folder| folder.sync_all());
    folder.with_context(|| format!("cannot sync {}", path.display()))
}

/// A text of bounded length.
pub(crate) fn short(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let file = File::open(path)?;
    file.take(TEXT_MAX).read_to_string(&mut text)?;
    Ok(text)
}

/// Bytes that are free for us on the disk of a folder.
pub(crate) fn free(folder: &Path) -> io::Result<u64> {
    let disk = rustix::fs::statvfs(folder)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}
