//! The minimum and maximum price of a job where a charge is done again.

use super::opposite::not_reversible;
use crate::effects::{Entry, EntryKind};
use crate::exact::to_amount;
use crate::history::{PastTx, bills, refunded, standing};
use crate::ids::TxId;
use crate::model::Instance;
use crate::price::{Priced, price};
use crate::refusal::Refusal;
use crate::rules::fallback;
use crate::time::Seconds;
use crate::view::{Context, View};

/// Refuses a charge that is done again if the job, as it is with that charge, then pays more than its bounded price: a
/// later charge has billed that price since (ledger.md 3.3).
pub(super) fn check(
    undone: bool,
    (root, target): (&PastTx, &PastTx),
    instance: &Instance,
    view: &View,
    ctx: &Context<'_>,
) -> Result<(), Refusal> {
    if undone || billed_after(target, view).is_none() {
        return Ok(());
    }
    let machine = ctx.directory.any_machine_named(&instance.key.machine);
    let priced = Priced {
        usage: &fallback::priced(instance, ctx),
        duration: Seconds(1),
        machine: machine.map(|m| m.id),
        machine_name: &instance.key.machine,
        named: instance.facts.named(),
        at: instance.rates_at.unwrap_or(root.at_effective),
        from: root.at_effective,
    };
    let price = price(&priced, ctx.directory.rates_at(priced.at));
    let price = price.filter(|price| price.least.is_some() || price.most.is_some());
    let sum = instance.exact_sum.checked_add(instance.once_sum);
    let Some((price, sum)) = price.zip(sum) else {
        return Ok(());
    };
    let (precision, rounding) = (ctx.directory.bank.precision, ctx.directory.policy.rounding);
    let bounded = to_amount(price.bounded(sum), precision, rounding);
    let billed = instance.billed.plus(instance.shadow_billed)?;
    if bounded.is_some_and(|bounded| billed > bounded) {
        let why = "the job has a minimum or maximum price, and a later charge has billed that since; undo that charge \
                   first";
        return Err(not_reversible(target, why));
    }
    Ok(())
}

/// The last charge in force after a transaction, or total that fell.
pub(super) fn billed_after(target: &PastTx, view: &View) -> Option<TxId> {
    // A total that fell gave back without a charge.
    let fell = |e: &Entry| e.kind == EntryKind::Refund && refunded(e, &view.history).is_none();
    let kept = standing(&view.history);
    let mut later = kept.iter().filter(|(tx, _)| *tx > target.id);
    let last = later.rfind(|(_, e)| bills(e.kind) || fell(e));
    last.map(|(tx, _)| *tx)
}
