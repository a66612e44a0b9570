//! Usage attributes, quotes that were given, and questions about prices.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::NewRate;

/// Query of `GET /api/v1/rates`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RateQuery {
    /// Those that are over too.
    #[serde(default)]
    pub history: bool,
    /// Only the rates in force at the instant asked for, without those that begin later.
    #[serde(default, skip_serializing_if = "super::past::is_no")]
    pub in_force: bool,
    /// State at this instant; absent: now.
    pub at: Option<String>,
    /// With `at`: use only data that was recorded by then.
    #[serde(default, skip_serializing_if = "super::past::is_no")]
    pub recorded: bool,
    /// Rows per page, 1 to 1000; default 1000.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1000))]
    pub limit: Option<u32>,
    /// Cursor of the page before.
    pub after: Option<String>,
}

/// A quote that was given (`GET /api/v1/quotes/{id}`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GivenQuote {
    /// Row id.
    pub id: i64,
    /// The text by which a job names it.
    pub tid: String,
    /// `valid`, `used`, `ended` or `expired`.
    pub state: String,
    /// For this project.
    pub project: String,
    /// For this user; `null` for all.
    pub user: Option<String>,
    /// On this machine; `null` on all.
    pub machine: Option<String>,
    /// The previous rate.
    pub amount: String,
    /// For which duration, in seconds.
    pub duration_s: i64,
    /// Start of its validity. The rates of this instant apply.
    pub valid_from: Option<String>,
    /// End of its validity, exclusive.
    pub valid_until: Option<String>,
    /// For how many jobs it still holds.
    pub uses: i64,
    /// The job that it was bound to last.
    pub job: Option<String>,
    /// Unit label of the amount.
    pub unit: String,
}

/// Query of `GET /api/v1/quotes`. Answer: `List<GivenQuote>`, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct GivenQuoteQuery {
    /// Only those that may still be used.
    #[serde(default)]
    pub valid: bool,
    /// Rows per page, 1 to 1000; default 100.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1000))]
    pub limit: Option<u32>,
    /// Cursor of the page before.
    pub after: Option<String>,
}

/// `POST /api/v1/rates/test`: the cost of usage, or of past usage with other rates. It writes nothing.
/// Answer: `RateTested`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RateTest {
    /// Project, for rates by project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// User, for rates by user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Group, for rates by group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// Properties by the names of rates: `Processors`, `Memory`, `QualityOfService`, …
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub usage: BTreeMap<String, String>,
    /// Duration in seconds; needed without a replay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_s: Option<i64>,
    /// Start of the use; absent: now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// Proposed rates. Each replaces a stored one of the same subject.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<NewRate>,
    /// Only the proposed rates count.
    #[serde(default)]
    pub only: bool,
    /// Replay charges from this time on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Replay so many days up to now, 1 to 3660, in place of `from` and `to`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 3660))]
    pub last_days: Option<i64>,
    /// End of the replay, exclusive; absent: now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

/// Result of a test of rates.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RateTested {
    /// The price by the stored rates.
    pub current: Option<TestedPrice>,
    /// The price with the proposed ones.
    pub proposed: Option<TestedPrice>,
    /// The past by the proposed rates.
    pub replay: Option<Replay>,
    /// Unit label of the amounts.
    pub unit: String,
    /// Warnings about the test.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// A price with its arithmetic.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TestedPrice {
    /// The amount.
    pub amount: String,
    /// The calculation (ledger.md 3.1).
    pub itemisation: String,
}

/// Cost of past usage with other rates.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Replay {
    /// Begin of the span.
    pub from: String,
    /// Its end, exclusive.
    pub to: String,
    /// Differences in cost by project and user.
    #[serde(default)]
    pub rows: Vec<ReplayRow>,
    /// All together that moved money; without project and user.
    pub total: ReplayRow,
    /// Sum of the charges that moved shadow totals only; absent without such charges.
    pub shadow_total: Option<ReplayRow>,
    /// Jobs left out, because they cannot be priced.
    #[serde(default)]
    pub left_out: i64,
}

/// One project and user of a replay.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReplayRow {
    /// Project as named.
    pub project: Option<String>,
    /// User as named.
    pub user: Option<String>,
    /// Charges that moved the shadow totals only.
    #[serde(default)]
    pub shadow: bool,
    /// Number of charges.
    pub charges: i64,
    /// Sum of the billed amounts.
    pub billed: String,
    /// Sum of the amounts with the tested rates.
    pub proposed: String,
    /// Difference of the two sums; negative for a lower cost.
    pub difference: String,
}
