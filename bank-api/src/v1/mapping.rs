//! Whom usage is for: mappings, usage that waits for a project, and what directories of people say.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Most records that one `POST /api/v1/unmapped/assign` changes.
pub const ASSIGN_MAX: u32 = 1000;

/// Most entries of one `POST /api/v1/user-directory`.
pub const MERGE_MAX: usize = 500;

/// `POST /api/v1/mappings/test`: the project, user and PI of usage with these values. Answer: [`MappingTested`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct MappingTest {
    /// Value by field: `source`, `machine`, `user`, `group`, `account`, `queue`, `qos`, `namespace`,
    /// `attr.NAME`.
    pub values: BTreeMap<String, String>,
}

/// Whom usage would be for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MappingTested {
    /// The project; `null` where nothing names one.
    pub project: Option<String>,
    /// The mapping that gave it; `null` where the account does.
    pub project_by: Option<i64>,
    /// Whether there is such a project, or an account of one.
    pub project_known: bool,
    /// The user; `null` where nobody is named.
    pub user: Option<String>,
    /// The mapping that gave them.
    pub user_by: Option<i64>,
    /// Whether the bank knows them.
    pub user_known: bool,
    /// The principal investigator; `null` where no mapping gives one.
    pub pi: Option<String>,
    /// The mapping that gave the PI.
    pub pi_by: Option<i64>,
    /// Whether the PI is a user of the bank.
    #[serde(default)]
    pub pi_known: bool,
    /// In words: which mapping, or what else, decided.
    pub why: Vec<String>,
}

/// Query of `GET /api/v1/unmapped`. Answer: [`Unmapped`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct UnmappedQuery {
    /// What the rows are summed up by, with commas: `source`, `machine`, `account`, `user`, `group`,
    /// `queue`; absent: source, account and user.
    pub by: Option<String>,
    /// Only what this collector reported.
    pub source: Option<String>,
    /// Only of this machine.
    pub machine: Option<String>,
    /// Only of this account, as the source names it.
    pub account: Option<String>,
    /// Only of this user, as the source names them.
    pub user: Option<String>,
    /// Rows per page, 1 to 1000; default 1000.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1000))]
    pub limit: Option<u32>,
    /// Cursor of the page before.
    pub after: Option<String>,
}

/// Usage that waits for a project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Unmapped {
    /// What it is summed up by, the most processor time first.
    pub items: Vec<UnmappedRow>,
    /// Cursor of the next page; sums are of all pages.
    pub next: Option<String>,
    /// All of it.
    pub total: UnmappedRow,
    /// False where there are more than 100,000 groups: what is not listed is in the total.
    pub complete: bool,
    /// Unit label of the amounts.
    pub unit: String,
}

/// Usage that waits for a project and says the same of whom it is for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UnmappedRow {
    /// The collector; `null` where it is not asked for.
    pub source: Option<String>,
    /// The machine.
    pub machine: Option<String>,
    /// The account as the source names it; for namespaces their name.
    pub account: Option<String>,
    /// The user as the source names them.
    pub user: Option<String>,
    /// The group.
    pub group: Option<String>,
    /// Queue, class or partition.
    pub queue: Option<String>,
    /// How many uses.
    pub records: u64,
    /// Processors × wall time in hours, rounded to thousandths.
    pub core_hours: String,
    /// What `#unbilled` carries of it.
    pub unbilled: String,
    /// What it came to in shadow figures, and what is kept of it without a charge.
    pub shadow: String,
    /// The first start.
    pub first: Option<String>,
    /// The last end.
    pub last: Option<String>,
}

/// `POST /api/v1/unmapped/assign`: gives usage that waits for a project to one, a bounded number of
/// records at a time, in the order in which they came. Answer: [`AssignDone`]. The same again changes
/// nothing: what has its project does not wait any more.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewAssign {
    /// Conditions, as a mapping has them; attributes are not kept with usage.
    pub when: Vec<String>,
    /// The project, with places to fill.
    pub project: String,
    /// Who ran it, with places to fill; absent: as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The principal investigator, with places to fill; absent: as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pi: Option<String>,
    /// The mapping that says the same of later usage, for the journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapping: Option<i64>,
    /// At most so many records, 1 to 1000; 500 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1000))]
    pub limit: Option<u32>,
    /// Where the answer before went on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// What became of usage that waited for a project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AssignDone {
    /// Records that the conditions fit.
    pub records: u64,
    /// Those that have their project now.
    pub changed: u64,
    /// What went back of them, from `#unbilled` or in shadow figures.
    pub was: String,
    /// What they come to now, at the rates of their own time.
    pub amount: String,
    /// What of that nothing covered.
    pub debt: String,
    /// Unit label of the amounts.
    pub unit: String,
    /// Those that could not be given to it.
    pub refused: Vec<AssignRefused>,
    /// Why records stay as they are, those refused and those that nothing of the project can pay for.
    #[serde(default)]
    pub reasons: Vec<AssignReason>,
    /// The first journal transaction; `null` where nothing was written.
    pub transaction: Option<i64>,
    /// Where to go on; `null` when all was seen.
    pub next: Option<String>,
    /// True when decided only.
    #[serde(default)]
    pub dry_run: bool,
}

/// A record that could not be given to a project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AssignRefused {
    /// The collector.
    pub source: String,
    /// The record's id.
    pub id: String,
    /// The refusal's code.
    pub code: String,
    /// Why.
    pub detail: String,
}

/// Why records do not go to a project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AssignReason {
    /// The refusal's code.
    pub code: String,
    /// What it said of the first of them.
    pub detail: String,
    /// How many records.
    pub records: u64,
}

/// One record that was given to a project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AssignedRecord {
    /// Whether anything changed.
    pub changed: bool,
    /// Code and sentence of why it stays as it is although it waits still.
    pub stays: Option<(String, String)>,
    /// What went back.
    pub was: String,
    /// What it comes to now.
    pub amount: String,
    /// What of that nothing covered.
    pub debt: String,
    /// The journal transaction.
    pub transaction: Option<i64>,
}

/// `POST /api/v1/user-directory`: what a directory of people says, 1 to 500 entries. Each is merged
/// or refused by itself. Answer: [`MergedUsers`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct MergeUsers {
    /// In their order.
    #[cfg_attr(feature = "openapi", schema(min_items = 1, max_items = 500))]
    pub entries: Vec<MergeEntry>,
    /// Where nobody has the name, whoever alone has the mail address is meant.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_email: bool,
    /// Make no new users.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub known_only: bool,
    /// What is known already stays, whatever is said.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep: bool,
}

/// What is said of one user. What is absent or empty says nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct MergeEntry {
    /// Their name, or another name of theirs.
    pub user: String,
    /// Name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub common_name: Option<String>,
    /// Address for notices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// Project taken where a request names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_project: Option<String>,
    /// Their organisation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub organization: Option<String>,
    /// Telephone number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
    /// Free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether they may get quotes and liens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active: Option<bool>,
    /// Other names that sources have for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
}

/// What became of the entries of one request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MergedUsers {
    /// One for each entry, in their order.
    pub items: Vec<MergedUser>,
    /// True when decided only.
    #[serde(default)]
    pub dry_run: bool,
    /// The first journal transaction; `null` where nothing was written.
    pub transaction: Option<i64>,
}

/// What became of one entry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MergedUser {
    /// The user's name in the bank; of a refused entry the name as given.
    pub user: String,
    /// `added`, `changed`, `unchanged` or `refused`.
    pub outcome: String,
    /// A refusal's code.
    pub code: Option<String>,
    /// Why it was refused.
    pub detail: Option<String>,
    /// The journal transaction; `null` where nothing was written.
    pub transaction: Option<i64>,
}

/// What became of a whole file of people (`bank user import --json`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ImportedUsers {
    /// Entries read.
    pub entries: u64,
    /// How many were `added`, `changed`, `unchanged` and `refused`.
    pub outcomes: BTreeMap<String, u64>,
    /// Those that could not be read or were refused, by line.
    pub bad: Vec<super::BadLine>,
    /// Columns that mean nothing here.
    pub unread: Vec<String>,
    /// True when decided only.
    #[serde(default)]
    pub dry_run: bool,
}
