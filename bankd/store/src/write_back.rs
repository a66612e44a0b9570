//! Writes the write-ahead log back into the database beside the writer, so that no command waits while many pages are
//! written and flushed. On a processor that both share, the thread gives way ([`background`]).
//!
//! `SQLite` checkpoints in the commit that finds the log long: the commands of that commit wait for thousands of pages.
//! Here, a thread with a connection of its own writes them while the writer goes on. What the writer has added meanwhile
//! is a few pages; the next commit writes those itself, and then the log begins again at its start. Both are passive
//! checkpoints (<https://sqlite.org/c3ref/wal_checkpoint_v2.html>): they block no reader and no writer, and a crash at
//! any point loses nothing, because the log stays valid until it begins again.

use super::background;
use rusqlite::{Connection, hooks::Wal};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

/// Pages of the log from which on it is written back.
pub(super) const PAGES: i32 = 4000;
/// Further pages after which it is tried again, where a reader holds the log.
const AGAIN: i32 = 1000;

/// Nothing is under way.
const IDLE: u8 = 0;
/// The thread writes the log back.
const BUSY: u8 = 1;
/// It has; the writer adds what is new.
const DONE: u8 = 2;
/// The thread is no use: each commit that finds the log long writes it back.
const FAILED: u8 = 3;

enum Message {
    WriteBack,
    Stop,
}

/// The thread, which ends with this value.
pub(super) struct WriteBack {
    sender: Sender<Message>,
    thread: Option<JoinHandle<()>>,
}

impl WriteBack {
    /// Starts the thread for a connection's database, and lets each commit of the connection ask it.
    ///
    /// # Errors
    /// If the hook cannot be set.
    pub(super) fn start(writer: &mut Connection) -> rusqlite::Result<Self> {
        let state = Arc::new(AtomicU8::new(IDLE));
        let (sender, messages) = channel();
        let (own, path) = (
            Arc::clone(&state),
            PathBuf::from(writer.path().unwrap_or("")),
        );
        let thread = background::spawn("write-back", move || run(&path, &messages, &own))
            .inspect_err(|error| tracing::warn!(%error, "commits write the write-ahead log back"))
            .ok();
        let mut turns = Turns {
            state,
            sender: sender.clone(),
            next: PAGES,
        };
        writer.wal_hook(Some(move |wal: &mut Wal, pages| {
            turns.committed(wal, pages);
            Ok(())
        }))?;
        Ok(Self { sender, thread })
    }
}

impl Drop for WriteBack {
    fn drop(&mut self) {
        let _ = self.sender.send(Message::Stop);
        if let Some(thread) = self.thread.take() {
            // What it was doing is done again when the database is opened.
            let _ = thread.join();
        }
    }
}

/// The writer's side, after each commit.
struct Turns {
    state: Arc<AtomicU8>,
    sender: Sender<Message>,
    /// Pages of the log from which on the thread is asked.
    next: i32,
}

impl Turns {
    fn committed(&mut self, wal: &mut Wal, pages: i32) {
        if pages < PAGES {
            self.next = PAGES;
        }
        match self.state.load(Ordering::Acquire) {
            DONE => {
                finish(wal);
                self.next = pages.saturating_add(AGAIN);
                self.state.store(IDLE, Ordering::Release);
            }
            IDLE if pages >= self.next => {
                self.state.store(BUSY, Ordering::Release);
                if self.sender.send(Message::WriteBack).is_err() {
                    self.state.store(FAILED, Ordering::Release);
                }
            }
            FAILED if pages >= self.next => {
                finish(wal);
                self.next = pages.saturating_add(AGAIN);
            }
            _ => {}
        }
    }
}

/// Writes back what is left of the log, from the connection that commits. A failure is no failure of the commit, which is
/// on disk: a later one tries again.
fn finish(wal: &mut Wal) {
    if let Err(error) = wal.checkpoint() {
        tracing::warn!(%error, "the write-ahead log was not written back");
    }
}

fn run(path: &Path, messages: &Receiver<Message>, state: &AtomicU8) {
    let mut connection = None;
    while let Ok(Message::WriteBack) = messages.recv() {
        let after = match write_back(path, &mut connection) {
            Ok(()) => DONE,
            Err(error) => {
                tracing::warn!(%error, "the write-ahead log is written back by commits: its thread failed");
                FAILED
            }
        };
        state.store(after, Ordering::Release);
    }
}

/// A connection that flushes as the writer's does, in the mode that the file has.
fn open(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(super::BUSY_TIMEOUT)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    Ok(connection)
}

fn write_back(path: &Path, connection: &mut Option<Connection>) -> rusqlite::Result<()> {
    let connection = match connection {
        Some(connection) => connection,
        None => connection.insert(open(path)?),
    };
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages of the log.
    fn pages(connection: &Connection) -> i32 {
        let sql = "PRAGMA wal_checkpoint(NOOP)";
        connection.query_row(sql, [], |row| row.get(1)).unwrap()
    }

    /// A database with commits that are counted.
    struct Written {
        connection: Connection,
        commits: i64,
    }

    impl Written {
        fn commit(&mut self, bytes: i64) {
            let sql = "INSERT INTO t SELECT zeroblob(?1)";
            self.connection.execute(sql, [bytes]).unwrap();
            self.commits += 1;
        }

        fn until_long(&mut self) {
            while pages(&self.connection) < PAGES {
                self.commit(400_000);
            }
        }

        /// Commits until the log has begun again at its start.
        fn until_short(&mut self) {
            for _ in 0..1_000_000 {
                self.commit(1);
                if pages(&self.connection) < PAGES {
                    return;
                }
                std::thread::yield_now();
            }
            panic!("the log has {} pages", pages(&self.connection));
        }
    }

    #[test]
    fn the_log_begins_again_while_commits_go_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.db");
        let mut connection = open(&path).unwrap();
        connection
            .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (x BLOB) STRICT")
            .unwrap();
        let write_back = WriteBack::start(&mut connection).unwrap();
        let mut written = Written {
            connection,
            commits: 0,
        };
        for _ in 0..3 {
            written.until_long();
            written.until_short();
        }
        // A reader holds the log: commits go on, and the log begins again after it.
        let reader = open(&path).unwrap();
        reader.execute_batch("BEGIN").unwrap();
        let count = "SELECT count(*) FROM t";
        let before: i64 = reader.query_row(count, [], |row| row.get(0)).unwrap();
        written.until_long();
        for _ in 0..10 {
            written.commit(400_000);
            assert!(pages(&written.connection) > PAGES);
        }
        let seen: i64 = reader.query_row(count, [], |row| row.get(0)).unwrap();
        assert_eq!(seen, before);
        reader.execute_batch("COMMIT").unwrap();
        written.until_short();
        // Without the thread, commits write the log back themselves.
        drop(write_back);
        written.until_long();
        written.until_short();
        let seen: i64 = reader.query_row(count, [], |row| row.get(0)).unwrap();
        assert_eq!(seen, written.commits);
    }
}
