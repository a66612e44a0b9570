//! Rules of kinds and fields that a site adds.

use super::super::{Field, Key, KeyType, Kind, Need, Objects, Readers, Record, Type, Value, of};
use super::{FIELDS_MAX, KINDS_MAX, RESERVED, WORD, is_same, is_word, kind_of, read};
use crate::refusal::Refusal;

/// The word is free, the fields can be read and have different names, who changes records sees them, and the
/// records that there are keep their keys and values.
pub(super) fn check(own: &Record, objects: &dyn Objects) -> Result<(), Refusal> {
    let word = own.key.to_string();
    let is_taken = |other: &str| is_same(other, &word);
    let others = objects.records().kinds().map(|kind| kind.word.as_str());
    let mut others = others.filter(|other| *other != word);
    if word == WORD
        || !is_word(&word)
        || RESERVED.iter().any(|other| is_taken(other))
        || others.any(is_taken)
    {
        return Err(Refusal::bad_name(
            &word,
            "a kind has a letter, then letters, digits and _, at most 32 bytes; names of commands of `bank` and of views of queries are taken",
        ));
    }
    let others = objects.records().site_kinds();
    if others.filter(|kind| kind.word != word).count() >= KINDS_MAX && of(&word).is_none() {
        return Err(bad("kind", format!("at most {KINDS_MAX} kinds of a site")));
    }
    let fields = fields(own, of(&word))?;
    let kind = kind_of(own);
    let is_own = |field: &&Field| own.value(&field.name) != field.default_value();
    let mut others = super::kind().fields.into_iter();
    let other =
        others.find(|field| ["keys", "see", "change"].contains(&&*field.name) && is_own(&field));
    if let (Some(_), Some(other)) = (of(&word), other) {
        let expected = format!("no value for {word}, which has its own");
        return Err(bad(&other.name, expected));
    }
    if kind.writers != super::Writers::Administrators && kind.readers != Readers::Everyone {
        let expected = "administrators, because not everyone may see the records";
        return Err(bad("change", expected.to_owned()));
    }
    keeps_values(&kind, &fields, objects)
}

/// The fields of the site, each with a name that nothing of the kind has.
fn fields(own: &Record, base: Option<&Kind>) -> Result<Vec<Field>, Refusal> {
    let others = base.map(|kind| kind.arguments.iter().chain(&kind.derived));
    let base = base.map_or(&[][..], |kind| &kind.fields);
    let mut names: Vec<&str> = Vec::new();
    for field in base.iter().chain(others.into_iter().flatten()) {
        names.push(&field.name);
        names.extend(field.option);
        names.extend(field.alias);
    }
    let mut names: Vec<String> = names.into_iter().map(str::to_owned).collect();
    let mut fields = Vec::new();
    for text in own.list("fields") {
        let field =
            read(text).map_err(|expected| bad("fields", format!("{expected}, not {text:?}")))?;
        if names.iter().any(|name| is_same(name, &field.name)) {
            let again = format!("each name once, not {} again", field.name);
            return Err(bad("fields", again));
        }
        if !base.is_empty() && field.need == Need::Required {
            let expected = "optional fields for a built-in kind";
            return Err(bad("fields", expected.to_owned()));
        }
        names.push(field.name.clone());
        fields.push(field);
    }
    if base.len().saturating_add(fields.len()) > FIELDS_MAX {
        let expected = format!("at most {FIELDS_MAX} fields of a kind, with those of the program");
        return Err(bad("fields", expected));
    }
    Ok(fields)
}

/// Records of a kind keep their meaning: a field with values keeps its type, and a kind with records, removed
/// ones included, its keys.
fn keeps_values(kind: &Kind, fields: &[Field], objects: &dyn Objects) -> Result<(), Refusal> {
    let (word, records) = (&kind.word, objects.records());
    let Some(before) = records.declaration(word) else {
        return Ok(());
    };
    let count = records.count(word);
    if count > 0 && (before.key == KeyType::Name) != (kind.key == KeyType::Name) {
        return Err(in_use(word, count, ", removed ones included"));
    }
    for field in before.fields.iter().filter(|field| field.site) {
        let now = fields.iter().find(|now| now.name == field.name);
        let values = records.kept(word).map(|record| record.value(&field.name));
        let lost = values.filter(|value| !value.is_none());
        let lost = lost.filter(|value| !now.is_some_and(|now| keeps(field, now, value)));
        match lost.count() {
            0 => {}
            count => {
                let which = format!(" with a value of {}", field.name);
                return Err(in_use(word, count, &which));
            }
        }
    }
    for field in fields.iter().filter(|field| field.need == Need::Required) {
        let values = records.kept(word).map(|record| record.value(&field.name));
        match values.filter(|value| value.is_none()).count() {
            0 => {}
            count => {
                let which = format!(" without a value of {}", field.name);
                return Err(in_use(word, count, &which));
            }
        }
    }
    Ok(())
}

/// Whether a value of a field means the same by the new declaration: the type is the same, or a choice that
/// still has the word.
fn keeps(before: &Field, now: &Field, value: &Value) -> bool {
    match (&before.of, &now.of, value) {
        (Type::Choice(_), Type::Choice(words), Value::Text(word)) => words.contains(word),
        (before, now, _) => before == now,
    }
}

/// A kind with records, or whose fields have values, stays.
pub(super) fn removable(own: &Record, objects: &dyn Objects) -> Result<(), Refusal> {
    let word = own.key.to_string();
    if of(&word).is_some() {
        let gone = Record::new(WORD, Key::Name(word));
        return keeps_values(&kind_of(&gone), &[], objects);
    }
    match objects.records().kept(&word).count() {
        0 => Ok(()),
        count => Err(in_use(&word, count, "")),
    }
}

fn in_use(word: &str, count: usize, more: &str) -> Refusal {
    let records = if count == 1 { "record" } else { "records" };
    Refusal::in_use(word, format!("{count} {records}{more}"))
}

fn bad(field: &str, expected: String) -> Refusal {
    Refusal::bad_field(field, expected)
}
