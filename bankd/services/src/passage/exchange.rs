//! One request to another node and its answer, over a connection of its own.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::client::conn::http1;
use hyper::header::{CONNECTION, CONTENT_LENGTH, HeaderName, TRANSFER_ENCODING, UPGRADE};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// Time to connect to another node.
const CONNECT: Duration = Duration::from_secs(2);
/// Longest answer, in bytes.
const ANSWER_MAX: usize = 512 << 20;
/// Fields of one connection, which do not go on (RFC 9110, 7.6.1).
const OF_CONNECTION: [HeaderName; 4] = [CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING, UPGRADE];

/// Why there is no answer.
pub(super) type Error = Box<dyn std::error::Error + Send + Sync>;

/// A body that is there as a whole.
#[derive(Debug)]
pub struct Whole(Option<Bytes>);

impl Whole {
    /// These bytes.
    pub fn new(bytes: impl Into<Bytes>) -> Self {
        Self(Some(bytes.into()).filter(|bytes| !bytes.is_empty()))
    }
}

impl Body for Whole {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.take().map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        let length = self.0.as_ref().map_or(0, Bytes::len);
        SizeHint::with_exact(u64::try_from(length).unwrap_or(u64::MAX))
    }
}

/// Host and port of a node's address.
pub fn authority(address: &str) -> &str {
    let authority = address.strip_prefix("http://").unwrap_or(address);
    authority.trim_end_matches('/')
}

/// Sends a request to a node: its whole answer, without the fields of the connection.
///
/// # Errors
/// If the node cannot be reached, or its answer breaks off or is too long.
pub async fn exchange(address: &str, request: Request<Whole>) -> Result<Response<Bytes>, Error> {
    let stream = TcpStream::connect(authority(address));
    let stream = tokio::time::timeout(CONNECT, stream).await??;
    stream.set_nodelay(true)?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    // It ends with the answer: nothing keeps the sender.
    tokio::spawn(connection);
    let response = sender.send_request(request).await?;
    let (mut head, mut incoming) = response.into_parts();
    for name in &OF_CONNECTION {
        head.headers.remove(name);
    }
    let mut body = Vec::new();
    while let Some(frame) = poll_fn(|context| Pin::new(&mut incoming).poll_frame(context)).await {
        let Ok(data) = frame?.into_data() else {
            continue;
        };
        if body.len().saturating_add(data.len()) > ANSWER_MAX {
            return Err("the answer is too long".into());
        }
        body.extend_from_slice(&data);
    }
    Ok(Response::from_parts(head, Bytes::from(body)))
}
