//! Texts as parts of a request's target.

/// Appends a text to a target: the unreserved characters of RFC 3986 as they are, every other byte
/// as `%XX`.
pub fn percent_encode(text: &str, out: &mut String) {
    const HEX: [char; 16] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F',
    ];
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.extend(HEX.get(usize::from(byte >> 4)));
            out.extend(HEX.get(usize::from(byte & 15)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_reserved_is_encoded() {
        let mut out = String::from("/");
        percent_encode("a/b c?é~.-_%", &mut out);
        assert_eq!(out, "/a%2Fb%20c%3F%C3%A9~.-_%25");
    }
}
