//! Cursors that clients keep from run to run have the number of a transaction and the beginning of its hash. A bank
//! that was restored from a backup gives the numbers of its lost transactions again; a cursor from before would
//! leave out as many new ones, and is refused.

use std::fmt;

use bank_core::refusal::Refusal;
use bankd_store::{self as store, numbers};
use rusqlite::Connection;

/// Digits of a hash in a mark.
const DIGITS: usize = 8;

/// Between the number and the hash.
const BETWEEN: char = '~';

/// A transaction of this journal: `412~9f3a5c01`. Cursors of earlier versions have no hash, or no transaction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Mark {
    /// Its number; 0 for the beginning of the journal.
    pub tx: i64,
    hash: Option<String>,
}

impl Mark {
    /// The last transaction.
    pub(super) fn newest(connection: &Connection) -> Result<Mark, store::Error> {
        Mark::at(connection, numbers::last_transaction(connection)?)
    }

    /// That transaction.
    pub(super) fn at(connection: &Connection, tx: i64) -> Result<Mark, store::Error> {
        let hash = numbers::start_of_hash(connection, tx)?;
        Ok(Mark { tx, hash })
    }

    /// As a cursor has it.
    pub(super) fn read(text: &str) -> Option<Mark> {
        let (tx, hash) = match text.split_once(BETWEEN) {
            Some((tx, hash)) => (tx, Some(hash)),
            None => (text, None),
        };
        let is_hash =
            |hash: &str| hash.len() == DIGITS && hash.bytes().all(|b| b.is_ascii_hexdigit());
        if hash.is_some_and(|hash| !is_hash(hash)) {
            return None;
        }
        let tx = tx.parse().ok().filter(|tx| *tx >= 0)?;
        let hash = hash.map(str::to_ascii_lowercase);
        Some(Mark { tx, hash })
    }

    /// Whether the journal has this transaction, as far as the mark has its hash.
    pub(super) fn is_in(&self, connection: &Connection) -> Result<bool, store::Error> {
        Ok(self.hash.is_none() || Mark::at(connection, self.tx)? == *self)
    }

    /// The refusal of a cursor whose mark is not in the journal.
    pub(super) fn refused(field: &'static str) -> Refusal {
        let expected =
            "a cursor of this journal: this one is from before the bank was restored from a backup";
        Refusal::BadValue { field, expected }
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.hash {
            Some(hash) => write!(f, "{}{BETWEEN}{hash}", self.tx),
            None => write!(f, "{}", self.tx),
        }
    }
}

/// The beginning of a cursor that belongs to one bank: `8f1c2d3a.412~9f3a5c01-`.
pub(super) fn head(bank: &str, mark: &Mark) -> String {
    format!("{bank}.{mark}-")
}

/// The mark of such a cursor, and the text behind its beginning; none for a cursor of another bank.
pub(super) fn behind_head<'a>(text: &'a str, bank: &str) -> Option<(Mark, &'a str)> {
    let (head, rest) = text.strip_prefix(bank)?.split_once('-')?;
    let mark = match head.strip_prefix('.') {
        Some(mark) => Mark::read(mark)?,
        None if head.is_empty() => Mark::default(),
        None => return None,
    };
    Some((mark, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_read_as_they_are_written_and_nothing_else_is() {
        for text in ["0", "412", "412~9f3a5c01"] {
            let mark = Mark::read(text).map(|mark| mark.to_string());
            assert_eq!(mark.as_deref(), Some(text));
        }
        for text in [
            "",
            "x",
            "-1",
            "1~",
            "1~9f3a5c0",
            "1~9f3a5c0g",
            "1~9f3a5c01.7",
            "~9f3a5c01",
        ] {
            assert_eq!(Mark::read(text), None, "{text}");
        }
        let mark = Mark::read("412~9f3a5c01").unwrap_or_default();
        let cursor = format!("{}tx-7", head("8f1c2d3a", &mark));
        assert_eq!(cursor, "8f1c2d3a.412~9f3a5c01-tx-7");
        assert_eq!(behind_head(&cursor, "8f1c2d3a"), Some((mark, "tx-7")));
        assert_eq!(behind_head(&cursor, "8f1c2d3b"), None);
        let old = Some((Mark::default(), "1-2-3"));
        assert_eq!(behind_head("8f1c2d3a-1-2-3", "8f1c2d3a"), old);
        assert_eq!(behind_head("8f1c2d3a4-1-2-3", "8f1c2d3a"), None);
    }
}
