//! Which documents a drain tries, and in what order: the oldest first. If a drain ends before its end although
//! the bank answers, a mark remembers how far it came, and the next one begins behind it. Otherwise documents that the
//! bank refuses at every try (44) would take the time of all others.
//!
//! The mark never changes the order of one object: behind the mark, documents of objects with an older document wait.

use std::collections::{BinaryHeap, HashSet};
use std::io::Result;

use super::{MAX_BATCH, Spool, Tag, read_own, remove_if_there, tags_of, write_small};

/// File with the name of the last document that a drain tried before it ended early.
const MARK: &str = ".mark";
/// Longest mark that is read, in bytes.
const MAX_MARK: usize = 256;

/// The documents of one drain.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// Those behind the mark, in their order.
    pub(super) ahead: Vec<String>,
    /// Those up to the mark, in their order: tried after the others.
    pub(super) behind: Vec<String>,
    /// The objects of all documents up to the mark.
    pub(super) older: HashSet<u64>,
    /// More may wait than one drain looks at.
    pub(super) more: bool,
}

impl Spool {
    /// The documents to try now.
    pub(super) fn batch(&self) -> Result<Batch> {
        let mark = self.mark();
        let is_tried = |name: &str| mark.as_deref().is_some_and(|mark| name <= mark);
        let (mut ahead, mut behind) = (BinaryHeap::new(), BinaryHeap::new());
        let mut older = HashSet::new();
        let mut several = Vec::new();
        self.each_name(|name, _, tag| {
            let heap = if is_tried(name) {
                match tag {
                    Tag::One(tag) => _ = older.insert(tag),
                    Tag::Several => several.push(name.to_owned()),
                    Tag::None => {}
                }
                &mut behind
            } else {
                &mut ahead
            };
            heap.push(name.to_owned());
            if heap.len() > MAX_BATCH {
                heap.pop();
            }
        })?;
        for name in several {
            // One that cannot be read is reported when it is its turn.
            let entry = self.read(&name).ok().flatten();
            older.extend(entry.iter().flat_map(tags_of));
        }
        let (ahead, mut behind) = (ahead.into_sorted_vec(), behind.into_sorted_vec());
        let more = ahead.len() + behind.len() >= MAX_BATCH;
        behind.truncate(MAX_BATCH - ahead.len());
        Ok(Batch {
            ahead,
            behind,
            older,
            more,
        })
    }

    /// The mark, if there is one that can be read.
    fn mark(&self) -> Option<String> {
        let content = read_own(&self.folder.join(MARK), MAX_MARK).ok()?;
        Some(String::from_utf8(content).ok()?.trim().to_owned())
    }

    /// Remembers how far a drain came, or that it looked at all documents. Without the mark, which is not flushed, the
    /// next drain begins with the oldest.
    pub(super) fn set_mark(&self, name: Option<&str>) {
        let path = self.folder.join(MARK);
        // Also one of another user is replaced. An error costs order, never a document.
        let removed = remove_if_there(&path);
        if let (Ok(()), Some(name)) = (removed, name) {
            let _ = write_small(&path, name);
        }
    }
}
