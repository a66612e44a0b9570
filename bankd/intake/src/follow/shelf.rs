//! The files beside a followed one, and how much of each is dealt with.
//!
//! Files that were there when the file was followed first are left out and listed. After that, every file
//! that rotation leaves is read unless the list has it as read: by its inode while it looks the
//! same, else by its content, compressed or not. Times of files decide the order only. Files that cannot
//! be read stay in the list with the reason.

mod days;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use bankd_config::follow::names::{Names, entries, packing};

use super::input::{Input, Look, Node, look_at, named};
use super::locate::rotated;
use super::open::{Mark, Open};
use super::trace::{Fingerprint, Trace};

/// Maximum number of removed files that are recognised if they return compressed.
const GONE_MAX: usize = 64;
/// Reports of lost input that are kept, the newest.
const NOTES_MAX: usize = 100;
/// Positions that the content of one file is compared with, beside those of files of before the first start.
const COMPARED_MAX: usize = 256;

/// Why a file, or a part of one, is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It was read to its end, or up to the length in the row.
    Read,
    /// It was there before the file was followed first.
    Earlier,
    /// It is compressed in a format that is not supported.
    Format,
    /// It could not be read; it is tried again.
    Broken,
    /// The file was emptied in place and there was no copy of it.
    Emptied,
    /// The file was gone before it was read to its end.
    Gone,
}

impl Why {
    /// All of them.
    const ALL: [Self; 6] = [
        Self::Read,
        Self::Earlier,
        Self::Format,
        Self::Broken,
        Self::Emptied,
        Self::Gone,
    ];

    /// The word by which it is stored and listed.
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Earlier => "before_first_start",
            Self::Format => "unsupported_compression",
            Self::Broken => "unreadable",
            Self::Emptied => "emptied",
            Self::Gone => "gone",
        }
    }

    /// The reason of a word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|why| why.word() == word)
    }

    /// Whether it is a report about input that no longer exists.
    fn is_note(self) -> bool {
        matches!(self, Self::Emptied | Self::Gone)
    }
}

/// One file, and how much of it is dealt with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) file: PathBuf,
    pub(super) why: Why,
    pub(super) node: Node,
    /// Its size and time when the row was written.
    pub(super) look: Look,
    /// Bytes that are dealt with, and lines in them.
    pub(super) length: u64,
    pub(super) line: u64,
    /// The fingerprint of these bytes.
    pub(super) print: Fingerprint,
    /// Length and fingerprint are those of the compressed file, not of its content.
    pub(super) is_raw: bool,
    /// It is not in the folder any more.
    pub(super) is_gone: bool,
}

impl Known {
    /// The file of a mark, read up to the offset of the mark.
    pub(super) fn read(mark: &Mark, look: Look) -> Self {
        Self {
            file: mark.file.clone(),
            why: Why::Read,
            node: mark.node,
            look,
            length: mark.offset,
            line: mark.line,
            print: mark.print,
            is_raw: false,
            is_gone: false,
        }
    }

    fn bare(file: &Path, why: Why, node: Node, look: Look) -> Self {
        let mark = Mark {
            file: file.to_owned(),
            node,
            ..Mark::default()
        };
        Self {
            why,
            ..Self::read(&mark, look)
        }
    }
}

/// The files beside a followed one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Shelf {
    rows: Vec<Known>,
    /// Grows with each change.
    version: u64,
}

impl Shelf {
    /// A shelf as it was kept.
    pub(super) fn of(rows: Vec<Known>) -> Self {
        Self { rows, version: 0 }
    }

    /// The shelf at the first start: files that rotation left before it are not read. `mark` is that of a
    /// version of this program that kept no shelf: files older than the one that it names were read.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub(super) fn first(names: &Names, mark: Option<&Mark>) -> io::Result<Self> {
        let mut shelf = Self {
            rows: Vec::new(),
            version: 1,
        };
        for (path, look, node) in rotated(names)? {
            let why = match mark {
                Some(mark) if mark.node == node || look.written > mark.written => continue,
                Some(_) => Why::Read,
                None => Why::Earlier,
            };
            let mut row = Known::bare(&path, why, node, look);
            // One that cannot be read now is recognised by its inode only.
            if let Ok(Some(trace)) = whole(&path) {
                row.length = trace.passed();
                row.print = trace.fingerprint();
                row.is_raw = packing(path.as_os_str()).is_some();
            }
            shelf.rows.push(row);
        }
        Ok(shelf)
    }

    /// All rows, the oldest first.
    pub(super) fn rows(&self) -> &[Known] {
        &self.rows
    }

    /// A number that grows with each change.
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// Files and parts of files that are not read.
    pub(super) fn left_out(&self) -> impl Iterator<Item = &Known> {
        let is_listed = |row: &&Known| row.why != Why::Read && (row.why.is_note() || !row.is_gone);
        self.rows.iter().filter(is_listed)
    }

    /// Whether a file could not be read and is to be tried again.
    pub(super) fn has_broken(&self) -> bool {
        self.rows.iter().any(|row| row.why == Why::Broken)
    }

    /// Adds a row. A row of an earlier file with the same inode keeps its fingerprint only; `instead` has
    /// length and fingerprint of the row that this one replaces.
    pub(super) fn put(&mut self, known: Known, instead: Option<(u64, Fingerprint)>) {
        if self.rows.contains(&known) {
            return;
        }
        let same = |row: &Known| {
            let bytes = (row.length, row.print);
            bytes == (known.length, known.print) || Some(bytes) == instead
        };
        self.rows.retain(|row| {
            row.why.is_note() || row.node != known.node || (row.length > 0 && !same(row))
        });
        for row in self.rows.iter_mut().filter(|row| row.node == known.node) {
            row.node = Node::default();
        }
        self.rows.push(known);
        self.version = self.version.saturating_add(1);
    }

    /// Notes that the rest of a file is lost. False if there is such a note already.
    pub(super) fn note(&mut self, why: Why, mark: &Mark) -> bool {
        let mut row = Known::bare(&mark.file, why, Node::default(), Look::default());
        (row.length, row.print) = (mark.offset, mark.print);
        let is_new = !self.rows.contains(&row);
        if is_new {
            self.rows.push(row);
            self.version = self.version.saturating_add(1);
        }
        is_new
    }

    /// The oldest file beside the followed one that is not read to its end; `but` is open.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub(super) fn unread(
        &mut self,
        names: &Names,
        but: Option<Node>,
        now_us: i64,
    ) -> io::Result<Option<Open>> {
        let Names::Plain(own) = names else {
            return Ok(None);
        };
        let own = look_at(own)?.map(|(node, _)| node);
        let mut there = rotated(names)?;
        there.sort_by_key(|(_, look, _)| look.written);
        for (path, look, node) in &there {
            if Some(*node) == but || Some(*node) == own || self.is_dealt_with(path, *node, *look) {
                continue;
            }
            match self.begin(path, *node, *look, now_us) {
                Ok(Some(open)) => return Ok(Some(open)),
                Ok(None) => {}
                Err(error) => {
                    tracing::debug!("a rotated file cannot be read: {error}");
                    self.put(Known::bare(path, Why::Broken, *node, *look), None);
                }
            }
        }
        self.list_unsupported(names, &mut there)?;
        // Where the followed file is missing, its share may be: then nothing shows which files are gone.
        if own.is_some() {
            let nodes = there.iter().map(|(.., node)| *node);
            self.tidy(&nodes.chain(own).chain(but).collect::<Vec<_>>());
        }
        Ok(None)
    }

    /// A file at the position up to which its content was read.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn resumed(&self, mut input: Input, now_us: i64) -> io::Result<Open> {
        let at = self.position(&input)?.0;
        let at = at.map(|row| (row.length, row.line));
        if let Some((length, line)) = at
            && let Some(trace) = input.trace(length)?
        {
            return Ok(Open::new(input, trace, line, now_us));
        }
        Ok(Open::new(input, Trace::default(), 0, now_us))
    }

    /// Whether a file looks as it did when everything of it was dealt with. Its name may have changed.
    fn is_dealt_with(&mut self, path: &Path, node: Node, look: Look) -> bool {
        let is_it = |row: &&mut Known| {
            row.node == node && row.look == look && !row.why.is_note() && row.why != Why::Broken
        };
        let Some(row) = self.rows.iter_mut().find(is_it) else {
            return false;
        };
        if row.file != path {
            path.clone_into(&mut row.file);
            self.version = self.version.saturating_add(1);
        }
        true
    }

    /// Opens a file where there is something to read; else notes that it is dealt with.
    fn begin(
        &mut self,
        path: &Path,
        node: Node,
        look: Look,
        now_us: i64,
    ) -> io::Result<Option<Open>> {
        let Some(input) = Input::open(path)? else {
            return Ok(None);
        };
        let known = if input.is_packed() {
            self.same_bytes(&input, look)?
        } else {
            None
        };
        let known = if let Some(known) = known {
            Some(known)
        } else {
            let (known, length) = self.position(&input)?;
            if length == 0 {
                return Ok(None);
            }
            known.filter(|known| known.length == length).cloned()
        };
        if let Some(known) = known {
            // A copy of it, or it itself under another inode.
            let file = path.to_owned();
            let known = Known {
                file,
                node,
                look,
                is_gone: false,
                ..known
            };
            self.put(known, None);
            return Ok(None);
        }
        self.rows
            .retain(|row| row.why != Why::Broken || row.node != node);
        self.resumed(input, now_us)
            .map(Some)
            .map_err(|e| named(path, &e))
    }

    /// The row of a compressed file with the same bytes.
    fn same_bytes(&self, input: &Input, look: Look) -> io::Result<Option<Known>> {
        let mut raw = self.rows.iter().filter(|row| row.is_raw);
        if !raw.any(|row| row.length == look.size) {
            return Ok(None);
        }
        let print = input.raw()?.fingerprint();
        let mut raw = self.rows.iter().filter(|row| row.is_raw);
        Ok(raw
            .find(|row| row.length == look.size && row.print == print)
            .cloned())
    }

    /// The row with the most bytes that are the beginning of a file, and the length of the file.
    fn position(&self, input: &Input) -> io::Result<(Option<&Known>, u64)> {
        let readable = |row: &&Known| row.length > 0 && !row.is_raw && !row.why.is_note();
        let rows = self.rows.iter().rev().filter(readable);
        let (earlier, later): (Vec<_>, Vec<_>) = rows.partition(|row| row.why == Why::Earlier);
        let rows = earlier
            .into_iter()
            .chain(later.into_iter().take(COMPARED_MAX));
        let lengths: BTreeSet<u64> = rows.clone().map(|row| row.length).collect();
        let (prints, length) = input.prints(&lengths)?;
        let is_same = |row: &&Known| prints.get(&row.length) == Some(&row.print);
        Ok((rows.filter(is_same).max_by_key(|row| row.length), length))
    }

    /// Lists files that rotation left in a form that is not read.
    fn list_unsupported(
        &mut self,
        names: &Names,
        there: &mut Vec<(PathBuf, Look, Node)>,
    ) -> io::Result<()> {
        let folder = names.folder();
        let found = entries(folder, |path| names.is_unsupported(path));
        for path in found.map_err(|e| named(folder, &e))? {
            let Some((node, look)) = look_at(&path)? else {
                continue;
            };
            if !self.is_dealt_with(&path, node, look) {
                self.put(Known::bare(&path, Why::Format, node, look), None);
            }
            there.push((path, look, node));
        }
        Ok(())
    }

    /// Drops removed files, except the last ones, which may return compressed, and those from
    /// before the first start, which are never read.
    fn tidy(&mut self, there: &[Node]) {
        let before = self.rows.clone();
        for row in &mut self.rows {
            row.is_gone = !row.why.is_note() && !there.contains(&row.node);
            if row.why == Why::Broken && row.is_gone {
                (row.why, row.node) = (Why::Gone, Node::default());
            }
        }
        let (mut gone, mut notes) = (0, 0);
        let mut earlier = BTreeSet::new();
        let mut kept = Vec::with_capacity(self.rows.len());
        for row in self.rows.drain(..).rev() {
            if row.why == Why::Earlier {
                // Under each new inode there is another row with the same bytes: one that is gone is enough.
                let is_other = earlier.insert((row.length, row.print, row.is_raw));
                if !row.is_gone || is_other || row.length == 0 {
                    kept.push(row);
                }
                continue;
            }
            let (count, most) = match (row.why.is_note(), row.is_gone) {
                (true, _) => (&mut notes, NOTES_MAX),
                (false, true) => (&mut gone, GONE_MAX),
                (false, false) => {
                    kept.push(row);
                    continue;
                }
            };
            *count += 1;
            if *count <= most {
                kept.push(row);
            }
        }
        kept.reverse();
        self.rows = kept;
        if self.rows != before {
            self.version = self.version.saturating_add(1);
        }
    }
}

/// The trace of all bytes of a file as they are on the disk.
fn whole(path: &Path) -> io::Result<Option<Trace>> {
    Input::open(path)?.map(|input| input.raw()).transpose()
}
