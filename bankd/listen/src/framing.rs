//! Where the requests of a connection begin and end, found beside the HTTP library. The library hides two
//! things that matter: a head with two lengths, and a body that nobody has read. Pure: bytes in, findings
//! out. It decides nothing about a request; if it cannot follow the bytes, it stops.

use memchr::memchr;

/// Most bytes of a line of which the beginning is kept: enough for the two fields that count.
const LINE_KEPT: usize = 128;

/// The place in the bytes of a connection.
#[derive(Debug)]
pub(super) struct Framing {
    state: State,
    /// The beginning of the line under way.
    line: Vec<u8>,
    /// The line under way is longer than what is kept of it.
    is_cut: bool,
    head: Head,
}

/// The fields of a head that give the length of the body.
#[derive(Clone, Copy, Debug, Default)]
struct Head {
    /// A line was seen: the empty lines before it are none of the head.
    has_begun: bool,
    length: Option<u64>,
    is_chunked: bool,
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

/// A finding in some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// Nothing of note.
    Fine,
    /// A head with two lengths, Content-Length and Transfer-Encoding, which ends at this byte.
    TwoLengths(usize),
}

impl Default for Framing {
    fn default() -> Self {
        Self {
            state: State::Head,
            line: Vec::new(),
            is_cut: false,
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
                    if self.end_line(line) {
                        self.state = State::Lost;
                        let end = bytes.len().saturating_sub(rest.len());
                        return Seen::TwoLengths(end.saturating_sub(1));
                    }
                    rest
                }
            };
        }
        Seen::Fine
    }

    /// Keeps the beginning of a line that has not ended.
    fn keep(&mut self, part: &[u8]) {
        let room = LINE_KEPT.saturating_sub(self.line.len());
        self.is_cut |= part.len() > room;
        self.line
            .extend_from_slice(part.get(..room).unwrap_or(part));
    }

    /// A line ends with this part: true where the line ends a head with two lengths. Nearly every line
    /// arrives in one part, which is not copied.
    fn end_line(&mut self, part: &[u8]) -> bool {
        if self.line.is_empty() {
            let kept = part.get(..LINE_KEPT).unwrap_or(part);
            return self.whole_line(kept, kept.len() < part.len());
        }
        self.keep(part);
        let mut line = std::mem::take(&mut self.line);
        let is_cut = std::mem::take(&mut self.is_cut);
        let is_end = self.whole_line(&line, is_cut);
        // Its room serves the next line.
        line.clear();
        self.line = line;
        is_end
    }

    fn whole_line(&mut self, line: &[u8], is_cut: bool) -> bool {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        match self.state {
            State::Head if line.is_empty() && !is_cut => return self.end_head(),
            State::Head if self.head.has_begun => self.field(line, is_cut),
            State::Head => self.head.has_begun = true,
            State::Size => self.state = size(line),
            State::Trailer if line.is_empty() && !is_cut => self.state = State::Head,
            _ => {}
        }
        false
    }

    fn field(&mut self, line: &[u8], is_cut: bool) {
        // The two that count begin so; the library refuses a name with anything before it.
        if !matches!(line.first(), Some(b'c' | b'C' | b't' | b'T')) {
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
        } else if name.eq_ignore_ascii_case(b"content-length") {
            // The library refuses a length that is no number; the bytes behind it are not followed.
            let number = std::str::from_utf8(value).ok().filter(|_| !is_cut);
            self.head.length = Some(number.and_then(|n| n.parse().ok()).unwrap_or(u64::MAX));
        }
    }

    /// A head is whole: true where it has two lengths.
    fn end_head(&mut self) -> bool {
        let head = std::mem::take(&mut self.head);
        self.state = match (head.length, head.is_chunked) {
            (Some(_), true) => return true,
            (None, true) => State::Size,
            (Some(0) | None, false) => State::Head,
            (Some(length), false) => State::Body(length),
        };
        false
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
    const SIZED: &str = "\r\nPOST /b HTTP/1.1\r\ncontent-length:5\r\n\r\na\nb\r\n";
    const BARE: &str = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

    /// The same however the bytes come.
    fn followed(text: &str) -> (Vec<Seen>, bool) {
        let mut all = Vec::new();
        for step in [1, 2, 7, text.len()] {
            let mut framing = Framing::default();
            let mut seen = Vec::new();
            let mut from = 0;
            for part in text.as_bytes().chunks(step) {
                if let Seen::TwoLengths(at) = framing.follow(part) {
                    seen.push(Seen::TwoLengths(from + at));
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
            followed("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nnone\r\n"),
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
            assert_eq!(seen, [Seen::TwoLengths(head.len() - 1)], "{fields}");
            assert!(!at_rest);
        }
        let long = format!(
            "GET / HTTP/1.1\r\nX: {}\r\n\r\n",
            "Content-Length: 3 ".repeat(90)
        );
        assert_eq!(followed(&long), (vec![], true));
    }
}
