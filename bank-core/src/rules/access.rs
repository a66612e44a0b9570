//! Permissions (ledger.md 8): roles of people, limits of amounts, proposals, keys that replace old ones.

mod guard;
mod limit;
mod proposal;
mod request;
mod role;
#[cfg(test)]
mod tests;

pub(crate) use guard::day_of;
pub(super) use guard::{Eyes, guard};
pub use request::{ASKED_MAX, REQUESTS_MAX};

use crate::command::{Access, RotateKey};
use crate::effects::{DirectoryRow, Effects, Outcome};
use crate::model::Key;
use crate::postings::Postings;
use crate::refusal::Refusal;
use crate::view::{Context, View};

/// Longest request of a proposal, in bytes.
pub const REQUEST_MAX: usize = 8192;

/// Decides a command about access.
pub(super) fn decide(access: &Access, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    match access {
        Access::Grant(grant) => role::grant(grant, view, ctx),
        Access::Revoke(revoke) => role::revoke(revoke, view, ctx),
        Access::SetLimit(set) => limit::set(set, view, ctx),
        Access::RemoveLimit(of) => limit::remove(of, view, ctx),
        Access::Propose(propose) => proposal::propose(propose, view, ctx),
        Access::Approve(approve) => proposal::approve(approve, view, ctx),
        Access::Reject(reject) => proposal::reject(reject, view, ctx),
        Access::RotateKey(rotate) => rotate_key(rotate, view, ctx),
    }
}

/// Two keys of one client for a while, then one (http-auth.md 4).
fn rotate_key(rotate: &RotateKey, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    let old = ctx.directory.key(&rotate.id);
    let old = old.ok_or_else(|| Refusal::not_found("key", &rotate.id))?;
    let same_kind = old.token.is_some() == rotate.new.token.is_some();
    if !same_kind {
        return Err(Refusal::not_found("key", &rotate.id));
    }
    if old.disabled {
        return Err(Refusal::bad_value(
            "id",
            "a key that is on: `bank key set ID --active yes` enables it, `bank key add` makes another one",
        ));
    }
    let new = Key {
        client: old.client.clone(),
        roles: old.roles.clone(),
        projects: old.projects.clone(),
        machines: old.machines.clone(),
        disabled: false,
        deleted: false,
        ..rotate.new.clone()
    };
    super::key::check_new(&new, ctx)?;
    let mut ending = old.clone();
    let until = ending
        .window
        .end
        .map_or(rotate.until, |end| end.min(rotate.until));
    ending.window.end = Some(until);
    if !ending.window.is_proper() {
        return Err(Refusal::BadWindow);
    }
    let mut postings = Postings::new(view);
    postings.begin("key_rotate", ctx.now);
    postings.remark(&format!(
        "key={} client={} new={} until={}",
        old.id, old.client, new.id, until.0
    ));
    postings.directory.push(DirectoryRow::Key(ending));
    postings.directory.push(DirectoryRow::Key(new.clone()));
    Ok(postings.finish(Outcome::Key(new)))
}
