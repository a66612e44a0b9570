//! Journal entries about the clock: steps back, and jumps that an operator confirmed.

use crate::effects::{Effects, EntryKind, Outcome};
use crate::months;
use crate::postings::{About, Postings};
use crate::refusal::Refusal;
use crate::time::Timestamp;
use crate::view::{Context, View};

/// The machine's clock stepped back to `shown`; the ledger's own time waits for it.
pub(crate) fn stepped_back(shown: Timestamp, view: &View, now: Timestamp) -> Effects {
    let mut postings = Postings::new(view);
    postings.begin("clock", now);
    postings.remark(&format!(
        "clock={} ledger={}",
        months::text(shown),
        months::text(now)
    ));
    postings.note(EntryKind::ClockBack, &About::default());
    postings.finish(Outcome::Swept)
}

/// An operator confirms a clock that jumped to `shown`. A clock that the ledger follows has not jumped.
pub(super) fn confirm(
    shown: Timestamp,
    note: &str,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    if shown <= ctx.now {
        return Err(Refusal::NoClockJump);
    }
    let mut postings = Postings::new(view);
    postings.begin("clock_confirm", ctx.now);
    postings.remark(&format!("clock={}", months::text(shown)));
    if !note.is_empty() {
        postings.remark(note);
    }
    Ok(postings.finish(Outcome::ClockConfirmed(shown)))
}
