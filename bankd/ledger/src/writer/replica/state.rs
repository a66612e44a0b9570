//! The state of a node, for the rest of the daemon.

use super::super::SubmitError;
use crate::keys::replay::Replay;
use bank_api::sign::{Secret, SigningKey};
use bankd_cluster::{Fault, Followed, Lease, NodeRow};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Nonces of passed requests that a node remembers: about 8 MB. An idempotency key protects a request beside them.
const NONCES: usize = 1 << 18;

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It applies what another node writes.
    Follower,
    /// It writes.
    Writer,
    /// It applies nothing any more: an operator must look.
    Stopped,
}

impl Role {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Role::Follower => "follower",
            Role::Writer => "writer",
            Role::Stopped => "stopped",
        }
    }
}

/// What is known about a cluster.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The lease as it was seen last.
    pub lease: Option<Lease>,
    /// Why the role of this node changed last.
    pub why: String,
    /// The last failure of the log; none while it can be reached.
    pub fault: Option<String>,
    /// The nodes that reported.
    pub nodes: Vec<NodeRow>,
    /// When the log was read last.
    pub read: Option<Instant>,
    /// The latest known time at which the log contained nothing that this node does not contain now.
    pub at_end: Option<Instant>,
    /// The end of the log at a later time, which this node has not reached yet.
    ahead: Option<(i64, Instant)>,
}

/// The state of this node in its cluster.
#[derive(Debug)]
pub struct Cluster {
    name: String,
    address: String,
    lease: Duration,
    role: AtomicU8,
    epoch: AtomicI64,
    position: watch::Sender<i64>,
    /// The lease is lost, or is to be handed over.
    is_lost: AtomicBool,
    state: Mutex<State>,
    key: Mutex<Option<SigningKey>>,
    nonces: Mutex<Replay>,
    wake: SyncSender<()>,
}

impl Cluster {
    /// A follower. A lease lasts for this time, and `wake` wakes its keeper.
    pub fn new(name: &str, address: &str, lease: Duration, wake: SyncSender<()>) -> Self {
        Self {
            name: name.to_owned(),
            address: address.to_owned(),
            lease,
            role: AtomicU8::new(0),
            epoch: AtomicI64::new(0),
            position: watch::Sender::new(0),
            is_lost: AtomicBool::new(false),
            state: Mutex::default(),
            key: Mutex::default(),
            nonces: Mutex::new(Replay::new(NONCES)),
            wake,
        }
    }

    /// The name of this node.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The address at which other nodes reach this one.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// What this node does.
    pub fn role(&self) -> Role {
        match self.role.load(Ordering::Acquire) {
            0 => Role::Follower,
            1 if self.is_lost.load(Ordering::Acquire) => Role::Follower,
            1 => Role::Writer,
            _ => Role::Stopped,
        }
    }

    /// The last entry that this node contains.
    pub fn position(&self) -> i64 {
        *self.position.borrow()
    }

    /// The epoch in which this node writes or wrote.
    pub fn epoch(&self) -> i64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// All that is known.
    pub fn state(&self) -> State {
        self.lock().clone()
    }

    /// Name and address of another node that writes; none if nobody is known to.
    pub fn writer(&self) -> Option<(String, String)> {
        let state = self.lock();
        let lease = state.lease.as_ref()?;
        let is_other = lease.node != self.name && !lease.node.is_empty();
        is_other.then(|| (lease.node.clone(), lease.address.clone()))
    }

    /// Why this node takes no command now, and passes none to a writer; none if it does.
    pub fn obstacle(&self) -> Option<&'static str> {
        let role = self.role();
        let is_failed = self.lock().fault.is_some();
        match role {
            Role::Stopped => Some("this node of the cluster has stopped"),
            Role::Writer | Role::Follower if is_failed => {
                Some("the log of the cluster cannot be used")
            }
            Role::Follower if self.writer().is_none() => Some("no node of the cluster writes now"),
            Role::Writer | Role::Follower => None,
        }
    }

    /// Changes of the position of this node.
    pub fn moved(&self) -> watch::Receiver<i64> {
        self.position.subscribe()
    }

    /// Waits until this node contains an entry; false if it does not within this time, or has stopped before it.
    pub async fn reached(&self, position: i64, limit: Duration) -> bool {
        if self.is_stopped() {
            return self.position() >= position;
        }
        let mut moved = self.position.subscribe();
        let there = moved.wait_for(|now| *now >= position);
        matches!(tokio::time::timeout(limit, there).await, Ok(Ok(_)))
    }

    /// Time since this node last contained everything that was in the log; none if it never did. A writer that cannot
    /// renew its lease may have a successor that it cannot see.
    pub fn age(&self) -> Option<Duration> {
        let age = self.lock().at_end?.elapsed();
        let is_newest = self.role() == Role::Writer && age <= self.lease;
        Some(if is_newest { Duration::ZERO } else { age })
    }

    /// The key with which nodes sign what they pass to the writer; none before it was read from the log.
    pub fn key(&self) -> Option<SigningKey> {
        let key = self.key.lock().unwrap_or_else(PoisonError::into_inner);
        key.clone()
    }

    /// Remembers the nonce of a passed request until an instant in seconds; false if it is remembered already.
    pub fn accept_nonce(&self, nonce: &str, expires_s: i64, now_s: i64) -> bool {
        let mut nonces = self.nonces.lock().unwrap_or_else(PoisonError::into_inner);
        nonces.accept(nonce, expires_s, now_s)
    }

    /// The secret of the cluster, as the log contains it.
    pub(super) fn share(&self, secret: &Secret) {
        let mut key = self.key.lock().unwrap_or_else(PoisonError::into_inner);
        *key = Some(SigningKey::new(secret));
    }

    pub(in super::super) fn is_stopped(&self) -> bool {
        self.role() == Role::Stopped
    }

    /// Why a command is not done here.
    pub(in super::super) fn refusal(&self) -> SubmitError {
        if self.lock().fault.is_some() {
            SubmitError::NoLog
        } else {
            SubmitError::Elsewhere
        }
    }

    pub(in super::super) fn committed(&self, position: i64) {
        self.position.send_replace(position);
        self.wake();
    }

    /// The last entry that this node contains now.
    pub(in super::super) fn applied(&self, position: i64) {
        self.position
            .send_if_modified(|own| std::mem::replace(own, position) != position);
    }

    /// The log was read at this time.
    pub(in super::super) fn followed(&self, read: Instant, followed: &Followed) {
        let Followed { lease, end, .. } = followed;
        let position = self.position();
        let mut state = self.lock();
        state.lease.clone_from(lease);
        state.fault = None;
        state.read = Some(read);
        // While commands arrive all the time there is always an entry that is not durable yet: the end of an earlier look
        // is reached all the same.
        for (end, seen) in [state.ahead, end.map(|end| (end, read))]
            .into_iter()
            .flatten()
        {
            if position >= end {
                state.at_end = Some(seen);
                state.ahead = None;
            } else if state.ahead.is_none() {
                state.ahead = Some((end, seen));
            }
        }
    }

    pub(in super::super) fn faulted(&self, fault: &Fault) {
        let text = fault.to_string();
        let mut state = self.lock();
        if state.fault.as_ref() != Some(&text) {
            tracing::error!(error = text, "the log of the cluster");
        }
        if matches!(fault, Fault::Stopped(_)) {
            self.role.store(2, Ordering::Release);
            state.why.clone_from(&text);
        }
        state.fault = Some(text);
    }

    /// This node took the lease at a time, and writes.
    pub(in super::super) fn lead(&self, lease: &Lease, taken: Instant) {
        self.epoch.store(lease.epoch, Ordering::Release);
        self.is_lost.store(false, Ordering::Release);
        self.role.store(1, Ordering::Release);
        let mut state = self.lock();
        state.lease = Some(lease.clone());
        state.fault = None;
        (state.at_end, state.ahead) = (Some(taken), None);
        "the lease was free".clone_into(&mut state.why);
        tracing::info!(node = self.name, epoch = lease.epoch, "this node writes");
        drop(state);
        self.wake();
    }

    pub(in super::super) fn follow(&self, why: &str) {
        if self.role.swap(0, Ordering::AcqRel) == 1 {
            tracing::warn!(node = self.name, why, "this node follows");
            why.clone_into(&mut self.lock().why);
        }
        self.is_lost.store(false, Ordering::Release);
    }

    /// The keeper saw that another node has the lease, or is to have it.
    pub(super) fn lost(&self, why: &str) {
        if self.role() == Role::Writer {
            self.is_lost.store(true, Ordering::Release);
            why.clone_into(&mut self.lock().why);
            tracing::warn!(node = self.name, why, "this node gives the lease up");
        }
    }

    /// This node had the lease at a time.
    pub(super) fn renewed(&self, at: Instant) {
        self.lock().at_end = Some(at);
    }

    pub(super) fn seen(&self, nodes: Vec<NodeRow>, lease: Option<Lease>) {
        let mut state = self.lock();
        state.nodes = nodes;
        state.lease = lease;
    }

    pub(super) fn note(&self, fault: Option<String>) {
        // What stopped the node stays.
        if !self.is_stopped() {
            self.lock().fault = fault;
        }
    }

    fn wake(&self) {
        match self.wake.try_send(()) {
            // It is awake, or ends.
            Ok(()) | Err(TrySendError::Full(()) | TrySendError::Disconnected(())) => {}
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
