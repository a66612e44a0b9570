//! The signature base of RFC 9421, section 2.5: one line per covered component, then the
//! parameters as received.

use super::field::trim;

/// Writes the lines of a signature base.
#[derive(Debug)]
pub(super) struct Base {
    bytes: Vec<u8>,
}

impl Base {
    /// Ours are about 350 bytes; one allocation holds them.
    pub(super) fn new() -> Self {
        Self {
            bytes: Vec::with_capacity(512),
        }
    }

    /// Begins `"<name>": `. The value follows through [`Base::push`].
    pub(super) fn begin(&mut self, name: &str) {
        self.push(b"\"");
        self.push(name.as_bytes());
        self.push(b"\": ");
    }

    pub(super) fn push(&mut self, value: &[u8]) {
        self.bytes.extend_from_slice(value);
    }

    pub(super) fn end(&mut self) {
        self.bytes.push(b'\n');
    }

    /// A whole line.
    pub(super) fn line(&mut self, name: &str, value: &[u8]) {
        self.begin(name);
        self.push(value);
        self.end();
    }

    /// The line of a plain header field: all its values, trimmed and joined. False if there is no
    /// such field.
    pub(super) fn field<'a>(
        &mut self,
        name: &str,
        headers: impl Iterator<Item = (&'a str, &'a [u8])>,
    ) -> bool {
        let mut found = false;
        for (_, value) in headers.filter(|(header, _)| header.eq_ignore_ascii_case(name)) {
            if found {
                self.push(b", ");
            } else {
                self.begin(name);
            }
            self.push(trim(value));
            found = true;
        }
        if found {
            self.end();
        }
        found
    }

    /// The last line, which has no line feed, and with it the whole base.
    pub(super) fn finish(mut self, parameters: &[u8]) -> Vec<u8> {
        self.begin("@signature-params");
        self.push(parameters);
        self.bytes
    }
}
