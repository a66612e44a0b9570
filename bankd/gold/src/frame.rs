//! Finds the message in the bytes of a connection (`gold-wire.md` 1.2): five dialects of HTTP, none of them
//! valid HTTP. Pure: bytes in, a state out.
//!
//! An announced length reserves no memory. Stored bytes never exceed [`MOST_HEAD`] and [`MOST_PAYLOAD`].

/// Most bytes before the blank line.
pub(super) const MOST_HEAD: usize = 8 << 10;
/// Most bytes of a message.
pub(super) const MOST_PAYLOAD: usize = 64 << 10;
/// Most bytes of the line with a chunk's size.
const MOST_LINE: usize = 256;
/// End of a head.
const BLANK: &[u8] = b"\r\n\r\n";
/// Begin of every request.
const BEGIN: &[u8] = b"POST /SSSRMAP";
/// End of a message in all dialects, wherever its chunks end.
const END: &[u8] = b"</Envelope>";

/// State of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The head is incomplete.
    Head,
    /// The message is incomplete.
    Payload,
    /// The message is there.
    Whole,
}

/// Reasons for invalid bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Fault {
    /// No blank line in time.
    #[error("the head is longer than 8 KiB")]
    LongHead,
    /// Another request than the protocol's.
    #[error("not a POST of /SSSRMAP")]
    NotOurs,
    /// Neither `chunked` nor a length.
    #[error("neither Transfer-Encoding chunked nor Content-Length")]
    NoLength,
    /// `chunked` and a length.
    #[error("Transfer-Encoding and Content-Length")]
    TwoLengths,
    /// A length that is none.
    #[error("a length that is not a number")]
    BadLength,
    /// More than [`MOST_PAYLOAD`].
    #[error("the message is longer than 64 KiB")]
    LongPayload,
}

/// A message while it arrives.
#[derive(Debug, Default)]
pub(super) struct Frame {
    state: State,
    /// The head, then the line under way.
    line: Vec<u8>,
    payload: Vec<u8>,
    /// So much of the message was looked through for its end.
    searched: usize,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    #[default]
    Head,
    /// The line with the next chunk's size.
    Size,
    /// So many bytes to the end of the chunk.
    Chunk(usize),
    /// So many bytes to the end of the message.
    Rest(usize),
    Whole,
}

impl Frame {
    /// Adds received bytes. Bytes after the message are dropped.
    pub(super) fn take(&mut self, mut bytes: &[u8]) -> Result<Step, Fault> {
        loop {
            bytes = match self.state {
                State::Whole => return Ok(Step::Whole),
                State::Head if bytes.is_empty() => return Ok(Step::Head),
                _ if bytes.is_empty() => return Ok(Step::Payload),
                State::Head => self.head(bytes)?,
                State::Size => self.size(bytes)?,
                State::Chunk(left) => {
                    let (left, rest) = self.data(bytes, left);
                    self.state = match left {
                        // The end of the message counts, not that of its chunks: half of the
                        // clients never send the latter, and would wait for an answer.
                        0 if self.has_ended() => State::Whole,
                        0 => State::Size,
                        left => State::Chunk(left),
                    };
                    rest
                }
                State::Rest(left) => {
                    let (left, rest) = self.data(bytes, left);
                    self.state = rest_of(left);
                    rest
                }
            };
        }
    }

    /// Whether the message is complete. Examines each byte once, however small the chunks.
    fn has_ended(&mut self) -> bool {
        let from = self.searched.saturating_sub(END.len());
        self.searched = self.payload.len();
        find(split(&self.payload, from).1, END).is_some()
    }

    /// The message, once it is whole.
    pub(super) fn into_payload(self) -> Vec<u8> {
        self.payload
    }

    /// The memory that it takes, in bytes.
    pub(super) fn memory(&self) -> usize {
        self.line.capacity().saturating_add(self.payload.capacity())
    }

    fn head<'a>(&mut self, bytes: &'a [u8]) -> Result<&'a [u8], Fault> {
        let before = self.line.len();
        let (part, later) = split(bytes, MOST_HEAD.saturating_sub(before));
        self.line.extend_from_slice(part);
        let (_, tail) = split(&self.line, before.saturating_sub(BLANK.len()));
        if let Some(at) = find(tail, BLANK) {
            let end = before.saturating_sub(BLANK.len()) + at + BLANK.len();
            self.line.truncate(end);
            self.state = plan(&self.line)?;
            self.line = Vec::new();
            return Ok(split(bytes, end.saturating_sub(before)).1);
        }
        let known = self.line.len().min(BEGIN.len());
        if split(&self.line, known).0 != split(BEGIN, known).0 {
            return Err(Fault::NotOurs);
        }
        if self.line.len() >= MOST_HEAD {
            return Err(Fault::LongHead);
        }
        Ok(later)
    }

    fn size<'a>(&mut self, bytes: &'a [u8]) -> Result<&'a [u8], Fault> {
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let (part, later) = split(bytes, end.map_or(bytes.len(), |end| end + 1));
        if self.line.len() + part.len() > MOST_LINE {
            return Err(Fault::BadLength);
        }
        self.line.extend_from_slice(part);
        if end.is_none() {
            return Ok(later);
        }
        let line = std::mem::take(&mut self.line);
        let digits = line.split(|byte| *byte == b';').next().unwrap_or_default();
        let digits = digits.trim_ascii();
        if line.trim_ascii().is_empty() {
            // The line feed that ends the chunk before.
            return Ok(later);
        }
        let whole = self.payload.len().saturating_add(number(digits, 16)?);
        if whole > MOST_PAYLOAD {
            return Err(Fault::LongPayload);
        }
        self.state = match whole - self.payload.len() {
            0 => State::Whole,
            left => State::Chunk(left),
        };
        Ok(later)
    }

    fn data<'a>(&mut self, bytes: &'a [u8], left: usize) -> (usize, &'a [u8]) {
        let (part, later) = split(bytes, left);
        self.payload.extend_from_slice(part);
        (left - part.len(), later)
    }
}

/// The end rule of the message after a head.
fn plan(head: &[u8]) -> Result<State, Fault> {
    if !head.starts_with(BEGIN) {
        return Err(Fault::NotOurs);
    }
    let head = String::from_utf8_lossy(head);
    let (mut length, mut is_chunked) = (None, false);
    for line in head.lines().skip(1) {
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        let name = name.trim();
        if name.eq_ignore_ascii_case("transfer-encoding")
            && value.to_ascii_lowercase().contains("chunked")
        {
            is_chunked = true;
        }
        if name.eq_ignore_ascii_case("content-length") {
            length = Some(number(value.trim().as_bytes(), 10)?);
        }
    }
    match length {
        Some(_) if is_chunked => Err(Fault::TwoLengths),
        None if is_chunked => Ok(State::Size),
        None => Err(Fault::NoLength),
        Some(length) if length > MOST_PAYLOAD => Err(Fault::LongPayload),
        Some(length) => Ok(rest_of(length)),
    }
}

fn rest_of(left: usize) -> State {
    match left {
        0 => State::Whole,
        left => State::Rest(left),
    }
}

/// A number without sign; one beyond all bounds is as long as can be.
fn number(digits: &[u8], radix: u32) -> Result<usize, Fault> {
    let is_digit = |byte: &u8| char::from(*byte).is_digit(radix);
    if digits.is_empty() || !digits.iter().all(is_digit) {
        return Err(Fault::BadLength);
    }
    let text = std::str::from_utf8(digits).map_err(|_| Fault::BadLength)?;
    Ok(usize::from_str_radix(text, radix).unwrap_or(usize::MAX))
}

/// Cuts after so many bytes, or after the last.
fn split(bytes: &[u8], at: usize) -> (&[u8], &[u8]) {
    bytes.split_at_checked(at).unwrap_or((bytes, &[]))
}

/// The position of the first occurrence of some bytes in others.
pub(super) fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|seen| seen == wanted)
}

#[cfg(test)]
mod tests;
