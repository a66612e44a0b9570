//! The steps of every request, in one function: id, body, caller, capacity, time limit, panic, signature,
//! log line.
//!
//! One hand-written layer instead of seven boxed ones, since this is the hot path. It never logs
//! bodies, keys, signatures or nonces.

mod body;

use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use bank_api::nami::Line;
use bank_api::sign::{Condition, Failure as Unproven};
use bankd_ledger::access::Role;
use bankd_ledger::clock::{self, Stopwatch};
use bankd_ledger::writer::Caller;
use bankd_services::Services;
use bankd_services::limits::{Limit, Over, UnderWay};
use bankd_services::position::Seen;
use tokio::sync::Semaphore;

use super::answer::{line_answer, respond};
use super::auth::{self, Arrived, Authenticated, Peer, SignedIn, Signer, spent};
use super::error::{self, Failure};
use super::forward;
use super::log;
use super::passage::{self, PassedCaller};
use super::position;
use super::view_as;
use body::{BODY_TIME, TOO_LARGE, announced, is_coded, whole};

/// Longest path and query, in bytes.
const MAX_TARGET: usize = 8 << 10;
/// The writer of a cluster answers these too: it decides quotes, has the uploads under way, and numbers names.
const AT_THE_WRITER: [&str; 3] = ["/api/v1/quotes", "/api/v1/imports", "/api/v1/export/swf"];
/// Longest id of a request that a caller may choose.
const MAX_REQUEST_ID: usize = 64;

/// State of the layer.
#[derive(Clone)]
pub(super) struct Frame {
    pub(super) services: Arc<Services>,
    /// Whether a row of the table matches a request.
    pub(super) has_row: fn(&Parts) -> bool,
}

/// The layer around every route but the public ones.
pub(super) async fn frame(State(frame): State<Frame>, request: Request, next: Next) -> Response {
    let since = Stopwatch::start();
    let (parts, body) = request.into_parts();
    let peer = parts.extensions.get::<ConnectInfo<Peer>>();
    let peer = peer.map_or(Peer::Nobody, |info| info.0);
    let mut line = log::Line::new(since, peer, request_id(&parts.headers), &parts);
    let head = parts.method == Method::HEAD;
    let (response, signer) = pass(&frame, parts, body, next, &mut line).await;
    let response = error::with_request_id(response, line.request_id());
    let (mut parts, body) = response.into_parts();
    let mut body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    if head {
        body = Bytes::new();
    }
    if let Some(signer) = signer {
        signer.sign(parts.status.as_u16(), &body, &mut parts.headers);
    }
    if let Ok(value) = HeaderValue::try_from(line.request_id()) {
        parts.headers.insert("x-request-id", value);
    }
    if let Some(wait) = error::retry_after(parts.status) {
        parts.headers.insert(header::RETRY_AFTER, wait);
    }
    line.write(&frame.services, &parts);
    Response::from_parts(parts, Body::from(body))
}

/// Everything up to the handler's answer, and how that is to be signed.
async fn pass(
    frame: &Frame,
    mut parts: Parts,
    body: Body,
    next: Next,
    line: &mut log::Line,
) -> (Response, Option<Signer>) {
    let services = &frame.services;
    let nami = parts.uri.path().starts_with("/nami/");
    let fail = |code: &str, detail: &str| problem(nami, code, detail);
    if is_too_long(&parts) {
        let text = "path and query are longer than 8 KiB";
        return (fail("too_large", text), None);
    }
    let body = match arrived(services, nami, &parts, body, line).await {
        Ok(body) => body,
        Err(refused) => return (*refused, None),
    };
    let (signer, caller) = match identify(services, &parts, &body, line).await {
        Ok(known) => known,
        Err(failure) => {
            services.counters.auth_failed(failure);
            line.unauthorized(failure);
            return (auth::unauthorized_with(&parts.headers), None);
        }
    };
    let caller = match caller {
        Ok(caller) => caller,
        Err(condition) => {
            let key = signer.as_ref().map_or("", Signer::key_id);
            line.called_by(key);
            if condition == Condition::IdempotencyKeyRequired && !(frame.has_row)(&parts) {
                // Without a route nothing is written: the request is refused without authentication.
                let bare = Request::from_parts(parts, Body::empty());
                return (next.run(bare).await, signer);
            }
            return (fail(condition.code(), &condition.detail()), signer);
        }
    };
    line.called_by(&caller.caller.actor);
    line.with_roles(caller.roles);
    let _under_way = match admitted(services, &parts, &caller, body.len()) {
        Ok(under_way) => under_way,
        Err(response) => return (*response, signer),
    };
    if let Some(answer) = elsewhere(services, &parts, &body, line).await {
        return answer;
    }
    // After authentication only: unknown senders must not use the capacity of known ones.
    let Ok(_slot) = slots(services, line.peer()).try_acquire() else {
        return (fail("busy", "too many requests at once"), signer);
    };
    let nonce = spent::Nonce::of(&caller, &parts);
    let response = match view_as::narrowed(services, caller, &mut parts) {
        Ok(caller) => {
            let answer = handled(services, caller, parts, body, next);
            let answer = spent::once(services, nonce, answer).await;
            answer.unwrap_or_else(|error| Failure::from(error).into_response())
        }
        Err(failure) => return (failure.into_response(), signer),
    };
    if response.status() == StatusCode::UNAUTHORIZED {
        // The same signed bytes again, recognised by their stored answer. The sender counts as unknown.
        services.counters.auth_failed(Unproven::Replay);
        line.unauthorized(Unproven::Replay);
        return (auth::unauthorized(), None);
    }
    (response, signer)
}

/// The answer of the handler, in time, and in a cluster with its position.
async fn handled(
    services: &Services,
    caller: Authenticated,
    mut parts: Parts,
    body: Bytes,
    next: Next,
) -> Response {
    parts.extensions.insert(caller);
    let path = parts.uri.path();
    let (is_read, nami) = (!is_writing(&parts.method, path), path.starts_with("/nami/"));
    // An answer contains at least what the node contained before it read.
    let before = Seen::now(&services.writer).filter(|_| is_read);
    let limit = Duration::from_secs(services.http.timeout_s);
    let handled = next.run(Request::from_parts(parts, Body::from(body)));
    let mut response = match tokio::time::timeout(limit, handled).await {
        Ok(response) => response,
        Err(_) if is_read => problem(nami, "busy", "no answer in time; repeat the request"),
        Err(_) => problem(
            nami,
            "busy",
            "no answer in time; repeat the request with the same key",
        ),
    };
    if let Some(seen) = before.or_else(|| Seen::now(&services.writer)) {
        seen.show(response.headers_mut());
    }
    response
}

fn is_too_long(parts: &Parts) -> bool {
    let target = parts.uri.path_and_query();
    target.is_some_and(|target| target.as_str().len() > MAX_TARGET)
}

/// The answer of the writer, in a node of a cluster that does not write, to a request that writes or that needs a later
/// position than this node has.
async fn elsewhere(
    services: &Arc<Services>,
    parts: &Parts,
    body: &Bytes,
    line: &log::Line,
) -> Option<(Response, Option<Signer>)> {
    let cluster = services.writer.cluster()?;
    let path = parts.uri.path();
    let fail = |code: &str, text: &str| {
        let nami = path.starts_with("/nami/");
        Some((problem(nami, code, text), None))
    };
    if !is_writing(&parts.method, path) {
        match position::asked(&parts.headers) {
            Ok(None) => return None,
            Ok(Some(asked)) if position::is_reached(cluster, asked).await => return None,
            Ok(Some(asked)) if services.writer.is_writing() => {
                let own = cluster.position();
                let text = format!("the bank is at position {own}, and not yet at {asked}");
                return fail("busy", &text);
            }
            Ok(Some(_)) => {}
            Err(text) => return fail("bad_request", text),
        }
    } else if services.writer.is_writing() {
        return None;
    }
    let caller = (line.peer(), line.request_id());
    match forward::to_writer(services, caller, parts, body).await {
        // The writer signed it for a caller with a signature.
        Ok(response) => Some((response, None)),
        Err(text) => fail("busy", &text),
    }
}

/// Whether the writer of a cluster must answer a request.
fn is_writing(method: &Method, path: &str) -> bool {
    auth::is_mutating(method, path) || AT_THE_WRITER.contains(&path)
}

/// Open pages take nothing from the scheduler.
fn slots(services: &Services, peer: Peer) -> &Semaphore {
    match peer {
        Peer::Web => &services.web_slots,
        _ => &services.slots,
    }
}

/// Whether the body is within the limit of its route, and the client within its own limits.
fn admitted(
    services: &Services,
    parts: &Parts,
    caller: &Authenticated,
    body: usize,
) -> Result<Option<UnderWay>, Box<Response>> {
    let path = parts.uri.path();
    let nami = path.starts_with("/nami/");
    if body > body::limit_of(services, path) {
        let (code, detail) = TOO_LARGE;
        return Err(Box::new(problem(nami, code, detail)));
    }
    within_limits(services, nami, caller, body)
}

/// Whether a client is within its limits. Events of a scheduler have already happened, so they are never
/// refused for their rate.
pub(super) fn within_limits(
    services: &Services,
    nami: bool,
    caller: &Authenticated,
    body: usize,
) -> Result<Option<UnderWay>, Box<Response>> {
    if nami && caller.roles.allow(Role::Scheduler) {
        return Ok(None);
    }
    let Caller { actor, client, .. } = &caller.caller;
    let admitted = services.limits.admit(actor, client, body);
    admitted
        .map(Some)
        .map_err(|over| Box::new(beyond(services, nami, client, over)))
}

/// The answer to a client that exceeds a limit.
fn beyond(services: &Services, nami: bool, client: &str, over: Over) -> Response {
    services.counters.limited(over.limit as usize);
    let Over { allowed, .. } = over;
    if over.is_news {
        tracing::warn!(client, limit = ?over.limit, allowed, "a client is beyond its limit");
    }
    let (code, detail) = match over.limit {
        Limit::Rate => (
            "rate_limited",
            format!("{client} may ask {allowed} times a second"),
        ),
        Limit::Concurrent => (
            "rate_limited",
            format!("{client} may have {allowed} requests under way"),
        ),
        Limit::Body => (
            "too_large",
            format!("{client} may send {allowed} bytes at once"),
        ),
    };
    let mut response = problem(nami, code, &detail);
    if over.limit != Limit::Body {
        let after = HeaderValue::from(over.retry_after_s);
        response.headers_mut().insert(header::RETRY_AFTER, after);
    }
    response
}

/// Reads the whole body. While it is incomplete, it counts against the limits of the client, if the head
/// alone names the client. Before the body is complete the signature cannot be verified, so only the
/// connection limits of the peer apply.
async fn arrived(
    services: &Arc<Services>,
    nami: bool,
    parts: &Parts,
    body: Body,
    line: &log::Line,
) -> Result<Bytes, Box<Response>> {
    if is_coded(&parts.headers) {
        let detail =
            "Content-Encoding, and a Transfer-Encoding other than chunked: send the body as it is";
        return Err(Box::new(problem(nami, "unsupported", detail)));
    }
    let usual = services.http.body_limit;
    let limit = body::limit_of(services, parts.uri.path());
    let is_large = limit > usual && announced(&parts.headers).is_none_or(|length| length > usual);
    let _room = if is_large {
        let room = tokio::time::timeout(BODY_TIME, services.large_bodies.acquire()).await;
        let busy = || Box::new(problem(nami, "busy", "too many large requests at once"));
        Some(room.map_err(|_| busy())?.map_err(|_| busy())?)
    } else {
        None
    };
    let body = whole(body, &parts.headers, limit);
    tokio::pin!(body);
    let there = poll_fn(|context| Poll::Ready(body.as_mut().poll(context))).await;
    let body = match there {
        Poll::Ready(body) => body,
        Poll::Pending => {
            let client = named_by_head(services, nami, parts, line).await;
            let counted = client.map(|client| {
                let counted = services.limits.wait_for(&client);
                counted.map_err(|over| Box::new(beyond(services, nami, &client, over)))
            });
            let _under_way = counted.transpose()?;
            body.await
        }
    };
    body.map_err(|(code, detail)| Box::new(problem(nami, code, detail)))
}

/// The client of the request, if the head alone names it and it has limits.
async fn named_by_head(
    services: &Arc<Services>,
    nami: bool,
    parts: &Parts,
    line: &log::Line,
) -> Option<String> {
    let is_signed = parts.headers.contains_key("signature");
    if is_signed
        || !parts.headers.contains_key(header::AUTHORIZATION)
            && !matches!(line.peer(), Peer::Unix(_))
    {
        return None;
    }
    let (_, caller) = identify(services, parts, &Bytes::new(), line).await.ok()?;
    let caller = caller.ok()?;
    let is_exempt = nami && caller.roles.allow(Role::Scheduler);
    (!is_exempt).then_some(caller.caller.client)
}

type Identified = (Option<Signer>, Result<Authenticated, Condition>);

/// Identifies the caller by token, by signature, or by the peer of the socket.
async fn identify(
    services: &Arc<Services>,
    parts: &Parts,
    body: &Bytes,
    line: &log::Line,
) -> Result<Identified, Unproven> {
    let (peer, request_id) = (line.peer(), line.request_id().to_owned());
    let fields = parts.headers.iter();
    let fields: Vec<_> = fields
        .map(|(name, value)| (name.as_str(), value.as_bytes()))
        .collect();
    let arrived = Arrived {
        method: &parts.method,
        uri: &parts.uri,
        fields: &fields,
        body,
        request_id: &request_id,
        window_s: services.auth.window_s,
    };
    if let Some(token) = auth::bearer(&arrived)? {
        let proxies = &services.auth.token_proxies;
        let caller = auth::by_token(&services.keys, token, peer, proxies, &arrived)?;
        return Ok((None, caller));
    }
    match peer {
        Peer::Tcp(_) => {
            let (signer, caller) = auth::verify(&services.keys, &arrived)?;
            Ok((Some(signer), caller))
        }
        Peer::Unix(uid) => {
            let person = auth::person(services, uid)
                .await
                .ok_or(Unproven::UnknownKey)?;
            let (directory, now) = (services.writer.directory(), services.writer.now());
            let caller = auth::of_person(person, Some(uid), &directory, now, &arrived);
            Ok((None, caller))
        }
        Peer::Web => {
            let signed_in = parts.extensions.get::<SignedIn>();
            let SignedIn(person) = signed_in.cloned().ok_or(Unproven::UnknownKey)?;
            let (directory, now) = (services.writer.directory(), services.writer.now());
            let caller = auth::of_person(person, None, &directory, now, &arrived);
            Ok((None, caller))
        }
        Peer::Node => {
            let passed = parts.extensions.get::<PassedCaller>();
            let PassedCaller(passed) = passed.cloned().ok_or(Unproven::UnknownKey)?;
            Ok((None, passage::of_node(services, passed, &arrived)?))
        }
        Peer::Nobody => Err(Unproven::UnknownKey),
    }
}

/// A caller's own id if it is a sane one, else a new one.
fn request_id(headers: &HeaderMap) -> String {
    let sane = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
    let given = headers.get("x-request-id").map(HeaderValue::as_bytes);
    given
        .filter(|id| (1..=MAX_REQUEST_ID).contains(&id.len()) && id.iter().all(sane))
        .and_then(|id| std::str::from_utf8(id).ok())
        .map_or_else(clock::request_id, str::to_owned)
}

/// A fault of the frame itself: a line for the scheduler's scripts, else a problem document.
fn problem(nami: bool, code: &str, detail: &str) -> Response {
    if nami {
        let line = Line::error(code, detail);
        return respond(line_answer(&line));
    }
    Failure::new(code, detail).into_response()
}

/// The answer after a panic in a handler. The panic hook has logged it.
pub(super) fn panicked(_: Box<dyn std::any::Any + Send>) -> Response {
    problem(false, "internal", "an internal error; the log has more")
}

/// No such route.
pub(super) async fn not_found(uri: Uri) -> Response {
    // A client that puts an empty name into a path comes here.
    let is_empty = uri.path().split('/').skip(1).any(str::is_empty);
    let detail = if is_empty && uri.path().starts_with("/api/v1/") {
        "no such route: a name in the path is empty"
    } else {
        "no such route"
    };
    problem(false, "not_found", detail)
}

/// A path that accepts other methods.
pub(super) async fn method_not_allowed() -> Response {
    problem(
        false,
        "method_not_allowed",
        "the path does not accept this method; see the Allow header",
    )
}
