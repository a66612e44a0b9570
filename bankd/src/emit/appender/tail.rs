//! Looks at what stands behind the confirmed length of a file, in pieces of
//! fixed size: another process may have written any amount. Nothing here
//! changes the file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Bytes read at once.
const PIECE: usize = 16 << 10;

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

/// How many leading lines are among the whole lines from `from` to `to`, in
/// their order.
pub(super) fn whole_lines<L: AsRef<[u8]>>(
    file: &File,
    from: u64,
    to: u64,
    lines: &[L],
) -> io::Result<usize> {
    let mut found = 0;
    let mut place = 0;
    let mut equal = true;
    each_piece(file, from, to, |piece| {
        for byte in piece {
            let wanted = lines.get(found).map_or(&[][..], |line| line.as_ref());
            equal = equal && wanted.get(place) == Some(byte);
            place += 1;
            if *byte == b'\n' {
                found += usize::from(equal && place == wanted.len());
                (place, equal) = (0, true);
            }
        }
        found < lines.len()
    })?;
    Ok(found)
}

/// True when the byte before `length` is a line feed.
pub(super) fn ends_with_line_feed(file: &File, length: u64) -> io::Result<bool> {
    let mut last = [0];
    file.read_exact_at(&mut last, length.saturating_sub(1))?;
    Ok(last == *b"\n")
}

/// Hands the bytes to `take` until it says false, and returns what it said.
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
