//! A file that is followed, open: read from any place while it is plain, in one go if it is compressed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Metadata};
use std::io::{self, BufReader, Read};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use bankd_config::follow::names::packing;
use flate2::bufread::MultiGzDecoder;

use super::trace::{Fingerprint, Trace};

/// Bytes read at once from a compressed file.
const BUFFER: usize = 64 << 10;

/// Which file it is, for as long as it is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) device: u64,
    pub(super) inode: u64,
}

impl Node {
    pub(super) fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
        }
    }
}

/// Metadata of a plain file: any write changes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) size: u64,
    /// When it was written last, in nanoseconds since 1970.
    pub(super) written: i64,
}

impl Look {
    fn of(metadata: &Metadata) -> Self {
        let written = metadata
            .mtime()
            .saturating_mul(1_000_000_000)
            .saturating_add(metadata.mtime_nsec());
        Self {
            size: metadata.size(),
            written,
        }
    }
}

/// An open file.
pub(super) struct Input {
    /// The name by which it was opened.
    pub(super) path: PathBuf,
    pub(super) node: Node,
    /// How it looked as it was opened, compressed or not.
    pub(super) at_first: Look,
    file: File,
    packed: Option<Packed>,
}

/// Uncompressed data that was not processed yet.
struct Packed {
    stream: Box<dyn Read + Send>,
    held: Vec<u8>,
    /// The place of the first held byte in the unpacked file.
    at: u64,
}

/// The file with a name; `None` if it does not exist.
///
/// # Errors
/// If it cannot be looked at.
pub(super) fn look_at(path: &Path) -> io::Result<Option<(Node, Look)>> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(Some((Node::of(&metadata), Look::of(&metadata)))),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(named(path, &e)),
    }
}

/// An error with the file's name.
pub(super) fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

impl Input {
    /// Opens a file; `None` where there is none.
    ///
    /// # Errors
    /// If it cannot be opened, or is no regular file.
    pub(super) fn open(path: &Path) -> io::Result<Option<Self>> {
        Self::opened(path).map_err(|e| named(path, &e))
    }

    fn opened(path: &Path) -> io::Result<Option<Self>> {
        // A pipe would keep whoever opens it waiting, so that is looked at first.
        let is_regular = match fs::metadata(path) {
            Ok(metadata) => metadata.is_file(),
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(e),
        };
        if !is_regular {
            let why = "is not a regular file; only regular files can be followed";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let file = match File::open(path) {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(e),
        };
        let metadata = file.metadata()?;
        let ending = path.file_name().and_then(packing);
        let packed = ending.map(|ending| unpack(&file, ending)).transpose()?;
        // Names change under the daemon: the one that lasts is without links.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        Ok(Some(Self {
            path,
            node: Node::of(&metadata),
            at_first: Look::of(&metadata),
            file,
            packed,
        }))
    }

    /// How it looks now; `None` of a compressed one, which never changes.
    ///
    /// # Errors
    /// If it cannot be looked at.
    pub(super) fn look(&self) -> io::Result<Option<Look>> {
        if self.packed.is_some() {
            return Ok(None);
        }
        Ok(Some(Look::of(&self.file.metadata()?)))
    }

    /// The trace of its first bytes; `None` where it has fewer. To be asked once of a compressed one,
    /// before anything is read.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn trace(&mut self, upto: u64) -> io::Result<Option<Trace>> {
        if let Some(packed) = &mut self.packed {
            packed.at = upto;
            return Trace::of_stream(&mut packed.stream, upto);
        }
        match Trace::of_file(&self.file, upto) {
            Ok(trace) => Ok(Some(trace)),
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// The fingerprints of its first bytes, by their number, and how long it is without its compression.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn prints(
        &self,
        lengths: &BTreeSet<u64>,
    ) -> io::Result<(BTreeMap<u64, Fingerprint>, u64)> {
        if self.packed.is_some() {
            let again = unpack(
                &self.file,
                packing(self.path.as_os_str()).unwrap_or_default(),
            )?;
            return Trace::prints(again.stream, lengths);
        }
        let size = self.file.metadata()?.size();
        let mut prints = BTreeMap::new();
        for length in lengths.iter().filter(|length| **length <= size) {
            let trace = Trace::of_file(&self.file, *length)?;
            prints.insert(*length, trace.fingerprint());
        }
        Ok((prints, size))
    }

    /// The trace of all its bytes as they are on the disk.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn raw(&self) -> io::Result<Trace> {
        Trace::of_file(&self.file, self.file.metadata()?.size())
    }

    /// Its bytes from a place on, at most so many; fewer only at its end. Places of a compressed one
    /// must not go back.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn window(&mut self, from: u64, most: usize) -> io::Result<Vec<u8>> {
        let Some(packed) = &mut self.packed else {
            return window(&self.file, from, most);
        };
        let passed = usize::try_from(from.saturating_sub(packed.at)).unwrap_or(usize::MAX);
        packed.held.drain(..passed.min(packed.held.len()));
        packed.at = from;
        let missing = most.saturating_sub(packed.held.len());
        let missing = u64::try_from(missing).unwrap_or(u64::MAX);
        (&mut packed.stream)
            .take(missing)
            .read_to_end(&mut packed.held)?;
        Ok(packed.held.clone())
    }

    /// The first bytes of it; none of a compressed one.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn head(&self, most: usize) -> io::Result<Vec<u8>> {
        if self.packed.is_none() {
            return window(&self.file, 0, most);
        }
        let again = unpack(
            &self.file,
            packing(self.path.as_os_str()).unwrap_or_default(),
        )?;
        let mut head = Vec::new();
        let most = u64::try_from(most).unwrap_or(u64::MAX);
        again.stream.take(most).read_to_end(&mut head)?;
        Ok(head)
    }

    /// Whether it is compressed.
    pub(super) fn is_packed(&self) -> bool {
        self.packed.is_some()
    }
}

fn window(file: &File, from: u64, most: usize) -> io::Result<Vec<u8>> {
    let there = file.metadata()?.size().saturating_sub(from);
    let length = usize::try_from(there).unwrap_or(usize::MAX).min(most);
    let mut bytes = vec![0; length];
    let mut read = 0;
    while let Some(rest) = bytes.get_mut(read..).filter(|rest| !rest.is_empty()) {
        let at = from.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
        match file.read_at(rest, at) {
            Ok(0) => break,
            Ok(more) => read = read.saturating_add(more),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    bytes.truncate(read);
    Ok(bytes)
}

/// The stream behind a compression, with a place of its own in the file.
fn unpack(file: &File, ending: &str) -> io::Result<Packed> {
    let input = BufReader::with_capacity(BUFFER, At(file.try_clone()?, 0));
    let stream: Box<dyn Read + Send> = match ending {
        ".gz" => Box::new(MultiGzDecoder::new(input)),
        _ => Box::new(zstd::stream::read::Decoder::with_buffer(input)?),
    };
    Ok(Packed {
        stream,
        held: Vec::new(),
        at: 0,
    })
}

/// A file read from a place of our own, for copies of a descriptor share theirs.
struct At(File, u64);

impl Read for At {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read_at(buffer, self.1)?;
        self.1 = self.1.saturating_add(u64::try_from(read).unwrap_or(0));
        Ok(read)
    }
}
