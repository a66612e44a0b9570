//! State of each followed file, and the bell that wakes its thread.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::shelf::Why;

/// State of a followed file since the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// The file that is read; none while there is none.
    pub file: Option<String>,
    /// Bytes of it that are taken.
    pub offset: u64,
    /// Bytes of it that are not.
    pub behind: u64,
    /// Why nothing is taken; nothing while it is.
    pub error: Option<String>,
    /// Looks that failed.
    pub failures: u64,
    /// There is no file of that name.
    pub is_waiting: bool,
    /// Files and parts of files that are not read.
    pub left_out: Vec<LeftOut>,
}

/// A file that is not read, or not from some place on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The file, by the name that it had.
    pub file: String,
    /// The reason.
    pub why: Why,
    /// Bytes of it that were read.
    pub read: u64,
}

/// A followed file on the board.
#[derive(Debug)]
pub(super) struct Post {
    /// The collector.
    pub(super) source: String,
    /// The file as the settings name it.
    pub(super) path: String,
    inner: Mutex<Inner>,
    bell: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    standing: Standing,
    is_rung: bool,
    is_over: bool,
}

impl Post {
    fn inner(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut Standing)) {
        change(&mut self.inner().standing);
    }

    /// Whether the thread is to end.
    pub(super) fn is_over(&self) -> bool {
        self.inner().is_over
    }

    /// Waits for this time, or until the bell rings.
    pub(super) fn wait(&self, time: Duration) {
        let quiet = |inner: &mut Inner| !inner.is_rung && !inner.is_over;
        let waited = self.bell.wait_timeout_while(self.inner(), time, quiet);
        let (mut inner, _) = waited.unwrap_or_else(PoisonError::into_inner);
        inner.is_rung = false;
    }
}

/// Every followed file of the daemon.
#[derive(Clone, Debug, Default)]
pub struct Board {
    pub(super) posts: Vec<Arc<Post>>,
}

impl Board {
    /// A board for files, by collector and path.
    pub fn new<'a>(files: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let post = |(source, path): (&str, &str)| {
            Arc::new(Post {
                source: source.to_owned(),
                path: path.to_owned(),
                inner: Mutex::default(),
                bell: Condvar::new(),
            })
        };
        Self {
            posts: files.map(post).collect(),
        }
    }

    /// Collector, path and state of each file, in the order of the settings.
    pub fn standings(&self) -> impl Iterator<Item = (&str, &str, Standing)> {
        self.posts.iter().map(|post| {
            let standing = post.inner().standing.clone();
            (post.source.as_str(), post.path.as_str(), standing)
        })
    }

    /// Has every file looked at now, however long its thread meant to wait.
    pub fn wake(&self) {
        for post in &self.posts {
            post.inner().is_rung = true;
            post.bell.notify_all();
        }
    }

    pub(super) fn end(&self) {
        for post in &self.posts {
            post.inner().is_over = true;
            post.bell.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bell_ends_a_wait_at_once_and_is_not_missed() {
        let board = Board::new([("sge:colony", "/x")].into_iter());
        let post = Arc::clone(&board.posts[0]);
        board.wake();
        post.wait(Duration::from_mins(10));
        let other = Arc::clone(&post);
        let thread = std::thread::spawn(move || {
            while !other.is_over() {
                other.wait(Duration::from_mins(10));
            }
        });
        board.end();
        thread.join().unwrap();
        post.change(|standing| standing.offset = 7);
        let all: Vec<_> = board.standings().collect();
        assert_eq!((all[0].0, all[0].2.offset), ("sge:colony", 7));
    }
}
