//! Documents in the default folder although the settings name another spool: they were stored while the settings
//! could not be read. They move to the spool of the settings, at their place in its order. Those of calls with another
//! settings file stay: they are for its bank.

use std::fs::remove_file;
use std::io::{ErrorKind, Result};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::{
    Entry, QUARANTINE, Spool, each_name_in, entry, flush_folder, read_own, reason_of,
    remove_if_there,
};
use crate::client::query_of;
use crate::clock::Deadline;
use crate::settings::{DEFAULT_SPOOL, Settings};

/// Moves the documents of the default folder, and of its quarantine, to the spool of the settings, as far as
/// the deadline allows. A default folder of another user is not this spool's.
pub(crate) fn fetch(settings: &Settings, deadline: Deadline) -> Result<()> {
    let default = Path::new(DEFAULT_SPOOL);
    if settings.spool_dir == default {
        return Ok(());
    }
    fetch_from(default, settings, deadline)
}

fn fetch_from(folder: &Path, settings: &Settings, deadline: Deadline) -> Result<()> {
    let Ok(Some(strays)) = Spool::open(folder) else {
        return Ok(());
    };
    let quarantine = folder.join(QUARANTINE);
    if names_of(folder)?.is_empty() && names_of(&quarantine)?.is_empty() {
        return Ok(());
    }
    let spool = Spool::open_or_make(&settings.spool_dir)?;
    // A script without these settings drains its own spool at the same time.
    let Some(_lock) = strays.lock()? else {
        return Ok(());
    };
    if is_same(folder, &spool.folder)? {
        return Ok(());
    }
    let is_over = || deadline.remaining().is_none();
    for name in names_of(folder)? {
        if is_over() {
            return Ok(());
        }
        if let Some(entry) = read(&folder.join(&name), settings) {
            // If the machine stops between the two, the same key is sent again and counts once.
            spool.put(&entry)?;
            strays.remove(&name)?;
        }
    }
    for name in names_of(&quarantine)? {
        if is_over() {
            return Ok(());
        }
        let path = quarantine.join(&name);
        if let Some(entry) = read(&path, settings) {
            let reason = quarantine.join(reason_of(&name));
            let text = read_own(&reason, entry::MAX_FILE).unwrap_or_default();
            spool.put_quarantine(&entry, String::from_utf8_lossy(&text).trim())?;
            remove_file(&path)?;
            remove_if_there(&reason)?;
        }
    }
    flush_folder(folder)
}

/// A document of a call with these settings, or of an earlier version, with their query if it was stored without one.
/// One that is not whole, or cannot be read, stays for a person to look at.
fn read(path: &Path, settings: &Settings) -> Option<Entry> {
    let content = read_own(path, entry::MAX_FILE).ok()?;
    let mut entry = Entry::decode(&content)?;
    if entry.query.is_empty() {
        entry.query = query_of(settings, entry.event);
    }
    (entry.file.is_empty() || entry.file == settings.file).then_some(entry)
}

/// The documents of a folder in their order; none if there is no folder.
fn names_of(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    match each_name_in(folder, |name, _, _| names.push(name.to_owned())) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => names.sort(),
    }
    Ok(names)
}

fn is_same(one: &Path, other: &Path) -> Result<bool> {
    let (one, other) = (std::fs::metadata(one)?, std::fs::metadata(other)?);
    Ok((one.dev(), one.ino()) == (other.dev(), other.ino()))
}
