//! Two-person approval: one person proposes, another approves. An approved command is decided with the state
//! at approval, by the right of the approver.

use super::REQUEST_MAX;
use super::guard::{Eyes, check_limits, moved};
use super::request;
use crate::access::narrowed;
use crate::amount::Amount;
use crate::command::{Approve, Command, Propose, Reject};
use crate::effects::{Effects, Outcome};
use crate::ids::{ProposalId, TxId};
use crate::model::{MoneyKind, Proposal, ProposalKind, ProposalState};
use crate::postings::Postings;
use crate::refusal::Refusal;
use crate::role::human;
use crate::rules::{by_family, scope};
use crate::time::Seconds;
use crate::view::{Context, View};

/// Writes a proposal down. What could not be done now is not proposed either.
pub(super) fn propose(
    propose: &Propose,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    if propose.request.len() > REQUEST_MAX {
        return Err(Refusal::bad_value(
            "request",
            "at most 8192 bytes for a proposal",
        ));
    }
    let (kind, amount) = match &propose.asked {
        Some(reason) => request::check(propose, reason, view, ctx)?,
        None => offered(propose, view, ctx)?,
    };
    let mut postings = Postings::new(view);
    let proposal = written(&mut postings, propose, (kind, amount), ctx);
    let mut effects = postings.finish(Outcome::Proposed(Box::new(proposal.clone())));
    effects.proposals.push(proposal);
    Ok(effects)
}

/// What a proposal moves: the caller must be able to do it, up to their limits.
fn offered(
    propose: &Propose,
    view: &View,
    ctx: &Context<'_>,
) -> Result<(ProposalKind, Amount), Refusal> {
    if let Some(deposit) = &propose.start.deposit {
        request::run(&propose.command, &propose.start, None, view, ctx)?;
        let command = Command::Deposit(deposit.clone());
        let parts = [(MoneyKind::Deposit, deposit.amount)];
        if let Some(who) = &ctx.scope.who {
            check_limits(&command, &parts, who, &view.moved, ctx)?;
        }
        return Ok((ProposalKind::Project, deposit.amount));
    }
    let effects = by_family(&propose.command, view, ctx)?;
    let Some((kind, amount)) = request::largest(&propose.command, &effects, view) else {
        return Err(Refusal::BadValue {
            field: "propose",
            expected: "a deposit, withdrawal, transfer, refund, adjustment, cycle or credit limit \
                       that moves something",
        });
    };
    if let Some(who) = &ctx.scope.who {
        let parts = moved(&propose.command, &effects, view);
        check_limits(&propose.command, &parts, who, &view.moved, ctx)?;
    }
    Ok((ProposalKind::Money(kind), amount))
}

/// The row of a proposal, with its transaction.
fn written(
    postings: &mut Postings,
    propose: &Propose,
    (kind, amount): (ProposalKind, Amount),
    ctx: &Context<'_>,
) -> Proposal {
    let who = ctx.scope.who.as_deref();
    let tx = postings.begin("propose", ctx.now);
    postings.remark(&propose.request);
    Proposal {
        id: ProposalId(tx.0),
        kind,
        amount,
        request: propose.request.clone(),
        asked: propose.asked.clone(),
        proposer: who.map_or_else(String::new, |who| who.actor.clone()),
        client: who.map_or_else(String::new, |who| who.client.clone()),
        at: ctx.now,
        until: ctx.now.plus(propose.keep),
        state: ProposalState::Open,
        decider: String::new(),
        reason: String::new(),
        tx,
        done: None,
        decided_at: None,
    }
}

/// Does what was proposed: once, by somebody else.
pub(super) fn approve(
    approve: &Approve,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    let proposal = open(approve.id, view, ctx)?;
    if proposal.request != approve.request {
        return Err(unknown(approve.id));
    }
    // Who only asked has not approved anything, and needs the right like anybody.
    if let Some(who) = &ctx.scope.who
        && proposal.asked.is_none()
        && (who.human() == human(&proposal.client) || who.actor == proposal.proposer)
    {
        return Err(Refusal::OwnProposal {
            proposal: approve.id.0,
        });
    }
    check_proposer(approve, proposal, view, ctx)?;
    let eyes = match proposal.asked {
        Some(_) => Eyes::Two,
        None => Eyes::Four(proposal.amount),
    };
    let done = request::run(&approve.command, &approve.start, Some(eyes), view, ctx);
    let mut effects = match (done, approve.propose) {
        (Err(Refusal::ApprovalNeeded { .. }), Some(keep)) => passed_on(approve, keep, view, ctx)?,
        (done, _) => done?,
    };
    let done = effects.transactions.first_mut().map(|tx| {
        let reason = std::mem::take(&mut tx.reason);
        let own = format!(
            "proposal={} proposed_by={}",
            approve.id.0, proposal.proposer
        );
        let asked = proposal.asked.as_deref().unwrap_or_default();
        let reasons = [reason.as_str(), &own, asked, &approve.reason];
        let reasons = reasons.into_iter().filter(|text| !text.is_empty());
        tx.reason = reasons.collect::<Vec<&str>>().join("; ");
        tx.id
    });
    let decided = decided(
        proposal,
        ProposalState::Approved,
        &approve.reason,
        done,
        ctx,
    );
    effects.outcome = Outcome::Decided(Box::new(decided.clone()));
    effects.proposals.push(decided);
    Ok(effects)
}

/// A request that needs a second person: it is accepted, and is from now on a proposal of who accepted it.
fn passed_on(
    approve: &Approve,
    keep: Seconds,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    let propose = Propose {
        request: approve.request.clone(),
        command: approve.command.clone(),
        keep,
        asked: None,
        start: approve.start.clone(),
    };
    let about = offered(&propose, view, ctx)?;
    let mut postings = Postings::new(view);
    postings.begin("request_pass", ctx.now);
    let proposal = written(&mut postings, &propose, about, ctx);
    let mut effects = postings.finish(Outcome::Proposed(Box::new(proposal.clone())));
    if let Some(tx) = effects.transactions.first_mut() {
        tx.reason = format!("passed_on={}", proposal.id.0);
    }
    effects.proposals.push(proposal);
    Ok(effects)
}

/// The proposer must still be able to do it. A right that was revoked since is checked again, with its
/// projects and its amounts. Proposals of the bank itself are not checked.
fn check_proposer(
    approve: &Approve,
    proposal: &Proposal,
    view: &View,
    ctx: &Context<'_>,
) -> Result<(), Refusal> {
    if proposal.client.is_empty() || proposal.asked.is_some() {
        return Ok(());
    }
    let gone = if proposal.client.starts_with("unix:") {
        "the user does not exist any more"
    } else {
        "the key or token is not valid any more"
    };
    let mut why = gone.to_owned();
    for scope in &approve.proposers {
        let ctx = Context { scope, ..*ctx };
        match may_still(approve, view, &ctx) {
            Ok(()) => return Ok(()),
            Err(Refusal::NotAllowed { what }) => why = what,
            Err(Refusal::OutOfScope { kind, name }) => why = format!("{kind} {name}"),
            Err(Refusal::OverLimit { per, .. }) => {
                why = format!("it exceeds their limit per {per}");
            }
            Err(other) => return Err(other),
        }
    }
    let (id, who) = (proposal.id.0, &proposal.proposer);
    let what = format!("proposal {id}: its proposer {who} may not do it any more: {why}");
    Err(Refusal::NotAllowed { what })
}

/// Whether a proposer may still do what they proposed, by the limits of now too.
fn may_still(approve: &Approve, view: &View, ctx: &Context<'_>) -> Result<(), Refusal> {
    let command = &approve.command;
    let scope = narrowed(command, ctx)?;
    let ctx = &Context {
        scope: &scope,
        ..*ctx
    };
    scope::check(command, ctx)?;
    let effects = by_family(command, view, ctx)?;
    let Some(who) = &ctx.scope.who else {
        return Ok(());
    };
    let parts = moved(command, &effects, view);
    check_limits(command, &parts, who, &view.moved_by_proposer, ctx)
}

/// Ends a proposal. Its proposer may do that too.
pub(super) fn reject(reject: &Reject, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    let proposal = open(reject.id, view, ctx)?;
    let who = ctx.scope.who.as_deref();
    let is_own = who.is_some_and(|who| who.human() == human(&proposal.client));
    if reject.is_withdrawal && !(is_own && proposal.asked.is_some()) {
        return Err(unknown(reject.id));
    }
    if proposal.asked.is_some() && !reject.is_withdrawal && reject.reason.trim().is_empty() {
        return Err(Refusal::MissingField { field: "reason" });
    }
    let state = if reject.is_withdrawal {
        ProposalState::Withdrawn
    } else {
        ProposalState::Rejected
    };
    let mut postings = Postings::new(view);
    let tx = postings.begin("reject", ctx.now);
    postings.remark(&format!("proposal={}", reject.id.0));
    postings.remark(&reject.reason);
    let decided = decided(proposal, state, &reject.reason, Some(tx), ctx);
    let mut effects = postings.finish(Outcome::Decided(Box::new(decided.clone())));
    effects.proposals.push(decided);
    Ok(effects)
}

/// A proposal that can still be decided.
fn open<'a>(id: ProposalId, view: &'a View, ctx: &Context<'_>) -> Result<&'a Proposal, Refusal> {
    let proposal = view.proposal.as_ref().filter(|p| p.id == id);
    let proposal = proposal.ok_or_else(|| unknown(id))?;
    let state = match proposal.state {
        ProposalState::Open if ctx.now < proposal.until => return Ok(proposal),
        ProposalState::Open => "expired",
        ProposalState::Approved => "approved",
        ProposalState::Rejected => "rejected",
        ProposalState::Withdrawn => "withdrawn",
    };
    Err(Refusal::ProposalOver {
        proposal: id.0,
        is_request: proposal.asked.is_some(),
        state,
    })
}

/// Numbers of others and guessed ones are alike.
fn unknown(id: ProposalId) -> Refusal {
    Refusal::not_found("proposal", &id.0.to_string())
}

fn decided(
    proposal: &Proposal,
    state: ProposalState,
    reason: &str,
    done: Option<TxId>,
    ctx: &Context<'_>,
) -> Proposal {
    let decider = ctx.scope.who.as_ref().map(|who| who.actor.clone());
    Proposal {
        state,
        decider: decider.unwrap_or_default(),
        reason: reason.to_owned(),
        done,
        decided_at: Some(ctx.now),
        ..proposal.clone()
    }
}
