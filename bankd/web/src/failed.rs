//! Requests that a page could not answer: refusals of the API, and redirects to sign in.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bank_api::error::{Problem, row_or_internal};

/// Why there is no page. The frame of the pages makes a page of it, in the layout of the person.
#[derive(Clone, Debug)]
pub(crate) struct Failed(Box<Problem>);

impl Failed {
    /// A refusal of the API.
    pub(crate) fn of(problem: Problem) -> Self {
        Self(Box::new(problem))
    }

    /// A refusal of a page itself, with a code of the table.
    pub(crate) fn new(code: &str, detail: impl Into<String>) -> Self {
        Self::of(Problem::new(code, detail))
    }

    /// A bug of ours.
    pub(crate) fn internal() -> Self {
        Self::new("internal", "the log of bankd has more")
    }

    /// The parameter or field that is wrong.
    pub(crate) fn field(mut self, field: &str) -> Self {
        self.0.field = Some(field.to_owned());
        self
    }

    /// Without its hint, which can have the names of other objects.
    pub(crate) fn unhinted(mut self) -> Self {
        self.0.hint = None;
        self
    }

    /// The status of its page.
    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.0.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// The refusal.
    pub(crate) fn problem(&self) -> &Problem {
        &self.0
    }
}

impl IntoResponse for Failed {
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        if ["busy", "partner_away", "rate_limited"].contains(&self.0.code.as_str()) {
            let fields = response.headers_mut();
            fields.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response.extensions_mut().insert(self);
        response
    }
}

/// An answer with the status of a code.
pub(crate) fn with_code(code: &str, mut response: Response) -> Response {
    if let Ok(status) = StatusCode::from_u16(row_or_internal(code).http) {
        *response.status_mut() = status;
    }
    response
}

/// Whether an answer has the status of a code.
pub(crate) fn has(response: &Response, code: &str) -> bool {
    response.status().as_u16() == row_or_internal(code).http
}
