//! The state of each record file, for `bank status`, and the signals that wake its thread.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use super::Sink;

/// The state of a record file since the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// The last record that is in it, or that it has no line for.
    pub upto: i64,
    /// Why its lines wait; nothing while they do not.
    pub error: Option<String>,
    /// The number of failed writes.
    pub failures: u64,
    /// Lines with a rate of 0.01 that is smaller in truth.
    pub raised: u64,
    /// Records without a line because of `escape = "reject"`.
    pub rejected: u64,
    /// Corrections of charges that the form has no line for.
    pub left_out: u64,
}

/// One record file on the board.
#[derive(Debug)]
pub(super) struct Post {
    pub(super) sink: Sink,
    standing: Mutex<Standing>,
    /// Open the file again.
    pub(super) reopen: Notify,
    /// Write what is there and end.
    pub(super) stop: Notify,
}

impl Post {
    pub(super) fn new(sink: Sink) -> Arc<Self> {
        Arc::new(Self {
            sink,
            standing: Mutex::default(),
            reopen: Notify::new(),
            stop: Notify::new(),
        })
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut Standing)) {
        change(&mut self.standing.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// Every record file of the daemon.
#[derive(Clone, Debug, Default)]
pub struct Board {
    pub(super) posts: Vec<Arc<Post>>,
}

impl Board {
    /// The files with their states, in the order of the settings.
    pub fn standings(&self) -> impl Iterator<Item = (&Sink, Standing)> {
        self.posts.iter().map(|post| {
            let standing = post.standing.lock().unwrap_or_else(PoisonError::into_inner);
            (&post.sink, standing.clone())
        })
    }

    /// Opens every file again: a renamed file gets a new one of its old name at once.
    pub fn reopen(&self) {
        self.posts.iter().for_each(|post| post.reopen.notify_one());
    }
}
