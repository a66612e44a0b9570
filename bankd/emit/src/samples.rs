//! Samples of pods as the 26 columns of `sacct`, as NERC's note on `OpenShift` maps them (`collectors.md`
//! h.1): the PI in `account`, the project in `group`, the namespace in `user`, and the state `RUNNING`.

use bank_core::decimal::Decimal;

use super::sacct::{clock, one_line, plain, size, time};
use super::text;

/// A run of samples of one pod. Times are microseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Samples<'a> {
    /// The number of the run, which never changes.
    pub number: i64,
    /// The machine.
    pub cluster: &'a str,
    /// The principal investigator.
    pub pi: &'a str,
    /// The project of the namespace, as its annotation has it.
    pub project: &'a str,
    /// The namespace.
    pub namespace: &'a str,
    /// The pod.
    pub pod: &'a str,
    /// The time of the first sample.
    pub start: i64,
    /// The duration of each sample.
    pub step: i64,
    /// Requested cores.
    pub cpu: Decimal,
    /// The most cores that it may use.
    pub cpu_limit: Decimal,
    /// The most memory that it may use, in bytes.
    pub memory_limit: i64,
    /// GPUs.
    pub gpus: Decimal,
    /// Replicas of its deployment.
    pub replicas: i64,
}

impl Samples<'_> {
    /// The time of a sample, counted from 0, and its end.
    pub fn span(&self, n: i64) -> Option<(i64, i64)> {
        let start = self.start.checked_add(self.step.checked_mul(n)?)?;
        Some((start, start.checked_add(self.step)?))
    }

    /// The line of a sample with its line feed; none beyond the calendar.
    pub fn row(&self, n: i64) -> Option<String> {
        let (start, end) = self.span(n)?;
        let (start, end) = (time(start)?, time(end)?);
        let elapsed = clock((self.step / 1_000_000).into());
        let memory = size(self.memory_limit);
        let requested = self.cpu_limit.to_string();
        let nodes = self.replicas.max(1).to_string();
        let mut tres = format!("cpu={requested},mem={memory},node={nodes}");
        if self.gpus > Decimal::ZERO {
            let gpus = text::ceiling(self.gpus.billionths() / 1000);
            tres = format!("{tres},gres/gpu={gpus}");
        }
        // Every run is an array of samples.
        let id = format!("{}_{n}", self.number);
        let fields = [
            id,
            self.number.to_string(),
            plain(Some(self.cluster)),
            String::new(),
            String::new(),
            plain(Some(self.pi)),
            plain(Some(self.project)),
            String::new(),
            plain(Some(self.namespace)),
            String::new(),
            start.clone(),
            start.clone(),
            start,
            end,
            elapsed.clone(),
            String::new(),
            "RUNNING".to_owned(),
            nodes,
            self.cpu.to_string(),
            requested,
            memory,
            tres.clone(),
            tres,
            elapsed,
            String::new(),
            one_line(self.pod),
        ];
        Some(fields.join("|") + "\n")
    }
}
