//! The output of `sacct` on its way into a batch.
//!
//! `sacct` escapes nothing, and a user chooses the name of a job: it may contain the delimiter, and line feeds with
//! whole records behind them. `sacct` is therefore asked for a delimiter that nobody can know before the call. A line
//! without it continues the name before it. In the batch the delimiter is the one of the settings, so that a record has
//! the same text in each call.

use std::io::{self, Write};

/// Longest end of a piece that may be the beginning of a delimiter, in bytes.
const HELD_MAX: usize = 64 << 10;

/// Translates one output.
pub(super) struct Plain<W> {
    to: W,
    secret: Vec<u8>,
    delimiter: Vec<u8>,
    /// Bytes of the line that are not translated yet.
    held: Vec<u8>,
    /// Lines that have begun.
    lines: u64,
    /// Whether a line has begun and not ended, in the output and in the batch.
    is_inside: bool,
    is_open: bool,
}

impl<W: Write> Plain<W> {
    pub(super) fn new(to: W, secret: &str, delimiter: &str) -> Self {
        Self {
            to,
            secret: secret.as_bytes().to_vec(),
            delimiter: delimiter.as_bytes().to_vec(),
            held: Vec::new(),
            lines: 0,
            is_inside: false,
            is_open: false,
        }
    }

    /// Ends the last line.
    ///
    /// # Errors
    /// If the batch cannot be written.
    pub(super) fn end(mut self) -> io::Result<W> {
        self.pass(true)?;
        self.close()?;
        Ok(self.to)
    }

    fn close(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.is_open) {
            self.to.write_all(b"\n")?;
        }
        Ok(())
    }

    /// Takes a part of a line.
    fn take(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let room = HELD_MAX.saturating_sub(self.held.len()).max(1);
            let (part, rest) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
            self.held.extend_from_slice(part);
            bytes = rest;
            if self.held.len() >= HELD_MAX {
                self.pass(false)?;
            }
        }
        Ok(())
    }

    /// Translates what is held; before the end of a line, all but what may be the beginning of a delimiter.
    fn pass(&mut self, is_end: bool) -> io::Result<()> {
        let held = std::mem::take(&mut self.held);
        if !self.is_inside && !held.is_empty() {
            self.begin(&held)?;
        }
        let longest = self.secret.len().max(self.delimiter.len());
        let mut text = Vec::with_capacity(held.len());
        let mut rest = held.as_slice();
        while let Some((first, behind)) = rest.split_first() {
            if !is_end && rest.len() < longest {
                break;
            }
            if let Some(behind) = rest.strip_prefix(self.secret.as_slice()) {
                text.extend_from_slice(&self.delimiter);
                rest = behind;
            } else if let Some(behind) = rest.strip_prefix(self.delimiter.as_slice()) {
                text.push(b' ');
                rest = behind;
            } else {
                text.push(*first);
                rest = behind;
            }
        }
        self.held = rest.to_vec();
        self.to.write_all(&text)
    }

    /// Begins a line: a new one in the batch, or the rest of a name. The first line has the columns, and no name.
    fn begin(&mut self, line: &[u8]) -> io::Result<()> {
        let mut windows = line.windows(self.secret.len());
        let is_record = windows.any(|part| part == self.secret);
        self.lines = self.lines.saturating_add(1);
        self.is_inside = true;
        if is_record || self.lines <= 2 {
            self.close()?;
        } else {
            self.to.write_all(b" ")?;
        }
        self.is_open = true;
        Ok(())
    }
}

impl<W: Write> Write for Plain<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (line, behind) = rest.split_at_checked(end).unwrap_or((rest, &[]));
            self.take(line)?;
            self.pass(true)?;
            self.is_inside = false;
            rest = behind.get(1..).unwrap_or_default();
        }
        self.take(rest)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(output: &[u8], piece: usize) -> String {
        let mut plain = Plain::new(Vec::new(), "<7f>", "|");
        for part in output.chunks(piece) {
            plain.write_all(part).unwrap();
        }
        String::from_utf8(plain.end().unwrap()).unwrap()
    }

    #[test]
    fn a_line_without_the_delimiter_is_part_of_a_name() {
        let long = "y".repeat(3 * HELD_MAX);
        for (output, expected) in [
            ("A<7f>B\n1<7f>x\n2<7f>y\n", "A|B\n1|x\n2|y\n".to_owned()),
            (
                "A<7f>B\n1<7f>x\n\n2|y\nz\n3<7f>\n",
                "A|B\n1|x 2 y z\n3|\n".to_owned(),
            ),
            (
                "A<7f>B\n1<7f>a|b<7\n2<7f>c",
                "A|B\n1|a b<7\n2|c\n".to_owned(),
            ),
            (
                "A<7f>B\nno record\n1<7f>x\n",
                "A|B\nno record\n1|x\n".to_owned(),
            ),
            ("A<7f>B\n", "A|B\n".to_owned()),
            ("", String::new()),
            (
                &format!("A<7f>B\n1<7f>{long}<7f>\n{long}\n2<7f>x\n"),
                format!("A|B\n1|{long}| {long}\n2|x\n"),
            ),
        ] {
            for piece in [1, 2, 3, 1_000_000] {
                let found = translated(output.as_bytes(), piece);
                assert_eq!(found, expected, "{piece}: {output:.60}");
            }
        }
    }
}
