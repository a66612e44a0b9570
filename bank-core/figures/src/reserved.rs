//! The parts of a reservation's time that its jobs used and that was idle, for explanations (decision 0171).

use bank_core::ids::InstanceId;
use bank_core::reservation::{ReservationTime, parts};
use bank_core::terms::Span;
use std::collections::BTreeMap;

/// The time of one use of a reservation in processor-seconds, in billionths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shares {
    /// All of it.
    pub reserved: i128,
    /// The part that no job used.
    pub idle: i128,
    /// The parts that its jobs used, by job. Where jobs used more than there was, the first ones count.
    pub jobs: Vec<(InstanceId, i128)>,
}

/// The shares of jobs in the time of one use of a reservation.
pub fn shares(times: &[ReservationTime], instance: InstanceId) -> Shares {
    let all: Vec<&ReservationTime> = times.iter().collect();
    let own = times
        .iter()
        .filter(|time| time.facts.is_some() && time.instance == instance);
    let start = own.clone().map(|time| time.span.start).min();
    let end = own.map(|time| time.span.end).max();
    let (Some(start), Some(end)) = (start, end) else {
        return Shares::default();
    };
    let mut shares = Shares::default();
    let mut by_job: BTreeMap<InstanceId, i128> = BTreeMap::new();
    let mut jobs: Vec<&ReservationTime> = times.iter().filter(|t| t.facts.is_none()).collect();
    jobs.sort_by_key(|time| (time.instance, time.span.start));
    // Parts of one span follow each other; what the earlier ones take is no later one's.
    let (mut at, mut passed) = (None, 0_i128);
    for part in parts(&all, Span { start, end }, &[]) {
        if at != Some(part.span.start) {
            (at, passed) = (Some(part.span.start), 0);
        }
        let taken = part.processors.saturating_sub(part.idle);
        if part.instance == instance {
            let seconds = i128::from(part.seconds());
            let whole = part.processors.saturating_mul(seconds);
            shares.reserved = shares.reserved.saturating_add(whole);
            shares.idle = shares.idle.saturating_add(part.idle_seconds());
            for (job, processors) in of_jobs(&jobs, part.span, passed, taken) {
                let own = by_job.entry(job).or_default();
                *own = own.saturating_add(processors.saturating_mul(seconds));
            }
        }
        passed = passed.saturating_add(taken);
    }
    shares.jobs = by_job.into_iter().filter(|(_, used)| *used > 0).collect();
    shares
}

/// The processors of each job in a span: of all that jobs used there, `taken` after the first `passed`.
fn of_jobs(
    jobs: &[&ReservationTime],
    span: Span,
    passed: i128,
    taken: i128,
) -> Vec<(InstanceId, i128)> {
    let mut sums: Vec<(InstanceId, i128)> = Vec::new();
    for time in jobs.iter().filter(|time| time.span.meets(&span)) {
        let processors = time.processors.billionths().saturating_mul(time.sign());
        match sums.last_mut() {
            Some((job, sum)) if *job == time.instance => *sum = sum.saturating_add(processors),
            _ => sums.push((time.instance, processors)),
        }
    }
    let (mut skip, mut left) = (passed, taken);
    let mut found = Vec::new();
    for (job, processors) in sums {
        let skipped = processors.clamp(0, skip.max(0));
        skip = skip.saturating_sub(skipped);
        let own = processors.saturating_sub(skipped).clamp(0, left.max(0));
        left = left.saturating_sub(own);
        found.push((job, own));
    }
    found
}

#[cfg(test)]
mod tests;
