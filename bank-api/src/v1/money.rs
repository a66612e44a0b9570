//! Accounts, allocations, deposits, withdrawals and balances.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One entry of a list of an account (ledger.md 4).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Constraint {
    /// A name, `ANY`, or `MEMBERS` (the active members of the project, its member machines).
    pub value: String,
    /// False denies; a denial always wins.
    pub allow: bool,
    /// Projects only: matches the descendants of the project too.
    #[serde(default)]
    pub subtree: bool,
}

/// An account (`GET /api/v1/accounts/{name}`, by name or id). The five figures are sums over the
/// allocations that are active now (ledger.md 2.5).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Account {
    /// Row id.
    pub id: i64,
    /// Unique name.
    pub name: String,
    /// It was removed; a later account can have its name.
    #[serde(default, skip_serializing_if = "super::past::is_no")]
    pub removed: bool,
    /// Free text.
    pub description: Option<String>,
    /// Projects that may spend.
    #[serde(default)]
    pub projects: Vec<Constraint>,
    /// Users who may spend.
    #[serde(default)]
    pub users: Vec<Constraint>,
    /// On which machines it may be spent.
    #[serde(default)]
    pub machines: Vec<Constraint>,
    /// Further lists by attribute: `class`, `qos`, `group`, `organization`, or the name of a usage
    /// attribute.
    #[serde(default)]
    pub constraints: BTreeMap<String, Vec<Constraint>>,
    /// The account above it, `null` for none.
    pub parent: Option<String>,
    /// Percent of every deposit into the parent that this account receives.
    #[serde(default)]
    pub share: i64,
    /// Whether the parent pays after it: `no`, `yes`, or `any` (the lists of the parent are ignored).
    #[serde(default)]
    pub overflow: String,
    /// Each lien or charge uses exactly one of its allocations.
    #[serde(default)]
    pub discrete: bool,
    /// Lower is spent first.
    pub priority: i64,
    /// Account that pays in place of this one, `null` for none.
    pub fallback: Option<String>,
    /// Set by a charge below zero in mode `fast`, cleared by a deposit.
    pub blocked: bool,
    /// Remaining amount of the active allocations.
    pub amount: String,
    /// Open liens on the active allocations.
    pub held: String,
    /// `amount - held`.
    pub balance: String,
    /// Sum of the credit limits of the active allocations.
    pub credit_limit: String,
    /// `balance + credit_limit`.
    pub available: String,
    /// Credits, as in [`Balance::allocated`]; `null` in the answer to a change.
    pub allocated: Option<String>,
    /// As in [`Balance::capacity`].
    pub capacity: Option<String>,
    /// As in [`Balance::used`].
    pub used: Option<String>,
    /// As in [`Balance::used_percent`].
    pub used_percent: Option<String>,
    /// Unit label of the amounts.
    #[serde(default)]
    pub unit: String,
}

/// `POST /api/v1/accounts`. Answer: `Written<Account>`. An empty list means `ANY`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewAccount {
    /// Unique name.
    #[cfg_attr(feature = "openapi", schema(min_length = 1))]
    pub name: String,
    /// Free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Projects that may spend.
    #[serde(default)]
    pub projects: Vec<Constraint>,
    /// Users who may spend.
    #[serde(default)]
    pub users: Vec<Constraint>,
    /// On which machines it may be spent.
    #[serde(default)]
    pub machines: Vec<Constraint>,
    /// Further lists, as in [`Account::constraints`].
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub constraints: BTreeMap<String, Vec<Constraint>>,
    /// The account above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Percent of deposits into the parent, 0 to 100; default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<i64>,
    /// `no`, `yes` or `any`; default `no`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overflow: Option<String>,
    /// Each lien or charge uses exactly one of its allocations; default false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discrete: Option<bool>,
    /// Lower is spent first; default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    /// Account that pays in place of this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<String>,
}

/// `PATCH /api/v1/accounts/{name}`. Answer: `Written<Account>`. A list that is given replaces the
/// old one; an empty string clears a text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PatchAccount {
    /// Free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Projects that may spend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub projects: Option<Vec<Constraint>>,
    /// Users who may spend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users: Option<Vec<Constraint>>,
    /// On which machines it may be spent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machines: Option<Vec<Constraint>>,
    /// Further lists; those not named stay, an empty one is taken away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constraints: Option<BTreeMap<String, Vec<Constraint>>>,
    /// The account above it; the empty string for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Percent of deposits into the parent, 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<i64>,
    /// `no`, `yes` or `any`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overflow: Option<String>,
    /// Each lien or charge uses exactly one of its allocations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discrete: Option<bool>,
    /// Lower is spent first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    /// Account that pays in place of this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<String>,
}

/// An allocation (`GET /api/v1/allocations/{id}`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Allocation {
    /// Row id.
    pub id: i64,
    /// Name of its account.
    pub account: String,
    /// `future`, `active` or `expired`, at the ledger clock.
    pub state: String,
    /// First moment it can be spent; `null` without beginning.
    pub start: Option<String>,
    /// First moment it can no longer be spent; `null` without end.
    pub until: Option<String>,
    /// Remaining amount; negative after a debt.
    pub amount: String,
    /// Open liens on it.
    pub held: String,
    /// Lowest balance below zero that liens and quotes may cause.
    pub credit_limit: String,
    /// Sum of its deposits.
    pub deposited: String,
    /// Charged in the modes `notional` and `track`, apart from `amount`.
    pub shadow_charged: String,
    /// Held in the modes `notional` and `track`, apart from `held`.
    pub shadow_held: String,
    /// Unit label of the amounts.
    #[serde(default)]
    pub unit: String,
}

/// `PATCH /api/v1/allocations/{id}`. Answer: `Written<Allocation>`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PatchAllocation {
    /// New start, or `-infinity`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// New end, or `infinity`. An end in the last hour means now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Accept an end that is more than one hour ago, which means now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_past: bool,
    /// New credit limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credit_limit: Option<String>,
    /// Refused with `not_settable`: deposits, withdrawals and `adjust` change it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<String>,
    /// Always refused with `not_settable`, because the window determines it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active: Option<bool>,
    /// Refused with `not_settable`: deposits raise it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deposited: Option<String>,
    /// Refused with `not_settable`: `bank transfer` moves the money.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
}

/// Query of `GET /api/v1/allocations`. Answer: `List<Allocation>`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct AllocationQuery {
    /// Account name or id.
    pub account: Option<String>,
    /// Only of the accounts of this project.
    pub project: Option<String>,
    /// `future`, `active` or `expired`.
    #[cfg_attr(feature = "openapi", schema(pattern = "^(future|active|expired)$"))]
    pub state: Option<String>,
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

/// `POST /api/v1/deposits` (ledger.md 2.1). Answer: `Receipt`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewDeposit {
    /// An account, or a project with exactly one account.
    #[cfg_attr(feature = "openapi", schema(min_length = 1))]
    pub name: String,
    /// Exact decimal; more digits than the precision are refused.
    #[cfg_attr(feature = "openapi", schema(pattern = r"^-?[0-9]+(\.[0-9]+)?$"))]
    pub amount: String,
    /// Top up this allocation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocation: Option<i64>,
    /// Start of the window; absent or `-infinity`: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// End of the window, exclusive; absent or `infinity`: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    /// Credit limit of the allocation; absent: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credit_limit: Option<String>,
    /// Always make a new allocation.
    #[serde(default)]
    pub new: bool,
    /// Accept a window that is entirely in the past.
    #[serde(default)]
    pub allow_past: bool,
    /// Deposit the whole amount into this account, nothing into accounts below it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_tree: bool,
    /// When it counts (RFC 3339): not later than now, and not in a closed period; absent: now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective: Option<String>,
    /// Reason, kept in the journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// `POST /api/v1/withdrawals` (ledger.md 2.2). Answer: `Receipt`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewWithdrawal {
    /// An account, or a project with exactly one account.
    #[cfg_attr(feature = "openapi", schema(min_length = 1))]
    pub name: String,
    /// Exact decimal above zero.
    #[cfg_attr(feature = "openapi", schema(pattern = r"^-?[0-9]+(\.[0-9]+)?$"))]
    pub amount: String,
    /// Take from this allocation only; it may be inactive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocation: Option<i64>,
    /// Do not touch the credit limit.
    #[serde(default)]
    pub no_credit: bool,
    /// Reason, kept in the journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The result of a deposit or a withdrawal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Receipt {
    /// The journal transaction; `null` on a dry run.
    pub transaction: Option<i64>,
    /// Account name.
    pub account: String,
    /// The credited or debited allocation; `null` for several, and on a dry run that would create one.
    pub allocation: Option<i64>,
    /// The amount moved, positive.
    pub amount: String,
    /// Unit label of the amounts.
    pub unit: String,
    /// True when the allocation can be spent now.
    pub active: bool,
    /// Start of its window.
    pub start: Option<String>,
    /// End of its window, exclusive.
    pub until: Option<String>,
    /// True when the deposit made the allocation.
    #[serde(default)]
    pub created: bool,
    /// For a deposit that also reached accounts below: every allocation that received funds, in journal
    /// order. Otherwise empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<ReceiptPart>,
    /// The account's `amount` afterwards.
    pub amount_after: Option<String>,
    /// The account's `available` afterwards.
    pub available_after: Option<String>,
    /// True when decided only.
    #[serde(default)]
    pub dry_run: bool,
    /// Warnings about an accepted request.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// One part of a deposit into several accounts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReceiptPart {
    /// Account name.
    pub account: String,
    /// The allocation; `null` on a dry run that would make it.
    pub allocation: Option<i64>,
    /// Amount received.
    pub amount: String,
    /// True when the deposit made the allocation.
    pub created: bool,
}

/// One row of `GET /api/v1/balances`: an account as one project sees it (ledger.md 2.5, ux.md
/// 2.3). Rows come in the order of display: a sub-project below its parent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Balance {
    /// Account row id.
    pub account_id: i64,
    /// Account name.
    pub account: String,
    /// The project of the row; `null` for an account of several projects or none.
    pub project: Option<String>,
    /// Its parent project.
    pub parent: Option<String>,
    /// Number of its ancestors in the list above it (0 at the top). Terminal output indents by it.
    pub depth: u32,
    /// Sum of the deposits of the active allocations.
    pub deposited: String,
    /// Charges less refunds; withdrawals and transfers are none (ledger.md 2.5).
    pub used: String,
    /// Remaining amount of the active allocations.
    pub amount: String,
    /// Open liens on the active allocations.
    pub held: String,
    /// `amount - held`.
    pub balance: String,
    /// Sum of the credit limits of the active allocations.
    pub credit_limit: String,
    /// `balance + credit_limit`: the number that decides.
    pub available: String,
    /// Open liens on allocations that are not active yet.
    pub held_future: String,
    /// Open liens on allocations that have expired.
    pub held_expired: String,
    /// Amount of the allocations that are not active yet.
    pub future: String,
    /// Shadow charges (modes `notional` and `track`).
    pub shadow_used: String,
    /// Shadow liens (modes `notional` and `track`).
    pub shadow_held: String,
    /// Earliest end of an active allocation with money, exclusive; `null` without end.
    pub until: Option<String>,
    /// Set by a charge below zero in mode `fast`.
    pub blocked: bool,
    /// `amount + used`: deposits and transfers in, less withdrawals and transfers out.
    #[serde(default)]
    pub allocated: String,
    /// `allocated + credit_limit`.
    #[serde(default)]
    pub capacity: String,
    /// `100 × used ÷ allocated`, two decimals; `null` without allocations.
    pub used_percent: Option<String>,
    /// `100 - used_percent`; `null` without allocations.
    pub remaining_percent: Option<String>,
    /// Average charges per day, over at most 30 days. Present only if the query requests it; `null` without
    /// charges, or if the journal is younger than a day.
    pub burn_per_day: Option<String>,
    /// Forecast of the time when no funds are available at that rate.
    pub empty_at: Option<String>,
    /// Whole days until the money is used up at that rate, or until the first end at which some of it is left over,
    /// whichever is first. Present only with the rate; `null` if there is nothing to spend, or no end is in sight.
    pub days_to_spend: Option<i64>,
    /// The first end at which money will be left over at that rate.
    pub unused_at: Option<String>,
    /// Amount that expires unused.
    pub unused: Option<String>,
    /// Label of the unit, if one processor costs one for each unit of time: `core-hours`, ….
    pub unit_means: Option<String>,
    /// Unit label of the amounts.
    pub unit: String,
    /// The ledger clock at which the row holds.
    #[serde(default)]
    pub at: String,
}

/// Query of `GET /api/v1/balances`. Answer: `List<Balance>`. An absent parameter matches everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct BalanceQuery {
    /// Accounts usable by this project, and those of its descendants.
    pub project: Option<String>,
    /// Accounts usable by this user.
    pub user: Option<String>,
    /// Accounts usable on this machine.
    pub machine: Option<String>,
    /// Only this account, by name or id.
    pub account: Option<String>,
    /// Only accounts whose name, or the name of whose project, contains this text, in capitals or not.
    pub search: Option<String>,
    /// State at this instant; absent: now.
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub at: Option<String>,
    /// With `at`: use only data that was recorded by then.
    #[serde(default, skip_serializing_if = "super::past::is_no")]
    pub recorded: bool,
    /// Include charges per day and the forecast at that rate.
    #[serde(default)]
    pub burn: bool,
    /// Rows per page, 1 to 1000; default 1000.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1000))]
    pub limit: Option<u32>,
    /// Cursor of the page before.
    pub after: Option<String>,
}
