//! The ledger command of a record (`auditor-api.md` 9.1, `collectors.md` i): a finished one is
//! usage, an open one may hold a lien. Pure: a record and the reference data in, a command out.

use std::collections::BTreeMap;

use bank_core::command::{Command, Reserve, UsageReport};
use bank_core::directory::Directory;
use bank_core::time::{MICROS, Seconds, Timestamp};
use bankd_config::Auditor;
use bankd_ingest as ingest;
use bankd_ledger::writer::Work;
use sha2::{Digest as _, Sha256};

use crate::{self as intake, Feed};

/// Longest id of an object of the ledger, in bytes.
const ID_MAX: usize = 256;

/// A record's meta values.
pub(crate) type Meta = BTreeMap<String, Vec<String>>;

/// A record, possibly without an end.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// Its name.
    pub record_id: &'a str,
    /// The text up to its end, without the closing brace.
    pub head: &'a str,
    /// Its values by key.
    pub meta: Option<&'a Meta>,
    /// Microseconds.
    pub start: i64,
    /// Microseconds, if it has ended.
    pub stop: Option<i64>,
    /// Seconds from start to stop.
    pub runtime: Option<i64>,
}

/// How records become commands.
#[derive(Debug)]
pub struct Terms<'a> {
    /// The settings of AUDITOR's routes.
    pub settings: &'a Auditor,
    /// Source and caller of the record.
    pub feed: &'a Feed,
    /// The reference data.
    pub directory: &'a Directory,
    /// No money moves, in any mode (decisions.md 30).
    pub track: bool,
}

impl Terms<'_> {
    /// The ledger command of a record in its current state, if any; and the time when its lien is
    /// renewed.
    ///
    /// # Errors
    /// The reason why the record cannot be usage.
    pub fn work(&self, record: &Known<'_>, now: Timestamp) -> Result<(Work, Option<i64>), String> {
        let mut out = Vec::with_capacity(record.head.len() + 80);
        super::close(record.head, record.stop, record.runtime, &mut out);
        let text = String::from_utf8_lossy(&out).into_owned();
        let report = self.report(record, &text)?;
        let (command, renew_at) = if record.stop.is_some() {
            (Some(Command::Usage(Box::new(report))), None)
        } else {
            match self.lien(record, report, now) {
                Some((reserve, renew_at)) => (Some(Command::Reserve(reserve)), renew_at),
                None => (None, None),
            }
        };
        let work = Work {
            command,
            record: text,
        };
        Ok((work, renew_at))
    }

    /// The record as usage; of one that goes on as if it ended when it began.
    fn report(&self, record: &Known<'_>, text: &str) -> Result<UsageReport, String> {
        let stop = record.stop.unwrap_or(record.start);
        let mut job = ingest::auditor_job(text, record.start, stop.max(record.start))?;
        let first = |keys: &[String]| keys.iter().find_map(|key| value(record.meta, key));
        job.account = first(&self.settings.project_keys);
        job.user = first(&self.settings.user_keys);
        let mut report = intake::report(job, self.feed, self.directory);
        report.request.object_id = object_id(record.record_id);
        report.track = self.track;
        report.is_present = true;
        if stop < record.start {
            report.request.facts.end = Some(Timestamp(stop));
            report.figures.backwards = true;
        }
        Ok(report)
    }

    /// The lien of an open record, where its machine is charged from here; and when it is to be
    /// placed again: after two thirds of its time.
    fn lien(
        &self,
        record: &Known<'_>,
        report: UsageReport,
        now: Timestamp,
    ) -> Option<(Reserve, Option<i64>)> {
        let horizon = self.settings.open_horizon;
        let machine = self
            .directory
            .machine_named(&report.request.whose.machine)?;
        let ours = machine.source.as_deref() == Some(&self.settings.source);
        let over = record
            .start
            .saturating_add(self.settings.open_max.saturating_mul(MICROS));
        if horizon == 0 || self.track || !ours || now.0 >= over {
            return None;
        }
        let mut request = report.request;
        request.facts.end = None;
        request.facts.wall = Some(Seconds(horizon));
        // The use began with the record, so that its end finds it; the lien begins now.
        request.event_time = Some(now.min(Timestamp(record.start)));
        let again = now.0.saturating_add(horizon.saturating_mul(MICROS) / 3 * 2);
        let reserve = Reserve {
            request,
            start: Some(now),
            ..Reserve::default()
        };
        Some((reserve, (again < over).then_some(again)))
    }
}

/// The first nonempty value of a key.
fn value(meta: Option<&Meta>, key: &str) -> Option<String> {
    let values = meta?.get(key)?;
    values.first().and_then(|value| ingest::known(value))
}

/// The ledger's object id for a record's name: the name itself if it is valid. Else a valid prefix
/// with a unique suffix.
pub(crate) fn object_id(record_id: &str) -> String {
    let fits = record_id.len() <= ID_MAX
        && !record_id.contains(char::is_control)
        && record_id.trim() == record_id;
    if fits {
        return record_id.to_owned();
    }
    let digest = Sha256::digest(record_id);
    let mut id = String::with_capacity(ID_MAX);
    for letter in record_id.trim().chars().filter(|c| !c.is_control()) {
        if id.len() + letter.len_utf8() > ID_MAX - 33 {
            break;
        }
        id.push(letter);
    }
    id.push('~');
    for byte in digest.iter().take(16) {
        for half in [byte >> 4, byte & 15] {
            id.extend(char::from_digit(half.into(), 16));
        }
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_no_ids_become_ids_of_their_own() {
        let long = "ä".repeat(256);
        for name in ["a", "prefix-host#12.0#1700000000", "ä b"] {
            assert_eq!(object_id(name), name);
        }
        let odd = [" a", "a ", "a\nb", "ab\n", &long, &format!("{long}x")];
        let mut seen = std::collections::BTreeSet::new();
        for name in odd {
            let id = object_id(name);
            assert!(id.len() <= ID_MAX && !id.contains(char::is_control) && id.contains('~'));
            assert!(seen.insert(id), "{name:?}");
        }
    }
}
