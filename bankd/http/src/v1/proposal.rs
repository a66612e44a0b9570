//! Proposals, and their approval by a second person. The reader of the original route reads the stored
//! request again.

use axum::response::IntoResponse;
use bank_api::v1::{
    self, List, NewDecision, NewDeposit, ProposalQuery, ProposeQuery, ProposedRequest,
};
use bank_core::command::{Access, Approve, Command, Reject, Scope, Start};
use bank_core::effects::Outcome;
use bank_core::ids::ProposalId;
use bank_core::model::{Key, Proposal};
use bank_core::refusal::Refusal;
use bank_core::role::human;
use bank_core::rules;
use bank_core::time::Timestamp;
use bank_core::view::Context;
use bankd_ledger::access::Person;
use bankd_ledger::writer::Decided;
use bankd_ledger::{clock, keys};
use bankd_store as store;
use bankd_store::answer::Answer;
use std::sync::Arc;

use super::approval::{passed_on, shaped};
use super::call::{Call, Handled, new_state, ok, rendered};
use super::path::Path;
use super::{allocation, correction, cycle, member, money, pages, record};
use crate::auth::outside;
use crate::error::Failure;

/// The command of a request that was written down.
fn read(call: &Call, proposal: &Proposal) -> Result<(Command, Start), Failure> {
    let request = serde_json::from_str(&proposal.request).map_err(|_| unreadable())?;
    command(call, &request)
}

fn unreadable() -> Failure {
    Failure::new(
        "bad_value",
        "the stored request cannot be read by this version",
    )
    .hint("end it with `bank reject`, and propose it again")
}

/// The command of a request, and what a requested project starts with.
pub(super) fn command(call: &Call, request: &ProposedRequest) -> Result<(Command, Start), Failure> {
    let start = request.start.clone().unwrap_or_default();
    let deposit = |new: NewDeposit| money::read_deposit(new, call.directory());
    let deposit = start.deposit.map(deposit).transpose();
    let start = Start {
        pi: start.pi,
        deposit: deposit.map_err(|r| call.refused(&r))?,
    };
    Ok((routed(call, request)?, start))
}

/// By the reader of the route.
fn routed(call: &Call, request: &ProposedRequest) -> Result<Command, Failure> {
    let body = serde_json::to_vec(&request.body).map_err(|_| unreadable())?;
    let call = &call.with_body(body);
    let last = request.path.rsplit('/').next().unwrap_or_default();
    let decoded = || decoded(last).ok_or_else(unreadable);
    if let Some(path) = request.path.strip_prefix("/api/v1/projects/") {
        return of_member(call, &request.method, path);
    }
    match (request.method.as_str(), request.path.as_str()) {
        ("POST", "/api/v1/deposits") => money::deposited(call),
        ("POST", "/api/v1/withdrawals") => money::withdrawn(call),
        ("POST", "/api/v1/transfers") => correction::transferred(call),
        ("POST", "/api/v1/refunds") => correction::refunded(call),
        ("POST", "/api/v1/adjustments") => correction::adjusted(call),
        ("POST", "/api/v1/reversals") => correction::reversed(call),
        ("POST", "/api/v1/cycles") => cycle::added(call),
        ("POST", "/api/v1/projects") => {
            let kind = call.directory().records.kind("project");
            record::added(kind.ok_or_else(unreadable)?, call)
        }
        ("PATCH", path) if path.starts_with("/api/v1/allocations/") => {
            allocation::changed(call, &decoded()?)
        }
        ("PATCH", path) if path.starts_with("/api/v1/cycles/") => cycle::patched(call, decoded()?),
        _ => Err(unreadable()),
    }
}

/// A member more, or one less: `chem/members`, `chem/members/amy`.
fn of_member(call: &Call, method: &str, path: &str) -> Result<Command, Failure> {
    let parts: Option<Vec<String>> = path.split('/').map(decoded).collect();
    let parts = parts.ok_or_else(unreadable)?;
    match (method, parts.as_slice()) {
        ("POST", [project, _]) => {
            member::read(project.clone(), call.json()?).map_err(|r| call.refused(&r))
        }
        ("DELETE", [project, _, user]) => Ok(Command::RemoveMember(project.clone(), user.clone())),
        _ => Err(unreadable()),
    }
}

/// A segment of a path without its escapes; `None` if one is invalid.
fn decoded(segment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16);
        let (high, low) = (digit()?, digit()?);
        bytes.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(bytes).ok()
}

/// `GET /api/v1/proposals`: the newest first.
pub(super) async fn list(call: Call) -> Handled {
    let query: ProposalQuery = call.query()?;
    let (limit, before) = pages::numbered(&call, query.limit, query.after.as_deref())?;
    let all = query.all;
    let which = if all {
        store::Proposals::All
    } else {
        store::Proposals::Open
    };
    let open = |p: &v1::Proposal| all || p.state == "open";
    page(&call, which, (limit, before), (|_: &Proposal| true, open)).await
}

/// The page of the proposals in view for which a condition holds, the newest first.
pub(super) async fn page(
    call: &Call,
    which: store::Proposals,
    (limit, before): (usize, Option<i64>),
    (is_wanted, keep): (impl Fn(&Proposal) -> bool, impl Fn(&v1::Proposal) -> bool),
) -> Handled {
    let more = limit.saturating_add(1);
    let found = call.ask(move |connection| {
        let found = store::proposals(connection, which, before, more)?;
        let with_next = |one: Proposal| {
            let next = store::passed_on(connection, &one)?;
            Ok((one, next))
        };
        found
            .into_iter()
            .map(with_next)
            .collect::<Result<Vec<_>, store::Error>>()
    });
    let mut found = found.await?;
    let is_more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| is_more);
    let next = next.map(|(p, _)| p.id.0.to_string());
    let seen = found
        .into_iter()
        .filter(|(p, _)| is_wanted(p) && sees(call, p));
    let items = seen.map(|(p, next)| now_shaped(call, &p, next.as_ref()));
    ok(&List {
        items: items.filter(|p| keep(p)).collect(),
        next,
    })
}

/// In the answer, at present.
fn now_shaped(call: &Call, proposal: &Proposal, next: Option<&Proposal>) -> v1::Proposal {
    let (bank, now) = (&call.directory().bank, Some(call.now()));
    let shape = shaped(bank, proposal, now);
    match next {
        Some(next) => passed_on(shape, &shaped(bank, next, now)),
        None => shape,
    }
}

/// A proposal in the answer, with the one that it became.
pub(super) async fn shown(call: &Call, found: Proposal) -> Handled {
    let (found, next) = call
        .ask(move |connection| {
            let next = store::passed_on(connection, &found)?;
            Ok((found, next))
        })
        .await?;
    ok(&now_shaped(call, &found, next.as_ref()))
}

/// `GET /api/v1/proposals/{id}`
pub(super) async fn show(Path(id): Path<String>, call: Call) -> Handled {
    let found = find(&call, &id, "proposal").await?;
    shown(&call, found).await
}

/// `POST /api/v1/proposals/{id}/approve`
pub(super) async fn approve(Path(id): Path<String>, call: Call) -> Handled {
    let NewDecision { reason } = call.json()?;
    let proposal = match find(&call, &id, "proposal").await {
        Ok(proposal) => proposal,
        Err(hidden) => return call.answered_or(hidden).await,
    };
    let ProposeQuery { dry_run, propose } = call.query()?;
    let (command, start) = match read(&call, &proposal) {
        Ok(read) => read,
        Err(unreadable) => return call.answered_or(unreadable).await,
    };
    let proposers = proposers(&call, &proposal).await?;
    let command = Command::Access(Access::Approve(Approve {
        id: proposal.id,
        proposers,
        request: proposal.request,
        command: Box::new(command),
        start,
        propose: propose.then_some(call.services.approval_keep),
        reason: reason.unwrap_or_default(),
    }));
    let done = call.write_or_try(command, render_decided, dry_run).await?;
    Ok(done.into_response())
}

/// The rights of the proposer today: those of a person; those of a key or token that is still valid;
/// otherwise, as after a rotation, those of another one of its client.
async fn proposers(call: &Call, proposal: &Proposal) -> Result<Vec<Scope>, Failure> {
    if let Some(name) = proposal.client.strip_prefix("unix:") {
        let (services, name) = (Arc::clone(&call.services), name.to_owned());
        let is_off = call.directory().user_named(&name);
        let is_off = is_off.is_some_and(|user| !user.active || user.deleted);
        let signs_in = services.sessions.url().is_some() && !is_off;
        let found = tokio::task::spawn_blocking(move || {
            let outside = || signs_in.then(|| outside(&name));
            services.people.find_named(&name).or_else(outside)
        });
        let failed = |_| Failure::new("internal", "who proposed it cannot be looked up");
        let person = found.await.map_err(failed)?;
        return Ok(person.iter().map(Person::scope).collect());
    }
    let directory = call.directory();
    let now = Timestamp::from_seconds(clock::auth_now_s());
    let Some(own) = directory.key(&proposal.proposer) else {
        return Ok(Vec::new());
    };
    let is_good = |key: &&Key| !key.disabled && !key.deleted && key.window.contains(now);
    if is_good(&own) {
        return Ok(vec![keys::scope_of(own)]);
    }
    let is_over = own.window.end.is_some_and(|end| end <= now);
    if own.disabled || own.deleted || !is_over {
        return Ok(Vec::new());
    }
    let others = directory.keys().filter(is_good);
    let others = others.filter(|key| key.client == proposal.client);
    Ok(others.map(keys::scope_of).collect())
}

/// `POST /api/v1/proposals/{id}/reject`
pub(super) async fn reject(Path(id): Path<String>, call: Call) -> Handled {
    let NewDecision { reason } = call.json()?;
    let proposal = match find(&call, &id, "proposal").await {
        Ok(proposal) => proposal,
        Err(hidden) => return call.answered_or(hidden).await,
    };
    let command = Command::Access(Access::Reject(Reject {
        id: proposal.id,
        command: read(&call, &proposal)
            .ok()
            .map(|(command, _)| Box::new(command)),
        is_withdrawal: false,
        reason: reason.unwrap_or_default(),
    }));
    Ok(call.write(command, render_decided).await?.into_response())
}

/// A visible proposal; `word` is its name in errors. Hidden and missing numbers give the same error (decisions.md 23).
pub(super) async fn find(call: &Call, id: &str, word: &'static str) -> Result<Proposal, Failure> {
    let number = id.parse::<i64>().ok().map(ProposalId);
    let found = match number {
        Some(id) => {
            call.ask(move |connection| store::proposal(connection, id))
                .await?
        }
        None => None,
    };
    found
        .filter(|p| sees(call, p))
        .ok_or_else(|| hidden(call, id, word))
}

/// Hidden and missing numbers give the same error.
pub(super) fn hidden(call: &Call, id: &str, word: &'static str) -> Failure {
    if call.view.is_unlimited() {
        return call.refused(&Refusal::not_found(word, id));
    }
    let what = format!("{word} {}", bank_core::refusal::short(id));
    call.refused(&Refusal::NotAllowed { what })
}

/// Those see a proposal who made it, who see everything, and who could do it themselves.
pub(super) fn sees(call: &Call, proposal: &Proposal) -> bool {
    let own = human(&call.auth.caller.client) == human(&proposal.client);
    if own || call.view.is_unlimited() {
        return true;
    }
    let ctx = Context {
        directory: call.directory(),
        now: call.now(),
        scope: &call.auth.caller.scope,
    };
    read(call, proposal).is_ok_and(|(command, _)| rules::may(&command, &ctx).is_ok())
}

pub(super) fn render_decided(decided: &Decided<'_>) -> Answer {
    rendered(decided, 200, |outcome| match outcome {
        Outcome::Decided(proposal) => {
            let shape = shaped(&decided.directory.bank, proposal, None);
            Some(new_state(shape, decided))
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_paths_are_read_without_their_escapes() {
        for (segment, name) in [
            ("chem-monthly", Some("chem-monthly")),
            ("Z%C3%BCrich%2Fa", Some("Zürich/a")),
            ("%", None),
            ("%4", None),
            ("%zz", None),
            ("%ff", None),
        ] {
            assert_eq!(decoded(segment).as_deref(), name, "{segment}");
        }
    }
}
