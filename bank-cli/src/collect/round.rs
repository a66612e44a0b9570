//! One round of a collector: fetch what is new into the queue, and send what waits to the bank.
//!
//! What was fetched is on disk before anything else happens; a stream's `until` moves only when the
//! bank has taken a batch (or refused it for good); a batch leaves the queue after that. So a process
//! may end between any two steps: something may be sent twice, which its identity makes harmless, but
//! nothing is lost. It must never send a batch before the older ones of the queue.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read};
use std::path::PathBuf;

use bank_api::exit::bank as exit;
use bank_api::text::{format_rfc3339, parse_rfc3339};
use bank_api::v1::{CollectBatch, CollectRound, CollectState};

use super::queue::{Queue, Waiting};
use crate::fail::Failure;
use crate::hooks;

/// Batches that one round fetches at most; the next goes on at once.
const FETCHED_MAX: u64 = 100;
/// What a collector remembers, beside its queue.
const STATE: &str = "state.json";
/// Sentences of trouble that are kept of one round.
const TROUBLE_MAX: usize = 20;
/// How far the clock may stand behind the last batch before that is said.
const BEHIND_US: i64 = 3_600_000_000;

/// Where the usage comes from.
pub(crate) trait Source {
    /// What is fetched piece by piece, each with a position of its own.
    fn streams(&self) -> Vec<String>;

    /// Fetches the piece of a stream behind `position` (none before the first) into the queue.
    /// `now_us` is when the round began: what lies behind it is the next round's.
    fn fetch(
        &mut self,
        queue: &Queue,
        stream: &str,
        position: Option<i64>,
        now_us: i64,
    ) -> Result<Next, Failure>;
}

/// What a look at a stream found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// A batch is in the queue, with so many bytes.
    Batch(u64),
    /// There is nothing new yet.
    UpToDate,
}

/// What the bank made of a batch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sent {
    /// Records that its reader counted.
    pub(crate) records: u64,
    /// What became of them.
    pub(crate) outcomes: BTreeMap<String, u64>,
    /// Records that could not be read, now in the bank's quarantine.
    pub(crate) quarantined: u64,
}

/// Sends the bytes of a batch to the bank.
pub(crate) type Send<'a> = dyn FnMut(&CollectBatch, Box<dyn Read>) -> Result<Sent, Failure> + 'a;

/// How a round ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ended {
    /// What was done.
    pub(crate) round: CollectRound,
    /// There is more to fetch at once.
    pub(crate) is_unfinished: bool,
    /// The failure that matters most, by its exit code; none if all went well.
    pub(crate) failure: Option<Failure>,
}

/// Runs rounds over one queue.
pub(crate) struct Rounds<'a> {
    queue: Queue,
    state: CollectState,
    name: &'static str,
    source: Box<dyn Source + 'a>,
    send: Box<Send<'a>>,
    /// The bank cannot take anything now.
    is_away: bool,
    done: CollectRound,
    failure: Option<Failure>,
}

impl<'a> Rounds<'a> {
    /// Over an opened queue, going on where its state says.
    pub(crate) fn new(
        name: &'static str,
        queue: Queue,
        source: Box<dyn Source + 'a>,
        send: Box<Send<'a>>,
    ) -> Result<Self, Failure> {
        let state = state(&queue.folder().join(STATE))?;
        Ok(Self {
            queue,
            state,
            name,
            source,
            send,
            is_away: false,
            done: CollectRound::default(),
            failure: None,
        })
    }

    /// One round that begins now.
    pub(crate) fn run(&mut self, now_us: i64) -> Ended {
        self.done = CollectRound {
            collector: self.name.to_owned(),
            at: format_rfc3339(now_us),
            ..CollectRound::default()
        };
        self.failure = None;
        self.is_away = false;
        self.drain(now_us);
        let mut is_unfinished = false;
        for stream in self.source.streams() {
            is_unfinished |= self.follow(&stream, now_us);
        }
        self.count_waiting();
        self.state.round = Some(self.done.clone());
        if let Err(failure) = self.remember() {
            self.trouble(failure);
        }
        Ended {
            round: self.done.clone(),
            is_unfinished,
            failure: self.failure.take(),
        }
    }

    /// Fetches a stream up to now; true if there is more than one round fetches.
    fn follow(&mut self, stream: &str, now_us: i64) -> bool {
        for _ in 0..FETCHED_MAX {
            let position = match self.position(stream) {
                Ok(position) => position,
                Err(failure) => {
                    self.trouble(failure);
                    return false;
                }
            };
            if position.is_some_and(|at| at.saturating_sub(now_us) > BEHIND_US) {
                let until = position.map(format_rfc3339).unwrap_or_default();
                self.trouble(Failure::unreachable(format!(
                    "{stream}: the clock is more than an hour before {until}, the end of the fetched data"
                )));
                return false;
            }
            match self.source.fetch(&self.queue, stream, position, now_us) {
                Ok(Next::UpToDate) => return false,
                Ok(Next::Batch(bytes)) => {
                    hooks::point("queued");
                    self.done.fetched = self.done.fetched.saturating_add(1);
                    self.done.bytes = self.done.bytes.saturating_add(bytes);
                    self.drain(now_us);
                }
                Err(failure) => {
                    self.trouble(failure);
                    return false;
                }
            }
        }
        true
    }

    /// Up to where a stream is in the queue or with the bank.
    fn position(&self, stream: &str) -> Result<Option<i64>, Failure> {
        let with_bank = self.state.streams.get(stream);
        let with_bank = with_bank.and_then(|known| known.until.clone());
        let waiting = self.queue.newest(stream);
        let waiting = waiting.map_err(|error| self.unusable(&error))?;
        let all = waiting.map(|head| head.until).into_iter().chain(with_bank);
        Ok(all.filter_map(|until| parse_rfc3339(&until)).max())
    }

    /// Sends what waits, the oldest first, until the bank cannot take any.
    fn drain(&mut self, now_us: i64) {
        if self.is_away {
            return;
        }
        let waiting = match self.queue.list() {
            Ok(waiting) => waiting,
            Err(error) => {
                self.is_away = true;
                return self.trouble(self.unusable(&error));
            }
        };
        for batch in waiting {
            if let Err(failure) = self.deliver(&batch, now_us) {
                // What follows would overtake it.
                self.is_away = true;
                return self.trouble(failure);
            }
        }
    }

    fn deliver(&mut self, batch: &Waiting, now_us: i64) -> Result<(), Failure> {
        let body = self.queue.body(batch).map_err(|e| self.unusable(&e))?;
        let sent = (self.send)(&batch.head, body);
        let refusal = match sent {
            Ok(sent) => {
                hooks::point("sent");
                self.took(batch, sent, now_us);
                None
            }
            Err(failure) if is_final(&failure) => Some(failure),
            Err(failure) => return Err(failure),
        };
        let stream = self.state.streams.entry(batch.head.stream.clone());
        let stream = stream.or_default();
        let known = stream.until.as_deref().and_then(parse_rfc3339);
        if known < parse_rfc3339(&batch.head.until) {
            stream.until = Some(batch.head.until.clone());
        }
        stream.refused = stream.refused.saturating_add(u64::from(refusal.is_some()));
        self.remember()?;
        hooks::point("stated");
        let gone = match &refusal {
            None => self.queue.remove(batch),
            Some(failure) => self.queue.set_aside(batch, &failure.to_string()),
        };
        gone.map_err(|error| self.unusable(&error))?;
        hooks::point("removed");
        if let Some(failure) = refusal {
            self.done.refused = self.done.refused.saturating_add(1);
            let what = format!(
                "{} until {}: refused for good: {}",
                batch.head.stream, batch.head.until, failure.what
            );
            self.trouble(Failure::of(exit::REFUSED, what));
        }
        Ok(())
    }

    fn took(&mut self, batch: &Waiting, sent: Sent, now_us: i64) {
        let stream = self.state.streams.entry(batch.head.stream.clone());
        let stream = stream.or_default();
        stream.sent = Some(format_rfc3339(now_us));
        stream.batches = stream.batches.saturating_add(1);
        stream.records = stream.records.saturating_add(sent.records);
        self.done.sent = self.done.sent.saturating_add(1);
        self.done.records = self.done.records.saturating_add(sent.records);
        for (word, count) in sent.outcomes {
            let all = self.done.outcomes.entry(word).or_default();
            *all = all.saturating_add(count);
        }
        if sent.quarantined > 0 {
            let all = self.done.outcomes.entry("quarantined".to_owned());
            let all = all.or_default();
            *all = all.saturating_add(sent.quarantined);
        }
    }

    fn count_waiting(&mut self) {
        // The round has told of a folder that cannot be read.
        let (count, bytes) = self.queue.size().unwrap_or_default();
        self.done.waiting = count;
        self.done.waiting_bytes = bytes;
    }

    fn remember(&self) -> Result<(), Failure> {
        let content = serde_json::to_vec_pretty(&self.state)
            .map_err(|error| Failure::internal(format!("cannot write JSON: {error}")))?;
        let path = self.queue.folder().join(STATE);
        bank_client::durable::write(&path, &content).map_err(|error| self.unusable(&error))
    }

    fn trouble(&mut self, failure: Failure) {
        let what = failure.what.clone();
        if self.done.trouble.len() < TROUBLE_MAX && !self.done.trouble.contains(&what) {
            self.done.trouble.push(what);
        }
        let worse = |known: &Failure| weight(failure.exit) > weight(known.exit);
        if self.failure.as_ref().is_none_or(worse) {
            self.failure = Some(failure);
        }
    }

    fn unusable(&self, error: &io::Error) -> Failure {
        unusable(&self.queue.folder().display().to_string(), error)
    }
}

/// What a collector remembers; nothing before its first round.
pub(crate) fn state(path: &std::path::Path) -> Result<CollectState, Failure> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(CollectState::default()),
        Err(error) => return Err(unusable(&path.display().to_string(), &error)),
    };
    serde_json::from_slice(&bytes).map_err(|error| {
        Failure::usage(format!("{} cannot be read: {error}", path.display())).hint(
            "without it, the collector begins at its `start` again; records are not counted twice",
        )
    })
}

/// The file of [`state`] in a collector's folder.
pub(crate) fn state_file(folder: &std::path::Path) -> PathBuf {
    folder.join(STATE)
}

/// The queue's folder or disk is in trouble; a full queue is trouble of the bank, which does not
/// take what waits.
pub(crate) fn unusable(what: &str, error: &io::Error) -> Failure {
    if error.kind() == ErrorKind::QuotaExceeded {
        return Failure::unreachable("the queue is full; fetching stops until records are sent")
            .hint("`queue_mib` sets its size");
    }
    let failure = Failure::of(exit::UNAVAILABLE, format!("cannot use {what}: {error}"));
    failure.hint("is there room on the disk, and does the folder belong to this user?")
}

/// Whether the bank will never take a batch as it is: it is malformed, too large, or means nothing.
/// Without a word of the bank it was not asked; what it does not know, does not allow or is in conflict
/// with may be put right.
fn is_final(failure: &Failure) -> bool {
    let problem = failure.problem.as_ref();
    problem.is_some_and(|problem| matches!(problem.row().http, 400 | 413 | 422))
}

/// Which of two failures is the one to tell: a refusal is gone from the queue after this round, all
/// others come again.
fn weight(code: u8) -> u8 {
    match code {
        exit::REFUSED => 4,
        exit::USAGE | exit::INTERNAL => 3,
        exit::UNAVAILABLE => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests;
