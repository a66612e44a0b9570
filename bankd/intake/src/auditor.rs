//! Records of AUDITOR's clients as usage (`auditor-api.md` 2 and 9): parsing of bodies, ledger
//! commands of records, and retries of quarantined bodies.
//!
//! Nothing here serves a route: that is the business of the module `auditor`.

pub mod again;
pub mod money;
pub mod record;
pub mod time;

use bank_api::auditor::Looked;
use bankd_config as config;
use bankd_ledger::writer::{Caller, Gathered, Work};
use bankd_store::RecordRow;
use bankd_store::read::auditor::pair;

use super::Feed;
use money::Known;
use record::{Added, Refused, Updated};

/// Action of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    One,
    Many,
    End,
}

impl Act {
    /// The action of the route with this name.
    pub(crate) fn of(place: &str) -> Option<Self> {
        let all = [Self::One, Self::Many, Self::End];
        all.into_iter().find(|act| act.place() == place)
    }

    /// The route, for the log and the quarantine.
    pub fn place(self) -> &'static str {
        match self {
            Act::One => "POST /record",
            Act::Many => "POST /records",
            Act::End => "PUT /record",
        }
    }
}

/// A body as it was understood.
pub enum Understood {
    Add(Vec<Added>),
    End(Updated),
}

/// Records of one list: all of them go into one transaction, for which other commands wait. AUDITOR itself
/// takes some 5,000.
pub const LIST_MAX: usize = 10_000;

/// Reads a body of one of the routes for writing; a list with at most `most` records.
pub fn understood(act: Act, bytes: &[u8], most: usize) -> Result<Understood, Refused> {
    match act {
        Act::One => record::add(bytes).map(|one| Understood::Add(vec![one])),
        Act::Many => record::add_many(bytes, most).map(Understood::Add),
        Act::End => record::update(bytes).map(Understood::End),
    }
}

/// A record as input for the ledger.
pub fn known(record: &Added) -> Known<'_> {
    Known {
        record_id: &record.record_id,
        head: &record.head,
        meta: record.meta.as_ref(),
        start: record.start,
        stop: record.stop,
        runtime: record.runtime,
    }
}

/// A record in stored form, with its command.
pub fn gathered(record: Added, creator: &str, work: Work, renew_at: Option<i64>) -> Gathered {
    Gathered {
        row: RecordRow {
            pairs: pairs(record.meta.as_ref()),
            record_id: record.record_id,
            head: record.head,
            start: record.start,
            stop: record.stop,
            runtime: record.runtime,
            creator: creator.to_owned(),
            renew_at,
        },
        work,
    }
}

/// The numbers of a record's keys with their values, each once.
pub fn pairs(meta: Option<&money::Meta>) -> Vec<i64> {
    let values = meta.into_iter().flatten();
    let pairs = values.flat_map(|(key, values)| values.iter().map(move |value| pair(key, value)));
    let mut pairs: Vec<i64> = pairs.collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// Adds a record as it is answered.
pub fn close(head: &str, stop: Option<i64>, runtime: Option<i64>, out: &mut Vec<u8>) {
    out.extend_from_slice(head.as_bytes());
    out.extend_from_slice(b",\"stop_time\":");
    match stop {
        Some(stop) => {
            out.push(b'"');
            time::write(stop, out);
            out.push(b'"');
        }
        None => out.extend_from_slice(b"null"),
    }
    out.extend_from_slice(b",\"runtime\":");
    match runtime {
        Some(runtime) => {
            if runtime < 0 {
                out.push(b'-');
            }
            time::number(out, runtime, 1);
        }
        None => out.extend_from_slice(b"null"),
    }
    out.push(b'}');
}

/// Import settings for the records of a client.
pub fn feed(settings: &config::Auditor, caller: Caller, request_id: &str) -> Feed {
    Feed {
        source: settings.source.clone(),
        format: "auditor".to_owned(),
        machine: Some(settings.machine.clone()).filter(|machine| !machine.is_empty()),
        caller,
        request_id: request_id.to_owned(),
        dry_run: false,
        keep_raw: false,
    }
}

/// Fields of a stored head that conditions use.
pub fn looked(head: &str) -> serde_json::Result<Looked> {
    let mut text = String::with_capacity(head.len() + 1);
    text.push_str(head);
    text.push('}');
    serde_json::from_str(&text)
}
