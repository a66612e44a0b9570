//! Standard error as the place of the log. Its disk can be full, or nobody reads it: such a line is lost and
//! counted, and the daemon goes on.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Lines lost since the start.
static LOST: AtomicU64 = AtomicU64::new(0);
/// Of them, those that a line of the log has counted.
static STATED: AtomicU64 = AtomicU64::new(0);
/// Whether only a part of the last line was written.
static TORN: AtomicBool = AtomicBool::new(false);

/// Lines of the log that could not be written since the start.
pub fn lost_lines() -> u64 {
    LOST.load(Ordering::Relaxed)
}

/// Writes lines to standard error. It never fails, because the library of the log would print such an error to
/// standard error, and panic there.
#[derive(Debug)]
pub(super) struct Sink;

impl Write for Sink {
    /// The library passes one line in one call.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if whole(&mut io::stderr().lock(), line, &TORN).is_err() {
            LOST.fetch_add(1, Ordering::Relaxed);
            return Ok(line.len());
        }
        let lost = lost_lines();
        // If this line is lost too, it is counted, and a later one has the sum.
        if STATED.swap(lost, Ordering::Relaxed) < lost {
            tracing::error!(
                lost,
                "lines of the log could not be written since the start"
            );
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes a whole line, after the end of a line of which only a part was written.
fn whole(to: &mut impl Write, line: &[u8], torn: &AtomicBool) -> io::Result<()> {
    if torn.load(Ordering::Relaxed) {
        to.write_all(b"\n")?;
        torn.store(false, Ordering::Relaxed);
    }
    let mut rest = line;
    while !rest.is_empty() {
        let written = match to.write(rest) {
            Ok(0) => Err(io::Error::from(io::ErrorKind::WriteZero)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(0),
            other => other,
        };
        let count =
            written.inspect_err(|_| torn.store(rest.len() < line.len(), Ordering::Relaxed))?;
        rest = rest.get(count..).unwrap_or_default();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Has room for some bytes.
    struct Disk {
        room: usize,
        text: Vec<u8>,
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let count = bytes.len().min(self.room);
            if count == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.room -= count;
            self.text.extend_from_slice(&bytes[..count]);
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_after_a_torn_one_begins_at_the_left() {
        let torn = AtomicBool::new(false);
        let mut disk = Disk {
            room: 6,
            text: Vec::new(),
        };
        assert!(whole(&mut disk, b"one\n", &torn).is_ok());
        assert!(whole(&mut disk, b"two\n", &torn).is_err());
        assert!(whole(&mut disk, b"three\n", &torn).is_err());
        disk.room = 100;
        assert!(whole(&mut disk, b"four\n", &torn).is_ok());
        assert_eq!(disk.text, b"one\ntw\nfour\n");
    }
}
