//! Files of an old bank.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::fault::{Fault, too_large};
use crate::table::BYTES_MAX;

/// A folder with files.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    /// The names of its files.
    pub(crate) names: Vec<String>,
}

impl Folder {
    /// Opens a folder; `contents` are the files that it should have.
    pub(crate) fn open(path: &Path, contents: &str) -> Result<Self, Fault> {
        let shown = path.display();
        let unreadable = |error: std::io::Error| {
            let hint = format!("give a folder that this user can read, with {contents}");
            Fault::new(format!("cannot read the folder {shown}: {error}"), hint)
        };
        if path.is_file() {
            return Err(not_a_folder(path, contents));
        }
        let mut names = Vec::new();
        for entry in std::fs::read_dir(path).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
        names.sort_unstable();
        Ok(Self {
            path: path.to_owned(),
            names,
        })
    }

    /// The bytes of a file, if the folder has it.
    pub(crate) fn find(&self, name: &str) -> Result<Option<Vec<u8>>, Fault> {
        if !self.names.iter().any(|own| own == name) {
            return Ok(None);
        }
        bytes(&self.path.join(name)).map(Some)
    }

    /// The failure about a file that is not there.
    pub(crate) fn missing(&self, name: &str) -> Fault {
        let shown = self.path.display();
        Fault::new(
            format!("{shown} has no {name}"),
            "export every table of the old bank, also an empty one, with its header line",
        )
    }
}

/// The failure about a file in the place of a folder.
fn not_a_folder(path: &Path, contents: &str) -> Fault {
    let shown = path.display();
    let what = format!("{shown} is a file; a folder is needed");
    let mut head = [0; 15];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut head));
    if read.is_ok() && &head == b"SQLite format 3" {
        return Fault::new(what, format!("read the database with --sqlite {shown}"));
    }
    let parent = path.parent().filter(|own| !own.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    let parent = parent.display();
    Fault::new(what, format!("give the folder with {contents}: {parent}"))
}

/// The bytes of a file.
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>, Fault> {
    let shown = path.display();
    let unreadable = |error: std::io::Error| {
        let hint = "check the path, and that this user can read the file";
        Fault::new(format!("cannot read {shown}: {error}"), hint)
    };
    let file = File::open(path).map_err(unreadable)?;
    let most = u64::try_from(BYTES_MAX).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if bytes.len() > BYTES_MAX {
        return Err(too_large(&shown.to_string()));
    }
    Ok(bytes)
}
