//! A feed as XML (Atom, RFC 4287).

use std::io;

use bank_api::text::format_rfc3339;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use super::target::Target;

/// An entry of a feed.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The part of its id after the origin of the pages.
    pub(crate) id: String,
    pub(crate) title: String,
    /// RFC 3339.
    pub(crate) at: String,
    pub(crate) text: String,
    /// The page about it.
    pub(crate) page: Target,
}

/// The feed as RFC 4287 has it.
pub(crate) fn feed(origin: &str, person: &str, now: i64, entries: &[Entry]) -> io::Result<Vec<u8>> {
    let at = format_rfc3339(now);
    let updated = entries
        .first()
        .map_or(at.as_str(), |entry| entry.at.as_str());
    let mut xml = Writer::new(Vec::new());
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("utf-8"), None)))?;
    let feed = xml
        .create_element("feed")
        .with_attribute(("xmlns", "http://www.w3.org/2005/Atom"));
    feed.write_inner_content(|xml| {
        text(xml, "id", &format!("{origin}/notices#{person}"))?;
        text(xml, "title", &format!("Notices of the bank for {person}"))?;
        text(xml, "updated", updated)?;
        xml.create_element("author")
            .write_inner_content(|xml| text(xml, "name", "bankd"))?;
        for entry in entries {
            xml.create_element("entry").write_inner_content(|xml| {
                text(xml, "id", &format!("{origin}/{}", entry.id))?;
                text(xml, "title", &entry.title)?;
                text(xml, "updated", &entry.at)?;
                text(xml, "summary", &entry.text)?;
                let page = format!("{origin}{}", entry.page.as_str());
                xml.create_element("link")
                    .with_attribute(("href", page.as_str()))
                    .write_empty()?;
                Ok(())
            })?;
        }
        Ok(())
    })?;
    Ok(xml.into_inner())
}

fn text(xml: &mut Writer<Vec<u8>>, element: &str, text: &str) -> io::Result<()> {
    // Control characters have no place in XML 1.0.
    let text: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    xml.create_element(element)
        .write_text_content(BytesText::new(&text))?;
    Ok(())
}
