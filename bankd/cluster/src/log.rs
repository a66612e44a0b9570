//! The port: what a node requires of a log.
//!
//! # The order of a commit
//! ```text
//! begin local transaction → rules → changeset → append(position + 1) and wait → commit locally → answer
//! ```
//! An append has one of these outcomes:
//!
//! - [`Appended::Done`]: the entry is in the log and durable. The node commits and answers.
//! - [`Appended::Taken`]: another entry has the position, so another node writes now. The node rolls back and
//!   becomes a follower. This alone makes the log safe: a lease only decides which node tries.
//! - [`LogError::Unknown`]: the connection was lost after the entry was sent, or the engine stopped waiting for
//!   its standby. The entry may be in the log, it may be visible without being durable, and it may still
//!   arrive. See [`settle`](crate::settle::settle).
//! - [`LogError::Away`]: this append did not and will not add the entry: nothing was sent, or the engine
//!   rolled the statement back. This holds for the call that returns it: after an `Unknown` of the same entry,
//!   an `Away` of a repeated append leaves the outcome unknown.
//! - [`LogError::Wrong`]: the configuration must be corrected first.
//!
//! # Durable entries
//! A reader sees entries that are visible. The last of them may not be durable: the engine may lose it at a
//! failover. The following rule makes every entry below the last one durable: **a writer appends to position
//! N + 1 only after its own append of entry N returned `Done`.** A new writer repeats the append of the last
//! entry that it found ([`secure_last`](crate::settle::secure_last)) before it appends its own first entry.
//! Followers can therefore apply entry N as soon as N + 1 is visible, or `durable` of the lease is at least N.

use std::time::Duration;

/// The greatest size of the body of an entry, in bytes.
pub const BODY_MAX: usize = 64 << 20;

/// One entry of the log: one group commit of the writer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The place in the log: from 1, without gaps.
    pub position: i64,
    /// The epoch of the writer that made it.
    pub epoch: i64,
    /// A random number of the writer. It identifies the entry after an unknown outcome.
    pub batch: [u8; 16],
    /// The content, compressed by the caller; at most [`BODY_MAX`] bytes.
    pub body: Vec<u8>,
    /// The hash of the journal before the entry.
    pub hash_before: Vec<u8>,
    /// The hash of the journal after the entry.
    pub hash_after: Vec<u8>,
    /// When the writer made it, by its clock: microseconds since 1970.
    pub at_us: i64,
}

/// The outcome of an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appended {
    /// The entry is in the log and durable.
    Done,
    /// Another entry has the position. The log is unchanged.
    Taken,
}

/// Why an operation of the log failed. The texts name servers and never contain a password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// The change may or may not be in the log, and may still arrive.
    #[error("{0}")]
    Unknown(String),
    /// The change is not in the log. Retrying can help.
    #[error("{0}")]
    Away(String),
    /// The configuration, the tables or the request is wrong. Retrying does not help.
    #[error("{0}")]
    Wrong(String),
}

/// The lease of the writer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// How many times the lease was taken, from 1.
    pub epoch: i64,
    /// The node that has it; empty after [`Log::hand_over`], until a node takes it.
    pub node: String,
    /// The address where this node receives forwarded commands; empty with the node.
    pub address: String,
    /// The position up to which the writer saw entries become durable.
    pub durable: i64,
    /// Milliseconds since it was taken, renewed or handed over, by the clock of the log.
    pub age_ms: i64,
}

/// A node and its progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeRow {
    /// Its name, unique in the bank.
    pub node: String,
    /// The address where other nodes reach it.
    pub address: String,
    /// The position of the last entry that it applied.
    pub applied: i64,
    /// The version of its program.
    pub version: String,
    /// Milliseconds since its last report, by the clock of the log. [`Log::report`] ignores it.
    pub age_ms: i64,
}

/// The secret of a key, which every node must have to verify its signatures.
#[derive(Clone, PartialEq, Eq)]
pub struct KeySecret {
    /// The id of the key.
    pub id: String,
    /// The secret.
    pub secret: Vec<u8>,
}

/// Without the secret.
impl std::fmt::Debug for KeySecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeySecret")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// A log of one bank. Every call blocks, and ends within a few seconds. After an error, the next call
/// connects again.
pub trait Log: Send {
    /// Appends an entry after the last one and waits until it is durable.
    ///
    /// It can be repeated: if the entry of the same batch is already at its position, the call makes it durable
    /// and returns `Done`, also if later entries follow it.
    ///
    /// # Errors
    /// See [`LogError`]. A position after the next one is `Wrong`: the log has lost entries that the caller has.
    fn append(&mut self, entry: &Entry) -> Result<Appended, LogError>;

    /// The visible entry at a position. The last visible entry may not be durable.
    ///
    /// # Errors
    /// `Away` or `Wrong`.
    fn find(&mut self, position: i64) -> Result<Option<Entry>, LogError>;

    /// Visible entries from a position on, in order and without gaps, until their bodies have this many
    /// bytes in total; at least one if there is one.
    ///
    /// # Errors
    /// `Wrong` if the entry at this position was trimmed, else `Away` or `Wrong` of the connection.
    fn read(&mut self, from: i64, bytes: usize) -> Result<Vec<Entry>, LogError>;

    /// The greatest visible position, 0 if there is none.
    ///
    /// # Errors
    /// `Away` or `Wrong`.
    fn last(&mut self) -> Result<i64, LogError>;

    /// The least position that was not trimmed, 1 if there is none.
    ///
    /// # Errors
    /// `Away` or `Wrong`.
    fn first(&mut self) -> Result<i64, LogError>;

    /// The lease, also an expired one. None if it was never taken.
    ///
    /// # Errors
    /// `Away` or `Wrong`.
    fn lease(&mut self) -> Result<Option<Lease>, LogError>;

    /// Takes the lease; the epoch grows by one. It can be taken if no node has it, if it is older than `ttl`,
    /// if it was handed over to this node, or if this node has it (from before a restart). None otherwise.
    ///
    /// # Errors
    /// See [`LogError`]. After `Unknown`, take it again.
    fn take(&mut self, node: &str, address: &str, ttl: Duration)
    -> Result<Option<Lease>, LogError>;

    /// Renews the lease and publishes the durable position, which never decreases. False if this node does not
    /// have the lease of this epoch.
    ///
    /// # Errors
    /// See [`LogError`].
    fn renew(&mut self, node: &str, epoch: i64, durable: i64) -> Result<bool, LogError>;

    /// Gives up the lease: to another node, or to any node (`to` = None). Other nodes can take a lease that was
    /// handed over when it is older than their `ttl`. False if this node does not have the lease of this epoch.
    ///
    /// # Errors
    /// See [`LogError`].
    fn hand_over(&mut self, node: &str, epoch: i64, to: Option<&str>) -> Result<bool, LogError>;

    /// Stores the row of a node.
    ///
    /// # Errors
    /// See [`LogError`].
    fn report(&mut self, row: &NodeRow) -> Result<(), LogError>;

    /// The rows of all nodes, ordered by name.
    ///
    /// # Errors
    /// `Away` or `Wrong`.
    fn nodes(&mut self) -> Result<Vec<NodeRow>, LogError>;

    /// Removes the row of a node.
    ///
    /// # Errors
    /// See [`LogError`].
    fn leave(&mut self, node: &str) -> Result<(), LogError>;

    /// Deletes the entries below a position, oldest first, but never the last entry. Returns their number.
    ///
    /// # Errors
    /// See [`LogError`].
    fn trim(&mut self, below: i64) -> Result<u64, LogError>;

    /// The secret that all nodes of the bank share. If there is none, `fresh` becomes it.
    ///
    /// # Errors
    /// See [`LogError`]; it can be repeated.
    fn secret(&mut self, fresh: &[u8]) -> Result<Vec<u8>, LogError>;

    /// The secrets of keys, by id.
    ///
    /// # Errors
    /// `Away` or `Wrong`.
    fn keys(&mut self) -> Result<Vec<KeySecret>, LogError>;

    /// Stores the secret of a key, in place of one with this id.
    ///
    /// # Errors
    /// See [`LogError`]; it can be repeated.
    fn keep_key(&mut self, key: &KeySecret) -> Result<(), LogError>;

    /// Removes the secret of a key; a missing one is no error.
    ///
    /// # Errors
    /// See [`LogError`]; it can be repeated.
    fn remove_key(&mut self, id: &str) -> Result<(), LogError>;

    /// Settings of the engine with which it can lose entries, each as a sentence.
    ///
    /// # Errors
    /// `Away` or `Wrong`.
    fn warnings(&mut self) -> Result<Vec<String>, LogError>;
}

/// Checks what no engine has to be asked for.
pub(crate) fn check(entry: &Entry) -> Result<(), LogError> {
    if entry.position < 1 {
        let text = format!("position {} of an entry is less than 1", entry.position);
        return Err(LogError::Wrong(text));
    }
    if entry.body.len() > BODY_MAX {
        let text = format!(
            "the body of entry {} has {} bytes; the limit is {BODY_MAX}",
            entry.position,
            entry.body.len()
        );
        return Err(LogError::Wrong(text));
    }
    Ok(())
}

/// The error of an append after a gap.
pub(crate) fn gap(position: i64, last: i64) -> LogError {
    LogError::Wrong(format!(
        "entry {position} does not follow the last entry of the log, {last}: the log has lost entries, or it \
         belongs to another bank"
    ))
}

/// The error of a reader that needs trimmed entries.
pub(crate) fn trimmed(from: i64, first: i64) -> LogError {
    LogError::Wrong(format!(
        "entry {from} was deleted from the log; the first one is {first}. This node needs it: make the node again with \
         `bankd cluster join` in an empty directory"
    ))
}
