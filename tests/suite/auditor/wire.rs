//! One request over a stream of any kind, and its whole answer, chunked or not.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_mins(2);

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Response {
    pub(super) status: u16,
    /// Names in small letters.
    pub(super) fields: Vec<(String, String)>,
    pub(super) body: String,
}

impl Response {
    /// The first value of a field.
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        let found = self.fields.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The names of the records of a stream, in its order.
    pub(super) fn names(&self) -> Vec<String> {
        let records = self.body.lines().map(|line| {
            let record: serde_json::Value = serde_json::from_str(line).unwrap();
            record["record_id"].as_str().unwrap().to_owned()
        });
        records.collect()
    }
}

/// A connection without TLS.
pub(super) fn plain(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// One with TLS.
pub(super) fn secure(address: &str, caller: ClientConfig) -> impl Read + Write {
    let name = ServerName::try_from("localhost").unwrap();
    let session = ClientConnection::new(Arc::new(caller), name).unwrap();
    StreamOwned::new(session, plain(address))
}

/// A request with these lines of head, and its answer; why there is none, otherwise.
pub(super) fn ask(
    mut stream: impl Read + Write,
    method: &str,
    target: &str,
    fields: &[(&str, &str)],
    body: &str,
) -> Result<Response, String> {
    let mut request = format!("{method} {target} HTTP/1.1\r\nHost: bank\r\nConnection: close\r\n");
    for (name, value) in fields {
        let _ = write!(request, "{name}: {value}\r\n");
    }
    if !body.is_empty() {
        request.push_str("Content-Type: application/json\r\n");
    }
    let _ = write!(request, "Content-Length: {}\r\n\r\n{body}", body.len());
    let sent = stream.write_all(request.as_bytes());
    sent.and_then(|()| stream.flush())
        .map_err(|e| e.to_string())?;
    let mut answer = Vec::new();
    // Who closes without saying so in TLS has said all that there is nevertheless.
    if let Err(error) = stream.read_to_end(&mut answer)
        && answer.is_empty()
    {
        return Err(error.to_string());
    }
    read(&answer).ok_or_else(|| format!("no answer: {:?}", String::from_utf8_lossy(&answer)))
}

fn read(answer: &[u8]) -> Option<Response> {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&answer[..end]).ok()?;
    let mut lines = head.split("\r\n");
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let fields = lines.filter_map(|line| line.split_once(':'));
    let fields = fields
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let mut response = Response {
        status,
        fields,
        body: String::new(),
    };
    let mut rest = &answer[end + 4..];
    let body = if let Some(length) = response.field("content-length") {
        rest.get(..length.parse().ok()?)?.to_vec()
    } else {
        let mut body = Vec::new();
        loop {
            let line = rest.windows(2).position(|two| two == b"\r\n")?;
            let size = std::str::from_utf8(&rest[..line]).ok()?;
            let size = usize::from_str_radix(size, 16).ok()?;
            body.extend_from_slice(rest.get(line + 2..line + 2 + size)?);
            rest = rest.get(line + 2 + size + 2..)?;
            if size == 0 {
                break body;
            }
        }
    };
    response.body = String::from_utf8(body).ok()?;
    Some(response)
}
