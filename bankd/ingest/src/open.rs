//! Inputs: files, standard input and folders, plain or compressed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

/// Bytes read at once.
const BUFFER: usize = 256 << 10;

/// Opens a file, or standard input for `-`; gzip and Zstandard are recognised by their first bytes.
///
/// # Errors
/// If it cannot be opened or read.
pub fn open(path: &Path) -> io::Result<Box<dyn BufRead>> {
    if path == Path::new("-") {
        return plain(BufReader::with_capacity(BUFFER, io::stdin()));
    }
    plain(BufReader::with_capacity(BUFFER, File::open(path)?))
}

/// The bytes behind a compression, if there is one: gzip and Zstandard, by their first bytes.
///
/// # Errors
/// If the beginning cannot be read.
pub fn plain<R: Read + 'static>(mut input: BufReader<R>) -> io::Result<Box<dyn BufRead>> {
    let head = input.fill_buf()?;
    if head.starts_with(&[0x1f, 0x8b]) {
        let decoder = MultiGzDecoder::new(input);
        return Ok(Box::new(BufReader::with_capacity(BUFFER, decoder)));
    }
    if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        let decoder = zstd::stream::read::Decoder::with_buffer(input)?;
        return Ok(Box::new(BufReader::with_capacity(BUFFER, decoder)));
    }
    Ok(Box::new(input))
}

/// The files of a path: the file itself, or all files below a folder, sorted by file name. Names of
/// snapshots are their times, in any folder.
///
/// # Errors
/// If a folder cannot be read.
pub fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort_by(|one, other| (one.file_name(), one).cmp(&(other.file_name(), other)));
    Ok(found)
}
