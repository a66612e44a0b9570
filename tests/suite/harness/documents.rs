//! The scheduler's documents, by the numbers of `nami-samples/INDEX.md`: our own small ones, or the
//! shared samples with the same meaning.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use bankd_nami::{Document, DocumentError, ReadOptions, read};

use super::peers::shared_folder;

/// A folder of documents named `NN-what.xml`.
#[derive(Clone, Debug)]
pub(crate) struct Documents(PathBuf);

impl Documents {
    /// Those written for this project.
    pub(crate) fn own() -> Self {
        Self(PathBuf::from(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/cases/nami"
        )))
    }

    /// The shared samples, where they are.
    pub(crate) fn shared() -> Option<Self> {
        let folder = shared_folder()?.join("spec/nami-samples");
        folder.is_dir().then_some(Self(folder))
    }

    /// The document of a number, byte by byte.
    pub(crate) fn get(&self, number: u32) -> Vec<u8> {
        let prefix = format!("{number:02}-");
        let entries = fs::read_dir(&self.0).unwrap();
        let mut paths = entries.map(|entry| entry.unwrap().path());
        let path = paths.find(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name.starts_with(&prefix)
        });
        fs::read(path.unwrap_or_else(|| panic!("no document {number}"))).unwrap()
    }

    /// The document of a number with some of its text replaced.
    pub(crate) fn with(&self, number: u32, changes: &[(&str, &str)]) -> Vec<u8> {
        let mut text = String::from_utf8(self.get(number)).unwrap();
        for (from, to) in changes {
            assert!(text.contains(from), "document {number} has no {from}");
            text = text.replace(from, to);
        }
        text.into_bytes()
    }
}

/// What the daemon's reader makes of a document, and how long it takes: the best of three, so that
/// a busy machine does not count.
pub(crate) fn reading(body: &[u8]) -> (Result<Vec<Document>, DocumentError>, Duration) {
    let options = ReadOptions {
        latin1_fallback: false,
        tid_variable: "BILLTID",
    };
    let once = || {
        let since = Instant::now();
        let read = read(body, &options);
        (read, since.elapsed())
    };
    [once(), once(), once()]
        .into_iter()
        .min_by_key(|(_, took)| *took)
        .unwrap()
}
