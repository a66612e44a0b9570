//! An entry from a directory of people, merged into the stored user (collectors.md g): it adds and fills in,
//! and removes nothing.

use super::user;
use crate::command::{MergeUser, SetUser};
use crate::effects::{Effects, Merge, Outcome};
use crate::model::User;
use crate::postings::Postings;
use crate::refusal::{Refusal, short};
use crate::view::{Context, View};

/// Merges one entry. What contradicts what is known is refused as a whole, and changes nothing.
pub(in crate::rules) fn merge_user(
    merge: &MergeUser,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    let entry = &merge.set;
    let known = found(merge, ctx)?;
    let mut set = match known {
        Some(known) => news(merge, known, ctx),
        None => filled(entry),
    };
    let aliases = aliases(merge, known);
    if known.is_none_or(|known| known.aliases != aliases) && !aliases.is_empty() {
        set.aliases = Some(aliases);
    }
    let change = match known {
        Some(known) if is_void(&set) => {
            let outcome = Outcome::Merged(known.clone(), Merge::Unchanged);
            return Ok(Postings::new(view).finish(outcome));
        }
        Some(_) => user::set(&set, ctx)?,
        None => user::add(&set, ctx)?,
    };
    let Outcome::User(after) = change.outcome else {
        return Err(Refusal::not_found("user", &set.name));
    };
    let mut postings = Postings::new(view);
    postings.begin("user_merge", ctx.now);
    postings.remark(&change.detail);
    postings.directory = change.rows;
    let what = if known.is_some() {
        Merge::Changed
    } else {
        Merge::Added
    };
    Ok(postings.finish(Outcome::Merged(after, what)))
}

/// The user of an entry; none for a new one.
fn found<'a>(merge: &MergeUser, ctx: &Context<'a>) -> Result<Option<&'a User>, Refusal> {
    let (directory, name) = (ctx.directory, &merge.set.name);
    if let Some(known) = directory.user_known_as(name) {
        return Ok(Some(known));
    }
    let of_alias = |alias: &String| directory.user_known_as(alias);
    let aliases = merge.set.aliases.as_ref();
    if let Some(known) = aliases.into_iter().flatten().find_map(of_alias) {
        return Ok(Some(known));
    }
    let mail = merge.set.email.as_deref().filter(|mail| !mail.is_empty());
    if let Some(mail) = mail.filter(|_| merge.by_email) {
        let has_it = |user: &&User| user.email.eq_ignore_ascii_case(mail);
        let own: Vec<&User> = directory.users().filter(has_it).collect();
        match own.as_slice() {
            [] => {}
            [only] => return Ok(Some(only)),
            several => {
                return Err(Refusal::Ambiguous {
                    candidates: several.iter().map(|user| user.name.clone()).collect(),
                });
            }
        }
    }
    let was_removed = directory.number_for("user", name) != Some(directory.next_id("user"));
    match (merge.known_only, was_removed) {
        (_, true) => Err(Refusal::WasRemoved { name: short(name) }),
        (true, _) => Err(Refusal::not_found("user", name)),
        _ => Ok(None),
    }
}

/// The fields of an entry that are not empty.
fn filled(set: &SetUser) -> SetUser {
    let text = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let default = set.default_project.clone().flatten();
    SetUser {
        name: set.name.clone(),
        active: set.active,
        common_name: text(&set.common_name),
        email: text(&set.email),
        default_project: text(&default).map(Some),
        organization: text(&set.organization),
        phone: text(&set.phone),
        description: text(&set.description),
        aliases: None,
    }
}

/// The new data of an entry; with `keep` only for fields that are empty so far.
fn news(merge: &MergeUser, known: &User, ctx: &Context<'_>) -> SetUser {
    let entry = filled(&merge.set);
    let keep = merge.keep;
    let text = |new: Option<String>, old: &String| {
        new.filter(|new| new != old && (old.is_empty() || !keep))
    };
    SetUser {
        name: known.name.clone(),
        active: entry.active.filter(|new| *new != known.active && !keep),
        common_name: text(entry.common_name, &known.common_name),
        email: text(entry.email, &known.email),
        default_project: entry.default_project.filter(|new| {
            let own = known
                .default_project
                .and_then(|id| ctx.directory.project(id));
            own.map(|own| &own.name) != new.as_ref() && (own.is_none() || !keep)
        }),
        organization: text(entry.organization, &known.organization),
        phone: text(entry.phone, &known.phone),
        description: text(entry.description, &known.description),
        aliases: None,
    }
}

/// All other names afterwards: the stored ones, those of the entry, and the entry's own name if it differs
/// from the user's.
fn aliases(merge: &MergeUser, known: Option<&User>) -> Vec<String> {
    let name = known.map_or(&merge.set.name, |known| &known.name);
    let mut all = known.map(|known| known.aliases.clone()).unwrap_or_default();
    all.extend(merge.set.aliases.clone().unwrap_or_default());
    all.push(merge.set.name.clone());
    all.retain(|alias| !alias.is_empty() && alias != name);
    all.sort_unstable();
    all.dedup();
    all
}

fn is_void(set: &SetUser) -> bool {
    let nothing = SetUser {
        name: set.name.clone(),
        ..SetUser::default()
    };
    *set == nothing
}
