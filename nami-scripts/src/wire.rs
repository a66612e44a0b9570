//! One HTTP/1.1 request over a Unix or TCP socket, by hand: one connection, one request, one
//! answer, all within a deadline. No redirects, no reuse, no compression.
//!
//! Answers are only framed bytes; [`crate::client`] decides whether to trust them.

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs as _};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use crate::clock::Deadline;
use crate::settings::Server;

/// Largest head of an answer, in bytes.
const MAX_HEAD: usize = 16 * 1024;
/// Largest body of an answer, in bytes.
const MAX_BODY: usize = 1024 * 1024;
/// Largest framing around the chunks of a body, in bytes.
const MAX_CHUNK_FRAMES: usize = 64 * 1024;

/// Header fields: names in lower case, values trimmed.
type Headers = Vec<(String, Vec<u8>)>;

/// An answer as received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Headers,
    pub(crate) body: Vec<u8>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WireError {
    /// No connection; the document was not sent.
    Connect(String),
    /// The deadline passed first.
    TimedOut,
    /// The connection ended, or the answer is not HTTP: the document may have been accepted.
    Broken(&'static str),
}

/// Both kinds of socket.
enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Stream {
    fn set_timeouts(&self, time: Duration) -> std::io::Result<()> {
        match self {
            Self::Unix(stream) => {
                stream.set_read_timeout(Some(time))?;
                stream.set_write_timeout(Some(time))
            }
            Self::Tcp(stream) => {
                stream.set_read_timeout(Some(time))?;
                stream.set_write_timeout(Some(time))
            }
        }
    }
}

/// A socket on which every read and write ends at the deadline at the latest.
struct Timed {
    stream: Stream,
    deadline: Deadline,
}

impl Timed {
    fn arm(&self) -> std::io::Result<()> {
        let left = self.deadline.remaining().ok_or(ErrorKind::TimedOut)?;
        self.stream.set_timeouts(left)
    }
}

impl Read for Timed {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.arm()?;
        match &mut self.stream {
            Stream::Unix(stream) => stream.read(buffer),
            Stream::Tcp(stream) => stream.read(buffer),
        }
    }
}

impl Write for Timed {
    fn write(&mut self, buffer: &[u8]) -> std::io::Result<usize> {
        self.arm()?;
        match &mut self.stream {
            Stream::Unix(stream) => stream.write(buffer),
            Stream::Tcp(stream) => stream.write(buffer),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Sends `head` (request line and header fields with the empty line) and `body`; reads the answer. The
/// connection must be there by `connect_by`.
pub(crate) fn exchange(
    server: &Server,
    head: &str,
    body: &[u8],
    connect_by: Deadline,
    deadline: Deadline,
) -> Result<Answer, WireError> {
    let stream = connect(server, connect_by)?;
    let mut timed = Timed { stream, deadline };
    let mut request = Vec::with_capacity(head.len() + body.len());
    request.extend_from_slice(head.as_bytes());
    request.extend_from_slice(body);
    let sent = timed.write_all(&request);
    match (read_answer(&mut timed), sent) {
        // A server may refuse and close before it has read everything; its answer counts.
        (Ok(answer), _) => Ok(answer),
        (Err(_), Err(error)) => Err(broken(&error)),
        (Err(error), Ok(())) => Err(error),
    }
}

fn broken(error: &std::io::Error) -> WireError {
    match error.kind() {
        ErrorKind::TimedOut | ErrorKind::WouldBlock => WireError::TimedOut,
        _ => WireError::Broken("the connection broke off"),
    }
}

/// Connects within the deadline. Only a numeric address can be given one directly. A name lookup,
/// and a Unix socket with a full queue, can hang, so they run on a detached thread.
fn connect(server: &Server, deadline: Deadline) -> Result<Stream, WireError> {
    let left = deadline.remaining().ok_or(WireError::TimedOut)?;
    if let Server::Tcp { host, port } = server
        && let Ok(address) = host.parse::<IpAddr>()
    {
        return connected(connect_tcp(&[SocketAddr::new(address, *port)], deadline));
    }
    let (done, result) = sync_channel(1);
    let server = server.clone();
    let work = move || {
        let stream = match &server {
            Server::Unix(path) => UnixStream::connect(path).map(Stream::Unix),
            Server::Tcp { host, port } => (host.as_str(), *port)
                .to_socket_addrs()
                .map_err(|_| std::io::Error::other(format!("no address of host {host}")))
                .and_then(|found| connect_tcp(&found.collect::<Vec<_>>(), deadline)),
        };
        // After the deadline no receiver is left; then the connection is dropped here.
        let _ = done.send(stream);
    };
    std::thread::Builder::new()
        .spawn(work)
        .map_err(|error| WireError::Connect(error.to_string()))?;
    result
        .recv_timeout(left)
        .map_or(Err(WireError::TimedOut), connected)
}

fn connected(result: std::io::Result<Stream>) -> Result<Stream, WireError> {
    result.map_err(|error| match error.kind() {
        ErrorKind::TimedOut => WireError::TimedOut,
        ErrorKind::NotFound => WireError::Connect("no process listens there".to_owned()),
        ErrorKind::Other => WireError::Connect(error.to_string()),
        kind => WireError::Connect(kind.to_string()),
    })
}

fn connect_tcp(addresses: &[SocketAddr], deadline: Deadline) -> std::io::Result<Stream> {
    let mut last = std::io::Error::from(ErrorKind::NotFound);
    for address in addresses {
        let left = deadline.remaining().ok_or(ErrorKind::TimedOut)?;
        match TcpStream::connect_timeout(address, left) {
            Ok(stream) => {
                // One small write: waiting for more would only cost time. Refusal is harmless.
                let _ = stream.set_nodelay(true);
                return Ok(Stream::Tcp(stream));
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Reads one answer and checks its frame.
fn read_answer(from: &mut impl Read) -> Result<Answer, WireError> {
    let mut received = Vec::with_capacity(2048);
    let head_end = loop {
        if let Some(end) = find(&received, b"\r\n\r\n") {
            break end;
        }
        if received.len() > MAX_HEAD {
            return Err(WireError::Broken("the answer's head is too long"));
        }
        if !read_more(from, &mut received)? {
            return Err(WireError::Broken("the connection closed before an answer"));
        }
    };
    let mut rest = received.split_off(head_end);
    if rest.len() < 4 || head_end > MAX_HEAD {
        return Err(WireError::Broken("the answer's head is too long"));
    }
    let mut body = rest.split_off(4);
    let (status, headers) =
        parse_head(&received).ok_or(WireError::Broken("the answer is not HTTP"))?;
    let value = |name: &str| {
        headers
            .iter()
            .find(|(header, _)| header == name)
            .map(|(_, value)| value.as_slice())
    };
    if matches!(status, 204 | 304) {
        body.clear();
    } else if let Some(coding) = value("transfer-encoding") {
        if !coding.eq_ignore_ascii_case(b"chunked") {
            return Err(WireError::Broken("the answer's coding is unknown"));
        }
        read_to_end(from, &mut body, MAX_BODY + MAX_CHUNK_FRAMES)?;
        body = unchunk(&body).ok_or(WireError::Broken("the answer is cut off"))?;
    } else if let Some(length) = value("content-length") {
        let length = std::str::from_utf8(length)
            .ok()
            .and_then(|text| text.parse::<usize>().ok())
            .filter(|length| *length <= MAX_BODY)
            .ok_or(WireError::Broken("the answer is too long"))?;
        while body.len() < length {
            if !read_more(from, &mut body)? {
                return Err(WireError::Broken("the answer is cut off"));
            }
        }
        body.truncate(length);
    } else {
        read_to_end(from, &mut body, MAX_BODY)?;
    }
    Ok(Answer {
        status,
        headers,
        body,
    })
}

/// Appends the next data; false at the end.
fn read_more(from: &mut impl Read, into: &mut Vec<u8>) -> Result<bool, WireError> {
    let mut buffer = [0; 8192];
    loop {
        match from.read(&mut buffer) {
            Ok(count) => {
                into.extend_from_slice(buffer.get(..count).unwrap_or_default());
                return Ok(count > 0);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(broken(&error)),
        }
    }
}

fn read_to_end(from: &mut impl Read, into: &mut Vec<u8>, most: usize) -> Result<(), WireError> {
    while read_more(from, into)? {
        if into.len() > most {
            return Err(WireError::Broken("the answer is too long"));
        }
    }
    Ok(())
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes
        .windows(wanted.len())
        .position(|window| window == wanted)
}

/// Status and header fields of a head without its empty line.
fn parse_head(head: &[u8]) -> Option<(u16, Headers)> {
    let mut lines = head
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii_end);
    let status_line = std::str::from_utf8(lines.next()?).ok()?;
    let rest = status_line
        .strip_prefix("HTTP/1.")?
        .get(1..)?
        .strip_prefix(' ')?;
    let digits = rest.split(' ').next().filter(|digits| digits.len() == 3)?;
    let status = digits
        .parse()
        .ok()
        .filter(|status| (200..600).contains(status))?;
    let mut headers = Vec::with_capacity(12);
    for line in lines {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let name = std::str::from_utf8(line.get(..colon)?).ok()?;
        if name.is_empty() || name.bytes().any(|byte| !byte.is_ascii_graphic()) {
            return None;
        }
        let value = line.get(colon + 1..)?.trim_ascii();
        headers.push((name.to_ascii_lowercase(), value.to_vec()));
    }
    Some((status, headers))
}

/// The content of a chunked body, whose last chunk must be present.
fn unchunk(mut bytes: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::with_capacity(bytes.len());
    loop {
        let line_end = find(bytes, b"\r\n")?;
        let line = std::str::from_utf8(bytes.get(..line_end)?).ok()?;
        let digits = line.split(';').next()?.trim();
        let length = usize::from_str_radix(digits, 16)
            .ok()
            .filter(|length| *length <= MAX_BODY)?;
        if length == 0 {
            return (body.len() <= MAX_BODY).then_some(body);
        }
        let start = line_end + 2;
        body.extend_from_slice(bytes.get(start..start + length)?);
        bytes = bytes.get(start + length..)?.strip_prefix(b"\r\n")?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives its bytes one at a time, as a slow network might.
    struct Dribble<'a>(&'a [u8]);

    impl Read for Dribble<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let Some((first, rest)) = self.0.split_first() else {
                return Ok(0);
            };
            buffer[0] = *first;
            self.0 = rest;
            Ok(1)
        }
    }

    #[test]
    fn answers() {
        for (text, status, body) in [
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok \nrest",
                200,
                "ok ",
            ),
            ("HTTP/1.1 402 \r\nX: y\r\n\r\nto the end", 402, "to the end"),
            ("HTTP/1.0 204 No Content\r\n\r\nignored", 204, ""),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x\r\nok \r\nA\r\n0123456789\r\n0\r\n\r\n",
                200,
                "ok 0123456789",
            ),
        ] {
            let answer = read_answer(&mut Dribble(text.as_bytes())).unwrap();
            assert_eq!(
                (answer.status, answer.body.as_slice()),
                (status, body.as_bytes()),
                "{text}"
            );
        }
        let answer = read_answer(&mut Dribble(b"HTTP/1.1 200 OK\r\nA-B:  c d \r\n\r\n")).unwrap();
        assert_eq!(answer.headers, [("a-b".to_owned(), b"c d".to_vec())]);
    }

    #[test]
    fn what_is_no_whole_answer() {
        let long = format!("HTTP/1.1 200 OK\r\nX: {}", "y".repeat(MAX_HEAD + 1));
        for text in [
            "",
            "HTTP/1.1 200 OK\r\n",
            "SSH-2.0-OpenSSH\r\n\r\n",
            "HTTP/2 200\r\n\r\n",
            "HTTP/1.1 20 OK\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\n",
            "HTTP/1.1 999 ?\r\n\r\n",
            "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
            "HTTP/1.1 200 OK\r\n folded: x\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nok",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nok",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
            long.as_str(),
        ] {
            let found = read_answer(&mut text.as_bytes());
            assert!(matches!(found, Err(WireError::Broken(_))), "{text}");
        }
        let endless = std::io::repeat(b'x').take(64 * 1024 * 1024);
        let mut answer = b"HTTP/1.1 200 OK\r\n\r\n".as_slice().chain(endless);
        assert_eq!(
            read_answer(&mut answer),
            Err(WireError::Broken("the answer is too long"))
        );
    }

    #[test]
    fn nobody_listens() {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::Unix(folder.path().join("none.sock"));
        let deadline = Deadline::after(Duration::from_mins(1));
        assert!(matches!(
            exchange(&server, "", b"", deadline, deadline),
            Err(WireError::Connect(_))
        ));
        let over = Deadline::after(Duration::ZERO);
        assert_eq!(
            exchange(&server, "", b"", over, over),
            Err(WireError::TimedOut)
        );
    }
}
