//! One command of a batch as the request that it would be alone.

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{Method, Uri, header};
use bank_api::v1::BatchCommand;
use serde_json::value::RawValue;

use crate::auth::{self, Authenticated};
use crate::error::Failure;

/// Longest path and query, in bytes.
const TARGET_MAX: usize = 8 << 10;

/// A command that can be sent.
pub(super) struct Prepared {
    pub(super) method: Method,
    uri: Uri,
    media: &'static str,
    body: Bytes,
    /// The caller of the batch with the key of this command.
    pub(super) caller: Authenticated,
}

/// Reads a command at a position from zero on.
pub(super) fn prepare(
    new: &BatchCommand,
    place: usize,
    batch: &Authenticated,
    window_s: i64,
) -> Result<Prepared, Failure> {
    let number = place.saturating_add(1);
    let method = match new.method.as_deref() {
        None | Some("POST") => Method::POST,
        Some("PATCH") => Method::PATCH,
        Some("DELETE") => Method::DELETE,
        Some(_) => return Err(bad("method", "POST, PATCH or DELETE")),
    };
    let uri: Option<Uri> = new.path.parse().ok();
    // A fragment is no part of a request.
    let is_whole = new.path.len() <= TARGET_MAX && !new.path.contains('#');
    let uri = uri.filter(|uri| is_whole && is_path(uri));
    let uri = uri.ok_or_else(|| {
        bad(
            "path",
            "a path with an optional query, such as /api/v1/deposits",
        )
    })?;
    let (media, body) = read_body(new.body.as_deref().map(RawValue::get))?;
    let key = new.key.iter().map(|key| ("idempotency-key", key.as_str()));
    let time = new.event_time.iter();
    let time = time.map(|time| ("bank-event-time", time.as_str()));
    let fields: Vec<_> = key.chain(time).collect();
    let request = (&method, &uri, &*body);
    let caller = auth::of_command(batch, number, request, &fields, window_s)
        .map_err(|condition| Failure::new(condition.code(), condition.detail()))?;
    Ok(Prepared {
        method,
        uri,
        media,
        body,
        caller,
    })
}

fn is_path(uri: &Uri) -> bool {
    uri.scheme().is_none() && uri.authority().is_none() && uri.path().starts_with('/')
}

/// The media type and the bytes of a body: those of a string, or JSON as it is.
fn read_body(json: Option<&str>) -> Result<(&'static str, Bytes), Failure> {
    let json = json.unwrap_or_default();
    if !json.starts_with('"') {
        return Ok(("application/json", Bytes::copy_from_slice(json.as_bytes())));
    }
    let text: String = serde_json::from_str(json).map_err(|_| bad("body", "JSON or a string"))?;
    Ok(("text/xml", Bytes::from(text)))
}

impl Prepared {
    /// The path without the query.
    pub(super) fn path(&self) -> &str {
        self.uri.path()
    }

    /// Bytes of the body.
    pub(super) fn length(&self) -> usize {
        self.body.len()
    }

    /// The request, as one that is past the frame.
    pub(super) fn request(self, dry_run: bool) -> Result<Request, Failure> {
        let mut uri = self.uri;
        if dry_run {
            let target = uri.path_and_query().map_or("/", |target| target.as_str());
            let sign = if target.contains('?') { '&' } else { '?' };
            uri = format!("{target}{sign}dry_run=true")
                .parse()
                .map_err(|_| bad("path", "a shorter query"))?;
        }
        let request = Request::builder()
            .method(self.method)
            .uri(uri)
            .header(header::CONTENT_TYPE, self.media)
            .extension(self.caller);
        let request = request.body(Body::from(self.body));
        request.map_err(|_| Failure::new("bad_request", "the command is not a request"))
    }
}

fn bad(field: &'static str, expected: &str) -> Failure {
    Failure::new("bad_request", format!("{field}: expected {expected}")).field(field)
}
