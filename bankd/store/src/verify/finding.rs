//! Findings of a verification: the row, the found and the expected value, and the remedy.

use std::fmt;

use super::super::{Error, bank};
use bank_core::amount::{Amount, Precision};
use rusqlite::Connection;

/// Findings that are listed; the rest is only counted.
const FINDINGS_MAX: usize = 100;

/// Result of a verification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Transactions read.
    pub transactions: i64,
    /// Entries read.
    pub entries: i64,
    /// Allocations compared.
    pub allocations: i64,
    /// Number of rows whose seals were computed.
    pub sealed: i64,
    /// Findings, the first bad transaction first; empty if the bank is valid.
    pub findings: Vec<Finding>,
    /// Findings beyond those that are listed.
    pub more: u64,
    /// Valid but unusual facts: liens that hold more than the available money.
    pub notes: Vec<String>,
}

impl Report {
    pub(crate) fn find(&mut self, finding: Finding) {
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(finding);
            return;
        }
        self.more = self.more.saturating_add(1);
        // A serious finding takes the place of one about a derived table.
        if !finding.is_derived()
            && let Some(last) = self.findings.iter_mut().rev().find(|f| f.is_derived())
        {
            *last = finding;
        }
    }

    /// The first finding that is not about a derived table; none if a rebuild mends all.
    pub fn serious(&self) -> Option<&Finding> {
        self.findings.iter().find(|finding| !finding.is_derived())
    }

    /// Whether everything is right.
    pub fn is_sound(&self) -> bool {
        self.findings.is_empty()
    }

    /// The findings as lines.
    pub fn lines(&self) -> Vec<String> {
        self.findings.iter().map(ToString::to_string).collect()
    }

    /// Remedies of the findings, each once.
    pub fn advice(&self) -> Vec<&'static str> {
        let mut all: Vec<&'static str> = Vec::new();
        for finding in &self.findings {
            let advice = finding.advice();
            if !all.contains(&advice) {
                all.push(advice);
            }
        }
        all
    }
}

/// Derived tables, which can be rebuilt from others. Findings in them stop no backup and no checkpoint.
const DERIVED: [&str; 6] = [
    "rollup",
    "rollup_key",
    "rollup_block",
    "waypoint",
    "waypoint_sum",
    "waypoint_late",
];

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The table; empty for the file as a whole.
    pub table: &'static str,
    /// The row by its key.
    pub row: String,
    /// The finding as text.
    pub text: String,
    /// The expected value, if known.
    pub expected: Option<String>,
    /// The found value.
    pub found: Option<String>,
}

impl Finding {
    pub(crate) fn new(table: &'static str, row: impl fmt::Display, text: String) -> Finding {
        Finding {
            table,
            row: row.to_string(),
            text,
            expected: None,
            found: None,
        }
    }

    /// Adds the expected and the found value.
    pub(crate) fn differs(self, expected: impl fmt::Display, found: impl fmt::Display) -> Finding {
        Finding {
            expected: Some(expected.to_string()),
            found: Some(found.to_string()),
            ..self
        }
    }

    /// Whether it is about a derived table.
    pub fn is_derived(&self) -> bool {
        DERIVED.contains(&self.table)
    }

    /// The remedy.
    pub fn advice(&self) -> &'static str {
        match self.table {
            "" | "migration" | "schema" => {
                "stop bankd, keep the file as it is, and restore the newest backup that verifies"
            }
            "tx" | "entry" | "usage" | "correction" | "reversal" | "shape" | "presence"
            | "record" | "extent" | "tally" | "proof_start" => {
                "the journal was changed: keep the file as it is, restore the \
                 newest backup that verifies, and enter later commands again"
            }
            "rollup" | "rollup_key" | "rollup_block" => {
                "stop bankd and run `bankd rollup rebuild`; the journal and backups are not affected"
            }
            "waypoint" | "waypoint_sum" | "waypoint_late" => {
                "stop bankd and run `bankd rollup rebuild`, which also rebuilds balance snapshots; \
                 the journal and backups are not affected"
            }
            "checkpoint" => {
                "find out who had access to the file since the checkpoint: keep both, and restore \
                 the newest backup that verifies against it"
            }
            "allocation" | "instance" | "lien" | "lien_allocation" | "idempotency" | "answer"
            | "billed_window" | "reservation_time" | "removal" | "quote" => {
                "the journal has the right value, and no command changes a row in place: restore the \
                 newest backup that verifies, and enter later commands again"
            }
            _ => {
                "check the current values (`bank … show`); set wrong values again by command, \
                 which seals the row again, or restore the newest backup that verifies"
            }
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        if !self.table.is_empty() {
            write!(f, " [{} {}", self.table, self.row)?;
            if let (Some(expected), Some(found)) = (&self.expected, &self.found) {
                write!(f, ": expected {expected}, found {found}")?;
            }
            f.write_str("]")?;
        }
        Ok(())
    }
}

/// Amounts as people write them.
#[derive(Clone, Copy)]
pub(super) struct Money(Precision);

impl Money {
    /// With the decimals of the bank.
    pub(super) fn of(connection: &Connection) -> Result<Money, Error> {
        Ok(Money(bank::read(connection)?.bank.precision))
    }

    pub(super) fn shown(self, amount: i128) -> impl fmt::Display {
        Amount::clamped(amount).display(self.0)
    }
}
