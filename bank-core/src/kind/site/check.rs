//! Rules of kinds and fields that a site adds.

use super::super::{Field, Key, KeyType, Need, Objects, Record, of};
use super::{KINDS_MAX, OBJECTS, RESERVED, WORD, is_word, read};
use crate::refusal::Refusal;

/// The word is free, the fields can be read, have different names, and those with values keep their type.
pub(super) fn check(own: &Record, objects: &dyn Objects) -> Result<(), Refusal> {
    let word = own.key.to_string();
    if word == WORD
        || !is_word(&word)
        || RESERVED.contains(&word.as_str())
        || OBJECTS.contains(&word.as_str())
    {
        return Err(Refusal::BadName { name: word });
    }
    if objects.records().site_kinds().count() > KINDS_MAX {
        return Err(bad("kind", format!("at most {KINDS_MAX} kinds of a site")));
    }
    let base = of(&word).map_or(&[][..], |kind| &kind.fields);
    let mut names: Vec<String> = base.iter().map(|field| field.name.clone()).collect();
    let mut fields = Vec::new();
    for text in own.list("fields") {
        let field =
            read(text).map_err(|expected| bad("fields", format!("{expected}, not {text:?}")))?;
        if names.contains(&field.name) {
            return Err(bad(
                "fields",
                format!("each name once, not {} again", field.name),
            ));
        }
        names.push(field.name.clone());
        fields.push(field);
    }
    if of(&word).is_some() && fields.iter().any(|field| field.need == Need::Required) {
        return Err(bad(
            "fields",
            "optional fields for a kind of the program".to_owned(),
        ));
    }
    keeps_values(&word, &fields, own, objects)
}

/// Records of a kind keep their meaning: a field with values keeps its type, and a kind its keys.
fn keeps_values(
    word: &str,
    fields: &[Field],
    own: &Record,
    objects: &dyn Objects,
) -> Result<(), Refusal> {
    let Some(before) = objects.records().kind(word) else {
        return Ok(());
    };
    let count = objects.records().all(word).count();
    let in_use = |count: usize| Refusal::InUse {
        name: word.to_owned(),
        by: format!("{count} records"),
    };
    let key = own.text("keys");
    if of(word).is_none() && count > 0 && (before.key == KeyType::Name) != (key == "name") {
        return Err(in_use(count));
    }
    for field in before.fields.iter().filter(|field| field.site) {
        let now = fields.iter().find(|now| now.name == field.name);
        let records = objects.records().all(word);
        let with = records
            .filter(|record| !record.value(&field.name).is_none())
            .count();
        if with > 0 && now.is_none_or(|now| now.of != field.of) {
            return Err(in_use(with));
        }
    }
    for field in fields.iter().filter(|field| field.need == Need::Required) {
        let records = objects.records().all(word);
        let without = records
            .filter(|record| record.value(&field.name).is_none())
            .count();
        if without > 0 {
            return Err(in_use(without));
        }
    }
    Ok(())
}

/// A kind with records, or whose fields have values, stays.
pub(super) fn removable(own: &Record, objects: &dyn Objects) -> Result<(), Refusal> {
    let word = own.key.to_string();
    let gone = Record::new(WORD, Key::Name(word.clone()));
    if of(&word).is_some() {
        return keeps_values(&word, &[], &gone, objects);
    }
    match objects.records().all(&word).count() {
        0 => Ok(()),
        count => Err(Refusal::InUse {
            name: word,
            by: format!("{count} records"),
        }),
    }
}

fn bad(field: &str, expected: String) -> Refusal {
    Refusal::BadField {
        field: field.to_owned(),
        expected,
    }
}
