//! Where an export along a cursor is, kept in a file from one run to the next. The cursor moves when what it
//! has passed is on the disk, and not before: after a crash the rest of an unconfirmed run is cut off,
//! and made again.

use std::{
    fmt::Write as _,
    fs::{self, File, TryLockError},
    io::{self, Write as _},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use crate::{
    fail::Failure,
    file::{beside, cannot, sync_folder},
};

/// The first line of the file.
const TITLE: &str = "bank-export 1";

/// A file with the state of an export, which no other run may use meanwhile.
pub(super) struct StateFile {
    path: PathBuf,
    /// What is exported: a state is of one export only.
    what: String,
    /// Held until the run is over.
    _lock: File,
}

/// How far an export is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct State {
    /// Where the next run goes on.
    pub(super) cursor: Option<String>,
    /// The file that is appended to, as far as it is confirmed.
    pub(super) confirmed: Option<Confirmed>,
}

/// A file, and how much of it is surely on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Confirmed {
    /// The device of the file.
    device: u64,
    /// Its inode there.
    inode: u64,
    /// Bytes.
    length: u64,
}

impl Confirmed {
    /// All of a file, which has been synced.
    pub(super) fn of(file: &File) -> io::Result<Self> {
        let found = file.metadata()?;
        Ok(Self {
            device: found.dev(),
            inode: found.ino(),
            length: found.len(),
        })
    }

    /// The length to which a file is cut: it is this very file, and has more than was confirmed.
    pub(super) fn rest(self, file: &File) -> io::Result<Option<u64>> {
        let now = Self::of(file)?;
        let same = (now.device, now.inode) == (self.device, self.inode);
        Ok((same && now.length > self.length).then_some(self.length))
    }
}

impl StateFile {
    /// Takes hold of a state; none is there before the first run.
    pub(super) fn open(path: &Path, what: String) -> Result<(Self, Option<State>), Failure> {
        let failed = |e: &io::Error| cannot(&path.display().to_string(), e);
        let mut lock = path.as_os_str().to_owned();
        lock.push(".lock");
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&lock)
            .map_err(|e| failed(&e))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let busy = format!("{}: another export uses this state file", path.display());
                return Err(Failure::usage(busy).hint("wait until it is done"));
            }
            Err(TryLockError::Error(e)) => return Err(failed(&e)),
        }
        let state = match fs::read_to_string(path) {
            Ok(text) => Some(read(&text, &what).map_err(|why| {
                Failure::usage(format!("{}: {why}", path.display()))
                    .hint("name another file, or remove this one to begin again")
            })?),
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            Err(e) => return Err(failed(&e)),
        };
        let file = Self {
            path: path.to_owned(),
            what,
            _lock: lock,
        };
        Ok((file, state))
    }

    /// Keeps a state: when this returns it is on the disk.
    pub(super) fn keep(&self, state: &State) -> Result<(), Failure> {
        let failed = |e: io::Error| cannot(&self.path.display().to_string(), &e);
        let mut text = format!("{TITLE}\nwhat {}\n", self.what);
        if let Some(cursor) = &state.cursor {
            let _ = writeln!(text, "cursor {cursor}");
        }
        if let Some(file) = state.confirmed {
            let _ = writeln!(text, "file {} {} {}", file.device, file.inode, file.length);
        }
        let draft = beside(&self.path)?;
        let mut file = File::create(&draft).map_err(failed)?;
        let written = file.write_all(text.as_bytes());
        written.and_then(|()| file.sync_all()).map_err(failed)?;
        fs::rename(&draft, &self.path).map_err(failed)?;
        sync_folder(&self.path)
    }
}

fn read(text: &str, what: &str) -> Result<State, String> {
    let mut lines = text.lines();
    if lines.next() != Some(TITLE) {
        return Err("it is not the state of an export".to_owned());
    }
    let mut state = State::default();
    let mut found = None;
    for line in lines {
        let (key, value) = line.split_once(' ').unwrap_or((line, ""));
        match key {
            "what" => found = Some(value),
            "cursor" => state.cursor = Some(value.to_owned()),
            "file" => state.confirmed = Some(confirmed(value).ok_or("its file is unreadable")?),
            _ => return Err(format!("{key:?} is unknown to this version")),
        }
    }
    match found {
        Some(found) if found == what => Ok(state),
        found => Err(format!(
            "it is of another export: {}",
            found.unwrap_or("unknown")
        )),
    }
}

fn confirmed(text: &str) -> Option<Confirmed> {
    let mut numbers = text.split(' ').map(str::parse);
    let confirmed = Confirmed {
        device: numbers.next()?.ok()?,
        inode: numbers.next()?.ok()?,
        length: numbers.next()?.ok()?,
    };
    numbers.next().is_none().then_some(confirmed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_read_as_it_was_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let (file, none) = StateFile::open(&path, "jsonl".to_owned()).unwrap();
        assert_eq!(none, None);
        let other = folder.path().join("out");
        fs::write(&other, "abc").unwrap();
        let state = State {
            cursor: Some("8f1c2d3a-1-2-3".to_owned()),
            confirmed: Some(Confirmed::of(&File::open(&other).unwrap()).unwrap()),
        };
        file.keep(&state).unwrap();
        assert!(StateFile::open(&path, "jsonl".to_owned()).is_err());
        drop(file);
        let (_, kept) = StateFile::open(&path, "jsonl".to_owned()).unwrap();
        assert_eq!(kept, Some(state));
        let other = StateFile::open(&path, "csv".to_owned());
        assert!(other.is_err());
    }

    #[test]
    fn only_what_is_not_confirmed_of_the_same_file_is_cut() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        fs::write(&path, "abc").unwrap();
        let file = File::open(&path).unwrap();
        let whole = Confirmed::of(&file).unwrap();
        assert_eq!(whole.rest(&file).unwrap(), None);
        fs::OpenOptions::new()
            .append(true)
            .open(&path)
            .unwrap()
            .write_all(b"def")
            .unwrap();
        assert_eq!(whole.rest(&file).unwrap(), Some(3));
        let other = folder.path().join("other");
        fs::write(&other, "abcdef").unwrap();
        assert_eq!(whole.rest(&File::open(&other).unwrap()).unwrap(), None);
    }

    #[test]
    fn what_is_no_state_is_refused() {
        for (text, why) in [
            ("", "not the state"),
            ("bank-export 1\n", "unknown"),
            ("bank-export 1\nwhat csv\n", "another export: csv"),
            ("bank-export 1\nwhat jsonl\nfile 1 2\n", "its file"),
            ("bank-export 1\nwhat jsonl\nfuture 1\n", "future"),
        ] {
            let message = read(text, "jsonl").unwrap_err();
            assert!(message.contains(why), "{text:?}: {message}");
        }
    }
}
