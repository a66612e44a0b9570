//! Requests that a node of a cluster passes to the node that writes, for callers whom it authenticated itself: people on
//! its socket and web pages, tokens, peers of the Gold gateway and AUDITOR's collectors (decision 0202).
//!
//! They are signed with the secret that all nodes read from the log, and name the node that they are for. The writer
//! believes the caller that a genuine request names. A request is passed on once: a node that does not write refuses it.

mod exchange;

use std::future::Future;
use std::pin::Pin;
use std::sync::OnceLock;
use std::time::Duration;

use bank_api::cluster::{
    KEY_ID, POSITION, Passage, Passed, ROUTE, Session, SessionChange as Change,
};
use bank_api::sign::{
    Failure, KeyLookup, LABEL, OutgoingRequest, ReceivedAnswer, ReceivedRequest, SigningKey,
    sign_answer, sign_request, verify_answer, verify_request,
};
use bankd_ledger::clock;
use bankd_ledger::keys::new_tid;
use bankd_ledger::writer::{SubmitError, Writer};
use bankd_store::web_session::{SessionChange, WebSession};
use hyper::body::Bytes;
use hyper::header::{CONTENT_LENGTH, HOST, HeaderMap, HeaderName, HeaderValue, TRANSFER_ENCODING};
use hyper::{Request, Response};

pub use exchange::{Whole, authority, exchange};

/// Longest wait of a node for the entry of a command that it passed on. Afterwards its answers contain the command.
pub const CATCH_UP: Duration = Duration::from_secs(1);
/// Longest wait for the writer's answer to a change of sessions.
const SESSION: Duration = Duration::from_secs(5);
/// Seconds by which the clocks of two nodes may differ.
const WINDOW_S: i64 = 60;
/// Fields of the signature between the nodes, and of one connection.
const OWN_FIELDS: [&str; 3] = ["content-digest", "signature-input", "signature"];

/// A request for the writer.
#[derive(Debug)]
pub struct Call<'a> {
    /// The caller.
    pub caller: Passed,
    /// The method, in capitals.
    pub method: &'a str,
    /// Path and query.
    pub target: &'a str,
    /// Header fields with a meaning for the request.
    pub headers: Vec<(String, String)>,
    /// The body as it arrived.
    pub body: &'a [u8],
}

/// Passes a request to the node that writes, waits for its answer, and then at most `wait` until this node contains
/// what the answer is about.
///
/// # Errors
/// Why there is no answer, in words for the caller. The request may have been done: a repeat under the same idempotency
/// key is done once.
pub async fn pass(
    writer: &Writer,
    call: Call<'_>,
    limit: Duration,
    wait: Duration,
) -> Result<Response<Bytes>, String> {
    let cluster = writer.cluster().ok_or("this bank has one node")?;
    let (node, address) = cluster
        .writer()
        .ok_or("no node of the cluster writes now")?;
    let key = cluster.key();
    let key = key.ok_or("this node has not read the secret of the cluster yet")?;
    let Call {
        caller,
        method,
        target,
        headers,
        body,
    } = call;
    let passage = Passage {
        from: cluster.name().to_owned(),
        to: node.clone(),
        caller,
        method: method.to_owned(),
        target: target.to_owned(),
        headers,
    };
    let body = passage.with_body(body).map_err(|error| error.to_string())?;
    let sent = tokio::time::timeout(limit, send(&key, &address, body)).await;
    let response = match sent {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => {
            return Err(format!(
                "no answer of the writer {node} at {address}: {error}"
            ));
        }
        Err(_) => {
            return Err(format!(
                "no answer of the writer {node} at {address} in time"
            ));
        }
    };
    caught_up(writer, &response, wait).await;
    Ok(response)
}

/// Asks a node for something that concerns no bank of ours yet: `(own, other)` are the names of both nodes.
///
/// # Errors
/// Why there is no answer.
pub async fn ask(
    key: &SigningKey,
    (own, other): (&str, &str),
    address: &str,
    caller: Passed,
    limit: Duration,
) -> Result<Response<Bytes>, String> {
    let passage = Passage {
        from: own.to_owned(),
        to: other.to_owned(),
        caller,
        method: "POST".to_owned(),
        target: "/".to_owned(),
        headers: Vec::new(),
    };
    let body = passage.with_body(&[]).map_err(|error| error.to_string())?;
    match tokio::time::timeout(limit, send(key, address, body)).await {
        Ok(Ok(response)) => Ok(response),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("no answer within {} s", limit.as_secs())),
    }
}

/// Waits until this node contains what an answer of the writer is about.
pub async fn caught_up<B>(writer: &Writer, response: &Response<B>, wait: Duration) {
    let position = response.headers().get(POSITION);
    let position = position.and_then(|value| value.to_str().ok()?.parse().ok());
    if let (Some(cluster), Some(position)) = (writer.cluster(), position)
        && !cluster.reached(position, wait).await
    {
        tracing::warn!(
            position,
            "this node is behind the command that it passed to the writer"
        );
    }
}

async fn send(
    key: &SigningKey,
    address: &str,
    body: Vec<u8>,
) -> Result<Response<Bytes>, exchange::Error> {
    let nonce = format!("{}{}", new_tid()?, new_tid()?);
    let outgoing = OutgoingRequest {
        method: "POST",
        target: ROUTE,
        body: &body,
        idempotency_key: Some(&nonce),
        event_time: None,
    };
    let signed = sign_request(key, KEY_ID, &outgoing, clock::auth_now_s(), &nonce);
    let mut request = Request::post(ROUTE)
        .header(HOST, authority(address))
        .header("idempotency-key", &nonce)
        .header("signature-input", &signed.signature_input)
        .header("signature", &signed.signature);
    if let Some(digest) = &signed.content_digest {
        request = request.header("content-digest", digest);
    }
    let response = exchange(address, request.body(Whole::new(body))?).await?;
    let (mut head, body) = response.into_parts();
    let fields = fields_of(&head.headers);
    let answer = ReceivedAnswer {
        status: head.status.as_u16(),
        headers: fields.iter().copied(),
        body: &body,
        sent_signature: &signed.signature,
        label: LABEL,
        keyid: KEY_ID,
    };
    verify_answer(key, &answer, clock::auth_now_s(), WINDOW_S)?;
    for name in OWN_FIELDS {
        head.headers.remove(name);
    }
    Ok(Response::from_parts(head, body))
}

fn fields_of(headers: &HeaderMap) -> Vec<(&str, &[u8])> {
    let fields = headers.iter();
    fields
        .map(|(name, value)| (name.as_str(), value.as_bytes()))
        .collect()
}

/// A genuine request of another node, and what signs its answer.
#[derive(Debug)]
pub struct Arrived {
    /// The request and its caller.
    pub passage: Passage,
    /// The body of the request.
    pub body: Bytes,
    key: SigningKey,
    label: String,
    signature: Vec<u8>,
}

/// Verifies a request of another node: signature, time, nonce, and that it is for this node.
///
/// # Errors
/// If it is not genuine. Its sender gets no reason.
pub fn open(writer: &Writer, headers: &HeaderMap, body: &Bytes) -> Result<Arrived, Failure> {
    let cluster = writer.cluster().ok_or(Failure::UnknownKey)?;
    let key = cluster.key().ok_or(Failure::UnknownKey)?;
    let fields = fields_of(headers);
    let received = ReceivedRequest {
        method: "POST",
        target: ROUTE,
        scheme: "http",
        headers: fields.iter().copied(),
        body,
        mutating: true,
    };
    let now_s = clock::auth_now_s();
    let verified = verify_request(&received, now_s, WINDOW_S, |id| {
        if id == KEY_ID {
            KeyLookup::Found(key.clone())
        } else {
            KeyLookup::Unknown
        }
    })?;
    let nonce = verified.nonce.ok_or(Failure::Malformed)?;
    let expires_s = verified.created.saturating_add(WINDOW_S);
    if !cluster.accept_nonce(nonce, expires_s, now_s) {
        return Err(Failure::Replay);
    }
    let (passage, own) = Passage::split(body).ok_or(Failure::Malformed)?;
    // Recorded for another node, and sent to this one.
    if passage.to != cluster.name() {
        return Err(Failure::Replay);
    }
    let own = body.slice_ref(own);
    let label = verified.label.to_owned();
    let signature = verified.signature.to_owned();
    Ok(Arrived {
        passage,
        body: own,
        key,
        label,
        signature,
    })
}

/// What signs the answer to a request of another node.
#[derive(Debug)]
pub struct Signer {
    key: SigningKey,
    label: String,
    signature: Vec<u8>,
}

impl Arrived {
    /// The parts: the request, its body, and what signs the answer.
    pub fn into_parts(self) -> (Passage, Bytes, Signer) {
        let Arrived {
            passage,
            body,
            key,
            label,
            signature,
        } = self;
        let signer = Signer {
            key,
            label,
            signature,
        };
        (passage, body, signer)
    }
}

impl Signer {
    /// Adds the position of this node and the signature to an answer.
    pub fn sign(&self, writer: &Writer, response: Response<Bytes>) -> Response<Bytes> {
        let (mut head, body) = response.into_parts();
        if let Some(cluster) = writer.cluster() {
            let own = head.headers.entry(POSITION);
            own.or_insert_with(|| HeaderValue::from(cluster.position()));
        }
        // Those of the connection between the nodes.
        for name in [CONTENT_LENGTH, TRANSFER_ENCODING] {
            head.headers.remove(name);
        }
        let signed = sign_answer(
            &self.key,
            KEY_ID,
            &self.label,
            &self.signature,
            clock::auth_now_s(),
            head.status.as_u16(),
            &body,
        );
        let values = [
            signed.content_digest,
            Some(signed.signature_input),
            Some(signed.signature),
        ];
        for (name, value) in OWN_FIELDS.into_iter().zip(values) {
            head.headers.remove(name);
            if let Some(value) = value.and_then(|text| text.try_into().ok()) {
                head.headers.insert(HeaderName::from_static(name), value);
            }
        }
        Response::from_parts(head, body)
    }
}

/// The answer to a passed request of a service that this crate does not contain; none if the connection to its client
/// must end without one.
pub type Answering = Pin<Box<dyn Future<Output = Option<Response<Bytes>>> + Send>>;
/// Answers passed requests.
pub type Answer = Box<dyn Fn(Passage, Bytes) -> Answering + Send + Sync>;

/// The way to AUDITOR's routes for requests of other nodes; they are there once they are served.
#[derive(Default)]
pub struct Door(OnceLock<Answer>);

impl Door {
    /// Opens it.
    pub fn open(&self, answer: Answer) {
        let _ = self.0.set(answer);
    }

    /// The answer; none as for [`Answering`], or if the door is closed.
    pub async fn ask(&self, passage: Passage, body: Bytes) -> Option<Response<Bytes>> {
        self.0.get()?(passage, body).await
    }
}

/// Changes the sessions of the web pages, at the node that writes.
///
/// # Errors
/// If that fails, or no node can be reached.
pub async fn change_session(writer: &Writer, change: SessionChange) -> Result<(), SubmitError> {
    if writer.is_writing() {
        return writer.change_session(change).await.map(|_| ());
    }
    let call = Call {
        caller: Passed::Session {
            change: shape(change),
        },
        method: "POST",
        target: "/",
        headers: Vec::new(),
        body: &[],
    };
    match pass(writer, call, SESSION, CATCH_UP).await {
        Ok(response) if response.status().is_success() => Ok(()),
        Ok(response) => {
            let status = response.status().as_u16();
            tracing::warn!(status, "the writer did not store a session");
            Err(SubmitError::Elsewhere)
        }
        Err(error) => {
            tracing::warn!(error, "a session cannot be stored");
            Err(SubmitError::Elsewhere)
        }
    }
}

fn shape(change: SessionChange) -> Change {
    match change {
        SessionChange::New(session) => Change::New(Session {
            id: session.id,
            hash: session.hash,
            name: session.name,
            uid: session.uid,
            way: session.way,
            roles: session.roles,
            agent: session.agent,
            created_s: session.created_s,
            used_s: session.used_s,
        }),
        SessionChange::Used(uses) => Change::Used(uses),
        SessionChange::End(ids) => Change::End(ids),
    }
}

/// The change that another node passed.
pub fn session_change(change: Change) -> SessionChange {
    match change {
        Change::New(session) => SessionChange::New(WebSession {
            id: session.id,
            hash: session.hash,
            name: session.name,
            uid: session.uid,
            way: session.way,
            roles: session.roles,
            agent: session.agent,
            created_s: session.created_s,
            used_s: session.used_s,
        }),
        Change::Used(uses) => SessionChange::Used(uses),
        Change::End(ids) => SessionChange::End(ids),
    }
}
