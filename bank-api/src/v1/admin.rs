//! Rates, keys and the state of the daemon.

use serde::{Deserialize, Serialize};

use super::{
    ClockStatus, LastBackup, Limited, NextCycle, RefusedAccess, SinkStatus, StuckBoundary,
};

/// The state of the daemon (`GET /api/v1/status`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Status {
    /// Version of `bankd`.
    pub version: String,
    /// False when the writer stopped or the last commit failed.
    pub healthy: bool,
    /// Why no command is taken now; empty if commands are.
    #[serde(default)]
    pub obstacles: Vec<String>,
    /// Seconds since the start.
    pub uptime_s: i64,
    /// Unit label of the amounts.
    pub unit: String,
    /// Decimals of an amount, 0 to 6.
    pub precision: u8,
    /// Version of the linked `SQLite`.
    pub sqlite_version: String,
    /// Transactions in the journal.
    pub journal_transactions: i64,
    /// Entries in the journal.
    pub journal_entries: i64,
    /// Size of the database in bytes.
    pub database_bytes: Option<i64>,
    /// Liens that hold money; `null` for restricted callers.
    pub open_liens: Option<i64>,
    /// Commands that wait for the writer.
    pub queue_depth: i64,
    /// Most commands that may wait.
    pub queue_capacity: i64,
    /// Commits since the start.
    pub commits: i64,
    /// Commands decided since the start.
    pub commands: i64,
    /// Usage on the suspense account; `null` for restricted callers.
    pub unbilled: Option<Unbilled>,
    /// Jobs for which more time was reported than can have been used; `null` for restricted callers.
    pub disputed: Option<i64>,
    /// The bank's mode, for machines and projects without one.
    pub mode: String,
    /// Every machine with its mode.
    #[serde(default)]
    pub machines: Vec<MachineStatus>,
    /// The ledger clock of the answer.
    #[serde(default)]
    pub at: String,
    /// State of the ledger's clock.
    #[serde(default)]
    pub clock: ClockStatus,
    /// The next instant with an automatic journal entry.
    pub next_boundary: Option<String>,
    /// The next boundary of a cycle.
    pub next_cycle: Option<NextCycle>,
    /// Boundaries that no rule lets be journalled now.
    #[serde(default)]
    pub stuck: Vec<StuckBoundary>,
    /// Number of stuck boundaries since the start.
    #[serde(default)]
    pub stuck_total: i64,
    /// The record files; empty for restricted callers.
    #[serde(default)]
    pub sinks: Vec<SinkStatus>,
    /// Collectors that have been silent for too long; empty for restricted callers.
    #[serde(default)]
    pub silent_sources: Vec<String>,
    /// Partner banks for which messages wait; empty for restricted callers.
    #[serde(default)]
    pub partners: Vec<super::PartnerWaiting>,
    /// Alerts; `null` for restricted callers.
    pub attention: Option<super::AttentionStatus>,
    /// Scheduled reports; `null` for restricted callers.
    pub reports: Option<super::ScheduleStatus>,
    /// Refusals of access since the start; empty for restricted callers.
    #[serde(default)]
    pub refused_access: Vec<RefusedAccess>,
    /// Requests since the start with a failed authentication, by cause. Empty for callers with a restricted
    /// view.
    #[serde(default)]
    pub auth_failures: std::collections::BTreeMap<String, i64>,
    /// Size of the write-ahead log in bytes: data that is not yet in the database file.
    pub wal_bytes: Option<i64>,
    /// The latest backup; `null` for restricted callers, and if there is none.
    pub last_backup: Option<LastBackup>,
    /// Error of the daemon's last automatic backup; `null` as above.
    pub backup_error: Option<String>,
    /// Error of the last checkpoint; `null` if it succeeded, or if none was requested.
    pub checkpoint_error: Option<String>,
    /// Whether the daemon has a key to sign checkpoints with. Present for people who may verify the bank.
    #[serde(default)]
    pub signs_checkpoints: bool,
    /// The cluster; `null` for a bank on a single machine.
    pub cluster: Option<super::ClusterStatus>,
    /// Requests refused by the limits of clients.
    #[serde(default)]
    pub limited: Limited,
}

/// Usage that no account could be found for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Unbilled {
    /// Number of instances with unbilled usage, counted up to 10,000.
    pub count: i64,
    /// Balance of the suspense account.
    pub amount: String,
}

/// A machine in [`Status`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MachineStatus {
    /// Name.
    pub name: String,
    /// The mode in force.
    pub mode: String,
    /// Time of the last document that named it.
    pub last_contact: Option<String>,
    /// The source that charges its usage; `null` until the first record.
    #[serde(default)]
    pub source: Option<String>,
    /// Its scheduler only tries the bank out.
    #[serde(default)]
    pub test: bool,
}

/// A charge rate (`GET /api/v1/rates`; ledger.md 3.1).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Rate {
    /// Row id.
    pub id: i64,
    /// `VBR`, `VBM`, `VBF`, `VBU`, `NBR`, `NBM`, `NBF`, `NBU`, …
    pub kind: String,
    /// The priced quantity: `Processors`, `QualityOfService`, …
    pub name: String,
    /// For name-based rates the value, `""` for all.
    pub instance: String,
    /// Exact decimal, at most 9 places.
    pub rate: String,
    /// `second`, `minute`, `hour`, `day`, or `none` for rates without time.
    pub per: String,
    /// Only on this machine; `null` on all.
    pub machine: Option<String>,
    /// Valid from; `null` from the beginning.
    pub from: Option<String>,
    /// Valid until, exclusive; `null` for ever.
    pub until: Option<String>,
    /// In which hours, such as `Mon-Fri 08:00-20:00 Europe/Berlin`; `null` always.
    pub when: Option<String>,
    /// Free text.
    pub description: Option<String>,
}

/// `POST /api/v1/rates`. Answer: `Written<Rate>`. It replaces the rate of the same kind, name, instance and
/// machine from `from` on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewRate {
    /// As [`Rate::kind`].
    pub kind: String,
    /// As [`Rate::name`].
    pub name: String,
    /// As [`Rate::instance`].
    #[serde(default)]
    pub instance: String,
    /// Exact decimal, at most 9 places.
    pub rate: String,
    /// As [`Rate::per`]; absent: `second` for rates, `none` for the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per: Option<String>,
    /// Only on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// Valid from; absent: now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Valid until, exclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// In which hours: `[DAYS] HH:MM-HH:MM[; …] [ZONE]`; absent: always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// Free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// A signing key without its secret (`GET /api/v1/keys/{id}`; http-auth.md 4).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Key {
    /// Key id, `[A-Za-z0-9._-]{1,64}`.
    pub id: String,
    /// The client that it belongs to.
    pub client: String,
    /// Roles of the client.
    #[serde(default)]
    pub roles: Vec<String>,
    /// Project scope; empty: all.
    #[serde(default)]
    pub projects: Vec<String>,
    /// Machine scope; empty: all.
    #[serde(default)]
    pub machines: Vec<String>,
    /// First moment it is accepted.
    pub valid_from: Option<String>,
    /// First moment it is no longer accepted.
    pub valid_until: Option<String>,
    /// `active`, `disabled`, or `expired`: its time is over.
    pub state: String,
    /// Identifies the secret without revealing it: `911f 523a 28a7 b02e`. Equal secrets have equal
    /// fingerprints.
    pub fingerprint: String,
    /// Time of the last signature, to the minute; `null` for never.
    pub last_used: Option<String>,
}

/// `POST /api/v1/keys`. Answer: [`NewKeyAnswer`]. Roles and scopes belong to the client; for a
/// client that exists they must be absent or equal.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewKey {
    /// Key id.
    pub id: String,
    /// Client; absent: the key id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// Roles: `admin`, `scheduler`, `auditor`, `user`.
    #[serde(default)]
    pub roles: Vec<String>,
    /// Project scope; empty: all.
    #[serde(default)]
    pub projects: Vec<String>,
    /// Machine scope; empty: all.
    #[serde(default)]
    pub machines: Vec<String>,
    /// `base64:…`, `hex:…` or plain text; absent: 32 random bytes are made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// For a peer of the Gold gateway: the secret has 1 to 63 printable ASCII characters, without blank,
    /// `#`, `\`, `"` and `'`. If none is given, the daemon generates 48 letters and digits. Without roles,
    /// the key gets that of a scheduler.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gold: bool,
    /// First moment it is accepted; absent: now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<String>,
    /// First moment it is no longer accepted; absent: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<String>,
}

/// `PATCH /api/v1/keys/{id}`. Answer: `Written<Key>`. A list that is given replaces the old one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PatchKey {
    /// `active` or `disabled`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Roles of the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roles: Option<Vec<String>>,
    /// Project scope; empty: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub projects: Option<Vec<String>>,
    /// Machine scope; empty: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machines: Option<Vec<String>>,
    /// First moment it is no longer accepted, or `infinity`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<String>,
}

/// The answer to [`NewKey`]. Only this answer contains the secret.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NewKeyAnswer {
    /// The key.
    pub key: Key,
    /// `base64:…` if the daemon generated it, plain text with `gold`. `null` if the caller gave it, on a
    /// dry run, and in the answer to a repeat.
    pub secret: Option<String>,
    /// The journal transaction; `null` on a dry run.
    pub transaction: Option<i64>,
    /// True when decided only.
    #[serde(default)]
    pub dry_run: bool,
}

/// Query of `GET /api/v1/keys`. Answer: `List<Key>`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct KeyQuery {
    /// Only keys of this client.
    pub client: Option<String>,
    /// Rows per page, 1 to 1000; default 1000.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1000))]
    pub limit: Option<u32>,
    /// Cursor of the page before.
    pub after: Option<String>,
}

// Both shapes carry a secret: their debug form must not.
impl std::fmt::Debug for NewKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewKey")
            .field("id", &self.id)
            .field("client", &self.client)
            .field("roles", &self.roles)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for NewKeyAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewKeyAnswer")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

/// One setting of the daemon (`GET /api/v1/settings`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Setting {
    /// `section.key`; in lists with a number, such as `deliver.2.by`.
    pub name: String,
    /// The value in force, as in the file; `null` if the setting waits for a restart.
    pub value: Option<String>,
    /// The value without file and environment; `null` in lists.
    pub default: Option<String>,
    /// Where the value comes from: `environment`, `file` or `default`.
    pub origin: String,
    /// Whether a reload (SIGHUP) changes it. Other settings need a restart.
    pub reload: bool,
    /// The value that was read at the last reload and waits for a restart.
    pub pending: Option<String>,
}
