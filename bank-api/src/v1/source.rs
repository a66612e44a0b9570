//! Collectors, and the charges for their records.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Query of `GET /api/v1/sources`. Answer: a list of [`Source`], by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SourceQuery {
    /// Those that were removed too.
    #[serde(default)]
    pub all: bool,
    /// Rows per page, 1 to 1000; default 1000.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1000))]
    pub limit: Option<u32>,
    /// Cursor of the page before.
    pub after: Option<String>,
}

/// A collector: who reports finished usage, by the name in each record's identity.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Source {
    /// Its name, such as `slurm:colony`.
    pub name: String,
    /// The format of its data; `null` for records through the API.
    pub format: Option<String>,
    /// The machine for its records without one.
    pub machine: Option<String>,
    /// Machines that its records charge; on all others they are kept.
    pub charges: Vec<String>,
    /// Time of the first contact; `null` if it was not recorded.
    pub first_contact: Option<String>,
    /// Time of the last contact.
    pub last_contact: Option<String>,
    /// The latest end of a use that it reported.
    pub last_event: Option<String>,
    /// Seconds from that end to now; negative if its clock is ahead.
    pub lag_s: Option<i64>,
    /// Seconds without a word after which it counts as silent; 0 for never.
    pub silent_after_s: i64,
    /// It has been silent for longer than that.
    pub silent: bool,
    /// Records of its input.
    pub records: i64,
    /// Jobs among them.
    pub jobs: i64,
    /// Records that are not charged, such as jobs that never started.
    pub skipped: i64,
    /// Records that could not be read or taken, ever.
    pub rejected: i64,
    /// Those of them that are in the quarantine now.
    pub quarantined: i64,
    /// Whether it was removed from the list and has made no contact since.
    pub removed: bool,
    /// The files that the daemon follows for it.
    pub follow: Vec<Followed>,
}

/// A file that the daemon follows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Followed {
    /// The path of the settings.
    pub path: String,
    /// `ok`; `waiting`: there is no such file; `failing`: see `error`.
    pub state: String,
    /// The file that is read now.
    pub file: Option<String>,
    /// Bytes of it that are taken.
    pub offset: i64,
    /// Bytes of it that are not.
    pub behind: i64,
    /// Error that prevents intake.
    pub error: Option<String>,
    /// Looks that failed since the daemon started.
    pub failures: i64,
    /// Files, and parts of files, that are not read.
    #[serde(default)]
    pub left_out: Vec<LeftOut>,
}

/// A file beside a followed one that is not read, or not from some place on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LeftOut {
    /// The file, by the name that it had.
    pub file: String,
    /// `before_first_start`; `unsupported_compression`; `unreadable`: the daemon retries; `emptied`: the
    /// file was truncated in place without a copy; `gone`: the file was removed before the daemon read it
    /// completely.
    pub reason: String,
    /// Bytes of it that were read.
    pub read: i64,
}

/// `PATCH /api/v1/sources/{name}`. Answer: `Written<Source>`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PatchSource {
    /// Seconds without a word after which it counts as silent, `never`, or `default` for
    /// `sources.silent_after_s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silent_after: Option<String>,
}

/// Query of `GET /api/v1/reconcile`. Answer: [`Reconciled`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ReconcileQuery {
    /// The machine; absent: the only one.
    pub machine: Option<String>,
    /// Only the records of this collector; absent: of all that do not charge the machine.
    pub source: Option<String>,
    /// Uses that ended from here on; absent: 30 days before `until`.
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub from: Option<String>,
    /// And before here; absent: now.
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub until: Option<String>,
    /// Seconds by which wall times may differ and be equal, 0 to 86,400; absent: 1.
    pub tolerance_s: Option<i64>,
    /// Matched rows too; they are counted in any case.
    #[serde(default)]
    pub all: bool,
    /// Rows to search, 1 to 10,000; absent: 1,000.
    pub limit: Option<u32>,
    /// End of the previous page.
    pub after: Option<String>,
}

/// Charges on a machine compared with records of other sources. Each page has the sums of its rows. Add the
/// pages for the sums of the whole period.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Reconciled {
    /// The machine.
    pub machine: String,
    /// The source of the charges: the collector, or `scheduler`.
    pub charged_by: String,
    /// Start of the period.
    pub from: String,
    /// Its end, exclusive.
    pub until: String,
    /// Differences.
    pub items: Vec<ReconcileRow>,
    /// Sums by kind.
    pub totals: BTreeMap<String, ReconcileSum>,
    /// Cursor of the next page.
    pub next: Option<String>,
    /// Unit label of the amounts.
    pub unit: String,
}

/// One use, as recorded and as charged. A value that one side does not have is `null`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReconcileRow {
    /// `matched`, `differs`, `not_charged`: recorded and never charged; `not_recorded`: charged, and
    /// in no record; `charged_twice`: by two sources; `negative`: it ends before it starts.
    pub kind: String,
    /// The job.
    pub job: String,
    /// The collector of the record.
    pub source: Option<String>,
    /// Start.
    pub start: Option<String>,
    /// End.
    pub end: Option<String>,
    /// Differences, such as `wall +3600 s`: recorded minus charged.
    pub differences: Vec<String>,
    /// Wall seconds of the record, an exact decimal.
    pub wall_s: Option<String>,
    /// Wall seconds that were charged.
    pub charged_wall_s: Option<String>,
    /// Processors of the record.
    pub processors: Option<String>,
    /// Processors that were charged.
    pub charged_processors: Option<String>,
    /// Project of the record, or its account if it has none.
    pub project: Option<String>,
    /// Project that was charged.
    pub charged_project: Option<String>,
    /// User of the record.
    pub user: Option<String>,
    /// User that was charged.
    pub charged_user: Option<String>,
    /// Charges, real and shadow together.
    pub amount: Option<String>,
}

/// The sum of one kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReconcileSum {
    /// Uses.
    pub jobs: i64,
    /// Processor-seconds recorded, an exact decimal.
    pub processor_s: String,
    /// Processor-seconds charged.
    pub charged_processor_s: String,
    /// Charges.
    pub amount: String,
}
