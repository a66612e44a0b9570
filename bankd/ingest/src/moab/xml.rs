//! Lines of XML: a job as Moab prints one, or as the job object of SSS has it, alone or inside of an
//! event. No DOCTYPE, no entity but the predefined and numeric ones, bounded depth and count.

use quick_xml::XmlVersion;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::reader::Reader;

use super::named::{Contents, Values, say};

/// Elements inside of elements.
const DEPTH_MAX: usize = 16;

/// Elements and attributes of a line.
const NAMES_MAX: usize = 4_096;

/// Elements of a part of the job: the number of tasks, and the resources of one.
const PARTS: [&str; 3] = ["req", "taskgroup", "task"];

/// Names of the element around the job that contains the event.
const EVENTS: [&str; 4] = ["event", "eventtype", "objectevent", "type"];

/// Reads a line.
///
/// # Errors
/// If it is not one well-formed element, or contains several jobs.
pub(super) fn contents(text: &str) -> Result<Contents, String> {
    let mut reader = Reader::from_str(text);
    reader.config_mut().expand_empty_elements = true;
    let mut walk = Walk::default();
    loop {
        match reader.read_event().map_err(|_| bad("not well-formed"))? {
            Event::Start(start) => walk.open(&start)?,
            Event::End(_) => walk.close(),
            Event::Text(text) => walk.text(&text.into_inner())?,
            Event::CData(text) => walk.text(&text.into_inner())?,
            Event::GeneralRef(reference) => walk.reference(&reference)?,
            Event::DocType(_) => return Err(bad("a DOCTYPE is not taken")),
            Event::Eof => break,
            Event::Empty(_) | Event::Comment(_) | Event::PI(_) | Event::Decl(_) => {}
        }
    }
    walk.end()
}

/// The open elements, and the values so far.
#[derive(Default)]
struct Walk {
    open: Vec<Element>,
    root: Option<String>,
    jobs: usize,
    names: usize,
    around: Values,
    job: Values,
    parts: Vec<Values>,
}

/// An element that is open.
struct Element {
    name: String,
    text: String,
    place: Place,
}

/// Subject of an element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Around,
    Job,
    Part,
}

impl Walk {
    fn open(&mut self, start: &BytesStart<'_>) -> Result<(), String> {
        let name = start.name().into_inner().to_ascii_lowercase();
        let outer = self.open.last().map(|element| element.place);
        let place = match outer.unwrap_or(Place::Around) {
            Place::Around if name == "job" => {
                self.jobs = self.jobs.saturating_add(1);
                Place::Job
            }
            Place::Job if PARTS.contains(&name.as_str()) => {
                self.parts.push(Values::new());
                Place::Part
            }
            outer => outer,
        };
        self.names = self.names.saturating_add(1);
        match (&self.root, self.open.len()) {
            (Some(_), 0) => return Err(bad("a second element")),
            (None, _) => self.root = Some(name.clone()),
            (_, DEPTH_MAX..) => return Err(bad("nested too deep")),
            _ => {}
        }
        for attribute in start.attributes() {
            let attribute = attribute.map_err(|_| bad("a bad attribute"))?;
            let value = attribute.normalized_value(XmlVersion::Implicit1_0);
            let value = value.map_err(|_| bad("the bad value of an attribute"))?;
            self.names = self.names.saturating_add(1);
            if let Some(values) = self.values(place) {
                say(values, attribute.key.into_inner(), &value);
            }
        }
        if self.names > NAMES_MAX {
            return Err(bad("too many elements and attributes"));
        }
        self.open.push(Element {
            name,
            text: String::new(),
            place,
        });
        Ok(())
    }

    fn values(&mut self, place: Place) -> Option<&mut Values> {
        match place {
            Place::Around => Some(&mut self.around),
            Place::Job => Some(&mut self.job),
            Place::Part => self.parts.last_mut(),
        }
    }

    fn text(&mut self, text: &str) -> Result<(), String> {
        match self.open.last_mut() {
            Some(element) => element.text.push_str(text),
            None if text.trim().is_empty() => {}
            None => return Err(bad("text outside of the element")),
        }
        Ok(())
    }

    fn reference(&mut self, reference: &BytesRef<'_>) -> Result<(), String> {
        let known = match &**reference {
            "lt" => Some('<'),
            "gt" => Some('>'),
            "amp" => Some('&'),
            "quot" => Some('"'),
            "apos" => Some('\''),
            _ => reference.resolve_char_ref().ok().flatten(),
        };
        let known = known.ok_or_else(|| bad("an unknown entity"))?;
        self.text(known.encode_utf8(&mut [0; 4]))
    }

    fn close(&mut self) {
        if let Some(element) = self.open.pop()
            && !element.text.trim().is_empty()
            && let Some(values) = self.values(element.place)
        {
            say(values, &element.name, &element.text);
        }
    }

    fn end(self) -> Result<Contents, String> {
        if !self.open.is_empty() {
            return Err(bad("cut off inside of an element"));
        }
        let root = self.root.ok_or_else(|| bad("no element"))?;
        let event = EVENTS.iter().find_map(|name| self.around.get(*name));
        let event = event.map(|event| event.to_ascii_lowercase());
        let object = match self.jobs {
            0 => root,
            1 => "job".to_owned(),
            _ => return Err(bad("several jobs in one line")),
        };
        Ok(Contents {
            object,
            event: event.or_else(|| {
                self.job
                    .get("event")
                    .map(|event| event.to_ascii_lowercase())
            }),
            values: self.job,
            parts: self.parts,
        })
    }
}

fn bad(why: &str) -> String {
    format!("XML: {why}")
}
