//! Result of an import of usage.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::BadLine;

/// The summary of an import, by the rules of `data/LAYOUT.md`: whole numbers are JSON integers, all
/// others strings with the exact decimal.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ImportSummary {
    /// Records in the input.
    pub records: u64,
    /// Charged records, arrays expanded, before identity.
    pub jobs: u64,
    /// Distinct ids and starts among them.
    pub identities: u64,
    /// Jobs that replaced an earlier record.
    pub replaced: u64,
    /// Records not charged, by the reason.
    pub skipped: BTreeMap<String, u64>,
    /// The earliest start, in seconds since 1970 UTC.
    pub first_start: Option<Quantity>,
    /// The latest end, in seconds since 1970 UTC.
    pub last_end: Option<Quantity>,
    /// Sums over all jobs, before identity.
    pub totals: BTreeMap<String, Quantity>,
    /// Sums with each identity once, the last one standing.
    pub totals_after_identity: BTreeMap<String, Quantity>,
    /// By user; none is `""`, here and below.
    pub by_user: BTreeMap<String, ImportTotals>,
    /// Totals by the value that selects the project.
    pub by_account: BTreeMap<String, ImportTotals>,
    /// By group.
    pub by_group: BTreeMap<String, ImportTotals>,
    /// By queue.
    pub by_queue: BTreeMap<String, ImportTotals>,
    /// By the source's word for how they ended.
    pub by_state: BTreeMap<String, ImportTotals>,
    /// Figures that only this format has.
    #[serde(flatten)]
    pub extra: BTreeMap<String, ImportFigure>,
}

/// Jobs and sums of one value of a dimension.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ImportTotals {
    /// Jobs.
    pub jobs: u64,
    /// Sums by name.
    #[serde(flatten)]
    pub quantities: BTreeMap<String, Quantity>,
}

/// A figure of one format.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum ImportFigure {
    /// A number.
    Quantity(Quantity),
    /// Figures by name.
    #[cfg_attr(feature = "openapi", schema(no_recursion))]
    Map(BTreeMap<String, ImportFigure>),
}

/// An exact number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Quantity {
    /// A JSON integer.
    Whole(i128),
    /// A JSON string: the decimal without trailing zeros.
    Decimal(String),
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Quantity::Whole(whole) => match i64::try_from(*whole) {
                Ok(small) => serializer.serialize_i64(small),
                Err(_) => serializer.serialize_i128(*whole),
            },
            Quantity::Decimal(text) => serializer.serialize_str(text),
        }
    }
}

/// The result for the rows of a table of an older program: `bank hardware import`, `bank contribution
/// import`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ImportedTable {
    /// Its name there.
    pub table: String,
    /// New rows.
    pub added: u64,
    /// Rows that existed with other values.
    pub changed: u64,
    /// Rows that existed.
    pub known: u64,
    /// Rows that were not imported.
    pub bad: Vec<BadLine>,
}
