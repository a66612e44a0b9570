//! The scheduler's routes: `POST /nami/v1/EVENT`, a route for each [`Event`] and one for the question
//! that has no answer.
//!
//! A body of XML becomes commands in [`command`], each with a separate transaction and key (decisions.md
//! 26). The result or the error of each becomes a line in [`mod@line`]. The status of the answer is the
//! greatest of its lines. All HTTP statuses are from the one table of `bank-api`.

pub mod command;
pub mod line;
pub mod table;

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderValue, Uri};
use axum::response::Response;
use bank_api::nami::Line;
use bankd_ledger::writer::{IdempotencyKey, Reply, Submission, SubmitError, Summary, Turn};
use bankd_nami::{Document, DocumentError, Event, ReadOptions, read_each, require};
use bankd_services::Services;
use bankd_store::answer::{Answer, Media};
use serde::Deserialize;

use super::answer::{line_answer, line_of, lines, respond};
use super::auth::{Authenticated, unauthorized};
use super::bad_request;
use super::error::{ALONE, UNDONE};
use super::log::{Denied, Stories, Story};
use command::Setting;

/// Documents above this size are read away from the event loop, in bytes.
const BIG: usize = 64 << 10;

/// Parameters that the script sends from its settings. Others are refused: a mistyped `dry_run` would charge.
#[derive(Clone, Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// The machine for documents without one.
    machine: Option<String>,
    /// Make the quote a row and answer its TID; answer a create with one.
    #[serde(default)]
    print_tid: bool,
    /// Read bytes that are not UTF-8 as Latin-1.
    #[serde(default)]
    latin1_fallback: bool,
    /// Decide, and write nothing.
    #[serde(default)]
    dry_run: bool,
}

macro_rules! route {
    ($(#[$doc:meta])* $name:ident, $event:expr) => {
        $(#[$doc])*
        pub async fn $name(
            State(services): State<Arc<Services>>,
            caller: Authenticated,
            uri: Uri,
            body: Bytes,
        ) -> Response {
            answer(services, caller, $event, &uri, body).await
        }
    };
}

route!(
    /// Price of the object.
    quote, Event::Quote
);
route!(
    /// The object was submitted.
    create, Event::Create
);
route!(
    /// The object starts: hold its estimated cost.
    reserve, Event::Reserve
);
route!(
    /// The same, as Moab 9 calls it.
    start, Event::Start
);
route!(
    /// A part was used: charge it.
    charge, Event::Charge
);
route!(
    /// The same, as Moab 9 calls it.
    update, Event::Update
);
route!(
    /// The object continues: hold the cost of the next interval.
    go_on, Event::Continue
);
route!(
    /// The object was suspended: charge it, and release its lien.
    pause, Event::Pause
);
route!(
    /// The object continues after a pause: hold its estimated cost.
    resume, Event::Resume
);
route!(
    /// The use has ended: charge it, release its lien, and close it.
    end, Event::End
);
route!(
    /// The object was removed: release its lien.
    delete, Event::Delete
);
route!(
    /// The object was changed: store the new values.
    modify, Event::Modify
);

/// The query of balances. The form of its answer is not documented.
pub async fn query() -> Response {
    lines(&[Line::error("unsupported", "the event query has no answer")])
}

async fn answer(
    services: Arc<Services>,
    caller: Authenticated,
    event: Event,
    uri: &Uri,
    body: Bytes,
) -> Response {
    let parameters: Parameters = match bad_request::query(uri) {
        Ok(parameters) => parameters,
        Err(failure) => return lines(&[line_of(&failure)]),
    };
    let documents = match documents(&services, &parameters, event, body).await {
        Ok(documents) => documents,
        Err(e) => return lines(&[Line::error(e.code, e.message)]),
    };
    run(&services, &caller, event, &parameters, documents).await
}

/// One object of the body, with the data for the event.
type Usable = Result<Document, DocumentError>;

/// All objects of the body, or an error for the whole body.
async fn documents(
    services: &Arc<Services>,
    parameters: &Parameters,
    event: Event,
    body: Bytes,
) -> Result<Vec<Usable>, DocumentError> {
    let latin1_fallback = parameters.latin1_fallback || services.nami.latin1_fallback;
    let nami = Arc::clone(&services.nami);
    let big = body.len() > BIG;
    let read = move || {
        let options = ReadOptions {
            latin1_fallback,
            tid_variable: &nami.tid_variable,
        };
        let whole = |document| require(&document, event).map(|()| document);
        let documents = read_each(&body, &options)?.into_iter();
        Ok(documents.map(|read| read.and_then(whole)).collect())
    };
    if !big {
        return read();
    }
    let broken = |_| DocumentError {
        code: "internal",
        message: "the document could not be read".to_owned(),
    };
    tokio::task::spawn_blocking(read)
        .await
        .unwrap_or_else(|e| Err(broken(e)))
}

/// Submits one command for each object, in order. An error of the daemon also stops the rest. The script
/// repeats the request with the same key, and completed commands are not repeated.
async fn run(
    services: &Services,
    caller: &Authenticated,
    event: Event,
    parameters: &Parameters,
    documents: Vec<Usable>,
) -> Response {
    let directory = services.writer.directory();
    let setting = Setting {
        directory: &directory,
        machine: machine(services, caller, parameters),
        with_tid: parameters.print_tid || services.nami.print_tid,
        event_time: caller.event_time,
        charge_duration: services.nami.charge_duration.into(),
        trusts_amounts: services.nami.trust_asserted_amount,
    };
    let count = documents.len();
    if count > 1 && caller.turn.as_ref().is_some_and(Turn::is_of_whole) {
        let text = "all_or_nothing: a document has one object";
        return lines(&[Line::error("bad_request", text)]);
    }
    let mut output = Output::default();
    for (index, document) in documents.into_iter().enumerate() {
        let document = match document {
            Ok(document) => document,
            Err(e) => {
                output.add(&line_answer(&Line::error(e.code, e.message)), true);
                continue;
            }
        };
        let Ok(made) = command::of(document, event, &setting) else {
            return lines(&[Line::error("internal", "no randomness for a TID")]);
        };
        let submission = Submission {
            command: made.command,
            caller: caller.caller.clone(),
            key: key_of(caller, index, count).filter(|_| made.is_stored),
            request_id: caller.request_id.clone(),
            dry_run: parameters.dry_run,
            render: made.render,
            fingerprint: String::new(),
            // Whatever comes next in the request comes behind the last object.
            turn: caller.turn.clone().filter(|_| index + 1 == count),
        };
        match services.submit(submission).await {
            Ok(Reply::Fresh { answer, summary }) => {
                output.decided(&answer, &summary);
                output.stories.push(Story {
                    summary,
                    project: made.project,
                    user: made.user,
                    job: made.job,
                    machine: made.machine,
                });
            }
            Ok(Reply::Stored(answer)) => output.add(&answer, false),
            Ok(Reply::KeyReused) => {
                let text = "the key belongs to another request";
                output.add(&line_answer(&Line::refused("key_reused", text)), true);
            }
            Ok(Reply::Replay) => return unauthorized(),
            Err(e) => {
                output.add(&line_answer(&failed(e)), true);
                break;
            }
        }
    }
    output.whole()
}

/// The key of an object at its position; of several, each has a key of its own.
fn key_of(caller: &Authenticated, index: usize, count: usize) -> Option<IdempotencyKey> {
    let key = caller.key.as_ref()?;
    Some(if count > 1 {
        key.part(index + 1)
    } else {
        key.clone()
    })
}

/// The lines of all objects so far, and their log data.
#[derive(Default)]
struct Output {
    /// The greatest of the lines' statuses.
    status: u16,
    body: Vec<u8>,
    stories: Vec<Story>,
    /// Refusals of access among them.
    denied: Denied,
    /// Some of it is no stored answer.
    is_new: bool,
}

impl Output {
    fn add(&mut self, answer: &Answer, is_new: bool) {
        self.status = self.status.max(answer.status);
        self.body.extend_from_slice(&answer.body);
        self.is_new |= is_new;
    }

    /// Adds a new result.
    fn decided(&mut self, answer: &Answer, summary: &Summary) {
        self.add(answer, true);
        self.denied.by_rule(summary, answer);
    }

    /// The lines as one answer.
    fn whole(self) -> Response {
        let mut response = respond(Answer {
            status: self.status.max(200),
            media: Media::Text,
            body: self.body,
        });
        if !self.is_new {
            let header = HeaderValue::from_static("true");
            response.headers_mut().insert("idempotent-replay", header);
        }
        let extensions = response.extensions_mut();
        extensions.insert(Stories(self.stories));
        self.denied.put(extensions);
        response
    }
}

/// The machine for a document without one: that of the script, else the only machine of the key, else that
/// of the site.
fn machine(services: &Services, caller: &Authenticated, parameters: &Parameters) -> String {
    let given = parameters
        .machine
        .as_deref()
        .filter(|name| !name.is_empty());
    let only = caller.caller.scope.only_machine();
    given.or(only).unwrap_or(&services.nami.machine).to_owned()
}

fn failed(error: SubmitError) -> Line {
    match error {
        SubmitError::Busy => Line::error("busy", "too many commands wait to be written"),
        SubmitError::Stopped => Line::error("busy", "the daemon is stopping"),
        SubmitError::Full => Line::error("disk_full", "the disk of the bank is full"),
        SubmitError::Moved => Line::error("database_moved", error.to_string()),
        SubmitError::Failed => Line::error("internal", "the command could not be written"),
        SubmitError::Alone => Line::error("bad_request", ALONE),
        SubmitError::Undone => Line::refused("undone", UNDONE),
        SubmitError::Elsewhere | SubmitError::NoLog => Line::error("busy", error.to_string()),
    }
}
