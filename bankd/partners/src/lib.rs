//! Partner banks (decision 0174): the questions that a quote or reserve of a partner's project needs, the
//! delivery of messages, and settlements.
//!
//! [`ask`] runs before a command is written and never in the writer's thread. [`deliver`] has a thread for each
//! partner, which sends what the journal has for it. [`client`] is the signed HTTP of both.

pub mod ask;
pub mod client;
pub mod deliver;
pub mod settle;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bank_core::kind::Record;
use client::Client;

/// Access to the partners: what their records name, with the secrets of the folder of keys. A handle.
#[derive(Clone, Debug)]
pub struct Partners(Arc<PathBuf>);

impl Partners {
    /// With the secrets of this folder.
    pub fn new(keys: &Path) -> Partners {
        Partners(Arc::new(keys.to_owned()))
    }

    /// The connection to a partner.
    ///
    /// # Errors
    /// If its record names no address, or its secret cannot be read.
    pub fn client(&self, partner: &Record) -> Result<Client, String> {
        Client::open(partner, &self.0)
    }
}
