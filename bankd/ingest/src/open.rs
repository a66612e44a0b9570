//! Inputs: files, standard input and folders, plain or compressed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use bank_files::folder::Listed;

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
/// If the beginning cannot be read, or is that of a format that is not read, such as bzip2.
pub fn plain<R: Read + 'static>(mut input: BufReader<R>) -> io::Result<Box<dyn BufRead>> {
    let head = input.fill_buf()?;
    if head.starts_with(&[0x1f, 0x8b]) {
        let decoder = MultiGzDecoder::new(input);
        return Ok(Box::new(BufReader::with_capacity(BUFFER, decoder)));
    }
    if is_zstandard(head) {
        let decoder = zstd::stream::read::Decoder::with_buffer(input)?;
        return Ok(Box::new(BufReader::with_capacity(BUFFER, decoder)));
    }
    if let Some(name) = packed(head) {
        let why = format!("a file of {name} is not read: unpack it, or use gzip or zstd");
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    Ok(Box::new(input))
}

/// Whether the first frame is one of Zstandard, or one that its readers skip (RFC 8878, 3.1), as `pzstd` writes it.
fn is_zstandard(head: &[u8]) -> bool {
    let is_skipped = matches!(head, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..]);
    is_skipped || head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd])
}

/// The program that packed a file, of those whose files are not read. As text it would be rubbish.
fn packed(head: &[u8]) -> Option<&'static str> {
    let has = |place: usize, bytes: &[u8]| {
        let behind = head.get(place..).unwrap_or_default();
        behind.starts_with(bytes)
    };
    let marks = [
        ("bzip2", has(0, b"BZh") && has(4, b"1AY&SY")),
        ("xz", has(0, b"\xfd7zXZ\0")),
        ("zip", has(0, b"PK\x03\x04")),
        ("7z", has(0, b"7z\xbc\xaf\x27\x1c")),
        ("tar", has(257, b"ustar")),
    ];
    let found = marks.into_iter().find(|(_, is_there)| *is_there);
    found.map(|(name, _)| name)
}

/// The files of a path: the file itself, or all files below a folder. An entry of a folder that is no file is left out.
///
/// # Errors
/// If a folder cannot be read.
pub fn files(path: &Path) -> io::Result<Listed> {
    if path.is_dir() {
        return Listed::below(path);
    }
    Ok(Listed {
        files: vec![path.to_owned()],
        ..Listed::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_programs_are_no_text() {
        let tar = [&[b'x'; 257][..], b"ustar\0"].concat();
        let zstandard = zstd::encode_all(&b"a job"[..], 0).unwrap();
        let skipped = [b"\x50\x2a\x4d\x18\x04\0\0\0size", &zstandard[..]].concat();
        for (bytes, expected) in [
            (&b"BZh91AY&SY\x01"[..], "a file of bzip2"),
            (b"\xfd7zXZ\0\x00", "a file of xz"),
            (b"PK\x03\x04\x14", "a file of zip"),
            (&tar, "a file of tar"),
            (&zstandard, "a job"),
            (&skipped, "a job"),
            (b"BZh9 is a job", "BZh9 is a job"),
            (b"10/01/2026", "10/01/2026"),
            (b"", ""),
        ] {
            let input = BufReader::new(io::Cursor::new(bytes.to_vec()));
            let found = match plain(input) {
                Ok(mut text) => {
                    let mut read = String::new();
                    text.read_to_string(&mut read).unwrap();
                    read
                }
                Err(error) => error.to_string(),
            };
            assert!(found.starts_with(expected), "{found}");
        }
    }
}
