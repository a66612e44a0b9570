//! Requests that may need the approval of a second person: with `?propose=true` a proposal is stored
//! in place of the change.

use axum::response::IntoResponse as _;
use bank_api::v1::{self, ProposeQuery, ProposedRequest};
use bank_core::command::{Access, Command, Propose, Start};
use bank_core::directory::Bank;
use bank_core::effects::Outcome;
use bank_core::model::{Proposal, ProposalState};
use bank_core::time::Timestamp;
use bankd_ledger::writer::{Decided, Render};
use bankd_store::answer::Answer;

use super::call::{Call, Handled, new_state, rendered};
use super::json;
use crate::error::Failure;

/// Submits a command that may need two-person approval, either directly or, with `?propose=true`, as a
/// proposal.
pub(super) async fn write_or_propose(call: &Call, command: Command, render: Render) -> Handled {
    let ProposeQuery { dry_run, propose } = call.query()?;
    let done = if propose {
        let request = written_down(call)?;
        let keep = call.services.approval_keep;
        let command = Command::Access(Access::Propose(Propose {
            request,
            command: Box::new(command),
            keep,
            asked: None,
            start: Start::default(),
        }));
        call.write_or_try(command, render_proposed, dry_run).await?
    } else {
        call.write_or_try(command, render, dry_run).await?
    };
    Ok(done.into_response())
}

/// The stored text of a proposed request.
fn written_down(call: &Call) -> Result<String, Failure> {
    let body = serde_json::from_slice(call.body())
        .map_err(|error| Failure::new("bad_request", format!("body: {error}")))?;
    let request = ProposedRequest {
        method: call.method.as_str().to_owned(),
        path: call.uri.path().to_owned(),
        body,
        asked: None,
        start: None,
    };
    let failed = |_| Failure::new("internal", "the request cannot be written down");
    serde_json::to_string(&request).map_err(failed)
}

/// A proposal in the answer. At a given time, an open one may have expired.
pub(super) fn shaped(bank: &Bank, proposal: &Proposal, now: Option<Timestamp>) -> v1::Proposal {
    let is_over = now.is_some_and(|now| proposal.until <= now);
    let state = match proposal.state {
        ProposalState::Open if is_over => "expired",
        state => state.word(),
    };
    // A rejection has a transaction too, which did nothing of the request.
    let is_done = proposal.state == ProposalState::Approved;
    let done = proposal.done.filter(|_| is_done);
    v1::Proposal {
        id: proposal.id.0,
        kind: proposal.kind.word().to_owned(),
        amount: json::amount(proposal.amount, bank),
        unit: bank.unit.clone(),
        request: serde_json::from_str(&proposal.request).unwrap_or_default(),
        asked: proposal.asked.clone(),
        proposed_by: proposal.proposer.clone(),
        at: json::time(proposal.at),
        until: json::time(proposal.until),
        state: state.to_owned(),
        decided_by: json::some(&proposal.decider),
        decided_at: proposal.decided_at.map(json::time),
        reason: json::some(&proposal.reason),
        done: done.map(|tx| tx.0),
        proposal: None,
    }
}

/// A request in the answer that became a proposal: what becomes of the proposal becomes of it.
pub(super) fn passed_on(request: v1::Proposal, to: &v1::Proposal) -> v1::Proposal {
    let state = match to.state.as_str() {
        "open" => "proposed",
        state => state,
    };
    v1::Proposal {
        state: state.to_owned(),
        proposal: Some(to.id),
        done: to.done,
        ..request
    }
}

/// The answer to a proposal: the operation is stored, but not executed.
pub(super) fn render_proposed(decided: &Decided<'_>) -> Answer {
    rendered(decided, 202, |outcome| match outcome {
        Outcome::Proposed(proposal) => {
            let shape = shaped(&decided.directory.bank, proposal, None);
            Some(new_state(shape, decided))
        }
        _ => None,
    })
}
