//! Unknown outcomes: whether an entry is in the log, and how it becomes certain.

use crate::log::{Appended, Entry, Log, LogError};

/// The outcome of an entry after [`LogError::Unknown`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// The entry is in the log and durable: as after [`Appended::Done`].
    Done,
    /// Another entry has the position: as after [`Appended::Taken`].
    Taken,
    /// The position is empty. The entry can still arrive, so this is not a failure of the entry: append the
    /// same entry again, with the same batch. Never answer its commands with an error because of `Absent`.
    Absent,
}

/// Finds the outcome of an append that was unknown.
///
/// A visible entry of our batch may not be durable: the engine may have stopped waiting for its standby. The
/// append is therefore repeated, which returns `Done` only after the engine has made it durable. No following
/// entry is appended for this: as long as entry N is not durable, N + 1 must not exist, because followers
/// conclude from N + 1 that N is durable.
///
/// # Errors
/// Those of the log; call it again, until it has an outcome.
pub fn settle(log: &mut dyn Log, entry: &Entry) -> Result<Settled, LogError> {
    match log.find(entry.position)? {
        None => Ok(Settled::Absent),
        Some(found) if found.batch != entry.batch => Ok(Settled::Taken),
        Some(_) => Ok(match log.append(entry)? {
            Appended::Done => Settled::Done,
            Appended::Taken => Settled::Taken,
        }),
    }
}

/// Makes the last visible entry durable and returns it; none in an empty log. A new writer calls this before
/// it appends its first entry, because the previous writer may have left an entry that is not durable.
///
/// # Errors
/// Those of the log. `Away` if the log changed meanwhile.
pub fn secure_last(log: &mut dyn Log) -> Result<Option<Entry>, LogError> {
    let last = log.last()?;
    if last == 0 {
        return Ok(None);
    }
    let changed = || LogError::Away(format!("entry {last} of the log changed while it was read"));
    let entry = log.find(last)?.ok_or_else(changed)?;
    match log.append(&entry)? {
        Appended::Done => Ok(Some(entry)),
        Appended::Taken => Err(changed()),
    }
}
