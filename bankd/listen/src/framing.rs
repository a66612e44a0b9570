//! Where the requests of a connection begin and end, found beside the HTTP library. The library hides
//! what matters: a head with two lengths, one without a single Host, and a body that nobody has read. Pure: bytes in,
//! findings out. It decides nothing about a request; if it cannot follow the bytes, it stops.

use memchr::memchr;

/// Most bytes of a line of which the beginning is kept: enough for the fields that count.
const LINE_KEPT: usize = 128;

/// The place in the bytes of a connection.
#[derive(Debug)]
pub(super) struct Framing {
    state: State,
    /// The beginning of the line under way.
    line: Vec<u8>,
    /// The line under way is longer than what is kept of it.
    is_cut: bool,
    /// The last byte of the line under way: of the first line of a head, the last digit of the version.
    last: u8,
    head: Head,
}

/// The fields of a head that give the length of the body, and its hosts.
#[derive(Clone, Copy, Debug, Default)]
struct Head {
    /// A line was seen: the empty lines before it are none of the head.
    has_begun: bool,
    length: Option<u64>,
    is_chunked: bool,
    /// Its version is HTTP/1.1, which needs a Host; the library refuses what is neither this nor HTTP/1.0.
    is_new: bool,
    /// Fields with the name Host.
    hosts: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// In a head, or before one.
    Head,
    /// So many bytes to the end of the body.
    Body(u64),
    /// In the line with the size of a chunk.
    Size,
    /// So many bytes to the end of a chunk, its line end included.
    Chunk(u64),
    /// In the lines behind the last chunk.
    Trailer,
    /// These bytes are no HTTP that can be followed.
    Lost,
}

/// Why a head is refused that the library accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It has Content-Length and Transfer-Encoding.
    TwoLengths,
    /// It has no Host, or several (RFC 9112 3.2).
    Host,
}

/// A finding in some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// Nothing of note.
    Fine,
    /// A head to refuse, which ends at this byte.
    Faulty(Fault, usize),
}

impl Default for Framing {
    fn default() -> Self {
        Self {
            state: State::Head,
            line: Vec::new(),
            is_cut: false,
            last: 0,
            head: Head::default(),
        }
    }
}

impl Framing {
    /// Whether all that arrived belongs to whole requests.
    pub(super) fn is_at_rest(&self) -> bool {
        self.state == State::Head && !self.head.has_begun && self.line.is_empty()
    }

    /// Follows what arrived.
    pub(super) fn follow(&mut self, bytes: &[u8]) -> Seen {
        let mut rest = bytes;
        while !rest.is_empty() {
            rest = match self.state {
                State::Lost => return Seen::Fine,
                State::Body(left) => {
                    let (left, rest) = skip(rest, left);
                    self.state = if left == 0 {
                        State::Head
                    } else {
                        State::Body(left)
                    };
                    rest
                }
                State::Chunk(left) => {
                    let (left, rest) = skip(rest, left);
                    self.state = if left == 0 {
                        State::Size
                    } else {
                        State::Chunk(left)
                    };
                    rest
                }
                State::Head | State::Size | State::Trailer => {
                    let Some((line, rest)) = split_line(rest) else {
                        self.keep(rest);
                        return Seen::Fine;
                    };
                    if let Some(fault) = self.end_line(line) {
                        self.state = State::Lost;
                        let end = bytes.len().saturating_sub(rest.len());
                        return Seen::Faulty(fault, end.saturating_sub(1));
                    }
                    rest
                }
            };
        }
        Seen::Fine
    }

    /// Keeps the beginning of a line that has not ended.
    fn keep(&mut self, part: &[u8]) {
        self.note_last(part);
        let room = LINE_KEPT.saturating_sub(self.line.len());
        self.is_cut |= part.len() > room;
        self.line
            .extend_from_slice(part.get(..room).unwrap_or(part));
    }

    fn note_last(&mut self, part: &[u8]) {
        let mut bytes = part.iter().rev();
        self.last = *bytes.find(|byte| **byte != b'\r').unwrap_or(&self.last);
    }

    /// A line ends with this part: the fault of the head that it ends. Nearly every line arrives in one part, which is
    /// not copied.
    fn end_line(&mut self, part: &[u8]) -> Option<Fault> {
        if self.line.is_empty() {
            self.note_last(part);
            let kept = part.get(..LINE_KEPT).unwrap_or(part);
            return self.whole_line(kept, kept.len() < part.len());
        }
        self.keep(part);
        let mut line = std::mem::take(&mut self.line);
        let is_cut = std::mem::take(&mut self.is_cut);
        let fault = self.whole_line(&line, is_cut);
        // Its room serves the next line.
        line.clear();
        self.line = line;
        fault
    }

    fn whole_line(&mut self, line: &[u8], is_cut: bool) -> Option<Fault> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        match self.state {
            State::Head if line.is_empty() && !is_cut => return self.end_head(),
            State::Head if self.head.has_begun => self.field(line, is_cut),
            State::Head => {
                self.head.has_begun = true;
                self.head.is_new = self.last == b'1';
            }
            State::Size => self.state = size(line),
            State::Trailer if line.is_empty() && !is_cut => self.state = State::Head,
            _ => {}
        }
        None
    }

    fn field(&mut self, line: &[u8], is_cut: bool) {
        // Those that count begin so; the library refuses a name with anything before it.
        if !matches!(line.first(), Some(b'c' | b'C' | b't' | b'T' | b'h' | b'H')) {
            return;
        }
        let Some(colon) = memchr(b':', line) else {
            return;
        };
        let (name, value) = line.split_at_checked(colon).unwrap_or((line, &[]));
        let name = name.trim_ascii();
        let value = value.get(1..).unwrap_or_default().trim_ascii();
        if name.eq_ignore_ascii_case(b"transfer-encoding") {
            self.head.is_chunked = true;
        } else if name.eq_ignore_ascii_case(b"host") {
            self.head.hosts = self.head.hosts.saturating_add(1);
        } else if name.eq_ignore_ascii_case(b"content-length") {
            // The library refuses a length that is no number; the bytes behind it are not followed.
            let number = std::str::from_utf8(value).ok().filter(|_| !is_cut);
            self.head.length = Some(number.and_then(|n| n.parse().ok()).unwrap_or(u64::MAX));
        }
    }

    /// A head is whole: its fault.
    fn end_head(&mut self) -> Option<Fault> {
        let head = std::mem::take(&mut self.head);
        let has_host = head.hosts == 1 || (head.hosts == 0 && !head.is_new);
        self.state = match (head.length, head.is_chunked) {
            (Some(_), true) => return Some(Fault::TwoLengths),
            _ if !has_host => return Some(Fault::Host),
            (None, true) => State::Size,
            (Some(0) | None, false) => State::Head,
            (Some(length), false) => State::Body(length),
        };
        None
    }
}

/// Behind the line with the size of a chunk.
fn size(line: &[u8]) -> State {
    let digits = line.split(|byte| *byte == b';').next().unwrap_or_default();
    let digits = std::str::from_utf8(digits.trim_ascii()).unwrap_or_default();
    match u64::from_str_radix(digits, 16) {
        Ok(0) => State::Trailer,
        Ok(size) => State::Chunk(size.saturating_add(2)),
        Err(_) => State::Lost,
    }
}

/// A line without its end, and what is behind it.
fn split_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (line, rest) = bytes.split_at_checked(memchr(b'\n', bytes)?)?;
    Some((line, rest.get(1..).unwrap_or_default()))
}

/// Skips up to so many bytes: how many are left to skip, and what is behind them.
fn skip(bytes: &[u8], left: u64) -> (u64, &[u8]) {
    let there = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    if there <= left {
        return (left.saturating_sub(there), &[]);
    }
    let at = usize::try_from(left).unwrap_or(usize::MAX);
    (0, bytes.get(at..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHUNKED: &str = "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n\
        3;x=y\r\nabc\r\n0\r\nMore: z\r\n\r\n";
    const SIZED: &str = "\r\nPOST /b HTTP/1.1\r\nHOST: x\r\ncontent-length:5\r\n\r\na\nb\r\n";
    const BARE: &str = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

    /// The same however the bytes come.
    fn followed(text: &str) -> (Vec<Seen>, bool) {
        let mut all = Vec::new();
        for step in [1, 2, 7, text.len()] {
            let mut framing = Framing::default();
            let mut seen = Vec::new();
            let mut from = 0;
            for part in text.as_bytes().chunks(step) {
                if let Seen::Faulty(fault, at) = framing.follow(part) {
                    seen.push(Seen::Faulty(fault, from + at));
                }
                from += part.len();
            }
            all.push((seen, framing.is_at_rest()));
        }
        assert!(all.windows(2).all(|two| two[0] == two[1]), "{all:?}");
        all.remove(0)
    }

    #[test]
    fn whole_requests_leave_it_at_rest() {
        for text in [CHUNKED, SIZED, BARE] {
            assert_eq!(followed(text), (vec![], true), "{text}");
        }
        let all = [SIZED, CHUNKED, BARE, BARE, CHUNKED, SIZED].concat();
        assert_eq!(followed(&all), (vec![], true));
    }

    #[test]
    fn what_is_not_whole_does_not() {
        for text in [CHUNKED, SIZED, BARE] {
            let cut = &text[..text.len() - 1];
            assert_eq!(followed(cut), (vec![], false), "{cut}");
        }
        let endless = format!("{BARE}{}", "x".repeat(500));
        assert_eq!(followed(&endless), (vec![], false));
        assert_eq!(
            followed("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nnone\r\n"),
            (vec![], false)
        );
    }

    #[test]
    fn two_lengths_are_seen_in_either_order() {
        for fields in [
            "Content-Length: 3\r\nTransfer-Encoding: chunked",
            "transfer-encoding: chunked\r\nX-More: y\r\nCONTENT-LENGTH: 3",
            "Transfer-Encoding : identity\r\nContent-Length : x",
        ] {
            let head = format!("{BARE}{SIZED}POST / HTTP/1.1\r\n{fields}\r\n\r\n");
            let (seen, at_rest) = followed(&format!("{head}abc{BARE}"));
            assert_eq!(
                seen,
                [Seen::Faulty(Fault::TwoLengths, head.len() - 1)],
                "{fields}"
            );
            assert!(!at_rest);
        }
        let long = format!(
            "GET / HTTP/1.1\r\nX: {}\r\nHost: x\r\n\r\n",
            "Content-Length: 3 ".repeat(90)
        );
        assert_eq!(followed(&long), (vec![], true));
    }
    /// Whatever the length of the first line, in whose end the version is.
    #[test]
    fn a_head_has_one_host() {
        let long = "a".repeat(300);
        for (target, version, fields, is_fine) in [
            ("", "1.1", "Host: x\r\n", true),
            (&*long, "1.1", "X: 0\r\nhost:\r\n", true),
            ("", "1.0", "", true),
            (&*long, "1.0", "X: 1\r\n", true),
            ("", "1.1", "", false),
            (&*long, "1.1", "X: 0\r\nHosts: x\r\n", false),
            ("", "1.1", "Host: x\r\nHOST: x\r\n", false),
            ("", "1.0", "Host: x\r\nHost: y\r\n", false),
        ] {
            let head = format!("{BARE}GET /{target} HTTP/{version}\r\n{fields}\r\n");
            let fault = Seen::Faulty(Fault::Host, head.len() - 1);
            let expected = if is_fine { vec![] } else { vec![fault] };
            assert_eq!(followed(&head), (expected, is_fine), "{head}");
        }
    }
}
