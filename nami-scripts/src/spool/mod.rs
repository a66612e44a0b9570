//! The durable spool: documents that the bank has not accepted, until it does (decisions.md 27).
//!
//! One private folder of mode 0700, one file per document, named `SEQUENCE-OBJECT-KEY.doc`: the
//! names alone determine the order and the object. A file gets its name only when its content is on
//! disk, so a half-written one is never visible. Documents that can never be accepted are moved to
//! the folder `quarantine` beside a `.reason`. The folder `recent` contains the keys of recently
//! sent charges.
//!
//! A document leaves the spool only when the bank has answered it; it may be sent twice, which its
//! key makes harmless, but it is never lost and never forgotten.

mod drain;
mod entry;
mod order;
mod recent;
pub mod shelf;
mod stray;

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Error, ErrorKind, Read as _, Result, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use bank_files::{flush as flush_folder, make_folder};

pub(crate) use drain::{Report, count_tries, drain};
pub(crate) use entry::Entry;
pub(crate) use recent::{Remembered, Sent};
pub(crate) use stray::fetch as fetch_strays;

use crate::clock::Deadline;
use crate::scan::{object_ids, tag_of};

/// Extension of a document's name; other files are ignored.
const ENDING: &str = ".doc";
/// Folder of documents that can never be accepted.
const QUARANTINE: &str = "quarantine";
/// The file whose lock lets one process drain at a time.
const LOCK: &str = ".lock";
/// Opens a FIFO in the place of a file at once, instead of waiting for its other end (`O_NONBLOCK` of Linux).
const O_NONBLOCK: i32 = 0o4000;
/// Between two looks at a lock that another process has.
const LOOK: Duration = Duration::from_millis(20);
/// Error of a folder with another owner.
const FOREIGN: &str = "belongs to another user";
/// Error of a folder that others may use.
const OPEN: &str = "open to others; its mode must be 0700";
/// Longest count of tries that is read, in bytes.
const MAX_COUNT: usize = 16;
/// Most documents of one drain; the next call goes on.
const MAX_BATCH: usize = 5000;

/// `O_NOFOLLOW` of Linux, by value because the standard library has no name for it: a symbolic
/// link in the place of a file is an error.
#[cfg(any(
    target_arch = "aarch64",
    target_arch = "arm",
    target_arch = "powerpc64"
))]
const O_NOFOLLOW: i32 = 0o100_000;
/// `O_NOFOLLOW` of Linux, by value because the standard library has no name for it: a symbolic
/// link in the place of a file is an error.
#[cfg(not(any(
    target_arch = "aarch64",
    target_arch = "arm",
    target_arch = "powerpc64"
)))]
const O_NOFOLLOW: i32 = 0o400_000;

/// Object of a document, according to its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tag {
    One(u64),
    /// Several: the content lists them.
    Several,
    None,
}

impl Tag {
    fn of(body: &[u8]) -> Self {
        match object_ids(body).as_slice() {
            [] => Self::None,
            [one] => Self::One(tag_of(one)),
            _ => Self::Several,
        }
    }

    fn text(self) -> String {
        match self {
            Self::One(tag) => format!("{tag:016x}"),
            Self::Several => "several".to_owned(),
            Self::None => "none".to_owned(),
        }
    }
}

/// Sequence number and tag of a document's name; `None` if the name is not one of ours.
fn parse_name(name: &str) -> Option<(u64, Tag)> {
    let (sequence, rest) = name.strip_suffix(ENDING)?.split_once('-')?;
    let (tag, key) = rest.split_once('-')?;
    if sequence.len() != 20 || key.is_empty() {
        return None;
    }
    let tag = match tag {
        "several" => Tag::Several,
        "none" => Tag::None,
        hex => Tag::One(u64::from_str_radix(hex, 16).ok()?),
    };
    Some((sequence.parse().ok()?, tag))
}

/// An opened spool.
#[derive(Debug)]
pub(crate) struct Spool {
    folder: PathBuf,
}

/// Held by the process that drains; let go when dropped, or when the process dies.
#[derive(Debug)]
pub(crate) struct DrainLock(#[expect(dead_code, reason = "its lock is what counts")] File);

impl Spool {
    /// Opens the spool, if it exists: a folder, no link, with the right owner, and closed to
    /// others.
    pub(crate) fn open(folder: &Path) -> Result<Option<Self>> {
        match check_folder(folder) {
            Ok(()) => Ok(Some(Self {
                folder: folder.to_owned(),
            })),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Opens the spool and makes it first where it is missing.
    pub(crate) fn open_or_make(folder: &Path) -> Result<Self> {
        if let Some(spool) = Self::open(folder)? {
            return Ok(spool);
        }
        make_folder(folder)?;
        check_folder(folder)?;
        Ok(Self {
            folder: folder.to_owned(),
        })
    }

    /// Adds a document at the place of its event's time, behind those of the same time: on disk
    /// when this returns. Calls overtake each other in an outage, for one that finds no bank ends
    /// before one that waits in vain; the times of their events do not.
    pub(crate) fn put(&self, entry: &Entry) -> Result<()> {
        let name = name_of(entry, place_of(&self.folder, entry)?);
        write_durably(&self.folder, &name, &entry.encode())
    }

    /// Puts a document straight into the quarantine, with the reason.
    pub(crate) fn put_quarantine(&self, entry: &Entry, reason: &str) -> Result<()> {
        let folder = self.quarantine_folder()?;
        let name = name_of(entry, place_of(&folder, entry)?);
        write_reason(&folder, &name, reason)?;
        write_durably(&folder, &name, &entry.encode())
    }

    /// The key of a document: that of the same document if it was sent a short time ago.
    pub(crate) fn remember(&self, sent: &Sent<'_>) -> Result<Remembered> {
        recent::remember(&self.folder, sent)
    }

    /// Whether a document about one of these objects waits.
    pub(crate) fn holds(&self, body: &[u8]) -> Result<bool> {
        let wanted: Vec<u64> = object_ids(body).iter().map(|id| tag_of(id)).collect();
        if wanted.is_empty() {
            return Ok(false);
        }
        let (mut found, mut unsure) = (false, Vec::new());
        self.each_name(|name, _, tag| match tag {
            Tag::One(tag) => found |= wanted.contains(&tag),
            Tag::Several => unsure.push(name.to_owned()),
            Tag::None => {}
        })?;
        let of_several = |name: &String| {
            let tags = self.read(name).ok().flatten().map(|entry| tags_of(&entry));
            tags.is_some_and(|tags| tags.iter().any(|tag| wanted.contains(tag)))
        };
        Ok(found || unsure.iter().any(of_several))
    }

    /// The lock of draining; `None` if another process has it.
    fn lock(&self) -> Result<Option<DrainLock>> {
        let path = self.folder.join(LOCK);
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(O_NOFOLLOW | O_NONBLOCK)
            .open(&path)
            .map_err(|error| Error::new(error.kind(), format!("{}: {error}", path.display())))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(DrainLock(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Waits for the lock of draining until the deadline; `None` if another process keeps it.
    fn lock_by(&self, deadline: Deadline) -> Result<Option<DrainLock>> {
        loop {
            let lock = self.lock()?;
            if lock.is_some() || !deadline.pause(LOOK) {
                return Ok(lock);
            }
        }
    }

    /// How many documents wait.
    fn count(&self) -> Result<usize> {
        let mut count = 0;
        self.each_name(|_, _, _| count += 1)?;
        Ok(count)
    }

    /// A document; `None` if its content is not whole, which no crash of ours can cause.
    fn read(&self, name: &str) -> Result<Option<Entry>> {
        let content = read_own(&self.folder.join(name), entry::MAX_FILE)?;
        Ok(Entry::decode(&content))
    }

    /// Removes an answered document. Not flushed by itself: if it returns after a crash, its key
    /// makes the second sending harmless.
    fn remove(&self, name: &str) -> Result<()> {
        std::fs::remove_file(self.folder.join(name))?;
        self.forget_tries(name);
        Ok(())
    }

    /// Adds a try of a document, and returns their number. Not flushed: a lost count costs one more try.
    fn count_try(&self, name: &str) -> Result<u32> {
        let path = self.folder.join(tries_of(name));
        let known = match read_own(&path, MAX_COUNT) {
            Ok(text) => String::from_utf8_lossy(&text).trim().parse().unwrap_or(0),
            Err(error) if error.kind() == ErrorKind::NotFound => 0,
            Err(error) => return Err(error),
        };
        let tries = u32::saturating_add(known, 1);
        write_small(&path, &tries.to_string())?;
        Ok(tries)
    }

    fn forget_tries(&self, name: &str) {
        // A leftover belongs to no document: names have a key and are never used again.
        let _ = remove_if_there(&self.folder.join(tries_of(name)));
    }

    /// Counts the tries of a drain in which only failing documents were sent: the bank has answered
    /// another one meanwhile. Nothing is counted while another process drains.
    pub(crate) fn count_failing(&self, report: &mut Report) -> Result<()> {
        if report.failing.is_empty() || report.outage.is_some() {
            return Ok(());
        }
        let Some(_lock) = self.lock()? else {
            return Ok(());
        };
        count_tries(self, report);
        Ok(())
    }

    /// Moves a document aside, with the reason.
    fn quarantine(&self, name: &str, reason: &str) -> Result<()> {
        let folder = self.quarantine_folder()?;
        write_reason(&folder, name, reason)?;
        std::fs::rename(self.folder.join(name), folder.join(name))?;
        self.forget_tries(name);
        flush_folder(&folder)?;
        flush_folder(&self.folder)
    }

    fn flush(&self) -> Result<()> {
        flush_folder(&self.folder)
    }

    fn quarantine_folder(&self) -> Result<PathBuf> {
        let folder = self.folder.join(QUARANTINE);
        if let Err(error) = check_folder(&folder) {
            if error.kind() != ErrorKind::NotFound {
                return Err(error);
            }
            make_folder(&folder)?;
            flush_folder(&self.folder)?;
        }
        Ok(folder)
    }

    /// Calls `see` with name, sequence number and tag of every document, in no order.
    fn each_name(&self, see: impl FnMut(&str, u64, Tag)) -> Result<()> {
        each_name_in(&self.folder, see)
    }
}

/// Calls `see` with name, sequence number and tag of every document of a folder, in no order.
fn each_name_in(folder: &Path, mut see: impl FnMut(&str, u64, Tag)) -> Result<()> {
    for item in std::fs::read_dir(folder)? {
        let name = item?.file_name();
        if let Some(name) = name.to_str()
            && let Some((sequence, tag)) = parse_name(name)
        {
            see(name, sequence, tag);
        }
    }
    Ok(())
}

/// The content of a file that is ours and no link; of a longer one, one byte more than `most`.
fn read_own(path: &Path, most: usize) -> Result<Vec<u8>> {
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(O_NOFOLLOW | O_NONBLOCK)
        .open(path);
    let is_link = || std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink());
    let file = match opened {
        Err(_) if is_link() => return Err(Error::other("it is a symbolic link")),
        other => other?,
    };
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(Error::other("it is not a regular file"));
    }
    if meta.uid() != own_uid()? {
        return Err(Error::other("its owner is another user"));
    }
    let mut content = Vec::new();
    let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    file.take(limit).read_to_end(&mut content)?;
    Ok(content)
}

/// Writes a small file in place. Not flushed.
fn write_small(path: &Path, text: &str) -> Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .custom_flags(O_NOFOLLOW | O_NONBLOCK)
        .open(path)?;
    file.write_all(format!("{text}\n").as_bytes())
}

/// The sequence number of a document: the time of its event, or the first that is free after it.
fn place_of(folder: &Path, entry: &Entry) -> Result<u64> {
    let mut sequence = u64::try_from(entry.time_us).unwrap_or(0);
    let mut taken = Vec::new();
    each_name_in(folder, |_, other, _| {
        if other >= sequence {
            taken.push(other);
        }
    })?;
    taken.sort_unstable();
    for other in taken {
        if other == sequence {
            sequence = sequence.saturating_add(1);
        }
    }
    Ok(sequence)
}

fn name_of(entry: &Entry, sequence: u64) -> String {
    // The key is our own UUID; should it ever be another's, it must not leave the folder.
    let key: String = entry
        .key
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .take(64)
        .collect();
    format!(
        "{sequence:020}-{}-{key}{ENDING}",
        Tag::of(&entry.body).text()
    )
}

/// The sequence number in a document's name.
fn number_of(name: &str) -> u64 {
    parse_name(name).map_or(0, |(number, _)| number)
}

/// The tags of all objects of a document.
fn tags_of(entry: &Entry) -> Vec<u64> {
    object_ids(&entry.body)
        .iter()
        .map(|id| tag_of(id))
        .collect()
}

/// Writes under a temporary name, flushes, and only then renames; flushes the folder, so that name
/// and content survive a loss of power.
fn write_durably(folder: &Path, name: &str, content: &[u8]) -> Result<()> {
    let unfinished = folder.join(format!(".new-{name}"));
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .custom_flags(O_NOFOLLOW)
        .open(&unfinished)?;
    let written = file.write_all(content).and_then(|()| file.sync_all());
    if let Err(error) = written.and_then(|()| std::fs::rename(&unfinished, folder.join(name))) {
        // The first error is the one to report; leftovers are never read.
        let _ = std::fs::remove_file(&unfinished);
        return Err(error);
    }
    flush_folder(folder)
}

fn write_reason(folder: &Path, name: &str, reason: &str) -> Result<()> {
    match write_durably(folder, &reason_of(name), format!("{reason}\n").as_bytes()) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        result => result,
    }
}

/// The name of the file that counts the tries of a document.
fn tries_of(name: &str) -> String {
    format!(".tries-{name}")
}

fn remove_if_there(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The name of the file with the reason, beside a document in the quarantine.
fn reason_of(name: &str) -> String {
    format!("{}.reason", name.strip_suffix(ENDING).unwrap_or(name))
}

fn check_folder(folder: &Path) -> Result<()> {
    let meta = std::fs::symlink_metadata(folder)?;
    let wrong = if !meta.is_dir() {
        "not a folder"
    } else if meta.uid() != own_uid()? {
        FOREIGN
    } else if meta.mode() & 0o077 != 0 {
        OPEN
    } else {
        return Ok(());
    };
    Err(Error::other(format!("{}: {wrong}", folder.display())))
}

/// The user of this process: the owner of its own entry in `/proc`, for the standard library has no
/// call for it.
fn own_uid() -> Result<u32> {
    Ok(std::fs::metadata("/proc/self")?.uid())
}

#[cfg(test)]
mod order_tests;
#[cfg(test)]
mod tests;
