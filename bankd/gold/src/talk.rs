//! The execution of a verified request, and its answer (`gold-wire.md` 3 to 5).
//!
//! The bytes are repaired (`repair`), read as a tree (`xml`) and as a request (`request`). A request about
//! a job becomes a command for the writer, like a scheduler's document (`job`). Money of accounts moves in
//! `money`, objects are made, changed and removed in `change`, and a query reads (`query`). The result gets
//! the form of the peer in `reply`. This module decides nothing: every action demands the right of the JSON
//! API's route, the rules accept or refuse, and the one table of refusals contains the codes.

mod change;
mod job;
mod money;
mod options;
mod query;
mod repair;
mod reply;
mod request;
#[cfg(test)]
mod tests;
mod xml;

use std::sync::Arc;

use bank_api::error;
use bank_api::reason::bounded;
use bank_core::command::Command;
use bank_core::directory::{Bank, Directory};
use bank_core::refusal::Refusal;
use bankd_ledger::access::right::Right;
use bankd_ledger::clock::{self, Stopwatch};
use bankd_ledger::refused;
use bankd_ledger::view::View;
use bankd_ledger::writer::{Caller, IdempotencyKey, Reply, Submission, SubmitError};
use bankd_services::Services;
use bankd_services::position::Seen;
use bankd_store::read::ReadError;

use super::{Content, Verified, passed};
use request::{Call, Verb, plain, unsupported};

/// Answers a request. There is always an answer: an error is a failure with its reason.
pub async fn answer(services: &Arc<Services>, request: &Verified) -> Content {
    let since = Stopwatch::start();
    let request_id = clock::request_id();
    let mut call = Call::default();
    let done = match read(&request.body) {
        Ok(read) => {
            call = read;
            let is_read = only_reads(&call);
            if !services.writer.is_writing() && !is_read {
                return passed::pass(services, request).await;
            }
            let old = Seen::now(&services.writer).and_then(|seen| seen.notice());
            let old = old.filter(|_| is_read);
            // The protocol has no place for the age of an answer, so that of the writer is better than an old one.
            if old.is_some()
                && let Ok(content) = passed::ask(services, request).await
            {
                return content;
            }
            let done = act(services, request, &call, &request_id).await;
            done.map(|content| noted(content, old))
        }
        Err(fault) => Err(fault),
    };
    let content = done.unwrap_or_else(Fault::content);
    tracing::info!(
        request_id,
        peer = request.peer.name,
        action = plain(&call.action),
        object = plain(&call.object),
        code = content.code,
        content = content.message,
        count = content.count,
        took_us = u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX),
        "gold request"
    );
    content
}

/// The bytes of a body as a request.
fn read(body: &[u8]) -> Result<Call, Fault> {
    let text = std::str::from_utf8(body).map_err(|_| Fault::new("bad_document", "not UTF-8"))?;
    Call::of(&xml::parse(&repair::repaired(text))?)
}

/// An answer with a notice in its message.
fn noted(mut content: Content, notice: Option<String>) -> Content {
    content.message = match (content.message, notice) {
        (Some(message), Some(notice)) => Some(format!("{message} ({notice})")),
        (message, notice) => message.or(notice),
    };
    content
}

/// Whether a follower of a cluster answers a request itself.
fn only_reads(call: &Call) -> bool {
    let about = (call.action.as_str(), call.object.as_str());
    matches!(about, ("Query", _) | ("Balance", "Account"))
}

async fn act(
    services: &Arc<Services>,
    request: &Verified,
    call: &Call,
    request_id: &str,
) -> Result<Content, Fault> {
    let verb = match (call.action.as_str(), call.object.as_str()) {
        ("Query", _) => {
            job::left_out(services, &query::left_out(call), "Query", request_id);
            return query::answer(services, request, call).await;
        }
        ("Reserve", "Job") => Verb::Reserve,
        ("Charge", "Job") => Verb::Charge,
        ("Quote", "Job") => Verb::Quote,
        ("Refund", "Job") | ("Deposit" | "Withdraw" | "Transfer" | "Balance", "Account") => {
            return money::answer(services, request, call, request_id).await;
        }
        ("Create" | "Modify" | "Delete", _) => {
            return change::answer(services, request, call, request_id).await;
        }
        (action, object) => {
            let what = format!("{} of {}", plain(action), plain(object));
            return Err(unsupported(&what));
        }
    };
    job::answer(services, request, verb, call, request_id).await
}

/// A request, and the bank as its sender sees it.
struct Asked<'a> {
    services: &'a Arc<Services>,
    request: &'a Verified,
    call: &'a Call,
    view: View,
    directory: &'a Arc<Directory>,
}

impl<'a> Asked<'a> {
    fn new(
        services: &'a Arc<Services>,
        request: &'a Verified,
        call: &'a Call,
        directory: &'a Arc<Directory>,
    ) -> Self {
        let peer = &request.peer;
        let now = services.writer.now();
        let view = View::of(directory, &peer.scope, peer.user.clone(), now);
        Asked {
            services,
            request,
            call,
            view,
            directory,
        }
    }
}

/// Refuses a peer whose key lacks a right.
fn demand(request: &Verified, right: Right) -> Result<(), Fault> {
    let refused = |_| Fault::new("not_allowed", "the role of this key does not allow this");
    right.demand(request.peer.roles).map_err(refused)
}

/// A command of the sender of a request.
fn submission(
    request: &Verified,
    command: Command,
    key: Option<IdempotencyKey>,
    request_id: &str,
) -> Submission {
    let peer = &request.peer;
    Submission {
        command,
        caller: Caller {
            actor: peer.key_id.clone(),
            client: peer.client.clone(),
            origin: request.origin,
            scope: peer.scope.clone(),
        },
        key,
        request_id: request_id.to_owned(),
        dry_run: request.dry_run,
        render: reply::rendered,
        fingerprint: String::new(),
        turn: None,
    }
}

/// Runs a command; its result, also that of its first run under the same key.
async fn run(
    services: &Arc<Services>,
    request: &Verified,
    command: Command,
    request_id: &str,
) -> Result<reply::Came, Fault> {
    let submission = submission(request, command, request.key.clone(), request_id);
    let answer = match services.writer.submit(submission).await? {
        Reply::Fresh { answer, summary } => {
            job::log(&reply::JobValues::default(), summary, request_id);
            answer
        }
        Reply::Stored(answer) => answer,
        Reply::KeyReused => return Err(key_reused()),
        Reply::Replay => return Err(replayed()),
    };
    reply::Came::read(&answer.body).ok_or_else(|| job::unreadable(request_id))
}

fn key_reused() -> Fault {
    Fault::new("key_reused", "the key is that of another request")
}

fn replayed() -> Fault {
    Fault::new("unauthorized", "the request was sent before")
}

/// The reason for a message that fails before any rule.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Fault {
    /// A row of the one table.
    code: &'static str,
    /// For people; harmless to every client.
    message: String,
}

impl Fault {
    fn new(code: &'static str, message: impl Into<String>) -> Self {
        Fault {
            code,
            message: bounded(message),
        }
    }

    /// With a text that can contain names.
    fn refused(code: &'static str, message: &str) -> Self {
        Fault::new(code, options::harmless(&message.replace('"', "")))
    }

    /// A refusal by a rule.
    fn of(refusal: &Refusal, bank: &Bank) -> Self {
        let detail = refused::detail(refusal, bank);
        Fault::refused(refusal.code(), &detail)
    }

    fn content(self) -> Content {
        Content::failure(error::row_or_internal(self.code).gold, self.message)
    }
}

impl From<SubmitError> for Fault {
    fn from(error: SubmitError) -> Self {
        match error {
            SubmitError::Busy => Fault::new("busy", "too many commands wait"),
            SubmitError::Stopped => Fault::new("busy", "the bank is stopping"),
            SubmitError::Elsewhere | SubmitError::NoLog => Fault::new("busy", error.to_string()),
            SubmitError::Full => Fault::new("disk_full", "the disk of the bank is full"),
            SubmitError::Moved => Fault::new("database_moved", error.to_string()),
            SubmitError::Failed | SubmitError::Alone | SubmitError::Undone => {
                Fault::new("internal", "the command could not be written")
            }
        }
    }
}

impl From<ReadError> for Fault {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Busy => Fault::new("busy", "too many questions wait"),
            ReadError::Late => Fault::new("busy", "the answer took too long to find"),
            ReadError::Store(error) => {
                // The text may hold stored values: it is for the log only.
                tracing::error!(%error, "reading failed");
                Fault::new("internal", "the ledger could not be read")
            }
        }
    }
}
