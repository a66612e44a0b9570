//! Keys and numbers of requests that are UUIDs, in 16 bytes. A UUID in any other form than 36 lower-case characters is
//! a text like any other.

use super::{Error, codec, seal};
use rusqlite::Row;
use rusqlite::types::ValueRef;

/// Bytes of a UUID.
pub(super) const BYTES: usize = 16;

/// The 16 bytes of a UUID.
pub(super) fn bytes(text: &str) -> Option<[u8; BYTES]> {
    let text: &[u8; 36] = text.as_bytes().try_into().ok()?;
    let mut bytes = [0; BYTES];
    let mut digits = 0_usize;
    for (place, character) in text.iter().enumerate() {
        if matches!(place, 8 | 13 | 18 | 23) {
            if *character != b'-' {
                return None;
            }
            continue;
        }
        let digit = match character {
            b'0'..=b'9' => character - b'0',
            b'a'..=b'f' => character - b'a' + 10,
            _ => return None,
        };
        let byte = bytes.get_mut(digits / 2)?;
        *byte = (*byte << 4) | digit;
        digits += 1;
    }
    Some(bytes)
}

/// The text of 16 bytes.
pub(super) fn text(bytes: &[u8; BYTES]) -> String {
    let mut text = codec::hex(bytes);
    for dash in [8, 13, 18, 23] {
        text.insert(dash, '-');
    }
    text
}

/// A text of a transaction that is a UUID in its second column, or any text in its first. Both are an error.
pub(super) fn column(
    row: &Row<'_>,
    (plain, uuid): (usize, usize),
) -> Result<Option<String>, Error> {
    let plain: Option<String> = row.get(plain)?;
    let Some(bytes) = row.get::<_, Option<[u8; BYTES]>>(uuid)? else {
        return Ok(plain);
    };
    match plain.as_deref() {
        None | Some("") => Ok(Some(text(&bytes))),
        Some(_) => Err(Error::Value {
            what: "a text beside its UUID",
            value: text(&bytes),
        }),
    }
}

/// Bits of a checksum in a [`place`].
const CHECKSUM_BITS: u32 = 15;

/// Where a UUID of version 7 is in the order of time: its milliseconds, then bits of a checksum, so that few others of
/// the same millisecond have the same place.
pub(super) fn place(bytes: &[u8; BYTES]) -> Option<i64> {
    let first = u64::from_be_bytes(*bytes.first_chunk()?);
    // 48 bits of milliseconds, and 4 of the version.
    if (first >> 12) & 0xf != 7 {
        return None;
    }
    let millis = i64::try_from(first >> 16).ok()?;
    let checksum = seal::of_refs(std::iter::once(ValueRef::Blob(bytes)));
    Some((millis << CHECKSUM_BITS) | (checksum & ((1 << CHECKSUM_BITS) - 1)))
}

/// A text that no UUID up to a place is greater than.
pub(super) fn bound(place: i64) -> String {
    let time = format!("{:012x}", place >> CHECKSUM_BITS);
    let (first, second) = time.split_at_checked(8).unwrap_or((&time, ""));
    format!("{first}-{second}-7fff-ffff-ffffffffffff")
}

#[cfg(test)]
mod tests {
    use super::*;

    const UUID: &str = "01938a2b-00ff-7000-8000-0123456789ab";

    #[test]
    fn only_the_usual_form_is_a_uuid() {
        let read = bytes(UUID).unwrap();
        assert_eq!(read[..4], [0x01, 0x93, 0x8a, 0x2b]);
        assert_eq!(read[15], 0xab);
        assert_eq!(text(&read), UUID);
        for other in [
            "",
            "01938A2B-00ff-7000-8000-0123456789ab",
            "01938a2b-00ff-7000-8000-0123456789abc",
            "01938a2b000ff-7000-8000-0123456789ab",
            "01938a2b-00ff-7000-8000-0123456789a-",
            "é1938a2b-00ff-7000-8000-0123456789a",
        ] {
            assert_eq!(bytes(other), None, "{other}");
        }
    }

    #[test]
    fn places_are_in_the_order_of_time() {
        let place = |text: &str| place(&bytes(text).unwrap());
        let next = "01938a2b-0100-7000-8000-0123456789ab";
        assert!(place(UUID).unwrap() < place(next).unwrap());
        assert_eq!(place(UUID).unwrap() >> 15, 0x0193_8a2b_00ff);
        assert_eq!(place("01938a2b-00ff-4000-8000-0123456789ab"), None);
        for uuid in [UUID, "ffffffff-ffff-7fff-ffff-ffffffffffff"] {
            assert!(uuid <= bound(place(uuid).unwrap()).as_str());
        }
        assert!(bound(place(UUID).unwrap()).as_str() < next);
        let near = (0..1000).map(|n| place(&format!("01938a2b-0100-7000-8000-{n:012x}")));
        assert!(near.collect::<std::collections::HashSet<_>>().len() > 950);
    }
}
