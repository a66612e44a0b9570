//! The verdict of a policy on one finished job: the quantity to charge, or the reason to charge nothing.

use super::{ChargePolicy, Ended, Equivalents, Figures, Metric, Share, Whose};
use crate::decimal::Decimal;
use crate::exact::Fraction;
use crate::refusal::Refusal;
use crate::time::{MICROS, Seconds, TEN_YEARS_S, Timestamp};

/// A job that is over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finished<'a> {
    /// When it started; none where it never did.
    pub start: Option<Timestamp>,
    /// When it ended.
    pub end: Option<Timestamp>,
    /// The requested wall time.
    pub requested: Option<Seconds>,
    /// Its processors.
    pub processors: Option<Decimal>,
    /// Whether it can have none: what samples of a pod do not state, it does not have, and a source can state none.
    pub may_lack_processors: bool,
    /// Its nodes.
    pub nodes: Option<Decimal>,
    /// Its exit code.
    pub exit_code: Option<i64>,
    /// Further figures of its use.
    pub figures: std::borrow::Cow<'a, Figures>,
}

/// The verdict of a policy on a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is charged.
    Charged(Quantity),
    /// It ran, and is not charged: why.
    Free(&'static str),
    /// It used nothing: why.
    Unused(&'static str),
}

/// The charged quantity: processors and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity {
    /// The counted processors.
    pub processors: Fraction,
    /// For how long.
    pub seconds: Seconds,
    /// The counted metric: wall time if the data for the policy's own metric is missing.
    pub metric: Metric,
}

impl Quantity {
    /// Processor-seconds in all; `None` where exact arithmetic ends.
    pub fn total(&self) -> Option<Fraction> {
        let seconds = Fraction::whole(i128::from(self.seconds.0));
        self.processors.times(seconds)
    }
}

/// Up to here the used processor time counts as not known, in billionths of a second.
const NO_CPU_DATA: i128 = 10_000_000;

/// The verdict of a policy on a job.
///
/// # Errors
/// [`Refusal::BadValue`] for a job that is not over, [`Refusal::MissingField`] if it started and its end is
/// missing, [`Refusal::AmountOverflow`] if the result exceeds exact arithmetic.
pub fn verdict(policy: ChargePolicy, job: &Finished<'_>) -> Result<Verdict, Refusal> {
    let ended = job.figures.ended;
    match ended {
        Ended::Running => {
            return Err(Refusal::bad_value(
                "state",
                "the end state of a finished job",
            ));
        }
        Ended::Rejected => return Ok(Verdict::Unused("rejected")),
        Ended::Waiting => return Ok(Verdict::Unused("never_started")),
        _ => {}
    }
    let Some(start) = job.start else {
        return Ok(Verdict::Unused("never_started"));
    };
    if ended == Ended::Suspended {
        return Ok(Verdict::Free("suspended"));
    }
    if job.figures.backwards {
        return Ok(Verdict::Free("negative_time"));
    }
    let end = job.end.ok_or(Refusal::MissingField { field: "end" })?;
    let used = match job.figures.wall_us {
        Some(us) => used(Timestamp(0), Timestamp(us))?,
        None => used(start, end)?,
    };
    if policy.whose == Whose::Successful && !is_success(job, used) {
        return Ok(Verdict::Free("not_successful"));
    }
    let quantity = quantity(policy.metric, job, used);
    quantity
        .map(Verdict::Charged)
        .ok_or(Refusal::AmountOverflow)
}

/// Wall time in whole seconds, half up; one second if the end is not after the start.
fn used(start: Timestamp, end: Timestamp) -> Result<Seconds, Refusal> {
    if end <= start {
        return Ok(Seconds(1));
    }
    let micros = end.0.saturating_sub(start.0);
    let half_up = micros.saturating_add(MICROS / 2).div_euclid(MICROS);
    if half_up > TEN_YEARS_S {
        return Err(Refusal::BadDuration);
    }
    Ok(Seconds(half_up.max(1)))
}

/// Whether a policy for successful jobs charges it: one that was removed counts where it had used
/// up its limit.
fn is_success(job: &Finished<'_>, used: Seconds) -> bool {
    let by_exit = job.exit_code.is_none_or(|code| code == 0);
    match job.figures.ended {
        Ended::Completed | Ended::Unknown => by_exit,
        Ended::Timeout => true,
        Ended::Removed => job.requested.is_some_and(|limit| used >= limit),
        _ => false,
    }
}

/// The counted quantity; wall time if the data for the metric is missing.
fn quantity(metric: Metric, job: &Finished<'_>, used: Seconds) -> Option<Quantity> {
    let figures = &job.figures;
    let one = Decimal::whole(1);
    let blocked = figures.blocked_processors.filter(|p| *p > Decimal::ZERO);
    let whole = blocked.filter(|_| figures.dedicated);
    // Pods have parts of a processor, or only memory. A job without a number, or with none, has one.
    let known = whole.or(job.processors).filter(|p| *p > Decimal::ZERO);
    let least = if job.may_lack_processors {
        Decimal::ZERO
    } else {
        one
    };
    let own = Fraction::of(known.unwrap_or(least));
    let counted = |processors: Fraction, metric| Quantity {
        processors,
        seconds: used,
        metric,
    };
    let by_metric = match metric {
        Metric::WallClock => None,
        Metric::Cpu => {
            let cpu = figures.cpu_s.filter(|u| u.billionths() > NO_CPU_DATA);
            match cpu {
                Some(cpu) => Some(Fraction::of(cpu).times(one_of(used)?)?),
                None => None,
            }
        }
        Metric::Equivalents => match &figures.equivalents {
            Some(of) => equivalents(of)?,
            None => None,
        },
        Metric::Blocked => blocked.map(Fraction::of),
        Metric::Nodes => job.nodes.filter(|n| *n > Decimal::ZERO).map(Fraction::of),
        Metric::Requested => {
            let requested = job.requested.filter(|requested| requested.0 > 0);
            return Some(match requested {
                Some(seconds) => Quantity {
                    processors: own,
                    seconds,
                    metric,
                },
                None => counted(own, Metric::WallClock),
            });
        }
    };
    Some(match by_metric {
        Some(processors) => counted(processors, metric),
        None => counted(own, Metric::WallClock),
    })
}

/// `1 ÷ seconds`.
fn one_of(seconds: Seconds) -> Option<Fraction> {
    Fraction::new(1, i128::from(seconds.0))
}

/// Processors of the partition × Σ tasks × the greatest share that one task has of any of the
/// partition's resources. Nothing where the partition has none; `None` where exact arithmetic ends.
#[expect(
    clippy::option_option,
    reason = "the outer one is the end of exact arithmetic, the inner one no data"
)]
fn equivalents(of: &Equivalents) -> Option<Option<Fraction>> {
    let mut sum = Fraction::ZERO;
    for (tasks, task) in &of.tasks {
        let greatest = greatest(task, &of.partition)?;
        sum = sum.plus(Fraction::of(*tasks).times(greatest)?)?;
    }
    let whole = Fraction::of(of.partition.processors).times(sum)?;
    Some(Some(whole).filter(|pe| *pe != Fraction::ZERO))
}

fn greatest(task: &Share, partition: &Share) -> Option<Fraction> {
    let mut greatest = Fraction::ZERO;
    for (part, whole) in [
        (task.processors, partition.processors),
        (task.memory_mb, partition.memory_mb),
        (task.disk_mb, partition.disk_mb),
        (task.swap_mb, partition.swap_mb),
    ] {
        if whole > Decimal::ZERO {
            let share = Fraction::new(part.billionths(), whole.billionths())?;
            if share.is_above(greatest)? {
                greatest = share;
            }
        }
    }
    Some(greatest)
}

#[cfg(test)]
mod tests;
