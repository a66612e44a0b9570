//! Returns charges that waited for a project before the project is charged (ledger.md 2.8, `#unbilled`).

use crate::amount::Amount;
use crate::effects::{Billing, Entry, EntryKind, UsageRow};
use crate::history::{standing, waiting};
use crate::ids::{Next, UsageId};
use crate::model::Instance;
use crate::postings::{About, Postings};
use crate::refusal::Refusal;
use crate::rules::correction::{announce, announce_moved, move_money};
use crate::terms::ASSIGNED;
use crate::time::{Seconds, Timestamp};
use crate::view::{Context, View};

/// Takes back all charges of an instance, in a separate transaction: the charge on `#unbilled`, or shadow
/// figures without an account. The instance counts nothing afterwards.
pub(super) fn take_back(
    postings: &mut Postings,
    instance: &mut Instance,
    view: &View,
    at: Timestamp,
    ctx: &Context<'_>,
) -> Result<(), Refusal> {
    // A refund that was undone has rows too.
    let mut rows = view.usages.iter().rev();
    let Some(last) = rows.find(|row| row.billing != Billing::Refund) else {
        return Ok(());
    };
    let in_shadow = last.billing == Billing::Shadow;
    // Money that waited goes back now. Shadow figures stay in their time.
    let booked = if in_shadow { at } else { ctx.now };
    let tx = postings.begin_for("adjust", booked, instance.id);
    postings.remark(ASSIGNED);
    let usage = UsageId(Next::take(&mut postings.next.usage));
    let about = About {
        usage: Some(usage),
        ..About::instance(instance)
    };
    // Shadow figures are on no allocation. Their entry is taken back like any entry of a charge. Those of an earlier owner went
    // back when an amended record named another one.
    let figures = standing(&view.history).into_iter().map(|(_, entry)| entry);
    let own = &instance.facts;
    let is_own = |e: &&Entry| (&e.project, &e.user) == (&own.project, &own.user);
    let waits = |e: &&Entry| e.kind == EntryKind::ChargeNotional && e.allocation.is_none();
    for entry in figures.filter(|e| in_shadow && waits(e) && is_own(e)) {
        let about = About {
            takes_back: Some(entry.id),
            project: entry.project.clone(),
            user: entry.user.clone(),
            ..about.clone()
        };
        postings.note(EntryKind::Reverse, &about);
    }
    let suspense = ctx.directory.suspense().map(|a| a.id);
    for rest in waiting(&view.history, suspense) {
        let about = About {
            takes_back: Some(rest.entry.id),
            ..about.clone()
        };
        if let Some(allocation) = rest.entry.allocation {
            let back = (rest.left, 0);
            move_money(postings, EntryKind::Reverse, allocation, back, &about)?;
        }
    }
    let row = UsageRow {
        id: usage,
        prev: instance.last_usage,
        instance: instance.id,
        tx,
        at,
        charged: Seconds(instance.charged.0.saturating_neg()),
        processors: last.processors,
        amount: instance.billed.plus(instance.shadow_billed)?.negate()?,
        billing: last.billing,
        late: !instance.is_open(),
        facts: String::new(),
        rates_at: None,
    };
    let announced = if row.late { announce_moved } else { announce };
    announced(postings, instance, &row, ctx);
    instance.last_usage = Some(usage);
    count_nothing(instance, view);
    postings.usages.push(row);
    Ok(())
}

/// Sets the counters of an instance to those before its first charge. The sum of a reservation's idle time
/// follows from its rows, which stay.
fn count_nothing(instance: &mut Instance, view: &View) {
    instance.billed = Amount::ZERO;
    instance.shadow_billed = Amount::ZERO;
    instance.once_sum = 0;
    instance.charged = Seconds(0);
    instance.processor_seconds = 0;
    let mut times = view.times.iter();
    if !times.any(|time| time.instance == instance.id && time.facts.is_some()) {
        instance.exact_sum = 0;
    }
}
