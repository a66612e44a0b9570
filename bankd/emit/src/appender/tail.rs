//! Checks the bytes behind the confirmed length of a file, in pieces of fixed size: another process may have
//! written any amount. Nothing here changes the file.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

use sha2::{Digest, Sha256};

/// Bytes read at once.
pub(super) const PIECE: usize = 16 << 10;
/// Bytes before a length that a fingerprint covers.
const SIDE: u64 = 4096;

/// The fingerprint of a file.
pub(super) type Print = [u8; 32];

/// True when the bytes from `from` to `to` are the beginning of the lines, one
/// after the other.
pub(super) fn is_beginning<L: AsRef<[u8]>>(
    file: &File,
    from: u64,
    to: u64,
    lines: &[L],
) -> io::Result<bool> {
    let mut expected = lines.iter().flat_map(AsRef::as_ref);
    each_piece(file, from, to, |piece| {
        piece.iter().all(|byte| expected.next() == Some(byte))
    })
}

/// The number of leading lines among the whole lines from `from` to `to`, in their order.
pub(super) fn whole_lines<L: AsRef<[u8]>>(
    file: &File,
    from: u64,
    to: u64,
    lines: &[L],
) -> io::Result<usize> {
    let mut count = Count::default();
    each_piece(file, from, to, |piece| count.take(piece, lines))?;
    Ok(count.found)
}

/// Leading lines that were found among the whole lines of some bytes.
#[derive(Default)]
pub(super) struct Count {
    /// The number of lines.
    pub(super) found: usize,
    place: usize,
    differs: bool,
}

impl Count {
    /// Looks at the bytes that come next; false once all lines are found.
    pub(super) fn take<L: AsRef<[u8]>>(&mut self, piece: &[u8], lines: &[L]) -> bool {
        for byte in piece {
            let wanted = lines.get(self.found).map_or(&[][..], |line| line.as_ref());
            self.differs = self.differs || wanted.get(self.place) != Some(byte);
            self.place += 1;
            if *byte == b'\n' {
                self.found += usize::from(!self.differs && self.place == wanted.len());
                (self.place, self.differs) = (0, false);
            }
        }
        self.found < lines.len()
    }
}

/// The fingerprint of a file: SHA-256 over the last bytes before `length`.
pub(super) fn print(file: &File, length: u64) -> io::Result<Print> {
    let side = SIDE.min(length);
    let mut bytes = vec![0; usize::try_from(side).unwrap_or_default()];
    file.read_exact_at(&mut bytes, length - side)?;
    Ok(Sha256::digest(&bytes).into())
}

/// The same of a stream, which is then behind these bytes; `None` where it is
/// shorter.
pub(super) fn print_of_stream(stream: &mut dyn Read, length: u64) -> io::Result<Option<Print>> {
    let side = SIDE.min(length);
    let before = length - side;
    if io::copy(&mut stream.take(before), &mut io::sink())? < before {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    stream.take(side).read_to_end(&mut bytes)?;
    let is_whole = bytes.len() as u64 == side;
    Ok(is_whole.then(|| Sha256::digest(&bytes).into()))
}

/// True when the byte before `length` is a line feed.
pub(super) fn ends_with_line_feed(file: &File, length: u64) -> io::Result<bool> {
    let mut last = [0];
    file.read_exact_at(&mut last, length.saturating_sub(1))?;
    Ok(last == *b"\n")
}

/// Passes the bytes to `take` until it returns false, and returns its last result.
fn each_piece(
    file: &File,
    from: u64,
    to: u64,
    mut take: impl FnMut(&[u8]) -> bool,
) -> io::Result<bool> {
    let mut buffer = vec![0; PIECE];
    let mut at = from;
    while at < to {
        let wanted = usize::try_from(to - at).unwrap_or(PIECE).min(PIECE);
        let Some(piece) = buffer.get_mut(..wanted) else {
            break;
        };
        file.read_exact_at(piece, at)?;
        at += wanted as u64;
        if !take(piece) {
            return Ok(false);
        }
    }
    Ok(true)
}
