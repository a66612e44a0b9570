//! Counters of the writer since the start, for `/metrics`: commands by kind and outcome, refusals by code,
//! finished uses by outcome, and durations of commits.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use bank_core::command::OPS;
use bankd_store::NoticeChange;

use super::{Landed, Reply, Submission, Summary, Writer};
use crate::meter::Histogram;

/// Outcomes of commands, in the order of the counters.
const OUTCOMES: [&str; 4] = ["done", "refused", "repeated", "dry_run"];
const DONE: usize = 0;
const REFUSED: usize = 1;
const REPEATED: usize = 2;
const DRY_RUN: usize = 3;

/// The counters.
#[derive(Debug)]
pub struct Meter {
    commands: [[AtomicU64; OUTCOMES.len()]; OPS.len()],
    /// A lock is enough: accepted commands do not take it.
    refusals: Mutex<BTreeMap<&'static str, u64>>,
    /// Once for each portion.
    uses: Mutex<BTreeMap<String, u64>>,
    commits: Histogram,
    deliveries: [AtomicU64; DELIVERIES.len()],
}

/// Outcomes of attempts to deliver a notice.
const DELIVERIES: [&str; 3] = ["sent", "failed", "given_up"];

impl Default for Meter {
    fn default() -> Self {
        Self {
            commands: std::array::from_fn(|_| Default::default()),
            refusals: Mutex::default(),
            uses: Mutex::default(),
            commits: Histogram::default(),
            deliveries: Default::default(),
        }
    }
}

impl Meter {
    /// A command was answered.
    pub(super) fn decided(&self, submission: &Submission, reply: &Reply) {
        let outcome = match reply {
            Reply::Fresh { summary, .. } if summary.code.is_empty() && submission.dry_run => {
                DRY_RUN
            }
            Reply::Fresh { summary, .. } if summary.code.is_empty() => DONE,
            Reply::Fresh {
                summary: Summary { code, .. },
                ..
            } => {
                self.refused(code);
                REFUSED
            }
            Reply::KeyReused => {
                self.refused("key_reused");
                REFUSED
            }
            Reply::Stored(_) => REPEATED,
            // Counted as a failed authentication.
            Reply::Replay => return,
        };
        let place = OPS.binary_search(&submission.command.op());
        let row = place.ok().and_then(|place| self.commands.get(place));
        if let Some(counter) = row.and_then(|row| row.get(outcome)) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn refused(&self, code: &'static str) {
        let mut all = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        let count = all.entry(code).or_default();
        *count = count.saturating_add(1);
    }

    /// A portion of finished uses was taken in.
    pub(super) fn landed(&self, landed: &Landed) {
        let mut all = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        for (outcome, uses) in &landed.outcomes {
            let count = all.entry(outcome.clone()).or_default();
            *count = count.saturating_add(*uses);
        }
    }

    /// An attempt to deliver a notice ended.
    pub(super) fn delivered(&self, change: &NoticeChange) {
        let place = match change {
            NoticeChange::Sent(_) => 0,
            NoticeChange::Failed(_, _, false) => 1,
            NoticeChange::Failed(_, _, true) => 2,
            NoticeChange::Retry(_) | NoticeChange::Digest(_) | NoticeChange::Forget(_) => return,
        };
        if let Some(counter) = self.deliveries.get(place) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A commit took so many microseconds.
    pub(super) fn committed(&self, us: u64) {
        self.commits.observe(us);
    }

    /// Commands by kind and outcome, without zeros.
    pub fn commands(&self) -> impl Iterator<Item = (&'static str, &'static str, u64)> {
        let rows = OPS.iter().zip(&self.commands);
        let all = rows.flat_map(|(op, row)| {
            let counted = OUTCOMES.iter().zip(row);
            counted.map(move |(outcome, n)| (*op, *outcome, n.load(Ordering::Relaxed)))
        });
        all.filter(|(.., count)| *count > 0)
    }

    /// Refusals by code.
    pub fn refusals(&self) -> BTreeMap<&'static str, u64> {
        let all = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        all.clone()
    }

    /// Finished uses by outcome.
    pub fn uses(&self) -> BTreeMap<String, u64> {
        let all = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        all.clone()
    }

    /// Attempts to deliver notices, by outcome.
    pub fn deliveries(&self) -> Vec<(String, u64)> {
        let counted = DELIVERIES.iter().zip(&self.deliveries);
        let shown = counted.map(|(word, n)| ((*word).to_owned(), n.load(Ordering::Relaxed)));
        shown.collect()
    }

    /// The durations of commits.
    pub fn commits(&self) -> &Histogram {
        &self.commits
    }
}

impl Writer {
    /// The counters since the start.
    pub fn meter(&self) -> &Meter {
        &self.shared.meter
    }
}
