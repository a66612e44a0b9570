//! Verifications of the bank that is served, and checkpoints of it. They are of all projects together, so only callers
//! with an unlimited view see them.

use std::sync::Arc;
use std::time::Duration;

use bank_api::v1::{KeptCheckpoint, List, SignedCheckpoint, VerificationQuery};
use bank_core::refusal::Refusal;
use bank_core::time::Timestamp;
use bankd_ledger::clock;
use bankd_safekeeping::checkpoint::{self, Kept};
use bankd_safekeeping::proof::Proof;

use super::call::Empty;
use super::call::{Call, Handled, ok};
use super::json;
use super::pages::Turn;
use super::share::whole_bank;
use crate::error::Failure;

/// Validity of a verification of the whole bank. Within this time only later rows are verified.
const FRESH: Duration = Duration::from_mins(10);
/// Seconds that a request may wait.
const WAIT_MAX: u32 = 20;

/// `POST /api/v1/verifications`
pub(super) async fn start(call: Call) -> Handled {
    call.query::<Empty>()?;
    whole_bank(&call)?;
    let failed = |error| Failure::new("internal", format!("cannot start: {error}"));
    ok(&call.services.proof.start().map_err(failed)?)
}

/// `GET /api/v1/verifications`
pub(super) async fn show(call: Call) -> Handled {
    let query: VerificationQuery = call.query()?;
    whole_bank(&call)?;
    let wait = query.wait_s.unwrap_or(0);
    if wait > WAIT_MAX {
        let refusal = Refusal::bad_value("wait_s", "0 to 20");
        return Err(call.refused(&refusal));
    }
    // Never as long as a request may take at all.
    let most = Duration::from_secs(call.services.http.timeout_s) / 2;
    let wait = Duration::from_secs(wait.into()).min(most);
    ok(&call.services.proof.wait(wait).await)
}

/// `GET /api/v1/checkpoint`: a checkpoint of a recently verified bank, or after a verification now. If that
/// exceeds the time limit of a request, the caller retries.
pub(super) async fn checkpoint(call: Call) -> Handled {
    call.query::<Empty>()?;
    whole_bank(&call)?;
    let keeper = call.services.checkpoints.keeper().clone();
    if !keeper.key.exists() {
        return Err(Failure::new("not_found", "this bank signs no checkpoints")
            .hint("`bankd checkpoint-key new` makes a key"));
    }
    let proven = proven(&call).await?;
    let _one = call.services.checkpoints.turn().await;
    let signing = move || keeper.make_proven(proven, clock::real_us());
    let made = tokio::task::spawn_blocking(signing).await;
    let failed = |error: checkpoint::Error| match error {
        checkpoint::Error::Unsound(finding) => unsound(&call, &finding),
        error => Failure::new("internal", error.to_string()),
    };
    let (transactions, text) = made
        .map_err(|_| Failure::new("internal", "the checkpoint was not made"))?
        .map_err(failed)?;
    ok(&SignedCheckpoint { transactions, text })
}

/// `GET /api/v1/checkpoints`: those in the folder of the daemon, the newest first.
pub(super) async fn kept(call: Call) -> Handled {
    whole_bank(&call)?;
    let turn = Turn::read(&call)?;
    let checkpoints = &call.services.checkpoints;
    let page = turn.behind(checkpoints.names(), String::clone);
    let (names, next) = page.map_err(|refusal| call.refused(&refusal))?;
    let own = Arc::clone(checkpoints);
    let found = tokio::task::spawn_blocking(move || own.kept(&names)).await;
    let failed = |error: &dyn std::fmt::Display| Failure::new("internal", error.to_string());
    let found = found.map_err(|error| failed(&error))?;
    let found = found.map_err(|error| failed(&error))?;
    let items = found.into_iter().map(shaped).collect();
    ok(&List { items, next })
}

fn shaped(kept: Kept) -> KeptCheckpoint {
    KeptCheckpoint {
        name: kept.name,
        made: kept.made_at.map(|at| json::time(Timestamp(at))),
        transactions: kept.last.map(|(transactions, _)| transactions),
        entries: kept.last.map(|(_, entries)| entries),
        holds: kept.error.is_none(),
        error: kept.error,
    }
}

/// Up to which transaction the bank is proven.
async fn proven(call: &Call) -> Result<i64, Failure> {
    let prover = &call.services.proof;
    // An earlier finding may have been repaired.
    let fresh = prover.fresh(FRESH);
    let proof = if let Some(proof @ Proof::Sound(_)) = fresh {
        proof
    } else {
        let most = Duration::from_secs(call.services.http.timeout_s) / 2;
        let wait = Duration::from_secs(WAIT_MAX.into()).min(most);
        let proving = tokio::time::timeout(wait, prover.prove());
        proving.await.map_err(|_| {
            Failure::new(
                "busy",
                "the bank is being verified before the checkpoint is signed",
            )
            .hint("`bank verify` shows the progress; then try again")
        })?
    };
    match proof {
        Proof::Sound(tx) => Ok(tx),
        Proof::Broken(finding) => Err(unsound(call, &finding)),
        Proof::Failed(error) => {
            let detail = format!("the bank could not be verified: {error}");
            Err(Failure::new("internal", detail))
        }
        Proof::Stopped => Err(Failure::new("busy", "the daemon is stopping")),
    }
}

fn unsound(call: &Call, finding: &str) -> Failure {
    let message = format!("the bank is not sound: {finding}");
    tracing::error!(finding, "no checkpoint was made: the bank is not sound");
    call.services.checkpoints.note(Some(message.clone()));
    Failure::new("not_sound", message).hint("`bank verify` shows all findings")
}
