//! An entry from a directory of people, merged into the stored user (collectors.md g): it adds and fills in,
//! and removes nothing.

use super::{add, set_values, write};
use crate::command::MergeUser;
use crate::effects::{Effects, Merge, Outcome};
use crate::kind::{Key, Record, Value};
use crate::model::User;
use crate::postings::Postings;
use crate::refusal::{Refusal, short};
use crate::view::{Context, View};

/// Merges one entry. What contradicts what is known is refused as a whole, and changes nothing.
pub(in crate::rules) fn user(
    merge: &MergeUser,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    let records = &ctx.directory.records;
    let unknown = || Refusal::not_found("kind", "user");
    let kind = records.kind("user").ok_or_else(unknown)?;
    let known = found(merge, ctx)?.and_then(|user| records.named("user", &user.name));
    let mut values = news(merge, known);
    let aliases = aliases(merge, known);
    if !aliases.is_empty() && known.is_none_or(|known| known.list("aliases") != aliases) {
        values.push(("aliases".to_owned(), Value::List(aliases)));
    }
    let after = if let Some(known) = known {
        set_values(kind, known, &values, ctx)?
    } else {
        let key = Key::Name(merge.name.clone());
        add(kind, Some(&key), &values, ctx)?
    };
    if known.is_some_and(|known| *known == after) {
        let outcome = Outcome::Merged(after.name().to_owned(), Merge::Unchanged);
        return Ok(Postings::new(view).finish(outcome));
    }
    let mut postings = Postings::new(view);
    postings.begin("user_merge", ctx.now);
    let name = after.name().to_owned();
    write(&mut postings, kind, known, after, ctx);
    let what = if known.is_some() {
        Merge::Changed
    } else {
        Merge::Added
    };
    Ok(postings.finish(Outcome::Merged(name, what)))
}

/// The user of an entry; none for a new one.
fn found<'a>(merge: &MergeUser, ctx: &Context<'a>) -> Result<Option<&'a User>, Refusal> {
    let (directory, name) = (ctx.directory, &merge.name);
    if let Some(known) = directory.user_known_as(name) {
        return Ok(Some(known));
    }
    // Another name of the entry may be the name of its user here. The other name of a user is theirs: an entry
    // with a new name and this other name is refused by the check of the record.
    let mut aliases = merge.aliases.iter();
    if let Some(known) = aliases.find_map(|alias| directory.user_named(alias)) {
        return Ok(Some(known));
    }
    let mut values = merge.values.iter();
    let mail = values.find_map(|(field, value)| match value {
        Value::Text(mail) if field == "email" => Some(mail),
        _ => None,
    });
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
    let ever = directory.records.ever("user", &Key::Name(name.clone()));
    if ever.is_some_and(|known| known.deleted) {
        return Err(Refusal::WasRemoved { name: short(name) });
    }
    if merge.known_only {
        return Err(Refusal::not_found("user", name));
    }
    Ok(None)
}

/// The new values of an entry; with `keep` only those of fields without a value so far.
fn news(merge: &MergeUser, known: Option<&Record>) -> Vec<(String, Value)> {
    let values = merge.values.iter().filter(|(field, new)| {
        let Some(known) = known else {
            return !new.is_none();
        };
        let old = known.value(field);
        !new.is_none() && new != old && (old.is_none() || !merge.keep)
    });
    values.cloned().collect()
}

/// All other names afterwards: the stored ones, those of the entry, and the entry's own name if it differs
/// from the user's.
fn aliases(merge: &MergeUser, known: Option<&Record>) -> Vec<String> {
    let name = known.map_or(merge.name.as_str(), Record::name);
    let mut all = known.map_or_else(Vec::new, |known| known.list("aliases").to_vec());
    all.extend(merge.aliases.iter().cloned());
    all.push(merge.name.clone());
    all.retain(|alias| !alias.is_empty() && alias != name);
    all.sort_unstable();
    all.dedup();
    all
}
