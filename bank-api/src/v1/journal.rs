//! Rows of the journal.

use serde::{Deserialize, Serialize};

/// One entry with the columns of its transaction (ledger.md 7). Deltas carry a sign.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct JournalEntry {
    /// Transaction id.
    pub transaction: i64,
    /// Number of the entry in its transaction, from 1; 0 for a transaction without entries.
    pub entry: i64,
    /// Effective time.
    pub at_effective: String,
    /// Recording time; never decreases.
    pub at_recorded: String,
    /// `deposit`, `lien`, `charge`, … (ledger.md 7).
    pub kind: String,
    /// The operation that was asked for.
    pub op: String,
    /// Who.
    pub actor: String,
    /// Through which client of the bank.
    pub client: Option<String>,
    /// `cli`, `nami`, `gold`, `auditor`, `web` or `system`.
    pub origin: String,
    /// Account name.
    pub account: Option<String>,
    /// Allocation id.
    pub allocation: Option<i64>,
    /// Lien id.
    pub lien: Option<i64>,
    /// The scheduler's object id.
    pub job: Option<String>,
    /// `job` or `reservation`, if the transaction has an object.
    pub job_type: Option<String>,
    /// Project.
    pub project: Option<String>,
    /// User.
    pub user: Option<String>,
    /// Machine.
    pub machine: Option<String>,
    /// Change of the allocation's amount.
    pub amount: String,
    /// Change of the held amount.
    pub held: String,
    /// Change of the account's active money.
    pub active: String,
    /// Change of the shadow charges.
    pub shadow: String,
    /// Change of the shadow liens.
    #[serde(default)]
    pub shadow_held: String,
    /// The allocation's amount afterwards.
    pub amount_after: Option<String>,
    /// Held on it afterwards.
    pub held_after: Option<String>,
    /// Note, or why the system acted.
    pub reason: Option<String>,
}

/// A page of the journal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct JournalPage {
    /// The entries of this page.
    pub items: Vec<JournalEntry>,
    /// Cursor of the next page; `null` on the last page.
    pub next: Option<String>,
    /// The last transaction that the search reached, even if it is not among the items: its number and the
    /// beginning of its hash, `412~9f3a5c01`. A reader that follows the journal sends it as `after`, also after
    /// a restart of either program. It is refused if the bank was restored from a backup without that
    /// transaction.
    pub upto: Option<String>,
}

/// Query of `GET /api/v1/journal`. Answer: [`JournalPage`], oldest first. To follow the journal, send the
/// `upto` of the last page as `after`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct JournalQuery {
    /// Project.
    pub project: Option<String>,
    /// With the projects below that one.
    #[serde(default, skip_serializing_if = "is_false")]
    pub tree: bool,
    /// User.
    pub user: Option<String>,
    /// The user or program that wrote it.
    pub actor: Option<String>,
    /// Machine.
    pub machine: Option<String>,
    /// Account name or id.
    pub account: Option<String>,
    /// The scheduler's object id.
    pub job: Option<String>,
    /// Entry kind, or several, separated by commas.
    pub kind: Option<String>,
    /// Effective from, inclusive.
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub since: Option<String>,
    /// Effective until, exclusive.
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub until: Option<String>,
    /// Only transactions after this one: its number, or `next` or `upto` of the page before.
    pub after: Option<String>,
    /// Rows per page, 1 to 1000; default 100.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1000))]
    pub limit: Option<u32>,
    /// The newest rows up to the limit, oldest first. To continue, send `next` as `before`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub newest: bool,
    /// With `newest`: only transactions before this id.
    pub before: Option<String>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes what it tests by reference"
)]
fn is_false(flag: &bool) -> bool {
    !flag
}
