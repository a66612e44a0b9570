//! Changes to an allocation's window and credit limit (ledger.md 2.10).

use crate::amount::Amount;
use crate::command::SetAllocation;
use crate::effects::{Delta, Effects, EntryKind, Outcome};
use crate::model::{Allocation, Phase};
use crate::postings::{About, Postings};
use crate::refusal::Refusal;
use crate::rules::money::one_at_a_time;
use crate::rules::sweep;
use crate::time::{Timestamp, Window};
use crate::view::{Context, View};

/// Changes what may be changed; what the new window makes of it follows at once.
pub(super) fn set(set: &SetAllocation, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    let unknown = || Refusal::not_found("allocation", &set.id.0.to_string());
    let old = view.allocation(set.id).copied().ok_or_else(unknown)?;
    let window = new_window(set, &old, ctx.now)?;
    let credit_limit = set.credit_limit.unwrap_or(old.credit_limit);
    if credit_limit < Amount::ZERO {
        return Err(Refusal::BadAmount);
    }
    if let Some(account) = ctx.directory.account(old.account) {
        one_at_a_time(view, account, &window, Some(old.id), ctx)?;
    }
    let mut postings = Postings::new(view);
    postings.begin("allocation_set", ctx.now);
    postings.remark(&was(&old));
    postings.change(set.id, |a| {
        a.window = window;
        a.credit_limit = credit_limit;
    });
    postings.post(
        EntryKind::Modify,
        set.id,
        Delta::default(),
        &About::default(),
    )?;
    follow_window(&mut postings, &old, &window, ctx.now)?;
    let over = window.end;
    let outlived = view
        .liens
        .iter()
        .filter(|l| over.is_some_and(|end| l.end > end));
    let outlived = outlived.filter(|l| l.portions.iter().any(|p| p.allocation == set.id));
    let outlived = outlived.map(|l| l.id).collect();
    let changed = postings.allocation(set.id).copied().ok_or_else(unknown)?;
    Ok(postings.finish(Outcome::Allocation(changed, outlived)))
}

/// The window asked for. One is never cut backwards: an end in the past means now (case 87).
fn new_window(set: &SetAllocation, old: &Allocation, now: Timestamp) -> Result<Window, Refusal> {
    let start = set.start.unwrap_or(old.window.start);
    let mut end = set.end.unwrap_or(old.window.end);
    if set.end.is_some() && old.phase != Phase::Expired {
        end = end.map(|e| e.max(now));
    }
    let window = Window { start, end };
    if window.is_proper() {
        Ok(window)
    } else {
        Err(Refusal::BadWindow)
    }
}

/// What an allocation was before a change, for the journal: so that the change can be undone.
pub(super) fn was(old: &Allocation) -> String {
    let side = |at: Option<Timestamp>| at.map_or_else(|| "-".to_owned(), |at| at.0.to_string());
    let (start, end) = (side(old.window.start), side(old.window.end));
    format!("was={start}/{end}/{}", old.credit_limit.0)
}

/// Reads what [`was`] wrote.
pub(super) fn read_was(reason: &str) -> Option<(Window, Amount)> {
    let was = reason
        .split(' ')
        .find_map(|word| word.strip_prefix("was="))?;
    let mut sides = was.split('/');
    let mut side = || match sides.next()? {
        "-" => Some(None),
        micros => micros.parse().ok().map(Timestamp).map(Some),
    };
    let (start, end) = (side()?, side()?);
    let limit = sides.next()?.parse().ok().map(Amount)?;
    Some((Window { start, end }, limit))
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
        (Phase::Active, Phase::Expired) => sweep::expire(postings, old.id, now),
        (Phase::Future | Phase::Expired, Phase::Active) => sweep::activate(postings, old.id, now),
        (Phase::Active, Phase::Future) => sweep::suspend(postings, old.id, now),
        (_, phase) => {
            postings.change(old.id, |a| a.phase = phase);
            Ok(())
        }
    }
}
