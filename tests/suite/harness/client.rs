//! HTTP/1.1 by hand, over TCP and the Unix socket: for requests that no decent client would send,
//! and for load whose every byte is accounted for.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Result, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_mins(2);

/// Where a daemon listens.
#[derive(Clone, Debug)]
pub(crate) enum Address {
    /// Host and port.
    Tcp(String),
    /// The socket.
    Unix(PathBuf),
}

/// A request, header by header in the order given.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: &'static str,
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    /// A GET without headers.
    pub(crate) fn get(target: &str) -> Self {
        Self {
            method: "GET",
            target: target.to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
        }
    }

    /// A document for the scheduler's route of an event, under a key.
    pub(crate) fn nami(event: &str, key: &str, body: &[u8]) -> Self {
        Self {
            method: "POST",
            target: format!("/nami/v1/{event}"),
            headers: Vec::new(),
            body: body.to_vec(),
        }
        .header("Content-Type", "application/xml")
        .header("Idempotency-Key", key)
    }

    /// Adds a header, even one that is there already.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The values of a header, as a verifier joins them.
    pub(crate) fn joined(&self, name: &str) -> String {
        let same = |(known, _): &&(String, String)| known.eq_ignore_ascii_case(name);
        let values = self.headers.iter().filter(same);
        values
            .map(|(_, value)| value.as_str())
            .collect::<Vec<_>>()
            .join(", ")
    }

    fn bytes(&self) -> Vec<u8> {
        let mut head = format!(
            "{} {} HTTP/1.1\r\nHost: localhost\r\n",
            self.method, self.target
        );
        for (name, value) in &self.headers {
            write!(head, "{name}: {value}\r\n").unwrap();
        }
        write!(head, "Content-Length: {}\r\n\r\n", self.body.len()).unwrap();
        [head.as_bytes(), &self.body].concat()
    }
}

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// The answer as it came, byte by byte.
    pub(crate) raw: Vec<u8>,
}

impl Response {
    /// The first value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let known = self
            .headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name));
        known.map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

/// A connection that carries one request after the other.
pub(crate) struct Connection {
    stream: BufReader<Box<dyn Stream + Send>>,
}

impl Connection {
    /// Connects.
    pub(crate) fn open(address: &Address) -> Result<Self> {
        let stream: Box<dyn Stream + Send> = match address {
            Address::Tcp(address) => {
                let stream = TcpStream::connect(address)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                stream.set_nodelay(true)?;
                Box::new(stream)
            }
            Address::Unix(path) => {
                let stream = UnixStream::connect(path)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                Box::new(stream)
            }
        };
        Ok(Self {
            stream: BufReader::new(stream),
        })
    }

    /// Sends a request and reads its whole answer.
    pub(crate) fn send(&mut self, request: &Request) -> Result<Response> {
        let stream = self.stream.get_mut();
        // A daemon that refuses a long body need not read it: what counts is its answer.
        let sent = stream
            .write_all(&request.bytes())
            .and_then(|()| stream.flush());
        match self.read() {
            Err(error) => sent.and(Err(error)),
            answer => answer,
        }
    }

    fn read(&mut self) -> Result<Response> {
        let mut raw = Vec::new();
        let mut headers = Vec::new();
        let status = self.line(&mut raw)?;
        let status = status.split(' ').nth(1).and_then(|word| word.parse().ok());
        let status = status.ok_or_else(|| broken("no status"))?;
        loop {
            let line = self.line(&mut raw)?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').ok_or_else(|| broken("no header"))?;
            headers.push((name.to_owned(), value.trim().to_owned()));
        }
        let mut response = Response {
            status,
            headers,
            body: Vec::new(),
            raw,
        };
        let length = response
            .header("content-length")
            .and_then(|length| length.parse().ok());
        response.body = vec![0; length.ok_or_else(|| broken("no length"))?];
        self.stream.read_exact(&mut response.body)?;
        response.raw.extend_from_slice(&response.body);
        Ok(response)
    }

    fn line(&mut self, raw: &mut Vec<u8>) -> Result<String> {
        let start = raw.len();
        if self.stream.read_until(b'\n', raw)? == 0 {
            return Err(Error::from(ErrorKind::UnexpectedEof));
        }
        let line = String::from_utf8_lossy(&raw[start..]);
        let line = line.strip_suffix("\r\n").ok_or_else(|| broken("cut off"))?;
        Ok(line.to_owned())
    }
}

fn broken(what: &str) -> Error {
    Error::new(ErrorKind::InvalidData, what.to_owned())
}

/// One request over a connection of its own.
pub(crate) fn exchange(address: &Address, request: &Request) -> Result<Response> {
    Connection::open(address)?.send(request)
}
