//! Numbers with their nouns.

use std::fmt::Display;

/// A number with its noun, in the plural unless the number is 1: `1 job`, `3 entries`.
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    format!("{count} {}", noun_of(count == N::from(1), noun))
}

/// A noun beside its number, in the plural unless the number is 1.
pub fn noun_of(is_one: bool, noun: &str) -> String {
    match noun.strip_suffix("ry") {
        _ if is_one => noun.to_owned(),
        Some(stem) => format!("{stem}ries"),
        None if noun.ends_with("ch") => format!("{noun}es"),
        None => format!("{noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_follow_their_number() {
        assert_eq!(counted(1_u64, "record"), "1 record");
        assert_eq!(counted(0_usize, "day"), "0 days");
        assert_eq!(counted(2_i64, "entry"), "2 entries");
        assert_eq!(counted(3_i64, "batch"), "3 batches");
    }
}
