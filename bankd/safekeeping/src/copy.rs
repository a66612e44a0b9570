//! Copies of a node's database for new nodes of a cluster (decision 0208): [`Copies`] at the node that gives one, and
//! [`Receiver`] at the new node.
//!
//! A copy contains no secrets of keys: a new node has them from the log. It is removed when the new node has it, or when
//! nobody asked for a part of it for some minutes.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use bank_api::cluster::{COPY_PIECE, Copy, CopyPart};
use bankd_config::data_dir::DataDir;
use bankd_store as store;
use sha2::{Digest as _, Sha256};

use crate::backup::files::{self, hex};
use crate::backup::{self, MARGIN, mib};

/// Where copies for other nodes are.
const GIVEN: &str = ".cluster-copy";
/// Where a copy of another node grows.
const PARTIAL: &str = ".join-partial";
/// A copy that nobody asks for.
const IDLE: Duration = Duration::from_mins(3);

/// The copy that a node gives to another one; one at a time.
#[derive(Debug)]
pub struct Copies {
    data: DataDir,
    given: Mutex<Option<Given>>,
}

#[derive(Debug)]
struct Given {
    /// The node that it is for.
    to: String,
    id: String,
    /// None while it is made.
    is_made: bool,
    used: Instant,
}

impl Copies {
    /// Of a bank. Removes what an earlier process left.
    pub fn new(data: &DataDir) -> Self {
        let copies = Self {
            data: data.clone(),
            given: Mutex::default(),
        };
        copies.clear();
        copies
    }

    fn folder(&self) -> PathBuf {
        self.data.path().join(GIVEN)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Given>> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn clear(&self) {
        let folder = self.folder();
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                let folder = folder.display();
                tracing::warn!(%error, %folder, "an old copy for a new node cannot be removed");
            }
            _ => {}
        }
    }

    /// The answer to a request of a node; `own` gives an unused id for a copy, and the version of the program.
    ///
    /// # Errors
    /// Why there is none now.
    pub fn answer(
        &self,
        to: &str,
        part: CopyPart,
        own: impl FnOnce() -> std::io::Result<(String, &'static str)>,
    ) -> Result<Vec<u8>> {
        match part {
            CopyPart::Make => {
                let (id, version) = own()?;
                let made = self.make(to, &id, version)?;
                Ok(serde_json::to_vec(&made)?)
            }
            CopyPart::Piece { copy, from } => self.piece(&copy, from),
            CopyPart::Remove { copy } => {
                self.remove(&copy);
                Ok(Vec::new())
            }
        }
    }

    /// Makes a copy for a node, in place of an earlier one for the same node. Blocks for as long as the database takes.
    ///
    /// # Errors
    /// If another node is copying, there is no room, or the copy cannot be made.
    fn make(&self, to: &str, id: &str, version: &str) -> Result<Copy> {
        {
            let mut given = self.lock();
            if let Some(other) = given.as_ref()
                && (other.to != to || !other.is_made)
                && other.used.elapsed() < IDLE
            {
                if other.to == to {
                    bail!(
                        "the copy of an earlier try is still being made: run the command again in a minute"
                    );
                }
                bail!("node {} is copying this node now", other.to);
            }
            *given = Some(Given {
                to: to.to_owned(),
                id: id.to_owned(),
                is_made: false,
                used: Instant::now(),
            });
        }
        self.clear();
        let made = self.fill(id, version);
        let mut given = self.lock();
        match (&made, given.as_mut()) {
            (Ok(_), Some(own)) if own.id == id => {
                own.is_made = true;
                own.used = Instant::now();
            }
            (Err(_), _) => {
                *given = None;
                self.clear();
            }
            _ => {}
        }
        made
    }

    fn fill(&self, id: &str, version: &str) -> Result<Copy> {
        let folder = self.folder();
        files::private_folder(&folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        backup::room(&self.data, &folder)?;
        let database = folder.join("bank.db");
        files::empty(&database).with_context(|| format!("cannot make {}", database.display()))?;
        store::snapshot(&self.data.database(), &database)
            .with_context(|| format!("cannot copy {}", self.data.database().display()))?;
        let holding = store::holding(&database)?;
        let reader = store::open_reader(&database)?;
        let place =
            store::replica::place(&reader)?.context("this bank is not a node of a cluster")?;
        drop(reader);
        let sealed = files::sealed(&database, "bank.db")?;
        Ok(Copy {
            copy: id.to_owned(),
            bank: holding.uuid,
            version: version.to_owned(),
            schema: holding.schema,
            position: place.position,
            bytes: sealed.bytes,
            sha256: sealed.sha256,
        })
    }

    /// Bytes of a copy.
    ///
    /// # Errors
    /// If there is no such copy any more, or it cannot be read.
    fn piece(&self, id: &str, from: u64) -> Result<Vec<u8>> {
        {
            let mut given = self.lock();
            let own = given.as_mut().filter(|own| own.id == id && own.is_made);
            let own = own.context("this copy is not there any more: start again")?;
            own.used = Instant::now();
        }
        let mut file = File::open(self.folder().join("bank.db"))?;
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        let most = u64::try_from(COPY_PIECE).unwrap_or(u64::MAX);
        file.take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Removes a copy.
    fn remove(&self, id: &str) {
        let mut given = self.lock();
        if given.take_if(|own| own.id == id).is_some() {
            self.clear();
        }
    }

    /// Removes a copy that nobody asked for some minutes.
    pub fn expire(&self) {
        let mut given = self.lock();
        let is_idle = |own: &mut Given| own.is_made && own.used.elapsed() >= IDLE;
        if given.take_if(is_idle).is_some() {
            self.clear();
        }
    }
}

/// A copy of another node's database on its way into a data directory, which has no bank until it is whole.
#[derive(Debug)]
pub struct Receiver {
    folder: PathBuf,
    expected: Copy,
    file: File,
    digest: Sha256,
    bytes: u64,
}

impl Receiver {
    /// Begins, in place of what an interrupted one left. The lock of the directory is held.
    ///
    /// # Errors
    /// If the copy is of another schema version, there is no room, or nothing can be written.
    pub fn begin(data: &DataDir, expected: Copy) -> Result<Self> {
        let ours = store::replica::schema();
        ensure!(
            expected.schema == ours,
            "the node runs bankd {} with schema version {}, this program has {ours}: install the version of that node",
            expected.version,
            expected.schema
        );
        clear(data)?;
        let free = files::free(data.path())?;
        let needed = expected.bytes.saturating_add(MARGIN);
        ensure!(
            free >= needed,
            "{}: {} MiB are free, the copy needs {}",
            data.path().display(),
            mib(free),
            mib(needed)
        );
        let folder = data.path().join(PARTIAL);
        files::private_folder(&folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        let path = folder.join("bank.db");
        let mut options = OpenOptions::new();
        let file = options.write(true).create_new(true).mode(0o600).open(&path);
        let file = file.with_context(|| format!("cannot make {}", path.display()))?;
        Ok(Self {
            folder,
            expected,
            file,
            digest: Sha256::new(),
            bytes: 0,
        })
    }

    /// The bytes that are here.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The bytes of the whole.
    pub fn size(&self) -> u64 {
        self.expected.bytes
    }

    /// Adds a piece.
    ///
    /// # Errors
    /// If it is empty or too long, or cannot be written.
    pub fn add(&mut self, piece: &[u8]) -> Result<()> {
        let length = u64::try_from(piece.len()).unwrap_or(u64::MAX);
        let bytes = self.bytes.saturating_add(length);
        ensure!(
            length > 0 && bytes <= self.expected.bytes,
            "the copy has another length than the node announced: start again"
        );
        let path = || format!("cannot write {}", self.folder.join("bank.db").display());
        self.file.write_all(piece).with_context(path)?;
        self.digest.update(piece);
        self.bytes = bytes;
        Ok(())
    }

    /// Checks the digest and the journal of the whole, and returns the path of the database.
    ///
    /// # Errors
    /// If the digest or the bank differs, or the journal is not sound.
    pub fn finish(self) -> Result<PathBuf> {
        let path = self.folder.join("bank.db");
        self.file
            .sync_all()
            .with_context(|| format!("cannot write {}", path.display()))?;
        let found = hex(&self.digest.finalize());
        ensure!(
            found == self.expected.sha256,
            "the digest of the copy is {found}, and the node announced {}: the copy is damaged, start again",
            self.expected.sha256
        );
        let holding = store::holding(&path)?;
        ensure!(
            holding.uuid == self.expected.bank,
            "the copy is of the bank {}, and the log of {}",
            holding.uuid,
            self.expected.bank
        );
        backup::prove(&path)?;
        Ok(path)
    }
}

/// The database of a copy that has arrived.
pub fn partial(data: &DataDir) -> PathBuf {
    data.path().join(PARTIAL).join("bank.db")
}

/// Whether a copy was interrupted on its way into a directory.
pub fn is_interrupted(data: &DataDir) -> bool {
    data.path().join(PARTIAL).exists()
}

/// Gives a finished copy the name of the bank.
///
/// # Errors
/// Of the file system.
pub fn install(data: &DataDir) -> Result<()> {
    let from = partial(data);
    files::private_folder(&data.keys())?;
    data.give(&data.keys())?;
    data.give(&from)?;
    let mut wal = from.clone().into_os_string();
    wal.push("-wal");
    // One name makes the bank, so that there is never a part of one.
    ensure!(
        !Path::new(&wal).exists(),
        "{} has changes that are not in the database yet: start again",
        Path::new(&wal).display()
    );
    fs::rename(&from, data.database())
        .with_context(|| format!("cannot name {}", data.database().display()))?;
    files::sync_folder(data.path())?;
    clear(data)
}

/// Removes what an interrupted copy left.
///
/// # Errors
/// Of the file system.
pub fn clear(data: &DataDir) -> Result<()> {
    remove(&data.path().join(PARTIAL))
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
