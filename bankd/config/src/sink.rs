//! Record files: `[[sink]]`, any number of them up to a limit, and `[file]` and `[ggf]`, which are two
//! more by a shorter way.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::words::{DialectWord, EscapeWord, FormatWord, FsyncWord};
use super::{Config, File, Ggf};

/// The bank's own files in its directory (decisions.md 4), beside `keys`.
const OWN: [&str; 6] = [
    "bank.db",
    "bank.db-shm",
    "bank.db-wal",
    "bankd.lock",
    "bankd.sock",
    "bankd.toml",
];
/// Record files at most, `[file]` and `[ggf]` among them.
pub const SINKS_MAX: usize = 16;

/// `[[sink]]`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sink {
    /// Its name, `[a-z0-9_-]{1,32}`; the key of the stored state of its file.
    pub name: String,
    /// The format of its lines.
    pub format: FormatWord,
    /// The file; a relative path starts at the data directory.
    pub path: String,
    /// The form of FILE lines.
    pub dialect: DialectWord,
    /// FILE: one line per charge; false: one when the instance closes (decisions.md 28).
    pub interim: bool,
    /// FILE: add `QOS=`, `NODES=` and `AMOUNT=`.
    pub extended: bool,
    /// FILE: treatment of bytes that would break a reader.
    pub escape: EscapeWord,
    /// FILE: written where there is no account.
    pub blank_account: String,
    /// FILE: written where there is no user.
    pub blank_user: String,
    /// GGF: a record for changes after the close.
    pub adjustments: bool,
    /// When a line counts as written.
    pub fsync: FsyncWord,
}

impl Default for Sink {
    fn default() -> Self {
        Self::of_file("", File::default())
    }
}

impl Sink {
    fn of_file(name: &str, file: File) -> Self {
        Self {
            name: name.to_owned(),
            format: FormatWord::File,
            path: file.path,
            dialect: file.dialect,
            interim: file.interim,
            extended: file.extended,
            escape: file.escape,
            blank_account: file.blank_account,
            blank_user: file.blank_user,
            adjustments: true,
            fsync: file.fsync,
        }
    }

    fn of_ggf(name: &str, ggf: Ggf) -> Self {
        Self {
            name: name.to_owned(),
            format: FormatWord::Ggf,
            path: ggf.path,
            adjustments: ggf.adjustments,
            fsync: ggf.fsync,
            ..Self::default()
        }
    }

    /// The settings as text, from which [`Sink::read`] makes them again.
    pub fn text(&self) -> String {
        toml::to_string(self).unwrap_or_default()
    }

    /// The settings of a text; none if this version does not recognise it, or it names no sink.
    pub fn read(text: &str) -> Option<Self> {
        let sink: Option<Self> = toml::from_str(text).ok();
        sink.filter(|sink| !sink.name.is_empty())
    }

    /// A setting that belongs to the other format and is not as it is by default.
    fn stranger(&self) -> Option<&'static str> {
        let plain = Self::default();
        let of_file = [
            ("dialect", self.dialect != plain.dialect),
            ("interim", self.interim != plain.interim),
            ("extended", self.extended != plain.extended),
            ("escape", self.escape != plain.escape),
            ("blank_account", self.blank_account != plain.blank_account),
            ("blank_user", self.blank_user != plain.blank_user),
        ];
        let of_ggf = [("adjustments", self.adjustments != plain.adjustments)];
        let others = match self.format {
            FormatWord::File => &of_ggf[..],
            FormatWord::Ggf => &of_file[..],
        };
        others
            .iter()
            .find(|(_, differs)| *differs)
            .map(|(key, _)| *key)
    }

    fn check(&self, number: usize) -> Result<(), String> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c);
        if !(1..=32).contains(&self.name.len()) || !self.name.chars().all(plain) {
            return Err(format!(
                "sink {number}: name: 1 to 32 of a-z, 0-9, _ and -, not {:?}",
                self.name
            ));
        }
        if [FILE, GGF].contains(&self.name.as_str()) {
            let name = &self.name;
            return Err(format!("sink {number}: name: {name} is that of [{name}]"));
        }
        let name = &self.name;
        if self.path.is_empty() {
            return Err(format!("sink {name}: path: must not be empty"));
        }
        for (key, value) in [
            ("blank_account", &self.blank_account),
            ("blank_user", &self.blank_user),
        ] {
            super::check_label(&format!("sink {name}: {key}"), value)?;
        }
        match (self.stranger(), self.format) {
            (None, _) => Ok(()),
            (Some(key), FormatWord::File) => {
                Err(format!("sink {name}: {key} is for format \"ggf\""))
            }
            (Some(key), FormatWord::Ggf) => {
                Err(format!("sink {name}: {key} is for format \"file\""))
            }
        }
    }
}

/// The name of `[file]` among the sinks.
const FILE: &str = "file";
/// The name of `[ggf]`.
const GGF: &str = "ggf";

impl Config {
    /// Every record file that is switched on.
    pub fn sinks(&self) -> Vec<Sink> {
        let file = Sink::of_file(FILE, self.file.clone());
        let ggf = Sink::of_ggf(GGF, self.ggf.clone());
        let short = [file, ggf].into_iter().filter(|sink| !sink.path.is_empty());
        short.chain(self.sink.iter().cloned()).collect()
    }

    /// The sinks' names and paths: no two are the same.
    pub(super) fn check_sinks(&self) -> Result<(), String> {
        for (number, sink) in (1..).zip(&self.sink) {
            sink.check(number)?;
        }
        let sinks = self.sinks();
        if sinks.len() > SINKS_MAX {
            return Err(format!(
                "sink: {} of them, {SINKS_MAX} at most",
                sinks.len()
            ));
        }
        let (mut names, mut paths) = (HashSet::new(), HashSet::new());
        for sink in &sinks {
            let Sink { name, path, .. } = sink;
            if !names.insert(name) {
                return Err(format!("sink {name}: two of this name"));
            }
            if let Some(own) = own(path) {
                let own = own.display();
                return Err(format!("sink {name}: path: {own} is the bank's own"));
            }
            let path = plain(Path::new(path));
            if !paths.insert(path) {
                return Err(match name.as_str() {
                    GGF => "ggf.path: the same file as file.path".to_owned(),
                    _ => format!("sink {name}: path: {} is another sink's file", sink.path),
                });
            }
        }
        Ok(())
    }
}

/// A path that belongs to the bank itself (decisions.md 4), for any data directory.
pub(super) fn own(path: &str) -> Option<PathBuf> {
    let path = plain(Path::new(path));
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let is_own = path.starts_with("keys") || OWN.contains(&name);
    is_own.then_some(path)
}

/// A path without `.`.
fn plain(path: &Path) -> PathBuf {
    let parts = path.components().filter(|part| *part != Component::CurDir);
    parts.collect()
}
