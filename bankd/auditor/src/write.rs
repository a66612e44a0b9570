//! `POST /record`, `POST /records` and `PUT /record`.
//!
//! Clients of these routes treat any answer but one as success and delete their data (`auditor-api.md` 9).
//! So there is no answer if a retry may succeed, a 200 follows the commit, and a permanently refused record
//! goes to the quarantine before the answer.

use std::collections::HashSet;
use std::sync::Arc;

use bank_api::reason::bounded;
use bankd_intake::auditor::money::{Known, Terms};
use bankd_intake::auditor::record::{Added, Refused, Updated};
use bankd_intake::auditor::time::Time;
use bankd_intake::auditor::{
    Act, LIST_MAX, Understood, gathered, known, looked, pairs, understood,
};
use bankd_ledger::writer::{
    Collect, Collected, Collecting, Details, Gathered, Memory, SubmitError, Work,
};
use bankd_store::read;
use hyper::Request;
use hyper::body::Incoming;
use hyper::header::CONTENT_TYPE;
use tokio::time::Instant;

use super::access::{Access, Right};
use super::answer::{self, Answer, Dropped};
use super::body::Taken;
use super::house::{House, Visitor};
use super::passed;

/// Larger bodies are parsed on a separate thread, in bytes.
const LARGE: usize = 256 << 10;
/// Characters of a refused record's name that the log has: it may be as long as the body.
const LOGGED: usize = 256;
/// A record of more bytes than this stops one of the clients (`auditor-api.md` 6).
const WARN: usize = 10_000;

/// A request for writing, on its way.
pub(super) struct Writing<'a> {
    pub(super) house: &'a House,
    pub(super) visitor: &'a Visitor,
    pub(super) act: Act,
    pub(super) request_id: String,
}

impl Writing<'_> {
    /// The answer, if there is one.
    pub(super) async fn answer(&self, request: Request<Incoming>) -> Result<Answer, Dropped> {
        let allowed = self
            .house
            .access()
            .allowed(&self.visitor.identity, Right::Write);
        if let Err(denied) = allowed {
            self.house.denied(self.visitor, self.act.place(), &denied);
            return Ok(answer::forbidden(&denied));
        }
        let is_json = request
            .headers()
            .get(CONTENT_TYPE)
            .is_some_and(|value| value.to_str().is_ok_and(is_json));
        let limit = self.house.settings().body_limit;
        let body = self.house.room.take(request.into_body(), limit).await?;
        if !self.house.services.writer.is_writing() {
            return passed::pass(self.house, (self.visitor, self.act), is_json, &body).await;
        }
        self.judge(is_json, body).await
    }

    /// The answer to a body that is there, at the node that writes.
    pub(super) async fn judge(&self, is_json: bool, body: Taken) -> Result<Answer, Dropped> {
        let limit = self.house.settings().body_limit;
        let held = body.memory.map(Arc::new);
        if let Some(length) = body.beyond {
            let why = Refused::of(format!("{length} bytes, more than auditor.body_limit"));
            self.refuse(&why, (body.bytes, held)).await?;
            return Ok(answer::too_large(length, limit));
        }
        if !is_json {
            let why = Refused::of("the content type is not application/json");
            self.refuse(&why, (body.bytes, held)).await?;
            return Ok(answer::not_json());
        }
        let until = Instant::now() + self.house.settings().patience();
        let memory = self.house.records.hold(body.bytes.len(), until).await?;
        let (understood, bytes) = self.understand(body.bytes).await?;
        match understood {
            Ok(understood) => {
                drop((bytes, held));
                match understood {
                    Understood::Add(records) => self.add(records, memory).await,
                    Understood::End(end) => self.end(&end, memory).await,
                }
            }
            Err(refused) => {
                drop(memory);
                self.refuse(&refused, (bytes, held)).await?;
                Ok(answer::no_record(&refused.why))
            }
        }
    }

    /// Parses a body; a large one on a separate thread.
    async fn understand(
        &self,
        bytes: Vec<u8>,
    ) -> Result<(Result<Understood, Refused>, Vec<u8>), Dropped> {
        let act = self.act;
        if bytes.len() < LARGE {
            return Ok((understood(act, &bytes, LIST_MAX), bytes));
        }
        let read = tokio::task::spawn_blocking(move || {
            let understood = understood(act, &bytes, LIST_MAX);
            (understood, bytes)
        });
        read.await.map_err(|_| Dropped("an internal error"))
    }

    async fn add(&self, mut records: Vec<Added>, memory: Memory) -> Result<Answer, Dropped> {
        let lenient = self.house.settings().ignore_record_exists_error;
        let many = self.act == Act::Many;
        let mut names = HashSet::with_capacity(records.len());
        let before = records.len();
        let twice = records
            .iter()
            .any(|record| !names.insert(record.record_id.clone()));
        if twice && !lenient {
            return Ok(answer::exists());
        }
        if twice {
            names.clear();
            records.retain(|record| names.insert(record.record_id.clone()));
        }
        let left_out = before != records.len();
        if records.is_empty() {
            return Ok(answer::done());
        }
        let gathered = records.into_iter().map(|record| self.gather(record));
        let records = gathered.collect::<Vec<_>>();
        let what = Collecting::Add { records, lenient };
        match self.collect(what, memory).await? {
            Collected::Done(details) => {
                self.tell(&details);
                Ok(if left_out || details.known > 0 {
                    answer::warned(many)
                } else {
                    answer::done()
                })
            }
            Collected::Exists(details) => {
                self.tell(&details);
                Ok(answer::exists())
            }
            Collected::Unknown => Err(Dropped("no answer of the ledger")),
        }
    }

    /// A stored record, with its effect on the ledger.
    fn gather(&self, record: Added) -> Gathered {
        if record.head.len() + 80 > WARN {
            let (bytes, record_id) = (record.head.len(), &record.record_id);
            tracing::warn!(
                record_id,
                bytes,
                "a record that some clients cannot read: too long"
            );
        }
        let (work, renew_at) = self.work(&known(&record));
        let creator = self.visitor.identity.name().unwrap_or_default();
        gathered(record, creator, work, renew_at)
    }

    /// The effect of a record on the ledger; nothing if it cannot be usage, which is logged.
    fn work(&self, known: &Known<'_>) -> (Work, Option<i64>) {
        let directory = self.house.services.writer.directory();
        let feed = self.house.feed(self.visitor, &self.request_id);
        let terms = Terms {
            settings: self.house.settings(),
            feed: &feed,
            directory: &directory,
            track: self.visitor.track,
        };
        match terms.work(known, self.house.services.writer.ledger_now()) {
            Ok(work) => work,
            Err(error) => {
                let record_id = known.record_id;
                tracing::error!(record_id, error, "a record is stored and not charged");
                (Work::default(), None)
            }
        }
    }

    async fn end(&self, end: &Updated, memory: Memory) -> Result<Answer, Dropped> {
        let patience = self.house.settings().patience();
        let until = Instant::now() + patience;
        let name = end.record_id.clone();
        let answer = self.house.readers.ask(patience, move |connection| {
            read::auditor::record(connection, &name)
        });
        let known = answer
            .await
            .ok_or(Dropped("the database does not answer"))?;
        let Some(known) = known else {
            return Ok(answer::unknown(&end.record_id));
        };
        let creator = Some(known.creator.as_str()).filter(|creator| !creator.is_empty());
        if let Err(denied) = Access::may_change(&self.visitor.identity, creator) {
            self.house.denied(self.visitor, self.act.place(), &denied);
            return Ok(answer::forbidden(&denied));
        }
        let meta = looked(&known.head).ok().and_then(|looked| looked.meta);
        let stop = end.stop.micros();
        let runtime = end.stop.seconds_since(Time::of_micros(known.start));
        let (work, _) = self.work(&Known {
            record_id: &end.record_id,
            head: &known.head,
            meta: meta.as_ref(),
            start: known.start,
            stop: Some(stop),
            runtime: Some(runtime),
        });
        let what = Collecting::End {
            record_id: end.record_id.clone(),
            stop,
            runtime,
            pairs: pairs(meta.as_ref()),
            work: Box::new(work),
        };
        match self.collect_until(what, memory, until).await? {
            Collected::Done(details) | Collected::Exists(details) => {
                self.tell(&details);
                Ok(answer::done())
            }
            Collected::Unknown => Ok(answer::unknown(&end.record_id)),
        }
    }

    async fn collect(&self, what: Collecting, memory: Memory) -> Result<Collected, Dropped> {
        let until = Instant::now() + self.house.settings().patience();
        self.collect_until(what, memory, until).await
    }

    async fn collect_until(
        &self,
        what: Collecting,
        memory: Memory,
        until: Instant,
    ) -> Result<Collected, Dropped> {
        let request = Collect {
            what,
            source: self.house.settings().source.clone(),
            caller: self.house.caller(self.visitor),
            request_id: self.request_id.clone(),
            place: self.act.place(),
            peer: self.visitor.described(),
            memory,
        };
        let patience = until.saturating_duration_since(Instant::now());
        let collected = self.house.services.writer.collect(request, patience).await;
        collected.map_err(dropped)
    }

    /// Logs records that existed already, and records that the rules refused.
    fn tell(&self, details: &Details) {
        let remote = self.visitor.described();
        for record_id in &details.conflicts {
            self.house.tally.meter.conflict();
            tracing::warn!(
                record_id,
                remote,
                "a record arrived again with different content: the stored record is unchanged"
            );
        }
        for (record_id, code) in &details.refused {
            tracing::warn!(
                record_id,
                code,
                remote,
                "a record is stored, but a rule refused its charge"
            );
        }
    }

    /// Keeps a body that is refused for good: its sender forgets it.
    async fn refuse(
        &self,
        refused: &Refused,
        (mut body, memory): (Vec<u8>, Memory),
    ) -> Result<(), Dropped> {
        let remote = self.visitor.described();
        let name = refused.record_id.as_deref().unwrap_or_default();
        let name: String = name.chars().take(LOGGED).collect();
        let most = self.house.services.sources.quarantine_body_bytes();
        let kept = body.len().min(most);
        tracing::error!(
            record_id = name.as_str(),
            reason = refused.why,
            remote,
            route = self.act.place(),
            bytes = body.len(),
            kept,
            "refused, and kept in the quarantine"
        );
        self.house.tally.meter.rejected();
        let reason = cut_off(&refused.why, body.len(), kept);
        body.truncate(kept);
        body.shrink_to_fit();
        let refuse = Collecting::Refuse { reason, body };
        let kept = self.collect(refuse, memory).await;
        kept.map(|_| ())
    }
}

/// The reason for not answering while the disk is full.
pub(super) const DISK_FULL: &str = "the disk is full";

/// A reason with the number of bytes that are kept, if the body is cut.
fn cut_off(reason: &str, bytes: usize, kept: usize) -> String {
    if kept < bytes {
        bounded(format!("only {kept} of {bytes} bytes are kept: {reason}"))
    } else {
        reason.to_owned()
    }
}

fn dropped(error: SubmitError) -> Dropped {
    Dropped(match error {
        SubmitError::Busy => "no commit in time",
        SubmitError::Full => DISK_FULL,
        SubmitError::Moved => "a file of the database was moved",
        SubmitError::Failed | SubmitError::Alone | SubmitError::Undone => "the store failed",
        SubmitError::Stopped => "stopping",
        SubmitError::Elsewhere => "another node writes",
        SubmitError::NoLog => "the log cannot be reached",
    })
}

/// `application/json` or `application/…+json`, with any parameters after a semicolon.
fn is_json(media: &str) -> bool {
    let media = media
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    let Some(kind) = media.strip_prefix("application/") else {
        return false;
    };
    kind == "json"
        || kind
            .strip_suffix("+json")
            .is_some_and(|kind| !kind.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_json() {
        for (media, fits) in [
            ("application/json", true),
            ("Application/JSON; charset=utf-8", true),
            ("application/vnd.x+json", true),
            ("application/+json", false),
            ("application/jsonx", false),
            ("text/json", false),
            ("text/plain", false),
            ("", false),
        ] {
            assert_eq!(is_json(media), fits, "{media}");
        }
    }
}
