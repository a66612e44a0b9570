//! Usage records of other programs: FILE lines of Moab and Maui, and usage records 1.0
//! (`usage-records.md` 1 and 4), with everything that is wrong with them.
//!
//! [`check`] goes through a file of either kind; [`mod@file`] reads one line, [`ur1`] one element. Nothing
//! here opens a file or decides what a record costs.

mod check;
pub mod file;
mod lexical;
pub mod ur1;
mod xml;

pub use check::{Read, Summary, check};

/// Something about a record that somebody should hear of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The line of the file, from 1.
    pub line: u64,
    /// Whether the record is not valid; a warning else.
    pub is_error: bool,
    /// What is wrong, where in the record.
    pub text: String,
}

/// What is found while a record is read.
#[derive(Debug)]
struct Findings {
    line: u64,
    all: Vec<Finding>,
}

/// Findings of one record at most: one that is wrong all over need not say so for ever.
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

/// A value as it may be shown: short, and without control characters.
fn shown(value: &str) -> String {
    let mut short: String = value.chars().take(60).collect();
    if short.len() < value.len() {
        short.push('…');
    }
    format!("{short:?}")
}
