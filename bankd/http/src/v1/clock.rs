//! The clock: state of the ledger's time, and confirmation of a jump by the operator.

use axum::response::{IntoResponse, Response};
use bank_api::v1::{ClockStatus, ConfirmClock};
use bank_core::command::Command;
use bank_core::effects::Outcome;
use bank_core::time::Timestamp;
use bankd_ledger::writer::{Decided, Standing};
use bankd_store::answer::Answer;

use super::call::{Call, Handled, new_state, rendered};
use super::json;

/// `POST /api/v1/clock`
pub(super) async fn confirm(call: Call) -> Handled {
    let body: ConfirmClock = call.json()?;
    // Reads the system clock now instead of the last reading.
    call.services.writer.look().await?;
    let shown = call.services.writer.standing().reading.clock;
    let command = Command::ConfirmClock(shown, body.note.unwrap_or_default());
    let answer: Response = call.write(command, render).await?.into_response();
    // Boundaries up to the time that was confirmed are journalled before anybody asks.
    let _ = call.services.writer.look().await;
    Ok(answer)
}

/// State of the ledger's clock.
pub(super) fn shaped(standing: &Standing) -> ClockStatus {
    let state = match (standing.is_held, standing.is_behind) {
        (true, _) => "held",
        (false, true) => "behind",
        (false, false) => "ok",
    };
    ClockStatus {
        state: state.to_owned(),
        ledger: json::time(standing.now),
        clock: json::time(standing.reading.clock),
        steps_back: i64::try_from(standing.steps_back).unwrap_or(i64::MAX),
    }
}

fn confirmed(shown: Timestamp) -> ClockStatus {
    ClockStatus {
        state: "ok".to_owned(),
        ledger: json::time(shown),
        clock: json::time(shown),
        steps_back: 0,
    }
}

fn render(decided: &Decided<'_>) -> Answer {
    rendered(decided, 200, |outcome| match outcome {
        Outcome::ClockConfirmed(shown) => Some(new_state(confirmed(*shown), decided)),
        _ => None,
    })
}
