//! `POST /cluster/v1/requests`: requests of other nodes of the cluster, whose signature this node verifies and whose
//! callers they authenticated (decision 0202). Without such a signature the answer is that to every unknown sender.
//!
//! The caller decides which service answers: the routes of the API, Gold's protocol, AUDITOR's routes, or the sessions
//! of the web pages.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{ConnectInfo, DefaultBodyLimit, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use bank_api::cluster::{CopyPart, Passage, Passed, ROUTE, SessionChange};
use bank_api::sign::{Condition, Failure as Unproven};
use bank_api::v1::MIGRATION_BYTES_MAX;
use bankd_ledger::access::{Person, Roles};
use bankd_ledger::keys::new_tid;
use bankd_ledger::keys::tokens;
use bankd_services::Services;
use bankd_services::passage::{self, session_change};
use tower::ServiceExt as _;

use super::auth::{self, Arrived, Authenticated, Peer, SignedIn};
use super::error::Failure;

/// Bytes of the head of a passed request, beside the body.
const HEAD_MAX: usize = 64 << 10;

/// Passed requests: the services, and the routes of the API.
#[derive(Clone)]
struct Inlet {
    services: Arc<Services>,
    api: Router,
}

/// The caller of a passed request, in its extensions. Only this process can put it there.
#[derive(Clone, Debug)]
pub(super) struct PassedCaller(pub(super) Passed);

/// The route over the routes of the API. A bank on a single machine has it too, and answers it as any unknown sender.
pub(super) fn inlet(services: &Arc<Services>, api: Router) -> Router {
    let auditor = services.auditor.body_limit;
    let most = MIGRATION_BYTES_MAX.max(services.http.body_limit);
    let most = most.max(auditor).saturating_add(HEAD_MAX);
    let inlet = Inlet {
        services: Arc::clone(services),
        api,
    };
    Router::new()
        .route(ROUTE, post(take))
        .layer(DefaultBodyLimit::max(most))
        .with_state(inlet)
}

async fn take(State(inlet): State<Inlet>, headers: HeaderMap, body: Bytes) -> Response {
    let writer = &inlet.services.writer;
    let arrived = match passage::open(writer, &headers, &body) {
        Ok(arrived) => arrived,
        Err(failure) => {
            inlet.services.counters.auth_failed(failure);
            tracing::warn!(
                reason = failure.reason(),
                route = ROUTE,
                "not authenticated"
            );
            return auth::unauthorized();
        }
    };
    let (passage, body, signer) = arrived.into_parts();
    let response = match &passage.caller {
        Passed::Copy { part } => copied(&inlet.services, &passage.from, part.clone()).await,
        _ if writer.is_writing() => answered(&inlet, passage, body).await,
        _ => busy(),
    };
    let (parts, body) = response.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let whole = axum::http::Response::from_parts(parts, body);
    signer.sign(writer, whole).map(Body::from)
}

/// It was passed on once, and is not a second time.
fn busy() -> Response {
    Failure::new("busy", "the writer of the cluster changes now").into_response()
}

async fn answered(inlet: &Inlet, passage: Passage, body: Bytes) -> Response {
    let services = &inlet.services;
    match &passage.caller {
        Passed::Person { .. } | Passed::Token { .. } => api(inlet, passage, body).await,
        Passed::Gold { .. } => match bankd_gold::passed(services, &passage.caller, &body).await {
            Some(text) => text.into_response(),
            None => StatusCode::FORBIDDEN.into_response(),
        },
        Passed::Collector { .. } => {
            // Without an answer the client keeps its record, so the node must not answer it either.
            let answer = services.collectors.ask(passage, body).await;
            answer.map_or_else(busy, |answer| answer.map(Body::from))
        }
        Passed::Session { change } => session(services, change.clone()).await,
        Passed::Copy { part } => copied(services, &passage.from, part.clone()).await,
    }
}

/// A copy of the database for a new node, which any node gives.
async fn copied(services: &Services, to: &str, part: CopyPart) -> Response {
    let (copies, to) = (Arc::clone(&services.copies), to.to_owned());
    let done = tokio::task::spawn_blocking(move || {
        copies
            .answer(&to, part, || Ok((new_tid()?, env!("CARGO_PKG_VERSION"))))
            .map_err(|error| format!("{error:#}"))
    });
    let done = done.await.unwrap_or_else(|error| Err(error.to_string()));
    match done {
        Ok(bytes) => Body::from(bytes).into_response(),
        Err(text) => {
            tracing::warn!(error = text, "no copy for a new node");
            Failure::new("busy", text).into_response()
        }
    }
}

/// A request to the routes of the API.
async fn api(inlet: &Inlet, passage: Passage, body: Bytes) -> Response {
    let mut request = Request::builder()
        .method(passage.method.as_str())
        .uri(&passage.target);
    for (name, value) in &passage.headers {
        request = request.header(name, value);
    }
    let Ok(mut request) = request.body(Body::from(body)) else {
        return Failure::new("bad_request", "not a request").into_response();
    };
    let extensions = request.extensions_mut();
    extensions.insert(ConnectInfo(Peer::Node));
    extensions.insert(PassedCaller(passage.caller));
    match inlet.api.clone().oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

async fn session(services: &Services, change: SessionChange) -> Response {
    let changed = services.writer.change_session(session_change(change)).await;
    match changed {
        Ok(_) => StatusCode::NO_CONTENT.into_response(),
        Err(error) => Failure::from(error).into_response(),
    }
}

/// The caller of a request for the writer; none if its own signature authenticates it there too.
pub(super) async fn caller_of(
    services: &Arc<Services>,
    peer: Peer,
    parts: &Parts,
) -> Option<Passed> {
    if let Some(value) = parts.headers.get(header::AUTHORIZATION) {
        let hash = tokens::hash(auth::token_of(value.as_bytes())?)?;
        return Some(Passed::Token { hash });
    }
    let (person, uid) = match peer {
        Peer::Unix(uid) => (auth::person(services, uid).await?, Some(uid)),
        Peer::Web => (parts.extensions.get::<SignedIn>()?.0.clone(), None),
        Peer::Tcp(_) | Peer::Node | Peer::Nobody => return None,
    };
    let words = person.roles.words();
    Some(Passed::Person {
        name: person.name,
        known: person.known,
        roles: words.split(',').map(str::to_owned).collect(),
        uid,
    })
}

/// The caller that another node authenticated.
pub(super) fn of_node(
    services: &Services,
    caller: Passed,
    request: &Arrived<'_>,
) -> Result<Result<Authenticated, Condition>, Unproven> {
    match caller {
        Passed::Token { hash } => auth::by_hash(&services.keys, &hash, request),
        Passed::Person {
            name,
            known,
            roles,
            uid,
        } => {
            let roles = Roles::from_words(&roles);
            let person = Person { name, known, roles };
            let (directory, now) = (services.writer.directory(), services.writer.now());
            Ok(auth::of_person(person, uid, &directory, now, request))
        }
        _ => Err(Unproven::UnknownKey),
    }
}
