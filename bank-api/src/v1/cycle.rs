//! Cycles: recurring deposits each month, quarter or year.

use serde::{Deserialize, Serialize};

/// A cycle (`GET /api/v1/cycles/{name}`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Cycle {
    /// Unique name.
    pub name: String,
    /// Account that gets the money.
    pub account: String,
    /// `month`, `quarter` or `year`.
    pub every: String,
    /// Amount of each period's allocation.
    pub amount: String,
    /// Percent of the free amount at the end of a period that is carried over into the next, 0 to 100.
    pub rollover_percent: i64,
    /// The boundary that all others are counted from.
    pub start: String,
    /// The next boundary; `null` while it is switched off.
    pub next: Option<String>,
    /// The allocation that it made last.
    pub last_allocation: Option<i64>,
    /// Switched on.
    pub active: bool,
    /// Free text.
    pub note: Option<String>,
    /// Unit label of the amounts.
    pub unit: String,
}

/// `POST /api/v1/cycles`. Answer: `Written<Cycle>`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewCycle {
    /// Unique name.
    #[cfg_attr(feature = "openapi", schema(min_length = 1))]
    pub name: String,
    /// Account, or a project with one account.
    pub account: String,
    /// `month`, `quarter` or `year`.
    #[cfg_attr(feature = "openapi", schema(pattern = "^(month|quarter|year)$"))]
    pub every: String,
    /// Amount of each period's allocation, above zero.
    #[cfg_attr(feature = "openapi", schema(pattern = r"^-?[0-9]+(\.[0-9]+)?$"))]
    pub amount: String,
    /// 0 to 100; absent: 0.
    #[serde(default)]
    pub rollover_percent: i64,
    /// The first boundary; absent: the beginning of the next period of the calendar in UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// Free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// `PATCH /api/v1/cycles/{name}`. Answer: `Written<Cycle>`. Holds from the next boundary on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PatchCycle {
    /// Whether the cycle is active. Periods that begin while it is inactive are skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active: Option<bool>,
    /// `month`, `quarter` or `year`, counted from the next boundary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(pattern = "^(month|quarter|year)$"))]
    pub every: Option<String>,
    /// Amount of each period's allocation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<String>,
    /// 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rollover_percent: Option<i64>,
    /// Free text; the empty string clears it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The answer of `POST /api/v1/cycles/{name}/run`: the result of a boundary. With `?dry_run=true`, the
/// result of the next boundary with the present balances.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CycleRun {
    /// The cycle.
    pub name: String,
    /// Account that gets the money.
    pub account: String,
    /// Start of the period.
    pub start: String,
    /// Its end, exclusive.
    pub until: String,
    /// New credits.
    pub amount: String,
    /// Amount carried over from the previous period.
    pub rollover: String,
    /// The period's allocation.
    pub allocation: Option<i64>,
    /// Unit label of the amounts.
    pub unit: String,
}
