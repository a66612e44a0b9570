//! A removed account comes back: its lists, its money, and what its liens held (ledger.md 2.11).

use super::liens::hold;
use super::move_money;
use super::opposite::reversed;
use crate::amount::Amount;
use crate::effects::{DirectoryRow, Effects, Entry, EntryKind, Outcome, Reversed};
use crate::history::PastTx;
use crate::ids::{AllocationId, LienId};
use crate::model::{Account, LienState, Portion};
use crate::postings::{About, Postings};
use crate::refusal::Refusal;
use crate::rules::instance::end_lien;
use crate::view::{Context, View};

/// Brings an account back by its name.
pub(super) fn by_name(name: &str, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    let unknown = || Refusal::not_found("account", name);
    let account = ctx.directory.any_account_named(name).ok_or_else(unknown)?;
    if !account.deleted {
        return Err(Refusal::already_exists("account", name));
    }
    match view.past.first() {
        Some(removal) if removal.reversed_by.is_none() => restore(account, removal, "", view, ctx),
        _ => {
            let mut postings = Postings::new(view);
            let tx = postings.begin("undo", ctx.now);
            postings.remark(&format!("account={name}"));
            postings.directory.push(alive(account));
            Ok(postings.finish(Outcome::Reversed(Reversed {
                tx,
                reversed: None,
                op: "account_rm".to_owned(),
                parts: Vec::new(),
                figures: Vec::new(),
            })))
        }
    }
}

fn alive(account: &Account) -> DirectoryRow {
    DirectoryRow::Account(Account {
        deleted: false,
        ..account.clone()
    })
}

/// Writes the opposite of the removal of an account.
pub(super) fn restore(
    account: &Account,
    removal: &PastTx,
    note: &str,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    let mut postings = Postings::new(view);
    let tx = postings.begin("undo", ctx.now);
    postings.reverse(removal.id);
    // A name can have blanks: words behind it would be read as a part of it.
    postings.remark(note);
    postings.remark(&format!("account={}", account.name));
    let parts = give_back(&mut postings, removal)?;
    bring_liens_back(&mut postings, removal, view, ctx)?;
    postings.directory.push(alive(account));
    Ok(reversed(postings, tx, removal, parts))
}

/// The money that went with a removal.
pub(super) fn give_back(
    postings: &mut Postings,
    removal: &PastTx,
) -> Result<Vec<(AllocationId, Amount)>, Refusal> {
    let mut parts = Vec::new();
    let gone = removal
        .entries
        .iter()
        .filter(|e| e.kind == EntryKind::Delete);
    for entry in gone {
        let Some(id) = entry.allocation else { continue };
        let back = Amount(entry.delta.amount).negate()?;
        let about = About {
            takes_back: Some(entry.id),
            ..About::default()
        };
        move_money(postings, EntryKind::Reverse, id, (back.0, 0), &about)?;
        parts.push((id, back));
    }
    Ok(parts)
}

/// A lien as it was moved: what it held before, and the lien that took its place.
struct Moved {
    before: Vec<Portion>,
    after: LienId,
}

/// The moves of a removal, from its entries: first the releases, then the new holds.
fn moved(entries: &[Entry]) -> Vec<Moved> {
    let mut moved: Vec<Moved> = Vec::new();
    let mut before: Vec<Portion> = Vec::new();
    for entry in entries {
        let Some(allocation) = entry.allocation else {
            continue;
        };
        let held = entry.delta.held.saturating_add(entry.delta.shadow_held);
        match (entry.kind, entry.lien) {
            (EntryKind::LienRelease, _) => before.push(Portion {
                allocation,
                amount: Amount(held.saturating_neg()),
            }),
            (EntryKind::Lien, Some(after)) if !before.is_empty() => moved.push(Moved {
                before: std::mem::take(&mut before),
                after,
            }),
            _ => {}
        }
    }
    moved
}

/// Liens that still hold elsewhere hold here again, as much as is left of them.
pub(super) fn bring_liens_back(
    postings: &mut Postings,
    removal: &PastTx,
    view: &View,
    ctx: &Context<'_>,
) -> Result<(), Refusal> {
    for Moved { before, after } in moved(&removal.entries) {
        let holder = view.holders.iter().find(|i| {
            let lien = i.lien.as_ref();
            lien.is_some_and(|l| l.id == after)
        });
        let Some((mut instance, lien)) = holder.and_then(|i| Some((i.clone(), i.lien.clone()?)))
        else {
            continue;
        };
        let mut left = lien.remaining();
        end_lien(postings, &mut instance, LienState::Released)?;
        let mut portions = Vec::new();
        for portion in before {
            let part = i128::from(portion.amount.0).min(left);
            left = left.saturating_sub(part);
            portions.push(Portion {
                allocation: portion.allocation,
                amount: Amount::from_sum(part)?,
            });
        }
        hold(postings, instance, &lien, portions, ctx)?;
    }
    Ok(())
}
