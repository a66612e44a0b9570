//! Answers: AUDITOR's statuses, texts and streams (`auditor-api.md` 1, 3, 6), and nothing else.
//!
//! These are the answers of another program, byte by byte. The bank's table of refusals does not apply. If
//! a client must keep its data, it gets no answer at all: [`Dropped`].

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bank_api::auditor::{Trouble, Warning, text};
use bank_api::cluster::{AGE_MS, POSITION};
use bank_api::reason::bounded;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::{Response, StatusCode};
use tokio::sync::mpsc::Receiver;

use super::access::Denied;

/// The connection ends without an answer: the client keeps its record and retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(super) struct Dropped(pub(super) &'static str);

/// An answer's body.
#[derive(Debug)]
pub(super) enum Content {
    /// All of it.
    Whole(Option<Bytes>),
    /// A stream in pieces. It is complete only after [`Piece::End`].
    Stream(Option<Bytes>, Receiver<Piece>),
}

/// A piece of a stream.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    /// Records.
    Records(Bytes),
    /// End of the stream.
    End,
    /// The rest is not to be had, and why.
    Broken(String),
}

pub(super) type Answer = Response<Content>;

impl Body for Content {
    type Data = Bytes;
    type Error = Dropped;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Dropped>>> {
        match self.get_mut() {
            Content::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Content::Stream(first, rest) => {
                if let Some(bytes) = first.take() {
                    return Poll::Ready(Some(Ok(Frame::data(bytes))));
                }
                Poll::Ready(match ready!(rest.poll_recv(context)) {
                    Some(Piece::Records(bytes)) => Some(Ok(Frame::data(bytes))),
                    Some(Piece::End) => {
                        rest.close();
                        None
                    }
                    // Without its last chunk the answer shows that it is none.
                    Some(Piece::Broken(_)) | None => Some(Err(Dropped("the stream broke off"))),
                })
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Content::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Content::Whole(bytes) => {
                let length = bytes.as_ref().map_or(0, Bytes::len);
                SizeHint::with_exact(u64::try_from(length).unwrap_or(u64::MAX))
            }
            Content::Stream(..) => SizeHint::default(),
        }
    }
}

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

fn made(status: StatusCode, media: Option<HeaderValue>, body: impl Into<Bytes>) -> Answer {
    let body = body.into();
    let mut answer = Response::new(Content::Whole((!body.is_empty()).then_some(body)));
    *answer.status_mut() = status;
    if let Some(media) = media {
        answer.headers_mut().insert(CONTENT_TYPE, media);
    }
    answer
}

/// The answer of another node to records; none if it is busy, as AUDITOR's own answers to records never are.
pub(super) fn passed(answer: Response<Bytes>) -> Option<Answer> {
    let (head, body) = answer.into_parts();
    if head.status == StatusCode::SERVICE_UNAVAILABLE {
        return None;
    }
    let media = head.headers.get(CONTENT_TYPE).cloned();
    let mut answer = made(head.status, media, body);
    for name in [POSITION, AGE_MS] {
        if let Some(value) = head.headers.get(name) {
            answer.headers_mut().insert(name, value.clone());
        }
    }
    Some(answer)
}

/// Done: 200 without a body.
pub(super) fn done() -> Answer {
    made(StatusCode::OK, None, Bytes::new())
}

/// Success, except for records that exist already.
pub(super) fn warned(many: bool) -> Answer {
    let warning = if many {
        "One or more records already exist, but the error was ignored due to AUDITOR configuration."
    } else {
        "Record already exists, but the error was ignored due to AUDITOR configuration."
    };
    made(StatusCode::OK, Some(JSON), text(&Warning { warning }))
}

/// The body that every client compares with, whatever the status is: AUDITOR's is 500.
pub(super) fn exists() -> Answer {
    made(StatusCode::INTERNAL_SERVER_ERROR, None, "RECORD_EXISTS")
}

/// A body that is no record.
pub(super) fn no_record(why: &str) -> Answer {
    let message = format!("Json deserialize error: {why}");
    made(StatusCode::BAD_REQUEST, Some(TEXT), message)
}

/// A body of another kind.
pub(super) fn not_json() -> Answer {
    made(StatusCode::BAD_REQUEST, Some(TEXT), "Content type error")
}

/// A body that is larger than it may be.
pub(super) fn too_large(bytes: u64, limit: usize) -> Answer {
    let message =
        format!("JSON payload ({bytes} bytes) is larger than allowed (limit: {limit} bytes).");
    made(StatusCode::PAYLOAD_TOO_LARGE, Some(TEXT), message)
}

/// An end for a record that is not there.
pub(super) fn unknown(record_id: &str) -> Answer {
    let message = bounded(format!("Updating unknown record {record_id} not possible."));
    made(StatusCode::NOT_FOUND, Some(TEXT), message)
}

/// Not for this caller.
pub(super) fn forbidden(why: &Denied) -> Answer {
    made(StatusCode::FORBIDDEN, Some(TEXT), why.to_string())
}

/// A query that is none.
pub(super) fn no_query(why: &str) -> Answer {
    made(
        StatusCode::BAD_REQUEST,
        Some(JSON),
        text(&Trouble { error: why }),
    )
}

/// No record of that name.
pub(super) fn no_such_record() -> Answer {
    let error = "no record of that id";
    made(StatusCode::NOT_FOUND, Some(JSON), text(&Trouble { error }))
}

/// A question that cannot be answered now.
pub(super) fn unanswered(error: &str) -> Answer {
    let message = text(&Trouble { error });
    let mut answer = made(StatusCode::SERVICE_UNAVAILABLE, Some(JSON), message);
    let headers = answer.headers_mut();
    headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
    answer
}

/// One record.
pub(super) fn record(body: Vec<u8>) -> Answer {
    made(StatusCode::OK, Some(JSON), body)
}

/// A text of another type, for people and programs that watch.
pub(super) fn plain(media: &'static str, text: String) -> Answer {
    made(StatusCode::OK, Some(HeaderValue::from_static(media)), text)
}

/// Records as they come.
pub(super) fn stream(first: Option<Bytes>, rest: Receiver<Piece>) -> Answer {
    let mut answer = Response::new(Content::Stream(first, rest));
    answer.headers_mut().insert(CONTENT_TYPE, JSON);
    answer
}

/// There is no database behind the daemon.
pub(super) fn unwell() -> Answer {
    made(StatusCode::INTERNAL_SERVER_ERROR, None, Bytes::new())
}

/// A path that accepts other methods.
pub(super) fn no_method(allowed: &'static str) -> Answer {
    let mut answer = made(StatusCode::METHOD_NOT_ALLOWED, None, Bytes::new());
    let headers = answer.headers_mut();
    headers.insert(ALLOW, HeaderValue::from_static(allowed));
    answer
}

/// No such path.
pub(super) fn no_route() -> Answer {
    let message = "The requested resource was not found. 404 Not Found";
    made(StatusCode::NOT_FOUND, Some(TEXT), message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::mpsc::channel;

    /// The bytes of a stream, and whether it ends properly.
    async fn taken(pieces: Vec<Piece>) -> (String, bool) {
        let (sender, rest) = channel(8);
        for piece in pieces {
            sender.send(piece).await.unwrap();
        }
        drop(sender);
        let mut message = Content::Stream(Some(Bytes::from_static(b"first ")), rest);
        let mut text = String::new();
        loop {
            let next = std::future::poll_fn(|context| Pin::new(&mut message).poll_frame(context));
            match next.await {
                Some(Ok(frame)) => {
                    text.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
                }
                Some(Err(_)) => return (text, false),
                None => return (text, true),
            }
        }
    }

    #[tokio::test]
    async fn a_stream_is_whole_only_with_its_end() {
        let more = || Piece::Records(Bytes::from_static(b"more"));
        for (pieces, text, whole) in [
            (vec![Piece::End], "first ", true),
            (vec![more(), Piece::End], "first more", true),
            (vec![more()], "first more", false),
            (
                vec![more(), Piece::Broken("disk".into())],
                "first more",
                false,
            ),
            (vec![], "first ", false),
        ] {
            assert_eq!(taken(pieces).await, (text.to_owned(), whole));
        }
    }
}
