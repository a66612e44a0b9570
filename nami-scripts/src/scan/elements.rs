//! The objects of a document, each with the values that the scripts look at. A best effort without memory of its own:
//! it borrows from the text, never recurses, and takes what it can of a text that is no XML.
//!
//! [`member`] has the names of the daemon's vocabulary (`bankd/nami/src/names.rs`) for these values. A test of
//! the suite compares both.

use super::MAX_OBJECTS;

/// Most different values of one field that are kept: two show that the daemon refuses the object.
const MAX_VALUES: usize = 2;
/// Longest value that is looked at, in bytes.
const MAX_VALUE: usize = 1024;

/// What the scripts look at in an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    ObjectId,
    /// The id of a reservation itself. In a job it names the reservation that the job runs in.
    ReservationId,
    Kind,
    Start,
    Submit,
    End,
    Charged,
}

/// Number of [`Field`]s.
const FIELDS: usize = Field::Charged as usize + 1;

/// A field, and the rank of the name: a name yields to those of a lower rank (`nami.md` 3.1).
fn member(name: &str) -> Option<(Field, u8)> {
    Some(match plain(name).as_str() {
        "objectid" | "jobid" => (Field::ObjectId, 0),
        "reservationid" | "rsvid" => (Field::ReservationId, 0),
        "id" => (Field::ObjectId, 1),
        "name" => (Field::ObjectId, 2),
        "objecttype" => (Field::Kind, 0),
        "type" => (Field::Kind, 1),
        "starttime" => (Field::Start, 0),
        "submittime" => (Field::Submit, 0),
        "endtime" => (Field::End, 0),
        "completiontime" => (Field::End, 1),
        "completion" => (Field::End, 2),
        "chargeduration" | "chargetime" => (Field::Charged, 0),
        _ => return None,
    })
}

/// An object of a document.
#[derive(Debug)]
pub(super) struct Object<'a> {
    root: &'a str,
    values: [Values<'a>; FIELDS],
}

/// The different values under the names of the lowest rank.
#[derive(Debug, Default)]
struct Values<'a> {
    rank: u8,
    list: Vec<&'a str>,
}

impl<'a> Object<'a> {
    fn new(root: &'a str) -> Self {
        Self {
            root,
            values: Default::default(),
        }
    }

    fn offer(&mut self, name: &str, value: &'a str) {
        let value = value.trim();
        let Some((field, rank)) = member(name).filter(|_| !is_null(value)) else {
            return;
        };
        let Some(values) = self.values.get_mut(field as usize) else {
            return;
        };
        if values.list.is_empty() || rank < values.rank {
            values.rank = rank;
            values.list.clear();
        }
        let is_new = rank == values.rank && !values.list.contains(&value);
        if is_new && values.list.len() < MAX_VALUES && value.len() <= MAX_VALUE {
            values.list.push(value);
        }
    }

    /// The values of a field: several if the object contradicts itself.
    pub(super) fn get(&self, field: Field) -> &[&'a str] {
        let values = self.values.get(field as usize);
        values.map_or(&[], |values| values.list.as_slice())
    }

    /// Its ids: one, unless the daemon refuses the object.
    pub(super) fn ids(&self) -> Vec<&'a str> {
        let own = self.get(Field::ReservationId);
        if !self.is_reservation() || own.is_empty() {
            return self.get(Field::ObjectId).to_vec();
        }
        let mut ids = own.to_vec();
        let id = self.values.get(Field::ObjectId as usize);
        for other in id
            .filter(|values| values.rank == 0)
            .iter()
            .flat_map(|v| &v.list)
        {
            if !ids.contains(other) {
                ids.push(other);
            }
        }
        ids
    }

    fn is_reservation(&self) -> bool {
        let is_one = |name: &str| matches!(plain(name).as_str(), "reservation" | "rsv");
        is_one(self.root) || self.get(Field::Kind).iter().any(|kind| is_one(kind))
    }
}

/// The objects of a document, in order: its roots and the children of wrappers.
pub(super) fn objects(text: &str) -> Vec<Object<'_>> {
    let mut objects: Vec<Object<'_>> = Vec::new();
    let mut depth = 0_usize;
    // The depth of the object at hand.
    let mut within = None;
    for tag in (Tags { rest: text }) {
        if tag.is_end {
            depth = depth.saturating_sub(1);
            within = within.filter(|level| *level < depth);
            continue;
        }
        match (within, objects.last_mut()) {
            (Some(level), Some(object)) if level + 1 == depth => object.offer(tag.name, tag.value),
            (Some(_), _) => {}
            (None, _) if is_wrapper(tag.name) => {}
            (None, _) => {
                if objects.len() == MAX_OBJECTS {
                    break;
                }
                let mut object = Object::new(tag.name);
                each_attribute(tag.attributes, |name, value| object.offer(name, value));
                objects.push(object);
                within = Some(depth).filter(|_| !tag.is_empty);
            }
        }
        depth += usize::from(!tag.is_empty);
    }
    objects
}

/// A tag of a document, with the text behind it.
struct Tag<'a> {
    name: &'a str,
    attributes: &'a str,
    value: &'a str,
    /// `</Job>`.
    is_end: bool,
    /// `<Job/>`.
    is_empty: bool,
}

/// The tags of a document, in order. Comments and declarations are passed over.
struct Tags<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Tags<'a> {
    type Item = Tag<'a>;

    fn next(&mut self) -> Option<Tag<'a>> {
        loop {
            let (_, tag) = self.rest.split_once('<')?;
            let skipped = [("!--", "-->"), ("![CDATA[", "]]>"), ("?", "?>"), ("!", ">")];
            let skipped = skipped.iter().find(|(start, _)| tag.starts_with(start));
            if let Some((start, end)) = skipped {
                let inside = tag.get(start.len()..).unwrap_or_default();
                self.rest = inside.split_once(end).map_or("", |(_, after)| after);
                continue;
            }
            let (inside, after) = split_tag(tag);
            self.rest = after;
            let is_end = inside.starts_with('/');
            let is_empty = inside.ends_with('/') && !is_end;
            let inside = inside.trim_matches('/');
            let (name, attributes) =
                inside.split_at(inside.find(char::is_whitespace).unwrap_or(inside.len()));
            let value = if is_empty { "" } else { value_of(after) };
            return Some(Tag {
                name,
                attributes,
                value,
                is_end,
                is_empty,
            });
        }
    }
}

/// The text at the start, up to the next tag.
fn value_of(after: &str) -> &str {
    let cdata = after.trim_start().strip_prefix("<![CDATA[");
    let end = if cdata.is_some() { "]]>" } else { "<" };
    cdata.unwrap_or(after).split(end).next().unwrap_or_default()
}

/// The inside of a tag and the text after it; a `>` between quotes does not end it.
fn split_tag(tag: &str) -> (&str, &str) {
    let mut quote = None;
    for (at, letter) in tag.char_indices() {
        match (quote, letter) {
            (None, '>') => {
                let (inside, after) = tag.split_at(at);
                return (inside, after.get(1..).unwrap_or_default());
            }
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            _ => {}
        }
    }
    (tag, "")
}

fn each_attribute<'a>(mut attributes: &'a str, mut see: impl FnMut(&str, &'a str)) {
    while let Some((name, rest)) = attributes.split_once('=') {
        let rest = rest.trim_start();
        let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
            return;
        };
        let Some((value, after)) = rest.get(1..).and_then(|rest| rest.split_once(quote)) else {
            return;
        };
        see(name.trim(), value);
        attributes = after;
    }
}

/// Something that contains objects and is none.
fn is_wrapper(name: &str) -> bool {
    matches!(plain(name).as_str(), "data" | "request" | "queue")
}

/// The null spellings (`nami.md` 3.1).
fn is_null(value: &str) -> bool {
    matches!(value, "" | "[NONE]" | "NONE" | "[DEFAULT]")
}

/// A name without prefix, case, `_` and `-` (`nami.md` 3.1).
fn plain(name: &str) -> String {
    let local = name.rsplit(':').next().unwrap_or(name);
    if local.len() > 32 {
        return String::new();
    }
    local
        .chars()
        .filter(|c| !matches!(c, '_' | '-'))
        .map(|c| c.to_ascii_lowercase())
        .collect()
}
