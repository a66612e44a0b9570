//! Signed requests to a partner's daemon, one on each connection, and their signed answers
//! (`http-auth.md`). An answer without a valid signature counts as no answer.

use std::fmt::Write as _;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::Duration;

use bank_api::error::{Problem, bank_exit_of_status, row_or_internal};
use bank_api::exit::bank;
use bank_api::sign::{
    DEFAULT_WINDOW_S, LABEL, OutgoingRequest, ReceivedAnswer, SigningKey, sign_request,
    verify_answer,
};
use bank_core::kind::Record;
use bank_core::partner::TIMEOUT_MS;
use bankd_ledger::clock::auth_now_s;
use bankd_ledger::keys;
use bankd_ledger::timed::Timed;
use bankd_ledger::trust::Trust;
use serde::de::DeserializeOwned;

/// The largest answer, in bytes.
const ANSWER_MAX: usize = 2 << 20;

/// A partner's daemon.
pub struct Client {
    name: String,
    host: String,
    port: u16,
    key_id: String,
    key: SigningKey,
    limit: Duration,
    /// For an address `https://`.
    trust: Option<Trust>,
}

/// Why there is no usable answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The partner cannot be reached, or did not answer as itself: the request may have had its effect.
    Away(String),
    /// The partner refused.
    Refused(Box<Problem>),
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fault::Away(why) => f.write_str(why),
            Fault::Refused(problem) => {
                let detail = problem.detail.as_deref().unwrap_or(&problem.title);
                write!(f, "{}: {detail}", problem.code)
            }
        }
    }
}

impl std::error::Error for Fault {}

/// An answer as it came.
struct Answer {
    status: u16,
    headers: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
}

impl Client {
    /// Reads address and secret. `trust` reads the CAs, for an address `https://`.
    pub(crate) fn open(
        partner: &Record,
        keys: &Path,
        trust: impl FnOnce() -> Result<Trust, String>,
    ) -> Result<Client, String> {
        let name = partner.name().to_owned();
        let url = partner.text("url");
        let (is_tls, authority) = match url.split_once("://") {
            Some(("https", rest)) => (true, Some(rest)),
            Some(("http", rest)) => (false, Some(rest)),
            _ => (false, None),
        };
        let parts = authority.and_then(|text| text.rsplit_once(':'));
        let address = parts.and_then(|(host, port)| Some((host, port.parse::<u16>().ok()?)));
        let Some((host, port)) = address else {
            return Err(format!("partner {name} has no address"));
        };
        let file = keys::of_partner(&name);
        let secret = keys::read_secret(keys, &file)
            .map_err(|error| format!("{}: {error}", keys.join(&file).display()))?;
        let limit = partner.whole("timeout_ms").unwrap_or(TIMEOUT_MS);
        let trust = is_tls.then(trust).transpose()?;
        Ok(Client {
            host: host
                .trim_start_matches('[')
                .trim_end_matches(']')
                .to_owned(),
            port,
            key_id: partner.text("signing_key").to_owned(),
            key: SigningKey::new(&secret),
            limit: Duration::from_millis(u64::try_from(limit).unwrap_or(0)),
            name,
            trust,
        })
    }

    /// The time for an answer.
    pub(crate) fn limit(&self) -> Duration {
        self.limit
    }

    /// Asks a question.
    ///
    /// # Errors
    /// If there is no answer, or a refusal.
    pub fn get<T: DeserializeOwned>(&self, target: &str) -> Result<T, Fault> {
        self.exchange("GET", target, &[], None)
    }

    /// Sends a body of JSON.
    ///
    /// # Errors
    /// If there is no answer, or a refusal.
    pub fn post<T: DeserializeOwned>(
        &self,
        target: &str,
        body: &[u8],
        key: &str,
    ) -> Result<T, Fault> {
        self.exchange("POST", target, body, Some(key))
    }

    fn exchange<T: DeserializeOwned>(
        &self,
        method: &str,
        target: &str,
        body: &[u8],
        key: Option<&str>,
    ) -> Result<T, Fault> {
        let away = |why: &dyn std::fmt::Display| Fault::Away(format!("{}: {why}", self.name));
        let request = OutgoingRequest {
            method,
            target,
            body,
            idempotency_key: key,
            event_time: None,
        };
        let nonce = nonce().map_err(|error| away(&error))?;
        let signed = sign_request(&self.key, &self.key_id, &request, auth_now_s(), &nonce);
        let mut head = format!(
            "{method} {target} HTTP/1.1\r\nHost: {}:{}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n",
            self.host,
            self.port,
            body.len()
        );
        let mut field = |name: &str, value: Option<&str>| {
            if let Some(value) = value {
                // Writing to a string cannot fail.
                let _ = write!(head, "{name}: {value}\r\n");
            }
        };
        field("Idempotency-Key", key);
        field("Content-Digest", signed.content_digest.as_deref());
        field("Signature-Input", Some(&signed.signature_input));
        field("Signature", Some(&signed.signature));
        head.push_str("\r\n");
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(body);
        let answer = self.send(&bytes).map_err(|error| away(&error))?;
        self.judge(&answer, &signed.signature)
    }

    fn send(&self, request: &[u8]) -> io::Result<Answer> {
        let stream = Timed::connect(&self.host, self.port, self.limit)?;
        match &self.trust {
            None => talk(stream, request),
            Some(trust) => talk(trust.over(stream, &self.host)?, request),
        }
    }

    /// The meaning of an answer; only a signed one has any.
    fn judge<T: DeserializeOwned>(&self, answer: &Answer, signature: &str) -> Result<T, Fault> {
        let away = |why: String| Fault::Away(format!("{}: {why}", self.name));
        let unauthorized = row_or_internal("unauthorized");
        if answer.status == unauthorized.http {
            // It cannot be signed with a key that the partner does not accept.
            let why = format!("it does not accept key {:?} of this bank", self.key_id);
            return Err(Fault::Refused(Box::new(Problem::new(
                unauthorized.code,
                why,
            ))));
        }
        let headers = answer.headers.iter();
        let received = ReceivedAnswer {
            status: answer.status,
            headers: headers.map(|(name, value)| (name.as_str(), value.as_slice())),
            body: &answer.body,
            sent_signature: signature,
            label: LABEL,
            keyid: &self.key_id,
        };
        verify_answer(&self.key, &received, auth_now_s(), DEFAULT_WINDOW_S)
            .map_err(|why| away(why.to_string()))?;
        if (200..300).contains(&answer.status) {
            let read = serde_json::from_slice(&answer.body);
            return read.map_err(|error| away(format!("its answer cannot be read: {error}")));
        }
        let may_change = [bank::UNAVAILABLE, bank::INTERNAL];
        let is_final = !may_change.contains(&bank_exit_of_status(answer.status));
        match Problem::from_json(&answer.body) {
            Some(problem) if is_final => Err(Fault::Refused(Box::new(problem))),
            _ => Err(away(format!("it answered {}", answer.status))),
        }
    }
}

/// 24 hex digits of randomness.
fn nonce() -> io::Result<String> {
    let mut bytes = [0_u8; 12];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

fn bad(what: &'static str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what)
}

/// Sends a request and reads the whole answer.
fn talk(mut stream: impl io::Read + io::Write, request: &[u8]) -> io::Result<Answer> {
    stream.write_all(request)?;
    stream.flush()?;
    let (mut received, mut buffer) = (Vec::new(), [0; 8192]);
    loop {
        if let Some(answer) = parse(&received)? {
            return Ok(answer);
        }
        let read = match stream.read(&mut buffer) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            read => read?,
        };
        match buffer.get(..read) {
            Some(part) if read > 0 => received.extend_from_slice(part),
            _ => return Err(bad("the connection ended before the answer")),
        }
        if received.len() > ANSWER_MAX {
            return Err(bad("the answer is too large"));
        }
    }
}

/// A whole answer; none while bytes are missing. Its length is that of `Content-Length`.
fn parse(received: &[u8]) -> io::Result<Option<Answer>> {
    let Some(end) = received.windows(4).position(|part| part == b"\r\n\r\n") else {
        return Ok(None);
    };
    let head = received.get(..end).unwrap_or_default();
    let mut lines = head.split(|byte| *byte == b'\n');
    let status = lines
        .next()
        .and_then(status)
        .ok_or_else(|| bad("no HTTP answer"))?;
    let field = |line: &[u8]| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let name = std::str::from_utf8(line.get(..colon)?).ok()?;
        let value = line.get(colon.saturating_add(1)..)?.trim_ascii();
        Some((name.to_ascii_lowercase(), value.to_vec()))
    };
    let headers: Vec<(String, Vec<u8>)> = lines.filter_map(field).collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = match length {
        Some((_, text)) => std::str::from_utf8(text).ok().and_then(|t| t.parse().ok()),
        None => Some(0),
    };
    let length: usize = length.ok_or_else(|| bad("an answer without a length"))?;
    let body = received.get(end.saturating_add(4)..).unwrap_or_default();
    Ok(body.get(..length).map(|body| Answer {
        status,
        headers,
        body: body.to_vec(),
    }))
}

/// The number of `HTTP/1.1 200 OK`.
fn status(line: &[u8]) -> Option<u16> {
    let text = std::str::from_utf8(line).ok()?;
    let rest = text.strip_prefix("HTTP/1.")?;
    rest.split(' ').nth(1)?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_whole_when_its_length_is_there() {
        let text = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nSignature: x \r\n\r\nbody";
        for end in 0..text.len() {
            assert!(parse(&text[..end]).unwrap().is_none(), "{end}");
        }
        let answer = parse(text).unwrap().unwrap();
        assert_eq!((answer.status, answer.body.as_slice()), (200, &b"body"[..]));
        assert_eq!(answer.headers[1], ("signature".to_owned(), b"x".to_vec()));
        assert!(parse(b"SSH-2.0\r\n\r\n").is_err());
        assert!(parse(b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n").is_err());
    }
}
