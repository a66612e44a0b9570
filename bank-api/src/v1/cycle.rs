//! Cycles: money that comes again each month, quarter or year.

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
    /// What each period's allocation gets.
    pub amount: String,
    /// Per cent of what is free at the end of a period that go over into the next, 0 to 100.
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
    /// What each period gets, above zero.
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
    /// Switch on or off; what passes while it is off is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active: Option<bool>,
    /// `month`, `quarter` or `year`, counted from the next boundary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(pattern = "^(month|quarter|year)$"))]
    pub every: Option<String>,
    /// What each period gets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<String>,
    /// 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rollover_percent: Option<i64>,
    /// Free text; the empty string clears it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The answer of `POST /api/v1/cycles/{name}/run`: what a boundary did, or with `?dry_run=true`
/// what the next one would do with the money as it is now.
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
    /// What comes new.
    pub amount: String,
    /// What goes over from the period before.
    pub rollover: String,
    /// The period's allocation.
    pub allocation: Option<i64>,
    /// Unit label of the amounts.
    pub unit: String,
}
