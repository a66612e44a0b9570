//! Charge policies: what of a finished job is charged, where no scheduler has decided it
//! (nami.md 4.3). Pure and exact; how the quantity is priced is the business of the rates.

mod verdict;

pub use verdict::{Finished, Quantity, Verdict, verdict};

use crate::decimal::Decimal;

/// The kinds of jobs that are charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// Every job that started.
    All,
    /// Jobs that succeeded, and those removed at or over their limit.
    Successful,
}

/// The counted quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Processors × wall time.
    WallClock,
    /// Processor time used.
    Cpu,
    /// Processor equivalents × wall time.
    Equivalents,
    /// Configured processors of the blocked nodes × wall time.
    Blocked,
    /// Nodes × wall time.
    Nodes,
    /// Processors × the requested wall time.
    Requested,
}

impl Metric {
    /// Its word in the journal.
    pub fn word(self) -> &'static str {
        match self {
            Metric::WallClock => "wc",
            Metric::Cpu => "cpu",
            Metric::Equivalents => "pe",
            Metric::Blocked => "blocked",
            Metric::Nodes => "node",
            Metric::Requested => "requested_wc",
        }
    }
}

/// A charge policy (nami.md 4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChargePolicy {
    /// The kinds of jobs that are charged.
    pub whose: Whose,
    /// The counted quantity.
    pub metric: Metric,
}

const fn policy(whose: Whose, metric: Metric) -> ChargePolicy {
    ChargePolicy { whose, metric }
}

/// Every policy with its word.
pub const CHARGE_POLICIES: [(ChargePolicy, &str); 11] = [
    (policy(Whose::All, Metric::WallClock), "DEBITALLWC"),
    (
        policy(Whose::Successful, Metric::WallClock),
        "DEBITSUCCESSFULWC",
    ),
    (policy(Whose::All, Metric::Cpu), "DEBITALLCPU"),
    (policy(Whose::Successful, Metric::Cpu), "DEBITSUCCESSFULCPU"),
    (policy(Whose::All, Metric::Equivalents), "DEBITALLPE"),
    (
        policy(Whose::Successful, Metric::Equivalents),
        "DEBITSUCCESSFULPE",
    ),
    (policy(Whose::All, Metric::Blocked), "DEBITALLBLOCKED"),
    (
        policy(Whose::Successful, Metric::Blocked),
        "DEBITSUCCESSFULBLOCKED",
    ),
    (policy(Whose::All, Metric::Nodes), "DEBITALLNODE"),
    (
        policy(Whose::Successful, Metric::Nodes),
        "DEBITSUCCESSFULNODE",
    ),
    (policy(Whose::All, Metric::Requested), "DEBITREQUESTEDWC"),
];

impl Default for ChargePolicy {
    /// `DEBITALLWC`: what the scheduler's manual has as its default.
    fn default() -> Self {
        policy(Whose::All, Metric::WallClock)
    }
}

impl ChargePolicy {
    /// Its word.
    pub fn word(self) -> &'static str {
        let found = CHARGE_POLICIES.iter().find(|(policy, _)| *policy == self);
        found.map_or("DEBITALLWC", |(_, word)| word)
    }

    /// From its word, in any case.
    pub fn parse(word: &str) -> Option<ChargePolicy> {
        let is = |(_, known): &&(ChargePolicy, &str)| known.eq_ignore_ascii_case(word);
        CHARGE_POLICIES.iter().find(is).map(|(policy, _)| *policy)
    }
}

/// The end state of a job (usage-records.md 6.2), as far as a charge policy needs it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ended {
    /// By itself.
    Completed,
    /// By itself, with an error.
    Failed,
    /// Its limit was reached.
    Timeout,
    /// Somebody removed it.
    Removed,
    /// Another job took its place.
    Preempted,
    /// It waits to go on.
    Suspended,
    /// The resource manager did not take it.
    Rejected,
    /// It waits; it never started.
    Waiting,
    /// It has not ended.
    Running,
    /// Not reported: the exit code decides, and without one it counts as completed.
    #[default]
    Unknown,
}

/// Every end with its words; the first of each is ours.
const ENDS: [(Ended, &[&str]); 10] = [
    (Ended::Completed, &["completed", "success", "successful"]),
    (
        Ended::Failed,
        &["failed", "node_fail", "out_of_memory", "boot_fail"],
    ),
    (Ended::Timeout, &["timeout", "deadline"]),
    (
        Ended::Removed,
        &["removed", "aborted", "cancelled", "canceled", "revoked"],
    ),
    (Ended::Preempted, &["preempted"]),
    (Ended::Suspended, &["suspended"]),
    (Ended::Rejected, &["rejected"]),
    (
        Ended::Waiting,
        &["queued", "pending", "idle", "held", "deferred"],
    ),
    (Ended::Running, &["running", "started"]),
    (Ended::Unknown, &["unknown"]),
];

impl Ended {
    /// Our word for it.
    pub fn word(self) -> &'static str {
        let found = ENDS.iter().find(|(ended, _)| *ended == self);
        found
            .and_then(|(_, words)| words.first())
            .copied()
            .unwrap_or("unknown")
    }

    /// From one of its words, in any case; nothing at all is [`Ended::Unknown`].
    pub fn parse(word: &str) -> Option<Ended> {
        if word.is_empty() {
            return Some(Ended::Unknown);
        }
        let known = |(_, words): &&(Ended, &[&str])| {
            words.iter().any(|known| known.eq_ignore_ascii_case(word))
        };
        ENDS.iter().find(known).map(|(ended, _)| *ended)
    }
}

/// Processors, memory, disk and swap: of a partition, or of one task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Processors.
    pub processors: Decimal,
    /// Memory in MB.
    pub memory_mb: Decimal,
    /// Disk in MB.
    pub disk_mb: Decimal,
    /// Swap in MB.
    pub swap_mb: Decimal,
}

/// The input for processor equivalents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Equivalents {
    /// The whole partition.
    pub partition: Share,
    /// The number of tasks, and the share of each; one row for each requirement.
    pub tasks: Vec<(Decimal, Share)>,
}

impl Equivalents {
    fn has_negative(&self) -> bool {
        let tasks = self.tasks.iter();
        let mut shares = tasks.map(|(_, share)| share).chain([&self.partition]);
        shares.any(Share::has_negative) || self.tasks.iter().any(|(n, _)| n.is_negative())
    }
}

impl Share {
    fn has_negative(&self) -> bool {
        let all = [self.processors, self.memory_mb, self.disk_mb, self.swap_mb];
        all.into_iter().any(Decimal::is_negative)
    }
}

impl Figures {
    /// Whether any quantity is below zero.
    pub fn has_negative(&self) -> bool {
        let own = [self.cpu_s, self.blocked_processors];
        let equivalents = self.equivalents.as_ref();
        self.wall_us.is_some_and(|us| us < 0)
            || own.into_iter().flatten().any(Decimal::is_negative)
            || equivalents.is_some_and(Equivalents::has_negative)
    }
}

/// Figures of a job's use beside its times, processors and nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// The end state.
    pub ended: Ended,
    /// Microseconds used, where that is not the time from start to end: what samples show.
    pub wall_us: Option<i64>,
    /// The source confirms that it ended before it began: on record, at no price.
    pub backwards: bool,
    /// Processor-seconds used.
    pub cpu_s: Option<Decimal>,
    /// Configured processors of the nodes that nobody else could use meanwhile.
    pub blocked_processors: Option<Decimal>,
    /// It had its nodes alone, by its quality of service.
    pub dedicated: bool,
    /// The input for processor equivalents.
    pub equivalents: Option<Equivalents>,
}
