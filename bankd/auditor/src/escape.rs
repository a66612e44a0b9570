//! Percent encoding, undone.

/// A text with its `%XX` decoded; `None` for invalid UTF-8, or a `%` without digits.
pub(super) fn decoded(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes().iter();
    while let Some(&byte) = rest.next() {
        if byte == b'%' {
            let high = char::from(*rest.next()?).to_digit(16)?;
            let low = char::from(*rest.next()?).to_digit(16)?;
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_undone() {
        for (text, meant) in [
            ("", Some("")),
            ("a+b", Some("a+b")),
            ("a%2Fb%23%25", Some("a/b#%")),
            ("%c3%A4", Some("ä")),
            ("%", None),
            ("%2", None),
            ("%zz", None),
            ("%c3", None),
        ] {
            assert_eq!(decoded(text).as_deref(), meant, "{text}");
        }
    }
}
