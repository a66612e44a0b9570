//! Records of AUDITOR's API on their way in: what is stored and what it does to the ledger go into
//! one database transaction, many requests into one commit.

use super::change::Change;
use super::thread::Thread;
use super::{Caller, SubmitError, Task, Writer};
use bank_core::command::{Command, UsageReport};
use bank_core::ledger;
use bank_core::time::Timestamp;
use bankd_store::{self as store, QuarantineRow, RecordRow, SourceSeen, Stamp, StoredRecord};
use std::sync::atomic::Ordering;
use std::sync::mpsc::TrySendError;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout_at};

/// How long to wait before a full queue is tried again.
const BREATH: Duration = Duration::from_millis(5);

/// Records of a list that are no more work than a batch of commands.
const FEW: usize = 64;

/// How a reason begins where a record is stored and the rules refuse its charge.
pub const NOT_CHARGED: &str = "stored, not charged: ";

/// A request, with everything that its rows need.
#[derive(Clone, Debug)]
pub struct Collect {
    /// What is asked.
    pub what: Collecting,
    /// The collector that it counts for.
    pub source: String,
    /// Who asks.
    pub caller: Caller,
    /// The request's id.
    pub request_id: String,
    /// The route, for the quarantine.
    pub place: &'static str,
    /// Who sent it, for the quarantine.
    pub peer: String,
}

impl Task {
    /// Whether it holds the writer for much longer than a command: a chunk of an import, a list of
    /// records.
    pub(super) fn is_long(&self) -> bool {
        match self {
            // A month: each of its days is looked at, and a row written for each key.
            Task::Portion(..) | Task::Change(Change::Month(_), _) => true,
            Task::Collect(asked, _) => {
                matches!(&asked.what, Collecting::Add { records, .. } if records.len() > FEW)
            }
            _ => false,
        }
    }

    /// Whether it comes behind what failed, and is not done for that.
    pub(super) fn is_void(&self) -> bool {
        matches!(self, Task::Portion(portion, _) if portion.row.is_broken())
    }
}

/// What is asked.
#[derive(Clone, Debug)]
pub enum Collecting {
    /// Store records, all or none.
    Add {
        /// The records; no name comes twice.
        records: Vec<Gathered>,
        /// Store those that are new, where some are there already.
        lenient: bool,
    },
    /// Move a record's end.
    End {
        /// Its name.
        record_id: String,
        /// The end, µs.
        stop: i64,
        /// Whole seconds from its start.
        runtime: i64,
        /// Its keys and values, as [`store::read::auditor::pair`] numbers them.
        pairs: Vec<i64>,
        /// What the end does to the ledger.
        work: Box<Work>,
    },
    /// Keep aside what is refused for good.
    Refuse {
        /// Why.
        reason: String,
        /// It, as it came.
        body: Vec<u8>,
    },
    /// Place a record's lien again.
    Renew {
        /// Its name.
        record_id: String,
        /// The lien.
        work: Box<Work>,
        /// When to come again, µs; none for never.
        next: Option<i64>,
    },
}

/// A record with what it does to the ledger.
#[derive(Clone, Debug)]
pub struct Gathered {
    /// The record.
    pub row: RecordRow,
    /// What it does.
    pub work: Work,
}

/// What a record does to the ledger.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// The command; none for nothing.
    pub command: Option<Command>,
    /// The record as it is answered, for the quarantine where the rules refuse the command.
    pub record: String,
}

/// What became of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Collected {
    /// Done.
    Done(Told),
    /// Nothing was done: a record of a name is there already.
    Exists(Told),
    /// There is no record of that name.
    Unknown,
}

/// What there is to say of it beside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Records that were there already.
    pub known: u64,
    /// Those of them that say something else.
    pub conflicts: Vec<String>,
    /// What the rules refused, with the code; the records are stored all the same.
    pub refused: Vec<(String, &'static str)>,
}

impl Writer {
    /// Takes records in and waits until they are durable, for so long at most. A full queue is
    /// waited for.
    ///
    /// # Errors
    /// If it takes longer, the store fails, which leaves nothing of it, or the daemon is going down.
    pub async fn collect(
        &self,
        what: Collect,
        patience: Duration,
    ) -> Result<Collected, SubmitError> {
        let until = Instant::now() + patience;
        let (reply, answer) = oneshot::channel();
        let mut task = Task::Collect(Box::new(what), reply);
        self.shared.depth.fetch_add(1, Ordering::Relaxed);
        loop {
            task = match self.queue.try_send(task) {
                Ok(()) => break,
                Err(TrySendError::Full(task)) if Instant::now() < until => task,
                Err(error) => {
                    self.shared.depth.fetch_sub(1, Ordering::Relaxed);
                    return Err(match error {
                        TrySendError::Full(_) => SubmitError::Busy,
                        TrySendError::Disconnected(_) => SubmitError::Stopped,
                    });
                }
            };
            sleep(BREATH).await;
        }
        match timeout_at(until, answer).await {
            Ok(answered) => answered.unwrap_or(Err(SubmitError::Failed)),
            Err(_) => Err(SubmitError::Busy),
        }
    }
}

impl Thread {
    /// Takes records in.
    pub(super) fn collect(
        &mut self,
        asked: &Collect,
        now: Timestamp,
    ) -> Result<Collected, store::Error> {
        match &asked.what {
            Collecting::Add { records, lenient } => self.add(asked, records, *lenient, now),
            Collecting::End {
                record_id,
                stop,
                runtime,
                pairs,
                work,
            } => {
                let Some(known) = self.store.collected(record_id)? else {
                    return Ok(Collected::Unknown);
                };
                self.store.end_collected(&known, *stop, *runtime, pairs)?;
                let mut told = Told::default();
                self.perform(asked, record_id, work, &mut told, now)?;
                let seen = SourceSeen {
                    jobs: u64::from(known.stop.is_none()),
                    last_event: Some(Timestamp(*stop)),
                    rejected: count(&told.refused),
                    ..SourceSeen::default()
                };
                self.seen(asked, seen, now)?;
                Ok(Collected::Done(told))
            }
            Collecting::Refuse { reason, body } => {
                let row = aside(asked, reason.clone(), body.clone());
                self.store.quarantine(&[row], now)?;
                let seen = SourceSeen {
                    records: 1,
                    rejected: 1,
                    ..SourceSeen::default()
                };
                self.seen(asked, seen, now)?;
                Ok(Collected::Done(Told::default()))
            }
            Collecting::Renew {
                record_id,
                work,
                next,
            } => {
                let known = self.store.collected(record_id)?;
                let Some(known) = known.filter(|known| known.stop.is_none()) else {
                    return Ok(Collected::Unknown);
                };
                self.store.renew_collected(known.id, *next)?;
                let mut told = Told::default();
                self.perform(asked, record_id, work, &mut told, now)?;
                Ok(Collected::Done(told))
            }
        }
    }

    fn add(
        &mut self,
        asked: &Collect,
        records: &[Gathered],
        lenient: bool,
        now: Timestamp,
    ) -> Result<Collected, store::Error> {
        let mut told = Told::default();
        let mut new = Vec::with_capacity(records.len());
        for record in records {
            match self.store.collected(&record.row.record_id)? {
                None => new.push(record),
                Some(known) => {
                    told.known = told.known.saturating_add(1);
                    if says_else(&record.row, &known) {
                        told.conflicts.push(record.row.record_id.clone());
                    }
                }
            }
        }
        if told.known > 0 && !lenient {
            return Ok(Collected::Exists(told));
        }
        for record in &new {
            self.store.collect(&record.row)?;
            let record_id = &record.row.record_id;
            self.perform(asked, record_id, &record.work, &mut told, now)?;
        }
        let ended = new.iter().filter_map(|record| record.row.stop);
        let ended: Vec<i64> = ended.collect();
        let seen = SourceSeen {
            records: count(&new),
            jobs: count(&ended),
            last_event: ended.into_iter().max().map(Timestamp),
            rejected: count(&told.refused),
            ..SourceSeen::default()
        };
        self.seen(asked, seen, now)?;
        Ok(Collected::Done(told))
    }

    /// Runs what a record does to the ledger. What the rules refuse goes into the quarantine, and
    /// the record is stored all the same: its sender would not send it again.
    fn perform(
        &mut self,
        asked: &Collect,
        record_id: &str,
        work: &Work,
        told: &mut Told,
        now: Timestamp,
    ) -> Result<(), store::Error> {
        let Some(command) = &work.command else {
            return Ok(());
        };
        self.sweep(now)?;
        self.store.stamp(Stamp {
            now,
            request_id: asked.request_id.clone(),
            actor: asked.caller.actor.clone(),
            client: asked.caller.client.clone(),
            origin: asked.caller.origin.word(),
            key: None,
        });
        let scope = &asked.caller.scope;
        let decision =
            self.recorded(|recording| ledger::execute(recording, command, scope, now, false))?;
        let Err(refusal) = decision else {
            return Ok(());
        };
        told.refused.push((record_id.to_owned(), refusal.code()));
        // A lien that is not to be had leaves the record as it is.
        if !matches!(command, Command::Usage(_)) {
            return Ok(());
        }
        let reason = format!("{NOT_CHARGED}{}", refusal.code());
        let row = aside(asked, reason, work.record.clone().into_bytes());
        self.store.quarantine(&[row], now)
    }

    /// Counts for the collector of a use that came as a command.
    pub(super) fn heard(&self, report: &UsageReport, now: Timestamp) -> Result<(), store::Error> {
        let seen = SourceSeen {
            name: report.source.clone(),
            records: 1,
            jobs: 1,
            last_event: report.request.facts.end,
            ..SourceSeen::default()
        };
        self.store.saw(&seen, now)
    }

    /// Counts for the collector.
    fn seen(&self, asked: &Collect, seen: SourceSeen, now: Timestamp) -> Result<(), store::Error> {
        let seen = SourceSeen {
            name: asked.source.clone(),
            format: "auditor".to_owned(),
            ..seen
        };
        self.store.saw(&seen, now)
    }
}

/// What is kept aside of a request.
fn aside(asked: &Collect, reason: String, body: Vec<u8>) -> QuarantineRow {
    QuarantineRow {
        source: asked.source.clone(),
        peer: asked.peer.clone(),
        place: asked.place.to_owned(),
        line: 0,
        reason,
        body,
    }
}

fn count<T>(all: &[T]) -> u64 {
    u64::try_from(all.len()).unwrap_or(u64::MAX)
}

/// Whether a record that comes again says something else. One that was closed meanwhile is sent
/// again as it was first.
fn says_else(new: &RecordRow, known: &StoredRecord) -> bool {
    new.head != known.head || (new.stop.is_some() && new.stop != known.stop)
}
