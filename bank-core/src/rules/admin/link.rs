//! An account's place below another one (ledger.md 1.2, 2.1): shares of one parent never make more
//! than 100, and nothing comes under itself.

use crate::command::SetAccount;
use crate::directory::DEPTH_MAX;
use crate::ids::UNBILLED;
use crate::model::{Account, Link, Overflow};
use crate::refusal::Refusal;
use crate::view::Context;

/// Changes the link as requested, and returns the change for the journal.
pub(super) fn change(
    account: &mut Account,
    set: &SetAccount,
    ctx: &Context<'_>,
) -> Result<Option<String>, Refusal> {
    if set.parent.is_none() && set.share.is_none() && set.overflow.is_none() {
        return Ok(None);
    }
    let old = account.link;
    let parent = match &set.parent {
        Some(Some(name)) => Some(above(account, name, ctx)?),
        Some(None) => None,
        None => old.and_then(|l| ctx.directory.account(l.parent)),
    };
    let Some(parent) = parent else {
        if set.share.is_some() || set.overflow.is_some() {
            return Err(Refusal::bad_value(
                "parent",
                "an account above, for a share or an overflow",
            ));
        }
        account.link = None;
        return Ok(Some("parent=none".to_owned()));
    };
    let share = set.share.unwrap_or(old.map_or(0, |l| l.share.into()));
    let overflow = set
        .overflow
        .unwrap_or(old.map_or(Overflow::No, |l| l.overflow));
    let share = checked_share(account, parent, share, ctx)?;
    account.link = Some(Link {
        parent: parent.id,
        share,
        overflow,
    });
    let (name, overflow) = (&parent.name, overflow.word());
    Ok(Some(format!(
        "parent={name} share={share} overflow={overflow}"
    )))
}

/// The account of a name, if another one may come under it.
fn above<'a>(account: &Account, name: &str, ctx: &Context<'a>) -> Result<&'a Account, Refusal> {
    let directory = ctx.directory;
    let known = directory.account_named(name).filter(|a| a.name != UNBILLED);
    let parent = known.ok_or_else(|| Refusal::not_found("account", name))?;
    let line = directory.above(parent.id);
    if parent.id == account.id || line.iter().any(|a| a.id == account.id) {
        return Err(Refusal::Cycle {
            name: account.name.clone(),
        });
    }
    let depth = line.len().saturating_add(1);
    if depth.saturating_add(directory.height(account.id)) > DEPTH_MAX {
        return Err(Refusal::bad_value(
            "parent",
            "at most 16 accounts above one another",
        ));
    }
    Ok(parent)
}

/// A share in percent that fits beside those of the parent's other children.
fn checked_share(
    account: &Account,
    parent: &Account,
    share: i64,
    ctx: &Context<'_>,
) -> Result<u8, Refusal> {
    if share < 0 {
        return Err(Refusal::bad_value("share", "whole percent, 0 to 100"));
    }
    let others = ctx.directory.children_of(parent.id);
    let others = others.filter(|a| a.id != account.id);
    let sum = others.fold(share, |sum, other| {
        let own = other.link.map_or(0, |l| i64::from(l.share));
        sum.saturating_add(own)
    });
    match u8::try_from(share) {
        Ok(share) if sum <= 100 => Ok(share),
        _ => Err(Refusal::SharesOver100 {
            parent: parent.name.clone(),
            sum,
        }),
    }
}
