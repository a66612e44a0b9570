//! Requests: people ask for what they may not do, and who may do it answers. They are proposals with a reason,
//! in the same queue and with the same numbers; the routes of proposals approve and reject them.

use axum::response::IntoResponse as _;
use bank_api::text::percent_encode;
use bank_api::v1::{
    self, DepositRequest, ExtensionRequest, MemberRequest, NewDecision, NewDeposit, NewMember,
    PatchAllocation, ProjectRequest, ProjectStart, ProposedRequest, REQUEST_STATES, RequestQuery,
};
use bank_core::command::{Access, Command, Propose, Reject};
use bank_core::model::Proposal;
use bank_core::refusal::Refusal;
use bank_core::role::human;
use bankd_store as store;
use serde::Serialize;
use serde_json::{Value, json};

use super::approval::render_proposed;
use super::call::{Call, Handled};
use super::path::Path;
use super::{pages, proposal};
use crate::error::Failure;

/// `POST /api/v1/requests/deposits`
pub(super) async fn deposit(call: Call) -> Handled {
    let new: DepositRequest = call.json()?;
    let body = NewDeposit {
        name: new.name,
        amount: new.amount,
        start: new.start,
        end: new.end,
        ..NewDeposit::default()
    };
    ask(&call, "POST", "deposits", &body, None, new.reason).await
}

/// `POST /api/v1/requests/extensions`
pub(super) async fn extension(call: Call) -> Handled {
    let new: ExtensionRequest = call.json()?;
    let body = PatchAllocation {
        until: Some(new.until),
        ..PatchAllocation::default()
    };
    let path = format!("allocations/{}", new.allocation);
    ask(&call, "PATCH", &path, &body, None, new.reason).await
}

/// `POST /api/v1/requests/members`
pub(super) async fn member(call: Call) -> Handled {
    let new: MemberRequest = call.json()?;
    let path = format!("projects/{}/members", segment(&new.project));
    if new.remove {
        let path = format!("{path}/{}", segment(&new.user));
        return ask(&call, "DELETE", &path, &json!({}), None, new.reason).await;
    }
    let body = NewMember {
        user: new.user,
        active: Some(true),
        role: None,
    };
    ask(&call, "POST", &path, &body, None, new.reason).await
}

/// `POST /api/v1/requests/projects`
pub(super) async fn project(call: Call) -> Handled {
    let new: ProjectRequest = call.json()?;
    if new.amount.is_none() && (new.start.is_some() || new.end.is_some()) {
        return Err(call.refused(&Refusal::MissingField { field: "amount" }));
    }
    let own = call.view.own_user().map(|user| user.name.clone());
    let deposit = new.amount.map(|amount| NewDeposit {
        name: new.name.clone(),
        amount,
        start: new.start,
        end: new.end,
        ..NewDeposit::default()
    });
    let start = ProjectStart {
        pi: new.pi.or(own),
        deposit,
    };
    let mut body = json!({"name": new.name});
    for (name, value) in [("parent", new.parent), ("description", new.description)] {
        if let (Some(members), Some(value)) = (body.as_object_mut(), value) {
            members.insert(name.to_owned(), Value::from(value));
        }
    }
    ask(&call, "POST", "projects", &body, Some(start), new.reason).await
}

/// A name as a segment of a path.
fn segment(name: &str) -> String {
    let mut text = String::new();
    percent_encode(name, &mut text);
    text
}

/// Stores the request of a route, with the reason of who asks for it.
async fn ask(
    call: &Call,
    method: &str,
    path: &str,
    body: &impl Serialize,
    start: Option<ProjectStart>,
    reason: String,
) -> Handled {
    let failed = |_| Failure::new("internal", "the request cannot be written down");
    let request = ProposedRequest {
        method: method.to_owned(),
        path: format!("/api/v1/{path}"),
        body: serde_json::to_value(body).map_err(failed)?,
        asked: Some(reason.clone()),
        start,
    };
    let (command, start) = match proposal::command(call, &request) {
        Ok(read) => read,
        Err(failure) => return call.answered_or(failure).await,
    };
    let command = Command::Access(Access::Propose(Propose {
        request: serde_json::to_string(&request).map_err(failed)?,
        command: Box::new(command),
        keep: call.services.approval_keep,
        asked: Some(reason),
        start,
    }));
    Ok(call.write(command, render_proposed).await?.into_response())
}

/// `GET /api/v1/requests`: the newest first.
pub(super) async fn list(call: Call) -> Handled {
    let query: RequestQuery = call.query()?;
    let state = query.state.as_deref();
    if state.is_some_and(|state| !REQUEST_STATES.contains(&state)) {
        return Err(call.refused(&Refusal::bad_value(
            "state",
            "open, proposed, approved, rejected, withdrawn or expired",
        )));
    }
    let (limit, before) = pages::numbered(&call, query.limit, query.after.as_deref())?;
    let own = |p: &Proposal| human(&p.client) == human(&call.auth.caller.client);
    let is_mine = |p: &Proposal| !query.mine || own(p);
    let is_in = |p: &v1::Proposal| state.is_none_or(|state| p.state == state);
    let which = store::Proposals::Requests;
    proposal::page(&call, which, (limit, before), (is_mine, is_in)).await
}

/// `GET /api/v1/requests/{id}`
pub(super) async fn show(Path(id): Path<String>, call: Call) -> Handled {
    let found = proposal::find(&call, &id, "request").await?;
    if found.asked.is_none() {
        return Err(proposal::hidden(&call, &id, "request"));
    }
    proposal::shown(&call, found).await
}

/// `POST /api/v1/requests/{id}/withdraw`
pub(super) async fn withdraw(Path(id): Path<String>, call: Call) -> Handled {
    let NewDecision { reason } = call.json()?;
    let found = match proposal::find(&call, &id, "request").await {
        Ok(found) => found,
        Err(hidden) => return call.answered_or(hidden).await,
    };
    let command = Command::Access(Access::Reject(Reject {
        id: found.id,
        command: None,
        is_withdrawal: true,
        reason: reason.unwrap_or_default(),
    }));
    let done = call.write(command, proposal::render_decided).await?;
    Ok(done.into_response())
}
