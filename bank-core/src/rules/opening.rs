//! The opening of this bank in place of another (decision 0170).

use crate::amount::Amount;
use crate::command::{Open, OpenAllocation};
use crate::effects::{Deposited, Effects, EntryKind, Landed, Outcome};
use crate::ids::{AllocationId, Next, check_name};
use crate::model::{Account, Allocation};
use crate::months;
use crate::postings::Postings;
use crate::refusal::Refusal;
use crate::rules::money::{figures, of_people, one_at_a_time, unblock};
use crate::rules::period::effective;
use crate::rules::phase::catch_up;
use crate::select;
use crate::view::{Context, View};

/// Opens the bank, or an allocation of the old one.
pub(super) fn open(open: &Open, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    match open {
        Open::Bank { source, at } => {
            check_name(source)?;
            let mut postings = Postings::new(view);
            postings.begin("opening", effective(Some(*at), view, ctx)?);
            let at = months::text(*at);
            postings.remark(&format!("{source} closes and this bank opens at {at}"));
            Ok(postings.finish(Outcome::Swept))
        }
        Open::Allocation(own) => allocation(own, view, ctx),
    }
}

/// A deposit of all that was deposited, and an adjustment for what is gone of it since.
fn allocation(own: &OpenAllocation, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    let account = select::account_by_name(ctx.directory, &own.account)?;
    of_people(account)?;
    if own.deposited < Amount::ZERO {
        return Err(Refusal::BadAmount("the deposits must not be below zero"));
    }
    if own.credit_limit < Amount::ZERO {
        return Err(Refusal::LIMIT_BELOW_ZERO);
    }
    if !own.window.is_proper() {
        return Err(Refusal::BadWindow);
    }
    let at = effective(Some(own.at), view, ctx)?;
    let mut postings = Postings::new(view);
    one_at_a_time(&postings, account, &own.window, None, ctx)?;
    let id = AllocationId(Next::take(&mut postings.next.allocation));
    let new = Allocation::empty(id, account.id, own.window, own.credit_limit, at);
    postings.add_allocation(new);
    let tx = postings.begin("deposit", at);
    postings.remark(&own.note);
    postings.put(EntryKind::Deposit, id, own.deposited)?;
    let gone = own.amount.minus(own.deposited)?;
    if !gone.is_zero() {
        postings.begin("adjust", at);
        postings.correct(tx);
        postings.remark("used before this bank opened");
        postings.remark(&own.note);
        postings.put(EntryKind::Adjust, id, gone)?;
    }
    finish(postings, account, (tx, id), own.deposited, ctx)
}

fn finish(
    mut postings: Postings,
    account: &Account,
    (tx, id): (crate::ids::TxId, AllocationId),
    amount: Amount,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    catch_up(&mut postings, id, ctx.now)?;
    unblock(&mut postings, account);
    let opened = postings.allocation(id).copied();
    let allocation = opened.ok_or(Refusal::AmountOverflow)?;
    let landed = Landed {
        amount,
        allocation,
        created: true,
    };
    let deposited = Deposited {
        tx,
        amount,
        allocation,
        created: true,
        figures: figures(&postings, account.id),
        account: account.id,
        parts: vec![landed],
    };
    Ok(postings.finish(Outcome::Deposited(deposited)))
}
