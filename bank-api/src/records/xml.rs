//! Elements of a file of usage records, one record at a time, from a document or one per line. Depth,
//! number and bytes are limited. A DOCTYPE is refused, and so is any entity that is not predefined.

use std::io::{self, BufRead, Read};

use quick_xml::XmlVersion;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::name::ResolveResult;
use quick_xml::reader::NsReader;

/// The namespace that is written.
pub(super) const NAMESPACE: &str = "http://schema.ogf.org/urf/2003/09/urf";
/// The namespace of the draft of 2003, which some programs still write.
pub(super) const DRAFT: &str = "http://www.gridforum.org/2003/ur-wg";

/// Bytes of one tag or text at most.
const EVENT_MAX: usize = 1 << 20;
/// Elements of one record at most.
const ELEMENTS_MAX: usize = 20_000;
/// Elements in one another at most.
const DEPTH_MAX: usize = 16;

/// The vocabulary of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Space {
    /// Usage records 1.0.
    Ours,
    /// Their draft.
    Draft,
    /// No namespace.
    None,
    /// Another one.
    Other,
}

/// An attribute.
#[derive(Debug)]
pub(super) struct Attribute {
    pub(super) name: String,
    pub(super) space: Space,
    pub(super) value: String,
}

/// An element with all that is in it.
#[derive(Debug)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) space: Space,
    pub(super) line: u64,
    pub(super) attributes: Vec<Attribute>,
    pub(super) text: String,
    pub(super) children: Vec<Element>,
}

/// A fatal error in a file.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) line: u64,
    pub(super) text: String,
}

/// The records of a file, one at a time.
pub(super) struct Elements<R: BufRead> {
    reader: NsReader<Counted<R>>,
    buffer: Vec<u8>,
    is_inside: bool,
}

/// The next part of an element.
enum Step {
    Open(Element),
    Text(String),
    Close,
    End,
}

impl<R: BufRead> Elements<R> {
    pub(super) fn new(source: R) -> Self {
        let mut reader = NsReader::from_reader(Counted {
            source,
            line: 1,
            budget: EVENT_MAX,
        });
        reader.config_mut().expand_empty_elements = true;
        Self {
            reader,
            buffer: Vec::new(),
            is_inside: false,
        }
    }

    fn line(&mut self) -> u64 {
        self.reader.get_mut().line
    }

    fn broken(&mut self, text: impl Into<String>) -> Broken {
        Broken {
            line: self.line(),
            text: text.into(),
        }
    }

    /// The next record: an element at the outside, or in `UsageRecords`.
    pub(super) fn next(&mut self) -> Result<Option<Element>, Broken> {
        loop {
            match self.step()? {
                Step::Open(element) if element.name == "UsageRecords" && !self.is_inside => {
                    self.is_inside = true;
                }
                Step::Open(element) => return self.whole(element).map(Some),
                Step::Text(text)
                    if text
                        .trim_matches(['\u{feff}', ' ', '\t', '\r', '\n'])
                        .is_empty() => {}
                Step::Text(_) => return Err(self.broken("text outside of a record")),
                Step::Close => self.is_inside = false,
                Step::End if self.is_inside => return Err(self.broken("cut off")),
                Step::End => return Ok(None),
            }
        }
    }

    /// The rest of an element that was opened.
    fn whole(&mut self, root: Element) -> Result<Element, Broken> {
        let mut open = vec![root];
        let mut count = 1;
        loop {
            let step = self.step()?;
            let depth = open.len();
            let Some(last) = open.last_mut() else {
                return Err(self.broken("no element is open"));
            };
            match step {
                Step::Text(text) => last.text.push_str(&text),
                Step::Open(element) => {
                    count += 1;
                    if count > ELEMENTS_MAX {
                        return Err(
                            self.broken(format!("more than {ELEMENTS_MAX} elements in a record"))
                        );
                    }
                    if depth >= DEPTH_MAX {
                        return Err(self.broken(format!("nested deeper than {DEPTH_MAX} elements")));
                    }
                    open.push(element);
                }
                Step::Close => {
                    let done = open.pop();
                    match (open.last_mut(), done) {
                        (Some(outer), Some(done)) => outer.children.push(done),
                        (None, Some(done)) => return Ok(done),
                        (_, None) => {}
                    }
                }
                Step::End => return Err(self.broken("cut off inside of a record")),
            }
        }
    }

    fn step(&mut self) -> Result<Step, Broken> {
        loop {
            self.buffer.clear();
            let line = self.line();
            self.reader.get_mut().budget = EVENT_MAX;
            let event = self.reader.read_event_into(&mut self.buffer);
            let event = match event {
                Ok(event) => event,
                Err(e) => {
                    let text = format!("not well-formed: {e}");
                    return Err(self.broken(text));
                }
            };
            let failed = |text: String| Broken { line, text };
            return Ok(match event {
                Event::Start(start) => {
                    let element = opened(&self.reader, &start, line);
                    Step::Open(element.map_err(failed)?)
                }
                Event::End(_) => Step::Close,
                Event::Text(text) => Step::Text(text.into_inner().into_owned()),
                Event::CData(text) => Step::Text(text.into_inner().into_owned()),
                Event::GeneralRef(reference) => Step::Text(referred(&reference).map_err(failed)?),
                Event::Eof => Step::End,
                Event::DocType(_) => return Err(failed("a DOCTYPE is not taken".to_owned())),
                Event::Empty(_) | Event::Comment(_) | Event::PI(_) | Event::Decl(_) => continue,
            });
        }
    }
}

fn opened<R>(reader: &NsReader<R>, start: &BytesStart<'_>, line: u64) -> Result<Element, String> {
    let space_of = |resolved: &ResolveResult<'_>| match resolved {
        ResolveResult::Bound(space) => match space.as_ref() {
            NAMESPACE => Space::Ours,
            DRAFT => Space::Draft,
            _ => Space::Other,
        },
        ResolveResult::Unbound => Space::None,
        ResolveResult::Unknown(_) => Space::Other,
    };
    let (resolved, name) = reader.resolver().resolve_element(start.name());
    let mut element = Element {
        name: name.as_ref().to_owned(),
        space: space_of(&resolved),
        line,
        attributes: Vec::new(),
        text: String::new(),
        children: Vec::new(),
    };
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|e| format!("bad attribute: {e}"))?;
        let key = attribute.key.as_ref();
        if key == "xmlns" || key.starts_with("xmlns:") {
            continue;
        }
        let (resolved, name) = reader.resolver().resolve_attribute(attribute.key);
        let value = attribute.normalized_value(XmlVersion::Implicit1_0);
        element.attributes.push(Attribute {
            name: name.as_ref().to_owned(),
            space: space_of(&resolved),
            value: value
                .map_err(|e| format!("attribute {key}: {e}"))?
                .into_owned(),
        });
    }
    Ok(element)
}

fn referred(reference: &BytesRef<'_>) -> Result<String, String> {
    let unknown = || format!("unknown entity &{};", &**reference);
    Ok(match &**reference {
        "lt" => "<".to_owned(),
        "gt" => ">".to_owned(),
        "amp" => "&".to_owned(),
        "quot" => "\"".to_owned(),
        "apos" => "'".to_owned(),
        _ => {
            let resolved = reference.resolve_char_ref().map_err(|_| unknown())?;
            resolved.ok_or_else(unknown)?.to_string()
        }
    })
}

/// A source that counts its lines, and fails if one piece is too long.
struct Counted<R> {
    source: R,
    line: u64,
    budget: usize,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.fill_buf()?.read(buffer)?;
        self.consume(got);
        Ok(got)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.budget == 0 {
            return Err(io::Error::other(format!(
                "a tag or text of more than {EVENT_MAX} bytes"
            )));
        }
        self.source.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        if let Ok(buffer) = self.source.fill_buf() {
            let eaten = buffer.get(..amount).unwrap_or_default();
            let pieces = eaten.split(|byte| *byte == b'\n').count();
            self.line = self.line.saturating_add(pieces.saturating_sub(1) as u64);
        }
        self.budget = self.budget.saturating_sub(amount);
        self.source.consume(amount);
    }
}
