//! Writes usage for other programs: the FILE and GGF records of an allocation
//! manager (`usage-records.md` 1.8, 4.5, 6.1) and the appending of them to
//! their files (4.6).
//!
//! [`file::render`] and [`ggf::render`] are pure: a [`Record`] in, one line
//! out. [`stored`] is what a record is between: text that is kept for ever. [`appender::Appender`] puts lines into a file so that a crash neither
//! loses nor doubles one. Nothing here computes money: the amounts of a record
//! are those of the journal.

pub mod appender;
pub mod file;
pub mod ggf;
pub mod stored;
#[cfg(test)]
mod tests;
mod text;

/// One charge, one closed instance, or one change after the close, as the
/// writers need it. Strings are the exact names of the ledger; times are
/// microseconds since 1970 UTC, durations microseconds, amounts minor units
/// of the bank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// What happened.
    pub occasion: Occasion,
    /// Number of the usage record, for an adjustment its own. It never
    /// changes: readers drop repeats by it.
    pub record_id: i64,
    /// When the record was made.
    pub created_at: i64,
    /// Job or reservation.
    pub kind: Kind,
    /// The scheduler's id of the object.
    pub object_id: String,
    /// Name of the job.
    pub job_name: Option<String>,
    /// Who used the machine.
    pub user: Option<String>,
    /// Who pays, as charged; of an unbilled charge as the scheduler said.
    pub project: Option<String>,
    /// Exact name of the machine.
    pub machine: String,
    /// The machine's domain name, where one is configured.
    pub machine_fqdn: Option<String>,
    /// Host that the job was submitted from.
    pub submit_host: Option<String>,
    /// Class, queue or partition.
    pub class: Option<String>,
    /// Quality of service.
    pub qos: Option<String>,
    /// Type of the nodes.
    pub host_type: Option<String>,
    /// Nodes by name, the first one being the main one.
    pub hosts: Vec<String>,
    /// Number of nodes.
    pub nodes: Option<i64>,
    /// Most memory used on one node, in bytes.
    pub memory_per_node: Option<i64>,
    /// Submission.
    pub submit_time: Option<i64>,
    /// Start: of the object, for a late charge that of its window, for money
    /// that goes back the effective time.
    pub start_time: Option<i64>,
    /// End, likewise.
    pub end_time: Option<i64>,
    /// Wall time of the object; for an adjustment the time that it charges, 0
    /// for money that goes back.
    pub wall: Option<i64>,
    /// Processor time in user mode.
    pub cpu_user: Option<i64>,
    /// Processor time in system mode.
    pub cpu_system: Option<i64>,
    /// Processor time where only the sum is known.
    pub cpu_total: Option<i64>,
    /// What was charged for: one charge, or all of a closed instance.
    pub usage: Usage,
    /// How it ended.
    pub state: State,
    /// Exit code.
    pub exit_code: Option<i64>,
    /// Amount of this charge, of all charges of the instance, or the
    /// difference; negative when money goes back.
    pub amount: i64,
    /// How the amount came about.
    pub formula: Option<String>,
}

/// What a record is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occasion {
    /// One charge of an instance that is not closed.
    Charge,
    /// The instance closed; figures are sums over this many charges. One that
    /// was never charged writes nothing.
    Close {
        /// Number of charges.
        charges: u32,
    },
    /// The charge changed after the close. A charge after the close is only
    /// this, never also a [`Occasion::Charge`].
    Adjustment {
        /// `record_id` of the closed record.
        of: i64,
        /// What changed it.
        why: Why,
    },
}

/// Why a charge changed after the close.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// A charge that came late.
    LateCharge,
    /// Money given back.
    Refund,
    /// The usage was amended.
    Adjust,
    /// The charge was undone.
    Reverse,
}

impl Why {
    /// From the word of the journal.
    pub fn parse(word: &str) -> Option<Self> {
        let all = [Self::LateCharge, Self::Refund, Self::Adjust, Self::Reverse];
        all.into_iter().find(|why| why.as_str() == word)
    }

    /// The word of the journal.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::LateCharge => "late_charge",
            Self::Refund => "refund",
            Self::Adjust => "adjust",
            Self::Reverse => "reverse",
        }
    }
}

/// What used the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A job.
    Job,
    /// A reservation.
    Reservation,
}

/// How an object ended, or where it stands (`usage-records.md` 6.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum State {
    /// Ran to its end; also whatever the scheduler said nothing of.
    #[default]
    Completed,
    /// Ended with an error.
    Failed,
    /// Reached its limit.
    Timeout,
    /// Cancelled.
    Aborted,
    /// Gave way to another.
    Preempted,
    /// Runs.
    Running,
    /// Stopped for a while.
    Suspended,
    /// Held back before its start.
    Held,
    /// Waits for its start.
    Queued,
}

impl State {
    /// The state that a scheduler's word means; an unknown word is
    /// `Completed`.
    pub fn from_word(word: &str) -> Self {
        let word = word.to_ascii_lowercase().replace(['_', '-', ' '], "");
        match word.as_str() {
            "failed" | "outofmemory" | "nodefail" | "bootfail" => Self::Failed,
            "timeout" | "deadline" => Self::Timeout,
            "aborted" | "cancelled" | "canceled" | "revoked" | "removed" => Self::Aborted,
            "preempted" => Self::Preempted,
            "running" | "started" | "starting" => Self::Running,
            "suspended" => Self::Suspended,
            "held" | "hold" | "userhold" | "systemhold" | "batchhold" => Self::Held,
            "queued" | "idle" | "pending" => Self::Queued,
            _ => Self::Completed,
        }
    }
}

/// Processors, the share of them that is charged, and for how long; for one
/// charge ([`Usage::one`]) or summed ([`Usage::then`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    processors: i128,
    rate: Option<i64>,
    charged: i64,
    /// Σ processors × rate × time; `None` when it does not fit.
    work: Option<i128>,
}

impl Usage {
    /// One charge: `processors` and `rate` in millionths, `charged` in
    /// microseconds. `rate` is the share of each processor that is charged,
    /// 1 000 000 for wall-clock charging; `None` for money that goes back.
    /// What is negative counts as 0.
    pub fn one(processors: i128, rate: Option<i64>, charged: i64) -> Self {
        let (processors, charged) = (processors.max(0), charged.max(0));
        let work = processors
            .checked_mul(i128::from(rate.unwrap_or_default().max(0)))
            .and_then(|work| work.checked_mul(i128::from(charged)));
        Self {
            processors,
            rate,
            charged,
            work,
        }
    }

    /// The sum over several charges: the processors of the last one in
    /// millionths, `work` as processors × rate × seconds in billionths, and all
    /// the charged time in microseconds. What is negative counts as 0.
    pub fn total(processors: i128, work: i128, charged: i64) -> Self {
        Self {
            processors: processors.max(0),
            rate: Some(1_000_000),
            charged: charged.max(0),
            // Millionths × millionths × microseconds.
            work: work.max(0).checked_mul(1_000_000_000),
        }
    }

    /// The sum with a later charge: times add up, processors are those of the
    /// later one, and the rate becomes the one that keeps the product
    /// (`usage-records.md` 4.5).
    #[must_use]
    pub fn then(self, later: Self) -> Self {
        let work = match (self.work, later.work) {
            (Some(a), Some(b)) => a.checked_add(b),
            _ => None,
        };
        let charged = self.charged.saturating_add(later.charged);
        Self {
            processors: later.processors,
            rate: later.rate.or(self.rate),
            charged,
            work,
        }
    }

    /// Charged time in microseconds.
    pub const fn charged(self) -> i64 {
        self.charged
    }

    /// Processors in millionths.
    pub const fn processors(self) -> i128 {
        self.processors
    }

    /// The rate as a fraction, with `factor` multiplied into its numerator.
    fn rate_times(self, factor: i128) -> Option<(i128, i128)> {
        let rate = self.rate?;
        let product = self.processors.checked_mul(i128::from(self.charged));
        let exact = match (self.work, product) {
            (Some(work), Some(product)) if product > 0 => {
                let scaled = work.checked_mul(factor);
                scaled.zip(product.checked_mul(1_000_000))
            }
            _ => None,
        };
        exact.or_else(|| Some((i128::from(rate).checked_mul(factor)?, 1_000_000)))
    }
}
