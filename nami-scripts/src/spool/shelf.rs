//! The spool and its quarantine as people see them: listed, shown, sent again, dropped
//! (`bank nami`).
//!
//! Every function that moves or removes a document holds the drain lock, so a running script never
//! loses one. Documents are only sent in the way of the scripts.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use bank_api::v1::{Drained, Waiting};

use super::{
    ENDING, Entry, MAX_BATCH, QUARANTINE, Spool, drain, each_name_in, entry, fetch_strays,
    flush_folder, number_of, read_own, reason_of, remove_if_there, tries_of,
};
use crate::client::Client;
use crate::clock::Deadline;
use crate::outcome::{Condition, Outcome};
use crate::scan::{has_several, object_ids};
use crate::settings::Settings;

/// Largest reason that is read, in bytes.
const MAX_REASON: usize = 4096;

/// Which of the two folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Documents to be sent.
    Spool,
    /// Documents that can never be accepted unchanged.
    Quarantine,
}

/// Why something could not be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// The settings are wrong: file, line and why.
    Settings(String),
    /// The folder belongs to another user, or is open to others.
    Denied(String),
    /// The folder cannot be used.
    Folder(String),
    /// A process is draining and does not end.
    Busy,
    /// No document has this number or key.
    NoSuch(String),
    /// Several have this number: their keys distinguish them.
    Ambiguous(String, Vec<String>),
}

/// Some documents of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The first of them, in the order in which they are sent.
    pub documents: Vec<Waiting>,
    /// How many there are in all.
    pub total: usize,
}

/// The spool that the scripts' settings name.
#[derive(Debug)]
pub struct Shelf {
    settings: Settings,
    /// None where there is no folder yet.
    spool: Option<Spool>,
}

impl Shelf {
    /// Opens the spool of `nami.conf`: of this one, else as the scripts find theirs.
    ///
    /// # Errors
    /// [`Trouble`] if the settings are wrong or the folder may not be used.
    pub fn open(conf: Option<&Path>) -> Result<Self, Trouble> {
        let loaded = conf.map_or_else(Settings::load, Settings::load_file);
        if let Some(mistake) = loaded.mistake {
            return Err(Trouble::Settings(mistake));
        }
        let settings = loaded.settings;
        let deadline = Deadline::after(settings.talk_time());
        fetch_strays(&settings, deadline).map_err(|error| folder(&error))?;
        let spool = Spool::open(&settings.spool_dir).map_err(|error| folder(&error))?;
        Ok(Self { settings, spool })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.settings.spool_dir
    }

    /// The first `most` documents, at most 5000. One that cannot be read has a reason.
    ///
    /// # Errors
    /// [`Trouble::Folder`] if the folder cannot be read.
    pub fn list(&self, place: Place, most: usize) -> Result<Listed, Trouble> {
        let names = self.names(place)?;
        let total = names.len();
        let mut documents = Vec::new();
        for name in names.iter().take(most.min(MAX_BATCH)) {
            // One that is gone meanwhile was sent or dropped.
            if let Some((waiting, _)) = self.read(place, name) {
                documents.push(waiting);
            }
        }
        Ok(Listed { documents, total })
    }

    /// One document with its bytes, by number or key.
    ///
    /// # Errors
    /// [`Trouble`] if there is none.
    pub fn show(&self, place: Place, id: &str) -> Result<(Waiting, Vec<u8>), Trouble> {
        let name = find(&self.names(place)?, id)?;
        self.read(place, &name)
            .ok_or_else(|| Trouble::NoSuch(id.to_owned()))
    }

    /// Removes documents for good, and returns them. All of them or, if one is missing, none.
    ///
    /// # Errors
    /// [`Trouble`].
    pub fn drop(&self, place: Place, ids: &[String]) -> Result<Vec<Waiting>, Trouble> {
        self.each(place, ids, |name| {
            let Some(folder) = self.place(place) else {
                return Ok(());
            };
            remove_any(&folder.join(name))?;
            remove_if_there(&folder.join(reason_of(name)))?;
            remove_if_there(&folder.join(tries_of(name)))?;
            flush_folder(&folder)
        })
    }

    /// Puts documents of the quarantine back at their place in the spool, without sending them. All
    /// of them or, if one is not there, none.
    ///
    /// A document of one object gets the next key: the bank stores its refusal under the old one
    /// and would repeat it. One of several objects keeps its key, because some of them may be done.
    ///
    /// # Errors
    /// [`Trouble`].
    pub fn release(&self, ids: &[String]) -> Result<Vec<Waiting>, Trouble> {
        self.each(Place::Quarantine, ids, |name| {
            let (Some(from), Some(spool)) = (self.place(Place::Quarantine), &self.spool) else {
                return Ok(());
            };
            let content = read_own(&from.join(name), entry::MAX_FILE).map_err(|error| {
                std::io::Error::other(format!("{name} cannot be read: {error}"))
            })?;
            let mut entry = Entry::decode(&content).ok_or_else(|| {
                std::io::Error::other(format!("{name} is not a whole document: drop it"))
            })?;
            if !has_several(&entry.body) {
                entry.key = next_key(&entry.key);
            }
            // If the machine stops between the two, the same key is sent again and counts once.
            spool.put(&entry)?;
            std::fs::remove_file(from.join(name))?;
            remove_if_there(&from.join(reason_of(name)))?;
            flush_folder(&from)
        })
    }

    /// Sends waiting documents, as `bank.drain` does.
    ///
    /// # Errors
    /// [`Trouble`] if nothing could be tried.
    pub fn send(&self) -> Result<Drained, Trouble> {
        let Some(spool) = &self.spool else {
            return Ok(Drained::default());
        };
        let deadline = Deadline::after(self.settings.talk_time());
        let client =
            Client::new(&self.settings).map_err(|outcome| Trouble::Settings(outcome.text))?;
        let report = drain(spool, deadline, |entry| entry.send(&client, deadline))
            .map_err(|error| folder(&error))?;
        if report.busy {
            return Err(Trouble::Busy);
        }
        // What had no time may be sent the next time, like all after an outage.
        let had_no_time = |kept: &Outcome| kept.condition == Condition::Timeout;
        let outage = report.outage.is_some() || report.kept.as_ref().is_some_and(had_no_time);
        Ok(Drained {
            delivered: report.delivered,
            quarantined: report.quarantined,
            left: report.left,
            why: report.outage.or(report.kept).map(|outcome| outcome.text),
            outage,
        })
    }

    fn place(&self, place: Place) -> Option<PathBuf> {
        let spool = self.spool.as_ref()?;
        Some(match place {
            Place::Spool => spool.folder.clone(),
            Place::Quarantine => spool.folder.join(QUARANTINE),
        })
    }

    /// The names of all documents in the order in which they are sent.
    fn names(&self, place: Place) -> Result<Vec<String>, Trouble> {
        let mut names = Vec::new();
        let Some(path) = self.place(place) else {
            return Ok(names);
        };
        match each_name_in(&path, |name, _, _| names.push(name.to_owned())) {
            // The quarantine is made when it is first needed.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(folder(&error)),
            Ok(()) => names.sort(),
        }
        Ok(names)
    }

    /// Does something to each document under the lock of draining.
    fn each(
        &self,
        place: Place,
        ids: &[String],
        act: impl Fn(&str) -> std::io::Result<()>,
    ) -> Result<Vec<Waiting>, Trouble> {
        let Some(spool) = &self.spool else {
            return Err(Trouble::NoSuch(ids.first().cloned().unwrap_or_default()));
        };
        let deadline = Deadline::after(self.settings.talk_time());
        let lock = spool.lock_by(deadline).map_err(|error| folder(&error))?;
        let _lock = lock.ok_or(Trouble::Busy)?;
        let names = self.names(place)?;
        let mut chosen = Vec::new();
        for id in ids {
            let name = find(&names, id)?;
            if let Some((waiting, _)) = self.read(place, &name)
                && !chosen.iter().any(|(known, _)| *known == name)
            {
                chosen.push((name, waiting));
            }
        }
        for (name, _) in &chosen {
            act(name).map_err(|error| folder(&error))?;
        }
        Ok(chosen.into_iter().map(|(_, waiting)| waiting).collect())
    }

    /// A stored document; `None` if it is gone.
    fn read(&self, place: Place, name: &str) -> Option<(Waiting, Vec<u8>)> {
        let path = self.place(place)?;
        let content = match read_own(&path.join(name), entry::MAX_FILE) {
            Ok(content) => content,
            Err(error) if error.kind() == ErrorKind::NotFound => return None,
            Err(error) => return Some((unreadable(&path.join(name), name, &error), Vec::new())),
        };
        let reason = (place == Place::Quarantine)
            .then(|| read_own(&path.join(reason_of(name)), MAX_REASON).ok())
            .flatten()
            .map(|text| String::from_utf8_lossy(&text).trim().to_owned());
        let id = number_of(name).to_string();
        let Some(entry) = Entry::decode(&content) else {
            let waiting = Waiting {
                id,
                bytes: u64::try_from(content.len()).unwrap_or(u64::MAX),
                reason,
                ..Waiting::default()
            };
            return Some((waiting, content));
        };
        let waiting = Waiting {
            id,
            event: Some(entry.event.name().to_owned()),
            objects: object_ids(&entry.body),
            time: Some(entry.time()),
            bytes: u64::try_from(entry.body.len()).unwrap_or(u64::MAX),
            key: Some(entry.key),
            query: Some(entry.query),
            reason,
            document: None,
        };
        Some((waiting, entry.body))
    }
}

/// What is known of a file that cannot be read.
fn unreadable(path: &Path, name: &str, error: &std::io::Error) -> Waiting {
    Waiting {
        id: number_of(name).to_string(),
        bytes: std::fs::symlink_metadata(path).map_or(0, |meta| meta.len()),
        reason: Some(format!("cannot be read: {error}")),
        ..Waiting::default()
    }
}

/// Removes a file, or an empty folder in its place.
fn remove_any(path: &Path) -> std::io::Result<()> {
    let is_folder = std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir());
    let removed = if is_folder {
        std::fs::remove_dir(path)
    } else {
        std::fs::remove_file(path)
    };
    removed.map_err(|error| std::io::Error::other(format!("{}: {error}", path.display())))
}

/// The name of a document by its number or key.
fn find(names: &[String], id: &str) -> Result<String, Trouble> {
    let is_key = |name: &&String| key_of(name) == plain(id);
    let number = id.parse::<u64>().ok();
    let is_number = |name: &&String| number.is_some_and(|number| number_of(name) == number);
    let mut found: Vec<&String> = names.iter().filter(is_key).collect();
    if found.is_empty() {
        found = names.iter().filter(is_number).collect();
    }
    match found.as_slice() {
        [] => Err(Trouble::NoSuch(id.to_owned())),
        [name] => Ok((*name).clone()),
        several => {
            let keys = several.iter().map(|name| key_of(name).to_owned()).collect();
            Err(Trouble::Ambiguous(id.to_owned(), keys))
        }
    }
}

/// Error of a folder.
fn folder(error: &std::io::Error) -> Trouble {
    if error.kind() == ErrorKind::PermissionDenied {
        return Trouble::Denied(error.to_string());
    }
    let text = error.to_string();
    if text.ends_with(super::FOREIGN) || text.ends_with(super::OPEN) {
        return Trouble::Denied(text);
    }
    Trouble::Folder(text)
}

/// The key as a file's name holds it: its letters and digits.
fn key_of(name: &str) -> &str {
    let base = name.strip_suffix(ENDING).unwrap_or(name);
    base.splitn(3, '-').nth(2).unwrap_or_default()
}

fn plain(key: &str) -> String {
    key.chars().filter(char::is_ascii_alphanumeric).collect()
}

/// `KEY~2` after `KEY`, `KEY~3` after that.
fn next_key(key: &str) -> String {
    let (base, number) = key.rsplit_once('~').unwrap_or((key, "1"));
    match number.parse::<u32>() {
        Ok(number) => format!("{base}~{}", number.saturating_add(1)),
        Err(_) => format!("{key}~2"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_after_a_refusal() {
        for (key, next) in [
            ("018f-1", "018f-1~2"),
            ("018f-1~2", "018f-1~3"),
            ("a~b", "a~b~2"),
            ("~", "~~2"),
        ] {
            assert_eq!(next_key(key), next);
        }
    }

    #[test]
    fn numbers_and_keys_of_names() {
        let name = "00000001767225600000-00000000000000af-018f6b0e.doc";
        assert_eq!(
            (number_of(name), key_of(name)),
            (1_767_225_600_000, "018f6b0e")
        );
        assert_eq!(plain("018f-6b0e"), "018f6b0e");
        assert_eq!(key_of("x"), "");
    }
}
