//! Quotes after they were given: bound to instances, and ended (ledger.md 2.9, decisions.md 15).

use crate::command::Request;
use crate::effects::{Delta, Effects, EntryKind, Outcome};
use crate::ids::{AllocationId, QuoteId};
use crate::model::{Instance, Quote};
use crate::postings::{About, Postings};
use crate::refusal::Refusal;
use crate::select;
use crate::time::{Timestamp, Window};
use crate::view::{Context, View};

/// The result of a request's quote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Binding {
    /// It is one of ours that does not hold here.
    pub(super) invalid: bool,
    /// It was bound just now: `quote_use` waits for the first allocation that is touched.
    pub(super) fresh: bool,
}

/// Binds the quote of a request to the instance on first use: all its charges have that price
/// (decisions.md 15).
pub(super) fn bind(
    postings: &mut Postings,
    instance: &mut Instance,
    request: &Request,
    view: &View,
    at: Timestamp,
    ctx: &Context<'_>,
) -> Binding {
    let Some(quote) = &view.quote else {
        return Binding::default();
    };
    if instance.quote == Some(quote.id) {
        return Binding::default();
    }
    let payer = select::find(ctx.directory, &request.whose);
    let fits = payer.project == Some(quote.project)
        && (quote.user.is_none() || quote.user == payer.user)
        && (quote.machine.is_none() || quote.machine == payer.machine);
    let free = quote.uses > 0 && instance.quote.is_none();
    if !(fits && free && quote.window.contains(at)) {
        return Binding {
            invalid: true,
            fresh: false,
        };
    }
    instance.quote = Some(quote.id);
    instance.rates_at = quote.window.start;
    postings.quotes.push(Quote {
        instance: Some(instance.id),
        uses: quote.uses.saturating_sub(1),
        ..quote.clone()
    });
    postings.remark(&format!("tid={}", quote.tid));
    Binding {
        invalid: false,
        fresh: true,
    }
}

impl Binding {
    /// Journals the use of a quote that was bound just now, before the first entry on the
    /// allocation that the lien or charge touches first; on none where it touches none.
    pub(super) fn journal(
        &mut self,
        postings: &mut Postings,
        instance: &Instance,
        allocation: Option<AllocationId>,
    ) -> Result<(), Refusal> {
        if !std::mem::take(&mut self.fresh) {
            return Ok(());
        }
        let about = About::instance(instance);
        match allocation {
            Some(id) => postings.post(EntryKind::QuoteUse, id, Delta::default(), &about)?,
            None => postings.note(EntryKind::QuoteUse, &about),
        }
        Ok(())
    }
}

/// Ends a quote now. What is bound to it keeps its price.
pub(super) fn remove(id: QuoteId, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    let known = view.quote.as_ref().filter(|q| !q.window.is_over(ctx.now));
    let quote = known.ok_or_else(|| Refusal::not_found("quote", &id.0.to_string()))?;
    let mut postings = Postings::new(view);
    postings.begin("quote_rm", ctx.now);
    postings.remark(&format!("quote={} tid={}", id.0, quote.tid));
    postings.quotes.push(Quote {
        window: Window {
            start: quote.window.start,
            end: Some(ctx.now),
        },
        uses: 0,
        ..quote.clone()
    });
    Ok(postings.finish(Outcome::Removed(id.0.to_string())))
}
