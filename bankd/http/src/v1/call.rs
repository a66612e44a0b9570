//! A request of the JSON API: its caller, its input, and the answer of its command.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, Method, Uri};
use axum::response::{IntoResponse, Response};
use bank_api::error::Problem;
use bank_api::v1::{MIGRATION_BYTES_MAX, Removed, WriteQuery, Written};
use bank_core::command::Command;
use bank_core::directory::Directory;
use bank_core::effects::Outcome;
use bank_core::refusal::Refusal;
use bank_core::time::Timestamp;
use bankd_ledger::access::right::Right;
use bankd_ledger::writer::{Decided, IdempotencyKey, Render, Reply, Submission};
use bankd_services::Services;
use bankd_store::answer::{Answer, Media};
use bankd_store::{self as store, Known, StoredAnswer};
use rusqlite::Connection;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::outcome::{Beside, Done};
use super::view::{self, View};
use crate::answer::respond;
use crate::auth::Authenticated;
use crate::bad_request;
use crate::error::{Failure, hint_of, problem};
use crate::log::{Denied, Story};
use crate::route::Granted;

/// Largest body, in bytes; the layers in front refuse larger ones already, and most routes have a lower limit.
const BODY_MAX: usize = MIGRATION_BYTES_MAX;

/// The result of a handler.
pub(super) type Handled = Result<Response, Failure>;

/// One request.
pub(super) struct Call {
    pub(super) services: Arc<Services>,
    pub(super) auth: Authenticated,
    /// The bank as the caller sees it.
    pub(super) view: View,
    pub(super) method: Method,
    pub(super) uri: Uri,
    media: Option<HeaderValue>,
    body: Bytes,
}

impl FromRequest<Arc<Services>> for Call {
    type Rejection = Failure;

    async fn from_request(request: Request, services: &Arc<Services>) -> Result<Self, Failure> {
        let (parts, body) = request.into_parts();
        let nobody = || Failure::new("unauthorized", "");
        let auth = parts
            .extensions
            .get::<Authenticated>()
            .cloned()
            .ok_or_else(nobody)?;
        let too_large = |_| Failure::new("too_large", "the body is larger than 16 MiB");
        // A route outside of the table has no right to check, so nobody may use it.
        if parts.extensions.get::<Granted>().is_none() {
            return Err(Failure::new("not_allowed", "this route is disabled"));
        }
        let body = axum::body::to_bytes(body, BODY_MAX)
            .await
            .map_err(too_large)?;
        let view = view::of(&services.writer.directory(), &auth, services.writer.now());
        Ok(Call {
            services: Arc::clone(services),
            auth,
            view,
            method: parts.method,
            uri: parts.uri,
            media: parts.headers.get(CONTENT_TYPE).cloned(),
            body,
        })
    }
}

impl Call {
    /// Refuses callers without a right beyond that of the route.
    pub(super) fn demand(&self, right: Right) -> Result<(), Failure> {
        let refused = |refusal: Refusal| self.refused(&refusal);
        right.demand(self.auth.roles).map_err(refused)
    }

    /// The same caller with another body: that of a stored request.
    pub(super) fn with_body(&self, body: Vec<u8>) -> Call {
        Call {
            services: Arc::clone(&self.services),
            auth: self.auth.clone(),
            view: self.view.clone(),
            method: self.method.clone(),
            uri: self.uri.clone(),
            media: None,
            body: Bytes::from(body),
        }
    }

    /// The directory that the caller's view is of.
    pub(super) fn directory(&self) -> &Arc<Directory> {
        self.view.directory()
    }

    /// A refusal in the answer.
    pub(super) fn refused(&self, refusal: &Refusal) -> Failure {
        Failure::refused(refusal, &self.directory().bank)
    }

    /// The query; unknown parameters are refused.
    pub(super) fn query<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        bad_request::query(&self.uri)
    }

    /// The body, unchanged.
    pub(super) fn body(&self) -> &Bytes {
        &self.body
    }

    /// The body as a JSON object; unknown fields are refused.
    pub(super) fn json<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        let refused = |why: &str| Failure::new("bad_request", format!("body: {why}"));
        // An array would pass for the fields of a structure in their order.
        if self.body.trim_ascii_start().starts_with(b"[") {
            return Err(refused("an object is expected, not an array"));
        }
        let media = self.media.as_ref().and_then(|media| media.to_str().ok());
        serde_json::from_slice(&self.body)
            .map_err(|error| bad_request::of_body(&self.body, media, &error))
    }

    /// Whether the request has `?dry_run=true`.
    pub(super) fn dry_run(&self) -> Result<bool, Failure> {
        let WriteQuery { dry_run } = self.query()?;
        Ok(dry_run)
    }

    /// The ledger clock.
    pub(super) fn now(&self) -> Timestamp {
        self.services.writer.now()
    }

    /// Asks the ledger; boundaries that have passed are journalled first.
    pub(super) async fn ask<T, F>(&self, question: F) -> Result<T, Failure>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, store::Error> + Send + 'static,
    {
        self.services.writer.settle().await?;
        Ok(self.services.readers.run(question).await?)
    }

    /// Submits a command that changes something: it needs an idempotency key, unless it is a dry
    /// run.
    pub(super) async fn write(&self, command: Command, render: Render) -> Result<Done, Failure> {
        self.write_key(command, render, String::new()).await
    }

    /// The same, for handlers that read `dry_run` from the query.
    pub(super) async fn write_or_try(
        &self,
        command: Command,
        render: Render,
        dry_run: bool,
    ) -> Result<Done, Failure> {
        self.submit(command, render, true, dry_run, String::new())
            .await
    }

    /// The same for a command about a signing key. The answer contains the fingerprint.
    pub(super) async fn write_key(
        &self,
        command: Command,
        render: Render,
        fingerprint: String,
    ) -> Result<Done, Failure> {
        let dry_run = self.dry_run()?;
        self.submit(command, render, true, dry_run, fingerprint)
            .await
    }

    /// Submits a command without an idempotency key: its answer is not stored.
    pub(super) async fn write_unkeyed(
        &self,
        command: Command,
        render: Render,
    ) -> Result<Done, Failure> {
        let dry_run = self.dry_run()?;
        self.submit(command, render, false, dry_run, String::new())
            .await
    }

    /// Submits several commands, each with its position in the request and a separate key: `KEY#1`,
    /// `KEY#2`, …
    pub(super) async fn write_all(
        &self,
        commands: Vec<(usize, Command)>,
        render: Render,
    ) -> Result<(Vec<Answer>, Beside), Failure> {
        let dry_run = self.dry_run()?;
        let key = self.key(true, dry_run)?;
        let numbered = |(number, command): (usize, Command)| Submission {
            fingerprint: String::new(),
            turn: None,
            command,
            caller: self.auth.caller.clone(),
            key: key.as_ref().map(|key| key.part(number)),
            request_id: self.auth.request_id.clone(),
            dry_run,
            render,
        };
        let all = commands.into_iter().map(numbered).collect();
        let replies = self.services.writer.submit_all(all).await?;
        let stored = |reply: &Reply| matches!(reply, Reply::Stored(_));
        let replayed = !replies.is_empty() && replies.iter().all(stored);
        let mut denied = Denied::default();
        for reply in &replies {
            if let Reply::Fresh { answer, summary } = reply {
                denied.by_rule(summary, answer);
            }
        }
        let answer = |reply| match reply {
            Reply::Fresh { answer, .. } | Reply::Stored(answer) => Ok(answer),
            Reply::KeyReused => Err(key_reused()),
            Reply::Replay => Err(Failure::new("unauthorized", "")),
        };
        let answers = replies.into_iter().map(answer);
        let answers = answers.collect::<Result<_, Failure>>()?;
        Ok((answers, Beside { replayed, denied }))
    }

    /// Checks that a call that writes has an idempotency key. For changes whose repeats are harmless, no
    /// answer is stored.
    pub(super) fn check_key(&self, dry_run: bool) -> Result<(), Failure> {
        self.key(true, dry_run).map(drop)
    }

    /// The idempotency key of a call that writes.
    fn key(&self, keyed: bool, dry_run: bool) -> Result<Option<IdempotencyKey>, Failure> {
        let key = self.auth.key.clone().filter(|_| keyed && !dry_run);
        if keyed && !dry_run && key.is_none() {
            let detail = "a call that writes carries Idempotency-Key";
            return Err(Failure::new("idempotency_key_required", detail)
                .hint("the same key makes a repeat safe"));
        }
        Ok(key)
    }

    async fn submit(
        &self,
        command: Command,
        render: Render,
        keyed: bool,
        dry_run: bool,
        fingerprint: String,
    ) -> Result<Done, Failure> {
        let key = self.key(keyed, dry_run)?;
        let story = Story::about(&command);
        let submission = Submission {
            fingerprint,
            turn: self.auth.turn.clone(),
            command,
            caller: self.auth.caller.clone(),
            key,
            request_id: self.auth.request_id.clone(),
            dry_run,
            render,
        };
        match self.services.submit(submission).await? {
            Reply::Fresh { answer, summary } => Ok(Done::fresh(answer, story(summary), dry_run)),
            Reply::Stored(answer) => Ok(Done::stored(answer)),
            Reply::KeyReused => Err(key_reused()),
            Reply::Replay => Err(Failure::new("unauthorized", "")),
        }
    }

    /// For a request that cannot become a command. A repeat still gets its stored answer, because the named
    /// objects may have changed since.
    pub(super) async fn answered_or(&self, failure: Failure) -> Handled {
        let dry_run = self.dry_run().unwrap_or_default();
        self.answered(dry_run).await?.ok_or(failure)
    }

    /// The stored answer, if the request is a repeat.
    pub(super) async fn answered(&self, dry_run: bool) -> Result<Option<Response>, Failure> {
        let Some(key) = self.auth.key.clone().filter(|_| !dry_run) else {
            return Ok(None);
        };
        let client = self.auth.caller.client.clone();
        let look_up = move |connection: &Connection| {
            store::known(connection, &client, &key.key, &key.fingerprint, &key.nonce)
        };
        match self.services.readers.run(look_up).await? {
            Known::New => Ok(None),
            Known::Answered(answer) => Ok(Some(Done::stored(answer).into_response())),
            Known::Reused => Err(key_reused()),
            Known::Replay => Err(Failure::new("unauthorized", "")),
        }
    }

    /// Key and data that a request stores outside of the ledger with its change; `None` for a dry run.
    pub(super) fn kept(
        &self,
        body: &impl Serialize,
        dry_run: bool,
    ) -> Result<Option<(IdempotencyKey, StoredAnswer)>, Failure> {
        let Some(key) = self.key(true, dry_run)? else {
            return Ok(None);
        };
        let stored = StoredAnswer {
            answer: json(body)?,
            fingerprint: key.fingerprint.to_vec(),
            nonce: key.nonce.clone(),
        };
        Ok(Some((key, stored)))
    }
}

fn key_reused() -> Failure {
    Failure::new(
        "key_reused",
        "this Idempotency-Key was used for another request",
    )
}

/// A JSON answer with status 200.
pub(super) fn ok(body: &impl Serialize) -> Handled {
    Ok(respond(json(body)?))
}

fn json(body: &impl Serialize) -> Result<Answer, Failure> {
    let failed = |_| Failure::new("internal", "the answer cannot be written");
    Ok(Answer {
        status: 200,
        media: Media::Json,
        body: serde_json::to_vec(body).map_err(failed)?,
    })
}

/// A query without parameters.
#[derive(serde::Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Empty {}

/// The answer that is stored: the shape of an accepted outcome, or the refusal.
pub(super) fn rendered<T: Serialize>(
    decided: &Decided<'_>,
    status: u16,
    shape: impl FnOnce(&Outcome) -> Option<T>,
) -> Answer {
    let outcome = match decided.decision {
        Ok(outcome) => outcome,
        Err(refusal) => return refused(decided, refusal),
    };
    let body = shape(outcome).and_then(|shape| serde_json::to_vec(&shape).ok());
    let Some(body) = body else {
        return of_problem(
            decided,
            Problem::new("internal", "the outcome has another shape"),
        );
    };
    Answer {
        status,
        media: Media::Json,
        body,
    }
}

/// A refusal. If a name does not exist, it contains the nearest name that the caller may see. Hidden
/// objects count as missing.
fn refused(decided: &Decided<'_>, refusal: &Refusal) -> Answer {
    if let Refusal::OutOfScope { kind, name } = refusal {
        let view = View::of_caller(decided);
        if view.hides(kind, name) {
            let unknown = Refusal::not_found(*kind, name);
            let mut problem = problem(&unknown, &decided.directory.bank);
            problem.hint = view.did_you_mean(kind, name);
            return of_problem(decided, problem);
        }
    }
    let mut problem = problem(refusal, &decided.directory.bank);
    if let Some(hint) = hint_of(refusal, decided.command) {
        problem.hint = Some(hint.to_owned());
    }
    // All but quotes are the administrators' alone.
    let is_quote = matches!(decided.command, Command::Quote(_));
    if let (Refusal::NotFound { kind, name }, false) = (refusal, is_quote) {
        let kind = kind.split(' ').next().unwrap_or_default();
        problem.hint = View::of_administrator(decided).did_you_mean(kind, name);
    }
    of_problem(decided, problem)
}

fn of_problem(decided: &Decided<'_>, mut problem: Problem) -> Answer {
    problem.request_id = Some(decided.request_id.to_owned());
    Answer {
        status: problem.status,
        media: Media::Problem,
        body: serde_json::to_vec(&problem).unwrap_or_default(),
    }
}

/// The answer of a change: the object afterwards, bare.
pub(super) fn new_state<T>(object: T, decided: &Decided<'_>) -> Written<T> {
    Written {
        object,
        transaction: decided.transaction,
        dry_run: decided.dry_run,
        warnings: Vec::new(),
    }
}

/// The answer of every removal.
pub(super) fn removed(decided: &Decided<'_>) -> Answer {
    rendered(decided, 200, |outcome| match outcome {
        Outcome::Removed(name) => Some(Removed {
            name: name.clone(),
            transaction: decided.transaction,
            dry_run: decided.dry_run,
            warnings: Vec::new(),
        }),
        _ => None,
    })
}
