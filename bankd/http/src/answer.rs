//! Answers as HTTP responses, and the lines of text that the scheduler's scripts read.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use bank_api::nami::Line;
use bank_api::{error, exit, text};
use bank_core::amount::Amount;
use bank_core::directory::Bank;
use bank_core::refusal::Refusal;
use bankd_store::answer::{Answer, Media};

use super::error::{Failure, detail};

/// An answer as a response.
pub(super) fn respond(answer: Answer) -> Response {
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let media = [(header::CONTENT_TYPE, answer.media.content_type())];
    (status, media, answer.body).into_response()
}

/// An answer for the scheduler's scripts.
pub(super) fn lines(lines: &[Line]) -> Response {
    let worst = Line::worst(lines).map_or(200, Line::http_status);
    respond(Answer {
        status: worst,
        media: Media::Text,
        body: Line::render(lines).into_bytes(),
    })
}

/// The line of a refused request.
pub(super) fn line_of(failure: &Failure) -> Line {
    let problem = failure.problem();
    let code = error::row_or_internal(&problem.code).code;
    Line::error(code, problem.detail.clone().unwrap_or_default())
}

/// One line as the whole answer.
pub(super) fn line_answer(line: &Line) -> Answer {
    Answer {
        status: line.http_status(),
        media: Media::Text,
        body: Line::render(std::slice::from_ref(line)).into_bytes(),
    }
}

/// The line of a refusal by a rule. An unusable document is an error, so that the script moves it to its
/// quarantine (`nami.md` 2.2).
pub(super) fn refused(refusal: &Refusal, bank: &Bank) -> Line {
    let code = refusal.code();
    let text = match refusal {
        Refusal::InsufficientFunds {
            needed, available, ..
        } => format!(
            "need {}, have {}",
            plain(*needed, bank),
            credits(*available, bank)
        ),
        Refusal::NotAllowed { what } => what.clone(),
        Refusal::OutOfScope { kind, name } => format!("{kind} {name}"),
        other => detail(other, bank),
    };
    if error::row_or_internal(code).nami == exit::nami::DOCUMENT {
        return Line::error(code, text);
    }
    Line::refused(code, text)
}

/// `57600`, `3571.2`: no zeros at the end, no separators (`nami.md` 2).
pub(super) fn plain(amount: Amount, bank: &Bank) -> String {
    text::format_trimmed(amount.0, bank.precision.places())
}

/// An amount with its unit.
pub(super) fn credits(amount: Amount, bank: &Bank) -> String {
    format!("{} {}", plain(amount, bank), bank.unit)
}
