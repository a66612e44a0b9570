//! A correction by a person, with a reason.

use super::move_money;
use super::transfer::{take, target};
use crate::amount::Amount;
use crate::command::Adjust;
use crate::effects::{Adjusted, Effects, EntryKind, Outcome};
use crate::ids::AllocationId;
use crate::model::Account;
use crate::postings::{About, Postings};
use crate::refusal::Refusal;
use crate::rules::money::{figures, of_people, sources, unblock};
use crate::select;
use crate::time::Window;
use crate::view::{Context, View};

/// Adds to an account, or takes from what is there; the sum of its deposits stays.
pub(super) fn adjust(adjust: &Adjust, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    let account = account(adjust, view, ctx)?;
    if adjust.amount.is_zero() {
        return Err(Refusal::BadAmount("the amount must not be zero"));
    }
    if adjust.note.trim().is_empty() {
        return Err(Refusal::MissingField { field: "note" });
    }
    of_people(account)?;
    let mut postings = Postings::new(view);
    let tx = postings.begin("adjust", ctx.now);
    postings.remark(&adjust.note);
    let parts: Vec<(AllocationId, Amount)> = if adjust.amount > Amount::ZERO {
        let named = match adjust.allocation {
            Some(_) => sources(view, account, adjust.allocation)?
                .first()
                .map(|a| a.id),
            None => None,
        };
        let id = match named {
            Some(id) => id,
            None => target(&mut postings, account, Window::ALWAYS, ctx)?,
        };
        vec![(id, adjust.amount)]
    } else {
        let sources = sources(view, account, adjust.allocation)?;
        let taken = take(&sources, adjust.amount.negate()?, account)?;
        let minus = |(source, part): (crate::model::Allocation, Amount)| {
            part.negate().map(|part| (source.id, part))
        };
        taken.into_iter().map(minus).collect::<Result<_, _>>()?
    };
    for (id, part) in &parts {
        move_money(
            &mut postings,
            EntryKind::Adjust,
            *id,
            (part.0, 0),
            &About::default(),
        )?;
    }
    unblock(&mut postings, account);
    let adjusted = Adjusted {
        tx,
        account: account.id,
        amount: adjust.amount,
        figures: figures(&postings, account.id),
        parts,
    };
    Ok(postings.finish(Outcome::Adjusted(adjusted)))
}

fn account<'a>(adjust: &Adjust, view: &View, ctx: &Context<'a>) -> Result<&'a Account, Refusal> {
    if let Some(name) = &adjust.name {
        return select::account_by_name(ctx.directory, name);
    }
    let Some(id) = adjust.allocation else {
        return Err(Refusal::MissingField { field: "account" });
    };
    let found = view.allocation(id).map(|a| a.account);
    let account = found.and_then(|id| ctx.directory.account(id));
    account
        .filter(|a| !a.deleted)
        .ok_or_else(|| Refusal::not_found("allocation", &id.0.to_string()))
}
