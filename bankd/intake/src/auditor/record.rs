//! Incoming records: bodies of `POST` and `PUT`, checked by the rules of `auditor-api.md` 2.
//!
//! Pure: text in, [`Added`] or [`Updated`] out, or one sentence with the error and its position.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use bank_api::auditor::{
    Component, Head, HeadComponent, HeadScore, Named, RecordAdd, RecordUpdate, score_value,
};
use bank_api::reason::bounded;
use serde::de::{DeserializeSeed, Deserializer, Error, SeqAccess, Visitor};
use unicode_segmentation::UnicodeSegmentation as _;

use super::time::{self, Time};

/// Most characters of a name, as people count them: extended grapheme clusters.
const NAME_MAX: usize = 256;

/// Most bytes of a name: one character can have any number of marks.
const NAME_BYTES_MAX: usize = 16 << 10;

/// A record that may be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Added {
    /// Its name.
    pub record_id: String,
    /// The JSON text of the constant part, without the closing brace.
    pub head: String,
    /// Values by key.
    pub(crate) meta: Option<BTreeMap<String, Vec<String>>>,
    /// Microseconds.
    pub(crate) start: i64,
    /// Microseconds, where it ended.
    pub(crate) stop: Option<i64>,
    /// Seconds from start to stop as they were sent.
    pub(crate) runtime: Option<i64>,
}

/// An end that may be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Updated {
    /// The name of the record.
    pub record_id: String,
    /// The end of the record.
    pub stop: Time,
}

/// Why a body was refused; the record's id, where it could be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The name of the record, if it could be read.
    pub record_id: Option<String>,
    /// The reason.
    pub why: String,
}

impl Refused {
    /// A refusal of a body without a record name.
    pub fn of(why: impl Into<String>) -> Self {
        Self::record(None, why)
    }

    /// A refusal of a record. The reason may quote the input: it is truncated here.
    fn record(record_id: Option<String>, why: impl Into<String>) -> Self {
        Self {
            record_id,
            why: bounded(why),
        }
    }
}

/// One record.
pub(crate) fn add(body: &[u8]) -> Result<Added, Refused> {
    let read: RecordAdd = read(body)?;
    judge(read)
}

/// A list of at most so many records; the first invalid one is reported with its position.
pub(crate) fn add_many(body: &[u8], most: usize) -> Result<Vec<Added>, Refused> {
    let read = read_with(body, AtMost(most))?;
    let mut all = Vec::with_capacity(read.len());
    for (place, record) in read.into_iter().enumerate() {
        all.push(judge(record).map_err(|refused| {
            Refused::record(refused.record_id, format!("[{place}].{}", refused.why))
        })?);
    }
    Ok(all)
}

/// The end of a record.
pub(crate) fn update(body: &[u8]) -> Result<Updated, Refused> {
    let read: RecordUpdate = read(body)?;
    let named = |why: String| Refused::record(Some(read.record_id.clone()), why);
    check_name("record_id", &read.record_id).map_err(named)?;
    check_meta(read.meta.as_ref()).map_err(named)?;
    components(&read.components).map_err(named)?;
    let stop = at("stop_time", &read.stop_time).map_err(named)?;
    Ok(Updated {
        record_id: read.record_id,
        stop,
    })
}

/// A list of records that ends with an error once it is too long, so that it takes no memory beyond that.
struct AtMost(usize);

impl<'de> DeserializeSeed<'de> for AtMost {
    type Value = Vec<RecordAdd>;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Self::Value, D::Error> {
        input.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for AtMost {
    type Value = Vec<RecordAdd>;

    fn expecting(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        text.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut all = Vec::new();
        while let Some(record) = list.next_element()? {
            if all.len() >= self.0 {
                let why = format!("more than {} records in one list", self.0);
                return Err(Error::custom(why));
            }
            all.push(record);
        }
        Ok(all)
    }
}

fn read<'a, T: serde::Deserialize<'a>>(body: &'a [u8]) -> Result<T, Refused> {
    read_with(body, PhantomData)
}

fn read_with<'a, S: DeserializeSeed<'a>>(body: &'a [u8], seed: S) -> Result<S::Value, Refused> {
    let text = std::str::from_utf8(body).map_err(|error| Refused::of(error.to_string()))?;
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = seed.deserialize(&mut reader);
    let whole = read.and_then(|read| reader.end().map(|()| read));
    whole.map_err(|error| {
        // The client drops it: the log contains its name if possible.
        let named = serde_json::from_str::<Named>(text).ok();
        Refused::record(named.map(|named| named.record_id), error.to_string())
    })
}

fn judge(record: RecordAdd) -> Result<Added, Refused> {
    match judged(&record) {
        Ok((head, start, stop, runtime)) => Ok(Added {
            record_id: record.record_id,
            head,
            meta: record.meta,
            start,
            stop,
            runtime,
        }),
        Err(why) => Err(Refused::record(Some(record.record_id), why)),
    }
}

type Judged = (String, i64, Option<i64>, Option<i64>);

fn judged(record: &RecordAdd) -> Result<Judged, String> {
    check_name("record_id", &record.record_id)?;
    check_meta(record.meta.as_ref())?;
    let values = components(&record.components)?;
    let start = at("start_time", &record.start_time)?;
    let stop = record.stop_time.as_deref();
    let stop = stop.map(|text| at("stop_time", text)).transpose()?;
    let mut out = Vec::new();
    time::write(start.micros(), &mut out);
    let head = Head {
        record_id: &record.record_id,
        meta: record.meta.as_ref(),
        components: record
            .components
            .iter()
            .zip(&values)
            .map(answered)
            .collect(),
        start_time: &String::from_utf8_lossy(&out),
    };
    Ok((
        head.open_text(),
        start.micros(),
        stop.map(Time::micros),
        stop.map(|stop| stop.seconds_since(start)),
    ))
}

type Values = Vec<Box<serde_json::value::RawValue>>;

fn answered<'a>((component, values): (&'a Component, &'a Values)) -> HeadComponent<'a> {
    let scores = component.scores.iter().zip(values);
    HeadComponent {
        name: &component.name,
        amount: component.amount,
        scores: scores
            .map(|(score, value)| HeadScore {
                name: &score.name,
                value,
            })
            .collect(),
    }
}

/// The weights of each component as they are kept.
fn components(components: &[Component]) -> Result<Vec<Values>, String> {
    let judged = components.iter().enumerate().map(|(place, component)| {
        let field = |name: &str| format!("components[{place}].{name}");
        check_name(&field("name"), &component.name)?;
        if component.amount < 0 {
            return Err(format!("{}: below zero", field("amount")));
        }
        let scores = component.scores.iter().enumerate();
        let values = scores.map(|(number, score)| {
            check_name(&field(&format!("scores[{number}].name")), &score.name)?;
            score_value(&score.value).ok_or_else(|| {
                let field = field(&format!("scores[{number}].value"));
                format!("{field}: not a number of 0 or above")
            })
        });
        values.collect()
    });
    judged.collect()
}

fn check_meta(meta: Option<&BTreeMap<String, Vec<String>>>) -> Result<(), String> {
    for (key, values) in meta.into_iter().flatten() {
        check_name("meta", key)?;
        for value in values {
            check_name(&format!("meta.{}", short(key)), value)?;
        }
    }
    Ok(())
}

fn check_name(field: &str, text: &str) -> Result<(), String> {
    fault(text).map_or(Ok(()), |why| Err(format!("{field}: {why}")))
}

/// The reason why a text is no valid name: not blank, at most 256 characters in 16 KiB, no U+0000.
pub fn fault(text: &str) -> Option<&'static str> {
    if text.trim().is_empty() {
        return Some("empty");
    }
    if text.len() > NAME_BYTES_MAX {
        return Some("longer than 16384 bytes");
    }
    // A character has at least one byte.
    if text.len() > NAME_MAX && text.graphemes(true).nth(NAME_MAX).is_some() {
        return Some("longer than 256 characters");
    }
    text.contains('\0').then_some("holds U+0000")
}

fn at(field: &str, text: &str) -> Result<Time, String> {
    let no_time = || {
        let text = short(text);
        format!("{field}: {text:?} is not a time with a zone, such as 2024-01-02T03:04:05Z")
    };
    Time::parse(text).ok_or_else(no_time)
}

/// The quoted part of a text.
fn short(text: &str) -> &str {
    match text.char_indices().nth(64) {
        Some((end, _)) => text.get(..end).unwrap_or(text),
        None => text,
    }
}

#[cfg(test)]
mod tests;
