//! The settings: `bankd.toml`, then the environment `BANKD_SECTION_KEY`, then the ranges.
//!
//! Every setting has a default and every limit a range. A misspelled key is an error with line and
//! key, never silently a default. Only this module and its submodules read the environment. Secrets
//! are not settings: they are files in `keys/`.

pub mod data_dir;
pub mod zones;

mod approval;
mod attention;
mod auditor;
mod auditor_tls;
mod auth;
mod backup;
mod beside;
mod check;
mod checkpoint;
mod cluster;
mod deliver;
mod export;
pub mod follow;
mod gold;
mod http;
mod import;
mod limits;
mod listed;
mod loopback;
mod notices;
mod overlay;
mod partners;
mod place;
mod report;
mod sample;
mod schedule;
mod sink;
mod sources;
#[cfg(test)]
mod tests;
mod web;
mod web_oidc;
mod words;

use std::path::{Path, PathBuf};

use bank_core::directory::Policy;
use bank_core::time::Seconds;
use serde::{Deserialize, Serialize};

pub use approval::Approval;
pub use attention::Attention;
pub use auditor::Auditor;
pub use auditor_tls::{AuditorAccess, AuditorMetrics, AuditorTls, EVERYBODY};
pub use auth::Auth;
pub use backup::Backup;
pub use bank_core::domain::is_address;
pub use beside::{Beside, beside};
pub use checkpoint::Checkpoint;
pub use cluster::Cluster;
pub use deliver::{DELIVERS_MAX, Deliver, DeliverWord, WebAddress};
pub use export::Export;
pub use follow::{FOLLOWS_MAX, Follow};
pub use gold::{Gold, GoldPeer, Network, NoFundsWord};
pub use http::Http;
pub use import::{CHUNK_ONLINE, Import, ImportLimits};
pub use limits::{Bounds, ClientLimits, Limits};
pub use listed::{Origin, Setting, is_live};
pub use loopback::is_loopback;
pub use notices::Notices;
pub use partners::PartnerLinks;
pub use place::located;
pub use report::{MachinePower, Report};
pub use sample::SAMPLE;
pub use schedule::{
    EachWord, FormWord, KINDS, Kind, PeriodWord, SCHEDULES_MAX, ScheduledReport, of_number,
};
pub use sink::{SINKS_MAX, Sink};
pub use sources::Sources;
pub use web::{Web, WebHeader};
pub use web_oidc::WebOidc;
pub use words::{
    ChargeDurationWord, DialectWord, EscapeWord, ExcessWord, FallbackWord, FormatWord, FsyncWord,
    Level, LogFormat, ModeWord, OrderWord, OverlapWord, RoundingWord, ShortfallWord,
};

/// Every setting.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Listeners and limits of requests.
    pub http: Http,
    /// Permissions of people on the socket.
    pub access: Access,
    /// The rules.
    pub ledger: Ledger,
    /// The scheduler's documents.
    pub nami: Nami,
    /// Fallback accounts for insufficient funds.
    pub fallback: Fallback,
    /// Charges with missing money or unusual time.
    pub charge: Charge,
    /// FILE records.
    pub file: File,
    /// GGF records.
    pub ggf: Ggf,
    /// Further record files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sink: Vec<Sink>,
    /// Live files that are followed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub follow: Vec<Follow>,
    /// Thresholds of alerts.
    pub attention: Attention,
    /// Targets of notifications.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deliver: Vec<Deliver>,
    /// Reports that the daemon makes.
    pub report: Report,
    /// Reports with schedule and recipients.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scheduled_report: Vec<ScheduledReport>,
    /// Expectations for collectors.
    pub sources: Sources,
    /// Usage files.
    pub import: Import,
    /// Signed checkpoints.
    pub checkpoint: Checkpoint,
    /// Limits per client.
    pub limits: Limits,
    /// Data of the site for exports.
    pub export: Export,
    /// Copies of the bank.
    pub backup: Backup,
    /// The log.
    pub log: Log,
    /// Signatures.
    pub auth: Auth,
    /// Amounts that need a second person's approval.
    pub approval: Approval,
    /// The Gold gateway.
    pub gold: Gold,
    /// AUDITOR's API.
    pub auditor: Auditor,
    /// Connections to partner banks.
    pub partners: PartnerLinks,
    /// A bank on several machines.
    pub cluster: Cluster,
    /// The web pages.
    pub web: Web,
}

/// `[access]`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Access {
    /// The system group whose members are admin on the socket; empty for none.
    pub admin_group: String,
    /// Users of the socket with the scheduler role.
    pub scheduler_users: Vec<String>,
    /// Users of the socket with read access to everything.
    pub auditor_users: Vec<String>,
}

/// Commands in one database transaction at most.
pub const BATCH_MAX: usize = 256;

/// `[ledger]`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ledger {
    /// Mode of machines and projects without one of their own (decisions.md 18).
    pub mode: ModeWord,
    /// How an exact price becomes an amount (decisions.md 7).
    pub rounding: RoundingWord,
    /// Seconds that a lien outlives its wall duration, 0 to 86,400 (decisions.md 12).
    pub lien_grace_s: i64,
    /// How long the lien of a job that its scheduler has ended waits for the record of the source that
    /// charges the machine, 0 to 2,678,400.
    pub record_wait_s: i64,
    /// Commands in one commit at most, 1 to 256 (`limits.md` 6.1).
    pub batch_max: usize,
    /// Whether the end of an allocation or the distance of its account decides first which pays.
    pub selection_order: OrderWord,
    /// Liens only use allocations that last as long as the lien.
    pub lien_require_cover: bool,
    /// No two allocations of an account may be usable at the same time.
    pub discrete_allocations: bool,
    /// Seconds that the clock may jump ahead, unseen, and be followed: 60 to ten years.
    pub max_jump_s: i64,
    /// Seconds that the bank may have been off, and the clock is followed at its start: 0 to ten
    /// years.
    pub max_downtime_s: i64,
}

impl Default for Ledger {
    fn default() -> Self {
        Self {
            mode: ModeWord::default(),
            rounding: RoundingWord::default(),
            lien_grace_s: 600,
            record_wait_s: 86_400,
            batch_max: BATCH_MAX,
            selection_order: OrderWord::default(),
            lien_require_cover: false,
            discrete_allocations: false,
            max_jump_s: 3600,
            max_downtime_s: 604_800,
        }
    }
}

/// `[nami]`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Nami {
    /// Every quote becomes a row with a TID.
    pub print_tid: bool,
    /// The variable that carries the TID (decisions.md 26), 1 to 64 bytes.
    pub tid_variable: String,
    /// Read documents that are not UTF-8 as Latin-1.
    pub latin1_fallback: bool,
    /// The machine where neither document, query nor key names one.
    pub machine: String,
    /// The meaning of `ChargeDuration`, for machines without a setting of their own.
    pub charge_duration: ChargeDurationWord,
    /// Treatment of reported time beyond the possible usage (`nami.md` 1.4).
    pub excess: ExcessWord,
    /// Bill the amount that a document asserts, where it does (`nami.md` 4.2).
    pub trust_asserted_amount: bool,
}

impl Default for Nami {
    fn default() -> Self {
        Self {
            print_tid: false,
            tid_variable: "BILLTID".to_owned(),
            latin1_fallback: false,
            machine: String::new(),
            charge_duration: ChargeDurationWord::default(),
            excess: ExcessWord::default(),
            trust_asserted_amount: false,
        }
    }
}

/// `[fallback]`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Fallback {
    /// Who chooses the fallback account (`nami.md` 5).
    pub mode: FallbackWord,
}

/// `[charge]`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Charge {
    /// Who pays the part that lien and free money do not cover (`ledger.md` 2.8).
    pub shortfall: ShortfallWord,
    /// Whether credits without a start date pay for usage from before their deposit.
    pub later_credits_pay: bool,
    /// Treatment of a window that was already billed (decisions.md 8).
    pub overlap: OverlapWord,
}

/// `[file]`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct File {
    /// The file; a relative path starts at the data directory; empty for off.
    pub path: String,
    /// The form of the lines.
    pub dialect: DialectWord,
    /// One line per charge; false: one when the instance closes (decisions.md 28).
    pub interim: bool,
    /// Add `QOS=`, `NODES=` and `AMOUNT=`.
    pub extended: bool,
    /// Treatment of bytes that would break a reader (`usage-records.md` 4.3).
    pub escape: EscapeWord,
    /// Written where there is no account.
    pub blank_account: String,
    /// Written where there is no user.
    pub blank_user: String,
    /// When a line counts as written.
    pub fsync: FsyncWord,
}

impl Default for File {
    fn default() -> Self {
        Self {
            path: String::new(),
            dialect: DialectWord::default(),
            interim: true,
            extended: false,
            escape: EscapeWord::default(),
            blank_account: "[NONE]".to_owned(),
            blank_user: "KITTY".to_owned(),
            fsync: FsyncWord::default(),
        }
    }
}

/// `[ggf]`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ggf {
    /// The file; a relative path starts at the data directory; empty for off.
    pub path: String,
    /// Write a record for changes after the close (`usage-records.md` 1.8).
    pub adjustments: bool,
    /// When a line counts as written.
    pub fsync: FsyncWord,
}

impl Default for Ggf {
    fn default() -> Self {
        Self {
            path: String::new(),
            adjustments: true,
            fsync: FsyncWord::default(),
        }
    }
}

/// `[log]`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Log {
    /// The least important line that is written.
    pub level: Level,
    /// The form of a line.
    pub format: LogFormat,
}

impl Config {
    /// Reads the file, where there is one, and the environment.
    ///
    /// # Errors
    /// One line: file and line, or the variable, then the key and the error.
    pub fn load(path: &Path) -> Result<Self, String> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(e) => return Err(format!("{}: {e}", path.display())),
        };
        Self::of_text(&text, &path.display().to_string())
    }

    /// The same of a text; `name` is its name in errors.
    ///
    /// # Errors
    /// Same as [`Self::load`].
    pub fn of_text(text: &str, name: &str) -> Result<Self, String> {
        let config = Self::read(text, name, variable)?;
        overlay::no_strangers(names()).map(|()| config)
    }

    /// Reads a text and an environment; `name` is the name of the text in errors.
    fn read(
        text: &str,
        name: &str,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        let from_file: Self = toml::from_str(text).map_err(|e| overlay::located(name, text, &e))?;
        let config = overlay::apply(from_file, &environment)?;
        let checked = config.check();
        let placed = |error| place::located_or_variable((name, text), environment, error);
        checked.map_err(placed).map(|()| config)
    }

    /// Every effective value, as a file that could be read again.
    pub fn show(&self) -> String {
        toml::to_string(self).unwrap_or_default()
    }

    /// The policy for the rules.
    pub fn policy(&self) -> Policy {
        Policy {
            mode: self.ledger.mode.into(),
            rounding: self.ledger.rounding.into(),
            lien_grace: Seconds(self.ledger.lien_grace_s),
            record_wait: Seconds(self.ledger.record_wait_s),
            max_jump: Seconds(self.ledger.max_jump_s),
            max_downtime: Seconds(self.ledger.max_downtime_s),
            fallback: self.fallback.mode.into(),
            order: self.ledger.selection_order.into(),
            require_cover: self.ledger.lien_require_cover,
            discrete: self.ledger.discrete_allocations,
            shortfall: self.charge.shortfall.into(),
            later_credits_pay: self.charge.later_credits_pay,
            overlap: self.charge.overlap.into(),
            excess: self.nami.excess.into(),
            approval: self.approval.thresholds(),
            records: true,
            ..Policy::default()
        }
    }
}

/// The policy of the default settings, for a bank whose own are not read.
pub fn default_policy() -> Policy {
    Config::default().policy()
}

fn in_range(key: &str, value: i64, least: i64, most: i64) -> Result<(), String> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(format!("{key}: {value} is not in {least} to {most}"))
}

/// A label inside a line: never empty, and without line breaks.
fn check_label(key: &str, value: &str) -> Result<(), String> {
    if (1..=64).contains(&value.len()) && !value.contains(char::is_control) {
        return Ok(());
    }
    Err(format!("{key}: 1 to 64 bytes without control characters"))
}

#[allow(
    clippy::disallowed_methods,
    reason = "the configuration may read the environment"
)]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The names of the environment.
#[allow(
    clippy::disallowed_methods,
    reason = "the configuration may read the environment"
)]
fn names() -> impl Iterator<Item = String> {
    std::env::vars_os().filter_map(|(name, _)| name.into_string().ok())
}

/// The file of the test clock (decisions.md 9).
#[cfg(feature = "test-hooks")]
pub fn test_clock_file() -> Option<PathBuf> {
    variable("BANKD_TEST_CLOCK").map(PathBuf::from)
}

/// The kill point of a crash test (decisions.md 33).
#[cfg(feature = "test-hooks")]
pub fn kill_at() -> Option<String> {
    variable("BANKD_KILL_AT")
}

/// The schema version of a program that a test makes an older one.
#[cfg(feature = "test-hooks")]
pub fn test_schema() -> Option<i64> {
    variable("BANKD_TEST_SCHEMA")?.parse().ok()
}

/// The settings of the scheduler's scripts on this machine.
pub fn scripts_file() -> PathBuf {
    variable("NAMI_CONF")
        .unwrap_or_else(|| "/etc/bank/nami.conf".to_owned())
        .into()
}

/// A path of the settings: a relative one starts at the data directory; none for off.
pub fn path_in(data: &Path, setting: &str) -> Option<PathBuf> {
    (!setting.is_empty()).then(|| data.join(setting))
}
