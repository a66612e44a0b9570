//! Imports over HTTP: files arrive in pieces, each import with a reader in a thread of its own.
//!
//! A piece is acknowledged when it is in the bounded channel to its reader. The sender is
//! responsible for completeness, and identity makes repeats safe: the same import again changes
//! nothing (`collectors.md` 0.3). So an import is in memory only, and ends with the daemon. There are
//! limits for the number of imports, their idle time, the queued data, and the uncompressed size.

mod inbox;
mod position;
mod session;
mod worker;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use bank_core::time::Timestamp;
use bankd_config::ImportLimits;
use bankd_ingest::{Format, Options};
use bankd_ledger::clock;
use bankd_ledger::writer::{IdempotencyKey, Writer};
use bankd_store::background;
use tokio::sync::{mpsc, watch};

use crate::Feed;

use self::inbox::{GivenUp, Piece, WAITING};
use self::position::Fit;
pub use self::position::Part;
pub use self::session::Standing;
use self::session::{Outcome, Session};
pub use self::worker::{Done, Failed};
use self::worker::{Progress, Work};

/// Why a request about an import is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// There is none of this id, or not for this client.
    Unknown,
    /// As many run as may.
    Crowded,
    /// The reader is behind, or still at work: the same request again, later.
    Busy,
    /// The daemon is going down.
    Stopping,
    /// The key was used for another import.
    KeyReused,
    /// The piece does not begin where the import is.
    Elsewhere {
        /// The file that is being sent.
        file: String,
        /// Bytes of it that are taken.
        at: u64,
    },
    /// It was ended already.
    Ended,
    /// It failed.
    Failed(Failed),
}

/// An import to be opened.
pub struct Opening {
    /// The sender.
    pub client: String,
    /// The key of the request.
    pub key: Option<IdempotencyKey>,
    /// Source, machine, and the rest that the intake needs.
    pub feed: Feed,
    /// The format of the files.
    pub format: &'static Format,
    /// How they are read.
    pub options: Options,
    /// The same as it is kept.
    pub reading: String,
    /// Jobs that ended before are skipped, µs since 1970.
    pub since_us: Option<i64>,
    /// Sum up by UTC day too.
    pub days: bool,
    /// Whether it is well only where all could be read.
    pub strict: bool,
}

/// All imports of this daemon.
pub struct Uploads {
    limits: ImportLimits,
    sessions: Mutex<Sessions>,
}

#[derive(Default)]
struct Sessions {
    all: BTreeMap<String, Arc<Session>>,
    /// Those that were given up, until their reader has ended: they count as running.
    leaving: Vec<Arc<Session>>,
    is_stopping: bool,
}

impl Uploads {
    /// None yet.
    pub fn new(limits: ImportLimits) -> Self {
        Self {
            limits,
            sessions: Mutex::default(),
        }
    }

    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens an import and starts its reader; the same request again finds it.
    ///
    /// # Errors
    /// If as many run as may, or the key was used for another.
    pub fn open(&self, opening: Opening, writer: &Writer) -> Result<Standing, Trouble> {
        let now = writer.steady();
        let mut sessions = self.sessions();
        if sessions.is_stopping {
            return Err(Trouble::Stopping);
        }
        if let Some(known) = sessions.of_key(&opening)? {
            return Ok(known.standing(now));
        }
        self.make_room(&mut sessions, &opening.client)?;
        let session = self.start(opening, writer, now)?;
        let standing = session.standing(now);
        sessions.all.insert(session.id.clone(), Arc::new(session));
        Ok(standing)
    }

    /// Makes room for one more by removing ended imports that were not queried again.
    fn make_room(&self, sessions: &mut Sessions, client: &str) -> Result<(), Trouble> {
        let running = |session: &&Arc<Session>| session.outcome().is_none();
        sessions.leaving.retain(|session| running(&session));
        let all = sessions.all.values().filter(running);
        let all: Vec<_> = all.chain(&sessions.leaving).collect();
        let own = all.iter().filter(|session| session.client == client);
        let (all, own) = (all.len(), own.count());
        if all >= self.limits.sessions || own >= self.limits.per_client {
            return Err(Trouble::Crowded);
        }
        while sessions.all.len() >= self.limits.sessions.saturating_mul(2) {
            let ended = sessions.all.values().filter(|s| s.outcome().is_some());
            let oldest = ended.min_by_key(|s| s.seen.load(Ordering::Relaxed));
            let Some(id) = oldest.map(|s| s.id.clone()) else {
                break;
            };
            sessions.all.remove(&id);
        }
        Ok(())
    }

    fn start(&self, opening: Opening, writer: &Writer, now: Timestamp) -> Result<Session, Trouble> {
        let (sender, receiver) = mpsc::channel(WAITING);
        let (tell, outcome) = watch::channel(None);
        let progress = Arc::new(Progress::default());
        let given_up = GivenUp::default();
        let (source, dry_run) = (opening.feed.source.clone(), opening.feed.dry_run);
        let format = opening.format.name;
        let work = Work {
            writer: writer.clone(),
            feed: opening.feed,
            format: opening.format,
            options: opening.options,
            reading: opening.reading,
            since_us: opening.since_us,
            days: opening.days,
            chunk: self.limits.chunk,
            file_bytes: self.limits.file_bytes,
            given_up: given_up.clone(),
        };
        let seen = Arc::clone(&progress);
        let thread = background::spawn("import", move || {
            let done = worker::run(work, receiver, &seen);
            if let Err(Failed { code, .. }) = &done {
                // The detail may quote input: only the sender sees it.
                tracing::warn!(code, "import ended early");
            }
            tell.send_replace(Some(Arc::new(done)));
        });
        let thread = thread.map_err(|error| {
            tracing::error!(%error, "no thread for an import");
            Trouble::Busy
        })?;
        Ok(Session {
            id: clock::request_id(),
            client: opening.client,
            key: opening.key,
            source,
            format,
            dry_run,
            strict: opening.strict,
            pieces: tokio::sync::Mutex::new(Some(sender)),
            place: Mutex::default(),
            progress,
            outcome,
            seen: AtomicI64::new(now.0),
            thread: Mutex::new(Some(thread)),
            given_up,
        })
    }

    /// Takes a part in; one that was taken before has no effect.
    ///
    /// # Errors
    /// If the piece does not continue the import, the reader is behind, or the import failed.
    pub async fn take(
        &self,
        who: Option<&str>,
        id: &str,
        part: Part,
        writer: &Writer,
    ) -> Result<Standing, Trouble> {
        let session = self.find(who, id, writer)?;
        let limit = self.limits.patience;
        let turn = tokio::time::timeout(limit, session.pieces.lock());
        let turn = turn.await.map_err(|_| Trouble::Busy)?;
        let fit = session.place().fit(&part)?;
        let now = writer.steady();
        if let Fit::Before(at) = fit {
            let mut standing = session.standing(now);
            (standing.file, standing.at) = (part.file, at);
            return Ok(standing);
        }
        session.check()?;
        let sender = turn.as_ref().ok_or(Trouble::Ended)?;
        let mut bytes = part.bytes;
        if let Fit::On(known) = fit {
            let _ = bytes.split_to(known.min(bytes.len()));
        }
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let begin = (fit == Fit::Begin).then(|| Piece::Begin(part.file.clone()));
        let bytes = (!bytes.is_empty()).then_some(Piece::Bytes(bytes));
        let news: Vec<Piece> = begin.into_iter().chain(bytes).collect();
        let room = tokio::time::timeout(limit, sender.reserve_many(news.len())).await;
        let Ok(room) = room else {
            return Err(Trouble::Busy);
        };
        let room = room.map_err(|_| session.broken())?;
        // From here on nothing waits: a request that is given up has either had its effect or none.
        for (permit, piece) in room.zip(news) {
            permit.send(piece);
        }
        session.place().go_on(&fit, part.file, part.number, length);
        Ok(session.standing(now))
    }

    /// Ends an import, and waits for its result; repeated calls return the same.
    ///
    /// # Errors
    /// If the reader is still at work, or the import failed.
    pub async fn end(
        &self,
        who: Option<&str>,
        id: &str,
        writer: &Writer,
    ) -> Result<(Standing, Outcome), Trouble> {
        let session = self.find(who, id, writer)?;
        let limit = self.limits.patience;
        let ended = async {
            let mut turn = session.pieces.lock().await;
            if let Some(sender) = turn.as_ref() {
                // A failed reader accepts no more data; its result has the reason.
                let _ = sender.send(Piece::End).await;
                *turn = None;
            }
            drop(turn);
            let mut outcome = session.outcome.clone();
            let found = outcome.wait_for(Option::is_some).await;
            found.ok().and_then(|found| found.clone())
        };
        let ended = tokio::time::timeout(limit, ended).await;
        let outcome = ended.map_err(|_| Trouble::Busy)?;
        let outcome = outcome.ok_or_else(|| session.broken())?;
        session.touch(writer);
        if let Err(failed) = outcome.as_ref() {
            return Err(Trouble::Failed(failed.clone()));
        }
        Ok((session.standing(writer.steady()), outcome))
    }

    /// Abandons an import: committed data remains, the rest is discarded. It counts as running until its reader has ended, for
    /// which the answer waits a while.
    ///
    /// # Errors
    /// If there is none.
    pub async fn give_up(
        &self,
        who: Option<&str>,
        id: &str,
        writer: &Writer,
    ) -> Result<Standing, Trouble> {
        let session = self.find(who, id, writer)?;
        session.given_up.set();
        self.sessions().leave(id);
        session.pieces.lock().await.take();
        let mut outcome = session.outcome.clone();
        let _ = tokio::time::timeout(self.limits.patience, outcome.wait_for(Option::is_some)).await;
        Ok(session.standing(writer.steady()))
    }

    /// State of imports, the oldest first.
    pub fn list(&self, who: Option<&str>, writer: &Writer) -> Vec<Standing> {
        let now = writer.steady();
        let sessions = self.sessions();
        let own = sessions.all.values().filter(|s| s.is_of(who));
        own.map(|session| session.standing(now)).collect()
    }

    /// Abandons imports that are idle for too long.
    pub fn expire(&self, writer: &Writer) {
        let now = writer.steady();
        let limit = self.limits.idle_s;
        let is_late = |session: &Session| session.idle_s(now) > limit;
        let mut late = Vec::new();
        let mut sessions = self.sessions();
        sessions.all.retain(|_, session| {
            let keep = !is_late(session);
            if !keep {
                late.push(Arc::clone(session));
            }
            keep
        });
        let running = late.iter().filter(|session| session.outcome().is_none());
        sessions.leaving.extend(running.cloned());
        drop(sessions);
        for session in late.iter().filter(|s| s.outcome().is_none()) {
            tracing::warn!(
                id = session.id,
                source = session.source,
                "import abandoned: no data received"
            );
            session.given_up.set();
            // A request that holds the way would have been seen.
            if let Ok(mut pieces) = session.pieces.try_lock() {
                pieces.take();
            }
        }
    }

    /// Gives all of them up, takes no more, and waits for their threads. Blocks.
    pub fn stop(&self) {
        let all = {
            let mut sessions = self.sessions();
            sessions.is_stopping = true;
            let all = std::mem::take(&mut sessions.all).into_values();
            let leaving = std::mem::take(&mut sessions.leaving);
            all.chain(leaving).collect::<Vec<_>>()
        };
        for session in &all {
            session.given_up.set();
        }
        for session in &all {
            session.pieces.blocking_lock().take();
        }
        for session in all {
            let thread = session.thread.lock();
            let thread = thread.unwrap_or_else(PoisonError::into_inner).take();
            // A panic was logged where it happened.
            let _ = thread.map(JoinHandle::join);
        }
    }

    /// The import; updates its last activity.
    fn find(&self, who: Option<&str>, id: &str, writer: &Writer) -> Result<Arc<Session>, Trouble> {
        let sessions = self.sessions();
        let session = sessions.all.get(id).filter(|s| s.is_of(who));
        let session = session.map(Arc::clone).ok_or(Trouble::Unknown)?;
        session.touch(writer);
        Ok(session)
    }
}

impl Sessions {
    /// An import is given up; its reader may still be at work.
    fn leave(&mut self, id: &str) {
        let session = self.all.remove(id);
        let running = session.filter(|session| session.outcome().is_none());
        self.leaving.extend(running);
    }

    /// The import that the same key opened before.
    fn of_key(&self, opening: &Opening) -> Result<Option<&Arc<Session>>, Trouble> {
        let Some(key) = &opening.key else {
            return Ok(None);
        };
        let same = |session: &&Arc<Session>| {
            let known = session.key.as_ref();
            session.client == opening.client && known.is_some_and(|known| known.key == key.key)
        };
        let Some(session) = self.all.values().find(same) else {
            return Ok(None);
        };
        let known = session.key.as_ref();
        if known.is_some_and(|known| known.fingerprint == key.fingerprint) {
            Ok(Some(session))
        } else {
            Err(Trouble::KeyReused)
        }
    }
}

#[cfg(test)]
mod tests;
