//! Made from `docs/reference/openapi.json` by `tests/suite/client/shapes.rs`.

use serde::{Deserialize, Serialize};

use crate::record::Record;

/// Machines and their schedulers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Enable the machine; an inactive machine gets no quotes and no liens.
    pub active: bool,
    /// Architecture of the processors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub architecture: Option<String>,
    /// Meaning of `ChargeDuration`: incremental, cumulative, default.
    pub charge_duration: String,
    /// Charge policy for finished usage: DEBITALLWC, DEBITSUCCESSFULWC, DEBITALLCPU, DEBITSUCCESSFULCPU,
    /// DEBITALLPE, DEBITSUCCESSFULPE, DEBITALLBLOCKED, DEBITSUCCESSFULBLOCKED, DEBITALLNODE, DEBITSUCCESSFULNODE,
    /// DEBITREQUESTEDWC.
    pub charge_policy: String,
    /// Description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Account that pays if the project's account cannot. Without a value: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<String>,
    /// Quality of service that sets the price on the fallback account. Without a value: that of the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback_qos: Option<String>,
    /// Interval of charges to a running job: seconds, HH:MM:SS, minute, hour, day: 1 to 86400 seconds.
    pub flush_interval_s: i64,
    /// Domain name for usage records, if the machine's name is not one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fqdn: Option<String>,
    /// Mode; that of a project takes precedence: strict, fast, notional, track, default.
    pub mode: String,
    /// Name of the record.
    pub name: String,
    /// Operating system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operating_system: Option<String>,
    /// Project or account that pays for reservations without project and user. Without a value: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reservation_account: Option<String>,
    /// Time in documents about reservations: idle only, or all as reported: idle, reported.
    pub reservation_charge: String,
    /// Source of the usage that is charged: nami, gold or an import source. Without a value: the first that
    /// reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Test scheduler: all its usage runs in mode track.
    pub test: bool,
    /// Members that the site adds (`bank kind add`).
    #[serde(flatten)]
    pub more: Record,
}

/// A new machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewMachine {
    /// Enable the machine; an inactive machine gets no quotes and no liens. Default: true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active: Option<bool>,
    /// Architecture of the processors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub architecture: Option<String>,
    /// Meaning of `ChargeDuration`: incremental, cumulative, default. Default: default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charge_duration: Option<String>,
    /// Charge policy for finished usage: DEBITALLWC, DEBITSUCCESSFULWC, DEBITALLCPU, DEBITSUCCESSFULCPU,
    /// DEBITALLPE, DEBITSUCCESSFULPE, DEBITALLBLOCKED, DEBITSUCCESSFULBLOCKED, DEBITALLNODE, DEBITSUCCESSFULNODE,
    /// DEBITREQUESTEDWC. Default: DEBITALLWC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charge_policy: Option<String>,
    /// Description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Account that pays if the project's account cannot. Without a value: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<String>,
    /// Quality of service that sets the price on the fallback account. Without a value: that of the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback_qos: Option<String>,
    /// Interval of charges to a running job: seconds, HH:MM:SS, minute, hour, day: 1 to 86400 seconds. Default:
    /// 3600.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush_interval_s: Option<i64>,
    /// Domain name for usage records, if the machine's name is not one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fqdn: Option<String>,
    /// Mode; that of a project takes precedence: strict, fast, notional, track, default. Default: default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Name of the record.
    pub name: String,
    /// Operating system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operating_system: Option<String>,
    /// Project or account that pays for reservations without project and user. Without a value: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reservation_account: Option<String>,
    /// Time in documents about reservations: idle only, or all as reported: idle, reported. Default: idle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reservation_charge: Option<String>,
    /// Source of the usage that is charged: nami, gold or an import source. Without a value: the first that
    /// reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Test scheduler: all its usage runs in mode track. Default: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<bool>,
    /// Members that the site adds (`bank kind add`).
    #[serde(flatten)]
    pub more: Record,
}

/// Changes to a machine. A member that is absent stays; an empty text clears one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatchMachine {
    /// Enable the machine; an inactive machine gets no quotes and no liens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active: Option<bool>,
    /// Architecture of the processors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub architecture: Option<String>,
    /// Meaning of `ChargeDuration`: incremental, cumulative, default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charge_duration: Option<String>,
    /// Charge policy for finished usage: DEBITALLWC, DEBITSUCCESSFULWC, DEBITALLCPU, DEBITSUCCESSFULCPU,
    /// DEBITALLPE, DEBITSUCCESSFULPE, DEBITALLBLOCKED, DEBITSUCCESSFULBLOCKED, DEBITALLNODE, DEBITSUCCESSFULNODE,
    /// DEBITREQUESTEDWC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charge_policy: Option<String>,
    /// Description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Account that pays if the project's account cannot. Without a value: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<String>,
    /// Quality of service that sets the price on the fallback account. Without a value: that of the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback_qos: Option<String>,
    /// Interval of charges to a running job: seconds, HH:MM:SS, minute, hour, day: 1 to 86400 seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush_interval_s: Option<i64>,
    /// Domain name for usage records, if the machine's name is not one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fqdn: Option<String>,
    /// Mode; that of a project takes precedence: strict, fast, notional, track, default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Operating system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operating_system: Option<String>,
    /// Project or account that pays for reservations without project and user. Without a value: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reservation_account: Option<String>,
    /// Time in documents about reservations: idle only, or all as reported: idle, reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reservation_charge: Option<String>,
    /// Source of the usage that is charged: nami, gold or an import source. Without a value: the first that
    /// reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Test scheduler: all its usage runs in mode track.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<bool>,
    /// Members that the site adds (`bank kind add`).
    #[serde(flatten)]
    pub more: Record,
}
