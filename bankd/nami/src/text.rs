//! Characters, entities and white space of XML texts.

use std::borrow::Cow;

use quick_xml::events::{BytesRef, Event};
use quick_xml::reader::Reader;

/// The predefined entities and character references, and no other.
pub fn resolved(reference: &BytesRef<'_>) -> Option<Cow<'static, str>> {
    Some(match &**reference {
        "lt" => Cow::Borrowed("<"),
        "gt" => Cow::Borrowed(">"),
        "amp" => Cow::Borrowed("&"),
        "quot" => Cow::Borrowed("\""),
        "apos" => Cow::Borrowed("'"),
        _ => {
            let resolved = reference.resolve_char_ref().ok()?;
            let c = resolved.filter(|c| is_character(*c))?;
            Cow::Owned(c.to_string())
        }
    })
}

/// The text of a source that is text alone; none if it contains an element.
pub(super) fn unescaped(source: &str) -> Option<Cow<'_, str>> {
    if !source.contains(['<', '&']) {
        return Some(Cow::Borrowed(source));
    }
    let mut reader = Reader::from_str(source);
    let mut unescaped = String::with_capacity(source.len());
    loop {
        match reader.read_event().ok()? {
            Event::Text(text) => unescaped.push_str(&text.into_inner()),
            Event::CData(text) => unescaped.push_str(&text.into_inner()),
            Event::GeneralRef(reference) => unescaped.push_str(&resolved(&reference)?),
            Event::Comment(_) | Event::PI(_) => {}
            Event::Eof => return Some(Cow::Owned(unescaped)),
            _ => return None,
        }
    }
}

/// White space of XML.
pub(super) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

/// White space, or the byte order mark of a document that was joined to
/// another.
pub(super) fn is_blank(text: &str) -> bool {
    text.trim_ascii().trim_matches('\u{feff}').is_empty()
}

/// A character that XML 1.0 allows.
pub fn is_character(c: char) -> bool {
    (c >= ' ' || is_space(c)) && !matches!(c, '\u{fffe}' | '\u{ffff}')
}

/// Without the white space around it.
pub(super) fn trimmed(value: Cow<'_, str>) -> Cow<'_, str> {
    match value {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim_matches(is_space)),
        Cow::Owned(text) => {
            let inner = text.trim_matches(is_space);
            if inner.len() == text.len() {
                Cow::Owned(text)
            } else {
                Cow::Owned(inner.to_owned())
            }
        }
    }
}
