//! Finds the objects of a document, as a best effort: enough to keep the documents of one object in
//! their order. A misread document is at worst sent sooner or later than necessary.
//!
//! Also finds how long the same bytes are a repeat: only if the document states times that allow no
//! second charge. The daemon alone interprets the document.

mod elements;

use elements::{Field, Object, objects};

/// Most objects looked for; the daemon reads no more elements than that (`nami.md` 3.2).
const MAX_OBJECTS: usize = 2000;

/// The ids of a document's objects, in the order found, each once. Empty if there is none.
pub(crate) fn object_ids(body: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(body);
    let mut ids: Vec<String> = Vec::new();
    for id in objects(&text).iter().flat_map(Object::ids) {
        if !ids.iter().any(|known| known == id) {
            ids.push(id.to_owned());
        }
    }
    ids
}

/// Whether a document has several objects, each with a key of its own at the bank.
pub(crate) fn has_several(body: &[u8]) -> bool {
    objects(&String::from_utf8_lossy(body)).len() > 1
}

/// How long the same charge is a repeat, in seconds; none if it may be a new charge. A document of one
/// object without any time is never a repeat: the scheduler sends the same bytes for each interval. If
/// the use is over, it is a repeat for the whole flush interval. If the document states another time, it
/// is a repeat for three quarters of the time that it charges: the next charge of that length is later.
pub(crate) fn repeat_seconds(
    body: &[u8],
    ends: bool,
    time_us: i64,
    interval_s: i64,
) -> Option<i64> {
    let text = String::from_utf8_lossy(body);
    let objects = objects(&text);
    let [object] = objects.as_slice() else {
        return None;
    };
    let [_] = object.ids().as_slice() else {
        return None;
    };
    let times = Times::of(object)?;
    let is_over = times.end.is_some_and(|end| end <= time_us / 1_000_000);
    if is_over || (ends && times.bounds_run) {
        return Some(interval_s);
    }
    let charged = times.charged.filter(|_| times.is_named)?;
    Some(charged.min(interval_s) * 3 / 4).filter(|seconds| *seconds > 0)
}

/// The times of an object.
struct Times {
    /// Any time is stated.
    is_named: bool,
    /// The start or the end of the run is stated. The runs of a requeued job have one submission.
    bounds_run: bool,
    end: Option<i64>,
    charged: Option<i64>,
}

impl Times {
    /// None if one cannot be read, or has two values.
    fn of(object: &Object<'_>) -> Option<Self> {
        let [end, charged] = [Field::End, Field::Charged].map(|field| match object.get(field) {
            [] => Some(None),
            [value] => seconds(value).map(Some),
            _ => None,
        });
        let is_stated = |field: Field| {
            let stated = object.get(field).iter().map(|value| seconds(value));
            let stated: Vec<i64> = stated.collect::<Option<_>>()?;
            Some(stated.iter().any(|time| *time > 0))
        };
        // Schedulers write 0 for a time that is not set.
        let end = end?.filter(|end| *end > 0);
        let bounds_run = end.is_some() || is_stated(Field::Start)?;
        Some(Self {
            is_named: bounds_run || is_stated(Field::Submit)?,
            bounds_run,
            end,
            charged: charged?,
        })
    }
}

/// Seconds, also as `[[DD:]HH:]MM:]SS`.
fn seconds(text: &str) -> Option<i64> {
    let parts: Vec<i64> = text
        .split(':')
        .map(|part| part.parse().ok().filter(|number| *number >= 0))
        .collect::<Option<_>>()?;
    let sizes = [1_i64, 60, 3600, 86_400];
    if parts.len() > sizes.len() {
        return None;
    }
    let mut scaled = parts.iter().rev().zip(sizes);
    scaled.try_fold(0_i64, |sum, (part, size)| {
        sum.checked_add(part.checked_mul(size)?)
    })
}

/// A short fixed name for an id (FNV-1a, 64 bits); two ids with the same only wait for each other.
pub(crate) fn tag_of(id: &str) -> u64 {
    id.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests;
