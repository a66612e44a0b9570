//! Sends waiting documents: in order per object, one process at a time, within a deadline.
//!
//! | answer | then |
//! |---|---|
//! | accepted | out of the spool |
//! | 31, 74, 78, `key_reused` | into the quarantine; blocks nothing |
//! | no connection, no answer, 401, busy | the drain ends; all documents stay |
//! | 70, 99 | stays, and what follows of the same object waits behind it; after [`MAX_TRIES`] while the bank answers others, into the quarantine |
//! | anything else (44) | stays, and what follows of the same object waits behind it |
//!
//! A file that cannot be read stays too, and so does what follows of its object. If the time ends although the
//! bank answers, the next drain goes on behind the last document (`order`).

use std::collections::HashSet;
use std::io::{Error, ErrorKind, Result};
use std::time::Duration;

use super::{Entry, Spool, Tag, number_of, parse_name, tags_of};
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
    send: impl FnMut(&Entry) -> Outcome,
) -> Result<Report> {
    let left = spool.count()?;
    if left == 0 {
        return Ok(Report::default());
    }
    let Some(_lock) = spool.lock()? else {
        return Ok(Report {
            busy: true,
            left,
            ..Report::default()
        });
    };
    // Listed under the lock: another drain may have sent some meanwhile.
    let batch = spool.batch()?;
    let report = Report {
        more: batch.more,
        ..Report::default()
    };
    let mut run = Run {
        spool,
        deadline,
        send,
        report,
        blocked: Blocked(batch.older),
        last: None,
        looked: 0,
        is_answering: false,
        troubles: 0,
    };
    let mut is_whole = run.pass(&batch.ahead)?;
    if is_whole {
        // What these block is ahead of them and was looked at.
        run.blocked = Blocked::default();
        is_whole = run.pass(&batch.behind)?;
    }
    let Run {
        mut report,
        last,
        looked,
        ..
    } = run;
    report.left += batch.ahead.len() + batch.behind.len() - looked;
    let is_at_fault = report.failing.len() == MAX_INTERNAL;
    if is_whole && !report.more {
        spool.set_mark(None);
    } else if report.outage.is_none() || is_at_fault {
        spool.set_mark(last);
    }
    if report.delivered > 0 {
        spool.flush()?;
    }
    // A document that fails alone, or among others that the bank answered, fails by its content. If
    // several fail and nothing else is answered, the bank is at fault.
    let is_alone = report.failing.len() == 1 && report.outage.is_none();
    let is_answering = report.delivered + report.quarantined > 0 || is_alone;
    if is_answering && !is_at_fault {
        count_tries(spool, &mut report);
    }
    Ok(report)
}

/// A drain while it runs.
struct Run<'a, S> {
    spool: &'a Spool,
    deadline: Deadline,
    send: S,
    report: Report,
    blocked: Blocked,
    /// The last document that was looked at.
    last: Option<&'a str>,
    /// How many were.
    looked: usize,
    /// The bank has answered a document.
    is_answering: bool,
    /// Documents that could not be removed or moved.
    troubles: usize,
}

impl<'a, S: FnMut(&Entry) -> Outcome> Run<'a, S> {
    /// Tries these documents; false if the drain ends here.
    fn pass(&mut self, names: &'a [String]) -> Result<bool> {
        for name in names {
            if self
                .deadline
                .remaining()
                .is_none_or(|left| left < LEAST_TIME)
            {
                if self.is_answering {
                    let text = "no time left to send all";
                    self.keep(Outcome::new(Condition::Timeout, text));
                } else {
                    self.report.outage = Some(Outcome::timed_out());
                }
                return Ok(false);
            }
            self.last = Some(name);
            if !self.document(name)? {
                return Ok(false);
            }
            self.looked += 1;
        }
        Ok(true)
    }

    /// Tries one document; false if the drain ends with it.
    fn document(&mut self, name: &str) -> Result<bool> {
        if self.blocked.holds_name(name) {
            self.report.left += 1;
            return Ok(true);
        }
        let Some(entry) = self.read(name)? else {
            return Ok(true);
        };
        let tags = tags_of(&entry);
        if self.blocked.holds_any(&tags) {
            self.stay(tags);
            return Ok(true);
        }
        let outcome = (self.send)(&entry);
        self.is_answering |= !outcome.is_outage();
        match settle(self.spool, name, &outcome, &mut self.report) {
            Ok(true) => return Ok(true),
            Ok(false) => {}
            Err(error) => {
                self.trouble(name, error)?;
                self.stay(tags);
                return Ok(true);
            }
        }
        if is_internal(&outcome) {
            let failing = (name.to_owned(), outcome.text.clone());
            self.report.failing.push(failing);
        }
        if outcome.is_outage() || self.report.failing.len() == MAX_INTERNAL {
            self.report.outage = Some(outcome);
            return Ok(false);
        }
        self.stay(tags);
        self.keep(outcome);
        Ok(true)
    }

    /// A document; `None` if it is gone, or cannot be read, or was none and went into the quarantine.
    fn read(&mut self, name: &str) -> Result<Option<Entry>> {
        let error = match self.spool.read(name) {
            Ok(Some(entry)) => return Ok(Some(entry)),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Ok(None) => {
                let why = "the file is not a whole document of this spool";
                match self.spool.quarantine(name, why) {
                    Ok(()) => {
                        self.report.quarantined += 1;
                        return Ok(None);
                    }
                    Err(error) => return self.trouble(name, error).map(|()| None),
                }
            }
            Err(error) => error,
        };
        // It may be a charge that a person can make readable again: its object waits for it.
        let text = format!(
            "document {} cannot be read: {error} (bank nami spool ls)",
            number_of(name)
        );
        self.keep(Outcome::new(Condition::Other, text));
        self.stay(tag_in(name));
        Ok(None)
    }

    /// A document stays, and those of its objects wait behind it.
    fn stay(&mut self, tags: impl IntoIterator<Item = u64>) {
        self.blocked.0.extend(tags);
        self.report.left += 1;
    }

    fn keep(&mut self, why: Outcome) {
        self.report.kept.get_or_insert(why);
    }

    /// A document that cannot be removed or moved. Many of them are an error of the folder.
    fn trouble(&mut self, name: &str, error: Error) -> Result<()> {
        self.troubles += 1;
        if self.troubles == MAX_INTERNAL {
            return Err(error);
        }
        let text = format!("document {} cannot be moved: {error}", number_of(name));
        self.keep(Outcome::new(Condition::Other, text));
        Ok(())
    }
}

/// Whether the answer is an error about one document, and not an outage such as a full disk.
fn is_internal(outcome: &Outcome) -> bool {
    let is_error = matches!(outcome.condition, Condition::Internal | Condition::Other);
    is_error && !outcome.is_outage()
}

/// Counts one more try of each document that the bank answered with an internal error, and moves those
/// that were tried too often to the quarantine.
pub(crate) fn count_tries(spool: &Spool, report: &mut Report) {
    for (name, why) in std::mem::take(&mut report.failing) {
        // A try that cannot be counted is one more.
        let Ok(tries) = spool.count_try(&name) else {
            continue;
        };
        if tries < MAX_TRIES {
            continue;
        }
        let reason = format!("moved to quarantine after {tries} tries: {why}");
        if spool.quarantine(&name, &reason).is_err() {
            continue;
        }
        report.quarantined += 1;
        report.left = report.left.saturating_sub(1);
        report.gave_up = Some(format!("1 document {reason} (bank nami quarantine ls)"));
    }
}

/// The objects whose documents have to wait.
#[derive(Default)]
struct Blocked(HashSet<u64>);

impl Blocked {
    /// A check by name only, so that the file need not be read.
    fn holds_name(&self, name: &str) -> bool {
        tag_in(name).is_some_and(|tag| self.0.contains(&tag))
    }

    fn holds_any(&self, tags: &[u64]) -> bool {
        tags.iter().any(|tag| self.0.contains(tag))
    }
}

/// The object in a document's name, if it has one.
fn tag_in(name: &str) -> Option<u64> {
    match parse_name(name) {
        Some((_, Tag::One(tag))) => Some(tag),
        _ => None,
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
