//! Questions in the query language (ledger.md 6).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Query of `GET /api/v1/query`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct QueryQuery {
    /// The query, such as `Account Query Balance<0 Show:=Name,Balance`; 4,096 bytes at most.
    pub text: String,
}

/// The answer of a query.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QueryAnswer {
    /// The columns, in order.
    pub columns: Vec<QueryColumn>,
    /// The rows: a value for each column, by its name.
    pub items: Vec<BTreeMap<String, QueryValue>>,
    /// The `Offset` of the next rows; `null` after the last ones.
    pub next: Option<String>,
    /// The unit of amounts.
    pub unit: String,
}

/// A column of the answer of a query.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QueryColumn {
    /// Its name, such as `Sum(Amount)`.
    pub name: String,
    /// `text`, `number`, `amount`, `decimal`, `time` or `flag`.
    pub kind: String,
}

/// A value: true or false, or a text. Numbers are texts of exact decimals, times RFC 3339 in UTC,
/// `infinity` or `-infinity`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum QueryValue {
    /// Value of a flag.
    Flag(bool),
    /// Value of any other option.
    Text(String),
    /// There is none: `null`.
    None,
}
