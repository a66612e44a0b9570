//! Errors as answers: every failure of a JSON route becomes an RFC 9457 problem here, with the status of
//! the one table in `bank-api` (decisions.md 23).
//!
//! A hint must never contain a name that the caller may not see. Its names are from the request, or from
//! the caller's view.

mod correction;

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bank_api::error::Problem;
use bank_api::text;
use bank_core::amount::Amount;
use bank_core::directory::Bank;
use bank_core::refusal::Refusal;
use bankd_ledger::writer::SubmitError;
use bankd_store as store;
use bankd_store::answer::Media;
use bankd_store::read::ReadError;

use super::log::Denied;

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

    /// A refusal of a rule.
    pub fn refused(refusal: &Refusal, bank: &Bank) -> Self {
        Self(Box::new(problem(refusal, bank)))
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
            .hint("again with the same key once there is room; the bank's operator is needed"),
            SubmitError::Failed => Self::new("internal", "the command could not be written"),
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

/// The problem document of a refusal.
pub fn problem(refusal: &Refusal, bank: &Bank) -> Problem {
    let mut problem = Problem::new(refusal.code(), detail(refusal, bank));
    problem.hint = hint(refusal).map(str::to_owned);
    if let Refusal::InsufficientFunds {
        needed, available, ..
    } = refusal
    {
        problem.needed = Some(amount(*needed, bank));
        problem.available = Some(amount(*available, bank));
    }
    if let Refusal::OverLimit { needed, left, .. } = refusal {
        problem.needed = Some(amount(*needed, bank));
        problem.available = Some(amount(*left, bank));
    }
    problem
}

fn amount(amount: Amount, bank: &Bank) -> String {
    text::format_amount(amount.0, bank.precision.places())
}

/// Description of the case, in one sentence.
pub fn detail(refusal: &Refusal, bank: &Bank) -> String {
    let unit = &bank.unit;
    match refusal {
        Refusal::InsufficientFunds {
            needed,
            available,
            whose,
        } => {
            let (needed, available) = (amount(*needed, bank), amount(*available, bank));
            format!("{whose} has {available} {unit} available, {needed} are needed")
        }
        Refusal::AccountBlocked { account } => {
            format!("account {account:?} is blocked: a charge took it below zero")
        }
        Refusal::NotAMember { user, project } if user.is_empty() => {
            format!("project {project:?} is for its members, and no user was named")
        }
        Refusal::NotAMember { user, project } => {
            format!("user {user:?} is no active member of project {project:?}")
        }
        Refusal::NoUsableAccount { project } => {
            format!("no account lets project {project:?} spend for this user and machine")
        }
        Refusal::UserInactive { user } => format!("user {user:?} is switched off"),
        Refusal::ProjectInactive { project } => format!("project {project:?} is switched off"),
        Refusal::MachineInactive { machine } => format!("machine {machine:?} is switched off"),
        Refusal::ProjectUnknown { project } => format!("no project {project:?}"),
        Refusal::UserUnknown { user } => format!("no user {user:?}"),
        Refusal::MachineUnknown { machine } => format!("no machine {machine:?}"),
        Refusal::NotAllowed { what } => format!("not allowed: {what}"),
        Refusal::OutOfScope { kind, name } => format!("not allowed: {kind} {name}"),
        Refusal::NotFound { kind, name } => format!("no {kind} {name:?}"),
        Refusal::Ambiguous { candidates } => {
            format!("several accounts fit: {}", candidates.join(", "))
        }
        Refusal::MissingField { field } => format!("{field} is missing"),
        Refusal::BadName { name, .. } => format!("{name:?} cannot be a name"),
        Refusal::NoField { field } => format!("{field} is missing"),
        Refusal::BadField { field, expected } => format!("{field}: expected {expected}"),
        Refusal::BadValue { field, expected } => format!("{field}: expected {expected}"),
        Refusal::AlreadyExists { kind, name } if kind.starts_with("removed ") => {
            format!("{name:?} is the id of a {kind}: no id is used twice")
        }
        Refusal::AlreadyExists { kind, name } => format!("{kind} {name:?} exists already"),
        Refusal::Cycle { name } => format!("{name:?} would come under itself"),
        Refusal::InUse { name, by } => format!("{name:?} is used by {by}"),
        Refusal::LiveLiens { account, count } => {
            format!("account {account:?} has {count} open liens")
        }
        Refusal::BalanceNotZero {
            account,
            amount: left,
        } => {
            let left = amount(*left, bank);
            format!("account {account:?} still holds {left} {unit}")
        }
        Refusal::FallbackChain { name } => {
            format!("{name:?} has a fallback too; the limit is one fallback step")
        }
        Refusal::CycleNotDue { name, next } => {
            format!("cycle {name:?} runs automatically at {next}")
        }
        Refusal::TooManyDecimals { precision } => {
            format!("this bank keeps {precision} decimals")
        }
        other => correction::detail(other, bank).unwrap_or_else(|| plain_detail(other).to_owned()),
    }
}

/// Refusals with a constant text.
fn plain_detail(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::NoDefaultProject => "no project was named, and the user has no default project",
        Refusal::BadAmount => "the amount must be above zero, and a limit not below it",
        Refusal::BadAmountSyntax => "the amount is no decimal number",
        Refusal::AmountTooLarge => "the amount is larger than the bank can hold",
        Refusal::AmountOverflow => "the result is larger than the bank can hold",
        Refusal::BadWindow => "the start must be before the end",
        Refusal::WindowInPast => "the window is over already",
        Refusal::NegativeCharge => "usage cannot be below zero",
        Refusal::BadDuration => "a duration is whole seconds from 0 to ten years",
        Refusal::NoClockJump => "the ledger follows the clock: there is no jump to confirm",
        Refusal::BadRate => "a rate is a decimal from 0 with at most 9 places",
        _ => "refused by a rule",
    }
}

/// A remedy, without a name.
fn hint(refusal: &Refusal) -> Option<&'static str> {
    Some(match refusal {
        Refusal::InsufficientFunds { .. } => {
            "make a deposit, or request a shorter duration or fewer resources"
        }
        Refusal::AccountBlocked { .. } => "a deposit that brings it to zero or above clears it",
        Refusal::NotAMember { .. } => "`bank project members add` makes a user a member",
        Refusal::NoUsableAccount { .. } => "`bank account show` lists who may spend",
        Refusal::NoDefaultProject => "name a project with -A",
        Refusal::SharesOver100 { .. } => "`bank account ls` shows the shares",
        Refusal::AllocationOverlap { .. } => "choose a window that meets no other",
        Refusal::WindowInPast => {
            "use --allow-past for a deposit; other commands need a future time"
        }
        Refusal::LiveLiens { .. } => "`bank lien ls` shows them",
        Refusal::BalanceNotZero { .. } => "`bank withdraw` takes the rest out",
        Refusal::Ambiguous { .. } => "name one of the accounts",
        Refusal::CycleNotDue { .. } => "--dry-run shows the next run",
        Refusal::LienEnded { .. } => "`bank reserve` places a new one",
        Refusal::Overlap { .. } => "charge only usage outside of it",
        Refusal::BadName { rule, .. } => rule,
        other => return correction::hint(other),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bank_core::amount::Precision;

    fn bank() -> Bank {
        Bank {
            uuid: "u".into(),
            precision: Precision::DEFAULT,
            unit: "SU".into(),
        }
    }

    #[test]
    fn a_shortage_contains_both_amounts() {
        let refusal = Refusal::InsufficientFunds {
            needed: Amount(57_600_000),
            available: Amount(42_400_000),
            whose: "chem".into(),
        };
        let problem = problem(&refusal, &bank());
        assert_eq!(
            problem.detail.as_deref(),
            Some("chem has 42400.000 SU available, 57600.000 are needed")
        );
        assert_eq!(problem.status, 402);
        assert_eq!(problem.needed.as_deref(), Some("57600.000"));
        assert_eq!(problem.available.as_deref(), Some("42400.000"));
    }

    #[test]
    fn the_store_being_busy_is_503_and_a_bug_500() {
        for (error, status) in [
            (SubmitError::Busy, 503),
            (SubmitError::Stopped, 503),
            (SubmitError::Full, 507),
            (SubmitError::Failed, 500),
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
