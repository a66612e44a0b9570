//! What all requests of AUDITOR's API share, and who is behind one of them.

use std::fmt::Display;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bank_core::command::Scope;

use super::access::{Access, Identity};
use super::body::Room;
use super::read::Readers;
use crate::app::App;
use crate::config;
use crate::intake::Feed;
use crate::store;
use crate::writer::{Caller, Origin};

/// Everything behind the routes.
pub(crate) struct House {
    pub(super) app: Arc<App>,
    pub(super) access: Access,
    pub(super) readers: Readers,
    pub(super) room: Room,
    pub(super) counters: Counters,
}

/// Who is behind a request, and through which door it came.
#[derive(Clone, Debug)]
pub(super) struct Visitor {
    pub(super) identity: Identity,
    pub(super) peer: SocketAddr,
    /// Nobody is known, and the door is open to others than this machine: no money moves.
    pub(super) track: bool,
}

/// What is counted since the start.
#[derive(Debug, Default)]
pub(super) struct Counters {
    rejected: AtomicU64,
    conflicts: AtomicU64,
    dropped: AtomicU64,
    denied: AtomicU64,
}

impl House {
    /// Opens what reads.
    ///
    /// # Errors
    /// If the database cannot be opened.
    pub(crate) fn new(
        app: Arc<App>,
        database: &Path,
        access: Access,
    ) -> Result<Self, store::Error> {
        Ok(Self {
            readers: Readers::open(database)?,
            room: Room::default(),
            counters: Counters::default(),
            access,
            app,
        })
    }

    pub(super) fn settings(&self) -> &config::Auditor {
        &self.app.config.auditor
    }

    /// A caller without a right: one line, and one more of them.
    pub(super) fn denied(&self, visitor: &Visitor, route: &str, why: &dyn Display) {
        self.counters.denied.fetch_add(1, Ordering::Relaxed);
        tracing::warn!(remote = visitor.said(), route, reason = %why, "not allowed");
    }

    /// Who the ledger says did it.
    pub(super) fn caller(&self, visitor: &Visitor) -> Caller {
        let client = self.settings().source.clone();
        Caller {
            actor: visitor.identity.name().unwrap_or(&client).to_owned(),
            client,
            origin: Origin::Auditor,
            scope: Scope::default(),
        }
    }

    /// As what its records come in.
    pub(super) fn feed(&self, visitor: &Visitor, request_id: &str) -> Feed {
        let settings = self.settings();
        Feed {
            source: settings.source.clone(),
            format: "auditor".to_owned(),
            machine: Some(settings.machine.clone()).filter(|machine| !machine.is_empty()),
            caller: self.caller(visitor),
            request_id: request_id.to_owned(),
            dry_run: false,
            keep_raw: false,
        }
    }
}

impl Visitor {
    /// Who it is, for people.
    pub(super) fn said(&self) -> String {
        match self.identity.name() {
            Some(name) => format!("{name} at {}", self.peer),
            None => self.peer.to_string(),
        }
    }
}

impl Counters {
    /// A body was refused.
    pub(super) fn rejected(&self) {
        self.rejected.fetch_add(1, Ordering::Relaxed);
    }

    /// A record came again with other content.
    pub(super) fn conflict(&self) {
        self.conflicts.fetch_add(1, Ordering::Relaxed);
    }

    /// A connection was dropped instead of an answer.
    pub(super) fn dropped(&self) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }

    /// `rejected_records_total`, `record_conflicts_total`, dropped connections, callers without the
    /// right.
    pub(super) fn all(&self) -> [u64; 4] {
        let all = [&self.rejected, &self.conflicts, &self.dropped, &self.denied];
        all.map(|counter| counter.load(Ordering::Relaxed))
    }
}
