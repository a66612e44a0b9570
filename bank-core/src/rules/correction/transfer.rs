//! Money from one account to another: windows stay, debts and credit do not move
//! (ledger.md 2.3).

use super::own_money;
use crate::amount::Amount;
use crate::command::Transfer;
use crate::effects::{Effects, EntryKind, Outcome, Transferred};
use crate::ids::{AccountId, AllocationId, Next};
use crate::model::{Account, Allocation};
use crate::postings::Postings;
use crate::refusal::Refusal;
use crate::rules::money::{figures, of_people, one_at_a_time, sources, unblock, without_credit};
use crate::rules::split::in_order;
use crate::select;
use crate::time::{Timestamp, Window};
use crate::view::{Context, View};

/// Moves what is there, the earliest end first; each part keeps its window.
pub(super) fn transfer(
    transfer: &Transfer,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    let from = select::account_by_name(ctx.directory, &transfer.from)?;
    let to = select::account_by_name(ctx.directory, &transfer.to)?;
    if transfer.amount <= Amount::ZERO {
        return Err(Refusal::NOT_ABOVE_ZERO);
    }
    if from.id == to.id {
        return Err(Refusal::SameAccount);
    }
    of_people(to)?;
    let sources = sources(view, from, transfer.allocation)?;
    let taken = take(&sources, transfer.amount, from)?;
    let mut postings = Postings::new(view);
    let tx = postings.begin("transfer", ctx.now);
    postings.remark(&transfer.note);
    let mut parts = Vec::new();
    for (source, part) in taken {
        let target = target(&mut postings, to, source.window, ctx)?;
        postings.put(EntryKind::TransferOut, source.id, part.negate()?)?;
        postings.put(EntryKind::TransferIn, target, part)?;
        parts.push((source.id, target, part));
    }
    unblock(&mut postings, to);
    let transferred = Transferred {
        tx,
        from: from.id,
        to: to.id,
        amount: transfer.amount,
        parts,
        from_figures: figures(&postings, from.id),
        to_figures: figures(&postings, to.id),
    };
    Ok(postings.finish(Outcome::Transferred(transferred)))
}

/// What each of them gives of its own money, or that it does not reach.
pub(super) fn take(
    sources: &[Allocation],
    amount: Amount,
    account: &Account,
) -> Result<Vec<(Allocation, Amount)>, Refusal> {
    let funds = sources.iter().map(|source| (*source, own_money(source)));
    let (parts, remaining) = in_order(funds, amount)?;
    if remaining == 0 {
        return Ok(parts);
    }
    let available = sources.iter().map(own_money).sum();
    let whose = without_credit(account, sources);
    Err(Refusal::insufficient_funds(amount, available, whose))
}

/// The account's allocation of this window without credit, or a new one, where none may be usable at
/// the same time as another.
pub(super) fn target(
    postings: &mut Postings,
    account: &Account,
    window: Window,
    ctx: &Context<'_>,
) -> Result<AllocationId, Refusal> {
    let equal =
        |a: &&Allocation| a.account == account.id && a.window == window && a.credit_limit.is_zero();
    if let Some(known) = postings.allocations().iter().find(equal) {
        return Ok(known.id);
    }
    one_at_a_time(postings, account, &window, None, ctx)?;
    Ok(open(postings, account.id, window, ctx.now))
}

/// A new allocation with nothing in it.
pub(super) fn open(
    postings: &mut Postings,
    account: AccountId,
    window: Window,
    now: Timestamp,
) -> AllocationId {
    let id = AllocationId(Next::take(&mut postings.next.allocation));
    postings.add_allocation(Allocation::empty(id, account, window, Amount::ZERO, now));
    id
}
