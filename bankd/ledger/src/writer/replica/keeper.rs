//! The thread that keeps the lease of a writer, publishes how far the log is durable, and reports the node. It has a
//! connection of its own, so that a long commit does not let the lease expire.

use super::{Cluster, Role};
use crate::keys;
use bank_api::sign::Secret;
use bankd_cluster::{Log, LogError, NodeRow};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time between two renewals of the lease.
const RENEW: Duration = Duration::from_secs(1);
/// The least time between two: a writer that commits all the time does not fill the log's server with them.
const PAUSE: Duration = Duration::from_millis(20);

/// Time between two looks at the secret of the cluster, once it was read.
const SECRET: Duration = Duration::from_mins(1);

/// The thread.
#[derive(Debug)]
pub struct Keeper;

impl Keeper {
    /// Starts it. It ends when the cluster's state, and with it the sender of `wake`, is gone.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn start(
        mut log: Box<dyn Log>,
        cluster: &Arc<Cluster>,
        wake: Receiver<()>,
    ) -> std::io::Result<JoinHandle<()>> {
        let cluster = Arc::downgrade(cluster);
        let run = move || {
            let mut reported = None;
            let mut shared = Shared::default();
            // A command can arrive at once.
            if let Some(cluster) = cluster.upgrade() {
                shared.look(&mut log, &cluster);
            }
            loop {
                if wake.recv_timeout(RENEW) == Err(RecvTimeoutError::Disconnected) {
                    return;
                }
                let Some(cluster) = cluster.upgrade() else {
                    return;
                };
                let done = renew(&mut log, &cluster, &mut reported);
                cluster.note(done.err().map(|error| error.to_string()));
                shared.look(&mut log, &cluster);
                drop(cluster);
                // Not woken by what is already published.
                let _ = wake.try_recv();
                std::thread::park_timeout(PAUSE);
            }
        };
        std::thread::Builder::new()
            .name("lease".to_owned())
            .spawn(run)
    }
}

fn renew(
    log: &mut Box<dyn Log>,
    cluster: &Cluster,
    reported: &mut Option<Instant>,
) -> Result<(), LogError> {
    if cluster.role() == Role::Writer {
        let since = Instant::now();
        let is_kept = log.renew(cluster.name(), cluster.epoch(), cluster.position())?;
        if is_kept {
            cluster.renewed(since);
        } else {
            cluster.lost("another node took the lease");
        }
    }
    if reported.is_some_and(|at| at.elapsed() < RENEW) {
        return Ok(());
    }
    log.report(&NodeRow {
        node: cluster.name().to_owned(),
        address: cluster.address().to_owned(),
        applied: cluster.position(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        age_ms: 0,
    })?;
    let lease = log.lease()?;
    cluster.seen(log.nodes()?, lease);
    *reported = Some(Instant::now());
    Ok(())
}

/// When the secret of the cluster was read.
#[derive(Default)]
struct Shared {
    /// The last try, and whether it succeeded.
    tried: Option<(Instant, bool)>,
}

impl Shared {
    /// Reads the secret, and makes it if the log has none: one that was made before there were secrets.
    fn look(&mut self, log: &mut Box<dyn Log>, cluster: &Cluster) {
        let is_due = self.tried.is_none_or(|(at, is_read)| {
            let pause = if is_read { SECRET } else { RENEW };
            at.elapsed() >= pause
        });
        if !is_due {
            return;
        }
        let found = secret(log);
        let was_read = self.tried.is_none_or(|(_, is_read)| is_read);
        self.tried = Some((Instant::now(), found.is_ok()));
        match found {
            Ok(secret) => cluster.share(&secret),
            Err(error) if was_read => {
                tracing::warn!(error, "the secret of the cluster cannot be read");
            }
            Err(_) => {}
        }
    }
}

fn secret(log: &mut Box<dyn Log>) -> Result<Secret, String> {
    let fresh = keys::new_secret().map_err(|error| error.to_string())?;
    let bytes = log.secret(fresh.bytes());
    let bytes = bytes.map_err(|error| error.to_string())?;
    Secret::from_bytes(bytes).map_err(|error| error.to_string())
}
