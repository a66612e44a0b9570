//! A request of the JSON API: who asks, what for, and how a command becomes an answer.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{FromRequest, Query, Request};
use axum::http::{HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use bank_api::error::Problem;
use bank_api::v1::{Removed, WriteQuery};
use bank_core::command::Command;
use bank_core::directory::Directory;
use bank_core::effects::Outcome;
use bank_core::ledger::Decision;
use bank_core::refusal::Refusal;
use bank_core::time::Timestamp;
use rusqlite::Connection;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::view::View;
use crate::access::Role;
use crate::answer::{Answer, Media};
use crate::app::App;
use crate::http::auth::Authenticated;
use crate::http::error::{Failure, refusal_answer};
use crate::store;
use crate::writer::{Render, Reply, Submission, Summary};

/// Largest body, in bytes; the layers in front refuse larger ones already.
const BODY_MAX: usize = 1024 * 1024;
/// Marks the answer to a repeat.
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replay");

/// What a handler answers.
pub(super) type Handled = Result<Response, Failure>;

/// One request.
pub(super) struct Call {
    pub(super) app: Arc<App>,
    pub(super) auth: Authenticated,
    /// The bank as the caller sees it.
    pub(super) view: View,
    uri: Uri,
    body: Bytes,
}

impl FromRequest<Arc<App>> for Call {
    type Rejection = Failure;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Failure> {
        let (parts, body) = request.into_parts();
        let nobody = || Failure::new("unauthorized", "");
        let auth = parts
            .extensions
            .get::<Authenticated>()
            .cloned()
            .ok_or_else(nobody)?;
        let too_large = |_| Failure::new("too_large", "the body is larger than 1 MiB");
        let body = axum::body::to_bytes(body, BODY_MAX)
            .await
            .map_err(too_large)?;
        let view = View::new(app.writer.directory(), &auth);
        let call = Call {
            app: Arc::clone(app),
            auth,
            view,
            uri: parts.uri,
            body,
        };
        call.require(&[Role::Scheduler, Role::Auditor, Role::User])?;
        Ok(call)
    }
}

impl Call {
    /// Refuses callers without one of these roles; `admin` always does.
    pub(super) fn require(&self, roles: &[Role]) -> Result<(), Failure> {
        let refused = |refusal: Refusal| self.refused(&refusal);
        self.auth.roles.require(roles).map_err(refused)
    }

    /// Only for administrators.
    pub(super) fn admin(&self) -> Result<(), Failure> {
        self.require(&[Role::Admin])
    }

    /// The directory that the caller's view is of.
    pub(super) fn directory(&self) -> &Arc<Directory> {
        self.view.directory()
    }

    /// A refusal as it leaves.
    pub(super) fn refused(&self, refusal: &Refusal) -> Failure {
        Failure::refused(refusal, &self.directory().bank)
    }

    /// The query; unknown parameters are refused.
    pub(super) fn query<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        let Query(query) = Query::<T>::try_from_uri(&self.uri)
            .map_err(|error| Failure::new("bad_request", format!("query: {error}")))?;
        Ok(query)
    }

    /// The body as JSON; unknown fields are refused.
    pub(super) fn json<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        serde_json::from_slice(&self.body)
            .map_err(|error| Failure::new("bad_request", format!("body: {error}")))
    }

    /// Whether `?dry_run=true` was given.
    pub(super) fn dry_run(&self) -> Result<bool, Failure> {
        let WriteQuery { dry_run } = self.query()?;
        Ok(dry_run)
    }

    /// The ledger clock.
    pub(super) fn now(&self) -> Timestamp {
        self.app.clock.now()
    }

    /// Asks the ledger; boundaries that have passed are journalled first.
    pub(super) async fn ask<T, F>(&self, question: F) -> Result<T, Failure>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, store::Error> + Send + 'static,
    {
        self.app.writer.settle().await?;
        Ok(self.app.readers.run(question).await?)
    }

    /// Submits a command that changes something: it needs an idempotency key, unless it is a dry
    /// run.
    pub(super) async fn write(&self, command: Command, render: Render) -> Result<Done, Failure> {
        let dry_run = self.dry_run()?;
        self.submit(command, render, true, dry_run).await
    }

    /// Submits a command; `keyed` says whether it needs an idempotency key.
    pub(super) async fn submit(
        &self,
        command: Command,
        render: Render,
        keyed: bool,
        dry_run: bool,
    ) -> Result<Done, Failure> {
        let key = self.auth.key.clone().filter(|_| keyed && !dry_run);
        if keyed && !dry_run && key.is_none() {
            let detail = "a call that writes carries Idempotency-Key";
            return Err(Failure::new("idempotency_key_required", detail)
                .hint("the same key makes a repeat safe"));
        }
        let submission = Submission {
            command,
            caller: self.auth.caller.clone(),
            key,
            request_id: self.auth.request_id.clone(),
            dry_run,
            render,
        };
        match self.app.writer.submit(submission).await? {
            Reply::Fresh { answer, summary } => Ok(Done::new(&answer, Some(summary), dry_run)),
            Reply::Stored(answer) => Ok(Done::new(&answer, None, dry_run)),
            Reply::KeyReused => Err(Failure::new(
                "key_reused",
                "this Idempotency-Key was used for another request",
            )),
            Reply::Replay => Err(Failure::new("unauthorized", "")),
        }
    }
}

/// What a command came to, before it leaves: what belongs to the single request is added here and
/// is not part of the stored answer.
pub(super) struct Done {
    status: u16,
    body: Body,
    summary: Option<Summary>,
    dry_run: bool,
}

enum Body {
    Object(Map<String, Value>),
    Problem(Box<Problem>),
}

impl Done {
    fn new(answer: &Answer, summary: Option<Summary>, dry_run: bool) -> Done {
        let body = match serde_json::from_slice(&answer.body) {
            Ok(object) if answer.media == Media::Json => Body::Object(object),
            _ => {
                let unreadable = || Problem::new("internal", "the stored answer cannot be read");
                let problem = Problem::from_json(&answer.body).unwrap_or_else(unreadable);
                Body::Problem(Box::new(problem))
            }
        };
        Done {
            status: answer.status,
            body,
            summary,
            dry_run,
        }
    }

    /// Whether the command was accepted.
    pub(super) fn is_accepted(&self) -> bool {
        matches!(self.body, Body::Object(_))
    }

    /// Whether it was decided now and not before under the same key.
    pub(super) fn is_fresh(&self) -> bool {
        self.summary.is_some()
    }

    /// Whether nothing was written.
    pub(super) fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    /// A field of an accepted answer.
    pub(super) fn get(&self, field: &str) -> Option<&Value> {
        match &self.body {
            Body::Object(object) => object.get(field),
            Body::Problem(_) => None,
        }
    }

    /// Sets a field of an accepted answer.
    pub(super) fn set(&mut self, field: &str, value: impl Into<Value>) {
        if let Body::Object(object) = &mut self.body {
            object.insert(field.to_owned(), value.into());
        }
    }

    /// Sets a field of an object within an accepted answer.
    pub(super) fn set_in(&mut self, outer: &str, field: &str, value: impl Into<Value>) {
        let Body::Object(object) = &mut self.body else {
            return;
        };
        if let Some(Value::Object(inner)) = object.get_mut(outer) {
            inner.insert(field.to_owned(), value.into());
        }
    }

    /// Adds a warning to an accepted answer.
    pub(super) fn warn(&mut self, warning: String) {
        if let Body::Object(object) = &mut self.body
            && let Some(Value::Array(warnings)) = object.get_mut("warnings")
        {
            warnings.push(warning.into());
        }
    }

    /// Adds a hint to a refusal with status 404 that has none.
    pub(super) fn hint(mut self, hint: impl FnOnce() -> Option<String>) -> Done {
        if let Body::Problem(problem) = &mut self.body
            && problem.status == 404
            && problem.hint.is_none()
        {
            problem.hint = hint();
        }
        self
    }
}

impl IntoResponse for Done {
    fn into_response(mut self) -> Response {
        let transaction = self.summary.and_then(|summary| summary.transaction);
        if self.dry_run {
            self.set("transaction", Value::Null);
            if self.get("dry_run").is_some() {
                self.set("dry_run", true);
            }
        } else if let (Some(Value::Null), Some(id)) = (self.get("transaction"), transaction) {
            self.set("transaction", id);
        }
        let mut response = match self.body {
            Body::Object(object) => json(self.status, &object),
            Body::Problem(problem) => Failure::of(*problem).into_response(),
        };
        if let Some(summary) = self.summary {
            // For the log line of the request.
            response.extensions_mut().insert(summary);
        } else {
            let replayed = HeaderValue::from_static("true");
            response.headers_mut().insert(REPLAYED, replayed);
        }
        response
    }
}

/// A JSON answer.
pub(super) fn json(status: u16, body: &impl Serialize) -> Response {
    let Ok(bytes) = serde_json::to_vec(body) else {
        return Failure::new("internal", "the answer cannot be written").into_response();
    };
    let media = HeaderValue::from_static(Media::Json.content_type());
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    (status, [(header::CONTENT_TYPE, media)], bytes).into_response()
}

/// A JSON answer with status 200.
#[allow(
    clippy::unnecessary_wraps,
    reason = "the last line of every reading handler"
)]
pub(super) fn ok(body: &impl Serialize) -> Handled {
    Ok(json(200, body))
}

/// The answer that is stored: the shape of an accepted outcome, or the refusal.
pub(super) fn rendered<T: Serialize>(
    directory: &Directory,
    decision: &Decision,
    status: u16,
    shape: impl FnOnce(&Outcome) -> Option<T>,
) -> Answer {
    let outcome = match decision {
        Ok(outcome) => outcome,
        Err(refusal) => return refusal_answer(refusal, &directory.bank),
    };
    let body = shape(outcome).and_then(|shape| serde_json::to_vec(&shape).ok());
    if let Some(body) = body {
        return Answer {
            status,
            media: Media::Json,
            body,
        };
    }
    let problem = Problem::new("internal", "the outcome has another shape");
    Answer {
        status: problem.status,
        media: Media::Problem,
        body: serde_json::to_vec(&problem).unwrap_or_default(),
    }
}

/// The answer to every removal; the name is added on the way out.
pub(super) fn removed(directory: &Directory, decision: &Decision) -> Answer {
    rendered(directory, decision, 200, |_| {
        Some(Removed {
            name: String::new(),
            transaction: None,
            dry_run: false,
            warnings: Vec::new(),
        })
    })
}
