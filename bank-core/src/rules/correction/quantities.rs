//! The quantities of a use after a charge of it was undone or done again: the next charge that states none has those of the last
//! charge in force, as if the undone one had never come.

use super::moved::{in_force, rows_of};
use crate::decimal::Decimal;
use crate::effects::UsageRow;
use crate::history::PastTx;
use crate::model::Instance;
use crate::rules::fallback;
use crate::usage::{Usage, text};
use crate::view::{Context, View};

/// Gives the use the quantities of its last charge in force, if the charge that is taken back stated the present ones, or if
/// the one that is done again is the last. Without a charge in force those of a reserve stay. Returns whether they changed.
pub(super) fn follow(
    instance: &mut Instance,
    root: &PastTx,
    (view, ctx): (&View, &Context<'_>),
    undone: bool,
) -> bool {
    let Some(own) = rows_of(root.id, view).pop() else {
        return false;
    };
    let last = in_force(root, view).pop();
    let usage = if undone {
        let present = fallback::priced(instance, ctx);
        let is_present = own.facts == text::write(&present)
            && own.processors == present.processors.unwrap_or_default();
        if !is_present {
            return false;
        }
        match last.and_then(|(tx, _)| rows_of(*tx, view).pop()) {
            Some(row) => stated(row, instance, ctx),
            None if instance.is_reserved() => return false,
            None => Usage::default(),
        }
    } else if last.is_none_or(|(tx, _)| *tx < root.id) {
        stated(own, instance, ctx)
    } else {
        return false;
    };
    let changed = instance.facts.usage != usage;
    instance.facts.usage = usage;
    changed
}

/// The quantities of a charge. The quality of service of a fallback account is none that the job asked for.
fn stated(row: &UsageRow, instance: &Instance, ctx: &Context<'_>) -> Usage {
    let processors = Some(row.processors).filter(|processors| *processors != Decimal::ZERO);
    let mut usage = text::read(&row.facts, processors).unwrap_or_default();
    usage.idle = None;
    let of_fallback = ctx.directory.fallback_qos(&instance.key.machine);
    if usage.qos.is_some() && usage.qos.as_deref() == of_fallback {
        usage.qos.clone_from(&instance.facts.usage.qos);
    }
    usage
}
