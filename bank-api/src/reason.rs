//! Reasons: the sentence that explains a refusal. It may repeat text from a caller, so this module bounds its
//! length for every listener, log and table.

/// The most characters of a reason.
pub const REASON_MAX: usize = 300;

/// A reason of bounded length. A reason that was cut ends with `…`.
pub fn bounded(reason: impl Into<String>) -> String {
    let mut reason = reason.into();
    let is_long = reason.len() > REASON_MAX && reason.chars().nth(REASON_MAX).is_some();
    if is_long {
        let kept = reason.char_indices().nth(REASON_MAX.saturating_sub(1));
        reason.truncate(kept.map_or(0, |(at, _)| at));
        reason.push('…');
        reason.shrink_to_fit();
    }
    reason
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_has_at_most_so_many_characters() {
        for letter in ["x", "ä", "€", "😀"] {
            let whole = letter.repeat(REASON_MAX);
            assert_eq!(bounded(whole.clone()), whole);
            let cut = bounded(letter.repeat(REASON_MAX + 1));
            assert_eq!(cut.chars().count(), REASON_MAX);
            assert!(cut.ends_with('…') && cut.starts_with(letter));
        }
        assert_eq!(bounded(""), "");
    }
}
