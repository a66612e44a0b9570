//! Files of keys and checkpoints: never over one that is there, never half a file.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use bank_api::text::format_rfc3339;
use bankd_store::{self as store, checkpoint};

use super::{Error, SigningKey, write};

/// The largest file that is read.
const FILE_MAX: u64 = 1 << 20;

/// Default path of the secret half: in `keys`, for a timer. A key for signing by hand is safer on
/// another machine.
pub fn default_key(keys: &Path) -> PathBuf {
    keys.join("checkpoint.key")
}

/// The file of the public half of a key.
pub fn public_of(key: &Path) -> PathBuf {
    let mut name = key.as_os_str().to_owned();
    name.push(".pub");
    PathBuf::from(name)
}

fn file_error(path: &Path, error: io::Error) -> Error {
    let path = path.display().to_string();
    if error.kind() == io::ErrorKind::AlreadyExists {
        Error::Exists(path)
    } else {
        Error::File { path, error }
    }
}

/// Reads a small file.
pub(super) fn read(path: &Path) -> Result<String, Error> {
    let length = fs::metadata(path).map_err(|e| file_error(path, e))?.len();
    if length > FILE_MAX {
        return Err(super::bad(path, "it is too large"));
    }
    fs::read_to_string(path).map_err(|e| file_error(path, e))
}

/// Writes a file that is not there yet, and waits for the disk.
///
/// # Errors
/// If it is there already or cannot be written.
pub fn write_new(path: &Path, bytes: &[u8], mode: u32) -> Result<(), Error> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(mode);
    let written = options.open(path).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    if let Err(error) = written {
        // An incomplete file of this call; an existing one remains.
        if error.kind() != io::ErrorKind::AlreadyExists {
            let _ = fs::remove_file(path);
        }
        return Err(file_error(path, error));
    }
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or_else(|| Path::new(".")))
        .and_then(|folder| folder.sync_all())
        .map_err(|e| file_error(path, e))
}

/// Makes checkpoints of one bank.
#[derive(Clone, Debug)]
pub struct Keeper {
    /// The database.
    pub database: PathBuf,
    /// The secret half of the key.
    pub key: PathBuf,
}

impl Keeper {
    /// A checkpoint of now, as text, with the last transaction that it covers. Takes seconds for
    /// millions of entries, on a connection of its own.
    ///
    /// # Errors
    /// If the key or the bank cannot be read.
    pub fn make(&self, now_us: i64) -> Result<(i64, String), Error> {
        let key = SigningKey::read(&self.key)?;
        let connection = store::open_reader(&self.database)?;
        let facts = checkpoint::facts(&connection)?;
        Ok((facts.transactions, write(&facts, now_us, &key)))
    }

    /// The same for a bank that was verified up to a transaction: later transactions are verified
    /// too, so that only valid data is signed.
    ///
    /// # Errors
    /// [`Error::Unsound`] where something does not hold, and as [`Keeper::make`].
    pub fn make_proven(&self, proven: i64, now_us: i64) -> Result<(i64, String), Error> {
        let key = SigningKey::read(&self.key)?;
        let connection = store::open_reader(&self.database)?;
        let facts = checkpoint::facts(&connection)?;
        match checkpoint::prove_since(&connection, proven, &facts)? {
            Some(finding) => Err(Error::Unsound(finding)),
            None => Ok((facts.transactions, write(&facts, now_us, &key))),
        }
    }

    /// Makes a checkpoint of a verified bank in a folder; the name contains its transaction and
    /// time.
    ///
    /// # Errors
    /// As [`Keeper::make_proven`], and if the file cannot be written.
    pub fn keep(&self, folder: &Path, proven: i64, now_us: i64) -> Result<PathBuf, Error> {
        let (tx, text) = self.make_proven(proven, now_us)?;
        if !folder.is_dir() {
            let made = fs::DirBuilder::new().mode(0o755).create(folder);
            made.map_err(|e| file_error(folder, e))?;
        }
        let time = format_rfc3339(now_us).replace([':', '-'], "");
        let path = folder.join(format!("{PREFIX}{tx:012}-{time}.txt"));
        write_new(&path, text.as_bytes(), 0o644)?;
        Ok(path)
    }
}

pub(super) const PREFIX: &str = "checkpoint-";

/// When the newest checkpoint in a folder was written, in seconds since 1970; none in none.
pub fn newest(folder: &Path) -> Option<i64> {
    let files = fs::read_dir(folder).ok()?.filter_map(Result::ok);
    let own = files.filter(|file| file.file_name().to_string_lossy().starts_with(PREFIX));
    own.filter_map(|file| Some(file.metadata().ok()?.mtime()))
        .max()
}
