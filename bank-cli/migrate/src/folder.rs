//! Files of an old bank.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::{fault::Fault, table::BYTES_MAX};

/// A folder with files.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    /// The names of its files.
    pub(crate) names: Vec<String>,
}

impl Folder {
    pub(crate) fn open(path: &Path) -> Result<Self, Fault> {
        let shown = path.display();
        let unreadable =
            |error: std::io::Error| Fault::new(format!("cannot read the folder {shown}: {error}"));
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
        Fault::new(format!("{shown} has no {name}"))
            .hint("export every table of the old bank, also an empty one, with its header line")
    }
}

/// The bytes of a file.
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>, Fault> {
    let shown = path.display();
    let unreadable = |error: std::io::Error| Fault::new(format!("cannot read {shown}: {error}"));
    let file = File::open(path).map_err(unreadable)?;
    let most = u64::try_from(BYTES_MAX).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if bytes.len() > BYTES_MAX {
        return Err(Fault::new(format!("{shown}: larger than 1 GiB")));
    }
    Ok(bytes)
}
