//! Data of a certificate that the TLS library does not provide: the common name of its subject, which
//! identifies the caller, and its validity (RFC 5280, 4.1).
//!
//! This module verifies nothing. Its callers must verify the chain first.

use chrono::NaiveDate;

/// Longest name in bytes. RFC 5280 allows 64 characters.
const NAME_MAX: usize = 256;
/// `id-at-commonName`, 2.5.4.3.
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const OID: u8 = 0x06;
const VERSION: u8 = 0xa0;

/// Content of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// The common name of its subject; `None` without one, with several, or if it is not clearly readable.
    pub name: Option<String>,
    /// Since when it holds, in seconds since 1970.
    pub since_s: i64,
    /// The last second in which it holds.
    pub until_s: i64,
}

impl Certificate {
    /// Reads one, DER-encoded. None if it is no certificate of X.509.
    pub fn read(der: &[u8]) -> Option<Self> {
        let mut whole = Der(der).only(SEQUENCE)?;
        let mut body = whole.take(SEQUENCE)?;
        if body.peek() == Some(VERSION) {
            body.next()?;
        }
        // The serial number, the algorithm of the signature, the issuer.
        for _ in 0..3 {
            body.next()?;
        }
        let mut validity = body.take(SEQUENCE)?;
        let since_s = instant(validity.next()?)?;
        let until_s = instant(validity.next()?)?;
        let name = match common_names(body.take(SEQUENCE)?)?.as_mut_slice() {
            [only] => only.take(),
            _ => None,
        };
        Some(Self {
            name,
            since_s,
            until_s,
        })
    }
}

/// All common names of a subject, `None` for each invalid one. `None` if the subject cannot be read.
fn common_names(mut subject: Der<'_>) -> Option<Vec<Option<String>>> {
    let mut names = Vec::new();
    while !subject.is_empty() {
        let mut part = subject.take(SET)?;
        while !part.is_empty() {
            let mut pair = part.take(SEQUENCE)?;
            let (tag, kind) = pair.next()?;
            if tag == OID && kind == COMMON_NAME {
                names.push(text(pair.next()?));
            }
        }
    }
    Some(names)
}

/// A text in one of the encodings that a name may have. One with control characters, or with space
/// around it, could be taken for another.
fn text((tag, bytes): (u8, &[u8])) -> Option<String> {
    let text = match tag {
        // UTF8String, PrintableString, IA5String.
        0x0c | 0x13 | 0x16 => str::from_utf8(bytes).ok()?.to_owned(),
        // TeletexString, as everybody reads it: Latin-1.
        0x14 => bytes.iter().map(|byte| char::from(*byte)).collect(),
        // BMPString.
        0x1e => {
            let units = bytes.chunks(2).map(|unit| match *unit {
                [high, low] => u16::from_be_bytes([high, low]),
                // Half a unit: never a valid text.
                _ => 0xd800,
            });
            let units: Vec<u16> = units.collect();
            String::from_utf16(&units).ok()?
        }
        _ => return None,
    };
    let fits = (1..=NAME_MAX).contains(&text.len());
    let plain = !text.contains(char::is_control) && text.trim() == text;
    (fits && plain).then_some(text)
}

/// `UTCTime` or `GeneralizedTime`, as RFC 5280 has them: UTC, with seconds, without fractions.
fn instant((tag, bytes): (u8, &[u8])) -> Option<i64> {
    let text = str::from_utf8(bytes).ok()?.strip_suffix('Z')?;
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (year, rest) = match tag {
        0x17 if text.len() == 12 => {
            let (year, rest) = text.split_at(2);
            let year: i32 = year.parse().ok()?;
            (if year < 50 { 2000 + year } else { 1900 + year }, rest)
        }
        0x18 if text.len() == 14 => {
            let (year, rest) = text.split_at(4);
            (year.parse().ok()?, rest)
        }
        _ => return None,
    };
    let two = |at: usize| rest.get(at..at + 2)?.parse::<u32>().ok();
    let day = NaiveDate::from_ymd_opt(year, two(0)?, two(2)?)?;
    let time = day.and_hms_opt(two(4)?, two(6)?, two(8)?)?;
    Some(time.and_utc().timestamp())
}

/// Values of DER, one after the other.
#[derive(Clone, Copy)]
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The tag of the next value.
    fn peek(&self) -> Option<u8> {
        self.0.first().copied()
    }

    /// The next value: its tag and its content.
    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (tag, rest) = self.0.split_first()?;
        let (first, rest) = rest.split_first()?;
        let (length, rest) = match *first {
            short @ 0..=0x7f => (usize::from(short), rest),
            // Up to four bytes of length: more than any certificate needs.
            long @ 0x81..=0x84 => {
                let (digits, rest) = rest.split_at_checked(usize::from(long & 0x7f))?;
                let length = digits
                    .iter()
                    .fold(0_usize, |sum, digit| (sum << 8) | usize::from(*digit));
                (length, rest)
            }
            // Longer, or without a length beforehand, which is BER and not DER.
            _ => return None,
        };
        let (value, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((*tag, value))
    }

    /// The content of the next value, if it has this tag.
    fn take(&mut self, tag: u8) -> Option<Der<'a>> {
        let (found, value) = self.next()?;
        (found == tag).then_some(Der(value))
    }

    /// The same, if nothing follows.
    fn only(mut self, tag: u8) -> Option<Der<'a>> {
        let value = self.take(tag)?;
        self.is_empty().then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A value of DER.
    fn der(tag: u8, value: &[u8]) -> Vec<u8> {
        let length = value.len();
        let mut bytes = vec![tag];
        if let Ok(short @ 0..=0x7f) = u8::try_from(length) {
            bytes.push(short);
        } else {
            bytes.push(0x82);
            bytes.extend(u16::try_from(length).unwrap().to_be_bytes());
        }
        bytes.extend(value);
        bytes
    }

    fn pair(oid: &[u8], tag: u8, value: &[u8]) -> Vec<u8> {
        let content = [der(OID, oid), der(tag, value)].concat();
        der(SET, &der(SEQUENCE, &content))
    }

    fn certificate(subject: &[u8], times: [(u8, &str); 2]) -> Vec<u8> {
        let validity: Vec<u8> = times
            .iter()
            .flat_map(|(tag, time)| der(*tag, time.as_bytes()))
            .collect();
        let body = [
            der(VERSION, &[2, 1, 2]),
            der(2, &[1]),
            der(SEQUENCE, &[]),
            der(SEQUENCE, &pair(COMMON_NAME, 0x0c, b"the CA")),
            der(SEQUENCE, &validity),
            der(SEQUENCE, subject),
            der(SEQUENCE, &[7; 200]),
        ];
        let signed = [der(SEQUENCE, &body.concat()), der(3, &[0; 70])].concat();
        der(SEQUENCE, &signed)
    }

    const TIMES: [(u8, &str); 2] = [(0x17, "700101000010Z"), (0x18, "20500101000000Z")];

    fn name_of(subject: &[u8]) -> Option<String> {
        Certificate::read(&certificate(subject, TIMES))
            .unwrap()
            .name
    }

    #[test]
    fn a_certificate_contains_its_name_and_its_time() {
        let subject = [
            pair(&[0x55, 0x04, 0x0a], 0x13, b"Example"),
            pair(COMMON_NAME, 0x0c, "häufchen.collector".as_bytes()),
        ];
        let read = Certificate::read(&certificate(&subject.concat(), TIMES)).unwrap();
        assert_eq!(read.name.as_deref(), Some("häufchen.collector"));
        assert_eq!((read.since_s, read.until_s), (10, 2_524_608_000));
    }

    #[test]
    fn a_name_is_read_in_every_encoding_that_is_in_use() {
        for (tag, bytes, name) in [
            (0x13, &b"collector"[..], Some("collector")),
            (0x16, b"collector", Some("collector")),
            (0x14, b"caf\xe9", Some("caf\u{e9}")),
            (0x1e, b"\0a\0b", Some("ab")),
            (0x1e, b"\0a\0", None),
            (0x1c, b"\0\0\0a", None),
            (0x0c, b"\xff", None),
            (0x0c, b"", None),
            (0x0c, b"admin\0.example", None),
            (0x0c, b"admin\n", None),
            (0x0c, b" admin", None),
            (0x0c, &[b'a'; 257], None),
        ] {
            let found = name_of(&pair(COMMON_NAME, tag, bytes));
            assert_eq!(found.as_deref(), name, "{tag:x} {bytes:?}");
        }
    }

    #[test]
    fn a_subject_without_one_name_names_nobody() {
        assert_eq!(name_of(&[]), None);
        assert_eq!(name_of(&pair(&[0x55, 0x04, 0x0a], 0x0c, b"Example")), None);
        let two = [pair(COMMON_NAME, 0x0c, b"a"), pair(COMMON_NAME, 0x0c, b"b")];
        assert_eq!(name_of(&two.concat()), None);
        // Two in one set.
        let one = der(SEQUENCE, &[der(OID, COMMON_NAME), der(0x0c, b"a")].concat());
        assert_eq!(name_of(&der(SET, &[one.clone(), one].concat())), None);
    }

    #[test]
    fn what_is_no_certificate_is_none() {
        let good = certificate(&pair(COMMON_NAME, 0x0c, b"a"), TIMES);
        assert!(Certificate::read(&good).is_some());
        for cut in 0..good.len() {
            assert_eq!(Certificate::read(&good[..cut]), None, "cut at {cut}");
        }
        assert_eq!(Certificate::read(&[&good[..], &[0]].concat()), None);
        for times in [
            [(0x17, "700101000010+0100"), TIMES[1]],
            [(0x17, "701301000010Z"), TIMES[1]],
            [(0x18, "2050010100000Z"), TIMES[1]],
            [(0x17, "7+0101000010Z"), TIMES[1]],
            [(0x0c, "700101000010Z"), TIMES[1]],
        ] {
            assert_eq!(
                Certificate::read(&certificate(&[], times)),
                None,
                "{times:?}"
            );
        }
    }

    /// Whatever a byte is changed into, reading ends without a panic.
    #[test]
    fn changed_bytes_are_read_or_not() {
        let good = certificate(&pair(COMMON_NAME, 0x0c, b"a"), TIMES);
        let mut unread = 0;
        for at in 0..good.len() {
            for byte in [0, 1, 0x30, 0x7f, 0x80, 0x81, 0x84, 0x85, 0xff] {
                let mut changed = good.clone();
                changed[at] = byte;
                unread += u32::from(Certificate::read(&changed).is_none());
            }
        }
        assert!(unread > 100, "{unread}");
    }
}
