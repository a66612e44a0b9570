//! Requested beside used resources, and energy (auditor-ecosystem.md 7).

use super::spread::{Credit, Span, part};
use super::{fixed, percent};
use crate::natural::Natural;
use bank_core::decimal::Decimal;
use bank_core::time::Timestamp;

/// Units of work in one processor-hour: thousandths of processors over microseconds.
const HOUR: u128 = 1_000 * 3_600 * 1_000_000;

/// One use or a part of one: thousandths of processors over microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Held: processors × the time that they ran.
    pub held: u128,
    /// Processors × requested time, if reported.
    pub requested: Option<u128>,
    /// The time that processors were busy, if reported.
    pub busy: Option<u128>,
    /// From when to when it ran.
    pub ran: (Timestamp, Timestamp),
    /// Whether it counts as a use; one part of each does.
    pub counts: bool,
}

/// Sums of uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Efficiency {
    /// The number of uses.
    pub uses: u64,
    held: u128,
    requested: u128,
    held_of_requested: u128,
    busy: u128,
    held_of_busy: u128,
}

impl Efficiency {
    /// Adds the part of a use in a span; none if a sum does not fit.
    pub fn add(&mut self, work: &Work, span: Span, credit: Credit) -> Option<()> {
        let of = |total: u128| part(total, work.ran, span, credit);
        let held = of(work.held);
        self.uses = self.uses.checked_add(work.counts.into())?;
        self.held = self.held.checked_add(held)?;
        if let Some(requested) = work.requested {
            self.requested = self.requested.checked_add(of(requested))?;
            self.held_of_requested = self.held_of_requested.checked_add(held)?;
        }
        if let Some(busy) = work.busy {
            self.busy = self.busy.checked_add(of(busy))?;
            self.held_of_busy = self.held_of_busy.checked_add(held)?;
        }
        Some(())
    }

    /// Processor-hours that were held, two decimals.
    pub fn hours(&self) -> String {
        hours(self.held)
    }

    /// Requested processor-hours, two decimals, of uses that report them.
    pub fn requested_hours(&self) -> String {
        hours(self.requested)
    }

    /// Hours that processors were busy, two decimals, of uses that report them.
    pub fn busy_hours(&self) -> String {
        hours(self.busy)
    }

    /// The same three in processor-seconds, six decimals.
    pub fn seconds(&self) -> [String; 3] {
        [self.held, self.requested, self.busy].map(|work| super::decimal(work, HOUR / 3_600, 6))
    }

    /// Percent of the requested time that ran, two decimals; none without requested times.
    pub fn of_requested(&self) -> Option<String> {
        (self.requested > 0).then(|| percent(self.held_of_requested, self.requested))
    }

    /// Percent of the held time that processors were busy, two decimals; none without busy times.
    pub fn of_held(&self) -> Option<String> {
        (self.held_of_busy > 0).then(|| percent(self.busy, self.held_of_busy))
    }

    /// What was held and not busy, of uses that report busy times, as the work of no use.
    #[must_use]
    pub fn idle(&self) -> Efficiency {
        Efficiency {
            held: self.held_of_busy.saturating_sub(self.busy),
            ..Efficiency::default()
        }
    }

    /// Both together; none where a sum does not fit.
    #[must_use]
    pub fn plus(&self, other: &Efficiency) -> Option<Efficiency> {
        Some(Efficiency {
            uses: self.uses.checked_add(other.uses)?,
            held: self.held.checked_add(other.held)?,
            requested: self.requested.checked_add(other.requested)?,
            held_of_requested: self
                .held_of_requested
                .checked_add(other.held_of_requested)?,
            busy: self.busy.checked_add(other.busy)?,
            held_of_busy: self.held_of_busy.checked_add(other.held_of_busy)?,
        })
    }
}

/// The power of a processor, and the CO2 emissions of energy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Factors {
    /// Watts of one processor, from 0 on.
    pub watts: Option<Decimal>,
    /// Grams of CO2 of a kilowatt-hour, from 0 on.
    pub grams: Option<Decimal>,
}

/// Kilowatt-hours of what was held where the watts are known, three decimals, rounded once; none where
/// they are known of nothing.
pub fn energy<'e>(parts: impl Iterator<Item = (&'e Efficiency, Factors)>) -> Option<String> {
    let mut sum = None;
    for (own, factors) in parts {
        let Some(watts) = factors.watts else { continue };
        let billionths = u128::try_from(watts.billionths()).ok()?;
        let over = Natural::from(own.held).times(&billionths.into());
        sum = Some(sum.map_or(over.clone(), |sum: Natural| sum.plus(&over)));
    }
    let under = Natural::from(HOUR).times(&(1_000 * 1_000_000_000_u128).into());
    fixed(&sum?, &under, 3)
}

/// Kilograms of CO2 of what was held where both factors are known, three decimals, rounded once; none
/// where they are known of nothing.
pub fn carbon<'e>(parts: impl Iterator<Item = (&'e Efficiency, Factors)>) -> Option<String> {
    let mut sum = None;
    for (own, factors) in parts {
        let Some((watts, grams)) = factors.watts.zip(factors.grams) else {
            continue;
        };
        let [watts, grams] = [watts, grams].map(|n| u128::try_from(n.billionths()).ok());
        let over = Natural::from(own.held).times(&watts?.into());
        let over = over.times(&grams?.into());
        sum = Some(sum.map_or(over.clone(), |sum: Natural| sum.plus(&over)));
    }
    let billion = Natural::from(1_000_000_000);
    let under = Natural::from(HOUR).times(&1_000_000_u128.into());
    fixed(&sum?, &under.times(&billion).times(&billion), 3)
}

fn hours(work: u128) -> String {
    super::decimal(work, HOUR, 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR_US: i64 = 3_600_000_000;

    #[test]
    fn requested_time_is_shown_beside_used_time() {
        let span = Span::new(Timestamp(0), Timestamp(10 * HOUR_US)).unwrap();
        let mut sums = Efficiency::default();
        assert_eq!((sums.of_requested(), sums.of_held()), (None, None));
        // Eight processors for two hours of four, half busy; one use of unknown figures is half outside.
        let work = Work {
            held: 16 * HOUR,
            requested: Some(32 * HOUR),
            busy: Some(8 * HOUR),
            ran: (Timestamp(0), Timestamp(2 * HOUR_US)),
            counts: true,
        };
        sums.add(&work, span, Credit::Spread).unwrap();
        let unknown = Work {
            held: 8 * HOUR,
            requested: None,
            busy: None,
            ran: (Timestamp(9 * HOUR_US), Timestamp(11 * HOUR_US)),
            counts: true,
        };
        sums.add(&unknown, span, Credit::Spread).unwrap();
        assert_eq!(sums.uses, 2);
        assert_eq!(
            (sums.hours(), sums.requested_hours()),
            ("20.00".into(), "32.00".into())
        );
        assert_eq!(sums.busy_hours(), "8.00");
        assert_eq!(sums.of_requested().as_deref(), Some("50.00"));
        assert_eq!(sums.of_held().as_deref(), Some("50.00"));
        assert_eq!(sums.idle().hours(), "8.00");
        let [watts, grams] = ["12.5", "380"].map(Decimal::parse);
        let both = Factors { watts, grams };
        let of = |parts: &[(&Efficiency, Factors)]| {
            let parts = || parts.iter().copied();
            (energy(parts()), carbon(parts()))
        };
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(of(&[(&sums, both)]), (text("0.250"), text("0.095")));
        let below = Factors {
            watts: Decimal::parse("-1"),
            grams,
        };
        assert_eq!(of(&[(&sums, below)]), (None, None));
        // Machines with other factors, one with watts alone, and one with nothing.
        let watts_only = Factors { watts, grams: None };
        let none = Factors::default();
        assert_eq!(of(&[(&sums, none)]), (None, None));
        let parts = [(&sums, none), (&sums, watts_only), (&sums, both)];
        assert_eq!(of(&parts), (text("0.500"), text("0.095")));
        let twice = sums.plus(&sums).unwrap();
        assert_eq!((twice.uses, twice.hours()), (4, "40.00".to_owned()));
    }
}
