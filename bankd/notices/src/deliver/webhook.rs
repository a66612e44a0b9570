//! A signed HTTP request: one `POST` of JSON on a connection of its own, over TLS unless it goes to
//! the machine itself.
//!
//! The receiver verifies the sender with the shared secret: `Bank-Signature` is `v1=` and the hex
//! of HMAC-SHA-256 over `TIME.NOTICE.BODY`, with the time of `Bank-Time` and the number of
//! `Bank-Notice`.

use std::fmt::Write as _;
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;
use std::time::Duration;

use bankd_config::{Deliver, WebAddress, path_in};
use bankd_ledger::clock;
use bankd_ledger::timed::Timed;
use bankd_ledger::trust::Trust;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::Attempt;

/// Bytes of an answer that are looked at.
const HEAD_MAX: usize = 16 * 1024;
/// Bytes of a secret.
const SECRET: std::ops::RangeInclusive<usize> = 16..=4096;

/// One receiver.
pub(super) struct Webhook {
    address: WebAddress,
    secret: Zeroizing<Vec<u8>>,
    tls: Option<Trust>,
}

impl Webhook {
    /// Reads secret and CAs.
    pub(super) fn open(target: &Deliver, data: &Path) -> Result<Webhook, String> {
        let address = WebAddress::read(&target.url).map_err(|why| format!("url: {why}"))?;
        let path = path_in(data, &target.secret).unwrap_or_default();
        let read = std::fs::read(&path).map_err(|e| format!("secret: {}: {e}", path.display()))?;
        let mut secret = Zeroizing::new(read);
        // An editor's line feed is no part of it.
        while secret.last().is_some_and(|b| matches!(b, b'\n' | b'\r')) {
            secret.pop();
        }
        if !SECRET.contains(&secret.len()) {
            return Err(format!("secret: {}: 16 to 4096 bytes", path.display()));
        }
        let trust = || {
            let path = path_in(data, &target.ca).unwrap_or_default();
            Trust::read(&path).map_err(|why| format!("ca: {why}"))
        };
        let tls = address.tls.then(trust).transpose()?;
        Ok(Webhook {
            address,
            secret,
            tls,
        })
    }

    /// Sends a notice; any 2xx status confirms delivery.
    pub(super) fn send(&self, notice: i64, body: &[u8], limit: Duration) -> Attempt {
        match self.ask(notice, body, limit) {
            Ok(status) if (200..300).contains(&status) => Attempt::Delivered,
            // The receiver reports that it is permanently gone.
            Ok(410) => Attempt::Never("answered 410".to_owned()),
            Ok(status) => Attempt::Again(format!("answered {status}")),
            Err(error) => Attempt::Again(error.to_string()),
        }
    }

    fn ask(&self, notice: i64, body: &[u8], limit: Duration) -> io::Result<u16> {
        let request = self.request(notice, body, clock::auth_now_s());
        let mut tcp = Timed::connect(&self.address.host, self.address.port, limit)?;
        match &self.tls {
            None => exchange(&mut tcp, &request),
            Some(trust) => exchange(&mut trust.over(tcp, &self.address.host)?, &request),
        }
    }

    fn request(&self, notice: i64, body: &[u8], now_s: i64) -> Vec<u8> {
        let WebAddress {
            host, port, path, ..
        } = &self.address;
        let bracketed = if host.contains(':') {
            format!("[{host}]")
        } else {
            host.clone()
        };
        let signature = self.signature(notice, body, now_s);
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {bracketed}:{port}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\nUser-Agent: bankd\r\nBank-Time: {now_s}\r\n\
             Bank-Notice: {notice}\r\nBank-Signature: v1={signature}\r\n\r\n",
            body.len()
        );
        let mut request = head.into_bytes();
        request.extend_from_slice(body);
        request
    }

    fn signature(&self, notice: i64, body: &[u8], now_s: i64) -> String {
        // A key of any length is one.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.secret) else {
            return String::new();
        };
        mac.update(format!("{now_s}.{notice}.").as_bytes());
        mac.update(body);
        let mut text = String::with_capacity(64);
        for byte in mac.finalize().into_bytes() {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        text
    }
}

/// Sends a request and reads the status of the answer. Interim answers (1xx) are passed over.
fn exchange(stream: &mut (impl Read + Write), request: &[u8]) -> io::Result<u16> {
    stream.write_all(request)?;
    stream.flush()?;
    let (mut head, mut buffer) = (Vec::new(), [0; 1024]);
    loop {
        while let Some(end) = find(&head, b"\r\n\r\n") {
            let status = status(&head).ok_or_else(|| bad("no HTTP answer"))?;
            if !(100..200).contains(&status) {
                return Ok(status);
            }
            head.drain(..end + 4);
        }
        if head.len() > HEAD_MAX {
            return Err(bad("an answer without an end to its head"));
        }
        let read = match stream.read(&mut buffer) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            read => read?,
        };
        match buffer.get(..read) {
            Some(part) if read > 0 => head.extend_from_slice(part),
            _ => return Err(bad("the connection ended before the answer")),
        }
    }
}

fn bad(what: &'static str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what)
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|part| part == what)
}

/// The number of `HTTP/1.1 204 No Content`.
fn status(head: &[u8]) -> Option<u16> {
    let line = head.split(|b| *b == b'\r').next()?;
    let text = std::str::from_utf8(line).ok()?;
    let mut words = text.splitn(3, ' ');
    let known = words
        .next()
        .is_some_and(|version| version.starts_with("HTTP/1."));
    let number = words.next().filter(|w| known && w.len() == 3)?;
    number
        .parse()
        .ok()
        .filter(|status| (100..600).contains(status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_its_status() {
        for (text, expected) in [
            (&b"HTTP/1.1 204 No Content\r\n\r\n"[..], Some(204)),
            (b"HTTP/1.0 200\r\n\r\n", Some(200)),
            (b"HTTP/1.1 99 X\r\n\r\n", None),
            (b"HTTP/2 200\r\n\r\n", None),
            (b"220 smtp\r\n\r\n", None),
            (b"\xff\r\n\r\n", None),
        ] {
            assert_eq!(status(text), expected, "{text:?}");
        }
    }
}
