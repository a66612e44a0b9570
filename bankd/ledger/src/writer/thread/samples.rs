//! Windows of samples that overlap with known ones: each sample counts once (collectors.md 0.1, h.3).
//!
//! A use that samples show replaces no later state of itself, so that an older snapshot or a part of a known window
//! changes nothing. Of a run of a pod only the time counts that no known run has; if it continues one with the same
//! figures, it prolongs that run.

use super::Thread;
use crate::writer::{Item, Portion};
use bank_core::command::{Reports, SAMPLED, UsageReport};
use bank_core::time::Timestamp;
use bankd_store::{self as store, KnownRun, digest};
use std::sync::Arc;

/// Formats whose uses are runs of samples: those of one object do not overlap.
const RUNS: [&str; 2] = ["openshift", "prometheus"];

/// Microseconds of an hour: a use of the second format is of samples within one.
const HOUR: i64 = 3_600_000_000;

/// The items of a portion that remain.
pub(super) struct Cut {
    /// In the order of the portion.
    pub(super) items: Vec<Item>,
    /// Their uses.
    pub(super) reports: Reports,
    /// How many were known.
    pub(super) known: usize,
}

impl Thread {
    /// The items of a portion without the time of samples that are known; none if nothing changes.
    pub(super) fn cut(&self, portion: &Portion) -> Result<Option<Cut>, store::Error> {
        if !portion.items.iter().any(|item| is_sampled(&item.report)) {
            return Ok(None);
        }
        let (mut items, mut known) = (Vec::with_capacity(portion.items.len()), 0_usize);
        for item in &portion.items {
            let Some(span) = span(&item.report).filter(|_| is_sampled(&item.report)) else {
                items.push(item.clone());
                continue;
            };
            let id = (
                item.report.source.as_str(),
                item.report.request.object_id.as_str(),
            );
            let mut runs = self.store.known_runs(id, span)?;
            narrow(&mut runs, &portion.seen.format, span);
            let pieces = pieces(span, &runs, |run| continues(&item.report, run));
            known = known.saturating_add(usize::from(pieces.is_empty()));
            items.extend(pieces.into_iter().map(|piece| of(item, span, piece)));
        }
        let reports = items.iter().map(|item| Arc::clone(&item.report)).collect();
        Ok(Some(Cut {
            items,
            reports,
            known,
        }))
    }
}

fn is_sampled(report: &UsageReport) -> bool {
    report.flags.split(' ').any(|flag| flag == SAMPLED)
}

/// Start and end.
fn span(report: &UsageReport) -> Option<(i64, i64)> {
    let facts = &report.request.facts;
    Some((facts.start?.0, facts.end?.0))
}

/// Leaves the runs that can have samples of a use: of a format without runs only the use itself, of samples of one
/// hour those of the same hour.
fn narrow(runs: &mut Vec<KnownRun>, format: &str, (start, _): (i64, i64)) {
    let is_hourly = format == "prometheus";
    runs.retain(|run| {
        let is_near = !is_hourly || run.start.div_euclid(HOUR) == start.div_euclid(HOUR);
        run.start == start || (RUNS.contains(&format) && is_near)
    });
}

/// A part of a use: from where it counts, from where it is stored (as the continuation of a known run), and its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    new: i64,
    start: i64,
    end: i64,
}

/// The parts of a time that no known run has; the runs are in the order of their starts.
fn pieces(
    (start, end): (i64, i64),
    runs: &[KnownRun],
    mut continues: impl FnMut(&KnownRun) -> bool,
) -> Vec<Piece> {
    let whole = Piece {
        new: start,
        start,
        end,
    };
    let own = runs.iter().find(|run| run.start == start);
    let mut first = None;
    let mut at = start;
    if let Some(own) = own {
        if !own.is_sampled || own.end > end {
            return Vec::new();
        }
        // The same time, or more of it: it replaces its own earlier state, up to the next run.
        first = Some(own.end);
    }
    let mut found: Vec<Piece> = Vec::new();
    let mut before: Option<&KnownRun> = None;
    for run in runs {
        let is_aside = match first {
            Some(ended) => run.start < ended || run.start == start,
            None => false,
        };
        if is_aside {
            continue;
        }
        if run.start > at {
            found.push(piece((at, run.start), before, &mut continues));
        }
        if run.end > at {
            (at, before) = (run.end, Some(run));
        }
    }
    if at < end || (found.is_empty() && at == start) {
        found.push(if at == start {
            whole
        } else {
            piece((at, end), before, &mut continues)
        });
    }
    found
}

/// A part behind a known run, which it may prolong.
fn piece(
    (new, end): (i64, i64),
    before: Option<&KnownRun>,
    continues: &mut impl FnMut(&KnownRun) -> bool,
) -> Piece {
    let prolonged = before.filter(|run| run.end == new && run.is_sampled && continues(run));
    let start = prolonged.map_or(new, |run| run.start);
    Piece { new, start, end }
}

/// Whether a use has the figures of a known run: its record with the times of the run has the same digest.
fn continues(report: &UsageReport, run: &KnownRun) -> bool {
    report.figures.wall_us.is_none()
        && digest(&timed(report, run.start, run.end).canonical())[..] == run.digest[..]
}

fn timed(report: &UsageReport, start: i64, end: i64) -> UsageReport {
    let mut report = report.clone();
    report.request.facts.start = Some(Timestamp(start));
    report.request.facts.end = Some(Timestamp(end));
    report
}

/// An item with a part of its time. A use that ran for a part of its time only ran in each part in proportion.
fn of(item: &Item, (start, end): (i64, i64), piece: Piece) -> Item {
    if (piece.start, piece.end) == (start, end) {
        return item.clone();
    }
    let mut report = timed(&item.report, piece.start, piece.end);
    let whole = i128::from(end.saturating_sub(start));
    let part = i128::from(piece.end.saturating_sub(piece.new));
    report.figures.wall_us = report.figures.wall_us.map(|wall| {
        let own = i128::from(wall).saturating_mul(part).checked_div(whole);
        own.and_then(|own| i64::try_from(own).ok()).unwrap_or(wall)
    });
    Item {
        digest: digest(&report.canonical()),
        report: Arc::new(report),
        ..item.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs and parts as `START-END`, with `!` behind runs of other figures and `d` behind a use that has ended.
    #[test]
    fn a_window_counts_what_no_known_run_has() {
        for (window, known, expected) in [
            ("6-16", "", "6-16"),
            ("6-16", "0-10", "0-16"),
            ("6-16", "0-10!", "10-16"),
            ("0-10", "6-16", "0-6"),
            ("0-4", "0-16", ""),
            ("4-8", "0-16", ""),
            ("4-16", "0-16", ""),
            ("0-16", "0-16", "0-16"),
            ("0-16", "0-10", "0-16"),
            ("0-16", "0-10!", "0-16"),
            ("0-16", "6-8", "0-6 6-16"),
            ("0-16", "6-8!", "0-6 8-16"),
            ("0-16", "0-2 6-8! 10-12", "0-6 8-10 10-16"),
            ("0-16", "2-4 4-6!", "0-2 6-16"),
            // Runs that do not touch by less than a sample stay as they are.
            ("0-9", "0-9 8-17", "0-9"),
            ("8-17", "0-9 8-17", "8-17"),
            ("0-8", "0-10d", ""),
            ("0-12", "0-10d", ""),
        ] {
            let numbers = |text: &str| {
                let (start, end) = text.split_once('-').unwrap();
                (start.parse().unwrap(), end.parse().unwrap())
            };
            let run = |text: &str| {
                let (start, end) = numbers(text.trim_end_matches(['!', 'd']));
                KnownRun {
                    start,
                    end,
                    is_sampled: !text.ends_with('d'),
                    digest: vec![u8::from(text.ends_with('!'))],
                }
            };
            let runs: Vec<_> = known.split_whitespace().map(run).collect();
            let found = pieces(numbers(window), &runs, |run| run.digest == [0]);
            let found = found.iter().map(|p| format!("{}-{}", p.start, p.end));
            let found: Vec<_> = found.collect();
            assert_eq!(found.join(" "), expected, "{window} where {known} is known");
        }
    }
}
