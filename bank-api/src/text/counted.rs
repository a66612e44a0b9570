//! Numbers with their nouns.

use std::fmt::Display;

/// A number with its noun, in the plural unless the number is 1: `1 job`, `3 entries`.
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    if count == N::from(1) {
        return format!("{count} {noun}");
    }
    match noun.strip_suffix("ry") {
        Some(stem) => format!("{count} {stem}ries"),
        None if noun.ends_with("ch") => format!("{count} {noun}es"),
        None => format!("{count} {noun}s"),
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
