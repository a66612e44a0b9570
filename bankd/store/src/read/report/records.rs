//! Reports from single records: for dimensions that rollups lack, buckets that do not begin on full
//! hours, and the check that rollups have the same totals.

use super::super::super::Error;
use super::super::super::rollup::{Counted, Key, Source, each_weighed};
use super::{About, Active, Answer, Owner, ReportRequest};
use bank_core::decimal::Decimal;
use bank_core::time::Timestamp;
use bank_core::usage::kept;
use bank_core_figures::rollup::{Measure, Presence, Sign, Sums, Use};
use rusqlite::Connection;

/// Answers from all records: constant memory beside the answer, and as much time as there are records.
///
/// # Errors
/// If the store cannot be read.
pub fn from_records(connection: &Connection, request: &ReportRequest<'_>) -> Result<Answer, Error> {
    let (mut answer, mut active) = (Answer::default(), Active::default());
    each_weighed(connection, request.weighed, &mut |key, source, counted| {
        let job = Job::of(source);
        let Some((values, user)) = (request.place)(&owner(key), Some(&job.about())) else {
            return Ok(());
        };
        let mut adding = Adding {
            answer: &mut answer,
            active: &mut active,
            request,
            values: &values,
            user: &user,
            mhz: job.mhz,
        };
        match counted {
            Counted::Sums(whole, sign) if request.at_end => adding.at_end(&whole, sign, job.end),
            Counted::Sums(whole, sign) => adding.spread(&whole, sign),
            Counted::Job(presence) => {
                adding.count(&presence, contains(source, request.weighed));
            }
        }
        Ok(())
    })?;
    active.count_in(&mut answer);
    let mut answer = answer.trimmed();
    if let Some(top) = request.top {
        answer.cut(top);
    }
    Ok(answer)
}

/// Whether a record contains a measure at all. Charges never contain the processor load.
fn contains(source: &Source<'_>, measure: Measure) -> bool {
    match (source, measure) {
        (Source::Finished(own), Measure::Core) => own.millis.is_some(),
        (Source::Finished(own), Measure::Gpu) => own.gpus.is_some(),
        (Source::Finished(own), Measure::Cpu) => own.cpu.is_some(),
        (Source::Instance(_, first), Measure::Core) => first.usage.processors.is_some(),
        (Source::Instance(_, first), Measure::Gpu) => {
            let mut gres = first.usage.gres.iter();
            gres.any(|(name, _)| name.eq_ignore_ascii_case("gpu"))
        }
        (Source::Instance(..), Measure::Cpu) => false,
        _ => true,
    }
}

pub(super) fn owner<'a>(key: &Key<'a>) -> Owner<'a> {
    Owner {
        project: key.project,
        account: key.account,
        user: key.user,
        machine: key.machine,
        queue: key.queue,
        qos: key.qos,
        pi: key.pi,
    }
}

/// Job properties of a record.
pub(super) struct Job<'a> {
    group: &'a str,
    state: &'a str,
    millis: i64,
    wall: i64,
    end: Timestamp,
    /// The speed of its processors together, in thousandths of MHz.
    mhz: i128,
}

/// The speed of a job, in thousandths; 0 if unknown.
fn speed(load: Option<Decimal>) -> i128 {
    load.map_or(0, |mhz| mhz.billionths().max(0) / 1_000_000)
}

impl<'a> Job<'a> {
    /// As a report asks for it.
    pub(super) fn about(&self) -> About<'a> {
        About {
            group: self.group,
            state: self.state,
            millis: self.millis,
            wall: self.wall,
        }
    }

    pub(super) fn of(source: &Source<'a>) -> Job<'a> {
        match source {
            Source::Finished(finished) => Job {
                group: finished.group,
                state: finished.state,
                millis: finished.millis.unwrap_or(0),
                wall: finished.wall(),
                end: finished.window().1,
                mhz: speed(kept::value(finished.more, kept::CPU_MHZ).and_then(Decimal::parse)),
            },
            Source::Instance(subject, first) => {
                let job = subject.job(first);
                let processors = first.usage.processors;
                let millis = processors.map_or(0, |n| n.billionths() / 1_000_000);
                Job {
                    group: &subject.group,
                    state: &subject.state,
                    millis: i64::try_from(millis).unwrap_or(i64::MAX),
                    wall: job.end.0.saturating_sub(job.start.0),
                    end: job.end,
                    mhz: speed(first.usage.number(kept::CPU_MHZ)),
                }
            }
            Source::Unknown => Job {
                group: "",
                state: "",
                millis: 0,
                wall: 0,
                end: Timestamp(0),
                mhz: 0,
            },
        }
    }
}

/// One figure on its way into the answer.
struct Adding<'a, 'p> {
    answer: &'a mut Answer,
    active: &'a mut Active,
    request: &'a ReportRequest<'p>,
    values: &'a Vec<String>,
    user: &'a str,
    mhz: i128,
}

impl Adding<'_, '_> {
    fn put(&mut self, bucket: usize, sums: &Sums, sign: Sign) {
        if sums.is_zero() {
            return;
        }
        let figures = self.answer.at(bucket, Some(self.values));
        figures.sums.add(sums, sign);
        // As the wall time of a bucket, which adds up to the whole.
        let used = sums.get(Measure::Wall).saturating_mul(self.mhz);
        figures.mhz = match sign {
            Sign::Plus => figures.mhz.saturating_add(used),
            Sign::Minus => figures.mhz.saturating_sub(used),
        };
        if self.request.users {
            self.active
                .note((bucket, self.values), self.user, (sums, sign));
        }
    }

    fn at_end(&mut self, used: &Use, sign: Sign, end: Timestamp) {
        if let Some(bucket) = self.request.grid.find(end) {
            self.put(bucket, used.totals(), sign);
        }
    }

    fn spread(&mut self, used: &Use, sign: Sign) {
        let (start, end) = (used.start(), used.end());
        for (bucket, from, until) in self.touched(start, end) {
            self.put(bucket, &used.between(from, until), sign);
        }
    }

    /// The buckets that a time touches.
    fn touched(&self, start: Timestamp, end: Timestamp) -> Vec<(usize, Timestamp, Timestamp)> {
        let grid = &self.request.grid;
        let behind = grid.edges.partition_point(|edge| *edge <= start);
        let first = behind.saturating_sub(1);
        let all = grid.buckets().enumerate().skip(first);
        all.take_while(|(_, (from, _))| *from < end || *from <= start)
            .map(|(bucket, (from, until))| (bucket, from, until))
            .collect()
    }

    fn count(&mut self, job: &Presence, is_measured: bool) {
        if self.request.at_end {
            // Usage counts at its end; the start of a job counts at the start.
            if let Some(bucket) = self.request.grid.find(job.start) {
                self.put(
                    bucket,
                    &Sums::default().with(Measure::Started, 1),
                    Sign::Plus,
                );
            }
            let ends = self.request.grid.find(job.end).filter(|_| job.has_ended);
            if let Some(bucket) = ends {
                let one = Sums::default().with(Measure::Ended, 1);
                self.put(bucket, &one.with(Measure::Running, 1), Sign::Plus);
                self.count_unmeasured(bucket, is_measured);
            }
            return;
        }
        // The end may be the first instant of a bucket in which it did not run.
        let after = Timestamp(job.end.0.saturating_add(1));
        let mut is_measured_now = is_measured;
        for (bucket, from, until) in self.touched(job.first(), after) {
            let part = job.between(from, until);
            self.put(bucket, &part, Sign::Plus);
            if part.get(Measure::Running) != 0 {
                self.count_unmeasured(bucket, is_measured_now);
                is_measured_now = true;
            }
        }
    }

    fn count_unmeasured(&mut self, bucket: usize, is_measured: bool) {
        if !is_measured {
            let own = &mut self.answer.at(bucket, Some(self.values)).unmeasured;
            *own = own.saturating_add(1);
        }
    }
}
