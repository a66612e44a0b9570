//! Machines, and how their schedulers' documents are meant.

use super::Mode;
use crate::ids::MachineId;
use crate::policy::ChargePolicy;
use crate::time::Seconds;

/// The flush interval of a machine for which none was set (nami.md 1.4).
pub const FLUSH_INTERVAL: Seconds = Seconds(3600);

/// A cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Its number.
    pub id: MachineId,
    /// Its name.
    pub name: String,
    /// Quotes and liens are refused while it is not.
    pub active: bool,
    /// Removed.
    pub deleted: bool,
    /// Its mode; the bank's default where it has none.
    pub mode: Option<Mode>,
    /// The scheduler's flush interval (decisions.md 12), 3600 s by default.
    pub flush_interval: Seconds,
    /// The account that pays if an account without its own fallback is short (nami.md 5): a name, or
    /// `+suffix`.
    pub fallback: Option<String>,
    /// Free text.
    pub description: String,
    /// Of its processors, such as `x86_64`.
    pub architecture: String,
    /// The operating system.
    pub operating_system: String,
    /// The source that charges its usage (decisions.md 19): `nami`, `gold` or the name of an import source;
    /// none until the first record claims it.
    pub source: Option<String>,
    /// The charge policy for finished usage (nami.md 4.3); `DEBITALLWC` if nothing is set.
    pub charge_policy: Option<ChargePolicy>,
    /// The quality of service that prices count for a job on its fallback account.
    pub fallback_qos: Option<String>,
    /// Its domain name: for usage records, where its own name is none (usage-records.md 6.3, note
    /// 2); empty for none.
    pub fqdn: String,
    /// The payer of reservations that name nobody: a project, or an account with one project (nami.md 4.1,
    /// ALWAYSCHARGERESERVATIONS).
    pub reservation_account: Option<String>,
    /// Its scheduler only tries the bank out: everything runs in mode `track` (nami.md 7).
    pub test: bool,
    /// The meaning of `ChargeDuration` in its scheduler's documents; the site's setting if it has none
    /// (nami.md 3.1).
    pub charge_duration: Option<ChargeDuration>,
    /// The time in its scheduler's documents about reservations.
    pub reservation_charge: ReservationCharge,
}

/// The time that documents about reservations report (decision 0171).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReservationCharge {
    /// Idle time only: each document is priced alone.
    #[default]
    Idle,
    /// All time: the bank leaves out the part that the reservation's own jobs used.
    Reported,
}

/// Every choice with its word.
pub const RESERVATION_CHARGES: [(ReservationCharge, &str); 2] = [
    (ReservationCharge::Idle, "idle"),
    (ReservationCharge::Reported, "reported"),
];

crate::words!(ReservationCharge, RESERVATION_CHARGES, "idle");

/// The meaning of a document's `ChargeDuration` (nami.md 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChargeDuration {
    /// Seconds since the last charge.
    #[default]
    Incremental,
    /// All seconds so far.
    Cumulative,
}

/// Every meaning with its word.
pub const CHARGE_DURATIONS: [(ChargeDuration, &str); 2] = [
    (ChargeDuration::Incremental, "incremental"),
    (ChargeDuration::Cumulative, "cumulative"),
];

crate::words!(ChargeDuration, CHARGE_DURATIONS, "incremental");
