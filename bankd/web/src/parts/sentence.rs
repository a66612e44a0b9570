//! Sentences of the API: times and negative amounts in them are shown as everywhere else on pages.

use bank_api::text::parse_rfc3339;

use super::amount::grouped;
use crate::zone::Zone;

/// A sentence with its times in a zone, and true minus signs.
pub(crate) fn sentence(zone: Zone, text: &str) -> String {
    let words = text.split(' ').map(|word| shown(zone, word));
    words.collect::<Vec<_>>().join(" ")
}

/// A text with a capital at its start.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// A word, which may have a name before it (`until=…`) and a sign behind it.
fn shown(zone: Zone, word: &str) -> String {
    let own = word.rsplit(['=', '(']).next().unwrap_or(word);
    let before = word.strip_suffix(own).unwrap_or_default();
    let value = own.trim_end_matches([',', '.', ';', ':', ')']);
    let behind = own.strip_prefix(value).unwrap_or_default();
    let shown = if parse_rfc3339(value).is_some() {
        zone.exact(value)
    } else if is_negative(value) {
        grouped(&value.replace(',', ""))
    } else {
        return word.to_owned();
    };
    format!("{before}{shown}{behind}")
}

/// Whether a word is an amount below zero. A whole number without groups may be anything else.
fn is_negative(word: &str) -> bool {
    let Some(digits) = word.strip_prefix('-') else {
        return false;
    };
    digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.contains([',', '.'])
        && digits
            .bytes()
            .all(|byte| byte.is_ascii_digit() || b",.".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_amounts_are_shown_as_on_pages() {
        let berlin = Zone::named("Europe/Berlin").unwrap();
        for (text, expected) in [
            (
                "no data received since 2026-11-17T23:59:00Z.",
                "no data received since 2026-11-18 00:59.",
            ),
            (
                "96,174.43 of 75,000.00 SU; -21,174.43 available",
                "96,174.43 of 75,000.00 SU; \u{2212}21,174.43 available",
            ),
            (
                "role=pi until=2099-01-01T00:00:00Z",
                "role=pi until=2099-01-01 01:00",
            ),
            (
                "a note of -5 and  2026-11-17 <b>",
                "a note of -5 and  2026-11-17 <b>",
            ),
            ("", ""),
        ] {
            assert_eq!(sentence(berlin, text), expected);
        }
    }
}
