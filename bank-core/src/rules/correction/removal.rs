//! Removal of accounts and allocations with their money: the journal records the amount, and their liens move
//! elsewhere (ledger.md 2.11).

use super::liens::move_away;
use crate::amount::Amount;
use crate::command::RemoveAllocation;
use crate::effects::{Delta, DirectoryRow, Effects, EntryKind, Outcome};
use crate::ids::{AccountId, AllocationId, UNBILLED};
use crate::model::{Account, Allocation, Instance, Phase};
use crate::postings::{About, Postings};
use crate::refusal::Refusal;
use crate::rules::admin::unused;
use crate::rules::money::of_people;
use crate::view::{Context, View};

/// Removes an account with everything in it.
pub(super) fn account(name: &str, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    if name == UNBILLED {
        return Err(Refusal::in_use(name, "the bank itself"));
    }
    let account = ctx.directory.account_named(name);
    let account = account.ok_or_else(|| Refusal::not_found("account", name))?;
    unused(account, ctx)?;
    let mut postings = Postings::new(view);
    let tx = postings.begin("account_rm", ctx.now);
    postings.remark(&format!("account={name}"));
    let own: Vec<Allocation> = view.of_account(account.id).copied().collect();
    let ids: Vec<AllocationId> = own.iter().map(|a| a.id).collect();
    clear(&mut postings, view, &ids, Some(account.id), ctx)?;
    postings.directory.push(DirectoryRow::Account(Account {
        deleted: true,
        ..account.clone()
    }));
    postings.removals.push((account.id, tx));
    Ok(postings.finish(Outcome::Removed(name.to_owned())))
}

/// Removes an allocation: it holds nothing, has no credit, and its window has ended.
pub(super) fn allocation(
    remove: RemoveAllocation,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    let id = remove.id;
    let unknown = || Refusal::not_found("allocation", &id.0.to_string());
    let old = *view.allocation(id).ok_or_else(unknown)?;
    let account = ctx.directory.account(old.account);
    let account = account.filter(|a| !a.deleted).ok_or_else(unknown)?;
    of_people(account)?;
    let count = holders(view, &[id]).count();
    if count > 0 && !remove.force {
        return Err(Refusal::LiveLiens {
            account: account.name.clone(),
            count: i64::try_from(count).unwrap_or(i64::MAX),
        });
    }
    if !old.amount.is_zero() && !remove.force {
        return Err(Refusal::BalanceNotZero {
            holder: format!("allocation {} of account {:?}", id.0, account.name),
            amount: old.amount,
        });
    }
    let mut postings = Postings::new(view);
    postings.begin("allocation_rm", ctx.now);
    postings.remark(&format!("allocation={}", id.0));
    clear(&mut postings, view, &[id], None, ctx)?;
    if old.amount.is_zero() {
        post_delete(&mut postings, &old)?;
    }
    postings.change(id, |a| {
        a.credit_limit = Amount::ZERO;
        if a.phase == Phase::Active {
            a.phase = Phase::Expired;
            a.window.end = Some(ctx.now);
            a.window.start = a.window.start.filter(|start| *start < ctx.now);
        }
    });
    Ok(postings.finish(Outcome::Removed(id.0.to_string())))
}

/// Moves the liens away and takes the money out.
fn clear(
    postings: &mut Postings,
    view: &View,
    ids: &[AllocationId],
    account: Option<AccountId>,
    ctx: &Context<'_>,
) -> Result<(), Refusal> {
    for instance in holders(view, ids) {
        move_away(postings, instance.clone(), ids, account, ctx)?;
    }
    for id in ids {
        let Some(own) = postings.allocation(*id).copied() else {
            continue;
        };
        if !own.amount.is_zero() {
            post_delete(postings, &own)?;
        }
    }
    Ok(())
}

/// The instances with open liens on these allocations.
fn holders<'a>(view: &'a View, ids: &'a [AllocationId]) -> impl Iterator<Item = &'a Instance> {
    view.holders.iter().filter(|i| {
        let lien = i.lien.as_ref();
        lien.is_some_and(|l| l.portions.iter().any(|p| ids.contains(&p.allocation)))
    })
}

fn post_delete(postings: &mut Postings, own: &Allocation) -> Result<(), Refusal> {
    let minus = own.amount.negate()?.0;
    let active = if own.phase == Phase::Active { minus } else { 0 };
    let delta = Delta {
        amount: minus,
        active,
        ..Delta::default()
    };
    postings.post(EntryKind::Delete, own.id, delta, &About::default())
}
