//! Records of reference data: added, changed, removed, as the declaration of their kind allows. None of
//! it moves money.

use crate::command::{RecordAction, RecordChange};
use crate::effects::{DirectoryRow, Effects, Outcome};
use crate::history::PastRecord;
use crate::ids::check_name;
use crate::kind::{
    Field, Key, KeyType, Kind, Need, Objects, RECORD_BYTES_MAX, RECORDS_MAX, Record, Value, Writers,
};
use crate::postings::Postings;
use crate::refusal::Refusal;
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
    let before = match &change.action {
        RecordAction::Add(..) => None,
        RecordAction::Set(key, _) | RecordAction::Remove(key) => records.get(&kind.word, key),
    };
    let record = match &change.action {
        RecordAction::Add(key, set) => add(kind, key.as_ref(), set, ctx.directory)?,
        RecordAction::Set(key, set) => {
            let record = known(kind, key, ctx.directory)?.clone();
            changed(kind, record, set, ctx.directory)?
        }
        RecordAction::Remove(key) => remove(kind, key, ctx.directory)?,
    };
    let mut postings = Postings::new(view);
    postings.begin(change.op, ctx.now);
    let precision = ctx.directory.bank.precision;
    postings.remark(&record.journal_text(before, kind, precision));
    postings
        .directory
        .push(DirectoryRow::Record(record.clone()));
    Ok(postings.finish(match &change.action {
        RecordAction::Remove(key) => Outcome::Removed(key.to_string()),
        _ => Outcome::Record(Box::new(record)),
    }))
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

fn known<'a>(kind: &Kind, key: &Key, objects: &'a dyn Objects) -> Result<&'a Record, Refusal> {
    let known = objects.records().get(&kind.word, key);
    known.ok_or_else(|| Refusal::not_found(kind.word.clone(), &key.to_string()))
}

/// A new record. A removed one of the same name comes back with the new values only.
fn add(
    kind: &Kind,
    key: Option<&Key>,
    set: &[(String, Value)],
    objects: &dyn Objects,
) -> Result<Record, Refusal> {
    let records = objects.records();
    if records.count(&kind.word) >= RECORDS_MAX {
        return Err(Refusal::BadField {
            field: kind.key_name().to_owned(),
            expected: format!("at most {RECORDS_MAX} records, removed ones included"),
        });
    }
    let key = match (kind.key, key) {
        (KeyType::Number, _) => Key::Number(records.next_number(&kind.word)),
        (_, Some(Key::Name(name))) => {
            check_name(name)?;
            Key::Name(name.clone())
        }
        _ => {
            return Err(Refusal::NoField {
                field: kind.key_name().to_owned(),
            });
        }
    };
    if records.get(&kind.word, &key).is_some() {
        return Err(Refusal::AlreadyExists {
            kind: kind.word.clone().into(),
            name: key.to_string(),
        });
    }
    let mut record = Record::new(&kind.word, key);
    for field in &kind.fields {
        if let Need::Default(value) = &field.need {
            record.set(&field.name, value.clone());
        }
    }
    changed(kind, record, set, objects)
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
        let unknown = || Refusal::BadField {
            field: name.clone(),
            expected: format!("a field of {}", kind.word),
        };
        let field = kind.field(name).ok_or_else(unknown)?;
        let value = match value {
            Value::List(list) if field.is_set() => {
                let mut list = list.clone();
                list.sort_unstable();
                list.dedup();
                Value::List(list)
            }
            value => value.clone(),
        };
        field.check(&value, objects)?;
        record.set(name, value);
    }
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
    if record.size() > RECORD_BYTES_MAX {
        return Err(Refusal::BadField {
            field: kind.word.clone(),
            expected: format!("at most {RECORD_BYTES_MAX} bytes of values in a record"),
        });
    }
    if !record.window().is_proper() {
        return Err(Refusal::BadWindow);
    }
    (kind.check)(record, objects)
}

fn remove(kind: &Kind, key: &Key, objects: &dyn Objects) -> Result<Record, Refusal> {
    let record = known(kind, key, objects)?;
    (kind.removable)(record, objects)?;
    Ok(Record {
        deleted: true,
        ..record.clone()
    })
}

/// The record as it was before a transaction changed it; removed, where the transaction added it. None where
/// it changed since.
///
/// # Errors
/// The rules of the kind: those of a removal, or those of a record with these values.
pub(super) fn restored(
    kind: &Kind,
    past: &PastRecord,
    objects: &dyn Objects,
) -> Result<Option<Record>, Refusal> {
    let after = &past.after;
    let now = objects.records().ever(&after.kind, &after.key);
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
        (kind.removable)(after, objects)?;
        let gone = past.before.clone().unwrap_or_else(|| after.clone());
        return Ok(Some(Record {
            deleted: true,
            ..gone
        }));
    };
    for field in &kind.fields {
        let value = before.value(&field.name);
        let is_back = after.deleted || value != after.value(&field.name);
        if is_back && !value.is_none() {
            field.check(value, objects)?;
        }
    }
    check_whole(kind, before, objects)?;
    Ok(Some(before.clone()))
}

#[cfg(test)]
mod tests;
