//! Finished usage without a scheduler's decision, and the report of fallback accounts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Most records of one request.
pub const USAGE_RECORDS_MAX: usize = 1000;

/// One finished use (collectors.md 0.1): a line of `bank import jsonl`, and an item of
/// `POST /api/v1/usage`. Its identity is `source`, `id` and `start`. Times are RFC 3339; exact
/// decimals are strings, or JSON numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewUsage {
    /// The source of the record, such as `slurm:colony`.
    pub source: String,
    /// The job's id as the source prints it.
    pub id: String,
    /// `job` or `reservation`; absent: `job`.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Project that pays; absent: the user's default project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// User.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The amount that another bank charged for it: an exact decimal. The use is history of a bank that this one
    /// replaces. It counts in reports with this amount, and no money moves. For administrators only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charged_before: Option<String>,
    /// Group of the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Machine; absent: the only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// Quality of service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qos: Option<String>,
    /// Class (queue).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Submit time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submit: Option<String>,
    /// Start time. Absent: the job never started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// End time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    /// Wall time that was asked for, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested_s: Option<i64>,
    /// Processor-seconds used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_s: Option<Number>,
    /// Processors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<Number>,
    /// Nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Number>,
    /// Its hosts, the first of them first, such as `node[01-04]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Configured processors of nodes that the job held exclusively.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_processors: Option<Number>,
    /// Its quality of service grants exclusive use of its nodes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dedicated: bool,
    /// Values for the calculation of processor equivalents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equivalents: Option<NewEquivalents>,
    /// Memory in MB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_mb: Option<Number>,
    /// Disk in MB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_mb: Option<Number>,
    /// Generic resources: name to exact decimal count.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub gres: BTreeMap<String, Number>,
    /// Further usage attributes that rates may name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, String>,
    /// Final state: `completed`, `failed`, `timeout`, `removed`, `preempted`, `suspended`, `rejected`,
    /// `queued`, or `unknown`. Absent: derived from the exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
}

/// An exact decimal: a string, or a JSON number with its exact text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Written")]
pub struct Number(pub String);

#[derive(Deserialize)]
#[serde(untagged, expecting = "a number, or a string with one")]
enum Written {
    Text(String),
    Number(serde_json::Number),
}

impl From<Written> for Number {
    fn from(written: Written) -> Self {
        match written {
            Written::Text(text) => Number(text),
            Written::Number(number) => Number(number.to_string()),
        }
    }
}

/// Values for the calculation of processor equivalents (nami.md 4.3).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewEquivalents {
    /// The whole partition.
    pub partition: NewShare,
    /// Its requirements, at most 64.
    pub tasks: Vec<NewTasks>,
}

/// Processors, memory, disk and swap of a partition.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewShare {
    /// Processors.
    pub processors: Number,
    /// Memory in MB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_mb: Option<Number>,
    /// Disk in MB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_mb: Option<Number>,
    /// Swap in MB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swap_mb: Option<Number>,
}

/// One requirement: so many tasks, each with so much.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewTasks {
    /// Number of tasks.
    pub tasks: Number,
    /// Processors of each.
    pub processors: Number,
    /// Memory of each, in MB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_mb: Option<Number>,
    /// Disk of each, in MB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_mb: Option<Number>,
    /// Swap of each, in MB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swap_mb: Option<Number>,
}

/// `POST /api/v1/usage`: finished uses, 1 to 1000. Each is accepted or refused independently: an invalid
/// one does not affect the others. Answer: [`UsageTaken`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewUsages {
    /// [`NewUsage`] each.
    #[cfg_attr(feature = "openapi", schema(schema_with = records_schema))]
    pub records: Vec<serde_json::Value>,
}

/// Anything is taken as a record here: one of another shape is refused by itself, among the items.
#[cfg(feature = "openapi")]
fn records_schema() -> utoipa::openapi::schema::Array {
    use utoipa::openapi::schema::{AnyOfBuilder, ArrayBuilder, ObjectBuilder, SchemaType};
    let any = ObjectBuilder::new().schema_type(SchemaType::AnyValue);
    let record = AnyOfBuilder::new()
        .item(utoipa::openapi::Ref::from_schema_name("NewUsage"))
        .item(any);
    ArrayBuilder::new()
        .items(record)
        .min_items(Some(1))
        .max_items(Some(1000))
        .description(Some(
            "A `NewUsage` each; one of another shape is refused by itself.",
        ))
        .build()
}

/// Body of `POST /api/v1/usage`: one record, or several.
#[cfg(feature = "openapi")]
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(untagged)]
pub enum UsageBody {
    /// Up to a thousand.
    Several(NewUsages),
    /// One by itself.
    One(Box<NewUsage>),
}

/// Result of the records of one request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UsageTaken {
    /// One for each record, in their order.
    pub items: Vec<UsageItem>,
    /// The first journal transaction; `null` for none.
    pub transaction: Option<i64>,
    /// True when decided only.
    #[serde(default)]
    pub dry_run: bool,
}

/// Result of one record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UsageItem {
    /// The job's id.
    pub id: String,
    /// `charged`; `notional`: counted in the shadow totals only; `adjusted`: its values changed; `free`: the policy
    /// charges nothing; `unused`: the job never ran; `unbilled`: recorded on `#unbilled`; `duplicate`: recorded
    /// earlier; `kept`: another source charges the machine; `refused`.
    pub outcome: String,
    /// Billed amount; negative for a refund.
    pub amount: Option<String>,
    /// Unit label of the amount.
    #[serde(default)]
    pub unit: String,
    /// The account that paid first.
    pub account: Option<String>,
    /// The charge policy.
    pub policy: Option<String>,
    /// The values that the policy counted, such as `cpu 28800`, or the reason for none.
    pub counted: Option<String>,
    /// A refusal's code.
    pub code: Option<String>,
    /// Reason of the refusal, or a remark.
    pub detail: Option<String>,
    /// The journal transaction; `null` for none.
    pub transaction: Option<i64>,
}

/// Query of `GET /api/v1/report/fallback`. Answer: [`FallbackReport`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct FallbackQuery {
    /// Start of the period of shortfalls: RFC 3339, or a date, which begins at midnight UTC. Absent: 30
    /// days before its end.
    pub from: Option<String>,
    /// Its end, exclusive, in the same form. Absent: now.
    pub until: Option<String>,
    /// Only jobs that named this project first.
    pub project: Option<String>,
    /// Only this user.
    pub user: Option<String>,
    /// Only this machine.
    pub machine: Option<String>,
    /// Rows per page, 1 to 1000; default 1000.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1000))]
    pub limit: Option<u32>,
    /// Cursor of the page before.
    pub after: Option<String>,
}

/// Jobs that ran on a fallback account, with the reason.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FallbackReport {
    /// Start of the period.
    pub from: String,
    /// Its end, exclusive.
    pub until: String,
    /// The jobs, the first that was short first.
    pub items: Vec<FallbackJob>,
    /// Cursor of the next page; sums are of all pages.
    pub next: Option<String>,
    /// Sum of the amounts that their liens held.
    pub held: String,
    /// Sum of their charges.
    pub charged: String,
    /// False if the period has more rows than the limit of one answer. The oldest are included.
    pub complete: bool,
    /// Unit label of the amounts.
    pub unit: String,
}

/// A job that ran on another account than its own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FallbackJob {
    /// The scheduler's object id.
    pub job: String,
    /// Machine.
    pub machine: String,
    /// User as named.
    pub user: String,
    /// The project that was short.
    pub project: String,
    /// Cause of the change of account: `scheduler` or `bank`.
    pub by: String,
    /// The account that was short, else the project.
    pub from: String,
    /// The account that paid.
    pub to: String,
    /// Time of the shortfall.
    pub at: String,
    /// Required amount at that time.
    pub needed: String,
    /// Available amount at that time.
    pub available: String,
    /// Amount that the lien held initially.
    pub held: String,
    /// Charges so far.
    pub charged: String,
}

/// Result of `bank import`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Imported {
    /// Lines that held something.
    pub records: u64,
    /// Number of records by outcome, as in [`UsageItem::outcome`].
    pub outcomes: BTreeMap<String, u64>,
    /// Refused lines.
    pub bad: Vec<BadLine>,
    /// True when decided only.
    #[serde(default)]
    pub dry_run: bool,
}

/// A refused line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BadLine {
    /// Its number, from 1.
    pub line: u64,
    /// A refusal's code, or `bad_line`.
    pub code: String,
    /// Description of the error.
    pub detail: String,
}
