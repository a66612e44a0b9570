//! Sends waiting documents: in order per object, one process at a time, within a deadline.
//!
//! | answer | then |
//! |---|---|
//! | accepted | out of the spool |
//! | 31, 74, 78, `key_reused` | into the quarantine; blocks nothing |
//! | no connection, no answer, 401, busy | the drain ends; all documents stay |
//! | 70, 99 | stays, and what follows of the same object waits behind it; after [`MAX_TRIES`] while the bank answers others, into the quarantine |
//! | anything else (44) | stays, and what follows of the same object waits behind it |

use std::collections::HashSet;
use std::io::{ErrorKind, Result};
use std::time::Duration;

use super::{Entry, MAX_BATCH, Spool, Tag, parse_name, tags_of};
use crate::clock::Deadline;
use crate::outcome::{Condition, Outcome};

/// Internal errors after which a drain ends: a few may be the documents' fault, so many are the
/// bank's. Fewer would let some bad documents of different objects hold back all others for ever.
const MAX_INTERNAL: usize = 25;

/// Answers of 70 or 99 after which a document is set aside, so that later ones of its object are sent.
pub(crate) const MAX_TRIES: u32 = 10;

/// With less time than this nothing more is sent: it would only end as "no answer in time".
const LEAST_TIME: Duration = Duration::from_millis(50);

/// Result of a drain.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) delivered: usize,
    pub(crate) quarantined: usize,
    /// How many documents stay, as far as they were looked at.
    pub(crate) left: usize,
    /// Why the drain ended before its end.
    pub(crate) outage: Option<Outcome>,
    /// The first answer that left a document in the spool.
    pub(crate) kept: Option<Outcome>,
    /// Documents that the bank answered with an internal error, each with the error. Their tries are
    /// not counted yet.
    pub(crate) failing: Vec<(String, String)>,
    /// Why the last document was set aside that was tried too often.
    pub(crate) gave_up: Option<String>,
    /// Another process is draining.
    pub(crate) busy: bool,
    /// More may wait than one drain looks at.
    pub(crate) more: bool,
}

impl Report {
    /// `2 delivered, 1 in quarantine, 4 left`.
    pub(crate) fn counts(&self) -> String {
        let mut counts = format!("{} delivered", self.delivered);
        for (count, word) in [(self.quarantined, "in quarantine"), (self.left, "left")] {
            if count > 0 {
                counts = format!("{counts}, {count} {word}");
            }
        }
        counts
    }

    /// Message about other documents after a call whose own document was accepted; none if none
    /// stays.
    pub(crate) fn waiting(&self) -> Option<String> {
        if self.gave_up.is_some() {
            return self.gave_up.clone();
        }
        let why = self.outage.as_ref().or(self.kept.as_ref())?;
        Some(format!("{} wait in the spool: {}", self.left, why.text))
    }
}

/// Sends waiting documents with `send` until all are done, the deadline is near, or the bank is
/// unreachable.
pub(crate) fn drain(
    spool: &Spool,
    deadline: Deadline,
    mut send: impl FnMut(&Entry) -> Outcome,
) -> Result<Report> {
    let mut report = Report::default();
    let names = spool.oldest()?;
    if names.is_empty() {
        return Ok(report);
    }
    let Some(_lock) = spool.lock()? else {
        return Ok(Report {
            busy: true,
            left: names.len(),
            ..report
        });
    };
    let mut blocked = Blocked::default();
    // Listed again under the lock: another drain may have sent some meanwhile.
    let names = spool.oldest()?;
    report.more = names.len() >= MAX_BATCH;
    for (done, name) in names.iter().enumerate() {
        if deadline.remaining().is_none_or(|left| left < LEAST_TIME) {
            report.outage = Some(Outcome::timed_out());
            report.left += names.len() - done;
            break;
        }
        if blocked.holds_name(name) {
            report.left += 1;
            continue;
        }
        let Some(entry) = read(spool, name, &mut report)? else {
            continue;
        };
        let tags = tags_of(&entry);
        if blocked.holds_any(&tags) {
            blocked.0.extend(tags);
            report.left += 1;
            continue;
        }
        let outcome = send(&entry);
        if settle(spool, name, &outcome, &mut report)? {
            continue;
        }
        if is_internal(&outcome) {
            report.failing.push((name.clone(), outcome.text.clone()));
        }
        if outcome.is_outage() || report.failing.len() == MAX_INTERNAL {
            report.outage = Some(outcome);
            report.left += names.len() - done;
            break;
        }
        blocked.0.extend(tags);
        report.left += 1;
        report.kept.get_or_insert(outcome);
    }
    if report.delivered > 0 {
        spool.flush()?;
    }
    // A document that fails alone, or among others that the bank answered, fails by its content. If
    // several fail and nothing else is answered, the bank is at fault.
    let is_alone = report.failing.len() == 1 && report.outage.is_none();
    let is_answering = report.delivered + report.quarantined > 0 || is_alone;
    if is_answering && report.failing.len() < MAX_INTERNAL {
        count_tries(spool, &mut report)?;
    }
    Ok(report)
}

/// Whether the answer is an error about one document, and not an outage such as a full disk.
fn is_internal(outcome: &Outcome) -> bool {
    let is_error = matches!(outcome.condition, Condition::Internal | Condition::Other);
    is_error && !outcome.is_outage()
}

/// Counts one more try of each document that the bank answered with an internal error, and moves those
/// that were tried too often to the quarantine.
pub(crate) fn count_tries(spool: &Spool, report: &mut Report) -> Result<()> {
    for (name, why) in std::mem::take(&mut report.failing) {
        let tries = spool.count_try(&name)?;
        if tries < MAX_TRIES {
            continue;
        }
        let reason = format!("moved to quarantine after {tries} tries: {why}");
        match spool.quarantine(&name, &reason) {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            other => other?,
        }
        report.quarantined += 1;
        report.left = report.left.saturating_sub(1);
        report.gave_up = Some(format!("1 document {reason} (bank nami quarantine ls)"));
    }
    Ok(())
}

/// The objects whose documents have to wait.
#[derive(Default)]
struct Blocked(HashSet<u64>);

impl Blocked {
    /// A check by name only, so that the file need not be read.
    fn holds_name(&self, name: &str) -> bool {
        matches!(parse_name(name), Some((_, Tag::One(tag))) if self.0.contains(&tag))
    }

    fn holds_any(&self, tags: &[u64]) -> bool {
        tags.iter().any(|tag| self.0.contains(tag))
    }
}

/// A document; `None` if it is gone, or was none and went into the quarantine.
fn read(spool: &Spool, name: &str, report: &mut Report) -> Result<Option<Entry>> {
    match spool.read(name) {
        Ok(None) => {
            spool.quarantine(name, "the file is not a whole document of this spool")?;
            report.quarantined += 1;
            Ok(None)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        other => other,
    }
}

/// Removes a document with a final answer; false if it stays.
fn settle(spool: &Spool, name: &str, outcome: &Outcome, report: &mut Report) -> Result<bool> {
    if outcome.is_done() {
        spool.remove(name)?;
        report.delivered += 1;
    } else if outcome.is_final() {
        spool.quarantine(name, &outcome.text)?;
        report.quarantined += 1;
    } else {
        return Ok(false);
    }
    Ok(true)
}
