//! Errors as answers: every failure of a JSON route becomes an RFC 9457 problem here, with the status of
//! the one table in `bank-api` (decisions.md 23).
//!
//! A hint must never contain a name that the caller may not see. Its names are from the request, or from
//! the caller's view.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bank_api::error::Problem;
use bank_core::directory::Bank;
use bank_core::refusal::Refusal;
pub use bankd_ledger::refused::{detail, hint_of, problem};
use bankd_ledger::writer::SubmitError;
use bankd_store as store;
use bankd_store::answer::Media;
use bankd_store::read::ReadError;

use super::log::Denied;

/// The reason of a command that was not written because of another one.
pub(super) const UNDONE: &str =
    "another command of the request was refused, so nothing of it was written";
/// A command that waits for a partner bank.
pub(super) const ALONE: &str =
    "all_or_nothing: a command for a project of a partner bank must be sent without others";

/// A failed request on its way out.
#[derive(Clone, Debug)]
pub struct Failure(Box<Problem>);

/// The problem of an answer, for the layer that adds the request's id.
#[derive(Clone, Debug)]
struct Carried(Arc<Problem>);

impl Failure {
    /// A failure by its code, a row of [`bank_api::error::TABLE`], and one sentence.
    pub fn new(code: &str, detail: impl Into<String>) -> Self {
        Self(Box::new(Problem::new(code, detail)))
    }

    /// A failure of another request.
    pub fn of(problem: Problem) -> Self {
        Self(Box::new(problem))
    }

    /// A refusal of a rule.
    pub fn refused(refusal: &Refusal, bank: &Bank) -> Self {
        Self(Box::new(problem(refusal, bank)))
    }

    /// Puts what it is about in front of its detail: an item of several, by its id.
    #[must_use]
    pub fn about(mut self, item: &str) -> Self {
        let detail = self.0.detail.take().unwrap_or_default();
        self.0.detail = Some(format!("{item}: {detail}"));
        self
    }

    /// Adds a remedy.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// The parameter or member that is wrong.
    #[must_use]
    pub fn field(mut self, field: impl Into<String>) -> Self {
        self.0.field = Some(field.into());
        self
    }

    /// Adds the id of the request in the log.
    #[must_use]
    pub fn request_id(mut self, id: &str) -> Self {
        self.0.request_id = Some(id.to_owned());
        self
    }

    /// The document.
    pub fn problem(&self) -> &Problem {
        &self.0
    }
}

impl From<SubmitError> for Failure {
    fn from(error: SubmitError) -> Self {
        match error {
            SubmitError::Busy => Self::new("busy", "too many commands wait to be written"),
            SubmitError::Stopped => Self::new("busy", "the daemon is stopping"),
            SubmitError::Full => Self::new(
                "disk_full",
                "the disk of the bank is full: nothing was written",
            )
            .hint(
                "the operator of the bank frees space; then repeat the request with the same key",
            ),
            SubmitError::Moved => Self::new("database_moved", error.to_string()).hint(
                "the operator of the bank puts the file back, or restarts bankd to serve the one at its path",
            ),
            SubmitError::Failed => Self::new("internal", "the command could not be written"),
            SubmitError::Alone => Self::new("bad_request", ALONE),
            SubmitError::Undone => Self::new("undone", UNDONE),
            SubmitError::Elsewhere | SubmitError::NoLog => Self::new("busy", error.to_string()),
        }
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Busy => Self::new("busy", "too many questions are being answered"),
            ReadError::Late => Self::new("busy", "the answer took too long to find")
                .hint("a narrower question finds less"),
            ReadError::Store(error) => Self::from(error),
        }
    }
}

impl From<store::Error> for Failure {
    fn from(error: store::Error) -> Self {
        // The text may hold stored values: it is for the log only.
        tracing::error!(%error, "reading failed");
        Self::new("internal", "the ledger could not be read")
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        respond(*self.0)
    }
}

/// Puts the request's id into a problem document that is on its way out; leaves other answers and
/// documents with an id as they are.
pub fn with_request_id(mut response: Response, id: &str) -> Response {
    let Some(Carried(problem)) = response.extensions_mut().remove::<Carried>() else {
        return response;
    };
    if problem.request_id.is_some() {
        return response;
    }
    let mut problem = Problem::clone(&problem);
    problem.request_id = Some(id.to_owned());
    let body = body(&problem);
    response.headers_mut().remove(header::CONTENT_LENGTH);
    *response.body_mut() = Body::from(body);
    response
}

fn respond(problem: Problem) -> Response {
    if problem.code == "unauthorized" {
        return super::auth::unauthorized();
    }
    let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = Response::new(Body::from(body(&problem)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    let media = HeaderValue::from_static(Media::Problem.content_type());
    headers.insert(header::CONTENT_TYPE, media);
    if let Some(wait) = retry_after(status) {
        headers.insert(header::RETRY_AFTER, wait);
    }
    let row = problem.row();
    if row.http == StatusCode::FORBIDDEN.as_u16() {
        let why = problem.detail.clone().unwrap_or_default();
        Denied::of(row.code, why).put(response.extensions_mut());
    }
    response.extensions_mut().insert(Carried(Arc::new(problem)));
    response
}

/// Time until a request that was not accepted may be repeated.
pub(super) fn retry_after(status: StatusCode) -> Option<HeaderValue> {
    match status {
        StatusCode::SERVICE_UNAVAILABLE => Some(HeaderValue::from_static("1")),
        StatusCode::INSUFFICIENT_STORAGE => Some(HeaderValue::from_static("60")),
        _ => None,
    }
}

fn body(problem: &Problem) -> Vec<u8> {
    serde_json::to_vec(problem).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_store_being_busy_is_503_and_a_bug_500() {
        for (error, status) in [
            (SubmitError::Busy, 503),
            (SubmitError::Stopped, 503),
            (SubmitError::Full, 507),
            (SubmitError::Moved, 503),
            (SubmitError::Failed, 500),
            (SubmitError::Alone, 400),
            (SubmitError::Undone, 409),
            (SubmitError::Elsewhere, 503),
            (SubmitError::NoLog, 503),
        ] {
            let response = Failure::from(error).into_response();
            assert_eq!(response.status().as_u16(), status);
            let wait = response.headers().contains_key(header::RETRY_AFTER);
            assert_eq!(wait, [503, 507].contains(&status));
        }
    }

    #[test]
    fn a_problem_gets_the_id_of_its_request_once() {
        let response = with_request_id(Failure::new("not_found", "x").into_response(), "r1");
        assert_eq!(response.status().as_u16(), 404);
        assert!(response.extensions().get::<Carried>().is_none());
        let plain = Response::new(Body::from("text"));
        assert_eq!(with_request_id(plain, "r1").status().as_u16(), 200);
    }
}
