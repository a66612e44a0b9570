//! Repairs text from Maui that is invalid XML, after the signature was verified (`gold-wire.md` 5.1): a `&`
//! without a reference, and the byte 0x0E in place of `<`.

use std::borrow::Cow;

/// Longest reference that is looked for, such as `&#x10FFFF;`.
const REFERENCE_MAX: usize = 12;
const CDATA: (&str, &str) = ("<![CDATA[", "]]>");

/// The text as XML; unchanged if it is valid.
pub(super) fn repaired(text: &str) -> Cow<'_, str> {
    if !text.contains(['&', '\u{0e}']) {
        return Cow::Borrowed(text);
    }
    let mut right = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(at) = rest.find(['&', '\u{0e}', '<']) {
        let (before, from) = rest.split_at(at);
        right.push_str(before);
        // Text in a CDATA section is literal.
        let section = from.starts_with(CDATA.0).then(|| from.find(CDATA.1));
        let (taken, put) = match section {
            Some(end) => {
                let end = end.map_or(from.len(), |end| end + CDATA.1.len());
                (end, from.get(..end).unwrap_or(from))
            }
            None if from.starts_with('<') => (1, "<"),
            None if from.starts_with('\u{0e}') => (1, "&lt;"),
            None if is_reference(from) => (1, "&"),
            None => (1, "&amp;"),
        };
        right.push_str(put);
        rest = from.get(taken..).unwrap_or_default();
    }
    right.push_str(rest);
    Cow::Owned(right)
}

/// Whether a text that begins with `&` begins with one of the five entities or with a character reference.
fn is_reference(text: &str) -> bool {
    let bytes = text.as_bytes();
    let near = bytes
        .get(1..bytes.len().min(REFERENCE_MAX))
        .unwrap_or_default();
    let Some(end) = near.iter().position(|byte| *byte == b';') else {
        return false;
    };
    match near.get(..end).unwrap_or_default() {
        b"amp" | b"lt" | b"gt" | b"quot" | b"apos" => true,
        [b'#', b'x', digits @ ..] => all(digits, u8::is_ascii_hexdigit),
        [b'#', digits @ ..] => all(digits, u8::is_ascii_digit),
        _ => false,
    }
}

fn all(digits: &[u8], are: impl Fn(&u8) -> bool) -> bool {
    !digits.is_empty() && digits.iter().all(are)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_no_xml_is_put_right() {
        for (sent, right) in [
            ("<A>chem</A>", "<A>chem</A>"),
            ("<A>R&D</A>", "<A>R&amp;D</A>"),
            ("<A>R&amp;D</A>", "<A>R&amp;D</A>"),
            ("<A>&lt;&gt;&quot;&apos;</A>", "<A>&lt;&gt;&quot;&apos;</A>"),
            ("<A>&#38;&#x26;</A>", "<A>&#38;&#x26;</A>"),
            (
                "<A>&#;&#x;&#xg;&#3a;</A>",
                "<A>&amp;#;&amp;#x;&amp;#xg;&amp;#3a;</A>",
            ),
            ("<A>&nbsp;&&</A>", "<A>&amp;nbsp;&amp;&amp;</A>"),
            ("<A>a\u{0e}b</A>", "<A>a&lt;b</A>"),
            ("<A x=\"1&2\">é&ü</A>", "<A x=\"1&amp;2\">é&amp;ü</A>"),
            ("<![CDATA[R&D]]>&", "<![CDATA[R&D]]>&amp;"),
            ("<![CDATA[R&D", "<![CDATA[R&D"),
            ("&", "&amp;"),
            ("&#1234567890123;", "&amp;#1234567890123;"),
        ] {
            assert_eq!(repaired(sent), right);
        }
    }
}
