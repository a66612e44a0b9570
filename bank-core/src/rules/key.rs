//! Public halves of keys: owner, scope and expiry (http-auth.md 4). Secrets are not here.

use crate::command::SetKey;
use crate::effects::{DirectoryRow, Effects, Outcome};
use crate::model::Key;
use crate::postings::Postings;
use crate::refusal::Refusal;
use crate::view::{Context, View};

/// Adds a key.
pub(super) fn add(key: &Key, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    check_new(key, ctx)?;
    Ok(write("key_add", key.clone(), view, ctx))
}

/// The rule of ids and clients of keys.
const KEY_RULE: &str =
    "ids and clients have 1 to 64 letters, digits, ., _ and -; no . or - in front of an id";

/// Refuses a key that cannot be added.
pub(super) fn check_new(key: &Key, ctx: &Context<'_>) -> Result<(), Refusal> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    // The id is the name of a file with the secret, and a word of a command line.
    if key.id.starts_with(['.', '-']) {
        return Err(Refusal::bad_name(&key.id, KEY_RULE));
    }
    for name in [&key.id, &key.client] {
        if name.is_empty() || name.len() > 64 || !name.chars().all(allowed) {
            return Err(Refusal::bad_name(name, KEY_RULE));
        }
    }
    if let Some(taken) = ctx.directory.key_ever(&key.id) {
        let kind = match (taken.token.is_some(), taken.deleted) {
            (false, false) => "key",
            (false, true) => "removed key",
            (true, false) => "token",
            (true, true) => "removed token",
        };
        return Err(Refusal::already_exists(kind, &key.id));
    }
    if key.window.end.is_some_and(|end| end <= ctx.now) {
        return Err(Refusal::WindowInPast);
    }
    check(key, ctx)
}

/// Changes a key's roles, scope, validity or state.
pub(super) fn set(set: &SetKey, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    let mut key = known(&set.id, ctx)?.clone();
    let of_client = [&set.roles, &set.projects, &set.machines];
    // A token has separate roles.
    let mut siblings = ctx.directory.keys();
    let is_sibling = |k: &Key| k.id != key.id && k.client == key.client && k.token.is_none();
    let has_siblings = key.token.is_none() && siblings.any(is_sibling);
    if has_siblings && of_client.iter().any(|list| list.is_some()) {
        return Err(Refusal::BadValue {
            field: "roles, projects and machines",
            expected: "no change while the client has several keys",
        });
    }
    for (new, own) in
        of_client
            .into_iter()
            .zip([&mut key.roles, &mut key.projects, &mut key.machines])
    {
        if let Some(new) = new {
            own.clone_from(new);
        }
    }
    key.window.end = set.until.unwrap_or(key.window.end);
    key.disabled = set.disabled.unwrap_or(key.disabled);
    check(&key, ctx)?;
    Ok(write("key_set", key, view, ctx))
}

/// Removes a key; its id is not used again.
pub(super) fn remove(id: &str, view: &View, ctx: &Context<'_>) -> Result<Effects, Refusal> {
    let gone = Key {
        deleted: true,
        disabled: true,
        ..known(id, ctx)?.clone()
    };
    let mut effects = write("key_rm", gone, view, ctx);
    effects.outcome = Outcome::Removed(id.to_owned());
    Ok(effects)
}

fn write(op: &'static str, key: Key, view: &View, ctx: &Context<'_>) -> Effects {
    let mut postings = Postings::new(view);
    postings.begin(op, ctx.now);
    let roles = key.roles.join(",");
    postings.remark(&format!(
        "key={} client={} roles={roles}",
        key.id, key.client
    ));
    if key.token.is_some() {
        postings.remark("token");
    }
    if key.disabled {
        postings.remark("disabled");
    }
    postings.directory.push(DirectoryRow::Key(key.clone()));
    postings.finish(Outcome::Key(key))
}

/// A scope names what exists, so that a misspelled one is not a silent lock-out.
fn check(key: &Key, ctx: &Context<'_>) -> Result<(), Refusal> {
    if !key.window.is_proper() {
        return Err(Refusal::BadWindow);
    }
    if let Some(name) = key
        .projects
        .iter()
        .find(|n| ctx.directory.project_named(n).is_none())
    {
        return Err(Refusal::not_found("project", name));
    }
    if let Some(name) = key
        .machines
        .iter()
        .find(|n| ctx.directory.machine_named(n).is_none())
    {
        return Err(Refusal::not_found("machine", name));
    }
    Ok(())
}

fn known<'a>(id: &str, ctx: &Context<'a>) -> Result<&'a Key, Refusal> {
    ctx.directory
        .key(id)
        .ok_or_else(|| Refusal::not_found("key", id))
}
