//! Verifications of the bank that is served, and checkpoints of it.

use std::time::Duration;

use bank_api::v1::{SignedCheckpoint, VerificationQuery};
use bank_core::refusal::Refusal;

use super::call::{Call, Handled, ok};
use super::project::Empty;
use crate::checkpoint;
use crate::clock;
use crate::http::error::Failure;

/// Seconds that a request may wait.
const WAIT_MAX: u32 = 20;

/// `POST /api/v1/verifications`
pub(super) async fn start(call: Call) -> Handled {
    call.query::<Empty>()?;
    let failed = |error| Failure::new("internal", format!("cannot start: {error}"));
    ok(&call.app.proof.start().map_err(failed)?)
}

/// `GET /api/v1/verifications`
pub(super) async fn show(call: Call) -> Handled {
    let query: VerificationQuery = call.query()?;
    let wait = query.wait_s.unwrap_or(0);
    if wait > WAIT_MAX {
        let refusal = Refusal::BadValue {
            field: "wait_s",
            expected: "0 to 20",
        };
        return Err(call.refused(&refusal));
    }
    // Never as long as a request may take at all.
    let most = Duration::from_secs(call.app.config.http.timeout_s) / 2;
    let wait = Duration::from_secs(wait.into()).min(most);
    ok(&call.app.proof.wait(wait).await)
}

/// `GET /api/v1/checkpoint`
pub(super) async fn checkpoint(call: Call) -> Handled {
    call.query::<Empty>()?;
    let keeper = call.app.checkpoints.keeper().clone();
    if !keeper.key.exists() {
        return Err(Failure::new("not_found", "this bank signs no checkpoints")
            .hint("`bankd checkpoint-key new` makes a key"));
    }
    let _one = call.app.checkpoints.turn().await;
    let made = tokio::task::spawn_blocking(move || keeper.make(clock::real_us())).await;
    let failed = |error: checkpoint::Error| Failure::new("internal", error.to_string());
    let (transactions, text) = made
        .map_err(|_| Failure::new("internal", "the checkpoint was not made"))?
        .map_err(failed)?;
    ok(&SignedCheckpoint { transactions, text })
}
