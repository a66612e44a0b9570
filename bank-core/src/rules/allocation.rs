//! Changes to an allocation's window and credit limit (ledger.md 2.10).

use crate::amount::Amount;
use crate::command::SetAllocation;
use crate::effects::{Delta, Effects, EntryKind, Outcome, Outlived, Shape};
use crate::model::{Allocation, Phase};
use crate::months;
use crate::postings::{About, Postings};
use crate::refusal::Refusal;
use crate::rules::money::{of_people, one_at_a_time};
use crate::rules::phase;
use crate::time::{Timestamp, Window};
use crate::view::{Context, View};

/// Changes what may be changed; what the new window makes of it follows at once.
pub(super) fn set(set: &SetAllocation, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    let unknown = || Refusal::not_found("allocation", &set.id.0.to_string());
    let old = view.allocation(set.id).copied().ok_or_else(unknown)?;
    let account = ctx.directory.account(old.account);
    account.map_or(Ok(()), of_people)?;
    let window = new_window(set, &old, ctx.now)?;
    let credit_limit = set.credit_limit.unwrap_or(old.credit_limit);
    if credit_limit < Amount::ZERO {
        return Err(Refusal::LIMIT_BELOW_ZERO);
    }
    let mut postings = Postings::new(view);
    let new = Shape {
        window,
        credit_limit,
        ..Shape::of(&old)
    };
    // A change that changes nothing makes no transaction.
    if new != Shape::of(&old) {
        postings.begin("allocation_set", ctx.now);
        postings.remark(&described(&Shape::of(&old), &new, ctx));
        reshape(&mut postings, &new, ctx)?;
        follow_window(&mut postings, &old, &window, ctx.now)?;
    }
    let changed = postings.allocation(set.id).copied().ok_or_else(unknown)?;
    let holders = view.holders.iter();
    let outlived = holders.filter_map(|holder| Outlived::on(&changed, holder));
    Ok(postings.finish(Outcome::Allocation(changed, outlived.collect())))
}

/// The requested window.
fn new_window(set: &SetAllocation, old: &Allocation, now: Timestamp) -> Result<Window, Refusal> {
    let start = set.start.unwrap_or(old.window.start);
    let mut window = Window {
        start,
        end: old.window.end,
    };
    if let Some(end) = set.end {
        window.end = end;
        window = not_backwards(window, old, now);
    }
    if window.is_proper() {
        Ok(window)
    } else {
        Err(Refusal::BadWindow)
    }
}

/// A window is never cut backwards: an end in the past means now (case 87). The end of a window that is
/// over only moves to the future: entries were booked at the end that it has.
pub(super) fn not_backwards(window: Window, old: &Allocation, now: Timestamp) -> Window {
    let end = window.end.map(|end| match old.window.end {
        Some(known) if old.phase == Phase::Expired && end <= now => known,
        _ => end.max(now),
    });
    Window { end, ..window }
}

/// Changes the window and limit of an allocation, and journals the change.
pub(super) fn reshape(
    postings: &mut Postings,
    new: &Shape,
    ctx: &Context<'_>,
) -> Result<(), Refusal> {
    let id = new.allocation;
    let account = postings.allocation(id).map(|a| a.account);
    if let Some(account) = account.and_then(|id| ctx.directory.account(id)) {
        one_at_a_time(postings, account, &new.window, Some(id), ctx)?;
    }
    postings.change(id, |a| {
        a.window = new.window;
        a.credit_limit = new.credit_limit;
    });
    let about = About::default();
    postings.post(EntryKind::Modify, id, Delta::default(), &about)
}

/// The text of a change, for people: `end=2027-01-01T00:00:00Z was=infinity`.
fn described(old: &Shape, new: &Shape, ctx: &Context<'_>) -> String {
    let side = |at: Option<Timestamp>, none: &str| at.map_or_else(|| none.to_owned(), months::text);
    let limit = |amount: Amount| amount.display(ctx.directory.bank.precision).to_string();
    let start = |shape: &Shape| side(shape.window.start, "-infinity");
    let end = |shape: &Shape| side(shape.window.end, "infinity");
    let fields = [
        ("start", start(old), start(new)),
        ("end", end(old), end(new)),
        ("limit", limit(old.credit_limit), limit(new.credit_limit)),
    ];
    let changed = fields.into_iter().filter(|(_, old, new)| old != new);
    let parts: Vec<String> = changed
        .map(|(field, old, new)| format!("{field}={new} was={old}"))
        .collect();
    parts.join(" ")
}

/// The journal follows a window that was moved over the present.
pub(super) fn follow_window(
    postings: &mut Postings,
    old: &Allocation,
    window: &Window,
    now: Timestamp,
) -> Result<(), Refusal> {
    match (old.phase, Phase::of(window, now)) {
        (a, b) if a == b => Ok(()),
        (Phase::Active, Phase::Expired) => phase::expire(postings, old.id, now),
        (Phase::Future | Phase::Expired, Phase::Active) => phase::activate(postings, old.id, now),
        (Phase::Active, Phase::Future) => phase::suspend(postings, old.id, now),
        (_, phase) => {
            postings.change(old.id, |a| (a.phase, a.since) = (phase, now));
            Ok(())
        }
    }
}
