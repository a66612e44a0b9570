//! The durable queue of a collector: batches that the bank has not taken yet.
//!
//! One folder of mode 0700, one file for each batch, `SEQUENCE.batch`: a line of JSON that says how
//! the bytes behind it are to be read, then these bytes. A file gets its name only when its content
//! is on disk, and its sequence tells its place. The folder's lock belongs to one process. The queue
//! must never let go of a batch that the bank has neither taken nor refused for good.

use std::cell::Cell;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead as _, BufReader, BufWriter, Error, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use bank_api::v1::CollectBatch;
use bank_client::durable::{self, DRAFT};

use crate::hooks;

/// Ending of a batch's name.
const ENDING: &str = ".batch";
/// Where batches go that the bank refused for good.
const REFUSED: &str = "refused";
/// The file whose lock lets one process collect at a time.
const LOCK: &str = ".lock";
/// Longest head of a batch, in bytes.
const HEAD_MAX: u64 = 64 * 1024;
/// Most batches that wait; more are fetched when some are sent.
const BATCHES_MAX: usize = 100_000;

/// A queue, locked by this process.
#[derive(Debug)]
pub(crate) struct Queue {
    folder: PathBuf,
    /// Most bytes that may wait.
    most: u64,
    /// Drafts begun: one that was given up may still be written to.
    drafts: Cell<u64>,
    lock: File,
}

impl Drop for Queue {
    /// A program that was started meanwhile has the file open too, until it runs: closing it here would
    /// leave the lock with that.
    fn drop(&mut self) {
        // It goes with the last of them all the same.
        let _ = self.lock.unlock();
    }
}

/// A batch in the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// The name of its file.
    pub(crate) name: String,
    /// Size of the file.
    pub(crate) bytes: u64,
    /// How it is to be read.
    pub(crate) head: CollectBatch,
}

impl Queue {
    /// Opens the queue in a folder, which is made where it is missing; `None` if another process has
    /// it.
    pub(crate) fn open(folder: &Path, most: u64) -> io::Result<Option<Self>> {
        durable::make_folder(folder)?;
        let lock = durable::lock_file(&folder.join(LOCK))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        // What was not whole when its process ended was never counted as fetched.
        durable::sweep(folder)?;
        Ok(Some(Self {
            folder: folder.to_owned(),
            most,
            drafts: Cell::new(0),
            lock,
        }))
    }

    /// The folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// What waits, the oldest first.
    pub(crate) fn list(&self) -> io::Result<Vec<Waiting>> {
        look(&self.folder)
    }

    /// The head of the newest batch of a stream.
    pub(crate) fn newest(&self, stream: &str) -> io::Result<Option<CollectBatch>> {
        for (name, _) in durable::names(&self.folder, ENDING)?.iter().rev() {
            let head = head_in(&self.folder, name)?;
            if let Some(head) = head.filter(|head| head.stream == stream) {
                return Ok(Some(head));
            }
        }
        Ok(None)
    }

    /// How many batches wait, and their bytes.
    pub(crate) fn size(&self) -> io::Result<(u64, u64)> {
        let names = durable::names(&self.folder, ENDING)?;
        let bytes = names.iter().fold(0_u64, |sum, (_, bytes)| sum + bytes);
        Ok((u64::try_from(names.len()).unwrap_or(u64::MAX), bytes))
    }

    /// Begins a batch of at most `batch_max` bytes. `QuotaExceeded` if the queue is full.
    pub(crate) fn begin(&self, head: &CollectBatch, batch_max: u64) -> io::Result<Draft> {
        let names = durable::names(&self.folder, ENDING)?;
        let used = names.iter().fold(0_u64, |sum, (_, bytes)| sum + bytes);
        let free = self.most.saturating_sub(used);
        if free == 0 || names.len() >= BATCHES_MAX {
            return Err(full());
        }
        let last = names
            .last()
            .and_then(|(name, _)| durable::number(name, ENDING));
        let next = last.unwrap_or(0).saturating_add(1);
        let name = durable::numbered(next, ENDING);
        let number = self.drafts.get().saturating_add(1);
        self.drafts.set(number);
        let draft = self.folder.join(format!("{DRAFT}{number}-{name}"));
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&draft)?;
        let mut draft = Draft {
            to: self.folder.join(name),
            from: draft,
            file: BufWriter::new(file),
            bytes: 0,
            free,
            batch_max,
        };
        let mut line = serde_json::to_vec(head)?;
        line.push(b'\n');
        draft.write_all(&line)?;
        Ok(draft)
    }

    /// The bytes of a batch, behind its head.
    pub(crate) fn body(&self, batch: &Waiting) -> io::Result<Box<dyn Read>> {
        let mut input = BufReader::new(File::open(self.folder.join(&batch.name))?);
        head_of(&mut input)?;
        Ok(Box::new(input))
    }

    /// Takes a batch out. On disk when this returns: an older batch that came back behind a newer
    /// one would say less of the same use.
    pub(crate) fn remove(&self, batch: &Waiting) -> io::Result<()> {
        fs::remove_file(self.folder.join(&batch.name))?;
        durable::flush(&self.folder)
    }

    /// Moves a batch aside, with the reason beside it.
    pub(crate) fn set_aside(&self, batch: &Waiting, reason: &str) -> io::Result<()> {
        let folder = self.folder.join(REFUSED);
        durable::make_folder(&folder)?;
        // The queue numbers anew when it was empty; what lies aside keeps its name.
        let stem = batch.name.strip_suffix(ENDING).unwrap_or(&batch.name);
        let until = batch.head.until.replace([':', '/'], "");
        let name = format!("{until}-{stem}{ENDING}");
        durable::write(
            &folder.join(format!("{name}.reason")),
            format!("{reason}\n").as_bytes(),
        )?;
        fs::rename(self.folder.join(&batch.name), folder.join(name))?;
        durable::flush(&folder)?;
        durable::flush(&self.folder)
    }
}

/// A batch that is being written; nothing of it remains unless it is committed.
#[derive(Debug)]
pub(crate) struct Draft {
    to: PathBuf,
    from: PathBuf,
    file: BufWriter<File>,
    bytes: u64,
    /// Bytes that fit into the queue.
    free: u64,
    /// Bytes that a batch may have.
    batch_max: u64,
}

impl Draft {
    /// Puts the batch into the queue: on disk when this returns. Gives its size.
    pub(crate) fn commit(mut self) -> io::Result<u64> {
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        hooks::point("drafted");
        fs::rename(&self.from, &self.to)?;
        if let Some(folder) = self.to.parent() {
            durable::flush(folder)?;
        }
        Ok(self.bytes)
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let more = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let then = self.bytes.saturating_add(more);
        if then > self.batch_max {
            let why = format!("a batch of more than {} bytes", self.batch_max);
            return Err(Error::new(ErrorKind::FileTooLarge, why));
        }
        if then > self.free {
            return Err(full());
        }
        self.file.write_all(bytes)?;
        self.bytes = then;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // Gone already after a commit.
        let _ = fs::remove_file(&self.from);
    }
}

/// What waits in a folder, the oldest first; locked or not.
pub(crate) fn look(folder: &Path) -> io::Result<Vec<Waiting>> {
    let mut waiting = Vec::new();
    for (name, bytes) in durable::names(folder, ENDING)? {
        if let Some(head) = head_in(folder, &name)? {
            waiting.push(Waiting { name, bytes, head });
        }
    }
    Ok(waiting)
}

/// The head of a batch; `None` of one that was taken out meanwhile.
fn head_in(folder: &Path, name: &str) -> io::Result<Option<CollectBatch>> {
    let file = match File::open(folder.join(name)) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let head = head_of(&mut BufReader::new(file));
    head.map(Some)
        .map_err(|error| Error::new(error.kind(), format!("{name}: {error}")))
}

fn head_of(input: &mut impl io::BufRead) -> io::Result<CollectBatch> {
    let mut line = Vec::new();
    input.take(HEAD_MAX).read_until(b'\n', &mut line)?;
    serde_json::from_slice(&line).map_err(|error| {
        Error::new(
            ErrorKind::InvalidData,
            format!("no head of a batch: {error}"),
        )
    })
}

fn full() -> Error {
    Error::new(ErrorKind::QuotaExceeded, "the queue is full")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(until: &str) -> CollectBatch {
        CollectBatch {
            stream: "colony".into(),
            format: "sacct".into(),
            until: until.into(),
            ..CollectBatch::default()
        }
    }

    fn put(queue: &Queue, until: &str, body: &str) {
        let mut draft = queue.begin(&head(until), 10_000).unwrap();
        draft.write_all(body.as_bytes()).unwrap();
        draft.commit().unwrap();
    }

    fn text(queue: &Queue, batch: &Waiting) -> String {
        let mut text = String::new();
        queue
            .body(batch)
            .unwrap()
            .read_to_string(&mut text)
            .unwrap();
        text
    }

    #[test]
    fn batches_keep_their_order_over_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/queue");
        let queue = Queue::open(&path, 1 << 20).unwrap().unwrap();
        assert!(
            Queue::open(&path, 1 << 20).unwrap().is_none(),
            "two have it"
        );
        for (until, body) in [("1", "one\ntwo"), ("2", ""), ("3", "three")] {
            put(&queue, until, body);
        }
        let abandoned = queue.begin(&head("4"), 10_000).unwrap();
        std::mem::forget(abandoned);
        drop(queue);
        let queue = Queue::open(&path, 1 << 20).unwrap().unwrap();
        let all = queue.list().unwrap();
        let untils: Vec<&str> = all.iter().map(|one| one.head.until.as_str()).collect();
        assert_eq!(untils, ["1", "2", "3"]);
        assert_eq!(text(&queue, &all[0]), "one\ntwo");
        assert_eq!(text(&queue, &all[1]), "");
        assert_eq!(queue.newest("colony").unwrap().unwrap().until, "3");
        assert_eq!(queue.newest("annex").unwrap(), None);
        let bytes = all.iter().map(|one| one.bytes).sum::<u64>();
        assert_eq!(queue.size().unwrap(), (3, bytes));
        queue.remove(&all[0]).unwrap();
        queue.set_aside(&all[1], "no such format").unwrap();
        put(&queue, "4", "four");
        let left = queue.list().unwrap();
        assert_eq!(left.len(), 2);
        assert_eq!(text(&queue, &left[1]), "four");
        let aside: Vec<_> = fs::read_dir(path.join(REFUSED)).unwrap().collect();
        assert_eq!(aside.len(), 2, "a batch and its reason");
    }

    #[test]
    fn a_queue_and_its_batches_are_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let queue = Queue::open(folder.path(), 400).unwrap().unwrap();
        let mut draft = queue.begin(&head("1"), 200).unwrap();
        let error = draft.write_all(&[b'x'; 200]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        drop(draft);
        assert!(queue.list().unwrap().is_empty(), "nothing of it remains");
        put(&queue, "1", &"x".repeat(200));
        let mut draft = queue.begin(&head("2"), 10_000).unwrap();
        let error = draft.write_all(&[b'x'; 300]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::QuotaExceeded);
        drop(draft);
        let names: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(names.len(), 2, "a batch and the lock");
    }

    #[test]
    fn a_file_that_is_no_batch_is_reported_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let name = durable::numbered(7, ENDING);
        fs::write(folder.path().join(&name), "no JSON\nx").unwrap();
        fs::write(folder.path().join("note.txt"), "x").unwrap();
        let error = look(folder.path()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
        assert!(error.to_string().contains(&name), "{error}");
    }
}
