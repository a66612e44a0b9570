//! The state of a node, for the rest of the daemon.

use super::super::SubmitError;
use bankd_cluster::{Fault, Lease, NodeRow};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

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
}

/// The state of this node in its cluster.
#[derive(Debug)]
pub struct Cluster {
    name: String,
    address: String,
    role: AtomicU8,
    epoch: AtomicI64,
    position: AtomicI64,
    /// The lease is lost, or is to be handed over.
    is_lost: AtomicBool,
    state: Mutex<State>,
    wake: SyncSender<()>,
}

impl Cluster {
    /// A follower. `wake` wakes the keeper of the lease.
    pub fn new(name: &str, address: &str, wake: SyncSender<()>) -> Self {
        Self {
            name: name.to_owned(),
            address: address.to_owned(),
            role: AtomicU8::new(0),
            epoch: AtomicI64::new(0),
            position: AtomicI64::new(0),
            is_lost: AtomicBool::new(false),
            state: Mutex::default(),
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
        self.position.load(Ordering::Acquire)
    }

    /// The epoch in which this node writes or wrote.
    pub fn epoch(&self) -> i64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// All that is known.
    pub fn state(&self) -> State {
        self.lock().clone()
    }

    /// The address of another node that writes; none if nobody is known to.
    pub fn writer(&self) -> Option<String> {
        let state = self.lock();
        let lease = state.lease.as_ref()?;
        (lease.node != self.name).then(|| lease.address.clone())
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
        self.position.store(position, Ordering::Release);
        self.wake();
    }

    pub(in super::super) fn followed(&self, position: i64, lease: Option<&Lease>) {
        self.position.store(position, Ordering::Release);
        let mut state = self.lock();
        state.lease = lease.cloned();
        state.fault = None;
        state.read = Some(Instant::now());
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

    pub(in super::super) fn lead(&self, lease: &Lease) {
        self.epoch.store(lease.epoch, Ordering::Release);
        self.is_lost.store(false, Ordering::Release);
        self.role.store(1, Ordering::Release);
        let mut state = self.lock();
        state.lease = Some(lease.clone());
        state.fault = None;
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
