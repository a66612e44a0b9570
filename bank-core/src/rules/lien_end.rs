//! A lien by hand: its end moved, an expired one held again, an open one given back
//! (ledger.md 2.7 d).

use crate::amount::Amount;
use crate::command::{ExtendLien, Request, Whose};
use crate::effects::{Delta, Effects, EntryKind, InstanceChange, LienChanged, Outcome, Reserved};
use crate::ids::LienId;
use crate::model::{Instance, Lien, LienState, ObjectType, Portion};
use crate::postings::{About, Postings};
use crate::refusal::Refusal;
use crate::rules::funds::unblocked;
use crate::rules::instance::{end_lien, in_scope, usable, wait_for_more};
use crate::rules::lien::{Placing, accounts_of};
use crate::rules::promise::Binding;
use crate::rules::scope;
use crate::select::{self, Candidate};
use crate::view::{Context, View};

/// Moves the end of an open lien; an expired one holds again what it held at its end, if there is
/// money for it and its job is still open.
pub(super) fn extend(
    extend: &ExtendLien,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    let (lien, instance) = found(extend.lien, view, ctx)?;
    own_bank_only(instance, ctx)?;
    if extend.end <= ctx.now {
        return Err(Refusal::WindowInPast);
    }
    let mut postings = Postings::new(view);
    postings.begin_for("lien_extend", ctx.now, instance.id);
    let revived = lien.state == LienState::Expired;
    let mut lien = lien.clone();
    lien.end = extend.end;
    match lien.state {
        LienState::Open => {}
        LienState::Expired if instance.is_open() && instance.lien.is_none() => {
            (postings, lien) = hold_again(postings, instance, lien, ctx)?;
        }
        state => {
            return Err(Refusal::LienEnded {
                lien: lien.id.0,
                state: state.word(),
            });
        }
    }
    if lien.start >= lien.end {
        return Err(Refusal::BadWindow);
    }
    let mut instance = instance.clone();
    instance.lien = Some(lien.clone());
    instance.lien_expired = false;
    instance.due = Some(lien.end);
    let accounts = accounts_of(&postings, &lien.portions);
    if revived {
        instance.account = accounts.first().copied().or(instance.account);
    }
    let ends = |p: &Portion| postings.allocation(p.allocation)?.window.end;
    let outlives_allocation = lien
        .portions
        .iter()
        .filter_map(ends)
        .any(|end| end < lien.end);
    postings.relaid.push(lien.clone());
    Ok(finish(
        postings,
        LienChanged {
            lien,
            instance,
            accounts,
            released: Amount::ZERO,
            revived,
            outlives_allocation,
        },
    ))
}

/// Refuses a lien of two banks: its end would move at this one only.
fn own_bank_only(instance: &Instance, ctx: &Context<'_>) -> Result<(), Refusal> {
    let (project, machine) = (&instance.facts.project, &instance.key.machine);
    let is_ours = ctx.directory.used_by_partner(project).is_none();
    if is_ours && !ctx.directory.is_machine_of_partner(machine) {
        return Ok(());
    }
    let named = if is_ours { machine } else { project };
    Err(Refusal::bad_field(
        "lien",
        format!(
            "a lien of this bank alone; that of {named} is held by two banks, and only a new reserve changes both"
        ),
    ))
}

/// Gives back what an open lien holds. Its job goes on without one.
pub(super) fn release(id: LienId, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    let (lien, instance) = found(id, view, ctx)?;
    if lien.state != LienState::Open {
        return Err(Refusal::LienEnded {
            lien: id.0,
            state: lien.state.word(),
        });
    }
    let mut postings = Postings::new(view);
    postings.begin_for("lien_rm", ctx.now, instance.id);
    let released = if lien.shadow { 0 } else { lien.remaining() };
    let released = Amount::clamped(released);
    let accounts = accounts_of(&postings, &lien.portions);
    let mut instance = instance.clone();
    end_lien(&mut postings, &mut instance, LienState::Released)?;
    instance.due = None;
    wait_for_more(&mut instance, ctx.now, ctx.directory.policy.idle);
    let ended = postings.liens.last().cloned();
    Ok(finish(
        postings,
        LienChanged {
            lien: ended.unwrap_or_else(|| lien.clone()),
            instance,
            accounts,
            released,
            revived: false,
            outlives_allocation: false,
        },
    ))
}

/// The lien and its instance, if they are in the caller's scope. Callers for single projects or machines
/// cannot find out whether a number exists (decisions.md 23).
fn found<'a>(
    id: LienId,
    view: &'a View,
    ctx: &Context<'_>,
) -> Result<(&'a Lien, &'a Instance), Refusal> {
    let is_whole = ctx.scope.projects.is_empty() && ctx.scope.machines.is_empty();
    let unknown = || {
        if is_whole {
            return Refusal::not_found("lien", &id.0.to_string());
        }
        let what = format!("lien {}", id.0);
        Refusal::NotAllowed { what }
    };
    let lien = view.liens.iter().find(|l| l.id == id).ok_or_else(unknown)?;
    let own = view.instances.iter().find(|i| i.id == lien.instance);
    let instance = in_scope(own.ok_or_else(unknown)?, ctx).map_err(|_| unknown())?;
    scope::machine(&instance.key.machine, ctx).map_err(|_| unknown())?;
    Ok((lien, instance))
}

/// Holds again what a lien held when it expired, on what is free now.
fn hold_again(
    postings: Postings,
    instance: &Instance,
    mut lien: Lien,
    ctx: &Context<'_>,
) -> Result<(Postings, Lien), Refusal> {
    let (whose, mut candidates) = payers(instance, ctx)?;
    if !lien.shadow {
        candidates = unblocked(&candidates, ctx)?;
    }
    let placing = Placing {
        postings,
        instance: instance.clone(),
        start: lien.start.max(ctx.now),
        end: lien.end,
        cost: lien.lapsed,
        binding: Binding::default(),
        touched: None,
        shortage: None,
        question: None,
        reserved: Reserved::nothing(instance.id),
    };
    lien.portions = match placing.portions(&candidates, &whose, lien.shadow, ctx) {
        Ok(portions) => portions,
        Err(refusal) if !lien.shadow => return Err(refusal),
        // Nothing is refused in the shadow modes.
        Err(_) => {
            let allocations = placing.postings.allocations();
            let order = select::paying_order(&candidates, allocations, placing.start);
            let all = order.first().map(|allocation| Portion {
                allocation: *allocation,
                amount: lien.lapsed,
            });
            all.into_iter().collect()
        }
    };
    lien.state = LienState::Open;
    lien.lapsed = Amount::ZERO;
    let mut postings = placing.postings;
    let about = About {
        lien: Some(lien.id),
        ..About::instance(instance)
    };
    for portion in &lien.portions {
        let delta = Delta::of_lien(portion.amount.0, lien.shadow);
        postings.post(EntryKind::Lien, portion.allocation, delta, &about)?;
    }
    Ok((postings, lien))
}

/// The accounts that may hold it: those usable now for its project, user and machine; the fallback account if
/// that held it.
fn payers(instance: &Instance, ctx: &Context<'_>) -> Result<(String, Vec<Candidate>), Refusal> {
    if let (Some(_), Some(account)) = (instance.fallback_from, instance.account) {
        let known = ctx.directory.account(account);
        let fallback = known.ok_or_else(|| Refusal::not_found("account", ""))?;
        return Ok((fallback.name.clone(), vec![Candidate::only(fallback)]));
    }
    let facts = &instance.facts;
    let request = Request {
        object_type: instance.key.object_type,
        object_id: instance.key.object_id.clone(),
        whose: Whose {
            project: Some(facts.project.clone()),
            user: Some(facts.user.clone()).filter(|user| !user.is_empty()),
            machine: instance.key.machine.clone(),
            for_reservation: instance.key.object_type == ObjectType::Reservation,
        },
        facts: facts.clone(),
        ..Request::default()
    };
    let (payer, candidates) = usable(&request, facts, ctx)?;
    Ok((payer.project_name, candidates))
}

fn finish(mut postings: Postings, changed: LienChanged) -> Effects {
    postings.remark(&format!("lien={}", changed.lien.id.0));
    postings.instances.push(InstanceChange {
        instance: changed.instance.clone(),
        facts_changed: false,
        standing_changed: true,
    });
    postings.finish(Outcome::LienChanged(Box::new(changed)))
}
