//! A connection under the HTTP library, with what the library leaves undone: a head with two lengths (RFC 9112 6.3)
//! or without a single Host (3.2) is refused, and a connection that ends before the whole request was read is closed in
//! such a way that the client can read the answer.

use std::future::Future as _;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use super::framing::{Fault, Framing, Seen};

/// Time for which the rest of a refused request is read.
const LINGER: Duration = Duration::from_secs(10);
/// After how long without a byte of it that ends.
const SILENCE: Duration = Duration::from_secs(1);
/// Bytes of it that are read at once.
const PORTION: usize = 8 << 10;
/// A byte that no head may contain: the library refuses such a head.
const SPOILED: u8 = 0;

/// A connection.
#[derive(Debug)]
pub struct Wire<S> {
    stream: S,
    framing: Framing,
    fault: Option<Fault>,
    end: End,
}

/// The progress of the end of a connection.
#[derive(Debug)]
enum End {
    /// It is open.
    Open,
    /// Our side is closed; what the client still sends is read and forgotten.
    Draining {
        until: Instant,
        silent: Pin<Box<Sleep>>,
    },
    /// Both sides are closed.
    Closed,
}

impl<S> Wire<S> {
    /// A stream as the HTTP library reads it.
    pub fn new(stream: S) -> Self {
        Self {
            stream,
            framing: Framing::default(),
            fault: None,
            end: End::Open,
        }
    }

    /// The fault of a head that the library would accept: it is spoiled, so that the library answers it like everything
    /// that is no HTTP, and ends the connection.
    pub fn fault(&self) -> Option<Fault> {
        self.fault
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Wire<S> {
    /// Reads what the client still sends, within bounds: a socket that is closed over unread bytes
    /// makes the system take the answer back.
    fn drain(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let End::Draining { until, silent } = &mut self.end else {
            return Poll::Ready(());
        };
        let mut room = [0; PORTION];
        loop {
            let mut portion = ReadBuf::new(&mut room);
            match Pin::new(&mut self.stream).poll_read(context, &mut portion) {
                Poll::Ready(Ok(())) if !portion.filled().is_empty() => {
                    let next = Instant::now() + SILENCE;
                    if next >= *until {
                        return Poll::Ready(());
                    }
                    silent.as_mut().reset(next);
                }
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => return silent.as_mut().poll(context),
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Wire<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        let arrived = buffer.filled_mut().get_mut(before..).unwrap_or_default();
        if let Seen::Faulty(fault, end) = self.framing.follow(arrived) {
            self.fault = Some(fault);
            if let Some(last) = arrived.get_mut(end) {
                *last = SPOILED;
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Wire<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if matches!(self.end, End::Open) {
            ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
            // Between two requests nothing is lost: the daemon stops without waiting for idle clients.
            self.end = if self.framing.is_at_rest() {
                End::Closed
            } else {
                End::Draining {
                    until: Instant::now() + LINGER,
                    silent: Box::pin(sleep(SILENCE)),
                }
            };
        }
        ready!(self.drain(context));
        self.end = End::Closed;
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    #[tokio::test(start_paused = true)]
    async fn the_rest_of_a_request_is_read_before_the_end() {
        let (near, mut far) = tokio::io::duplex(64);
        let mut wire = Wire::new(near);
        let client = tokio::spawn(async move {
            far.write_all(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\n")
                .await
                .unwrap();
            far.write_all(&[b'x'; 5000]).await.unwrap();
            let mut answer = String::new();
            far.read_to_string(&mut answer).await.unwrap();
            answer
        });
        let mut head = [0; 20];
        wire.read_exact(&mut head).await.unwrap();
        wire.write_all(b"no").await.unwrap();
        wire.shutdown().await.unwrap();
        drop(wire);
        assert_eq!(client.await.unwrap(), "no");
    }

    #[tokio::test(start_paused = true)]
    async fn who_sends_nothing_or_never_ends_is_not_waited_for() {
        let since = Instant::now();
        let (near, mut far) = tokio::io::duplex(64);
        let mut wire = Wire::new(near);
        far.write_all(b"POST / HTTP").await.unwrap();
        wire.read_exact(&mut [0; 11]).await.unwrap();
        wire.shutdown().await.unwrap();
        assert!(since.elapsed() <= SILENCE * 2, "{:?}", since.elapsed());
        let (near, mut far) = tokio::io::duplex(64);
        let mut wire = Wire::new(near);
        let endless = tokio::spawn(async move {
            while far.write_all(b"POST / HTTP").await.is_ok() {
                sleep(Duration::from_millis(500)).await;
            }
        });
        wire.read_exact(&mut [0; 11]).await.unwrap();
        wire.shutdown().await.unwrap();
        assert!(
            since.elapsed() <= LINGER + SILENCE * 3,
            "{:?}",
            since.elapsed()
        );
        drop(wire);
        endless.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_between_requests_ends_at_once() {
        let since = Instant::now();
        let (near, mut far) = tokio::io::duplex(64);
        let mut wire = Wire::new(near);
        far.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            .await
            .unwrap();
        wire.read_exact(&mut [0; 27]).await.unwrap();
        wire.shutdown().await.unwrap();
        assert_eq!(since.elapsed(), Duration::ZERO);
    }

    #[tokio::test]
    async fn a_head_with_two_lengths_is_spoiled() {
        let (near, mut far) = tokio::io::duplex(1024);
        let mut wire = Wire::new(near);
        let head = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nabc";
        far.write_all(head).await.unwrap();
        drop(far);
        let mut read = Vec::new();
        wire.read_to_end(&mut read).await.unwrap();
        assert_eq!(wire.fault(), Some(Fault::TwoLengths));
        assert!(read.ends_with(b"\r\n\r\0abc"), "{read:?}");
    }
}
