//! The discipline of the ledger clock: what its present is, given what the machine shows.
//!
//! The ledger's time follows the machine's clock as long as that clock moves as time passes. A step
//! back is journalled once, and the ledger waits until the clock has caught up (decisions.md 9). A step
//! forward that nobody saw pass is not followed until an operator confirms it: the ledger's time
//! goes on from where it was, so that a wrong clock expires nothing. Only at a start is the clock
//! believed further, for a bank that was switched off saw no time pass (decision note 0016).

use crate::time::{MICROS, Seconds, Timestamp};

/// A clock that is behind by no more than this was slewed, not stepped: a second.
const SLEW: Seconds = Seconds(1);

/// One reading of the machine's clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The time of day.
    pub clock: Timestamp,
    /// Microseconds on a clock that nobody sets, since an arbitrary origin.
    pub steady: Timestamp,
    /// Names that origin; 0 where it is not known, which equals no other.
    pub boot: i64,
}

impl Reading {
    /// A reading of a clock that moves as time passes: for clocks that are moved by hand.
    pub fn moved(clock: Timestamp) -> Reading {
        Reading {
            clock,
            steady: clock,
            boot: 1,
        }
    }

    /// The time since an earlier reading; none if nothing measured the time between.
    pub fn since(&self, earlier: &Reading) -> Option<i64> {
        let same = self.boot == earlier.boot && self.boot != 0;
        same.then(|| self.steady.0.saturating_sub(earlier.steady.0).max(0))
    }
}

/// The state kept from one look to the next, and over a restart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The last reading.
    pub reading: Reading,
    /// The time that the ledger used as the present then.
    pub believed: Timestamp,
    /// The last recorded instant when the clock stepped back, while it has not caught up.
    pub back_from: Option<Timestamp>,
    /// The time that the clock would show if it had not stepped back, while it shows an earlier one.
    pub unstepped: Option<Timestamp>,
}

/// The result of a look at the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// The ledger's present: never before what was recorded.
    pub now: Timestamp,
    /// The clock has just stepped back: what it shows now.
    pub stepped_back: Option<Timestamp>,
    /// The clock shows a time that nobody saw come, and waits for an operator.
    pub held: Option<Timestamp>,
    /// At the first look after a start: how much more than a jump's worth the clock went on while
    /// nobody looked, where that is believed.
    pub downtime: Option<Seconds>,
}

/// Watches the machine's clock. The value is small; a caller that may have to undo keeps a copy.
#[derive(Clone, Copy, Debug)]
pub struct Watch {
    max_jump: Seconds,
    max_downtime: Seconds,
    seen: Option<Seen>,
    held: Option<Timestamp>,
    /// Nobody has looked since the start.
    starts: bool,
}

impl Watch {
    /// A watch that trusts jumps up to `max_jump`, and remembers what was seen before, if anything.
    pub fn new(max_jump: Seconds, seen: Option<Seen>) -> Watch {
        Watch {
            max_jump,
            max_downtime: Seconds(0),
            seen,
            held: None,
            starts: true,
        }
    }

    /// A watch that believes the first look after a start of the machine this far, at least.
    #[must_use]
    pub fn after_downtime(self, max_downtime: Seconds) -> Watch {
        Watch {
            max_downtime,
            ..self
        }
    }

    /// The state to keep.
    pub fn seen(&self) -> Option<Seen> {
        self.seen
    }

    /// Whether the last look found a jump that waits for an operator.
    pub fn is_held(&self) -> bool {
        self.held.is_some()
    }

    /// Takes a reading in; `recorded` is the instant of the last recorded transaction.
    pub fn look(&mut self, reading: Reading, recorded: Timestamp) -> Look {
        let mut back_from = self.seen.and_then(|s| s.back_from);
        let expected = self.expected(&reading, recorded, back_from);
        let trusted = self.trusted(&reading);
        // A clock that stepped back may come right again: the time until then was seen to pass.
        let unstepped = self
            .unstepped(&reading)
            .map_or(expected, |t| t.max(expected));
        let is_ahead = reading.clock > unstepped.plus(trusted);
        let downtime = self.downtime(&reading).filter(|_| !is_ahead);
        self.starts = false;
        self.held = is_ahead.then_some(reading.clock);
        let steps = reading.clock < expected.minus(SLEW);
        let believed = match (is_ahead, expected < recorded) {
            (false, _) => reading.clock,
            (true, false) => expected,
            // The ledger waited for a clock that had stepped back, and waits no longer.
            (true, true) => unstepped,
        };
        if steps {
            back_from = Some(recorded);
        } else if believed >= recorded {
            back_from = None;
        }
        let is_behind = reading.clock < unstepped.minus(SLEW);
        self.seen = Some(Seen {
            reading,
            believed,
            back_from,
            unstepped: is_behind.then_some(unstepped),
        });
        Look {
            now: believed.max(recorded),
            stepped_back: steps.then_some(reading.clock),
            held: self.held,
            downtime,
        }
    }

    /// The time that the clock would show now if it had not stepped back. The time for which the machine was
    /// off is unknown, and not in it.
    fn unstepped(&self, reading: &Reading) -> Option<Timestamp> {
        let seen = self.seen.as_ref()?;
        let passed = reading.since(&seen.reading).unwrap_or(0);
        // A clock that had caught up by the last run was right.
        let counts = !self.starts || seen.back_from.is_some();
        let then = seen.unstepped.filter(|_| counts)?;
        Some(Timestamp(then.0.saturating_add(passed)))
    }

    /// The distance that the clock may be ahead of the expected time. At a start of the machine, it is the
    /// time for which the machine may have been off. A jump that waited for an operator still waits, unless
    /// the clock has come back from it.
    fn trusted(&self, reading: &Reading) -> Seconds {
        let off = |seen: &Seen| {
            let jumped = seen.reading.clock > seen.believed.plus(self.max_jump);
            let waits = jumped && reading.clock >= seen.reading.clock;
            reading.since(&seen.reading).is_none() && !waits
        };
        if self.starts && self.seen.as_ref().is_some_and(off) {
            self.max_jump.max(self.max_downtime)
        } else {
            self.max_jump
        }
    }

    /// At the first look after a start, how far the clock went on, where that is more than a jump.
    fn downtime(&self, reading: &Reading) -> Option<Seconds> {
        let seen = self.seen.as_ref().filter(|_| self.starts)?;
        let passed = reading.clock.0.saturating_sub(seen.believed.0);
        let passed = Seconds(passed.div_euclid(MICROS));
        (passed > self.max_jump).then_some(passed)
    }

    /// An operator confirms that the clock is right.
    pub fn confirm(&mut self) {
        if let (Some(seen), Some(shown)) = (&mut self.seen, self.held.take()) {
            seen.believed = shown;
        }
    }

    /// The time to be expected from what was seen last and from the time that has passed since. A
    /// start after which nothing is known goes on from what was recorded.
    fn expected(
        &self,
        reading: &Reading,
        recorded: Timestamp,
        back_from: Option<Timestamp>,
    ) -> Timestamp {
        let Some(seen) = &self.seen else {
            return reading.clock.max(recorded);
        };
        if let Some(passed) = reading.since(&seen.reading) {
            return Timestamp(seen.believed.0.saturating_add(passed));
        }
        if back_from == Some(recorded) {
            // Still the step that the journal records already.
            return seen.believed.min(reading.clock);
        }
        seen.believed.max(recorded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Seconds = Seconds(3600);

    fn at(clock: i64, steady: i64, boot: i64) -> Reading {
        Reading {
            clock: Timestamp::from_seconds(clock),
            steady: Timestamp::from_seconds(steady),
            boot,
        }
    }

    fn seconds(look: Look) -> (i64, Option<i64>, Option<i64>) {
        let whole = |t: Option<Timestamp>| t.map(Timestamp::seconds);
        (
            look.now.seconds(),
            whole(look.stepped_back),
            whole(look.held),
        )
    }

    #[test]
    fn a_bank_that_nobody_used_for_days_does_not_hang() {
        let mut watch = Watch::new(HOUR, None);
        let recorded = Timestamp::from_seconds(1000);
        assert_eq!(
            seconds(watch.look(at(1000, 5, 7), recorded)),
            (1000, None, None)
        );
        // Three days in one step, and the steady clock saw them.
        let later = at(260_200, 259_205, 7);
        assert_eq!(seconds(watch.look(later, recorded)), (260_200, None, None));
        // The daemon was down for a month on a machine that was not.
        let mut again = Watch::new(HOUR, watch.seen());
        let later = at(2_852_200, 2_851_205, 7);
        assert_eq!(
            seconds(again.look(later, recorded)),
            (2_852_200, None, None)
        );
    }

    #[test]
    fn a_jump_that_nobody_saw_pass_waits_for_an_operator() {
        let mut watch = Watch::new(HOUR, None);
        let recorded = Timestamp::from_seconds(1000);
        watch.look(at(1000, 0, 7), recorded);
        assert_eq!(
            seconds(watch.look(at(91_000, 60, 7), recorded)),
            (1060, None, Some(91_000))
        );
        // The ledger's own time goes on, and the clock may come back by itself.
        assert_eq!(
            seconds(watch.look(at(91_010, 70, 7), recorded)),
            (1070, None, Some(91_010))
        );
        let mut back = watch;
        assert_eq!(
            seconds(back.look(at(1080, 80, 7), recorded)),
            (1080, None, None)
        );
        watch.confirm();
        assert_eq!(
            seconds(watch.look(at(91_020, 80, 7), recorded)),
            (91_020, None, None)
        );
        // So does a machine that comes up with another date.
        let mut up = Watch::new(HOUR, back.seen());
        assert_eq!(
            seconds(up.look(at(91_000, 3, 8), recorded)),
            (1080, None, Some(91_000))
        );
        let mut soon = Watch::new(HOUR, back.seen());
        assert_eq!(
            seconds(soon.look(at(2000, 3, 8), recorded)),
            (2000, None, None)
        );
    }

    #[test]
    fn a_machine_that_was_off_over_a_weekend_needs_no_operator() {
        const WEEK: Seconds = Seconds(604_800);
        let recorded = Timestamp::from_seconds(1000);
        let mut friday = Watch::new(HOUR, None);
        friday.look(at(1000, 50_000, 7), recorded);
        let start = |seen| Watch::new(HOUR, seen).after_downtime(WEEK);
        // Sixty-four hours later it comes up, with a steady clock that starts again from zero.
        let mut monday = start(friday.seen());
        let look = monday.look(at(231_400, 3, 8), recorded);
        assert_eq!(seconds(look), (231_400, None, None));
        assert_eq!(look.downtime, Some(Seconds(230_400)));
        // Only the start is believed that far, and it is reported once.
        let look = monday.look(at(231_401, 4, 8), recorded);
        assert_eq!(
            (seconds(look), look.downtime),
            ((231_401, None, None), None)
        );
        let look = monday.look(at(331_401, 5, 8), recorded);
        assert_eq!(seconds(look), (231_402, None, Some(331_401)));
        // A reboot confirms no jump that waits; the clock may come back by itself.
        let mut wrong = start(monday.seen());
        let look = wrong.look(at(331_501, 3, 9), recorded);
        assert_eq!(seconds(look), (231_402, None, Some(331_501)));
        let mut right = start(monday.seen());
        let look = right.look(at(241_402, 3, 9), recorded);
        assert_eq!(seconds(look), (241_402, None, None));
        // More than a week waits, and so does a jump that the steady clock did not see.
        let mut late = start(friday.seen());
        let look = late.look(at(605_801, 3, 8), recorded);
        assert_eq!(
            (seconds(look), look.downtime),
            ((1000, None, Some(605_801)), None)
        );
        let mut up = start(friday.seen());
        let look = up.look(at(231_400, 50_060, 7), recorded);
        assert_eq!(seconds(look), (1060, None, Some(231_400)));
    }

    #[test]
    fn a_clock_that_comes_right_again_after_a_step_back_needs_no_operator() {
        let recorded = Timestamp::from_seconds(100_000);
        let mut watch = Watch::new(HOUR, None);
        watch.look(at(100_000, 0, 7), recorded);
        watch.look(at(13_610, 10, 7), recorded);
        let behind = watch.seen();
        // By itself, and after a restart of the daemon while it was behind.
        let right = at(100_020, 20, 7);
        for mut watch in [watch, Watch::new(HOUR, behind)] {
            assert_eq!(seconds(watch.look(right, recorded)), (100_020, None, None));
            assert_eq!(watch.seen().unwrap_or_default().unstepped, None);
        }
        // One that goes too far waits, and the ledger's time goes on.
        for mut watch in [watch, Watch::new(HOUR, behind)] {
            let far = at(107_220, 20, 7);
            assert_eq!(
                seconds(watch.look(far, recorded)),
                (100_020, None, Some(107_220))
            );
            let far = at(107_240, 40, 7);
            assert_eq!(
                seconds(watch.look(far, recorded)),
                (100_040, None, Some(107_240))
            );
            let right = at(100_060, 60, 7);
            assert_eq!(seconds(watch.look(right, recorded)), (100_060, None, None));
        }
        // A step back to the right time, that has caught up with the ledger: another jump goes on from there.
        let caught_up = Timestamp::from_seconds(13_700);
        for mut watch in [watch, Watch::new(HOUR, behind)] {
            watch.look(at(13_700, 100, 7), caught_up);
            let far = at(200_000, 110, 7);
            assert_eq!(
                seconds(watch.look(far, caught_up)),
                (13_710, None, Some(200_000))
            );
        }
        // The state may be that of the step, when the daemon was killed after the clock had come right.
        let mut killed = Watch::new(HOUR, behind);
        let later = Timestamp::from_seconds(100_030);
        assert_eq!(
            seconds(killed.look(at(100_040, 40, 7), later)),
            (100_040, None, None)
        );
    }

    #[test]
    fn a_step_back_is_reported_once() {
        let mut watch = Watch::new(HOUR, None);
        let recorded = Timestamp::from_seconds(5000);
        watch.look(at(5000, 0, 7), recorded);
        assert_eq!(
            seconds(watch.look(at(1400, 1, 7), recorded)),
            (5000, Some(1400), None)
        );
        assert_eq!(
            seconds(watch.look(at(1500, 101, 7), recorded)),
            (5000, None, None)
        );
        // A restart, even of the machine, reports it no second time.
        let mut again = Watch::new(HOUR, watch.seen());
        assert_eq!(
            seconds(again.look(at(1600, 3, 8), recorded)),
            (5000, None, None)
        );
        // A second step is another one; and so is one after the clock has caught up.
        assert_eq!(
            seconds(watch.look(at(400, 102, 7), recorded)),
            (5000, Some(400), None)
        );
        assert_eq!(
            seconds(watch.look(at(5100, 4802, 7), recorded)),
            (5100, None, None)
        );
        let step = watch.look(at(5000, 4803, 7), Timestamp::from_seconds(5100));
        assert_eq!(seconds(step), (5100, Some(5000), None));
        // A slewed clock has not stepped.
        let mut watch = Watch::new(HOUR, None);
        watch.look(at(5000, 0, 7), recorded);
        assert_eq!(
            seconds(watch.look(at(5000, 1, 7), recorded)),
            (5000, None, None)
        );
        // One that is behind at the first look has stepped while nobody looked.
        let mut first = Watch::new(HOUR, None);
        assert_eq!(
            seconds(first.look(at(10, 0, 7), recorded)),
            (5000, Some(10), None)
        );
    }
}
