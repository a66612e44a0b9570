//! The checkpoints in the folder of the daemon, compared with the bank.

use std::fs;
use std::path::Path;

use bankd_store::checkpoint::{Facts, journal_against};
use bankd_store::open_reader;

use super::files::{PREFIX, public_of, read};
use super::{Checkpoints, Error, PublicKey, parse};

/// One checkpoint of the folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// The name of its file.
    pub name: String,
    /// When it was made, µs since 1970; none if it cannot be read.
    pub made_at: Option<i64>,
    /// Its last transaction and entry, likewise.
    pub last: Option<(i64, i64)>,
    /// What is wrong; none if its signature is valid and its last transaction has the same hash in the bank.
    pub error: Option<String>,
}

impl Checkpoints {
    /// The names of the files, the newest first.
    pub fn names(&self) -> Vec<String> {
        let files = fs::read_dir(&self.folder).into_iter().flatten();
        let names = files.filter_map(|file| file.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|name| name.starts_with(PREFIX)).collect();
        names.sort_unstable_by(|a, b| b.cmp(a));
        names
    }

    /// The checkpoints of some names, compared with the bank.
    ///
    /// # Errors
    /// If the bank cannot be read.
    pub fn kept(&self, names: &[String]) -> Result<Vec<Kept>, Error> {
        let connection = open_reader(&self.keeper.database)?;
        let key = PublicKey::read(&public_of(&self.keeper.key));
        let mut all = Vec::new();
        for name in names {
            let mut kept = Kept {
                name: name.clone(),
                ..Kept::default()
            };
            let read = key.as_ref().map_err(ToString::to_string);
            match read.and_then(|key| checked(&self.folder.join(name), key)) {
                Err(error) => kept.error = Some(error),
                Ok((facts, made_at)) => {
                    kept.made_at = Some(made_at);
                    kept.last = Some((facts.transactions, facts.entries));
                    let finding = journal_against(&connection, &facts)?;
                    kept.error = finding.map(|finding| finding.text);
                }
            }
            all.push(kept);
        }
        Ok(all)
    }
}

/// A checkpoint whose signature is valid.
fn checked(path: &Path, key: &PublicKey) -> Result<(Facts, i64), String> {
    let text = read(path).map_err(|error| error.to_string())?;
    let checkpoint = parse(path, &text, key).map_err(|error| error.to_string())?;
    Ok((checkpoint.facts, checkpoint.made_at))
}
