//! Partner banks (decision 0174): the questions that a quote or reserve of a partner's project needs, the
//! delivery of messages, and settlements.
//!
//! [`ask`] runs before a command is written and never in the writer's thread. [`deliver`] has a thread for each
//! partner, which sends what the journal has for it. [`client`] is the signed HTTP of both.

pub mod ask;
pub mod client;
pub mod deliver;
pub mod settle;

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bank_core::kind::Record;
use bankd_ledger::trust::Trust;
use client::Client;
use deliver::Stop;
use tokio::sync::Notify;

/// Access to the partners: what their records name, with the secrets of the folder of keys. A handle.
#[derive(Clone, Debug)]
pub struct Partners {
    keys: Arc<PathBuf>,
    ca: Arc<PathBuf>,
    trust: Arc<Mutex<Option<(Version, Trust)>>>,
    contacts: Arc<Mutex<HashMap<String, Contact>>>,
    /// Wakes whoever waits for a message to be confirmed, or for an attempt to fail.
    attempts: Arc<Notify>,
    /// The threads that deliver messages, while they run.
    threads: Arc<Mutex<Arc<Stop>>>,
}

/// A version of a file: length, seconds and nanoseconds of its last change.
type Version = (u64, i64, i64);

/// What is known of a partner since the start of the daemon.
#[derive(Clone, Debug, Default)]
struct Contact {
    /// Why messages wait; none after a success.
    fault: Option<String>,
    /// Signs of life: its requests, and its answers to questions.
    signs: u64,
}

impl Partners {
    /// With the secrets of this folder, and the CAs of this file.
    pub fn new(keys: &Path, ca: &Path) -> Partners {
        Partners {
            keys: Arc::new(keys.to_owned()),
            ca: Arc::new(ca.to_owned()),
            trust: Arc::default(),
            contacts: Arc::default(),
            attempts: Arc::default(),
            threads: Arc::default(),
        }
    }

    /// Why messages to a partner wait, if the last attempt failed.
    pub fn fault(&self, partner: &str) -> Option<String> {
        self.with(partner, |contact| contact.fault.clone())
    }

    /// Keeps that a partner runs: messages that wait for it are tried again.
    pub fn lives(&self, partner: &str) {
        self.with(partner, |contact| {
            contact.signs = contact.signs.wrapping_add(1);
        });
    }

    /// The number of its signs of life.
    pub(crate) fn signs(&self, partner: &str) -> u64 {
        self.with(partner, |contact| contact.signs)
    }

    /// Has the messages that wait delivered at once.
    pub(crate) fn hurry(&self) {
        self.threads().ring();
    }

    fn threads(&self) -> MutexGuard<'_, Arc<Stop>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the result of an attempt to deliver.
    pub(crate) fn keep_fault(&self, partner: &str, fault: Option<String>) {
        self.with(partner, |contact| contact.fault = fault);
        self.attempts.notify_waiters();
    }

    fn with<T>(&self, partner: &str, change: impl FnOnce(&mut Contact) -> T) -> T {
        let mut all = self.contacts.lock().unwrap_or_else(PoisonError::into_inner);
        change(all.entry(partner.to_owned()).or_default())
    }

    /// The connection to a partner.
    ///
    /// # Errors
    /// If its record names no address, or its secret or the CAs cannot be read.
    pub fn client(&self, partner: &Record) -> Result<Client, String> {
        Client::open(partner, &self.keys, || self.trust())
    }

    /// The CAs, read again after a change of their file.
    fn trust(&self) -> Result<Trust, String> {
        let file = std::fs::metadata(&*self.ca)
            .map_err(|error| format!("partners.ca: {}: {error}", self.ca.display()))?;
        let changed = (file.len(), file.mtime(), file.mtime_nsec());
        let mut kept = self.trust.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, trust)) = &*kept
            && *at == changed
        {
            return Ok(trust.clone());
        }
        let trust = Trust::read(&self.ca).map_err(|why| format!("partners.ca: {why}"))?;
        *kept = Some((changed, trust.clone()));
        Ok(trust)
    }
}
