//! Lines of a file, however long it is, with their numbers.

use std::borrow::Cow;
use std::io::{self, BufRead, Read};

use super::Sink;
use super::job::{Found, Record};

/// Maximum length of a line, in bytes; longer lines count as unreadable.
pub const LINE_MAX: usize = 1 << 20;

/// The largest document that is read whole, in bytes: formats that are one JSON value.
pub const DOCUMENT_MAX: u64 = 256 << 20;

/// The byte order mark of UTF-8, which some programs write at the beginning of a text. A file that was put together from
/// such texts has one before the first line of each.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The lines of an input, without byte order marks before them. A line ends with a line feed, a carriage
/// return before it belongs to the end; the last line may lack one. NULs before a line are no part of it: a log that
/// was emptied in place has a hole up to the place of its next record.
pub struct Lines<'a> {
    input: &'a mut dyn BufRead,
    number: u64,
    line: Vec<u8>,
}

/// One line, without its end.
#[derive(Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Counted from 1.
    pub number: u64,
    /// Its bytes; of a line that is too long only the beginning.
    pub bytes: &'a [u8],
    /// Longer than [`LINE_MAX`].
    pub is_cut: bool,
}

impl Line<'_> {
    /// The reason why a line that is too long is unreadable: its beginning is not the record.
    pub fn too_long(&self) -> Option<String> {
        self.is_cut
            .then(|| format!("a line of more than {LINE_MAX} bytes"))
    }

    /// The line as text: invalid UTF-8 becomes U+FFFD (`collectors.md` 0.3).
    pub fn text(&self) -> Cow<'_, str> {
        // The strict check is much faster for valid text.
        match std::str::from_utf8(self.bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => String::from_utf8_lossy(self.bytes),
        }
    }

    /// Nothing but white space.
    pub fn is_blank(&self) -> bool {
        self.bytes.iter().all(u8::is_ascii_whitespace)
    }
}

impl<'a> Lines<'a> {
    /// The lines of an input.
    pub fn new(input: &'a mut dyn BufRead) -> Self {
        Self {
            input,
            number: 0,
            line: Vec::with_capacity(512),
        }
    }

    /// The next line; `None` at the end.
    ///
    /// # Errors
    /// If the input cannot be read.
    pub fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line.clear();
        let has_hole = skip_nuls(self.input)?;
        let limit = u64::try_from(LINE_MAX).unwrap_or(u64::MAX);
        let read = (&mut *self.input)
            .take(limit.saturating_add(1))
            .read_until(b'\n', &mut self.line)?;
        if read == 0 && !has_hole {
            return Ok(None);
        }
        self.number = self.number.saturating_add(1);
        let is_cut = self.line.last() != Some(&b'\n') && read > LINE_MAX;
        if is_cut {
            skip_line(self.input)?;
            self.line.truncate(LINE_MAX);
        }
        let mut bytes = self.line.as_slice();
        bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        Ok(Some(Line {
            number: self.number,
            bytes,
            is_cut,
        }))
    }
}

/// Reads the NULs before a line, however many there are; true if there were any.
fn skip_nuls(input: &mut dyn BufRead) -> io::Result<bool> {
    let mut were_any = false;
    loop {
        let buffer = input.fill_buf()?;
        let nuls = buffer.iter().position(|b| *b != 0).unwrap_or(buffer.len());
        if nuls == 0 {
            return Ok(were_any);
        }
        were_any = true;
        input.consume(nuls);
    }
}

/// Reads to the end of a line that is too long to keep.
fn skip_line(input: &mut dyn BufRead) -> io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok(());
        }
        let end = buffer.iter().position(|b| *b == b'\n');
        let used = end.map_or(buffer.len(), |at| at.saturating_add(1));
        input.consume(used);
        if end.is_some() {
            return Ok(());
        }
    }
}

/// Gives a record for every line that is not blank and that `found` makes one of. A line that is too long is
/// unreadable.
pub(crate) fn each_line(
    input: &mut dyn BufRead,
    sink: &mut Sink<'_>,
    mut found: impl FnMut(&Line<'_>) -> Option<Found>,
) -> io::Result<()> {
    let mut lines = Lines::new(input);
    while let Some(line) = lines.next_line()? {
        if !line.is_blank()
            && let Some(found) = found(&line)
        {
            let found = line.too_long().map_or(found, Found::Malformed);
            sink(Record::new(line.number, line.bytes, found))?;
        }
    }
    Ok(())
}

/// A whole document, without the byte order mark before it.
///
/// # Errors
/// If it cannot be read, or is larger than [`DOCUMENT_MAX`].
pub fn document(input: &mut dyn BufRead) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = input
        .take(DOCUMENT_MAX.saturating_add(1))
        .read_to_end(&mut bytes)?;
    if u64::try_from(read).unwrap_or(u64::MAX) > DOCUMENT_MAX {
        return Err(super::not_of_the_format(format!(
            "the document is larger than {DOCUMENT_MAX} bytes"
        )));
    }
    if bytes.starts_with(BYTE_ORDER_MARK) {
        bytes.drain(..BYTE_ORDER_MARK.len());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Vec<(u64, String, bool)> {
        let mut input = bytes;
        let mut lines = Lines::new(&mut input);
        let mut out = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            let text: String = line.text().chars().take(8).collect();
            out.push((line.number, text, line.is_cut));
        }
        out
    }

    #[test]
    fn lines_end_in_every_way() {
        let plain = |number, text: &str| (number, text.to_owned(), false);
        assert_eq!(all(b""), []);
        assert_eq!(
            all(b"a\r\n\nb"),
            [plain(1, "a"), plain(2, ""), plain(3, "b")]
        );
        assert_eq!(all(b"\xff\n"), [plain(1, "\u{fffd}")]);
    }

    #[test]
    fn nuls_before_a_line_are_no_part_of_it() {
        let plain = |number, text: &str| (number, text.to_owned(), false);
        let hole = vec![0; LINE_MAX + 7];
        let text = [&b"a\n"[..], &hole, b"b\0c\n\0\0\nd\n\0"].concat();
        let lines = ["a", "b\0c", "", "d", ""];
        let expected = lines.iter().zip(1..).map(|(text, n)| plain(n, text));
        assert_eq!(all(&text), expected.collect::<Vec<_>>());
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_text() {
        let plain = |number, text: &str| (number, text.to_owned(), false);
        let text = b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n";
        assert_eq!(all(text), [plain(1, "a"), plain(2, "b")]);
        assert_eq!(all(b"\xef\xbb\xbf"), [plain(1, "")]);
        // A pipe gives its bytes as they come.
        let mut input = io::BufReader::with_capacity(1, &text[..]);
        let mut lines = Lines::new(&mut input);
        assert_eq!(lines.next_line().unwrap().unwrap().bytes, b"a");
        for (bytes, read) in [
            (&b"\xef\xbb\xbf{}"[..], &b"{}"[..]),
            (b"\xef\xbb", b"\xef\xbb"),
        ] {
            let mut input = bytes;
            assert_eq!(document(&mut input).unwrap(), read);
        }
    }

    /// The beginning of a line is not the record: behind its end there may be anything.
    #[test]
    fn a_line_that_is_too_long_is_unreadable_in_every_format_of_lines() {
        let long = "x".repeat(LINE_MAX);
        let time = "10/01/2026 00:00:00";
        for (format, line) in [
            (
                "pbs",
                format!("{time};E;1.s;user=amy start=1 exec_host={long} end=61"),
            ),
            (
                "pbs",
                format!("{time};E;1.s;user=amy start=1 end=61 exec_host={long}"),
            ),
            ("sge", format!("all.q:node1:staff:amy:{long}")),
            ("sacct-keyvalue", format!("JobID=\"7\" JobName=\"{long}\"")),
            ("lsf", format!("\"JOB_FINISH\" \"{long}\"")),
            ("htcondor-apel", format!("a|{long}")),
            ("swf", format!("1 2 3 {long}")),
            ("maui", format!("1 {long}")),
            ("sacct", format!("1|2|{long}")),
        ] {
            let format = crate::formats::named(format).unwrap();
            let options = crate::Options {
                columns: match format.name {
                    "sacct" => ["JobID", "State", "JobName"]
                        .map(ToOwned::to_owned)
                        .to_vec(),
                    _ => Vec::new(),
                },
                ..crate::Options::default()
            };
            let mut reader = (format.reader)(&options).unwrap();
            let mut found = Vec::new();
            let mut sink = |record: Record| {
                found.push((record.line, record.found));
                Ok(())
            };
            let read = reader.file("f", &mut line.as_bytes(), &mut sink);
            read.unwrap();
            let why = "a line of more than 1048576 bytes".to_owned();
            assert_eq!(found, [(1, Found::Malformed(why))], "{}", format.name);
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_one_line() {
        let mut bytes = vec![b'x'; LINE_MAX * 2 + 5];
        bytes.extend_from_slice(b"\nnext\n");
        let cut = (1, "xxxxxxxx".to_owned(), true);
        assert_eq!(all(&bytes), [cut, (2, "next".to_owned(), false)]);
    }
}
