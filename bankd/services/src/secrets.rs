//! Secrets of keys in a cluster: they are in the log's database, and every node has them as files (decision 0209).
//!
//! The node that writes stores the secret of a new key there before the key is in the ledger. Every other node fetches
//! it when it applies the entry with the key. The database wins over a file, because the file can be of a command that
//! was undone.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bank_api::sign::Secret;
use bank_core::directory::Directory;
use bankd_cluster::{KeySecret, Log};
use bankd_ledger::keys::{self, KeyRing};
use bankd_ledger::writer::Writer;

/// Time between two comparisons of the files with the database, if no key changes.
const AGAIN: Duration = Duration::from_mins(1);
/// Time between two tries after a failure.
const RETRY: Duration = Duration::from_secs(1);

/// Access to the secrets in the log's database; a bank on a single machine has none.
#[derive(Clone)]
pub struct Secrets(Option<Arc<Shared>>);

struct Shared {
    log: Mutex<Box<dyn Log>>,
    state: Mutex<State>,
}

/// What was compared last.
#[derive(Default)]
struct State {
    ids: BTreeSet<String>,
    was_writing: bool,
    next: Option<Instant>,
    is_failed: bool,
}

impl Secrets {
    /// Over a log; none for a bank on a single machine.
    pub fn new(log: Option<Box<dyn Log>>) -> Self {
        let shared = |log| {
            Arc::new(Shared {
                log: Mutex::new(log),
                state: Mutex::default(),
            })
        };
        Self(log.map(shared))
    }

    /// Stores the secret of a key that is about to be added.
    ///
    /// # Errors
    /// Why it is not stored. No key may be added then: other nodes could not verify it.
    pub async fn keep(&self, id: &str, secret: &Secret) -> Result<(), String> {
        let key = KeySecret {
            id: id.to_owned(),
            secret: secret.bytes().to_vec(),
        };
        self.with_log(move |log| log.keep_key(&key)).await
    }

    /// Removes the secret of a removed key. If that fails, a later comparison repeats it.
    pub async fn remove(&self, id: &str) {
        let id = id.to_owned();
        if let Err(error) = self.with_log(move |log| log.remove_key(&id)).await {
            tracing::warn!(
                error,
                "the secret of a removed key stays in the log for now"
            );
        }
    }

    async fn with_log(
        &self,
        change: impl FnOnce(&mut dyn Log) -> Result<(), bankd_cluster::LogError> + Send + 'static,
    ) -> Result<(), String> {
        let Some(shared) = self.0.clone() else {
            return Ok(());
        };
        let done = tokio::task::spawn_blocking(move || {
            let mut log = shared.log.lock().unwrap_or_else(PoisonError::into_inner);
            change(&mut **log).map_err(|error| error.to_string())
        });
        done.await.map_err(|error| error.to_string())?
    }

    /// Compares the files with the database, if a key changed or it is time, and reads the keys again. Called whenever
    /// the ledger may have other keys.
    pub async fn look(&self, ring: &KeyRing, writer: &Writer) {
        let Some(shared) = self.0.clone() else {
            return;
        };
        let is_writing = writer.is_writing();
        if !shared.is_due(&writer.directory(), is_writing) {
            return;
        }
        // A command that adds a key stores its secret first: nothing is compared meanwhile.
        let _changing = ring.changing().await;
        let directory = writer.directory();
        let (own, folder) = (Arc::clone(&shared), ring.folder().to_owned());
        let compared = Arc::clone(&directory);
        let done =
            tokio::task::spawn_blocking(move || own.compare(&folder, &compared, is_writing)).await;
        let done = done.unwrap_or_else(|error| Err(error.to_string()));
        shared.note(&directory, is_writing, done);
        ring.reload(&directory);
    }
}

impl Shared {
    fn is_due(&self, directory: &Directory, is_writing: bool) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_time = state.next.is_none_or(|next| next <= Instant::now());
        let is_other = state.was_writing != is_writing || state.ids != live(directory);
        is_time || (is_other && !state.is_failed)
    }

    fn compare(
        &self,
        folder: &Path,
        directory: &Directory,
        is_writing: bool,
    ) -> Result<(), String> {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let known = {
            let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.ids.clone()
        };
        compare(&mut **log, folder, directory, is_writing)?;
        for id in known.difference(&live(directory)) {
            keys::remove_secret(folder, id)
                .map_err(|error| format!("the secret of the removed key {id}: {error}"))?;
        }
        Ok(())
    }

    fn note(&self, directory: &Directory, is_writing: bool, done: Result<(), String>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match done {
            Ok(()) => {
                *state = State {
                    ids: live(directory),
                    was_writing: is_writing,
                    next: Instant::now().checked_add(AGAIN),
                    is_failed: false,
                };
            }
            Err(error) => {
                if !state.is_failed {
                    tracing::warn!(error, "secrets of keys are compared with the log later");
                }
                state.is_failed = true;
                state.next = Instant::now().checked_add(RETRY);
            }
        }
    }
}

/// The ids of the keys with a secret.
fn live(directory: &Directory) -> BTreeSet<String> {
    let signing = directory.keys().filter(|key| key.token.is_none());
    signing.map(|key| key.id.clone()).collect()
}

/// Makes the files of a folder those of the log's database. The writer also stores secrets that are missing there, and
/// removes those of removed keys.
///
/// # Errors
/// Of the log or of the files.
pub fn compare(
    log: &mut dyn Log,
    folder: &Path,
    directory: &Directory,
    is_writing: bool,
) -> Result<(), String> {
    let stored = log.keys().map_err(|error| error.to_string())?;
    let mut missing = live(directory);
    for key in stored {
        if !missing.remove(&key.id) {
            if is_writing {
                log.remove_key(&key.id).map_err(|error| error.to_string())?;
            }
            continue;
        }
        let has_it = keys::read_secret(folder, &key.id)
            .is_ok_and(|own| own.bytes() == key.secret.as_slice());
        if has_it {
            continue;
        }
        let secret = Secret::from_bytes(key.secret)
            .map_err(|error| format!("the secret of key {} in the log: {error}", key.id))?;
        keys::write_secret(folder, &key.id, &secret)
            .map_err(|error| format!("{}: {error}", folder.join(&key.id).display()))?;
        tracing::info!(key = %key.id, "the secret of a key was fetched from the log");
    }
    if !is_writing {
        return Ok(());
    }
    for id in missing {
        // One that is unreadable is logged by the key ring.
        if let Ok(secret) = keys::read_secret(folder, &id) {
            let secret = secret.bytes().to_vec();
            let key = KeySecret { id, secret };
            log.keep_key(&key).map_err(|error| error.to_string())?;
        }
    }
    Ok(())
}
