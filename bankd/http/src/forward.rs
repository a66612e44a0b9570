//! Requests that write, in a node of a cluster that does not write: they go on to the writer as they arrived, with
//! their signature, so that the writer authenticates the caller itself (decision 0200).

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Request, Response, header};
use bankd_ledger::writer::Cluster;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// Marks a request that a node passed on: it is passed on once.
const FORWARDED: HeaderName = HeaderName::from_static("bank-forwarded");
/// Time to connect to the writer.
const CONNECT: Duration = Duration::from_secs(2);
/// Fields of one connection, which do not go on (RFC 9110, 7.6.1).
const OF_CONNECTION: [HeaderName; 5] = [
    header::CONNECTION,
    header::HOST,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// The writer's answer, as it came; or why there is none, for an answer 503.
pub(super) async fn to_writer(
    cluster: &Cluster,
    parts: &Parts,
    body: Bytes,
    limit: Duration,
) -> Result<Response<Body>, String> {
    if parts.headers.contains_key(FORWARDED) {
        return Err("the writer of the cluster changes now".to_owned());
    }
    let address = cluster.writer();
    let address = address.ok_or("no node of the cluster writes now")?;
    let sent = tokio::time::timeout(limit, send(cluster.name(), &address, parts, body)).await;
    match sent {
        Ok(Ok(response)) => Ok(response),
        Ok(Err(error)) => Err(format!("the writer {address} cannot be reached: {error}")),
        Err(_) => Err(format!("no answer of the writer {address} in time")),
    }
}

async fn send(
    node: &str,
    address: &str,
    parts: &Parts,
    body: Bytes,
) -> Result<Response<Body>, Box<dyn std::error::Error + Send + Sync>> {
    let authority = address.strip_prefix("http://").unwrap_or(address);
    let authority = authority.trim_end_matches('/');
    let stream = tokio::time::timeout(CONNECT, TcpStream::connect(authority)).await??;
    stream.set_nodelay(true)?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    // It ends with the answer: nothing keeps the sender.
    tokio::spawn(connection);
    let target = parts.uri.path_and_query();
    let target = target.map_or("/", |target| target.as_str());
    let mut request = Request::builder()
        .method(&parts.method)
        .uri(target)
        .header(header::HOST, authority)
        .header(FORWARDED, HeaderValue::try_from(node)?)
        .body(Body::from(body))?;
    for (name, value) in &parts.headers {
        if !OF_CONNECTION.contains(name) {
            request.headers_mut().append(name, value.clone());
        }
    }
    let response = sender.send_request(request).await?;
    let (mut head, incoming) = response.into_parts();
    for name in &OF_CONNECTION {
        head.headers.remove(name);
    }
    let body = axum::body::to_bytes(Body::new(incoming), usize::MAX).await?;
    Ok(Response::from_parts(head, Body::from(body)))
}
