//! Usage × rates → an exact price, and the rates that made it (ledger.md 3.1, nami.md 3.4).
//!
//! `( Σ resources × consumption × duration + Σ usage ) × Π multipliers + Σ fees`, exact. Nothing is
//! rounded here but the two parts, each to a trillionth of a credit (decisions.md 7). Where rates have
//! calendars the window is split at their edges and the pieces are summed before that.

mod itemise;
mod pieces;

pub use itemise::{Once, exact_text, itemise};

use crate::decimal::Decimal;
use crate::exact::Fraction;
use crate::ids::MachineId;
use crate::rate::fit::{self, Fit};
use crate::rate::{Owner, Per, Rate, RateKind};
use crate::time::{Seconds, Timestamp};
use crate::usage::Usage;

/// Names beside the machine, for rates by `User`, `Project` or `Group`; empty for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Named<'a> {
    /// The user, also known as `UserId`.
    pub user: &'a str,
    /// The project, also known as `Account`.
    pub project: &'a str,
    /// The group.
    pub group: &'a str,
}

/// The input of a price.
#[derive(Clone, Copy, Debug)]
pub struct Priced<'a> {
    /// The usage.
    pub usage: &'a Usage,
    /// For how long.
    pub duration: Seconds,
    /// The machine, where it is known.
    pub machine: Option<MachineId>,
    /// The machine's name, for rates by `Machine=name`.
    pub machine_name: &'a str,
    /// The names on the usage, for rates by user, project or group.
    pub named: Named<'a>,
    /// Which rates count: those in force at this instant.
    pub at: Timestamp,
    /// When the use began: calendars are read from here on.
    pub from: Timestamp,
}

/// An exact price in trillionths of a credit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Price {
    /// The part that grows with the duration.
    pub metered: i128,
    /// Fees and per-use charges: once per instance (decisions.md 7).
    pub once: i128,
    /// The least that an instance costs, if it costs anything.
    pub least: Option<i128>,
    /// The most that an instance costs.
    pub most: Option<i128>,
    /// Whether a name-based multiplier exists whose value is not defined (ledger.md 3.1).
    pub undefined_instance: bool,
    /// Whether no rate found anything to count, so that the price is 0.
    pub unpriced: bool,
}

impl Price {
    /// Both parts together within the limits, for a quote or a lien; `None` beyond `i128`.
    pub fn total(&self) -> Option<i128> {
        Some(self.bounded(self.metered.checked_add(self.once)?))
    }

    /// A sum of prices within the minimum and maximum charge; what is free stays free, and the
    /// maximum wins where the two contradict each other (ledger.md 3.3).
    pub fn bounded(&self, sum: i128) -> i128 {
        let least = self.least.filter(|_| sum > 0);
        let sum = least.map_or(sum, |least| sum.max(least));
        self.most.map_or(sum, |most| sum.min(most))
    }
}

/// The price of usage. `None` where exact arithmetic ends (decisions.md 6).
pub fn price(priced: &Priced<'_>, rates: &[Rate]) -> Option<Price> {
    let first = Sums::at(priced, rates, priced.from)?;
    let metered = if pieces::has_hours(priced, rates) {
        let mut sum = Fraction::ZERO;
        for piece in pieces::pieces(priced, rates) {
            let sums = Sums::at(priced, rates, piece.at)?;
            sum = sum.plus(sums.metered(priced, piece.length()?)?)?;
        }
        sum
    } else {
        first.metered(priced, Fraction::whole(i128::from(priced.duration.0)))?
    };
    Some(Price {
        metered: metered.to_trillionths()?,
        once: first.once()?.to_trillionths()?,
        least: first.least,
        most: first.most,
        undefined_instance: undefined_instance(priced, rates),
        unpriced: first.counted == 0,
    })
}

/// The rates that made a price, in the order given: those in force that found something to count.
/// Without any one of them it could be another price; the others play no part in it.
pub fn counted<'a>(priced: &Priced<'_>, rates: &'a [Rate]) -> impl Iterator<Item = &'a Rate> {
    let pieces = pieces::pieces(priced, rates);
    let counts = move |rate: &&Rate| {
        let counts_at = |at| winner(rate, priced, rates, at).is_some();
        counts_at(priced.from) || pieces.iter().any(|piece| counts_at(piece.at))
    };
    rates.iter().filter(counts)
}

struct Sums {
    resources: Fraction,
    per_use: Fraction,
    factor: Fraction,
    fees: Fraction,
    least: Option<i128>,
    most: Option<i128>,
    /// The number of rates that counted.
    counted: usize,
}

impl Default for Sums {
    fn default() -> Self {
        let zero = Fraction::ZERO;
        Sums {
            resources: zero,
            per_use: zero,
            factor: Fraction::ONE,
            fees: zero,
            least: None,
            most: None,
            counted: 0,
        }
    }
}

impl Sums {
    /// The sums that count at an instant of the use.
    fn at(priced: &Priced<'_>, rates: &[Rate], at: Timestamp) -> Option<Sums> {
        let mut sums = Sums::default();
        for rate in rates {
            if let Some(value) = winner(rate, priced, rates, at) {
                sums.take(rate, quantity(rate, priced, value))?;
            }
        }
        Some(sums)
    }

    fn take(&mut self, rate: &Rate, value: Fraction) -> Option<()> {
        let per = if rate.kind.is_metered() {
            rate.per
        } else {
            Per::Second
        };
        let amount = value.times(rate.value.over(per)?)?;
        match rate.kind {
            RateKind::Vbr | RateKind::Nbr | RateKind::Mvbr => {
                self.resources = self.resources.plus(amount)?;
            }
            RateKind::Vbu | RateKind::Nbu => self.per_use = self.per_use.plus(amount)?,
            RateKind::Vbm | RateKind::Nbm => self.factor = self.factor.times(amount)?,
            RateKind::Vbf | RateKind::Nbf => self.fees = self.fees.plus(amount)?,
            RateKind::Min => self.least = Some(amount.to_trillionths()?),
            RateKind::Max => self.most = Some(amount.to_trillionths()?),
        }
        if !rate.kind.is_limit() {
            self.counted = self.counted.saturating_add(1);
        }
        Some(())
    }

    /// The part that grows with the duration, in seconds.
    fn metered(&self, priced: &Priced<'_>, seconds: Fraction) -> Option<Fraction> {
        let mut sum = self.resources.times(seconds)?.times(self.factor)?;
        if !priced.usage.attributes.is_empty() {
            let consumption = priced.usage.consumption().billionths();
            sum = sum.times(Fraction::new(consumption, 1_000_000_000)?)?;
        }
        Some(sum)
    }

    /// The part that counts once for an instance.
    fn once(&self) -> Option<Fraction> {
        self.per_use.times(self.factor)?.plus(self.fees)
    }
}

/// The quantity that a rate counts of this usage, and how closely it fits: the property's value, 1 for a name
/// that matches, or none.
fn matched(rate: &Rate, priced: &Priced<'_>) -> Option<(Fit, Decimal)> {
    let one = Decimal::whole(1);
    match rate.kind {
        RateKind::Vbr | RateKind::Vbu | RateKind::Vbm | RateKind::Vbf => {
            let value = priced.usage.rated(&rate.name)?;
            Some((fit::of_value(&rate.instance, value)?, value))
        }
        RateKind::Nbr | RateKind::Nbu | RateKind::Nbm | RateKind::Nbf => {
            let value = text(priced, &rate.name)?;
            Some((fit::of_name(&rate.instance, value)?, one))
        }
        RateKind::Mvbr => {
            let (name, wanted) = rate.instance.split_once('=')?;
            let value = priced.usage.rated(&rate.name)?;
            Some((fit::of_name(wanted, text(priced, name)?)?, value))
        }
        RateKind::Min | RateKind::Max => Some((Fit::Default, one)),
    }
}

/// The start of the priced time: a stretch of this length that ends at the instant, but starts no earlier
/// than its use. A use that began after the instant was overtaken and is no bound.
pub fn priced_from(at: Timestamp, duration: Seconds, opened: Timestamp) -> Timestamp {
    let from = at.minus(duration);
    if opened <= at { from.max(opened) } else { from }
}

/// The quantity that a rate counts of a property's value. Over time, a charge policy may replace the
/// processors (nami.md 4.3).
pub fn quantity(rate: &Rate, priced: &Priced<'_>, value: Decimal) -> Fraction {
    let by_policy = matches!(rate.kind, RateKind::Vbr | RateKind::Mvbr)
        && rate.name.eq_ignore_ascii_case("Processors");
    let counted = priced.usage.counted.filter(|_| by_policy);
    counted.unwrap_or(Fraction::of(value))
}

/// A text property. Users, projects, groups and machines are those that the request names.
fn text<'a>(priced: &Priced<'a>, name: &str) -> Option<&'a str> {
    let named = match Owner::of(name) {
        Some(Owner::Machine) => priced.machine_name,
        Some(Owner::User) => priced.named.user,
        Some(Owner::Project) => priced.named.project,
        Some(Owner::Group) => priced.named.group,
        None => "",
    };
    Some(named)
        .filter(|value| !value.is_empty())
        .or_else(|| priced.usage.text(name))
}

/// The quantity that a rate counts at an instant of the use, unless a narrower rate for the same property
/// replaces it. Of those that fit, the closest counts, then a machine's own, then one with hours, then the
/// newest (ledger.md 3.1).
fn winner(rate: &Rate, priced: &Priced<'_>, rates: &[Rate], at: Timestamp) -> Option<Decimal> {
    let (rank, value) = rank(rate, priced, at)?;
    let replaced = rates.iter().any(|other| {
        other.kind == rate.kind
            && same_property(rate, other)
            && self::rank(other, priced, at).is_some_and(|(own, _)| own > rank)
    });
    (!replaced).then_some(value)
}

/// The rank between rates for one property, the greatest first.
type Rank = (Fit, bool, bool, i64);

fn rank(rate: &Rate, priced: &Priced<'_>, at: Timestamp) -> Option<(Rank, Decimal)> {
    let holds = rate.when.as_ref().is_none_or(|hours| hours.contains(at));
    if !holds || !rate.applies(priced.at, priced.machine) {
        return None;
    }
    let (fit, value) = matched(rate, priced)?;
    let rank = (fit, rate.machine.is_some(), rate.when.is_some(), rate.id.0);
    Some((rank, value))
}

fn same_property(one: &Rate, other: &Rate) -> bool {
    one.name.eq_ignore_ascii_case(&other.name)
        && (one.kind != RateKind::Mvbr || one.property().eq_ignore_ascii_case(other.property()))
}

fn undefined_instance(priced: &Priced<'_>, rates: &[Rate]) -> bool {
    rates.iter().any(|rate| {
        rate.kind == RateKind::Nbm
            && rate.applies(priced.at, priced.machine)
            && text(priced, &rate.name).is_some_and(|value| {
                !rates.iter().any(|r| {
                    r.kind == RateKind::Nbm
                        && r.name.eq_ignore_ascii_case(&rate.name)
                        && fit::of_name(&r.instance, value).is_some()
                        && r.applies(priced.at, priced.machine)
                })
            })
    })
}

#[cfg(test)]
mod tests;
