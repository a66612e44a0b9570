//! Writes usage for other programs: the FILE and GGF records of an allocation
//! manager (`usage-records.md` 1.8, 4.5, 6.1) and the appending of them to
//! their files (4.6).
//!
//! [`file::render`] and [`ggf::render`] are pure: a [`Record`] in, one line
//! out. [`stored`] is what a record is between: text that is kept for ever. [`appender::Appender`] puts lines into a file so that a crash neither
//! loses nor doubles one. Nothing here computes money: the amounts of a record
//! are those of the journal.

pub mod apel;
pub mod appender;
pub mod export;
pub mod file;
pub mod focus;
pub mod ggf;
pub mod lines;
pub mod pods;
pub mod sacct;
pub mod samples;
pub mod stored;
pub mod swf;
#[cfg(test)]
mod tests;
mod text;
pub mod ur2;
mod xml;

/// One charge, one closed instance, or one change after the close, as the
/// writers need it. Strings are the exact names of the ledger; times are
/// microseconds since 1970 UTC, durations microseconds, amounts minor units
/// of the bank.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Record {
    /// The event.
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
    /// The user of the machine.
    pub user: Option<String>,
    /// The project of the use, as charged; of an unbilled charge as the scheduler reported.
    pub project: Option<String>,
    /// The account that paid, if a fallback account did: FILE names it.
    pub payer: Option<String>,
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
    /// Start of the object; for a late charge that of its window.
    pub start_time: Option<i64>,
    /// End, likewise.
    pub end_time: Option<i64>,
    /// Wall time as it counts as usage: what was charged, or what a collector
    /// states; for an adjustment the difference, negative where time is taken
    /// back.
    pub wall: Option<i64>,
    /// Processor time in user mode.
    pub cpu_user: Option<i64>,
    /// Processor time in system mode.
    pub cpu_system: Option<i64>,
    /// Processor time where only the sum is known.
    pub cpu_total: Option<i64>,
    /// The charged usage: one charge, or all of a closed instance.
    pub usage: Usage,
    /// The end state.
    pub state: State,
    /// Exit code.
    pub exit_code: Option<i64>,
    /// Amount of this charge, of all charges of the instance, or the
    /// difference; negative when money goes back.
    pub amount: i64,
    /// The formula of the amount.
    pub formula: Option<String>,
    /// The group of the user.
    pub group: Option<String>,
    /// The principal investigator, from a mapping.
    pub pi: Option<String>,
    /// The user's number on the machine.
    pub uid: Option<i64>,
    /// The group's number on the machine.
    pub gid: Option<i64>,
    /// Requested wall time.
    pub requested: Option<i64>,
    /// Requested processors, in millionths.
    pub requested_processors: Option<i64>,
    /// Requested memory on each node, in bytes.
    pub requested_memory: Option<i64>,
    /// Memory of the whole job where it is stated as such, in bytes.
    pub memory_total: Option<i64>,
    /// GPUs.
    pub gpus: Option<i64>,
    /// The bank's first record of it: for forms that require a start, if none was reported.
    pub began: Option<i64>,
    /// When it was charged last, likewise for its end.
    pub used_until: Option<i64>,
    /// Whether money moved.
    pub outcome: Outcome,
    /// The collector that reported it; none for reports of a scheduler's documents or a person.
    pub source: Option<String>,
    /// Its price if no money moved, in minor units.
    pub shadow: Option<i64>,
    /// The part of the amount that moved money, if that is not all of it.
    pub real: Option<i64>,
    /// Processors × wall time that it adds to usage, in microseconds; negative
    /// where time is taken back. None in records of earlier versions.
    pub counted: Option<i64>,
    /// The end of its use by the present record of a collector: the record belongs to that time, whatever its own end is. It
    /// is never kept as text.
    pub belongs: Option<i64>,
    /// A finished use without a charge; none for charges. It is never kept as text: the finished use itself
    /// is.
    pub collected: Option<Collected>,
}

/// The origin of a record without a charge: a finished use that a collector reported and that moved no money.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Collected {
    /// The number of its changes since it arrived, from 0.
    pub revision: i64,
    /// The version that this one takes the place of.
    pub replaced: Option<i64>,
    /// Whether the export has the use no longer: the record has no time and no amount.
    pub is_withdrawn: bool,
}

impl Record {
    /// Processors × wall time that it adds to usage, in microseconds. Records of earlier versions have what
    /// was charged.
    pub fn counted(&self) -> i64 {
        let charged = || self.usage.work.map(|work| work / 1_000_000_000_000);
        let charged = || charged().and_then(|core| i64::try_from(core).ok());
        self.counted.or_else(charged).unwrap_or(0)
    }

    /// The record's name to the outside, such as `8f1c2d3a:412`, behind the word of the form. It never
    /// changes: readers drop repeats by it. A finished use has `u` before its number, and behind it how
    /// often it was changed.
    pub fn name(&self, bank: &str) -> String {
        match &self.collected {
            None => format!("{bank}:{}", self.record_id),
            Some(collected) => use_name(bank, self.record_id, collected.revision),
        }
    }

    /// The name for formats that cannot name the replaced record: a finished use keeps its first one.
    pub fn first_name(&self, bank: &str) -> String {
        match &self.collected {
            None => self.name(bank),
            Some(_) => use_name(bank, self.record_id, 0),
        }
    }

    /// The name of the record that this one takes the place of: an amended use comes again as a whole.
    pub fn replaces(&self, bank: &str) -> Option<String> {
        let replaced = self.collected.as_ref()?.replaced?;
        Some(use_name(bank, self.record_id, replaced))
    }

    /// Processor time of all processors in microseconds: as stated, else the sum of its parts.
    pub fn cpu(&self) -> Option<i64> {
        self.cpu_total.or_else(|| self.cpu_parts())
    }

    /// The sum of its parts, as far as they are stated.
    fn cpu_parts(&self) -> Option<i64> {
        match (self.cpu_user, self.cpu_system) {
            (None, None) => None,
            (user, system) => Some(user.unwrap_or(0).saturating_add(system.unwrap_or(0))),
        }
    }

    /// Memory of the whole job in bytes: as stated, else that of a node times their number, where both
    /// are known (`usage-records.md` 6.3, note 9).
    pub fn memory(&self) -> Option<i64> {
        let nodes = || self.nodes.filter(|nodes| *nodes > 0);
        let summed = || self.memory_per_node?.checked_mul(nodes()?);
        self.memory_total.or_else(summed)
    }

    /// When it began: as stated, else as the bank saw it, and not after the begin of the time that was counted.
    /// For forms that demand it only.
    pub fn start(&self) -> Option<i64> {
        let seen = || {
            let counted = self.end()?.saturating_sub(self.wall.unwrap_or(0).max(0));
            Some(self.began?.min(counted))
        };
        self.start_time.or_else(seen)
    }

    /// When it ended, likewise.
    pub fn end(&self) -> Option<i64> {
        self.end_time.or(self.used_until)
    }

    /// Start and end for forms without a separate wall time: their difference is the wall time, so the start
    /// is set that much before the end. Time that was suspended, disputed or left to another source is in
    /// neither.
    pub fn span(&self) -> Option<(i64, i64)> {
        let (start, end) = self.start().zip(self.end())?;
        let counted = self.wall.filter(|wall| *wall >= 0);
        Some((counted.map_or(start, |wall| end.saturating_sub(wall)), end))
    }

    /// The instant by which it belongs to a time: the present end of its use, else its own end, else when the record was made.
    pub fn when(&self) -> i64 {
        self.belongs.or(self.end()).unwrap_or(self.created_at)
    }
}

fn use_name(bank: &str, number: i64, revision: i64) -> String {
    if revision == 0 {
        format!("{bank}:u{number}")
    } else {
        format!("{bank}:u{number}.{revision}")
    }
}

/// The reason for a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Occasion {
    /// One charge of an instance that is not closed.
    #[default]
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
        /// The reason for the change.
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
    /// Nothing changed: it is what another project or user than the last one had of the use when it closed.
    Part,
}

impl Why {
    /// From the word of the journal. A part has that of an amendment.
    pub fn parse(word: &str) -> Option<Self> {
        let all = [Self::LateCharge, Self::Refund, Self::Adjust, Self::Reverse];
        all.into_iter().find(|why| why.as_str() == word)
    }

    /// The word of the journal.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::LateCharge => "late_charge",
            Self::Refund => "refund",
            Self::Adjust | Self::Part => "adjust",
            Self::Reverse => "reverse",
        }
    }
}

/// Whether money moved for a use (`usage-records.md` 6.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Outcome {
    /// The project was charged.
    #[default]
    Billed,
    /// The suspense account carries it.
    Unbilled,
    /// Only shadow totals moved.
    Shadow,
}

/// The kind of object that used the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// A job.
    #[default]
    Job,
    /// A reservation.
    Reservation,
}

/// The end state or present state of an object (`usage-records.md` 6.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum State {
    /// Ran to its end; also the default without a report of the scheduler.
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
            // `CANCELLED by 1001`
            by if by.starts_with("cancelledby") => Self::Aborted,
            // The word of LSF.
            "failed" | "outofmemory" | "nodefail" | "bootfail" | "exit" => Self::Failed,
            // The codes of Grid Engine.
            "timeout" | "deadline" | "wclimit" | "failed=37" => Self::Timeout,
            "aborted" | "cancelled" | "canceled" | "revoked" | "removed" | "failed=100" => {
                Self::Aborted
            }
            "preempted" | "failed=25" => Self::Preempted,
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
    /// Time is negative where it is taken back; negative processors count as 0.
    pub fn one(processors: i128, rate: Option<i64>, charged: i64) -> Self {
        let processors = processors.max(0);
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

    /// The same time and rate of another number of processors, in millionths.
    #[must_use]
    pub fn with_processors(self, processors: i128) -> Self {
        Self::one(processors, self.rate, self.charged)
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
            (Some(work), Some(product)) if product != 0 => {
                let scaled = work.checked_mul(factor.saturating_mul(product.signum()));
                let product = product.saturating_abs();
                scaled.zip(product.checked_mul(1_000_000))
            }
            _ => None,
        };
        exact.or_else(|| Some((i128::from(rate).checked_mul(factor)?, 1_000_000)))
    }
}
