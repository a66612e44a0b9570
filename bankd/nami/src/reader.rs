//! Walks the XML of an input, one event after the other, and hands what it
//! finds to the object at hand. It bounds depth and number of elements, takes
//! no DOCTYPE and no entity but the predefined and numeric ones (`nami.md`
//! 3.2), and borrows from the input wherever it can. It must never recurse.

use std::borrow::Cow;

use quick_xml::XmlVersion;
use quick_xml::events::attributes::{AttrError, Attribute, Attributes};
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::reader::Reader;

use super::names::{self, Field, Name, Root};
use super::object::{Object, Requirement, Resources};
use super::text::{is_blank, is_character, resolved, trimmed, unescaped};
use super::{Document, DocumentError, MAX_DEPTH, MAX_ELEMENTS, ObjectKind, ReadOptions};

/// All objects of the text, at least one; or what makes the text as a whole unusable.
pub(super) fn documents(
    source: &str,
    options: &ReadOptions<'_>,
) -> Result<Vec<Result<Document, DocumentError>>, DocumentError> {
    // Whole chunks at a time: this looks at every byte of every document.
    let is_control = |b: &u8| *b < b' ' && !matches!(*b, b'\t' | b'\n' | b'\r');
    let mut chunks = source.as_bytes().chunks(64);
    if chunks.any(|chunk| chunk.iter().fold(false, |found, b| found | is_control(b))) {
        let at = source
            .as_bytes()
            .iter()
            .position(is_control)
            .unwrap_or_default();
        let text = format_args!("control character at byte {at}");
        return Err(DocumentError::new("bad_document", 0, text));
    }
    let mut walker = Walker::new(source, options);
    walker.roots()?;
    if walker.documents.is_empty() {
        return Err(walker.bad("no job and no reservation in it"));
    }
    Ok(walker.documents)
}

/// A step of the walk: an XML event, with equivalent events joined.
enum Step<'a> {
    Open(Tag<'a>),
    Text(Cow<'a, str>),
    Close,
    End,
}

/// An opening tag: the text between `<` and `>`, without the `/` of an empty element.
#[derive(Clone, Copy)]
struct Tag<'a> {
    raw: &'a str,
    name: &'a str,
}

impl<'a> Tag<'a> {
    fn attributes(self) -> Attributes<'a> {
        Attributes::new(self.raw, self.name.len())
    }

    fn has_attributes(self) -> bool {
        self.raw.len() > self.name.len()
    }
}

/// The attributes of a resource or a variable.
#[derive(Default)]
struct Named<'a> {
    name: Option<Cow<'a, str>>,
    value: Option<Cow<'a, str>>,
}

struct Walker<'a, 'o> {
    reader: Reader<&'a [u8]>,
    source: &'a str,
    options: &'o ReadOptions<'o>,
    depth: u32,
    elements: u32,
    attributes: u32,
    /// Number of the object at hand, 0 outside of objects.
    number: usize,
    documents: Vec<Result<Document, DocumentError>>,
    /// The text as a whole is unusable, not just the object at hand.
    is_broken: bool,
}

impl<'a, 'o> Walker<'a, 'o> {
    fn new(source: &'a str, options: &'o ReadOptions<'o>) -> Self {
        let mut reader = Reader::from_str(source);
        reader.config_mut().expand_empty_elements = true;
        let documents = Vec::with_capacity(1);
        Self {
            reader,
            source,
            options,
            depth: 0,
            elements: 0,
            attributes: 0,
            number: 0,
            documents,
            is_broken: false,
        }
    }

    /// Roots and the children of wrappers. Attributes of a wrapper are ignored.
    fn roots(&mut self) -> Result<(), DocumentError> {
        loop {
            match self.step()? {
                Step::Open(tag) => match names::root(tag.name) {
                    Root::Wrapper => {}
                    Root::Object(kind) => self.one(tag, Some(kind))?,
                    Root::Unknown => self.one(tag, None)?,
                },
                Step::Text(text) if is_blank(&text) => {}
                Step::Text(_) => return Err(self.bad("text outside of an object")),
                Step::Close => {}
                Step::End => return Ok(()),
            }
        }
    }

    /// One object: what is wrong with it is its own, and the walk goes on behind it.
    fn one(&mut self, tag: Tag<'a>, kind: Option<ObjectKind>) -> Result<(), DocumentError> {
        self.number = self.documents.len() + 1;
        let depth = self.depth;
        let read = self.object(tag, kind);
        if let (Err(error), true) = (&read, self.is_broken) {
            return Err(error.clone());
        }
        while self.depth >= depth {
            self.step()?;
        }
        self.documents.push(read);
        self.number = 0;
        Ok(())
    }

    fn object(
        &mut self,
        tag: Tag<'a>,
        kind: Option<ObjectKind>,
    ) -> Result<Document, DocumentError> {
        let mut object = Object::new(self.number, tag.name, kind);
        for attribute in tag.attributes() {
            let attribute = self.attribute(attribute)?;
            let key = attribute.key.into_inner();
            match names::member(key) {
                _ if names::is_namespace(key) => {}
                Name::Field(field, rank) => {
                    object.put(field, rank, key, self.value(&attribute)?)?;
                }
                Name::Reservation(rank) => object.refer(rank, key, self.value(&attribute)?),
                _ => object.keep(&format!("@{key}"), &attribute.value),
            }
        }
        loop {
            match self.step()? {
                Step::Open(tag) => self.member(&mut object, tag)?,
                Step::Text(text) if is_blank(&text) => {}
                Step::Text(text) => object.keep("#text", &text),
                Step::Close | Step::End => break,
            }
        }
        object.finish()
    }

    /// One child of an object.
    fn member(&mut self, object: &mut Object<'a>, tag: Tag<'a>) -> Result<(), DocumentError> {
        match names::member(tag.name) {
            Name::Field(field, rank) => {
                let value = self.leaf(tag)?;
                if tag.has_attributes() {
                    self.count_attributes(tag)?;
                    object.keep(tag.raw, "");
                }
                object.put(field, rank, tag.name, value)
            }
            Name::Variable => self.variable(object, tag),
            Name::Variables => self.variables(object, tag),
            Name::Gres => self.resource(object.resources(), tag),
            Name::Requirement => self.requirement(object, tag),
            Name::Reservation(rank) => self.reservation(object, tag, rank),
            Name::Unknown => self.unknown(object, tag),
        }
    }

    fn variable(&mut self, object: &mut Object<'a>, tag: Tag<'a>) -> Result<(), DocumentError> {
        let named = self.named(tag)?;
        let text = self.leaf(tag)?;
        let value = if text.is_empty() {
            named.value.unwrap_or(text)
        } else {
            text
        };
        match named.name {
            Some(name) if name.eq_ignore_ascii_case(self.options.tid_variable) => {
                object.put(Field::Tid, 0, tag.name, value)
            }
            Some(name) => object.variable(&name, &value),
            None => {
                object.keep(tag.raw, &value);
                Ok(())
            }
        }
    }

    /// A group of variables.
    fn variables(&mut self, object: &mut Object<'a>, tag: Tag<'a>) -> Result<(), DocumentError> {
        self.count_attributes(tag)?;
        loop {
            match self.step()? {
                Step::Open(child) if names::member(child.name) == Name::Variable => {
                    self.variable(object, child)?;
                }
                Step::Open(child) => self.unknown(object, child)?,
                Step::Text(text) if is_blank(&text) => {}
                Step::Text(text) => object.keep("#text", &text),
                Step::Close | Step::End => return Ok(()),
            }
        }
    }

    /// One generic resource, or (without a name) a group whose children are named like the resources.
    fn resource(
        &mut self,
        resources: &mut Resources<'a>,
        tag: Tag<'a>,
    ) -> Result<(), DocumentError> {
        let named = self.named(tag)?;
        if let Some(name) = named.name {
            let text = self.leaf(tag)?;
            let value = if text.is_empty() {
                named.value.unwrap_or(text)
            } else {
                text
            };
            return resources.add(name, &value, self.number);
        }
        loop {
            match self.step()? {
                Step::Open(child) => {
                    self.count_attributes(child)?;
                    let value = self.leaf(child)?;
                    resources.add(Cow::Borrowed(child.name), &value, self.number)?;
                }
                Step::Text(text) if is_blank(&text) => {}
                Step::Text(_) => {
                    let text = format_args!("{} has no attribute name", tag.name);
                    return Err(DocumentError::new("missing_field", self.number, text));
                }
                Step::Close | Step::End => return Ok(()),
            }
        }
    }

    /// A requirement. Only what is summed is read of it, the rest is kept.
    fn requirement(&mut self, object: &mut Object<'a>, tag: Tag<'a>) -> Result<(), DocumentError> {
        let mut requirement = Requirement::new(self.number);
        for attribute in tag.attributes() {
            let attribute = self.attribute(attribute)?;
            let key = attribute.key.into_inner();
            match names::member(key) {
                Name::Field(field, rank) if Requirement::holds(field) => {
                    requirement.put(field, rank, key, self.value(&attribute)?)?;
                }
                _ => object.keep(&format!("@{key}"), &attribute.value),
            }
        }
        loop {
            match self.step()? {
                Step::Open(child) => match names::member(child.name) {
                    Name::Field(field, rank) if Requirement::holds(field) => {
                        self.count_attributes(child)?;
                        let value = self.leaf(child)?;
                        requirement.put(field, rank, child.name, value)?;
                    }
                    Name::Gres => self.resource(object.required_resources(), child)?,
                    Name::Requirement => {
                        return Err(self.bad(format_args!("{0} inside of {0}", tag.name)));
                    }
                    _ => self.unknown(object, child)?,
                },
                Step::Text(text) if is_blank(&text) => {}
                Step::Text(text) => object.keep("#text", &text),
                Step::Close | Step::End => return object.require(requirement),
            }
        }
    }

    /// The text of an element that holds nothing but text, without the white
    /// space around it.
    fn leaf(&mut self, tag: Tag<'a>) -> Result<Cow<'a, str>, DocumentError> {
        let mut value = Cow::Borrowed("");
        loop {
            match self.step()? {
                Step::Text(text) if value.is_empty() => value = text,
                Step::Text(text) => value.to_mut().push_str(&text),
                Step::Open(child) => {
                    let text = format_args!("{} inside of {}", child.name, tag.name);
                    return Err(self.bad(text));
                }
                Step::Close | Step::End => return Ok(trimmed(value)),
            }
        }
    }

    /// The name of the reservation that a job runs in. An element that contains others names none.
    fn reservation(
        &mut self,
        object: &mut Object<'a>,
        tag: Tag<'a>,
        rank: u8,
    ) -> Result<(), DocumentError> {
        let inner = self.skip(tag)?;
        match unescaped(inner) {
            Some(text) if !tag.has_attributes() => {
                object.refer(rank, tag.name, trimmed(text));
            }
            Some(text) => {
                object.keep(tag.raw, "");
                object.refer(rank, tag.name, trimmed(text));
            }
            None => object.keep(tag.raw, inner),
        }
        Ok(())
    }

    /// Keeps an unknown element: its text, or its source if it contains elements.
    fn unknown(&mut self, object: &mut Object<'a>, tag: Tag<'a>) -> Result<(), DocumentError> {
        let inner = self.skip(tag)?;
        let text = unescaped(inner);
        object.keep(tag.raw, text.as_deref().unwrap_or(inner));
        Ok(())
    }

    /// Passes over an element and returns the source between its tags.
    fn skip(&mut self, tag: Tag<'a>) -> Result<&'a str, DocumentError> {
        self.count_attributes(tag)?;
        let start = self.position();
        let depth = self.depth;
        while self.depth >= depth {
            self.step()?;
        }
        let whole = self.source.get(start..self.position()).unwrap_or_default();
        Ok(whole
            .rfind('<')
            .and_then(|end| whole.get(..end))
            .unwrap_or_default())
    }

    fn step(&mut self) -> Result<Step<'a>, DocumentError> {
        let step = self.next_step();
        self.is_broken |= step.is_err();
        step
    }

    fn next_step(&mut self) -> Result<Step<'a>, DocumentError> {
        loop {
            let event = self.reader.read_event().map_err(|e| {
                let at = self.reader.error_position();
                self.bad(format_args!("not well-formed at byte {at}: {e}"))
            })?;
            return Ok(match event {
                Event::Start(start) => Step::Open(self.open(&start)?),
                Event::End(_) => {
                    self.depth = self.depth.saturating_sub(1);
                    Step::Close
                }
                Event::Text(text) => Step::Text(text.into_inner()),
                Event::CData(text) => Step::Text(text.into_inner()),
                Event::GeneralRef(reference) => Step::Text(self.reference(&reference)?),
                Event::Eof if self.depth == 0 => Step::End,
                Event::Eof => return Err(self.bad("cut off inside of an element")),
                Event::DocType(_) => return Err(self.bad("a DOCTYPE is not taken")),
                Event::Empty(_) | Event::Comment(_) | Event::PI(_) | Event::Decl(_) => continue,
            });
        }
    }

    fn open(&mut self, start: &BytesStart<'_>) -> Result<Tag<'a>, DocumentError> {
        self.depth += 1;
        self.elements += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.bad(format_args!("nested deeper than {MAX_DEPTH} elements")));
        }
        if self.elements > MAX_ELEMENTS {
            return Err(self.bad(format_args!("more than {MAX_ELEMENTS} elements")));
        }
        let end = self.position();
        let read = self.source.get(..end).unwrap_or_default();
        let read = read
            .strip_suffix("/>")
            .or_else(|| read.strip_suffix('>'))
            .unwrap_or(read);
        let raw = read
            .len()
            .checked_sub(start.len())
            .and_then(|from| read.get(from..));
        let raw = raw.unwrap_or_default().trim_end();
        let name = raw.get(..start.name().as_ref().len()).unwrap_or_default();
        if name.is_empty() {
            return Err(self.bad(format_args!("a tag without a name at byte {end}")));
        }
        Ok(Tag { raw, name })
    }

    fn reference(&self, reference: &BytesRef<'_>) -> Result<Cow<'static, str>, DocumentError> {
        let unknown = || self.bad(format_args!("entity &{}; is unknown", &**reference));
        resolved(reference).ok_or_else(unknown)
    }

    /// Checks and counts an attribute.
    fn attribute(
        &mut self,
        attribute: Result<Attribute<'a>, AttrError>,
    ) -> Result<Attribute<'a>, DocumentError> {
        self.attributes += 1;
        if self.attributes > MAX_ELEMENTS {
            self.is_broken = true;
            return Err(self.bad(format_args!("more than {MAX_ELEMENTS} attributes")));
        }
        self.is_broken |= attribute.is_err();
        attribute.map_err(|e| self.bad(format_args!("bad attribute: {e}")))
    }

    /// Checks and counts attributes that are not read.
    fn count_attributes(&mut self, tag: Tag<'a>) -> Result<(), DocumentError> {
        if tag.has_attributes() {
            for attribute in tag.attributes() {
                self.attribute(attribute)?;
            }
        }
        Ok(())
    }

    /// The value of an attribute, references resolved, trimmed.
    fn value(&self, attribute: &Attribute<'a>) -> Result<Cow<'a, str>, DocumentError> {
        let key = attribute.key.into_inner();
        let value = attribute
            .normalized_value(XmlVersion::Implicit1_0)
            .map_err(|e| self.bad(format_args!("bad value of attribute {key}: {e}")))?;
        if !value.chars().all(is_character) {
            return Err(self.bad(format_args!("control character in attribute {key}")));
        }
        Ok(trimmed(value))
    }

    /// Name and value of a resource or a variable, as far as attributes contain them.
    fn named(&mut self, tag: Tag<'a>) -> Result<Named<'a>, DocumentError> {
        let mut named = Named::default();
        for attribute in tag.attributes() {
            let attribute = self.attribute(attribute)?;
            let key = attribute.key.into_inner();
            let place = match key {
                _ if names::is_name(key) => &mut named.name,
                _ if names::is_value(key) => &mut named.value,
                _ => continue,
            };
            if place.replace(self.value(&attribute)?).is_some() {
                return Err(self.bad(format_args!("attribute {key} of {} given twice", tag.name)));
            }
        }
        named.name = named.name.filter(|name| !name.is_empty());
        Ok(named)
    }

    fn position(&self) -> usize {
        usize::try_from(self.reader.buffer_position()).unwrap_or(usize::MAX)
    }

    fn bad(&self, text: impl std::fmt::Display) -> DocumentError {
        DocumentError::new("bad_document", self.number, text)
    }
}
