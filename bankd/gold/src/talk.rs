//! The execution of a verified request, and its answer (`gold-wire.md` 3 to 5).
//!
//! The bytes are repaired (`repair`), read as a tree (`xml`) and as a request (`request`). A request about
//! a job becomes a command for the writer, like a scheduler's document (`job`). A query reads (`query`).
//! The result gets the form of the peer in `content`. This module decides nothing: the rules accept or refuse,
//! and the one table of refusals contains the codes.

mod job;
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
use bankd_ledger::clock::{self, Stopwatch};
use bankd_ledger::writer::SubmitError;
use bankd_services::Services;
use bankd_store::read::ReadError;

use super::{Content, Verified};
use request::{Call, Verb, plain, unsupported};

/// Answers a request. There is always an answer: an error is a failure with its reason.
pub async fn answer(services: &Arc<Services>, request: &Verified) -> Content {
    let since = Stopwatch::start();
    let request_id = clock::request_id();
    let mut call = Call::default();
    let done = match read(&request.body) {
        Ok(read) => {
            call = read;
            act(services, request, &call, &request_id).await
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
        rows = content.count,
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

async fn act(
    services: &Arc<Services>,
    request: &Verified,
    call: &Call,
    request_id: &str,
) -> Result<Content, Fault> {
    let verb = match (call.action.as_str(), call.object.as_str()) {
        ("Query", _) => {
            let names: Vec<String> = call.options.iter().map(|(name, _)| name.clone()).collect();
            job::left_out(services, &names, "Query", request_id);
            return query::answer(services, request, call).await;
        }
        ("Reserve", "Job") => Verb::Reserve,
        ("Charge", "Job") => Verb::Charge,
        ("Quote", "Job") => Verb::Quote,
        (action, object) => {
            let what = format!("{} of {}", plain(action), plain(object));
            return Err(unsupported(&what));
        }
    };
    job::answer(services, request, verb, call, request_id).await
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

    fn content(self) -> Content {
        Content::failure(error::row_or_internal(self.code).gold, self.message)
    }
}

impl From<SubmitError> for Fault {
    fn from(error: SubmitError) -> Self {
        match error {
            SubmitError::Busy => Fault::new("busy", "too many commands wait"),
            SubmitError::Stopped => Fault::new("busy", "the bank is stopping"),
            SubmitError::Full => Fault::new("disk_full", "the disk of the bank is full"),
            SubmitError::Failed => Fault::new("internal", "the command could not be written"),
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
