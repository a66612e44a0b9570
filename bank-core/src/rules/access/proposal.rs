//! Two-person approval: one person proposes, another approves. An approved command is decided with the state
//! at approval, by the right of the approver.

use super::REQUEST_MAX;
use super::guard::{Eyes, check_limits, guard, moved};
use crate::access::narrowed;
use crate::command::{Approve, Propose, Reject};
use crate::effects::{Effects, Outcome};
use crate::ids::{ProposalId, TxId};
use crate::model::{Proposal, ProposalState};
use crate::postings::Postings;
use crate::refusal::Refusal;
use crate::role::human;
use crate::rules::{by_family, scope};
use crate::view::{Context, View};

/// Writes a proposal down. What could not be done now is not proposed either.
pub(super) fn propose(
    propose: &Propose,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    if propose.request.len() > REQUEST_MAX {
        return Err(Refusal::BadValue {
            field: "request",
            expected: "at most 8192 bytes for a proposal",
        });
    }
    let effects = by_family(&propose.command, view, ctx)?;
    let parts = moved(&propose.command, &effects, view);
    let largest = parts.iter().max_by_key(|(_, amount)| *amount).copied();
    let Some((kind, amount)) = largest else {
        return Err(Refusal::BadValue {
            field: "propose",
            expected: "a deposit, withdrawal, transfer, refund, adjustment, cycle or credit limit \
                       that moves something",
        });
    };
    let (mut actor, mut client) = (String::new(), String::new());
    if let Some(who) = &ctx.scope.who {
        check_limits(&propose.command, &parts, who, &view.moved, ctx)?;
        actor.clone_from(&who.actor);
        client.clone_from(&who.client);
    }
    let mut postings = Postings::new(view);
    let tx = postings.begin("propose", ctx.now);
    postings.remark(&propose.request);
    let proposal = Proposal {
        id: ProposalId(tx.0),
        kind,
        amount,
        request: propose.request.clone(),
        proposer: actor,
        client,
        at: ctx.now,
        until: ctx.now.plus(propose.keep),
        state: ProposalState::Open,
        decider: String::new(),
        reason: String::new(),
        tx,
        done: None,
    };
    let mut effects = postings.finish(Outcome::Proposed(Box::new(proposal.clone())));
    effects.proposals.push(proposal);
    Ok(effects)
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
    if let Some(who) = &ctx.scope.who
        && (who.human() == human(&proposal.client) || who.actor == proposal.proposer)
    {
        return Err(Refusal::OwnProposal {
            proposal: approve.id.0,
        });
    }
    check_proposer(approve, proposal, view, ctx)?;
    let mut effects = by_family(&approve.command, view, ctx)?;
    guard(&approve.command, Eyes::Four, &mut effects, view, ctx)?;
    let done = effects.transactions.first_mut().map(|tx| {
        let reasons = format!(
            "proposal={} proposed_by={}",
            approve.id.0, proposal.proposer
        );
        let reasons = [
            tx.reason.as_str(),
            reasons.as_str(),
            approve.reason.as_str(),
        ];
        let reasons: Vec<&str> = reasons
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect();
        tx.reason = reasons.join("; ");
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

/// The proposer must still be able to do it. A right that was revoked since is checked again, with its
/// projects and its amounts. Proposals of the bank itself are not checked.
fn check_proposer(
    approve: &Approve,
    proposal: &Proposal,
    view: &View,
    ctx: &Context<'_>,
) -> Result<(), Refusal> {
    if proposal.client.is_empty() {
        return Ok(());
    }
    let mut why = "the user does not exist any more".to_owned();
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
    let mut postings = Postings::new(view);
    postings.begin("reject", ctx.now);
    postings.remark(&format!("proposal={}", reject.id.0));
    postings.remark(&reject.reason);
    let decided = decided(proposal, ProposalState::Rejected, &reject.reason, None, ctx);
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
    };
    Err(Refusal::ProposalOver {
        proposal: id.0,
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
        ..proposal.clone()
    }
}
