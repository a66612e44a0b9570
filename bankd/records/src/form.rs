//! The form of a file's lines: its format with all its settings. The same form makes the same line of a
//! record at any time (`usage-records.md` 8, item 5).

use bank_core::directory::Bank;
use bankd_config as config;
use bankd_config::FormatWord;
use bankd_emit::file::{self, Dialect, Escape, FileOptions};
use bankd_emit::ggf::{self, GgfOptions};
use bankd_emit::{Occasion, Record, stored};
use bankd_store::KeptRecord;

/// The bank's facts in its lines; they never change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The first 8 hex digits of the bank's UUID (`usage-records.md` 1.8).
    bank: String,
    unit: String,
    precision: u32,
}

impl Facts {
    /// The beginning of the names of the bank's records.
    pub(super) fn bank(&self) -> &str {
        &self.bank
    }

    /// Those of a bank.
    pub fn of(bank: &Bank) -> Self {
        Self {
            bank: bank.uuid.chars().filter(|c| *c != '-').take(8).collect(),
            unit: bank.unit.clone(),
            precision: u32::from(bank.precision.places()),
        }
    }
}

/// A format with its settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// FILE.
    File {
        /// `dialect`
        dialect: Dialect,
        /// `interim`
        interim: bool,
        /// `extended`
        extended: bool,
        /// `escape`
        escape: Escape,
        /// `blank_account`
        blank_account: String,
        /// `blank_user`
        blank_user: String,
    },
    /// GGF.
    Ggf {
        /// `adjustments`
        adjustments: bool,
    },
}

/// The result for a record in a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Made {
    /// The form has no line for it.
    Nothing,
    /// It corrects what lines before it have, and the form has no line for that.
    LeftOut,
    /// Its line with the line feed.
    Line {
        /// The line.
        text: String,
        /// The line shows a rate of 0.01 although it is smaller (`usage-records.md` 4.5).
        is_raised: bool,
    },
    /// It has no line because this key's value cannot be written as it is.
    Rejected(&'static str),
}

impl Form {
    /// That of a sink's settings.
    pub fn of(sink: &config::Sink) -> Self {
        match sink.format {
            FormatWord::File => Self::File {
                dialect: sink.dialect.into(),
                interim: sink.interim,
                extended: sink.extended,
                escape: sink.escape.into(),
                blank_account: sink.blank_account.clone(),
                blank_user: sink.blank_user.clone(),
            },
            FormatWord::Ggf => Self::Ggf {
                adjustments: sink.adjustments,
            },
        }
    }

    /// The line of a record.
    pub fn make(&self, record: &Record, facts: &Facts) -> Made {
        match self {
            Self::File {
                dialect,
                interim,
                extended,
                escape,
                blank_account,
                blank_user,
            } => {
                let options = FileOptions {
                    dialect: *dialect,
                    interim: *interim,
                    extended: *extended,
                    escape: *escape,
                    blank_account,
                    blank_user,
                    precision: facts.precision,
                };
                match file::render(record, &options) {
                    Ok(None) if file::is_left_out(record, &options) => Made::LeftOut,
                    Ok(None) => Made::Nothing,
                    Ok(Some(text)) => Made::Line {
                        text,
                        is_raised: file::is_rate_raised(record),
                    },
                    Err(rejected) => Made::Rejected(rejected.key),
                }
            }
            Self::Ggf { adjustments } => {
                let options = GgfOptions {
                    adjustments: *adjustments,
                    bank: &facts.bank,
                    unit: &facts.unit,
                    precision: facts.precision,
                    whole: false,
                };
                let line = ggf::render(record, &options);
                let is_change = matches!(record.occasion, Occasion::Adjustment { .. });
                let none = if is_change {
                    Made::LeftOut
                } else {
                    Made::Nothing
                };
                line.map_or(none, |text| Made::Line {
                    text,
                    is_raised: false,
                })
            }
        }
    }
}

/// A record as it was kept.
///
/// # Errors
/// If the text is none that this version writes.
pub fn read(kept: &KeptRecord) -> anyhow::Result<Record> {
    let found = stored::read(&kept.text);
    found.ok_or_else(|| anyhow::anyhow!("record {} of the bank cannot be read", kept.id))
}
