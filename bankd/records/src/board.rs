//! How each record file stands, for `bank status`, and the bells that wake its thread.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use super::Sink;

/// How a record file stands since the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// The last record that is in it, or that it has no line for.
    pub upto: i64,
    /// Why its lines wait; nothing while they do not.
    pub error: Option<String>,
    /// How often it could not be written.
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
    /// Open the file anew.
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
    /// The files with how they stand, in the order of the settings.
    pub fn standings(&self) -> impl Iterator<Item = (&Sink, Standing)> {
        self.posts.iter().map(|post| {
            let standing = post.standing.lock().unwrap_or_else(PoisonError::into_inner);
            (&post.sink, standing.clone())
        })
    }

    /// Has every file opened anew: one that was renamed gets a new one of its old name at once.
    pub fn reopen(&self) {
        self.posts.iter().for_each(|post| post.reopen.notify_one());
    }
}
