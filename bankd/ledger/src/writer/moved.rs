//! Whether the files of the database are still at their paths. `SQLite` goes on to write into a file that was moved or
//! removed (<https://sqlite.org/howtocorrupt.html> 1.2), and the next start opens the one that is at the path then.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The files that a connection has open.
pub(super) struct Files {
    files: Vec<(PathBuf, (u64, u64))>,
    is_moved: bool,
}

/// What a look at the files found.
pub(super) enum Look {
    InPlace,
    /// They are in place again.
    Back,
    /// This one is gone, or another one is at its path, since now.
    Moved(PathBuf),
    StillMoved,
}

impl Files {
    /// The database that was opened just now, and its log, which exists as long as a connection.
    pub(super) fn of(database: &Path) -> Self {
        let mut log = database.as_os_str().to_owned();
        log.push("-wal");
        let paths = [database.to_owned(), PathBuf::from(log)];
        let files = paths.into_iter().filter_map(|path| {
            let id = id(&path).ok()?;
            Some((path, id))
        });
        Self {
            files: files.collect(),
            is_moved: false,
        }
    }

    /// Looks at the paths: before each commit, at the cost of a system call for each file.
    pub(super) fn look(&mut self) -> Look {
        let moved = self.files.iter().find(|(path, opened)| match id(path) {
            Ok(found) => found != *opened,
            // Any other error does not show that the file is elsewhere.
            Err(error) => error.kind() == ErrorKind::NotFound,
        });
        let was_moved = std::mem::replace(&mut self.is_moved, moved.is_some());
        match (moved, was_moved) {
            (None, false) => Look::InPlace,
            (None, true) => Look::Back,
            (Some((path, _)), false) => Look::Moved(path.clone()),
            (Some(_), true) => Look::StillMoved,
        }
    }
}

/// Device and number of the file at a path.
fn id(path: &Path) -> std::io::Result<(u64, u64)> {
    fs::metadata(path).map(|file| (file.dev(), file.ino()))
}
