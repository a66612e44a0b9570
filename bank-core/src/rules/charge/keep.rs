//! Reports of a source that does not charge the use: kept with the use, and never billed by that source
//! (decisions.md 19 and 43). The lien goes on holding the cost of the use until the record of the charging
//! source arrives, or until a bound.

use super::find::charged_instance;
use super::{measure, source, store_facts, subject};
use crate::amount::Amount;
use crate::command::Charge;
use crate::effects::{Billing, Charged, Delta, Effects, EntryKind, InstanceChange, Outcome};
use crate::model::{Closing, Instance, LienState};
use crate::postings::{About, Postings};
use crate::refusal::Refusal;
use crate::rules::instance::{close_instance, end_lien, note_start, wait_for_more};
use crate::rules::lien::{PricedAt, cost_used};
use crate::rules::money::figures;
use crate::rules::same;
use crate::time::{Seconds, Timestamp};
use crate::view::{Context, View};

/// The source that charges the use instead of the reporting one: the source of the machine, or a collector
/// that has charged the use already, whichever source the machine has now.
pub(super) fn owner(charge: &Charge, view: &View, ctx: &Context<'_>) -> Option<String> {
    if let Some(owner) = source::owner(charge, ctx) {
        return Some(owner.to_owned());
    }
    // Records of finished uses were checked before they became charges.
    if charge.terms.finished.is_some() || charge.terms.source.is_none() {
        return None;
    }
    let at = charge.happened(ctx.now);
    let counted = || same::charge_by(charge, at, view);
    let owner = match charged_instance(view, charge, at, ctx) {
        // Its earlier documents billed nothing, as a reserve or a charge that was kept.
        Some(instance) if !instance.is_charged() => {
            same::collector(instance, view).or_else(counted)
        }
        Some(instance) => same::collector(instance, view),
        None => counted(),
    };
    owner.map(str::to_owned)
}

/// The seconds that a charge bills. For a finished use: the reported seconds less those that any source has
/// billed. For a scheduler: the reported seconds and those that were kept.
pub(super) fn waiting(charge: &Charge, instance: &Instance, reported: Seconds) -> Seconds {
    let terms = &charge.terms;
    if terms.total || terms.amount.is_some() || terms.window.is_some() {
        return reported;
    }
    if terms.finished.is_some() {
        let rest = reported.0.saturating_sub(instance.charged.0);
        return Seconds(rest.max(0));
    }
    if terms.source.is_none() {
        return reported;
    }
    let is_ended = matches!(instance.closed, Some((_, Closing::End)));
    if charge.closes && is_ended && instance.kept.0 > 0 {
        return instance.kept;
    }
    reported.plus(instance.kept)
}

/// Keeps the facts and seconds of a charge, and bills nothing.
pub(super) fn keep(
    charge: &Charge,
    owner: &str,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    let request = &charge.request;
    measure::check(charge)?;
    let at = charge.happened(ctx.now);
    let mut postings = Postings::new(view);
    let mut instance = subject(&mut postings, charge, view, at, ctx)?;
    let before = instance.standing();
    let is_late = !instance.is_open();
    let mut facts_changed = false;
    let tx = postings.begin_for("modify", at, instance.id);
    if !instance.is_billed() && same::collector(&instance, view).is_none() {
        note_start(&mut instance, request.facts.start);
        facts_changed = store_facts(&mut instance, charge, false, view, ctx);
        // What another source counted without an instance waits for no record.
        if !is_late && same::charge_by(charge, at, view).is_none() {
            count(&mut instance, charge)?;
        }
    }
    postings.note(EntryKind::Modify, &About::instance(&instance));
    if charge.closes && !is_late {
        hold(&mut postings, &mut instance, ctx)?;
        let end = at.max(instance.opened);
        close_and_wait(&mut postings, &mut instance, (end, Closing::End), ctx);
    } else {
        if charge.releases && !is_late {
            hold(&mut postings, &mut instance, ctx)?;
        }
        let idle = charge.terms.idle.unwrap_or(ctx.directory.policy.idle);
        wait_for_more(&mut instance, at, idle);
    }
    postings.remark(&format!("kept: charged from {owner}"));
    let outcome = Outcome::Charged(answer(&instance, owner, tx, is_late, &postings));
    let standing_changed = before != instance.standing();
    postings.instances.push(InstanceChange {
        instance,
        facts_changed,
        standing_changed,
    });
    Ok(postings.finish(outcome))
}

/// Adds the reported seconds to those that wait for the charging source.
fn count(instance: &mut Instance, charge: &Charge) -> Result<(), Refusal> {
    let reported = measure::reported(charge)?;
    instance.kept = if charge.terms.total {
        let more = reported.0.saturating_sub(instance.charged.0);
        instance.kept.max(Seconds(more))
    } else {
        instance.kept.plus(reported)
    };
    Ok(())
}

/// Closes a use. It is due again when its lien has waited long enough.
pub(in crate::rules) fn close_and_wait(
    postings: &mut Postings,
    instance: &mut Instance,
    (at, by): (Timestamp, Closing),
    ctx: &Context<'_>,
) {
    close_instance(postings, instance, at, by, ctx);
    instance.due = instance.lien.as_ref().map(|lien| lien.end);
}

/// Goes on holding the cost of the use so far, and gives the rest of its lien back. If the cost cannot be
/// computed, the whole lien stays.
pub(in crate::rules) fn hold(
    postings: &mut Postings,
    instance: &mut Instance,
    ctx: &Context<'_>,
) -> Result<(), Refusal> {
    let bound = ctx.directory.policy.record_wait;
    let seconds = instance.charged.plus(instance.kept);
    let start = instance.facts.start.or(instance.began);
    let start = start.unwrap_or(instance.opened);
    let whole = cost_used(instance, &PricedAt::new(seconds, start, start), ctx);
    let billed = instance.billed.plus(instance.shadow_billed)?;
    let Some(mut lien) = instance.lien.clone() else {
        return Ok(());
    };
    let rest = match whole {
        Ok(whole) => i128::from(whole.minus(billed)?.0.max(0)),
        Err(_) => lien.remaining(),
    };
    if rest.min(lien.remaining()) == 0 || bound.0 == 0 {
        return end_lien(postings, instance, LienState::Released);
    }
    let about = About {
        lien: Some(lien.id),
        ..About::instance(instance)
    };
    let mut left = rest;
    for portion in &mut lien.portions {
        let stays = Amount::from_sum(i128::from(portion.amount.0).min(left))?;
        left = left.saturating_sub(i128::from(stays.0));
        let back = stays.minus(portion.amount)?.0;
        portion.amount = stays;
        if back == 0 {
            continue;
        }
        let delta = Delta::of_lien(back, lien.shadow);
        postings.post(EntryKind::LienRelease, portion.allocation, delta, &about)?;
    }
    lien.end = ctx.now.plus(bound);
    postings.relaid.push(lien.clone());
    instance.due = Some(lien.end);
    instance.lien = Some(lien);
    Ok(())
}

/// The answer to the source.
fn answer(
    instance: &Instance,
    owner: &str,
    tx: crate::ids::TxId,
    late: bool,
    postings: &Postings,
) -> Charged {
    let balance = instance
        .account
        .map_or(0, |account| figures(postings, account).balance());
    Charged {
        instance: instance.id,
        tx,
        amount: Amount::ZERO,
        debt: Amount::ZERO,
        billing: Billing::Billed,
        account: instance.account,
        shares: Vec::new(),
        balance: Amount::clamped(balance),
        project: instance.facts.project.clone(),
        lien_missing: false,
        late,
        quote_invalid: false,
        unpriced: false,
        against_liens: Amount::ZERO,
        by_fallback: Amount::ZERO,
        counted: Seconds(0),
        disputed: Seconds(0),
        repeats: false,
        would_refuse: None,
        kept_for: Some(owner.to_owned()),
    }
}
