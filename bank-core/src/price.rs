//! Usage × rates → an exact price, and the rates that made it (ledger.md 3.1, nami.md 3.4).
//!
//! `( Σ resources × duration + Σ usage ) × Π multipliers + Σ fees`, exact. Nothing is rounded here
//! but the two parts, each to a trillionth of a credit (decision 7).

use crate::decimal::Decimal;
use crate::exact::Fraction;
use crate::ids::MachineId;
use crate::rate::{Per, Rate, RateKind};
use crate::time::{Seconds, Timestamp};
use crate::usage::Usage;

/// What a price is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Priced<'a> {
    /// What was used.
    pub usage: &'a Usage,
    /// For how long.
    pub duration: Seconds,
    /// The machine, where it is known.
    pub machine: Option<MachineId>,
    /// The machine's name, for rates by `Machine=name`.
    pub machine_name: &'a str,
    /// Which rates count: those in force at this instant.
    pub at: Timestamp,
}

/// An exact price in trillionths of a credit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Price {
    /// What grows with the duration.
    pub metered: i128,
    /// Fees and per-use charges: once per instance (decision 7).
    pub once: i128,
    /// Whether a name-based multiplier exists whose value nobody defined (ledger.md 3.1).
    pub undefined_instance: bool,
}

impl Price {
    /// Both parts together, for a quote or a lien; `None` beyond `i128`.
    pub fn total(&self) -> Option<i128> {
        self.metered.checked_add(self.once)
    }
}

/// The price of usage. `None` where exact arithmetic ends (decision 6).
pub fn price(asked: &Priced<'_>, rates: &[Rate]) -> Option<Price> {
    let mut sums = Sums::default();
    for rate in rates.iter().filter(|r| in_force(r, asked, rates)) {
        sums.take(rate, asked)?;
    }
    let metered = sums
        .resources
        .times(Fraction::whole(i128::from(asked.duration.0)))?;
    Some(Price {
        metered: metered.times(sums.factor)?.to_trillionths()?,
        once: sums
            .per_use
            .times(sums.factor)?
            .plus(sums.fees)?
            .to_trillionths()?,
        undefined_instance: undefined_instance(asked, rates),
    })
}

/// The rates that made a price, in the order given: those in force that found something to count.
/// Without any one of them it could be another price; the others play no part in it.
pub fn counted<'a>(asked: &Priced<'_>, rates: &'a [Rate]) -> impl Iterator<Item = &'a Rate> {
    let counts = |rate: &&Rate| matched(rate, asked).is_some() && in_force(rate, asked, rates);
    rates.iter().filter(counts)
}

struct Sums {
    resources: Fraction,
    per_use: Fraction,
    factor: Fraction,
    fees: Fraction,
}

impl Default for Sums {
    fn default() -> Self {
        let zero = Fraction::ZERO;
        Sums {
            resources: zero,
            per_use: zero,
            factor: Fraction::ONE,
            fees: zero,
        }
    }
}

impl Sums {
    fn take(&mut self, rate: &Rate, asked: &Priced<'_>) -> Option<()> {
        let Some(value) = matched(rate, asked) else {
            return Some(());
        };
        let per = if rate.kind.is_metered() {
            rate.per
        } else {
            Per::Second
        };
        let value = Fraction::new(value.billionths(), 1_000_000_000)?;
        let amount = value.times(rate.value.over(per)?)?;
        match rate.kind {
            RateKind::Vbr | RateKind::Nbr | RateKind::Mvbr => {
                self.resources = self.resources.plus(amount)?;
            }
            RateKind::Vbu | RateKind::Nbu => self.per_use = self.per_use.plus(amount)?,
            RateKind::Vbm | RateKind::Nbm => self.factor = self.factor.times(amount)?,
            RateKind::Vbf | RateKind::Nbf => self.fees = self.fees.plus(amount)?,
        }
        Some(())
    }
}

/// What a rate counts of this usage: the property's value, 1 for a name that matches, or nothing.
fn matched(rate: &Rate, asked: &Priced<'_>) -> Option<Decimal> {
    let one = Decimal::whole(1);
    match rate.kind {
        RateKind::Vbr | RateKind::Vbu | RateKind::Vbm | RateKind::Vbf => {
            asked.usage.number(&rate.name)
        }
        RateKind::Nbr | RateKind::Nbu | RateKind::Nbm | RateKind::Nbf => {
            let value = text(asked, &rate.name)?;
            (rate.instance.is_empty() || value == rate.instance).then_some(one)
        }
        RateKind::Mvbr => {
            let (name, wanted) = rate.instance.split_once('=')?;
            let value = asked.usage.number(&rate.name)?;
            (text(asked, name)? == wanted).then_some(value)
        }
    }
}

fn text<'a>(asked: &Priced<'a>, name: &str) -> Option<&'a str> {
    if name.eq_ignore_ascii_case("Machine") {
        return Some(asked.machine_name).filter(|m| !m.is_empty());
    }
    asked.usage.text(name)
}

/// A rate in force that no narrower one replaces: a machine's own rate goes before the general
/// one, a named instance before the empty one (ledger.md 3.1, default instance).
fn in_force(rate: &Rate, asked: &Priced<'_>, rates: &[Rate]) -> bool {
    if !rate.applies(asked.at, asked.machine) {
        return false;
    }
    let narrower = |other: &Rate| {
        let same = other.kind == rate.kind && other.name.eq_ignore_ascii_case(&rate.name);
        if !same || !other.applies(asked.at, asked.machine) {
            return false;
        }
        let own = other.machine.is_some() && rate.machine.is_none();
        let machine = own && other.instance == rate.instance;
        let named = rate.instance.is_empty() && !other.instance.is_empty();
        machine || (rate.kind.is_name_based() && named && matched(other, asked).is_some())
    };
    let can_be_replaced = rate.machine.is_none() || rate.instance.is_empty();
    !(can_be_replaced && rates.iter().any(narrower))
}

fn undefined_instance(asked: &Priced<'_>, rates: &[Rate]) -> bool {
    rates.iter().any(|rate| {
        rate.kind == RateKind::Nbm
            && rate.applies(asked.at, asked.machine)
            && text(asked, &rate.name).is_some_and(|value| {
                !rates.iter().any(|r| {
                    r.kind == RateKind::Nbm
                        && r.name.eq_ignore_ascii_case(&rate.name)
                        && (r.instance.is_empty() || r.instance == value)
                        && r.applies(asked.at, asked.machine)
                })
            })
    })
}

#[cfg(test)]
mod tests;
