//! Usage records of other programs: FILE lines of Moab and Maui, and usage records 1.0
//! (`usage-records.md` 1 and 4), with everything that is wrong with them.
//!
//! [`check`] reads a whole file of either kind, [`mod@file`] one line, [`ur1`] one element. This module
//! opens no file and sets no price.

mod check;
pub mod file;
mod lexical;
pub mod ur1;
mod xml;

pub use check::{Read, Summary, check};

/// An error or a warning about a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The line of the file, from 1.
    pub line: u64,
    /// True for an error, false for a warning.
    pub is_error: bool,
    /// Description, with the position in the record.
    pub text: String,
}

/// Findings while a record is read.
#[derive(Debug)]
struct Findings {
    line: u64,
    all: Vec<Finding>,
}

/// Maximum number of findings of one record. Further ones are dropped.
const FINDINGS_MAX: usize = 50;

impl Findings {
    fn at(line: u64) -> Self {
        Self {
            line,
            all: Vec::new(),
        }
    }

    fn add(&mut self, is_error: bool, text: String) {
        if self.all.len() < FINDINGS_MAX {
            self.all.push(Finding {
                line: self.line,
                is_error,
                text,
            });
        }
    }

    fn error(&mut self, text: impl Into<String>) {
        self.add(true, text.into());
    }

    fn warn(&mut self, text: impl Into<String>) {
        self.add(false, text.into());
    }
}

/// A value for messages: short, and without control characters.
fn shown(value: &str) -> String {
    let mut short: String = value.chars().take(60).collect();
    if short.len() < value.len() {
        short.push('…');
    }
    format!("{short:?}")
}
