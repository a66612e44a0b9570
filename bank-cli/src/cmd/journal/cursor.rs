//! How far a reader of the journal is, in a file: the next run goes on there.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use crate::fail::Failure;

/// Longest content of such a file.
const LENGTH_MAX: usize = 40;

/// A file with the `upto` of a page of the journal: a transaction. It is written after the rows were printed: what was
/// printed right before a crash is printed again.
#[derive(Debug)]
pub(super) struct Place {
    path: PathBuf,
    beside: PathBuf,
}

impl Place {
    pub(super) fn new(path: PathBuf) -> Result<Self, Failure> {
        let name = path.file_name().ok_or_else(|| {
            Failure::usage(format!("{} is not a file", path.display()))
                .hint("name one that may be made")
        })?;
        let mut beside = name.to_owned();
        beside.push(".new");
        let beside = path.with_file_name(beside);
        Ok(Self { path, beside })
    }

    /// The cursor in it; none where the file is not there yet. A plain number may be one of an earlier version.
    pub(super) fn read(&self) -> Result<Option<String>, Failure> {
        let text = match fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.cannot("read", &error)),
        };
        let cursor = text.trim();
        let number = cursor.split('~').next().unwrap_or_default();
        let is_cursor = number.parse::<u64>().is_ok() && cursor.is_ascii();
        if is_cursor && cursor.len() < LENGTH_MAX {
            return Ok(Some(cursor.to_owned()));
        }
        let what = format!("{} holds no cursor of the journal", self.path.display());
        Err(Failure::usage(what).hint("remove it to start again"))
    }

    /// Writes a cursor: the old file stays until the new one is whole.
    pub(super) fn keep(&self, cursor: &str) -> Result<(), Failure> {
        let written = || -> std::io::Result<()> {
            let mut file = fs::File::create(&self.beside)?;
            writeln!(file, "{cursor}")?;
            file.sync_all()?;
            fs::rename(&self.beside, &self.path)?;
            let folder = self.path.parent().filter(|p| !p.as_os_str().is_empty());
            fs::File::open(folder.unwrap_or_else(|| Path::new(".")))?.sync_all()
        };
        written().map_err(|error| self.cannot("write", &error))
    }

    fn cannot(&self, what: &str, error: &std::io::Error) -> Failure {
        let path = self.path.display();
        Failure::usage(format!("cannot {what} {path}: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_read_again_and_nothing_else_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("place");
        let place = Place::new(path.clone()).unwrap();
        assert_eq!(place.read().unwrap(), None);
        place.keep("41").unwrap();
        place.keep("42~9f3a5c01").unwrap();
        assert_eq!(place.read().unwrap().as_deref(), Some("42~9f3a5c01"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        for wrong in ["", "x", "-1", "99999999999999999999"] {
            fs::write(&path, wrong).unwrap();
            assert!(place.read().is_err(), "{wrong}");
        }
        assert!(Place::new(PathBuf::from("/")).is_err());
    }
}
