//! The XML of a message as a tree. It bounds depth and number of elements, takes no DOCTYPE and no
//! entity but the predefined and numeric ones, and never recurses.

use bankd_nami::{MAX_DEPTH, MAX_ELEMENTS, is_character, resolved};
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

use super::Fault;

/// An element. Its text is the text outside of its children, without surrounding white space.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) attributes: Vec<(String, String)>,
    pub(super) text: String,
    pub(super) children: Vec<Element>,
}

impl Element {
    /// The children of a name.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Element> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// An attribute that is not empty.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Its value: its text, or with very old clients its attribute `value`.
    pub(super) fn value(&self) -> &str {
        match self.text.as_str() {
            "" => self.attribute("value").unwrap_or_default(),
            text => text,
        }
    }
}

/// Reads a text that is one element.
pub(super) fn parse(source: &str) -> Result<Element, Fault> {
    let mut reader = Reader::from_str(source);
    reader.config_mut().expand_empty_elements = true;
    let mut walk = Walk::default();
    loop {
        let event = reader.read_event();
        let event = event.map_err(|_| bad("not well-formed"))?;
        match event {
            Event::Start(start) => walk.open(&start)?,
            Event::End(_) => walk.close(),
            Event::Text(text) => walk.text(&text.into_inner())?,
            Event::CData(text) => walk.text(&text.into_inner())?,
            Event::GeneralRef(reference) => {
                let text = resolved(&reference);
                walk.text(&text.ok_or_else(|| bad("an unknown entity"))?)?;
            }
            Event::DocType(_) => return Err(bad("a DOCTYPE is not taken")),
            Event::Eof => break,
            Event::Empty(_) | Event::Comment(_) | Event::PI(_) | Event::Decl(_) => {}
        }
    }
    if !walk.open.is_empty() {
        return Err(bad("cut off inside of an element"));
    }
    walk.root.ok_or_else(|| bad("no element"))
}

/// The elements that are open, the innermost last, and the root once it is closed.
#[derive(Default)]
struct Walk {
    open: Vec<Element>,
    root: Option<Element>,
    elements: u32,
}

impl Walk {
    fn open(&mut self, start: &BytesStart<'_>) -> Result<(), Fault> {
        self.elements += 1;
        let depth = u32::try_from(self.open.len()).unwrap_or(u32::MAX);
        if depth >= MAX_DEPTH {
            return Err(bad(format!("nested deeper than {MAX_DEPTH} elements")));
        }
        if self.elements > MAX_ELEMENTS {
            return Err(bad(format!("more than {MAX_ELEMENTS} elements")));
        }
        if self.root.is_some() {
            return Err(bad("a second root"));
        }
        let mut element = Element {
            name: start.name().into_inner().to_owned(),
            ..Element::default()
        };
        for attribute in start.attributes() {
            let attribute = attribute.map_err(|_| bad("a bad attribute"))?;
            let value = attribute.normalized_value(XmlVersion::Implicit1_0);
            let value = value.map_err(|_| bad("the bad value of an attribute"))?;
            if !value.chars().all(is_character) {
                return Err(bad("a control character"));
            }
            let name = attribute.key.into_inner().to_owned();
            element.attributes.push((name, value.trim().to_owned()));
            if element.attributes.len() > 64 {
                return Err(bad("more than 64 attributes"));
            }
        }
        self.open.push(element);
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), Fault> {
        if !text.chars().all(is_character) {
            return Err(bad("a control character"));
        }
        match self.open.last_mut() {
            Some(element) => element.text.push_str(text),
            None if text.trim().is_empty() => {}
            None => return Err(bad("text outside of the root")),
        }
        Ok(())
    }

    fn close(&mut self) {
        let Some(mut element) = self.open.pop() else {
            return;
        };
        let text = std::mem::take(&mut element.text);
        element.text.push_str(text.trim());
        match self.open.last_mut() {
            Some(parent) => parent.children.push(element),
            None => self.root = Some(element),
        }
    }
}

fn bad(why: impl Into<String>) -> Fault {
    Fault::new("bad_document", why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_keeps_its_contents() {
        let read = parse(
            "<?xml version='1.0'?><!-- x --><Body actor='root'> <A n=\"a &amp; b\"/>\
             <B>  R&amp;D &#x3c;<![CDATA[<&]]> </B></Body>\n",
        );
        let body = read.unwrap();
        assert_eq!(body.attribute("actor"), Some("root"));
        assert_eq!(body.children[0].attribute("n"), Some("a & b"));
        assert_eq!(body.all("B").next().unwrap().value(), "R&D <<&");
        assert_eq!(parse("<A value='x'> </A>").unwrap().value(), "x");
    }

    #[test]
    fn what_is_no_message_is_refused() {
        let deep = format!("{}{}", "<A>".repeat(17), "</A>".repeat(17));
        let many = format!("<A>{}</A>", "<B/>".repeat(2000));
        let wide: Vec<String> = (0..65).map(|n| format!("a{n}='1'")).collect();
        let wide = format!("<A {}/>", wide.join(" "));
        for (source, why) in [
            ("", "no element"),
            ("text", "outside"),
            ("<A>", "cut off"),
            ("<A></B>", "not well-formed"),
            ("<A/><B/>", "second root"),
            ("<!DOCTYPE a [<!ENTITY b 'c'>]><A>&b;</A>", "DOCTYPE"),
            ("<A>&b;</A>", "entity"),
            ("<A>&#0;</A>", "entity"),
            ("<A>\u{1}</A>", "control"),
            ("<A b='\u{1}'/>", "control"),
            ("<A b='1' b='2'/>", "bad attribute"),
            ("<A b='&c;'/>", "bad value"),
            (&deep, "deeper"),
            (&many, "2000 elements"),
            (&wide, "64 attributes"),
        ] {
            let fault = parse(source).unwrap_err();
            assert_eq!(fault.code, "bad_document", "{source:.40}");
            assert!(
                fault.message.contains(why),
                "{source:.40}: {}",
                fault.message
            );
        }
    }
}
