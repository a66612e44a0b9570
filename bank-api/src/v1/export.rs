//! Exports: query and pages, and balances for Open `OnDemand`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Truth;

/// Query of `GET /api/v1/export/{format}`. Answer: [`ExportPage`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ExportQuery {
    /// Uses that ended at this time or later.
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub from: Option<String>,
    /// Uses that ended before this time.
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub to: Option<String>,
    /// Uses for this project, without those below it.
    pub project: Option<String>,
    /// Uses of this user.
    pub user: Option<String>,
    /// Uses of this machine.
    pub machine: Option<String>,
    /// The `next` of an earlier page or export: include only newer data.
    pub since: Option<String>,
    /// Records to look at for one page, 1 to 1000; 500 by default.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1000))]
    pub limit: Option<u32>,
    /// Put `'` before a text that a spreadsheet would evaluate as a formula. Default: yes for `csv`, no for
    /// `focus` and `nerc-*`.
    pub spreadsheet_safe: Option<Truth>,
    /// JSON Lines: `bank` (also without) or `auditor`.
    pub profile: Option<String>,
    /// `xdmod`: `slurm` (also without), a row for each job; or `openshift`, a row for each sample of a pod.
    pub layout: Option<String>,
    /// `nerc-invoice`: hours that began count as whole ones.
    pub round_up: Option<Truth>,
    /// `nerc-invoice`: only this namespace, by the classes of its pods.
    pub by_class: Option<String>,
    /// `nerc-invoice` and `nerc-pods`: times that are not billed, such as outages, each `FROM/TO`
    /// (exclusive), RFC 3339, with commas between.
    pub ignore: Option<String>,
    /// Count the values that the format cannot represent.
    pub explain_loss: Option<Truth>,
}

/// A part of an export: the first page's `head`, the `text` of every page and the last one's `tail`,
/// one behind the other, are the whole.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ExportPage {
    /// First part of the complete output.
    pub head: String,
    /// The records of this page.
    pub text: String,
    /// Last part of the complete output.
    pub tail: String,
    /// Records in the text.
    pub records: i64,
    /// Cursor of the next page or of a later export; `null` for a format without pages.
    pub next: Option<String>,
    /// Whether another page is available.
    pub more: bool,
    /// Records that the format cannot have, the first 100 of this page.
    pub skipped: Vec<Skipped>,
    /// Number of skipped records.
    pub skipped_count: i64,
    /// Number of skipped records, by reason.
    pub skipped_reasons: BTreeMap<String, i64>,
    /// With `explain_loss`: record fields that the format cannot represent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<Lost>,
}

/// A record that is not in an export although it was asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Skipped {
    /// Its name, as in `record_id`.
    pub record: String,
    /// Why.
    pub reason: String,
}

/// A field that a format has no place for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Lost {
    /// Its name in JSON Lines.
    pub field: String,
    /// Records that have it.
    pub records: i64,
}

/// A use in JSON Lines and CSV (`usage-records.md` 5.3), without missing values. Seconds and amounts are
/// decimal texts, times are RFC 3339 in UTC.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UsedLine {
    /// Its permanent name.
    pub record_id: String,
    /// The name of the record that it replaces: an amended use is sent again in full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
    /// `Job`, `Reservation` or `Adjustment`.
    pub kind: String,
    /// Adjustment: the record that it changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adjusts: Option<String>,
    /// Adjustment: `late_charge`, `refund`, `adjust` or `reverse`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The collector, if one reported it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// `Billed`, `Unbilled` (on the suspense account), or `Shadow` (no funds moved).
    pub outcome: String,
    /// Creation time of the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// The user of the job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The user's number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<i64>,
    /// The user's group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The group's number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gid: Option<i64>,
    /// The project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The machine.
    pub machine: String,
    /// The submit host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submit_host: Option<String>,
    /// Class, queue or partition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Quality of service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qos: Option<String>,
    /// Nodes by name; in CSV with commas between them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Type of the nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_type: Option<String>,
    /// The scheduler's id.
    pub local_job_id: String,
    /// The name of the job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_name: Option<String>,
    /// Submission.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submit_time: Option<String>,
    /// Start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_time: Option<String>,
    /// End.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_time: Option<String>,
    /// Wall time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_s: Option<String>,
    /// Charged time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub charge_s: Option<String>,
    /// Processors × seconds that the record adds to `bank usage`; negative for a reduction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processor_s: Option<String>,
    /// Processor time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_total_s: Option<String>,
    /// Processor time in user mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_user_s: Option<String>,
    /// Processor time in system mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_system_s: Option<String>,
    /// Wall time that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_s: Option<String>,
    /// Processors, a decimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processors: Option<String>,
    /// The share of them that is charged, a decimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proc_rate: Option<String>,
    /// Nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<i64>,
    /// Processors that were asked for, a decimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_processors: Option<String>,
    /// Most memory used on one node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_max_per_node_bytes: Option<i64>,
    /// Memory of the whole job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_total_bytes: Option<i64>,
    /// Memory that was asked for on each node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_memory_per_node_bytes: Option<i64>,
    /// GPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpus: Option<i64>,
    /// Final state.
    pub state: String,
    /// Exit code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// Charged amount, or the difference.
    pub charge: String,
    /// The bank's unit.
    pub charge_unit: String,
    /// Cost if no funds moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shadow_charge: Option<String>,
    /// The formula of the charge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formula: Option<String>,
    /// The principal investigator, from a mapping.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pi: Option<String>,
}

impl UsedLine {
    /// The first line of a file of them.
    pub const SCHEMA: &'static str = "{\"schema\":\"bank-usage/1\"}\n";

    /// The columns of CSV, which are the names of the fields.
    pub const COLUMNS: [&'static str; 46] = [
        "record_id",
        "replaces",
        "kind",
        "adjusts",
        "why",
        "source",
        "outcome",
        "created_at",
        "user",
        "uid",
        "group",
        "gid",
        "project",
        "machine",
        "submit_host",
        "class",
        "qos",
        "hosts",
        "host_type",
        "local_job_id",
        "job_name",
        "submit_time",
        "start_time",
        "end_time",
        "wall_s",
        "charge_s",
        "processor_s",
        "cpu_total_s",
        "cpu_user_s",
        "cpu_system_s",
        "requested_s",
        "processors",
        "proc_rate",
        "nodes",
        "requested_processors",
        "memory_max_per_node_bytes",
        "memory_total_bytes",
        "requested_memory_per_node_bytes",
        "gpus",
        "state",
        "exit_code",
        "charge",
        "charge_unit",
        "shadow_charge",
        "formula",
        "pi",
    ];

    /// Its line of JSON without the line feed; empty only if JSON cannot be written at all.
    pub fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Field names and texts in column order, without missing values.
    pub fn cells(&self) -> Vec<(String, String)> {
        let value = serde_json::to_value(self).unwrap_or_default();
        let field = |name: &&str| {
            let text = match value.get(name)? {
                serde_json::Value::String(text) => text.clone(),
                serde_json::Value::Array(all) => {
                    let all: Vec<&str> = all.iter().filter_map(|one| one.as_str()).collect();
                    all.join(",")
                }
                other => other.to_string(),
            };
            Some(((*name).to_owned(), text))
        };
        Self::COLUMNS.iter().filter_map(field).collect()
    }
}

/// Query of `GET /api/v1/ondemand/balances.json`. Answer: [`OnDemandBalances`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct OnDemandQuery {
    /// `amount` (also if absent): available amount. `percent`: share of the initial credits of the
    /// allocations that can be spent now. `days`: days left at the average rate of the last 30 days.
    pub value: Option<String>,
}

/// Balances as the dashboard of Open `OnDemand` reads them (`OOD_BALANCE_PATH`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OnDemandBalances {
    /// 1.
    pub version: u32,
    /// Time of the values, in seconds since 1970.
    pub timestamp: i64,
    /// Description of the values.
    pub config: OnDemandConfig,
    /// One for each member of each project.
    pub balances: Vec<OnDemandBalance>,
}

/// Description of the values of [`OnDemandBalances`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OnDemandConfig {
    /// The unit: the bank's, `%` or `days`.
    pub unit: String,
    /// `project`.
    pub project_type: String,
}

/// One balance of [`OnDemandBalances`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OnDemandBalance {
    /// The user.
    pub user: String,
    /// The project.
    pub project: String,
    /// Whole units, rounded down: the dashboard compares it with a whole threshold.
    pub value: i64,
}
