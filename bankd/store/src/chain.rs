//! Columns on their way into a hash of the journal, as bytes that no other columns produce.

use sha2::{Digest, Sha256};

/// Version of the byte format: increased when the columns change.
const VERSION: u8 = 1;

/// Columns on their way into a hash, each with its length before it.
pub(super) struct Chain {
    buffer: Vec<u8>,
}

impl Chain {
    pub(super) fn new() -> Chain {
        let mut buffer = Vec::with_capacity(384);
        buffer.push(VERSION);
        Chain { buffer }
    }

    /// Columns that go into a chain later, by [`bytes_of`](Chain::bytes_of).
    pub(super) fn part() -> Chain {
        let buffer = Vec::with_capacity(128);
        Chain { buffer }
    }

    /// The bytes of a part.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.buffer
    }

    /// The bytes of a [`part`](Chain::part).
    pub(super) fn bytes_of(&mut self, columns: &[u8]) {
        self.buffer.extend_from_slice(columns);
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.length(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        self.buffer.extend_from_slice(bytes);
    }

    /// A length in groups of seven bits, the lowest first; all but the last have their top bit set.
    /// Nearly all columns are shorter than 128 bytes, and every byte costs time on the hot path.
    fn length(&mut self, mut length: u64) {
        while length >= 0x80 {
            self.buffer.push(length.to_le_bytes()[0] | 0x80);
            length >>= 7;
        }
        self.buffer.push(length.to_le_bytes()[0]);
    }

    pub(super) fn finish(self) -> [u8; 32] {
        Sha256::digest(&self.buffer).into()
    }

    pub(super) fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// A number in as few bytes as hold it with its sign, at least one, the greatest first.
    pub(super) fn number(&mut self, number: i64) {
        let sign = number.leading_zeros().max(number.leading_ones());
        let spare = usize::try_from(sign.saturating_sub(1) / 8).unwrap_or(0);
        self.bytes(number.to_be_bytes().get(spare..).unwrap_or_default());
    }

    /// NULL is no bytes; no number is.
    pub(super) fn optional(&mut self, number: Option<i64>) {
        match number {
            Some(number) => self.number(number),
            None => self.bytes(&[]),
        }
    }

    /// NULL is a length that no text has.
    pub(super) fn optional_text(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.text(text),
            None => self.length(u64::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_as_few_bytes_as_hold_them() {
        for (number, expected) in [
            (0, vec![1, 0]),
            (-1, vec![1, 0xff]),
            (127, vec![1, 0x7f]),
            (128, vec![2, 0, 0x80]),
            (-128, vec![1, 0x80]),
            (-129, vec![2, 0xff, 0x7f]),
            (65_535, vec![3, 0, 0xff, 0xff]),
            (i64::MAX, vec![8, 0x7f, 255, 255, 255, 255, 255, 255, 255]),
            (i64::MIN, vec![8, 0x80, 0, 0, 0, 0, 0, 0, 0]),
        ] {
            let mut chain = Chain::new();
            chain.number(number);
            assert_eq!(chain.buffer[1..], expected, "{number}");
        }
    }

    #[test]
    fn nothing_two_columns_hold_looks_alike() {
        let bytes = |write: fn(&mut Chain)| {
            let mut chain = Chain::new();
            write(&mut chain);
            chain.buffer
        };
        let columns = [
            bytes(|c| c.optional(None)),
            bytes(|c| c.optional(Some(0))),
            bytes(|c| c.optional_text(None)),
            bytes(|c| c.text("0")),
            bytes(|c| c.text(&"x".repeat(127))),
            bytes(|c| c.text(&"x".repeat(128))),
        ];
        for (n, one) in columns.iter().enumerate() {
            let others = columns.iter().enumerate().filter(|(m, _)| *m != n);
            for (_, other) in others {
                assert!(!other.starts_with(one), "{one:?} {other:?}");
            }
        }
        assert_eq!(columns[5][..3], [VERSION, 0x80, 1]);
    }
}
