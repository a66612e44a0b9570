//! The jobs as they really ran: what the ledger is measured with.

use crate::harness::{Numbers, T0};

/// When the last job may start.
pub(super) const DAY_END: i64 = T0 + 86_400;
/// The longest job, in seconds.
pub(super) const LONGEST_S: i64 = 4 * 3600;

/// One job.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) number: usize,
    pub(super) processors: i64,
    /// How long it runs, in seconds.
    pub(super) ran_s: i64,
    /// What it asked for, in seconds.
    pub(super) wall_s: i64,
    /// When it is submitted.
    pub(super) ready: i64,
    /// Whether the scheduler forgets to delete it.
    pub(super) is_forgotten: bool,
    /// When it began to run.
    pub(super) started: Option<i64>,
    /// What was charged so far, in seconds, as far as the scheduler knows.
    pub(super) charged_s: i64,
}

impl Job {
    /// The scheduler's id; in the order of the numbers.
    pub(super) fn id(&self) -> String {
        format!("Moab.{:06}", self.number)
    }

    /// When it ends; none while it waits.
    pub(super) fn end(&self) -> Option<i64> {
        self.started.map(|start| start + self.ran_s)
    }

    /// Its document, with a charge duration where there is one.
    pub(super) fn document(&self, charge_s: Option<i64>) -> String {
        let charge = charge_s.map_or(String::new(), |seconds| {
            format!("<ChargeDuration>{seconds}</ChargeDuration>")
        });
        let start = self
            .started
            .map_or(String::new(), |at| format!("<StartTime>{at}</StartTime>"));
        format!(
            "<Job><ObjectID>{}</ObjectID><User>amy</User><Account>chemistry</Account>\
             <Processors>{}</Processors><WallDuration>{}</WallDuration>{charge}{start}</Job>",
            self.id(),
            self.processors,
            self.wall_s
        )
    }
}

/// All jobs, by number.
#[derive(Debug)]
pub(super) struct Jobs(Vec<Job>);

impl Jobs {
    /// So many: most are short, some run for hours.
    pub(super) fn new(count: usize, numbers: &mut Numbers) -> Self {
        let job = |number| {
            let most = if numbers.once_in(4) { LONGEST_S } else { 1800 };
            let ran_s = numbers.seconds(1, most);
            Job {
                number,
                processors: numbers.seconds(1, 8),
                ran_s,
                wall_s: numbers.seconds(ran_s, LONGEST_S),
                ready: numbers.seconds(T0, DAY_END),
                is_forgotten: numbers.once_in(30),
                started: None,
                charged_s: 0,
            }
        };
        Self((0..count).map(job).collect())
    }

    pub(super) fn all(&self) -> &[Job] {
        &self.0
    }

    pub(super) fn get(&mut self, number: usize) -> &mut Job {
        &mut self.0[number]
    }
}
