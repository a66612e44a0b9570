//! Bodies out of the quarantine (`auditor-api.md` 9), taken in as their routes would take them: stored
//! where AUDITOR's clients find them, and charged as the one record that they are.

use std::collections::{BTreeMap, HashSet};
use std::net::SocketAddr;

use bankd_config::Auditor;
use bankd_ledger::writer::{
    Caller, Collect, Collected, Collecting, NOT_CHARGED, SubmitError, Work, Writer,
};
use bankd_store::StoredRecord;
use bankd_store::read::auditor::record as stored;
use bankd_store::read::{Pool, ReadError};

use super::money::{Known, Terms};
use super::record::Added;
use super::time::Time;
use super::{Act, Understood, feed, gathered, known, looked, pairs, understood};

/// Records of one transaction: a list out of the quarantine can be longer than its route takes.
const PART: usize = 1_000;

/// Something to be taken in again.
#[derive(Clone, Debug)]
pub struct Again {
    /// The route of the original request.
    pub place: String,
    /// Why it was kept aside.
    pub reason: String,
    /// The client that sent it.
    pub peer: String,
    /// The body, or its replacement.
    pub body: Vec<u8>,
    /// The machine of its records, to override the records and the settings.
    pub machine: Option<String>,
    /// The requesting caller.
    pub caller: Caller,
    /// The request's id.
    pub request_id: String,
    /// Decide only.
    pub dry_run: bool,
}

/// The bank that it is taken into.
#[derive(Clone, Copy)]
pub struct Bank<'a> {
    /// Stores and charges its records.
    pub writer: &'a Writer,
    /// Looks whether they are stored already.
    pub readers: &'a Pool,
    /// The settings of AUDITOR's routes.
    pub settings: &'a Auditor,
}

/// Why it is not taken in.
#[derive(Debug, thiserror::Error)]
pub enum Kept {
    /// It is none, or cannot be taken.
    #[error("{0}")]
    Refused(String),
    /// The ledger did not take it.
    #[error(transparent)]
    Submit(#[from] SubmitError),
    /// The database did not answer.
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// Whether something was kept aside by one of the routes for writing.
pub fn came_here(place: &str) -> bool {
    Act::of(place).is_some()
}

impl Again {
    /// Imports it again. Returns the number of records by outcome: `stored`, `closed`, `known` for
    /// an existing one that is charged as stored, and `refused` by the rules.
    ///
    /// # Errors
    /// If it is still invalid, conflicts with a stored record, or cannot be written. Part of a list
    /// may be written then, and is `known` the next time.
    pub async fn run(self, bank: Bank<'_>) -> Result<BTreeMap<String, u64>, Kept> {
        let (act, is_record) = self.act();
        let read = understood(act, &self.body, usize::MAX)
            .map_err(|refused| Kept::Refused(refused.why))?;
        let mut became = BTreeMap::new();
        match read {
            Understood::End(end) => {
                let known = find(bank, &end.record_id).await?.ok_or_else(|| {
                    Kept::Refused(format!("there is no record {:?} to end", end.record_id))
                })?;
                let creator = Some(known.creator.as_str()).filter(|creator| !creator.is_empty());
                if creator.is_some() && creator != self.creator() {
                    let why = format!("{:?} was created by another client", end.record_id);
                    return Err(Kept::Refused(why));
                }
                let start = Time::of_micros(known.start);
                let runtime = end.stop.seconds_since(start);
                let ended = StoredRecord {
                    stop: Some(end.stop.micros()),
                    runtime: Some(runtime),
                    ..known
                };
                self.end(bank, &ended, "closed", &mut became).await?;
            }
            Understood::Add(records) => {
                let mut new = Vec::new();
                let mut known = Vec::new();
                for record in records {
                    match find(bank, &record.record_id).await? {
                        None => new.push(record),
                        Some(there) if is_record || there.head == record.head => known.push(there),
                        Some(_) => {
                            let name = record.record_id;
                            let why = format!("{name:?} is stored already, with other content");
                            return Err(Kept::Refused(why));
                        }
                    }
                }
                self.add(bank, new, &mut became).await?;
                for there in known {
                    self.end(bank, &there, "known", &mut became).await?;
                }
            }
        }
        Ok(became)
    }

    /// How it is read; and whether it is a record as it was stored, which was not charged.
    fn act(&self) -> (Act, bool) {
        let is_record = self.reason.starts_with(NOT_CHARGED);
        let act = Act::of(&self.place).unwrap_or(Act::One);
        (if is_record { Act::One } else { act }, is_record)
    }

    async fn add(
        &self,
        bank: Bank<'_>,
        new: Vec<Added>,
        became: &mut BTreeMap<String, u64>,
    ) -> Result<(), Kept> {
        let mut records = Vec::with_capacity(new.len());
        let mut names = HashSet::new();
        for record in new {
            if !names.insert(record.record_id.clone()) {
                return Err(Kept::Refused(format!(
                    "{:?} is in it twice",
                    record.record_id
                )));
            }
            let (work, renew_at) = self.work(bank, &known(&record))?;
            let creator = self.creator().unwrap_or_default();
            records.push(gathered(record, creator, work, renew_at));
        }
        let mut records = records.into_iter().peekable();
        while records.peek().is_some() {
            let records: Vec<_> = records.by_ref().take(PART).collect();
            count(became, "stored", records.len());
            let lenient = false;
            let part = Collecting::Add { records, lenient };
            self.collect(bank, part, became).await?;
        }
        Ok(())
    }

    /// Sets the end of a record, with its consequences.
    async fn end(
        &self,
        bank: Bank<'_>,
        record: &StoredRecord,
        outcome: &str,
        became: &mut BTreeMap<String, u64>,
    ) -> Result<(), Kept> {
        count(became, outcome, 1);
        let (Some(stop), Some(runtime)) = (record.stop, record.runtime) else {
            return Ok(());
        };
        let meta = looked(&record.head).ok().and_then(|looked| looked.meta);
        let (work, _) = self.work(
            bank,
            &Known {
                record_id: &record.record_id,
                head: &record.head,
                meta: meta.as_ref(),
                start: record.start,
                stop: record.stop,
                runtime: record.runtime,
            },
        )?;
        let end = Collecting::End {
            record_id: record.record_id.clone(),
            stop,
            runtime,
            pairs: pairs(meta.as_ref()),
            work: Box::new(work),
        };
        self.collect(bank, end, became).await
    }

    fn work(&self, bank: Bank<'_>, known: &Known<'_>) -> Result<(Work, Option<i64>), Kept> {
        let settings = bank.settings;
        let directory = bank.writer.directory();
        let mut feed = feed(settings, self.caller.clone(), &self.request_id);
        feed.machine = self.machine.clone().or(feed.machine);
        let terms = Terms {
            settings,
            feed: &feed,
            directory: &directory,
            track: self.track(&settings.listen),
        };
        let work = terms.work(known, bank.writer.ledger_now());
        work.map_err(Kept::Refused)
    }

    async fn collect(
        &self,
        bank: Bank<'_>,
        what: Collecting,
        became: &mut BTreeMap<String, u64>,
    ) -> Result<(), Kept> {
        if self.dry_run {
            return Ok(());
        }
        let request = Collect {
            what,
            source: bank.settings.source.clone(),
            caller: self.caller.clone(),
            request_id: self.request_id.clone(),
            place: self.act().0.place(),
            peer: self.peer.clone(),
            memory: None,
        };
        let patience = bank.settings.patience();
        match bank.writer.collect(request, patience).await? {
            Collected::Done(written) => {
                if !written.refused.is_empty() {
                    count(became, "refused", written.refused.len());
                }
                Ok(())
            }
            Collected::Exists(_) | Collected::Unknown => {
                let why = "its records changed meanwhile; try again";
                Err(Kept::Refused(why.to_owned()))
            }
        }
    }

    /// The name of the certificate of the original request.
    fn creator(&self) -> Option<&str> {
        // An address has no blank in it.
        self.peer.rsplit_once(" at ").map(|(name, _)| name)
    }

    /// Whether it arrived without authentication: then no money moves for it later either.
    fn track(&self, listen: &str) -> bool {
        let off_loopback = |text: &str| {
            let address = text.parse::<SocketAddr>();
            address.is_ok_and(|address| !address.ip().is_loopback())
        };
        self.creator().is_none() && (off_loopback(&self.peer) || off_loopback(listen))
    }
}

async fn find(bank: Bank<'_>, record_id: &str) -> Result<Option<StoredRecord>, ReadError> {
    let name = record_id.to_owned();
    let found = bank
        .readers
        .run(move |connection| stored(connection, &name));
    found.await
}

fn count(became: &mut BTreeMap<String, u64>, word: &str, more: usize) {
    let so_far = became.entry(word.to_owned()).or_default();
    *so_far = so_far.saturating_add(u64::try_from(more).unwrap_or(u64::MAX));
}
