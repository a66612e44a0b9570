//! Answers in fewer bytes: their frequent phrases are one byte each, and their numbers are binary.
//!
//! A packed answer is read back byte by byte as it was, because nothing but ASCII is packed, and each part has one
//! reading. The phrases are part of the stored format: further ones are added at the end, and none is ever changed.

/// Phrases of answers, a byte each from [`PHRASE`] on.
const PHRASES: [&str; 62] = [
    " credits\n",
    " credits",
    " credits, balance ",
    "ok ",
    "ok lien ",
    "ok charged ",
    "warning ",
    "refused ",
    "error ",
    ", balance ",
    ", have ",
    "insufficient_funds: need ",
    "charge_debt: ",
    " not covered\n",
    "fallback: ",
    " is short, lien ",
    " on ",
    "unpriced: no rate matches this usage, charged 0",
    "strict mode would refuse: ",
    "nothing to hold\n",
    "start after the end, nothing held\n",
    "an allocation ends before it\n",
    "deleted",
    " released",
    "lien ",
    "charged ",
    "not_allowed: ",
    "{\"transaction\":",
    ",\"transaction\":",
    "\"transaction\":",
    ",\"amount\":\"",
    ",\"amount\":",
    ",\"balance\":\"",
    ",\"balance\":",
    ",\"account\":\"",
    ",\"account\":",
    ",\"project\":\"",
    ",\"user\":\"",
    ",\"machine\":\"",
    ",\"lien\":",
    ",\"instance\":",
    ",\"allocation\":",
    ",\"allocations\":[",
    ",\"accounts\":[",
    ",\"start\":\"",
    ",\"end\":\"",
    ",\"billing\":\"",
    "\"billed\"",
    ":null",
    ":true",
    ":false",
    "null",
    "{\"id\":",
    ",\"id\":",
    "\",\"",
    "\":\"",
    "\":",
    ",\"",
    "{\"",
    "\"}",
    "}]",
    "{\"type\":\"",
];

/// Which phrases begin with a character: a bit each.
const BEGINNINGS: [u128; 128] = {
    let mut all = [0; 128];
    let mut n = 0;
    while n < PHRASES.len() {
        #[expect(
            clippy::indexing_slicing,
            reason = "in a constant, whose bounds are checked"
        )]
        {
            all[PHRASES[n].as_bytes()[0] as usize] |= 1 << n;
        }
        n += 1;
    }
    all
};

/// The byte of the first phrase.
const PHRASE: u8 = 0x80;

/// A number follows, in as many bytes as this byte is greater.
const NUMBER: u8 = 0xf0;

/// Digits of the numbers that are packed: fewer are as short as they are, more do not fit.
const DIGITS_MIN: usize = 3;
const DIGITS_MAX: usize = 19;

/// The packed form of an answer; none if it is not shorter.
pub fn pack(body: &[u8]) -> Option<Vec<u8>> {
    if !body.is_ascii() {
        return None;
    }
    let mut packed = Vec::with_capacity(body.len());
    let mut rest = body;
    while let Some((first, behind)) = rest.split_first() {
        if let Some((number, digits)) = number(rest) {
            let bytes = number.to_be_bytes();
            let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
            let bytes = bytes.get(zeros..)?;
            packed.push(NUMBER.saturating_add(u8::try_from(bytes.len()).ok()?));
            packed.extend_from_slice(bytes);
            rest = rest.get(digits..)?;
        } else if let Some((place, phrase)) = longest(rest) {
            packed.push(PHRASE.saturating_add(place));
            rest = rest.get(phrase.len()..)?;
        } else {
            packed.push(*first);
            rest = behind;
        }
    }
    (packed.len() < body.len()).then_some(packed)
}

/// The number at the beginning, with its digits, if it is read back as it is.
fn number(text: &[u8]) -> Option<(u64, usize)> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if !(DIGITS_MIN..=DIGITS_MAX).contains(&digits) || text.first() == Some(&b'0') {
        return None;
    }
    let digits_only = std::str::from_utf8(text.get(..digits)?).ok()?;
    Some((digits_only.parse().ok()?, digits))
}

/// The longest phrase at the beginning, with its place.
fn longest(text: &[u8]) -> Option<(u8, &'static str)> {
    let mut possible = *BEGINNINGS.get(usize::from(*text.first()?))?;
    let mut found: Option<(u8, &'static str)> = None;
    while possible != 0 {
        let place = possible.trailing_zeros();
        possible &= possible.wrapping_sub(1);
        let phrase = *PHRASES.get(usize::try_from(place).ok()?)?;
        let is_longer = found.is_none_or(|(_, other)| phrase.len() > other.len());
        if is_longer && text.starts_with(phrase.as_bytes()) {
            found = Some((u8::try_from(place).ok()?, phrase));
        }
    }
    found
}

/// The answer of a packed form; none if it is no packed form.
pub fn unpack(packed: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::with_capacity(packed.len().saturating_mul(4));
    let mut rest = packed;
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        if *first < PHRASE {
            body.push(*first);
        } else if *first <= NUMBER {
            let phrase = PHRASES.get(usize::from(first.saturating_sub(PHRASE)))?;
            body.extend_from_slice(phrase.as_bytes());
        } else {
            let (bytes, after) =
                rest.split_at_checked(usize::from(first.saturating_sub(NUMBER)))?;
            let mut whole = [0; 8];
            let zeros = whole.len().checked_sub(bytes.len())?;
            whole.get_mut(zeros..)?.copy_from_slice(bytes);
            body.extend_from_slice(u64::from_be_bytes(whole).to_string().as_bytes());
            rest = after;
        }
    }
    Some(body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn answers_are_shorter_and_read_back() {
        for (body, length) in [
            ("ok lien 230400 credits\n", 6),
            ("ok charged 192000 credits, balance 9991936000\n", 13),
            (
                "warning charge_debt: chemistry: charged 3571.2 credits, balance -0.5, 0.5 not covered\n",
                30,
            ),
            ("{\"transaction\":116035,\"amount\":\"192000.000\"}", 15),
            ("18446744073709551615 00012345", 29),
        ] {
            let packed = pack(body.as_bytes());
            let packed = packed.unwrap_or_else(|| body.as_bytes().to_vec());
            assert!(packed.len() <= length, "{body}: {}", packed.len());
        }
        assert_eq!(pack(b"xy"), None);
        assert_eq!(pack("é credits".as_bytes()), None);
        for broken in [&[0xf9, 1][..], &[0xf2, 1], &[0xc5]] {
            assert_eq!(unpack(broken), None, "{broken:?}");
        }
    }

    proptest! {
        #[test]
        fn every_answer_reads_back(parts in prop::collection::vec(
            prop_oneof!["[ -~]{0,8}", "[0-9]{1,22}", (0..PHRASES.len()).prop_map(|n| PHRASES[n].to_owned())], 0..20,
        )) {
            let body = parts.concat();
            if let Some(packed) = pack(body.as_bytes()) {
                prop_assert_eq!(unpack(&packed).unwrap(), body.as_bytes());
            }
        }
    }
}
