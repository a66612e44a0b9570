//! A queue on disk for commands that must not be lost while the bank is away.
//!
//! One folder of mode 0700, one file for each command, in the order of [`Queue::enqueue`]. A file contains the
//! command with its idempotency key, so a command that is sent again has no second effect. Several processes and
//! threads can use the same folder: one drains it at a time.
//!
//! ```no_run
//! use bank_client::{Call, Client, new_key, queue::Queue, v1::NewDeposit};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let client = Client::connect("unix:/var/lib/bankd/bankd.sock")?;
//! let queue = Queue::open("/var/spool/portal")?;
//! let deposit = NewDeposit {
//!     name: "chem".into(),
//!     amount: "1000".into(),
//!     ..NewDeposit::default()
//! };
//! // On disk when this returns, with its key.
//! queue.enqueue(&Call::deposit(&deposit, new_key()?)?)?;
//! let drained = queue.drain(&client)?;
//! println!("{} done, {} refused, {} left", drained.done, drained.refused, drained.left);
//! # Ok(())
//! # }
//! ```
//!
//! | answer | effect |
//! |---|---|
//! | success | the command leaves the queue |
//! | refused by a rule (status 4xx) | the command moves to the folder `refused`, with the answer beside it |
//! | no answer, busy, an answer that is not trusted, status 401 or 5xx | the drain ends; the command and all later ones stay |
//!
//! The bank keeps keys of charges for ever, and other keys for seven days. If this process ends between the answer to
//! another command and its removal, drain the queue again within that time.
//!
//! It must never drop a command that the bank has neither executed nor refused.

mod background;
mod item;

use std::{
    fs::{self, File, TryLockError},
    io::{self, ErrorKind},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use bank_api::nami::Line;

pub use self::background::Background;
use bank_files as durable;

use crate::{call::Call, client::Client, clock, error::Error};

/// Ending of the name of a command.
const ENDING: &str = ".call";
/// Folder of refused commands.
const REFUSED: &str = "refused";
/// The file whose lock lets one process add a command at a time.
const LOCK: &str = ".lock";
/// The file whose lock lets one process drain at a time.
const DRAIN: &str = ".drain";
/// Largest command, in bytes.
const ITEM_MAX: usize = 16 * 1024 * 1024;

/// Limits of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most commands that wait.
    pub items: usize,
    /// Most bytes that wait.
    pub bytes: u64,
}

impl Default for Limits {
    /// 10,000 commands and 256 MiB.
    fn default() -> Self {
        Self {
            items: 10_000,
            bytes: 256 * 1024 * 1024,
        }
    }
}

/// Why the queue cannot do it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueueError {
    /// The limits of the queue are reached. Nothing was stored.
    #[error("the queue {folder} is full: {items} commands, {bytes} bytes")]
    Full {
        /// The folder.
        folder: PathBuf,
        /// Commands that wait.
        items: usize,
        /// Their size, in bytes.
        bytes: u64,
    },
    /// The call cannot wait. Nothing was stored.
    #[error("this call cannot be queued: {0}")]
    Call(&'static str),
    /// The folder, or a file in it, cannot be used.
    #[error("{}: {error}", path.display())]
    Disk {
        /// The folder or file.
        path: PathBuf,
        /// Reason of the failure.
        error: io::Error,
    },
}

/// Result of a drain.
#[derive(Debug, Default)]
pub struct Drained {
    /// Commands that the bank executed, now or before.
    pub done: usize,
    /// Commands that moved to the folder `refused`.
    pub refused: usize,
    /// Commands that wait.
    pub left: usize,
    /// Why the drain ended before its end.
    pub stopped: Option<Error>,
    /// Another process or thread drains: nothing was sent.
    pub is_busy: bool,
}

/// A command in the queue, or in the folder `refused`.
#[derive(Debug, Clone)]
pub struct Item {
    /// Name of its file.
    pub name: String,
    /// The command.
    pub call: Call,
}

/// A queue. A clone uses the same folder.
#[derive(Debug, Clone)]
pub struct Queue {
    folder: PathBuf,
    limits: Limits,
}

impl Queue {
    /// Opens a queue with the default limits. A missing folder is created with mode 0700.
    ///
    /// # Errors
    /// [`QueueError::Disk`] if the folder cannot be used, or if others than its owner can.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, QueueError> {
        Self::open_with(folder, Limits::default())
    }

    /// The same with other limits.
    ///
    /// # Errors
    /// As [`Queue::open`].
    pub fn open_with(folder: impl Into<PathBuf>, limits: Limits) -> Result<Self, QueueError> {
        let folder = folder.into();
        for one in [folder.clone(), folder.join(REFUSED)] {
            durable::make_folder(&one).map_err(|error| disk(&one, error))?;
            let meta = fs::metadata(&one).map_err(|error| disk(&one, error))?;
            if meta.mode() & 0o077 != 0 {
                let error = io::Error::other("others can use this folder; make it mode 0700");
                return Err(disk(&one, error));
            }
        }
        let queue = Self { folder, limits };
        queue.sweep()?;
        Ok(queue)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Stores a command with its key. It is on disk when this returns; if this process ends before, the command is
    /// stored or not.
    ///
    /// # Errors
    /// [`QueueError`]; nothing is stored then.
    pub fn enqueue(&self, call: &Call) -> Result<(), QueueError> {
        let content = item::encode(call).map_err(QueueError::Call)?;
        if content.len() > ITEM_MAX {
            return Err(QueueError::Call("it has more than 16 MiB"));
        }
        let lock = self.lock(LOCK)?;
        lock.lock().map_err(|error| self.disk(error))?;
        let names = self.names()?;
        let bytes = names
            .iter()
            .fold(0_u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
        let more = u64::try_from(content.len()).unwrap_or(u64::MAX);
        if names.len() >= self.limits.items || bytes.saturating_add(more) > self.limits.bytes {
            return Err(QueueError::Full {
                folder: self.folder.clone(),
                items: names.len(),
                bytes,
            });
        }
        let last = names
            .last()
            .and_then(|(name, _)| durable::number(name, ENDING));
        // The time makes numbers that were not used before; a clock that was set back does not change the order.
        let now = u64::try_from(clock::now_us()).unwrap_or_default();
        let next = last.map_or(now, |last| now.max(last.saturating_add(1)));
        let path = self.folder.join(durable::numbered(next, ENDING));
        durable::write(&path, &content).map_err(|error| disk(&path, error))
    }

    /// Commands that wait, the oldest first. Files that contain no command are left out.
    ///
    /// # Errors
    /// [`QueueError::Disk`]
    pub fn waiting(&self) -> Result<Vec<Item>, QueueError> {
        items(&self.folder)
    }

    /// Commands that the bank refused, the oldest first.
    ///
    /// # Errors
    /// [`QueueError::Disk`]
    pub fn refused(&self) -> Result<Vec<Item>, QueueError> {
        items(&self.folder.join(REFUSED))
    }

    /// The answer to a refused command.
    ///
    /// # Errors
    /// [`QueueError::Disk`]
    pub fn answer(&self, refused: &Item) -> Result<String, QueueError> {
        let path = self.folder.join(REFUSED).join(answer_name(&refused.name));
        fs::read_to_string(&path).map_err(|error| disk(&path, error))
    }

    /// Sends waiting commands in their order, until all are done or the bank cannot accept one.
    ///
    /// # Errors
    /// [`QueueError::Disk`]
    pub fn drain(&self, client: &Client) -> Result<Drained, QueueError> {
        self.drain_with(client, |_, _| ())
    }

    /// The same with a function that receives each command and its answer: text of the bank, or its refusal. A
    /// command that is sent again after a failure of this process is reported again.
    ///
    /// # Errors
    /// [`QueueError::Disk`]
    pub fn drain_with(
        &self,
        client: &Client,
        mut answered: impl FnMut(&Item, Result<&str, &Error>),
    ) -> Result<Drained, QueueError> {
        let mut drained = Drained::default();
        let lock = self.lock(DRAIN)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                drained.is_busy = true;
                drained.left = self.names()?.len();
                return Ok(drained);
            }
            Err(TryLockError::Error(error)) => return Err(self.disk(error)),
        }
        for (name, _) in self.names()? {
            let Some(content) = self.read(&name)? else {
                continue;
            };
            let Some(call) = item::decode(&content) else {
                self.set_aside(&name, "the file is not a command of this queue")?;
                drained.refused = drained.refused.saturating_add(1);
                continue;
            };
            let item = Item { name, call };
            match client.text(&item.call) {
                Ok(text) => {
                    answered(&item, Ok(&text));
                    self.remove(&item.name)?;
                    drained.done = drained.done.saturating_add(1);
                }
                // It was done; the text of its answer does not matter.
                Err(Error::Unreadable { .. }) => {
                    answered(&item, Ok(""));
                    self.remove(&item.name)?;
                    drained.done = drained.done.saturating_add(1);
                }
                Err(error) if is_final(&error) => {
                    answered(&item, Err(&error));
                    self.set_aside(&item.name, &answer_of(&error))?;
                    drained.refused = drained.refused.saturating_add(1);
                }
                Err(error) => {
                    drained.stopped = Some(error);
                    break;
                }
            }
        }
        drained.left = self.names()?.len();
        Ok(drained)
    }

    /// Moves a waiting command to the folder `refused`, such as one that the bank cannot execute. The caller
    /// decides that it is not sent any more.
    ///
    /// # Errors
    /// [`QueueError::Disk`]
    pub fn give_up(&self, waiting: &Item, reason: &str) -> Result<(), QueueError> {
        let lock = self.lock(DRAIN)?;
        lock.lock().map_err(|error| self.disk(error))?;
        self.set_aside(&waiting.name, reason)
    }

    /// Removes files that were not whole when their process ended, unless another process writes now.
    fn sweep(&self) -> Result<(), QueueError> {
        for (lock, folder) in [
            (LOCK, self.folder.clone()),
            (DRAIN, self.folder.join(REFUSED)),
        ] {
            let lock = self.lock(lock)?;
            if lock.try_lock().is_ok() {
                durable::sweep(&folder).map_err(|error| disk(&folder, error))?;
            }
        }
        Ok(())
    }

    fn lock(&self, name: &str) -> Result<File, QueueError> {
        let path = self.folder.join(name);
        durable::lock_file(&path).map_err(|error| disk(&path, error))
    }

    fn names(&self) -> Result<Vec<(String, u64)>, QueueError> {
        durable::names(&self.folder, ENDING).map_err(|error| self.disk(error))
    }

    /// The content of a file; `None` if it is gone.
    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, QueueError> {
        let path = self.folder.join(name);
        match fs::read(&path) {
            Ok(content) => Ok(Some(content)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(disk(&path, error)),
        }
    }

    fn remove(&self, name: &str) -> Result<(), QueueError> {
        let path = self.folder.join(name);
        let removed = fs::remove_file(&path).and_then(|()| durable::flush(&self.folder));
        removed.map_err(|error| disk(&path, error))
    }

    /// The answer is on disk before the command moves: a command without one is still in the queue.
    fn set_aside(&self, name: &str, answer: &str) -> Result<(), QueueError> {
        let folder = self.folder.join(REFUSED);
        let moved = || -> io::Result<()> {
            let mut number = durable::number(name, ENDING).unwrap_or_default();
            while folder.join(durable::numbered(number, ENDING)).exists() {
                number = number.saturating_add(1);
            }
            let to = durable::numbered(number, ENDING);
            durable::write(&folder.join(answer_name(&to)), answer.as_bytes())?;
            fs::rename(self.folder.join(name), folder.join(to))?;
            durable::flush(&folder)?;
            durable::flush(&self.folder)
        };
        moved().map_err(|error| disk(&folder, error))
    }

    fn disk(&self, error: io::Error) -> QueueError {
        disk(&self.folder, error)
    }
}

/// Whether the bank refused the command itself: not its sender, and not for a failure of its own. A proxy's answer
/// has another form.
fn is_final(error: &Error) -> bool {
    match error {
        Error::Refused(refused) => {
            let is_of_bank = refused.problem.is_some() || Line::parse_all(&refused.text).is_ok();
            let is_of_command = (400..500).contains(&refused.status) && refused.status != 401;
            is_of_bank && is_of_command && !refused.is_passing()
        }
        // The command cannot be sent as it is.
        Error::Settings { .. } => true,
        _ => false,
    }
}

/// The text that is kept of a refusal: the answer as it came, else the reason.
fn answer_of(error: &Error) -> String {
    match error {
        Error::Refused(refused) => refused.text.clone(),
        other => other.to_string(),
    }
}

fn answer_name(name: &str) -> String {
    format!("{}.answer", name.strip_suffix(ENDING).unwrap_or(name))
}

fn items(folder: &Path) -> Result<Vec<Item>, QueueError> {
    let mut items = Vec::new();
    let names = durable::names(folder, ENDING).map_err(|error| disk(folder, error))?;
    for (name, _) in names {
        let path = folder.join(&name);
        match fs::read(&path) {
            Ok(content) => {
                let call = item::decode(&content);
                items.extend(call.map(|call| Item { name, call }));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(disk(&path, error)),
        }
    }
    Ok(items)
}

fn disk(path: &Path, error: io::Error) -> QueueError {
    let path = path.to_owned();
    QueueError::Disk { path, error }
}

#[cfg(test)]
mod tests;
