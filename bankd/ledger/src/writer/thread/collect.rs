//! Records of AUDITOR's API on their way in: what is stored and what it does to the ledger go into
//! one database transaction, many requests into one commit.

use super::Thread;
use crate::writer::{Collect, Collected, Collecting, Details, Gathered, NOT_CHARGED, Work};
use bank_core::command::{Command, UsageReport};
use bank_core::ledger;
use bank_core::time::Timestamp;
use bankd_store::{self as store, QuarantineRow, RecordRow, SourceSeen, Stamp, StoredRecord};

impl Thread {
    /// Takes records in.
    pub(super) fn collect(
        &mut self,
        request: &Collect,
        now: Timestamp,
    ) -> Result<Collected, store::Error> {
        match &request.what {
            Collecting::Add { records, lenient } => self.add(request, records, *lenient, now),
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
                let mut details = Details::default();
                self.perform(request, record_id, work, &mut details, now)?;
                let seen = SourceSeen {
                    jobs: u64::from(known.stop.is_none()),
                    last_event: Some(Timestamp(*stop)),
                    rejected: count(&details.refused),
                    ..SourceSeen::default()
                };
                self.seen(request, seen, now)?;
                Ok(Collected::Done(details))
            }
            Collecting::Refuse { reason, body } => {
                let row = aside(request, reason.clone(), body.clone());
                self.store.quarantine(&[row], now)?;
                let seen = SourceSeen {
                    records: 1,
                    rejected: 1,
                    ..SourceSeen::default()
                };
                self.seen(request, seen, now)?;
                Ok(Collected::Done(Details::default()))
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
                let mut details = Details::default();
                self.perform(request, record_id, work, &mut details, now)?;
                Ok(Collected::Done(details))
            }
        }
    }

    fn add(
        &mut self,
        request: &Collect,
        records: &[Gathered],
        lenient: bool,
        now: Timestamp,
    ) -> Result<Collected, store::Error> {
        let mut details = Details::default();
        let mut new = Vec::with_capacity(records.len());
        for record in records {
            match self.store.collected(&record.row.record_id)? {
                None => new.push(record),
                Some(known) => {
                    details.known = details.known.saturating_add(1);
                    if differs(&record.row, &known) {
                        details.conflicts.push(record.row.record_id.clone());
                    }
                }
            }
        }
        if details.known > 0 && !lenient {
            return Ok(Collected::Exists(details));
        }
        for record in &new {
            self.store.collect(&record.row)?;
            let record_id = &record.row.record_id;
            self.perform(request, record_id, &record.work, &mut details, now)?;
        }
        let ended = new.iter().filter_map(|record| record.row.stop);
        let ended: Vec<i64> = ended.collect();
        let seen = SourceSeen {
            records: count(&new),
            jobs: count(&ended),
            last_event: ended.into_iter().max().map(Timestamp),
            rejected: count(&details.refused),
            ..SourceSeen::default()
        };
        self.seen(request, seen, now)?;
        Ok(Collected::Done(details))
    }

    /// Runs what a record does to the ledger. What the rules refuse goes into the quarantine, and
    /// the record is stored all the same: its sender would not send it again.
    fn perform(
        &mut self,
        request: &Collect,
        record_id: &str,
        work: &Work,
        details: &mut Details,
        now: Timestamp,
    ) -> Result<(), store::Error> {
        let Some(command) = &work.command else {
            return Ok(());
        };
        self.sweep(now)?;
        self.store.stamp(Stamp {
            now,
            request_id: request.request_id.clone(),
            actor: request.caller.actor.clone(),
            client: request.caller.client.clone(),
            origin: request.caller.origin.word(),
            key: None,
        });
        let scope = &request.caller.scope;
        let decision =
            self.recorded(|recording| ledger::execute(recording, command, scope, now, false))?;
        let Err(refusal) = decision else {
            return Ok(());
        };
        details.refused.push((record_id.to_owned(), refusal.code()));
        // A lien that is not to be had leaves the record as it is.
        if !matches!(command, Command::Usage(_)) {
            return Ok(());
        }
        let reason = format!("{NOT_CHARGED}{}", refusal.code());
        let row = aside(request, reason, work.record.clone().into_bytes());
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
    fn seen(
        &self,
        request: &Collect,
        seen: SourceSeen,
        now: Timestamp,
    ) -> Result<(), store::Error> {
        let seen = SourceSeen {
            name: request.source.clone(),
            format: "auditor".to_owned(),
            ..seen
        };
        self.store.saw(&seen, now)
    }
}

/// The row of a request for the quarantine.
fn aside(request: &Collect, reason: String, body: Vec<u8>) -> QuarantineRow {
    QuarantineRow {
        source: request.source.clone(),
        peer: request.peer.clone(),
        place: request.place.to_owned(),
        line: 0,
        reason,
        body,
    }
}

fn count<T>(all: &[T]) -> u64 {
    u64::try_from(all.len()).unwrap_or(u64::MAX)
}

/// Whether a repeated record differs. One that was closed meanwhile is sent again as it was first.
fn differs(new: &RecordRow, known: &StoredRecord) -> bool {
    new.head != known.head || (new.stop.is_some() && new.stop != known.stop)
}
