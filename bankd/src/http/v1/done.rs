//! What a command came to, as it leaves: once for the request that ran it, and as it is stored for repeats.

use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::answer::{Answer, Media};
use crate::http::frame::respond;
use crate::http::log::Denied;
use crate::writer::Summary;

/// Marks the answer to a repeat.
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replay");

/// What a command came to, before it leaves: the bytes that are stored for repeats.
pub(super) struct Done {
    answer: Answer,
    /// None for a repeat.
    summary: Option<Summary>,
    dry_run: bool,
}

impl Done {
    /// Of a command that was decided now.
    pub(super) fn fresh(answer: Answer, summary: Summary, dry_run: bool) -> Done {
        Done {
            answer,
            summary: Some(summary),
            dry_run,
        }
    }

    /// Of one that was answered before.
    pub(super) fn stored(answer: Answer) -> Done {
        Done {
            answer,
            summary: None,
            dry_run: false,
        }
    }

    /// Whether the command was accepted.
    pub(super) fn is_accepted(&self) -> bool {
        self.answer.media == Media::Json
    }

    /// Whether it was decided now, not before under the same key.
    pub(super) fn is_fresh(&self) -> bool {
        self.summary.is_some()
    }

    /// Whether nothing was written.
    pub(super) fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    /// Adds to this answer alone what is told once and never stored: a secret.
    pub(super) fn tell_once<T: Serialize + DeserializeOwned>(&mut self, add: impl FnOnce(&mut T)) {
        let Ok(mut shape) = serde_json::from_slice::<T>(&self.answer.body) else {
            return;
        };
        add(&mut shape);
        if let Ok(body) = serde_json::to_vec(&shape) {
            self.answer.body = body;
        }
    }
}

/// What goes beside the one answer that is made of several commands.
pub(super) struct Beside {
    /// All of them were answered before.
    pub(super) replayed: bool,
    /// Refusals of access among them.
    pub(super) denied: Denied,
}

impl Beside {
    /// Puts it beside the answer that leaves.
    pub(super) fn mark(self, mut response: Response) -> Response {
        self.denied.put(response.extensions_mut());
        if self.replayed {
            return replayed(response);
        }
        response
    }
}

impl IntoResponse for Done {
    fn into_response(self) -> Response {
        let mut denied = Denied::default();
        if let Some(summary) = &self.summary {
            denied.by_rule(summary, &self.answer);
        }
        let mut response = respond(self.answer);
        if let Some(summary) = self.summary {
            // For the log line of the request.
            let extensions = response.extensions_mut();
            extensions.insert(summary);
            denied.put(extensions);
            return response;
        }
        replayed(response)
    }
}

/// Marks an answer that was given before.
fn replayed(mut response: Response) -> Response {
    let yes = HeaderValue::from_static("true");
    response.headers_mut().insert(REPLAYED, yes);
    response
}
