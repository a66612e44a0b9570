//! `Content-Digest` (RFC 9530) as far as the profile uses it: SHA-256, other algorithms ignored.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use super::field::{Cursor, Malformed, decode_32};

/// The value of a `Content-Digest` header for this body.
pub fn content_digest(body: &[u8]) -> String {
    let mut text = String::with_capacity(54);
    text.push_str("sha-256=:");
    STANDARD.encode_string(Sha256::digest(body), &mut text);
    text.push(':');
    text
}

/// Whether the field contains a `sha-256` that matches the body (`http-auth.md` 1). Of repeated `sha-256`
/// entries the last one counts, as in dictionaries of structured fields.
pub(super) fn matches(field: &[u8], body: &[u8]) -> bool {
    let Ok(Some(expected)) = sha256_of(field) else {
        return false;
    };
    Sha256::digest(body).as_slice() == expected
}

fn sha256_of(field: &[u8]) -> Result<Option<[u8; 32]>, Malformed> {
    let mut cursor = Cursor::new(field);
    let mut found = None;
    loop {
        let name = cursor.key()?;
        cursor.expect(b'=')?;
        let encoded = cursor.byte_sequence()?;
        cursor.skip_parameters()?;
        if name == "sha-256" {
            found = Some(decode_32(encoded).ok_or(Malformed)?);
        }
        if !cursor.next_member()? {
            return Ok(found);
        }
    }
}
