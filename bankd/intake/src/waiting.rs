//! Records of an import that are not yet sent to the writer.

use std::fmt::Write as _;
use std::io;
use std::sync::Arc;

use bank_core::command::Reports;
use bank_core::time::Timestamp;
use bankd_ingest::Job;
use bankd_ledger::writer::{Item, Others, Portion, Row};
use bankd_store::{FollowMark, QuarantineRow, RawBlock, Snapshot, SourceSeen};
use sha2::{Digest as _, Sha256};

use super::Feed;

/// Maximum bytes of lines in one transaction, readable or not; one more record may exceed it.
pub(super) const LINES_MAX: usize = 32 << 20;

/// Records that wait for their transaction.
#[derive(Default)]
pub(super) struct Waiting {
    pub(super) items: Vec<Item>,
    pub(super) seen: SourceSeen,
    pub(super) quarantine: Vec<QuarantineRow>,
    pub(super) snapshots: Vec<Snapshot>,
    pub(super) marks: Vec<FollowMark>,
    /// The lines of the items, each behind its length.
    pub(super) lines: Vec<u8>,
    /// Bytes for the quarantine.
    pub(super) aside: usize,
    pub(super) count: u32,
}

impl Waiting {
    pub(super) fn new(feed: &Feed) -> Waiting {
        Waiting {
            seen: seen(feed),
            ..Waiting::default()
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.seen.records == 0
            && self.items.is_empty()
            && self.snapshots.is_empty()
            && self.marks.is_empty()
    }

    pub(super) fn is_full(&self, chunk: usize) -> bool {
        let counts = self.snapshots.iter().map(|snapshot| snapshot.counts.len());
        let most = self.items.len().max(self.quarantine.len());
        let most = most.max(counts.sum());
        let bytes = self.lines.len().saturating_add(self.aside);
        most >= chunk || bytes >= LINES_MAX
    }

    pub(super) fn note(&mut self, job: &Job) {
        self.seen.jobs = self.seen.jobs.saturating_add(1);
        let end = Timestamp(job.end_us);
        self.seen.last_event = Some(self.seen.last_event.map_or(end, |at| at.max(end)));
    }

    /// Appends a line with its length; returns its range.
    pub(super) fn keep(&mut self, line: &[u8]) -> (usize, usize) {
        let length = u32::try_from(line.len()).unwrap_or(u32::MAX);
        self.lines.extend_from_slice(&length.to_le_bytes());
        let start = self.lines.len();
        self.lines.extend_from_slice(line);
        (start, line.len())
    }

    pub(super) fn portion(self, feed: &Feed) -> io::Result<Portion> {
        let raw = if feed.keep_raw && !self.lines.is_empty() {
            Some(RawBlock {
                lines: self.count.into(),
                bytes: u64::try_from(self.lines.len()).unwrap_or(u64::MAX),
                body: zstd::encode_all(self.lines.as_slice(), 1)?,
            })
        } else {
            None
        };
        // For lines that are not kept, the digest still proves their contents.
        let digest = if feed.keep_raw {
            Sha256::digest(&self.lines)
        } else {
            let mut digest = Sha256::new();
            self.items
                .iter()
                .for_each(|item| digest.update(item.digest));
            digest.finalize()
        };
        let reports = self.items.iter().map(|item| Arc::clone(&item.report));
        Ok(Portion {
            reports: Reports::new::<foldhash::fast::RandomState>(reports.collect()),
            seen: self.seen,
            caller: feed.caller.clone(),
            request_id: feed.request_id.clone(),
            items: self.items,
            alone: false,
            digest: hex(&digest),
            lines: Arc::new(self.lines),
            raw,
            block: None,
            quarantine: self.quarantine,
            snapshots: self.snapshots,
            marks: self.marks,
            goes_on: false,
            row: Row::default(),
            others: Others::default(),
            dry_run: feed.dry_run,
        })
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(64);
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

pub(super) fn seen(feed: &Feed) -> SourceSeen {
    SourceSeen {
        name: feed.source.clone(),
        format: feed.format.clone(),
        machine: feed.machine.clone().unwrap_or_default(),
        ..SourceSeen::default()
    }
}
