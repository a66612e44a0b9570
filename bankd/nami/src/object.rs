//! Collects the fields of one object, still borrowed and still text, and makes a [`Document`] of them. It
//! decides which of two names counts and which duplicates are errors, and validates values (`nami.md` 3.1 and
//! 3.2).

use std::borrow::Cow;
use std::fmt;

use bank_core::ids::ABSENT_WORDS;

use super::names::{self, FIELDS, Field};
use super::number::{self, Number};
use super::{Document, DocumentError, MAX_KEPT_BYTES, MAX_NAME_BYTES, ObjectKind};

/// An object while it is being read.
pub(super) struct Object<'a> {
    root: &'a str,
    kind: Option<ObjectKind>,
    values: Values<'a>,
    resources: Resources<'a>,
    /// Sums over the requirements, in the order of [`SUMMED`].
    required: [Option<Number>; SUMMED.len()],
    required_resources: Resources<'a>,
    variables: Vec<(String, String)>,
    /// Names of the reservation that a job runs in, each with its rank and its value.
    references: Vec<(u8, &'a str, Cow<'a, str>)>,
    unknown: Vec<(String, String)>,
    kept_bytes: usize,
    cut: bool,
}

impl<'a> Object<'a> {
    /// `number` counts the objects of the input from 1; `kind` is the kind from the name of the root.
    pub(super) fn new(number: usize, root: &'a str, kind: Option<ObjectKind>) -> Self {
        Self {
            root,
            kind,
            values: Values::new(number),
            resources: Resources::default(),
            required: [None; SUMMED.len()],
            required_resources: Resources::default(),
            variables: Vec::new(),
            references: Vec::new(),
            unknown: Vec::new(),
            kept_bytes: 0,
            cut: false,
        }
    }

    /// Takes the value of a known place.
    pub(super) fn put(
        &mut self,
        field: Field,
        rank: u8,
        name: &'a str,
        value: Cow<'a, str>,
    ) -> Result<(), DocumentError> {
        if let Some(left) = self.values.put(field, rank, name, value)? {
            self.keep(left.name, &left.value);
        }
        Ok(())
    }

    /// Where resources of the object itself go.
    pub(super) fn resources(&mut self) -> &mut Resources<'a> {
        &mut self.resources
    }

    /// Where resources of its requirements go.
    pub(super) fn required_resources(&mut self) -> &mut Resources<'a> {
        &mut self.required_resources
    }

    /// Adds a requirement to the sums.
    pub(super) fn require(&mut self, part: Requirement<'a>) -> Result<(), DocumentError> {
        let mut values = part.values;
        for (field, sum) in SUMMED.into_iter().zip(&mut self.required) {
            let Some(value) = values.count(field)? else {
                continue;
            };
            let total = sum.unwrap_or_default().checked_add(value);
            *sum = Some(total.ok_or_else(|| too_great(field.name(), values.number))?);
        }
        Ok(())
    }

    /// Takes a variable other than the one that carries the TID.
    pub(super) fn variable(&mut self, name: &str, value: &str) -> Result<(), DocumentError> {
        check_name("name of a variable", name, self.values.number)?;
        if self.fits(name, value) {
            self.variables.push((name.to_owned(), value.to_owned()));
        }
        Ok(())
    }

    /// Takes a name of the reservation that a job runs in.
    pub(super) fn refer(&mut self, rank: u8, name: &'a str, value: Cow<'a, str>) {
        if !is_null(&value) {
            self.references.push((rank, name, value));
        }
    }

    /// Keeps something that is not understood.
    pub(super) fn keep(&mut self, name: &str, value: &str) {
        if self.fits(name, value) {
            self.unknown.push((name.to_owned(), value.to_owned()));
        }
    }

    fn fits(&mut self, name: &str, value: &str) -> bool {
        let bytes = self.kept_bytes + name.len() + value.len();
        if bytes > MAX_KEPT_BYTES {
            self.cut = true;
            return false;
        }
        self.kept_bytes = bytes;
        true
    }

    /// The document, with every value checked and owned.
    pub(super) fn finish(mut self) -> Result<Document, DocumentError> {
        use Field as F;
        let kind = self.object_kind()?;
        let reservation = self.reservation(kind)?;
        let [processors, nodes, memory, disk] = self.required;
        let values = &mut self.values;
        Ok(Document {
            number: values.number,
            kind,
            object_id: values.text(F::ObjectId)?,
            reservation,
            user: values.text(F::User)?,
            requestor: values.text(F::Requestor)?,
            group: values.text(F::Group)?,
            account: values.text(F::Account)?,
            qos: values.text(F::Qos)?,
            class: values.text(F::Class)?,
            machine: values.text(F::Machine)?,
            processors: values.count(F::Processors)?.or(processors),
            nodes: values.count(F::Nodes)?.or(nodes),
            memory_mb: values.count(F::Memory)?.or(memory).and_then(whole),
            disk_mb: values.count(F::Disk)?.or(disk).and_then(whole),
            gres: self.resources.merge(self.required_resources),
            wall_duration_s: values.number(F::WallDuration, DURATION, number::duration)?,
            charge_duration_s: values.number(F::ChargeDuration, DURATION, number::duration)?,
            start_time_s: values.time(F::StartTime)?,
            end_time_s: values.time(F::EndTime)?,
            submit_time_s: values.time(F::SubmitTime)?,
            state: values.text(F::State)?,
            completion_code: values.number(F::CompletionCode, INTEGER, number::signed)?,
            tid: values.text(F::Tid)?,
            variables: self.variables,
            asserted_amount: values.text(F::AssertedAmount)?,
            unknown: self.unknown,
            unknown_cut: self.cut,
        })
    }

    /// The reservation that a job runs in. In a reservation, `ReservationID` is the id of the object itself, and
    /// other names are not understood. A scheduler may also have a reservation for the job itself, under the
    /// id of the job: that is none.
    fn reservation(&mut self, kind: ObjectKind) -> Result<Option<String>, DocumentError> {
        let own = self.values.take(Field::ReservationId);
        if kind == ObjectKind::Reservation {
            if let Some(own) = own {
                self.put(Field::ObjectId, own.rank, own.name, own.value)?;
            }
            for (_, name, value) in std::mem::take(&mut self.references) {
                self.keep(name, &value);
            }
            return Ok(None);
        }
        let mut references = std::mem::take(&mut self.references);
        references.extend(own.map(|own| (0, own.name, own.value)));
        references.sort_by_key(|(rank, ..)| *rank);
        let mut found: Option<String> = None;
        for (_, name, value) in references {
            let plain = value.strip_prefix("ADVRES:").unwrap_or(&value);
            let is_own = self.values.get(Field::ObjectId) == Some(plain);
            let is_named = check_name(name, plain, self.values.number).is_ok() && !plain.is_empty();
            if found.is_none() && !is_own && is_named {
                found = Some(plain.to_owned());
            } else if found.as_deref() != Some(plain) {
                self.keep(name, &value);
            }
        }
        Ok(found)
    }

    /// The root decides; an object type that differs is an error.
    fn object_kind(&mut self) -> Result<ObjectKind, DocumentError> {
        let number = self.values.number;
        let bad = |text: fmt::Arguments<'_>| DocumentError::new("bad_document", number, text);
        let Some(given) = self.values.take(Field::ObjectType) else {
            let text = format_args!("<{}> is neither a job nor a reservation", Quoted(self.root));
            return self.kind.ok_or_else(|| bad(text));
        };
        match (self.kind, names::kind(&given.value)) {
            (Some(root), Some(typed)) if root != typed => Err(bad(format_args!(
                "{} {} in a <{}>",
                given.name, given.value, self.root
            ))),
            (_, Some(typed)) => Ok(typed),
            // A bare `Type` may have another meaning, such as "batch".
            (Some(root), None) if given.rank > 0 => {
                self.keep(given.name, &given.value);
                Ok(root)
            }
            (_, None) => Err(bad(format_args!(
                "{} {} is neither Job nor Reservation",
                given.name,
                Quoted(&given.value)
            ))),
        }
    }
}

/// The fields that requirements are summed over.
const SUMMED: [Field; 4] = [Field::Processors, Field::Nodes, Field::Memory, Field::Disk];

/// A requirement while it is being read.
pub(super) struct Requirement<'a> {
    values: Values<'a>,
}

impl<'a> Requirement<'a> {
    pub(super) fn new(number: usize) -> Self {
        Self {
            values: Values::new(number),
        }
    }

    /// True for the fields that a requirement is read for.
    pub(super) fn holds(field: Field) -> bool {
        SUMMED.contains(&field)
    }

    pub(super) fn put(
        &mut self,
        field: Field,
        rank: u8,
        name: &'a str,
        value: Cow<'a, str>,
    ) -> Result<(), DocumentError> {
        self.values.put(field, rank, name, value).map(|_| ())
    }
}

/// Generic resources; the same name adds up.
#[derive(Default)]
pub(super) struct Resources<'a> {
    items: Vec<(Cow<'a, str>, Number)>,
}

impl<'a> Resources<'a> {
    /// Adds the text of a resource; a null adds nothing.
    pub(super) fn add(
        &mut self,
        name: Cow<'a, str>,
        text: &str,
        object: usize,
    ) -> Result<(), DocumentError> {
        check_name("name of a resource", &name, object)?;
        if is_null(text) {
            return Ok(());
        }
        let value = number::decimal(text).ok_or_else(|| not_a(DECIMAL, &name, text, object))?;
        if let Some((_, sum)) = self
            .items
            .iter_mut()
            .find(|(known, _)| known.eq_ignore_ascii_case(&name))
        {
            *sum = sum
                .checked_add(value)
                .ok_or_else(|| too_great(&name, object))?;
        } else {
            self.items.push((name, value));
        }
        Ok(())
    }

    /// Own figures first, then those of the requirements that the object
    /// itself does not state: as with processors, the top level wins.
    fn merge(mut self, required: Self) -> Vec<(String, Number)> {
        let own = self.items.len();
        for (name, value) in required.items {
            let is_name = |(known, _): &(Cow<'_, str>, Number)| known.eq_ignore_ascii_case(&name);
            if !self.items.iter().take(own).any(is_name) {
                self.items.push((name, value));
            }
        }
        self.items
            .into_iter()
            .map(|(name, value)| (name.into_owned(), value))
            .collect()
    }
}

/// A value as it was found.
struct Found<'a> {
    name: &'a str,
    rank: u8,
    value: Cow<'a, str>,
}

/// One value for each field.
struct Values<'a> {
    number: usize,
    slots: [Option<Found<'a>>; FIELDS],
}

impl<'a> Values<'a> {
    fn new(number: usize) -> Self {
        Self {
            number,
            slots: [const { None }; FIELDS],
        }
    }

    /// Takes a value unless it is a null. Of two names for one field the one
    /// of the lower rank counts and the other is returned; one name twice, or
    /// two names of rank 0 that disagree, is an error.
    fn put(
        &mut self,
        field: Field,
        rank: u8,
        name: &'a str,
        value: Cow<'a, str>,
    ) -> Result<Option<Found<'a>>, DocumentError> {
        let number = self.number;
        let Some(slot) = self.slots.get_mut(field as usize) else {
            return Ok(None);
        };
        if is_null(&value) {
            return Ok(None);
        }
        let new = Found { name, rank, value };
        let Some(old) = slot else {
            *slot = Some(new);
            return Ok(None);
        };
        if names::same(old.name, name) {
            let text = format_args!("{name} given twice");
            return Err(DocumentError::new("bad_document", number, text));
        }
        if old.rank == 0 && rank == 0 {
            if old.value == new.value {
                return Ok(None);
            }
            let text = format_args!("{} and {name} disagree", old.name);
            return Err(DocumentError::new("bad_document", number, text));
        }
        Ok(if rank < old.rank {
            slot.replace(new)
        } else {
            Some(new)
        })
    }

    fn get(&self, field: Field) -> Option<&str> {
        let slot = self.slots.get(field as usize)?;
        slot.as_ref().map(|found| &*found.value)
    }

    fn take(&mut self, field: Field) -> Option<Found<'a>> {
        self.slots.get_mut(field as usize).and_then(Option::take)
    }

    fn text(&mut self, field: Field) -> Result<Option<String>, DocumentError> {
        let Some(found) = self.take(field) else {
            return Ok(None);
        };
        check_name(found.name, &found.value, self.number)?;
        Ok(Some(found.value.into_owned()))
    }

    fn number<T>(
        &mut self,
        field: Field,
        what: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, DocumentError> {
        let Some(found) = self.take(field) else {
            return Ok(None);
        };
        match parse(&found.value) {
            Some(value) => Ok(Some(value)),
            None => Err(not_a(what, found.name, &found.value, self.number)),
        }
    }

    fn count(&mut self, field: Field) -> Result<Option<Number>, DocumentError> {
        self.number(field, INTEGER, number::count)
    }

    /// Schedulers write 0 for a time that is not set.
    fn time(&mut self, field: Field) -> Result<Option<i64>, DocumentError> {
        Ok(self
            .number(field, EPOCH, number::epoch)?
            .filter(|seconds| *seconds > 0))
    }
}

const INTEGER: &str = "a whole number of at most 15 digits";
const DECIMAL: &str = "a number of at most 15 digits and 6 places";
const DURATION: &str = "a duration of at most 10 years";
const EPOCH: &str = "a time in seconds since 1970";

/// The null spellings (`nami.md` 3.1).
fn is_null(text: &str) -> bool {
    text.is_empty() || ABSENT_WORDS.contains(&text)
}

/// Names and ids: bounded, and without characters that could break a line or a terminal.
fn check_name(what: &str, text: &str, object: usize) -> Result<(), DocumentError> {
    if text.len() > MAX_NAME_BYTES {
        let text = format_args!("{} is longer than {MAX_NAME_BYTES} bytes", Quoted(what));
        return Err(DocumentError::new("bad_document", object, text));
    }
    if text.bytes().any(|byte| byte < b' ') {
        let text = format_args!("{} holds a control character", Quoted(what));
        return Err(DocumentError::new("bad_document", object, text));
    }
    Ok(())
}

fn whole(number: Number) -> Option<i64> {
    i64::try_from(number.micro() / 1_000_000).ok()
}

fn not_a(what: &str, name: &str, value: &str, object: usize) -> DocumentError {
    let text = format_args!("{} {} is not {what}", Quoted(name), Quoted(value));
    DocumentError::new("bad_number", object, text)
}

fn too_great(name: &str, object: usize) -> DocumentError {
    let text = format_args!("the sum of {} is more than 15 digits", Quoted(name));
    DocumentError::new("bad_number", object, text)
}

/// The beginning of something from the input, for a message.
struct Quoted<'t>(&'t str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.char_indices().nth(32) {
            Some((end, _)) => write!(f, "{}...", self.0.get(..end).unwrap_or_default()),
            None => f.write_str(self.0),
        }
    }
}
