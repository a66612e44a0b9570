//! The share of a use in each hour of its run (reports.md 1.7 item 2 and 7, decisions.md 31).
//!
//! A use is spread evenly over [start, end). A stretch of time gets the difference of two cumulative shares,
//! each cut to whole units. So the parts of any stretches add up to the total. Nothing here rounds, so that
//! sums of days, months and zones agree to the last unit.

pub mod bins;
pub mod block;
pub mod cover;
pub mod due;
pub mod grid;
pub mod month;
pub mod pack;
pub mod worth;

use bank_core::time::Timestamp;

/// Microseconds in an hour.
pub const HOUR: i64 = 3_600_000_000;
/// Hours in a day.
pub const HOURS: i64 = 24;
/// Microseconds in a day.
pub const DAY: i64 = HOUR * HOURS;
/// The longest time that a use is spread over. All of a longer one counts in its last thousand days:
/// a record that begins in 1970 by mistake must not write a row for each day since.
pub const LONGEST: i64 = 1000 * DAY;
/// Measures that are spread over time; those behind them are counted.
pub const SPREAD: usize = 11;
/// All measures.
pub const MEASURES: usize = 19;
/// The upper bound of one total; larger totals count as this.
const MOST: i128 = 1 << 80;

/// The quantities that are added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// Processors × wall time, in microseconds.
    Core,
    /// Graphics processors × wall time, in microseconds.
    Gpu,
    /// Nodes × wall time, in microseconds.
    Node,
    /// Wall time, in microseconds.
    Wall,
    /// Processor time that was really used, in microseconds.
    Cpu,
    /// Memory × wall time, in MiB × milliseconds.
    Memory,
    /// Disk × wall time, in MiB × milliseconds.
    Disk,
    /// Processors × wall time × the factor of the hardware when the use began, in microseconds.
    Factored,
    /// Real charges less the money that went back, in minor units.
    Charge,
    /// Charges in shadow totals less those that were taken back, in minor units.
    Shadow,
    /// Processors × wall time of uses that report the busy time of their processors, in microseconds.
    Measured,
    /// Jobs that began.
    Started,
    /// Jobs that ended.
    Ended,
    /// Jobs that ran, at least for a part of the time.
    Running,
    /// Jobs that were submitted.
    Submitted,
    /// Jobs that began and whose time of submission is known.
    Waited,
    /// How long these waited, in microseconds.
    Wait,
    /// Those of them that have ended, and ran at all.
    Expanded,
    /// The sum of their (wait + wall time) ÷ wall time, in millionths.
    Expansion,
}

/// Every measure with its word, in the order of [`Sums`].
pub const WORDS: [(Measure, &str); MEASURES] = [
    (Measure::Core, "core"),
    (Measure::Gpu, "gpu"),
    (Measure::Node, "node"),
    (Measure::Wall, "wall"),
    (Measure::Cpu, "cpu"),
    (Measure::Memory, "memory"),
    (Measure::Disk, "disk"),
    (Measure::Factored, "factored"),
    (Measure::Charge, "charge"),
    (Measure::Shadow, "shadow"),
    (Measure::Measured, "measured"),
    (Measure::Started, "started"),
    (Measure::Ended, "ended"),
    (Measure::Running, "running"),
    (Measure::Submitted, "submitted"),
    (Measure::Waited, "waited"),
    (Measure::Wait, "wait"),
    (Measure::Expanded, "expanded"),
    (Measure::Expansion, "expansion"),
];

impl Measure {
    /// Its word.
    pub fn word(self) -> &'static str {
        WORDS.get(self.place()).map_or("core", |(_, word)| word)
    }

    /// Its place in [`Sums`].
    pub fn place(self) -> usize {
        self as usize
    }
}

/// One figure for each measure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums(pub [i128; MEASURES]);

impl Sums {
    /// One figure.
    pub fn get(&self, measure: Measure) -> i128 {
        self.0.get(measure.place()).copied().unwrap_or(0)
    }

    /// Sets one figure; of a total not more than 2^62 either way.
    #[must_use]
    pub fn with(mut self, measure: Measure, figure: i128) -> Sums {
        if let Some(own) = self.0.get_mut(measure.place()) {
            *own = figure.clamp(-MOST, MOST);
        }
        self
    }

    /// The figures of a part of a longer time: jobs that ran count in its first part, and where they began.
    #[must_use]
    pub fn of_span(self, is_first: bool) -> Sums {
        if is_first {
            return self;
        }
        let began = self.get(Measure::Started);
        self.with(Measure::Running, began)
    }

    /// Counts one more of a measure, or one less.
    pub fn count(&mut self, measure: Measure, sign: Sign) {
        if let Some(own) = self.0.get_mut(measure.place()) {
            *own = sign.added(*own, 1);
        }
    }

    /// Adds other figures, or takes them away.
    pub fn add(&mut self, other: &Sums, sign: Sign) {
        // Most figures are nothing, and adding 128 bits within bounds is not for nothing.
        let both = self.0.iter_mut().zip(other.0);
        for (own, more) in both.filter(|(_, more)| *more != 0) {
            *own = sign.added(*own, more);
        }
    }

    /// Whether nothing is in it.
    pub fn is_zero(&self) -> bool {
        self.0.iter().all(|figure| *figure == 0)
    }
}

/// Whether something counts, or counts no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// It counts.
    Plus,
    /// It counts no more.
    Minus,
}

impl Sign {
    /// A sum after a figure counts, or counts no more.
    #[must_use]
    pub fn added(self, sum: i128, figure: i128) -> i128 {
        match self {
            Sign::Plus => sum.saturating_add(figure),
            Sign::Minus => sum.saturating_sub(figure),
        }
    }

    /// The other one, where it is turned.
    #[must_use]
    pub fn turned(self, is_turned: bool) -> Sign {
        match (self, is_turned) {
            (Sign::Plus, true) | (Sign::Minus, false) => Sign::Minus,
            _ => Sign::Plus,
        }
    }
}

/// Totals over a stretch of time, both ends in microseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    start: i64,
    end: i64,
    totals: Sums,
}

impl Use {
    /// A use: totals over [start, end). One without a length counts at its start.
    pub fn new(start: Timestamp, end: Timestamp, totals: Sums) -> Use {
        let end = end.0.max(start.0);
        Use {
            start: start.0.max(end.saturating_sub(LONGEST)),
            end,
            totals,
        }
    }

    /// When it began; of one that is too long, when its last thousand days did.
    pub fn start(&self) -> Timestamp {
        Timestamp(self.start)
    }

    /// When it ended.
    pub fn end(&self) -> Timestamp {
        Timestamp(self.end)
    }

    /// The totals.
    pub fn totals(&self) -> &Sums {
        &self.totals
    }

    /// The share of the time from an instant until another.
    pub fn between(&self, from: Timestamp, until: Timestamp) -> Sums {
        let wall = self.end.saturating_sub(self.start);
        if wall == 0 {
            let is_here = from.0 <= self.start && self.start < until.0;
            return if is_here {
                self.totals
            } else {
                Sums::default()
            };
        }
        let passed = |at: i64| at.clamp(self.start, self.end).saturating_sub(self.start);
        let (from, until) = (passed(from.0), passed(until.0));
        let mut part = Sums::default();
        for (own, total) in part.0.iter_mut().zip(self.totals.0) {
            if total != 0 {
                *own = share(total, until, wall).saturating_sub(share(total, from, wall));
            }
        }
        part
    }

    /// Gives each hour that it touches, counted from 1970, with its part. Costs two divisions for each
    /// measure, however many hours there are.
    pub fn hours(&self, mut visit: impl FnMut(i64, &Sums)) {
        let wall = self.end.saturating_sub(self.start);
        let first = hour_of(self.start);
        let last = last_hour(self.start, self.end);
        if first == last {
            visit(first, &self.totals);
            return;
        }
        let edge = first.saturating_add(1).saturating_mul(HOUR);
        let head = edge.saturating_sub(self.start);
        let mut walks = self.totals.0.map(|total| Walk::new(total, head, wall));
        let mut given = Sums::default();
        for hour in first..last {
            let mut part = Sums::default();
            for ((part, given), walk) in part.0.iter_mut().zip(&mut given.0).zip(&mut walks) {
                let upto = walk.signed();
                *part = upto.saturating_sub(*given);
                *given = upto;
                walk.step();
            }
            visit(hour, &part);
        }
        let mut rest = self.totals;
        rest.add(&given, Sign::Minus);
        visit(last, &rest);
    }
}

/// The cumulative share of a total at the ends of hours. Its size is at most [`MOST`], and so are its
/// parts.
#[derive(Clone, Copy)]
struct Walk {
    is_negative: bool,
    whole: u128,
    rest: u128,
    step: u128,
    step_rest: u128,
    wall: u128,
}

impl Walk {
    fn new(total: i128, head: i64, wall: i64) -> Walk {
        let size = total.unsigned_abs();
        let wall = u128::try_from(wall).unwrap_or(0).max(1);
        // Mostly a total is a whole number for each microsecond, and nothing is left over.
        let each = size.checked_div(wall).unwrap_or(0);
        let over = size.checked_rem(wall).unwrap_or(0);
        let cut = |time: i64| {
            let time = u128::try_from(time).unwrap_or(0);
            let whole = each.saturating_mul(time);
            if over == 0 {
                return (whole, 0);
            }
            let product = over.saturating_mul(time);
            let part = product.checked_div(wall).unwrap_or(0);
            let rest = product.checked_rem(wall).unwrap_or(0);
            (whole.saturating_add(part), rest)
        };
        let ((whole, rest), (step, step_rest)) = (cut(head), cut(HOUR));
        Walk {
            is_negative: total < 0,
            whole,
            rest,
            step,
            step_rest,
            wall,
        }
    }

    fn signed(&self) -> i128 {
        let whole = i128::try_from(self.whole).unwrap_or(i128::MAX);
        if self.is_negative {
            whole.saturating_neg()
        } else {
            whole
        }
    }

    fn step(&mut self) {
        self.whole = self.whole.saturating_add(self.step);
        self.rest = self.rest.saturating_add(self.step_rest);
        if self.rest >= self.wall {
            self.rest = self.rest.saturating_sub(self.wall);
            self.whole = self.whole.saturating_add(1);
        }
    }
}

/// The share of a total after a part of the time: cut towards zero, so that a removal takes away exactly what
/// had counted.
fn share(total: i128, passed: i64, wall: i64) -> i128 {
    let product = total.saturating_mul(passed.into());
    product.checked_div(wall.into()).unwrap_or(total)
}

/// A job for the counts: when it was submitted and began, how far its use reaches, and whether it is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Presence {
    /// When it was submitted, if that is known.
    pub submit: Option<Timestamp>,
    /// When it began.
    pub start: Timestamp,
    /// The end of its use.
    pub end: Timestamp,
    /// Whether it ended there.
    pub has_ended: bool,
    /// How long it ran, in microseconds.
    wall: i64,
}

impl Presence {
    /// A presence whose time is cut as [`Use::new`] cuts it.
    pub fn new(start: Timestamp, end: Timestamp, has_ended: bool) -> Presence {
        let whole = Use::new(start, end, Sums::default());
        Presence {
            submit: None,
            start: whole.start(),
            end: whole.end(),
            has_ended,
            wall: end.0.saturating_sub(start.0).max(0),
        }
    }

    /// The same with its time of submission, and its wall time in microseconds.
    #[must_use]
    pub fn queued(self, submit: Option<Timestamp>, wall: i64) -> Presence {
        Presence {
            submit,
            wall,
            ..self
        }
    }

    /// The count in the time from an instant until another.
    pub fn between(&self, from: Timestamp, until: Timestamp) -> Sums {
        let holds = |at: Timestamp| from <= at && at < until;
        let runs = self.start < until && (self.end > from || self.start >= from);
        let one = i128::from;
        let begun = if holds(self.start) {
            self.begun()
        } else {
            Sums::default()
        };
        begun
            .with(Measure::Ended, one(self.has_ended && holds(self.end)))
            .with(Measure::Running, one(runs))
            .with(Measure::Submitted, one(self.submit.is_some_and(holds)))
    }

    /// What counts where it began. How far waiting prolonged it is known when it is over.
    pub fn begun(&self) -> Sums {
        let sums = Sums::default().with(Measure::Started, 1);
        let Some(submit) = self.submit else {
            return sums;
        };
        let wait = i128::from(self.start.0.saturating_sub(submit.0).max(0));
        let sums = sums.with(Measure::Waited, 1).with(Measure::Wait, wait);
        let wall = i128::from(self.wall);
        let whole = wait.saturating_add(wall).saturating_mul(1_000_000);
        match whole.checked_div(wall).filter(|_| self.has_ended) {
            Some(factor) => sums
                .with(Measure::Expanded, 1)
                .with(Measure::Expansion, factor),
            None => sums,
        }
    }

    /// The first instant at which something of it counts.
    pub fn first(&self) -> Timestamp {
        self.submit.map_or(self.start, |at| at.min(self.start))
    }

    /// The first and the last hour in which it runs.
    pub fn hours(&self) -> (i64, i64) {
        (hour_of(self.start.0), last_hour(self.start.0, self.end.0))
    }
}

/// The hour of an instant, counted from 1970.
pub fn hour_of(at: i64) -> i64 {
    at.div_euclid(HOUR)
}

/// The UTC day of an hour, and which hour of it that is.
pub fn day_of(hour: i64) -> (i64, i64) {
    (hour.div_euclid(HOURS), hour.rem_euclid(HOURS))
}

/// The last hour that [start, end) touches.
fn last_hour(start: i64, end: i64) -> i64 {
    hour_of(end.saturating_sub(1).max(start))
}

#[cfg(test)]
mod tests;
