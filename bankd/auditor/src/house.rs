//! Shared state of all requests of AUDITOR's API, and the caller of one.

use std::fmt::Display;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use bank_core::command::Scope;
use bankd_config as config;
use bankd_intake::Feed;
use bankd_intake::auditor::feed;
use bankd_ledger::writer::{Caller, Origin};
use bankd_services::Services;
use bankd_store as store;

use super::Gate;
use super::access::{Access, Identity};
use super::body::{Records, Room};
use super::read::Readers;
use super::tally::Tally;

/// Everything behind the routes.
pub(crate) struct House {
    pub(super) services: Arc<Services>,
    pub(super) gate: Arc<Gate>,
    pub(super) readers: Readers,
    pub(super) room: Room,
    pub(super) records: Records,
    pub(super) tally: Tally,
}

/// The caller of a request, and its listener.
#[derive(Clone, Debug)]
pub(super) struct Visitor {
    pub(super) identity: Identity,
    pub(super) peer: SocketAddr,
    /// No identity, and the listener is open to other machines: no funds move.
    pub(super) track: bool,
}

impl House {
    /// Opens the readers.
    ///
    /// # Errors
    /// If the database cannot be opened.
    pub(crate) fn new(
        services: Arc<Services>,
        gate: Arc<Gate>,
        database: &Path,
    ) -> Result<Self, store::Error> {
        Ok(Self {
            readers: Readers::open(database)?,
            room: Room::default(),
            records: Records::default(),
            tally: Tally::new(services.auditor.metrics.clone()),
            services,
            gate,
        })
    }

    /// The present rights.
    pub(super) fn access(&self) -> Arc<Access> {
        self.gate.access.now()
    }

    pub(super) fn settings(&self) -> &config::Auditor {
        &self.services.auditor
    }

    /// A caller without a right: one line, and one more of them.
    pub(super) fn denied(&self, visitor: &Visitor, route: &str, why: &dyn Display) {
        self.tally.meter.denied();
        tracing::warn!(remote = visitor.described(), route, reason = %why, "not allowed");
    }

    /// The actor in the ledger.
    pub(super) fn caller(&self, visitor: &Visitor) -> Caller {
        let client = self.settings().source.clone();
        Caller {
            actor: visitor.identity.name().unwrap_or(&client).to_owned(),
            client,
            origin: Origin::Auditor,
            scope: Scope::default(),
        }
    }

    /// The feed of its records.
    pub(super) fn feed(&self, visitor: &Visitor, request_id: &str) -> Feed {
        feed(self.settings(), self.caller(visitor), request_id)
    }
}

impl Visitor {
    /// The caller in readable form.
    pub(super) fn described(&self) -> String {
        match self.identity.name() {
            Some(name) => format!("{name} at {}", self.peer),
            None => self.peer.to_string(),
        }
    }
}
