//! Records of reference data: added, changed, removed, as the declaration of their kind allows. None of
//! it moves money.

use self::objects::Undone;
use super::admin::no_open_jobs;
use crate::command::{RecordAction, RecordChange};
use crate::effects::{DirectoryRow, Effects, Outcome};
use crate::history::PastRecord;
use crate::kind::{
    self, Field, Key, KeyType, Kind, Need, Objects, RECORD_BYTES_MAX, Record, Type, Value, Writers,
};
use crate::postings::Postings;
use crate::refusal::Refusal;
use crate::rules::scope;
use crate::view::{Context, View};

/// Decides a change of a record.
pub(super) fn decide(
    change: &RecordChange,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Effects, Refusal> {
    let records = &ctx.directory.records;
    let unknown = || Refusal::not_found("kind", &change.kind);
    let kind = records.kind(&change.kind).ok_or_else(unknown)?;
    is_same_kind(change, kind)?;
    let mut with = Vec::new();
    let (before, record) = match &change.action {
        RecordAction::Add(key, given) => {
            let is_argument = |name: &str| kind.arguments.iter().any(|own| own.name == name);
            let given = given.iter().cloned();
            let (arguments, set): (Vec<_>, Vec<_>) = given.partition(|(name, _)| is_argument(name));
            let record = add(kind, key.as_ref(), &set, ctx)?;
            let arguments = beside::arguments(kind, arguments, ctx)?;
            with = beside::of_new(&record, &arguments, view, ctx)?;
            (None, record)
        }
        RecordAction::Set(key, set) => {
            let before = known(kind, key, ctx)?;
            let set = scope::with_hidden(kind, before, set, ctx);
            let after = set_values(kind, before, &set, ctx)?;
            if after == *before {
                // A change that changes nothing makes no transaction.
                return Ok(Postings::new(view).finish(Outcome::Record(Box::new(after))));
            }
            (Some(before), after)
        }
        RecordAction::Remove(key) => {
            let before = known(kind, key, ctx)?;
            (Some(before), removed(kind, before, view, ctx)?)
        }
    };
    let mut postings = Postings::new(view);
    postings.begin(change.op, ctx.now);
    write(&mut postings, kind, before, record.clone(), ctx);
    postings.directory.extend(with);
    Ok(postings.finish(match &change.action {
        RecordAction::Remove(_) => Outcome::Removed(record.key.to_string()),
        _ => Outcome::Record(Box::new(record)),
    }))
}

/// Writes a record, with the rows that change with it.
pub(super) fn write(
    postings: &mut Postings,
    kind: &Kind,
    before: Option<&Record>,
    record: Record,
    ctx: &Context<'_>,
) {
    write_beside(postings, kind, before, record, &[], ctx);
}

/// The same in the undo of a transaction that changed all of these.
pub(super) fn write_beside(
    postings: &mut Postings,
    kind: &Kind,
    before: Option<&Record>,
    record: Record,
    all: &[PastRecord],
    ctx: &Context<'_>,
) {
    postings.remark(&record.journal_text(before, kind, ctx.directory.bank.precision));
    let others = beside::projects_without(&record, all, ctx).into_iter();
    postings.directory.extend(others.map(DirectoryRow::Record));
    postings.directory.extend(beside::memberships(&record, ctx));
    postings.directory.push(DirectoryRow::Record(record));
}

/// Journals the claim of a machine: the source charges its usage from now on.
pub(super) fn claim(postings: &mut Postings, machine: &str, source: &str, ctx: &Context<'_>) {
    let Some(kind) = kind::of("machine") else {
        return;
    };
    let key = Key::Name(machine.to_owned());
    if let Some(before) = ctx.directory.records.get("machine", &key) {
        let mut record = before.clone();
        record.set("source", Value::Text(source.to_owned()));
        let [_, set, _] = kind.ops;
        postings.begin(set, ctx.now);
        write(postings, kind, Some(before), record, ctx);
    }
}

/// The site may have changed the kind since the caller's right was checked, and the values were read.
fn is_same_kind(change: &RecordChange, kind: &Kind) -> Result<(), Refusal> {
    if change.writers == Writers::Operators && kind.writers != Writers::Operators {
        let what = format!("records of {} are changed by administrators", kind.word);
        return Err(Refusal::NotAllowed { what });
    }
    for (name, of) in &change.types {
        match kind.field(name) {
            Some(field) if field.of != *of => return Err(field.bad()),
            _ => {}
        }
    }
    Ok(())
}

fn known<'a>(kind: &Kind, key: &Key, ctx: &Context<'a>) -> Result<&'a Record, Refusal> {
    let records = &ctx.directory.records;
    let known = records.get(&kind.word, &records.spelled(kind, key));
    known.ok_or_else(|| Refusal::not_found(kind.word.clone(), &key.to_string()))
}

/// A new record. A removed one of the same name comes back with the new values only.
fn add(
    kind: &Kind,
    key: Option<&Key>,
    set: &[(String, Value)],
    ctx: &Context<'_>,
) -> Result<Record, Refusal> {
    let records = &ctx.directory.records;
    let key = match (kind.key, key) {
        (KeyType::Number, _) => Key::Number(records.next_number(&kind.word)),
        (_, Some(Key::Name(name))) => {
            (kind.key_rule)(name)?;
            records.spelled(kind, &Key::Name(name.clone()))
        }
        _ => {
            return Err(Refusal::NoField {
                field: kind.key_name().to_owned(),
            });
        }
    };
    if records.get(&kind.word, &key).is_some() {
        return Err(Refusal::already_exists(kind.word.clone(), key.to_string()));
    }
    has_room(kind, ctx)?;
    let known = records.ever(&kind.word, &key);
    if known.is_none() && records.count(&kind.word) >= kind.most_ever() {
        let most = kind.most_ever();
        return Err(Refusal::bad_field(
            kind.key_name(),
            format!("at most {most} records, removed ones included"),
        ));
    }
    let mut record = Record::new(&kind.word, key);
    if kind.key == KeyType::Object {
        record.id = known.map_or_else(|| records.next_number(&kind.word), |known| known.id);
    }
    for field in &kind.fields {
        record.set(&field.name, field.default_value().clone());
    }
    changed(kind, record, set, ctx)
}

/// Whether a kind has room for one more record that is not removed.
fn has_room(kind: &Kind, ctx: &Context<'_>) -> Result<(), Refusal> {
    let records = &ctx.directory.records;
    if records.count(&kind.word) < kind.most || records.all(&kind.word).count() < kind.most {
        return Ok(());
    }
    Err(Refusal::bad_field(
        kind.key_name(),
        format!("at most {} records", kind.most),
    ))
}

/// A record with other values, none of which is of a field that is fixed.
fn set_values(
    kind: &Kind,
    record: &Record,
    set: &[(String, Value)],
    ctx: &Context<'_>,
) -> Result<Record, Refusal> {
    let new = changed(kind, record.clone(), set, ctx)?;
    let is_other = |field: &&Field| new.value(&field.name) != record.value(&field.name);
    let stays =
        |field: &&Field| field.fixed || (field.once && !record.value(&field.name).is_none());
    let mut fixed = kind.fields.iter().filter(stays);
    match fixed.find(is_other) {
        Some(field) if field.once => Err(Refusal::bad_field(
            &field.name,
            format!(
                "the present value, {}, which stays once it is set; for another one, add another {}",
                record.text(&field.name),
                kind.word
            ),
        )),
        Some(field) => Err(Refusal::bad_field(
            &field.name,
            format!("the value that the {} was added with", kind.word),
        )),
        None => Ok(new),
    }
}

/// A record with other values. Values that are not changed are not checked again: a rule that became
/// stricter does not stop changes of what an older version accepted.
fn changed(
    kind: &Kind,
    mut record: Record,
    set: &[(String, Value)],
    objects: &dyn Objects,
) -> Result<Record, Refusal> {
    for (name, value) in set {
        let unknown = || Refusal::bad_field(name, format!("a field of {}", kind.word));
        let field = kind.field(name).ok_or_else(unknown)?;
        record.set(name, field.checked(value, objects)?);
    }
    (kind.normalize)(&mut record);
    check_whole(kind, &record, objects)?;
    Ok(record)
}

/// What a record must be as a whole: its required values, its size, its window, and the rules of the kind.
fn check_whole(kind: &Kind, record: &Record, objects: &dyn Objects) -> Result<(), Refusal> {
    let mut required = kind.fields.iter().filter(|f| f.need == Need::Required);
    if let Some(field) = required.find(|field| record.value(&field.name).is_none()) {
        return Err(Refusal::NoField {
            field: field.name.clone(),
        });
    }
    // A list in a table of its own has a limit of its own.
    let counts = |name: &str| kind.field(name).is_none_or(|field| field.rows.is_none());
    if record.size(counts) > RECORD_BYTES_MAX {
        return Err(Refusal::bad_field(
            &kind.word,
            format!("at most {RECORD_BYTES_MAX} bytes of values in a record"),
        ));
    }
    if !record.window().is_proper() {
        return Err(Refusal::BadWindow);
    }
    (kind.check)(record, objects)
}

/// A record as it is removed.
fn removed(
    kind: &Kind,
    record: &Record,
    view: &View,
    ctx: &Context<'_>,
) -> Result<Record, Refusal> {
    (kind.removable)(record, ctx)?;
    if kind.of_jobs {
        no_open_jobs(record.name(), view)?;
    }
    if kind.of_messages && view.has_messages {
        let (word, name) = (&kind.word, record.name());
        let by = format!(
            "messages or open jobs of both banks; `bank {word} set {name} --active false` switches it off"
        );
        let name = name.to_owned();
        return Err(Refusal::in_use(name, by));
    }
    let mut gone = record.clone();
    gone.deleted = true;
    (kind.normalize)(&mut gone);
    Ok(gone)
}

/// The record as it was before a transaction changed it, which changed all of these; removed, where the transaction added it. None where
/// it changed since.
///
/// # Errors
/// The rules of the kind: those of a removal, or those of a record with these values.
pub(super) fn restored(
    kind: &Kind,
    past: &PastRecord,
    all: &[PastRecord],
    view: &View,
    ctx: &Context<'_>,
) -> Result<Option<Record>, Refusal> {
    let objects = Undone { ctx, back: all };
    let after = &past.after;
    let now = ctx.directory.records.ever(&after.kind, &after.key);
    // Fields that the site took away since do not count.
    let is_same = |now: &Record, field: &Field| now.value(&field.name) == after.value(&field.name);
    let is_last = |now: &Record| {
        now.deleted == after.deleted && kind.fields.iter().all(|field| is_same(now, field))
    };
    if !now.is_some_and(is_last) {
        return Ok(None);
    }
    let there = past.before.as_ref().filter(|before| !before.deleted);
    let Some(before) = there else {
        let gone = removed(kind, after, view, ctx)?;
        if let Some(project) = beside::projects_without(&gone, all, ctx).first() {
            return Err(Refusal::in_use(
                gone.key.to_string(),
                format!("project {}", project.key),
            ));
        }
        if !beside::memberships(&gone, ctx).is_empty() {
            return Err(Refusal::in_use(gone.key.to_string(), "its memberships"));
        }
        return Ok(Some(past.before.clone().unwrap_or(gone)));
    };
    if after.deleted {
        has_room(kind, ctx)?;
    }
    for field in &kind.fields {
        let value = before.value(&field.name);
        let is_back = value != after.value(&field.name);
        // What a removed record refers to may be gone, and the site may have changed the types of its fields.
        let is_other = matches!(field.of, Type::Reference(_) | Type::References(..));
        let is_other = is_other || field.site || field.rule.is_some();
        if (is_back || (after.deleted && is_other)) && !value.is_none() {
            field.checked(value, &objects)?;
        }
    }
    check_whole(kind, before, &objects)?;
    Ok(Some(before.clone()))
}

mod beside;
pub(super) mod merge;
mod objects;
#[cfg(test)]
mod tests;
