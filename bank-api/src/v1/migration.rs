//! Moving in from another bank: everything that the old bank has on the day when it closes, in one request.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The largest number of items of a migration.
pub const MIGRATION_ITEMS_MAX: usize = 100_000;
/// The largest body of a migration, in bytes.
pub const MIGRATION_BYTES_MAX: usize = 16 * 1024 * 1024;

/// `POST /api/v1/migrations`: the opening of this bank with the contents of another. All items are written in one
/// database transaction, in their order, or none. An item that an earlier migration from the same source wrote is
/// left out, so a repeat changes nothing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewMigration {
    /// The name of the old bank, such as `gold`: with the id of an item, the identity of that item.
    #[cfg_attr(feature = "openapi", schema(min_length = 1, max_length = 64))]
    pub source: String,
    /// The time at which the old bank closes and this one opens: not later than now; absent: now. Allocations
    /// begin then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// What the old bank has, in the order in which it is written: what an item refers to comes before it.
    pub items: Vec<MigrationItem>,
    /// The balances that the old bank lists. If those of this bank differ afterwards, nothing is written.
    #[serde(default)]
    pub expected: Vec<ExpectedBalance>,
}

/// One object of the old bank.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct MigrationItem {
    /// Its name in the old bank, unique within the source, such as `allocation 8`: 1 to 200 bytes.
    pub id: String,
    /// The kind of the object.
    pub add: MigrationKind,
    /// For `user`, `machine`, `project`, `account`, `rate`: the body of the `POST` request that adds such an
    /// object. For `member`: `MigrationMember`. For `allocation`: `OpeningAllocation`. For `lien`: `OpeningLien`.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub body: Value,
}

/// The kind of an item.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum MigrationKind {
    /// A user. One of the same name stays as it is.
    #[default]
    User,
    /// A machine. One of the same name stays as it is.
    Machine,
    /// A project. One of the same name stays as it is.
    Project,
    /// A user who is a member of a project. The machines of a project are in the body of the project.
    Member,
    /// An account. One of the same name stays as it is.
    Account,
    /// A rate. One in force with the same value stays as it is.
    Rate,
    /// An allocation with its money.
    Allocation,
    /// An open lien.
    Lien,
}

/// A user who is a member of a project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct MigrationMember {
    /// The project.
    pub project: String,
    /// The user.
    pub user: String,
    /// An inactive member may not spend.
    pub active: bool,
    /// `member`, `manager` or `pi`; absent: `member`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
}

/// An allocation as the old bank leaves it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct OpeningAllocation {
    /// The account.
    pub account: String,
    /// Start of the window; absent or `-infinity`: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// End of the window, exclusive; absent or `infinity`: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    /// The rest: an exact decimal, negative for a debt. Liens are not subtracted.
    #[cfg_attr(feature = "openapi", schema(pattern = r"^-?[0-9]+(\.[0-9]+)?$"))]
    pub amount: String,
    /// The sum that was deposited; absent: `amount`, or 0 for a debt. The difference is an adjustment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deposited: Option<String>,
    /// The credit limit; absent: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credit_limit: Option<String>,
    /// Free text for the journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// An open lien as the old bank leaves it. The job goes on in this bank.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct OpeningLien {
    /// The id of the job at its scheduler.
    pub job: String,
    /// The machine.
    pub machine: String,
    /// The project.
    pub project: String,
    /// The user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The held amount: an exact decimal, 0 or more.
    #[cfg_attr(feature = "openapi", schema(pattern = r"^[0-9]+(\.[0-9]+)?$"))]
    pub amount: String,
    /// When the lien began, if the old bank has it; else at the opening.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// When it ends: later than now.
    pub end: String,
    /// Processors of the job, if the old bank has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<i64>,
    /// Nodes of the job, if the old bank has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<i64>,
    /// The class (queue) of the job; empty for none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub class: String,
    /// The quality of service of the job; empty for none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub qos: String,
}

/// The figures of an account in the old bank, over its active allocations: exact decimals.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ExpectedBalance {
    /// The account.
    pub account: String,
    /// The amount.
    pub amount: String,
    /// The held amount.
    pub held: String,
    /// The sum of the credit limits.
    pub credit_limit: String,
}

/// The result of a migration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Migration {
    /// The name of the old bank.
    pub source: String,
    /// The time of the opening.
    pub at: String,
    /// The transaction that opened this bank; none for a dry run, and if nothing was new.
    pub transaction: Option<i64>,
    /// The results of the items, in their order.
    pub items: Vec<MigratedItem>,
    /// The balances of this bank afterwards, for each expected one.
    pub proof: Vec<ProvedBalance>,
    /// Nothing was written.
    pub dry_run: bool,
}

/// The result of one item.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MigratedItem {
    /// Its id.
    pub id: String,
    /// `added`; `exists` (an object of the same name stays as it is); or `done` (by an earlier migration).
    pub result: String,
    /// Its transaction; none for a dry run and for items that exist.
    pub transaction: Option<i64>,
}

/// The balance of an account after the migration, beside the expected one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProvedBalance {
    /// The account.
    pub account: String,
    /// The expected figures.
    pub expected: BalanceFigures,
    /// The figures of this bank.
    pub found: BalanceFigures,
    /// Whether they are equal, to the last unit.
    pub equal: bool,
}

/// The figures of an account over its active allocations: exact decimals.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BalanceFigures {
    /// The amount.
    pub amount: String,
    /// The held amount.
    pub held: String,
    /// The sum of the credit limits.
    pub credit_limit: String,
}

/// The result of `bank migrate`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MovedIn {
    /// The answer of the daemon.
    pub migration: Migration,
    /// Objects with another name than in the old bank.
    pub renamed: Vec<RenamedObject>,
    /// What is not moved.
    pub not_moved: Vec<NotMoved>,
    /// Remarks.
    pub notes: Vec<String>,
    /// Figures of the old bank's lists that were compared with its tables.
    pub compared: usize,
    /// Finished jobs of the old bank.
    pub history: MovedHistory,
}

/// An object with another name than in the old bank.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenamedObject {
    /// Its kind, such as `account`.
    pub kind: String,
    /// Its name in the old bank, for an account with its number.
    pub old: String,
    /// Its name in this bank.
    pub new: String,
}

/// Objects that are not moved for one reason.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotMoved {
    /// The reason.
    pub reason: String,
    /// The objects.
    pub objects: Vec<String>,
}

/// Finished jobs of the old bank.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MovedHistory {
    /// The number of jobs.
    pub jobs: usize,
    /// The sum that the old bank charged for them: an exact decimal.
    pub charged: String,
    /// Number of jobs by outcome, as in [`super::UsageItem::outcome`]; empty for a dry run.
    pub outcomes: std::collections::BTreeMap<String, u64>,
    /// Refused jobs: the id and the reason.
    pub refused: Vec<String>,
}
