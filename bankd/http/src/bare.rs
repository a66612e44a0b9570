//! Input that is no HTTP, or has a head that is too large, never becomes a request: the library answers it
//! with a status and no body. This module adds a problem document to such an answer (decisions.md 23).
//!
//! Heads that answer a request of the daemon are counted and passed unchanged. Only a head without a
//! request is the library's.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use bank_api::error::Problem;
use bankd_ledger::clock;
use bankd_listen::{Fault, Wire};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The longest head that the library writes itself.
const HEAD_MAX: usize = 512;

/// Requests of a connection with answers that have not begun.
#[derive(Clone, Debug, Default)]
pub(super) struct Pending(Arc<AtomicUsize>);

impl Pending {
    /// A request arrived.
    pub(super) fn begin(&self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }

    /// An answer begins: true if it belongs to a request.
    fn answer(&self) -> bool {
        let one_less = |count: usize| count.checked_sub(1);
        let taken = self
            .0
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, one_less);
        taken.is_ok()
    }
}

/// A connection that adds problem documents to bare answers.
#[derive(Debug)]
pub(super) struct Telling<S> {
    stream: Wire<S>,
    pending: Pending,
    instead: Option<Instead>,
}

/// The replacement of a bare head.
#[derive(Debug)]
struct Instead {
    bytes: Vec<u8>,
    written: usize,
    /// Length of the replaced head.
    of: usize,
}

impl<S> Telling<S> {
    pub(super) fn new(stream: S, pending: Pending) -> Self {
        Self {
            stream: Wire::new(stream),
            pending,
            instead: None,
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Telling<S> {
    /// Checks the next bytes to write. False if they are written unchanged.
    fn instead_of(&mut self, head: &[u8]) -> bool {
        if self.instead.is_some() {
            return true;
        }
        // `100 Continue` answers nothing yet.
        let is_head = head.starts_with(b"HTTP/1.") && !head.starts_with(b"HTTP/1.1 1");
        if !is_head || self.pending.answer() {
            return false;
        }
        let answer = answered(head, self.stream.fault());
        self.instead = answer.map(|bytes| Instead {
            bytes,
            written: 0,
            of: head.len(),
        });
        self.instead.is_some()
    }

    /// Writes the rest of a replacement.
    fn tell(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        while let Some(instead) = &mut self.instead {
            let left = instead.bytes.get(instead.written..).unwrap_or_default();
            if left.is_empty() {
                let of = instead.of;
                self.instead = None;
                return Poll::Ready(Ok(of));
            }
            let written = ready!(Pin::new(&mut self.stream).poll_write(context, left))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            instead.written += written;
        }
        Poll::Ready(Ok(0))
    }
}

/// A bare head with its problem document; `None` for any other head.
fn answered(head: &[u8], fault: Option<Fault>) -> Option<Vec<u8>> {
    let head = std::str::from_utf8(head).ok()?;
    let fields = head.strip_suffix("\r\n\r\n")?;
    if head.len() > HEAD_MAX || fields.contains("\r\n\r\n") {
        return None;
    }
    let (first, fields) = fields.split_once("\r\n")?;
    let status: u16 = first.split(' ').nth(1)?.parse().ok()?;
    let mut kept = String::new();
    let mut is_bare = false;
    for field in fields.split("\r\n") {
        let (name, value) = field.split_once(':')?;
        if name.eq_ignore_ascii_case("content-length") {
            is_bare = value.trim() == "0";
        } else if !name.eq_ignore_ascii_case("connection") {
            kept.push_str(field);
            kept.push_str("\r\n");
        }
    }
    let (code, detail) = match (status, fault) {
        (414, _) => ("too_large", "the address of the request is too long"),
        (431, _) => ("too_large", "the head of the request is too large"),
        (400..=499, Some(Fault::TwoLengths)) => (
            "bad_request",
            "the request has Content-Length and Transfer-Encoding: send one of them",
        ),
        (400..=499, Some(Fault::Host)) => (
            "bad_request",
            "the request has no header Host, or several: send one",
        ),
        (400..=499, None) => ("bad_request", "this is not an HTTP/1.1 request"),
        _ => return None,
    };
    let id = clock::request_id();
    let problem = Problem {
        status,
        request_id: Some(id.clone()),
        ..Problem::new(code, detail)
    };
    let body = serde_json::to_string(&problem).ok().filter(|_| is_bare)?;
    let length = body.len();
    Some(
        format!(
            "{first}\r\n{kept}connection: close\r\ncontent-type: application/problem+json\r\n\
             x-request-id: {id}\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .into_bytes(),
    )
}

impl<S: AsyncRead + Unpin> AsyncRead for Telling<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Telling<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.instead_of(bytes) {
            return self.tell(context);
        }
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let first = parts.iter().find(|part| !part.is_empty());
        if first.is_some_and(|first| self.instead_of(first)) {
            return self.tell(context);
        }
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    const BARE: &str = "HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\n\
        content-length: 0\r\ndate: Sun, 22 Nov 2026 17:00:00 GMT\r\n\r\n";

    async fn written(pending: &Pending, parts: &[&str]) -> String {
        let (near, mut far) = tokio::io::duplex(64);
        let reader = tokio::spawn(async move {
            let mut text = String::new();
            far.read_to_string(&mut text).await.unwrap();
            text
        });
        let mut telling = Telling::new(near, pending.clone());
        for part in parts {
            telling.write_all(part.as_bytes()).await.unwrap();
        }
        telling.shutdown().await.unwrap();
        drop(telling);
        reader.await.unwrap()
    }

    #[tokio::test]
    async fn a_bare_head_gets_its_document() {
        let text = written(&Pending::default(), &[BARE]).await;
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let problem: Problem = serde_json::from_str(body).unwrap();
        assert_eq!((problem.status, problem.code.as_str()), (431, "too_large"));
        assert!(head.starts_with("HTTP/1.1 431 "), "{head}");
        let length = format!("content-length: {}", body.len());
        assert_eq!(head.matches("content-length").count(), 1);
        assert!(head.contains(&length) && head.contains("date: "), "{head}");
        assert!(head.contains("content-type: application/problem+json"));
    }

    #[tokio::test]
    async fn a_requested_answer_is_sent_unchanged() {
        let pending = Pending::default();
        pending.begin();
        let parts = [BARE, "a body\n", "HTTP/1.1 no head at all"];
        assert_eq!(written(&pending, &parts).await, parts.concat());
        let full = BARE.replace("content-length: 0", "content-length: 7");
        assert_eq!(written(&pending, &[&full]).await, full);
        let fine = BARE.replace("431", "200");
        assert_eq!(written(&pending, &[&fine]).await, fine);
        let cut = BARE.trim_end();
        assert_eq!(written(&pending, &[cut]).await, cut);
    }
}
