//! XML as a tree: answers are read with it, and texts of requests are escaped.

use std::fmt::Write as _;

use quick_xml::{
    XmlVersion,
    events::{BytesRef, BytesStart, Event},
    reader::Reader,
};

/// The deepest nesting that is read.
const DEPTH_MAX: usize = 16;

/// An element: its text without that of its children.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) attributes: Vec<(String, String)>,
    pub(super) text: String,
    pub(super) children: Vec<Element>,
}

impl Element {
    /// The first child of a name.
    pub(super) fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }

    /// The text of the first child of a name; empty without one.
    pub(super) fn value(&self, name: &str) -> &str {
        self.child(name).map_or("", |child| child.text.as_str())
    }

    /// The text with that of all elements inside.
    pub(super) fn content(&self) -> String {
        let inner = self.children.iter().map(Self::content);
        self.text.clone() + &inner.collect::<String>()
    }
}

/// Reads a text that is one element. The error is the reason.
pub(super) fn parse(source: &str) -> Result<Element, String> {
    let mut reader = Reader::from_str(source);
    reader.config_mut().expand_empty_elements = true;
    let mut open: Vec<Element> = Vec::new();
    let mut root = None;
    loop {
        let event = reader
            .read_event()
            .map_err(|error| format!("not well-formed: {error}"))?;
        match event {
            Event::Start(start) if open.len() < DEPTH_MAX => open.push(element(&start)?),
            Event::Start(_) => return Err(format!("nested deeper than {DEPTH_MAX} elements")),
            Event::End(_) => {
                let closed = open.pop();
                match open.last_mut() {
                    Some(parent) => parent.children.extend(closed),
                    None => root = closed,
                }
            }
            Event::Text(text) => push(&mut open, &text.into_inner()),
            Event::CData(text) => push(&mut open, &text.into_inner()),
            Event::GeneralRef(reference) => push(&mut open, &resolved(&reference)?),
            Event::DocType(_) => return Err("it has a DOCTYPE".to_owned()),
            Event::Eof => break,
            Event::Empty(_) | Event::Comment(_) | Event::PI(_) | Event::Decl(_) => {}
        }
    }
    if !open.is_empty() {
        return Err("it ends inside of an element".to_owned());
    }
    root.ok_or_else(|| "it has no element".to_owned())
}

fn element(start: &BytesStart<'_>) -> Result<Element, String> {
    let mut element = Element {
        name: start.name().into_inner().to_owned(),
        ..Element::default()
    };
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|error| format!("a bad attribute: {error}"))?;
        let value = attribute
            .normalized_value(XmlVersion::Implicit1_0)
            .map_err(|error| format!("a bad attribute: {error}"))?;
        let name = attribute.key.into_inner().to_owned();
        element.attributes.push((name, value.into_owned()));
    }
    Ok(element)
}

fn push(open: &mut [Element], text: &str) {
    if let Some(element) = open.last_mut() {
        element.text.push_str(text);
    }
}

fn resolved(reference: &BytesRef<'_>) -> Result<String, String> {
    let known = match &**reference {
        "lt" => "<",
        "gt" => ">",
        "amp" => "&",
        "quot" => "\"",
        "apos" => "'",
        name => {
            let found = reference.resolve_char_ref().ok().flatten();
            let found = found.map(|c| c.to_string());
            return found.ok_or_else(|| format!("an unknown entity &{name};"));
        }
    };
    Ok(known.to_owned())
}

/// A text as the content of an element or of an attribute.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\n' | '\r' | '\t' => {
                let _ = write!(out, "&#{};", u32::from(c));
            }
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_keeps_its_texts() {
        let read = parse("<?xml version='1.0'?><A b=\"x &amp; y\"><B>R&amp;D &#60;</B><C/>t</A>");
        let read = read.unwrap();
        assert_eq!(read.attributes, [("b".to_owned(), "x & y".to_owned())]);
        assert_eq!(read.value("B"), "R&D <");
        assert_eq!(read.value("C"), "");
        assert_eq!(read.content(), "tR&D <");
    }

    #[test]
    fn what_is_no_tree_is_refused() {
        for source in ["", "<A>", "<A></B>", "<!DOCTYPE a><A/>", "<A>&x;</A>"] {
            assert!(parse(source).is_err(), "{source}");
        }
        let deep = "<A>".repeat(17) + &"</A>".repeat(17);
        assert!(parse(&deep).is_err());
    }

    #[test]
    fn an_escaped_text_is_read_as_it_was() {
        let text = "a<b>&\"c'\n d";
        let read = parse(&format!("<A n=\"{0}\">{0}</A>", escaped(text))).unwrap();
        assert_eq!(read.text, text);
        assert_eq!(read.attributes[0].1, text);
    }
}
