//! Finds the previous record file if the path names another file or a shorter
//! one: it was renamed, copied or compressed while the daemon did not write. It
//! can contain lines that were never confirmed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read};
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use super::{Confirmed, tail};

/// Endings of compressed files that can be read.
const PACKED: [&str; 3] = [".gz", ".zst", ".zstd"];

/// Pending lines that were found in the earlier file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Earlier {
    /// Leading pending lines that are in it.
    pub(super) lines: usize,
    /// Bytes of half a line of ours that were cut off at its end.
    pub(super) torn: u64,
}

/// Looks for the earlier file beside `path`, by its device and inode, else by
/// the last bytes that were confirmed, and counts what it holds of `pending`.
/// `None` if it is not there.
///
/// # Errors
/// Of the file system, but for files that cannot be read: those are passed.
pub(super) fn find<L: AsRef<[u8]>>(
    path: &Path,
    confirmed: &Confirmed,
    pending: &[L],
) -> io::Result<Option<Earlier>> {
    let own = fs::metadata(path).map(|m| (m.dev(), m.ino())).ok();
    let (mut same, mut copies) = (Vec::new(), Vec::new());
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    for entry in fs::read_dir(folder.unwrap_or(Path::new(".")))? {
        let entry = entry?;
        if entry.ino() == confirmed.inode {
            same.push(entry.path());
        } else if is_copy(path, &entry.path()) {
            copies.push(entry.path());
        }
    }
    // The youngest copy first.
    copies.sort_by_key(|path| {
        let written = fs::metadata(path).and_then(|m| m.modified()).ok();
        std::cmp::Reverse(written)
    });
    for path in same.iter().chain(&copies) {
        let is_own = fs::metadata(path).is_ok_and(|m| Some((m.dev(), m.ino())) == own);
        // A copy that cannot be read may not be the file at all.
        if !is_own && let Ok(Some(found)) = in_file(path, confirmed, pending) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Whether rotation may have given a file this name: the own name with more
/// behind it, or with more before its ending.
fn is_copy(own: &Path, other: &Path) -> bool {
    let text = |path: &Path| path.file_name().map(|n| n.to_string_lossy().into_owned());
    let (Some(own), Some(other)) = (text(own), text(other)) else {
        return false;
    };
    let stem = own.rsplit_once('.').map_or(own.as_str(), |(stem, _)| stem);
    other != own && !stem.is_empty() && other.starts_with(stem)
}

fn in_file<L: AsRef<[u8]>>(
    path: &Path,
    confirmed: &Confirmed,
    pending: &[L],
) -> io::Result<Option<Earlier>> {
    // An open of a pipe would block.
    if !fs::metadata(path)?.is_file() {
        return Ok(None);
    }
    let name = path.to_string_lossy();
    if let Some(ending) = PACKED.iter().find(|ending| name.ends_with(**ending)) {
        return in_packed(path, ending, confirmed, pending);
    }
    in_plain(path, confirmed, pending)
}

fn in_plain<L: AsRef<[u8]>>(
    path: &Path,
    confirmed: &Confirmed,
    pending: &[L],
) -> io::Result<Option<Earlier>> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    let is_same = (metadata.dev(), metadata.ino()) == (confirmed.device, confirmed.inode);
    let (from, size) = (confirmed.length, metadata.len());
    if size < from || !is_known(is_same, confirmed, || tail::print(&file, from).map(Some))? {
        return Ok(None);
    }
    let lines = tail::whole_lines(&file, from, size, pending)?;
    let whole = pending
        .iter()
        .take(lines)
        .map(|line| line.as_ref().len() as u64);
    let end = from + whole.sum::<u64>();
    // Half a line of ours is written whole into the new file; what others wrote stays.
    let mut torn = 0;
    if size > end && tail::is_beginning(&file, from, size, pending)? {
        OpenOptions::new().write(true).open(path)?.set_len(end)?;
        torn = size - end;
    }
    Ok(Some(Earlier { lines, torn }))
}

fn in_packed<L: AsRef<[u8]>>(
    path: &Path,
    ending: &str,
    confirmed: &Confirmed,
    pending: &[L],
) -> io::Result<Option<Earlier>> {
    let file = BufReader::new(File::open(path)?);
    let mut stream: Box<dyn Read> = match ending {
        ".gz" => Box::new(MultiGzDecoder::new(file)),
        _ => Box::new(zstd::stream::read::Decoder::with_buffer(file)?),
    };
    let print = tail::print_of_stream(&mut *stream, confirmed.length)?;
    if print.is_none() || !is_known(false, confirmed, || Ok(print))? {
        return Ok(None);
    }
    let mut count = tail::Count::default();
    let mut buffer = vec![0; tail::PIECE];
    loop {
        let read = stream.read(&mut buffer)?;
        let piece = buffer.get(..read).unwrap_or_default();
        if piece.is_empty() || !count.take(piece, pending) {
            break;
        }
    }
    let lines = count.found;
    Ok(Some(Earlier { lines, torn: 0 }))
}

/// Whether a file is the earlier one: by the bytes before its confirmed
/// length. Of an empty one, and of one confirmed by an older version, nothing
/// but the inode is known.
fn is_known(
    is_same: bool,
    confirmed: &Confirmed,
    print: impl FnOnce() -> io::Result<Option<tail::Print>>,
) -> io::Result<bool> {
    match confirmed.print {
        Some(known) if confirmed.length > 0 => Ok(print()? == Some(known)),
        _ => Ok(is_same),
    }
}
