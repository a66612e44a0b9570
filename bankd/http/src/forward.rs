//! Requests in a node of a cluster that the writer must answer (decisions 0200 and 0202). One with a signature goes on as
//! it arrived, so that the writer authenticates the caller itself. A caller whom only this node can authenticate is
//! named in a request that this node signs.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Request, Response, header};
use bank_api::cluster::Passed;
use bankd_ledger::writer::Writer;
use bankd_services::Services;
use bankd_services::passage::{self, CATCH_UP, Call, Whole, exchange};

use super::auth::Peer;
use super::passage::caller_of;

/// Marks a request that a node passed on: it is passed on once.
const FORWARDED: HeaderName = HeaderName::from_static("bank-forwarded");
/// Fields of one connection, which do not go on (RFC 9110, 7.6.1).
const OF_CONNECTION: [HeaderName; 5] = [
    header::CONNECTION,
    header::HOST,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];
/// Fields that authenticate a caller: the node names the caller in their place.
const OF_CALLER: [&str; 6] = [
    "authorization",
    "cookie",
    "signature",
    "signature-input",
    "content-digest",
    "x-request-id",
];

/// The writer's answer, as it came; or why there is none, for an answer 503.
pub(super) async fn to_writer(
    services: &Arc<Services>,
    (peer, request_id): (Peer, &str),
    parts: &Parts,
    body: &Bytes,
) -> Result<Response<Body>, String> {
    if parts.headers.contains_key(FORWARDED) || peer == Peer::Node {
        return Err("the writer of the cluster changes now".to_owned());
    }
    let limit = Duration::from_secs(services.http.timeout_s);
    let response = match caller_of(services, peer, parts).await {
        Some(caller) => {
            let headers = headers_for(parts, request_id);
            passed(&services.writer, caller, (parts, headers), body, limit).await
        }
        None => signed(&services.writer, parts, body, limit).await,
    };
    let (mut head, body) = response?.into_parts();
    for name in &OF_CONNECTION {
        head.headers.remove(name);
    }
    Ok(Response::from_parts(head, Body::from(body)))
}

/// With the signature of the caller.
async fn signed(
    writer: &Writer,
    parts: &Parts,
    body: &Bytes,
    limit: Duration,
) -> Result<Response<Bytes>, String> {
    let cluster = writer.cluster().ok_or("this bank has one node")?;
    let writing = cluster.writer();
    let (_, address) = writing.ok_or("no node of the cluster writes now")?;
    let sent = async {
        let target = parts.uri.path_and_query();
        let target = target.map_or("/", |target| target.as_str());
        let mut request = Request::builder()
            .method(&parts.method)
            .uri(target)
            .header(header::HOST, passage::authority(&address))
            .header(FORWARDED, HeaderValue::try_from(cluster.name())?)
            .body(Whole::new(body.clone()))?;
        for (name, value) in &parts.headers {
            if !OF_CONNECTION.contains(name) {
                request.headers_mut().append(name, value.clone());
            }
        }
        exchange(&address, request).await
    };
    let response = match tokio::time::timeout(limit, sent).await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => {
            return Err(format!("the writer {address} cannot be reached: {error}"));
        }
        Err(_) => return Err(format!("no answer of the writer {address} in time")),
    };
    passage::caught_up(writer, &response, CATCH_UP).await;
    Ok(response)
}

/// With the signature of this node.
async fn passed(
    writer: &Writer,
    caller: Passed,
    (parts, headers): (&Parts, Vec<(String, String)>),
    body: &Bytes,
    limit: Duration,
) -> Result<Response<Bytes>, String> {
    let target = parts.uri.path_and_query();
    let call = Call {
        caller,
        method: parts.method.as_str(),
        target: target.map_or("/", |target| target.as_str()),
        headers,
        body,
    };
    passage::pass(writer, call, limit, CATCH_UP).await
}

/// The fields of a request but those of the connection and of the caller.
fn headers_for(parts: &Parts, request_id: &str) -> Vec<(String, String)> {
    let fields = parts.headers.iter();
    let fields = fields
        .filter(|(name, _)| !OF_CONNECTION.contains(name) && !OF_CALLER.contains(&name.as_str()));
    let fields = fields.filter_map(|(name, value)| {
        let value = value.to_str().ok()?;
        Some((name.as_str().to_owned(), value.to_owned()))
    });
    let id = ("x-request-id".to_owned(), request_id.to_owned());
    fields.chain([id]).collect()
}
