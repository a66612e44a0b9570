//! Patterns: text in which each `*` stands for any text, even none. Matching takes one pass over the
//! value, whatever the pattern.

/// Longest pattern, in bytes.
pub(super) const PATTERN_BYTES_MAX: usize = 256;
/// Most stars of one pattern.
const STARS_MAX: usize = 8;

/// A pattern. `\*` is a star, `\\` a backslash; everything else means itself, and case counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// As it was written.
    text: String,
    /// What stands before the first star, between them, and behind the last; one where there is none.
    parts: Vec<String>,
}

impl Pattern {
    /// Reads a pattern: at most 256 bytes without control characters, with at most eight stars, no
    /// two of them side by side.
    pub fn parse(text: &str) -> Option<Pattern> {
        if text.len() > PATTERN_BYTES_MAX || text.chars().any(char::is_control) {
            return None;
        }
        let mut parts = vec![String::new()];
        let mut letters = text.chars();
        let mut after_star = false;
        while let Some(letter) = letters.next() {
            let literal = match letter {
                '*' if after_star => return None,
                '*' => {
                    parts.push(String::new());
                    after_star = true;
                    continue;
                }
                '\\' => letters.next().filter(|next| matches!(next, '*' | '\\'))?,
                other => other,
            };
            after_star = false;
            parts.last_mut()?.push(literal);
        }
        let stars = parts.len().saturating_sub(1);
        (stars <= STARS_MAX).then(|| Pattern {
            text: text.to_owned(),
            parts,
        })
    }

    /// The pattern that one value alone fits.
    pub fn literal(value: &str) -> Option<Pattern> {
        Pattern::parse(&value.replace('\\', "\\\\").replace('*', "\\*"))
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How many stars it has.
    pub fn stars(&self) -> usize {
        self.parts.len().saturating_sub(1)
    }

    /// The only value that it fits, where it has no star.
    pub fn exactly(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// What its stars stand for in a value, each as little as can be and the last the rest; none where
    /// it does not fit.
    pub fn fit<'a>(&self, value: &'a str) -> Option<Vec<&'a str>> {
        let (first, others) = self.parts.split_first()?;
        let mut rest = value.strip_prefix(first.as_str())?;
        let Some((last, between)) = others.split_last() else {
            return rest.is_empty().then(Vec::new);
        };
        let mut stars = Vec::with_capacity(others.len());
        for part in between {
            let (before, behind) = rest.split_once(part.as_str())?;
            stars.push(before);
            rest = behind;
        }
        stars.push(rest.strip_suffix(last.as_str())?);
        Some(stars)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_take_as_little_as_can_be() {
        for (pattern, value, stars) in [
            ("chem", "chem", Some(vec![])),
            ("chem", "chemistry", None),
            ("chem", "Chem", None),
            ("*", "x", Some(vec!["x"])),
            ("grp_*", "grp_", Some(vec![""])),
            ("*@egi.eu", "a@b@egi.eu", Some(vec!["a@b"])),
            ("*-*", "a-b-c", Some(vec!["a", "b-c"])),
            ("*-*-x", "a-b-x-x", Some(vec!["a", "b-x"])),
            ("ab*ba", "aba", None),
            ("ab*ba", "abba", Some(vec![""])),
            ("a\\*b", "a*b", Some(vec![])),
            ("a\\*b", "axb", None),
            ("a\\\\*", "a\\x", Some(vec!["x"])),
            ("ü*", "übung", Some(vec!["bung"])),
            ("", "", Some(vec![])),
        ] {
            let pattern = Pattern::parse(pattern).unwrap();
            assert_eq!(pattern.fit(value), stars, "{pattern:?} {value}");
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        let many = "*x".repeat(9);
        let long = "x".repeat(257);
        for text in ["a**b", "a\\", "a\\n", "a\nb", &many, &long] {
            assert_eq!(Pattern::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_literal_fits_its_value_alone() {
        for value in ["chem", "a*b", "a\\b", "\\*"] {
            let pattern = Pattern::literal(value).unwrap();
            assert_eq!(pattern.exactly(), Some(value));
        }
    }
}
