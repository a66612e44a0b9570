//! The services for handlers and protocols: the way to change the ledger, the ways to read it, and other
//! objects with the lifetime of the daemon.
//!
//! A handler uses these and never makes them: [`start`] does. This crate is independent of listeners, routes
//! and protocols.
//!
//! Handlers get the sections of the settings that they read, and never all settings. These sections are those
//! of the start: a change needs a restart. Settings that change on a reload are kept by the object that uses
//! them: `people`, `limits` and `backups`.

pub mod cluster;
pub mod fetch;
pub mod limits;
pub mod links;
mod meets;
pub mod passage;
pub mod position;
pub mod requests;
pub mod secrets;
pub mod sessions;
pub mod settings;
pub mod spool;
pub mod start;
pub mod upgrade;

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use bank_core::time::Seconds;
use bankd_config as config;
use bankd_intake::follow;
use bankd_intake::uploads::Uploads;
use bankd_ledger::access::People;
use bankd_ledger::clock::{LedgerClock, Stopwatch};
use bankd_ledger::keys::KeyRing;
use bankd_ledger::obs::Counters;
use bankd_ledger::writer::Writer;
use bankd_ledger::writer::{Reply, Submission, SubmitError};
use bankd_partners::Partners;
use bankd_records as records;
use bankd_safekeeping::backup::Clerk;
use bankd_safekeeping::checkpoint::Checkpoints;
use bankd_safekeeping::copy::Copies;
use bankd_safekeeping::proof::Prover;
use bankd_store::read::Pool;
use tokio::sync::Semaphore;

use limits::Limits;
use links::Links;
use passage::Door;
use requests::Requests;
use secrets::Secrets;
use sessions::Sessions;
use settings::Settings;

/// The state of every handler: `State<Arc<Services>>`.
pub struct Services {
    /// The one way to change the ledger.
    pub writer: Writer,
    /// The thread behind it.
    pub writer_thread: Thread,
    /// Read-only connections.
    pub readers: Pool,
    /// Signing keys with their secrets.
    pub keys: KeyRing,
    /// When money moves.
    pub clock: Arc<dyn LedgerClock>,
    /// The same secrets in the log of a cluster.
    pub secrets: Secrets,
    /// Copies of the database for new nodes of a cluster.
    pub copies: Arc<Copies>,
    /// The people behind the uids of the socket.
    pub people: People,
    /// Counters since the start.
    pub counters: Arc<Counters>,
    /// Requests by route since the start.
    pub requests: Requests,
    /// The record files and their forms.
    pub files: records::Files,
    /// The state of the record files.
    pub records: records::Board,
    /// The state of the followed files.
    pub follow: follow::Board,
    /// Usage files on their way in.
    pub uploads: Uploads,
    /// Verifications while it serves.
    pub proof: Prover,
    /// Signed checkpoints while it serves.
    pub checkpoints: Arc<Checkpoints>,
    /// The limits of one client.
    pub limits: Limits,
    /// The maker of the daemon's own backups.
    pub backups: Clerk,
    /// Room for requests under way.
    pub slots: Semaphore,
    /// Room for requests of the web pages under way.
    pub web_slots: Semaphore,
    /// Room for bodies above `http.body_limit`: their senders are not known before the whole body is there.
    pub large_bodies: Semaphore,
    /// Sessions of the web pages.
    pub sessions: Sessions,
    /// Signed addresses of the web pages; none if no pages are served.
    pub links: Option<Links>,
    /// Requests signed until then, in seconds, may have been answered by an earlier process or another node.
    pub spent_until_s: i64,
    /// When the daemon started.
    pub started: Stopwatch,
    /// Limits of connections and requests.
    pub http: config::Http,
    /// Checks of signatures and tokens.
    pub auth: config::Auth,
    /// The scheduler's documents.
    pub nami: Arc<config::Nami>,
    /// The Gold gateway.
    pub gold: config::Gold,
    /// AUDITOR's API.
    pub auditor: config::Auditor,
    /// The web pages.
    pub web: config::Web,
    /// Expectations for collectors.
    pub sources: config::Sources,
    /// Data of the site for exports.
    pub export: config::Export,
    /// Power factors of machines.
    pub report: config::Report,
    /// Questions to partner banks.
    pub partners: Partners,
    /// Alerts, targets and scheduled reports.
    pub notices: Arc<config::Notices>,
    /// The settings in force as a list.
    pub settings: Settings,
    /// AUDITOR's routes, for requests of other nodes.
    pub collectors: Door,
    /// How long a proposal can be approved.
    pub approval_keep: Seconds,
}

impl Services {
    /// Runs a command and waits until it is durable. A quote or reserve for a project of a partner bank is
    /// first agreed with the partner.
    ///
    /// # Errors
    /// As [`Writer::submit`].
    pub async fn submit(&self, submission: Submission) -> Result<Reply, SubmitError> {
        let (writer, readers) = (&self.writer, &self.readers);
        self.partners.submit(writer, readers, submission).await
    }
}

/// The writer's thread, to be asked after and waited for.
#[derive(Debug)]
pub struct Thread(Mutex<Option<JoinHandle<()>>>);

impl Thread {
    fn new(handle: JoinHandle<()>) -> Self {
        Self(Mutex::new(Some(handle)))
    }

    /// Whether it has ended.
    pub fn is_finished(&self) -> bool {
        let handle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        handle.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for its end; false if it ended by a panic.
    pub fn wait(&self) -> bool {
        let handle = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        handle.is_none_or(|handle| handle.join().is_ok())
    }
}
