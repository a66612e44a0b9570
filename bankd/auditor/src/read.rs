//! `GET /records` and `GET /record/{id}`: stored records that match the query.
//!
//! A stream begins when the database returns its first records, so that earlier errors get an answer. It
//! reads one committed state, and buffers only a few pieces. A client that stops reading is disconnected:
//! its read transaction must not keep the database log for ever.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bankd_intake::auditor::{close, looked};
use bankd_store as store;
use bankd_store::read::auditor::{Found, each, record};
use hyper::body::Bytes;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{Sender, channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::access::Reach;
use super::answer::{self, Answer, Piece};
use super::query::Query;

/// Answers under way at once.
const READERS: usize = 8;
/// Short questions under way at once.
const ASKERS: usize = 4;
/// Maximum wait for a connection.
const TURN: Duration = Duration::from_secs(8);
/// Maximum time without progress of a client, and maximum time of an answer.
const STALL: Duration = Duration::from_secs(30);
const WHOLE: Duration = Duration::from_mins(30);
/// Bytes of a piece, and pieces on their way.
const PIECE: usize = 64 << 10;
const PIECES: usize = 4;
/// Number of records between two checks for a disconnected client.
const LOOK: u32 = 1000;

/// Connections for answers, in addition to those of the bank's routes. Short queries have separate ones, so
/// that slow clients do not delay the end of a record.
#[derive(Clone)]
pub(super) struct Readers {
    streams: Shelf,
    questions: Shelf,
}

/// Some of them.
#[derive(Clone)]
struct Shelf {
    idle: Arc<Mutex<Vec<rusqlite::Connection>>>,
    room: Arc<Semaphore>,
}

/// One of them, for one answer.
pub(super) struct Lease {
    connection: Option<rusqlite::Connection>,
    idle: Arc<Mutex<Vec<rusqlite::Connection>>>,
    _turn: OwnedSemaphorePermit,
}

impl Readers {
    pub(super) fn open(database: &Path) -> Result<Self, store::Error> {
        Ok(Self {
            streams: Shelf::open(database, READERS)?,
            questions: Shelf::open(database, ASKERS)?,
        })
    }

    /// A connection for a long answer; `None` if none is free in time.
    pub(super) async fn lend(&self, patience: Duration) -> Option<Lease> {
        self.streams.lend(patience).await
    }

    /// Runs a short query; `None` without an answer in time.
    pub(super) async fn ask<T, F>(&self, patience: Duration, question: F) -> Option<T>
    where
        T: Send + 'static,
        F: FnOnce(&rusqlite::Connection) -> Result<T, store::Error> + Send + 'static,
    {
        let answered = async {
            let lease = self.questions.lend(patience).await?;
            let answer = tokio::task::spawn_blocking(move || {
                let answer = question(lease.connection.as_ref()?);
                Some(answer.inspect_err(|error| tracing::error!(%error, "a question failed")))
            });
            answer.await.ok()??.ok()
        };
        timeout(patience, answered).await.ok()?
    }
}

impl Shelf {
    fn open(database: &Path, many: usize) -> Result<Self, store::Error> {
        let all = (0..many).map(|_| store::open_reader(database));
        Ok(Self {
            idle: Arc::new(Mutex::new(all.collect::<Result<_, _>>()?)),
            room: Arc::new(Semaphore::new(many)),
        })
    }

    async fn lend(&self, patience: Duration) -> Option<Lease> {
        let turn = timeout(patience, Arc::clone(&self.room).acquire_owned()).await;
        let turn = turn.ok()?.ok()?;
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        Some(Lease {
            connection: Some(idle.pop()?),
            idle: Arc::clone(&self.idle),
            _turn: turn,
        })
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let connection = self.connection.take();
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.extend(connection);
    }
}

/// `GET /record/{id}`.
pub(super) async fn one(readers: &Readers, reach: Option<Reach>, record_id: String) -> Answer {
    let answer = readers.ask(TURN, move |connection| record(connection, &record_id));
    let Some(found) = answer.await else {
        return answer::unanswered("the database does not answer");
    };
    let Some(found) = found else {
        return answer::no_such_record();
    };
    if !sees(reach.as_ref(), &found.head) {
        return answer::no_such_record();
    }
    let mut text = Vec::with_capacity(found.head.len() + 80);
    close(&found.head, found.stop, found.runtime, &mut text);
    answer::record(text)
}

/// `GET /records`; as an array if the client explicitly accepts JSON.
pub(super) async fn many(
    readers: &Readers,
    reach: Option<Reach>,
    query: Query,
    array: bool,
) -> Answer {
    let Some(lease) = readers.lend(TURN).await else {
        return answer::unanswered("too many answers under way");
    };
    let (pieces, mut rest) = channel(PIECES);
    let handle = Handle::current();
    tokio::task::spawn_blocking(move || {
        let Some(connection) = &lease.connection else {
            return;
        };
        let mut taker = Taker {
            query: &query,
            reach: reach.as_ref(),
            array,
            left: query.limit.unwrap_or(u64::MAX),
            seen: 0,
            until: Instant::now() + WHOLE,
            text: Vec::with_capacity(PIECE + (8 << 10)),
            begun: false,
            pieces: &pieces,
            handle: &handle,
        };
        taker.run(connection);
    });
    match rest.recv().await {
        Some(Piece::Records(first)) => answer::stream(Some(first), rest),
        // The stream is complete before it begins: repeat its end.
        Some(Piece::End) => answer::stream(None, ended()),
        Some(Piece::Broken(why)) => {
            tracing::error!(error = why, "a query failed");
            answer::unanswered("the database does not answer")
        }
        None => answer::unanswered("the database does not answer"),
    }
}

fn ended() -> tokio::sync::mpsc::Receiver<Piece> {
    let (pieces, rest) = channel(1);
    // There is room for one.
    let _ = pieces.try_send(Piece::End);
    rest
}

/// Passes records from the database to the client.
struct Taker<'a> {
    query: &'a Query,
    reach: Option<&'a Reach>,
    array: bool,
    left: u64,
    seen: u32,
    until: Instant,
    text: Vec<u8>,
    begun: bool,
    pieces: &'a Sender<Piece>,
    handle: &'a Handle,
}

impl Taker<'_> {
    fn run(&mut self, connection: &rusqlite::Connection) {
        if self.array {
            self.text.push(b'[');
        }
        let mut gone = false;
        let mut result = Ok(());
        if self.left > 0 {
            let query = self.query;
            result = each(connection, &query.select, |found| {
                let flow = self.take(&found);
                gone |= flow.is_err();
                flow.unwrap_or(ControlFlow::Break(()))
            });
        }
        if gone {
            tracing::info!("a client did not take its answer");
            return;
        }
        if let Err(error) = result {
            tracing::error!(%error, "an answer broke off");
            self.send(Piece::Broken(error.to_string()));
            return;
        }
        if self.array {
            self.text.push(b']');
        }
        if self.flush().is_ok() {
            self.send(Piece::End);
        }
    }

    /// Passes one record on. Fails if the receiver is gone.
    fn take(&mut self, found: &Found<'_>) -> Result<ControlFlow<()>, ()> {
        self.seen += 1;
        if self.seen == LOOK {
            self.seen = 0;
            if self.pieces.is_closed() || Instant::now() > self.until {
                return Err(());
            }
        }
        if !fits(self.query, found) || !sees(self.reach, found.head) {
            return Ok(ControlFlow::Continue(()));
        }
        if self.array && self.begun {
            self.text.push(b',');
        }
        self.begun = true;
        close(found.head, found.stop, found.runtime, &mut self.text);
        if !self.array {
            self.text.push(b'\n');
        }
        if self.text.len() >= PIECE {
            self.flush()?;
        }
        self.left -= 1;
        Ok(if self.left == 0 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    }

    fn flush(&mut self) -> Result<(), ()> {
        if self.text.is_empty() {
            return Ok(());
        }
        let room = Vec::with_capacity(PIECE + (8 << 10));
        let text = std::mem::replace(&mut self.text, room);
        if self.send(Piece::Records(Bytes::from(text))) {
            Ok(())
        } else {
            Err(())
        }
    }

    fn send(&self, piece: Piece) -> bool {
        let sent = self.pieces.send_timeout(piece, STALL);
        self.handle.block_on(sent).is_ok()
    }
}

/// Whether a record meets the conditions that the database does not check.
fn fits(query: &Query, found: &Found<'_>) -> bool {
    if query.meta.is_empty() && query.components.is_empty() {
        return true;
    }
    let Ok(looked) = looked(found.head) else {
        return false;
    };
    let values = |key: &String| looked.meta.as_ref().and_then(|meta| meta.get(key));
    let meta = query.meta.iter().all(|(key, wanted)| {
        let Some(values) = values(key) else {
            return false;
        };
        wanted.has.iter().all(|value| values.contains(value))
            && wanted.lacks.iter().all(|value| !values.contains(value))
    });
    meta && query.components.iter().all(|(name, range)| {
        let mut same = looked.components.iter().filter(|c| c.name == *name);
        same.any(|component| range.holds(component.amount))
    })
}

/// Whether the caller may see it.
fn sees(reach: Option<&Reach>, head: &str) -> bool {
    let meta = |head| looked(head).ok().and_then(|looked| looked.meta);
    reach.is_none_or(|reach| reach.holds(&meta(head).unwrap_or_default()))
}
