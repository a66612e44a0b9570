//! What usage costs (ledger.md 3): exact, in trillionths of a credit.
//!
//! Rates of the scripts are quarters of a credit, so that whole numbers are exact here.

use super::history::is_charge;
use super::rates::Rate;
use super::{Facts, Naive};
use bank_core::decimal::Decimal;
use bank_core::exact::Rounding;
use bank_core::rate::RateKind;
use bank_core::time::Timestamp;

/// A credit in trillionths, and in the quarters in which the scripts' rates are.
const CREDIT: i128 = 1_000_000_000_000;
const QUARTERS: i128 = 4;
const DAY: i128 = 86_400;

/// An exact price: what grows with time, what counts once, and its bounds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Price {
    pub(super) metered: i128,
    pub(super) once: i128,
    least: Option<i128>,
    most: Option<i128>,
    /// A multiplier by name has no instance for the value.
    pub(super) is_undefined: bool,
}

/// What is priced: on which machine, for so many seconds, by the rates of an instant.
pub(super) struct Priced<'a> {
    pub(super) facts: &'a Facts,
    pub(super) machine: &'a str,
    pub(super) seconds: i64,
    pub(super) at: Timestamp,
}

impl Price {
    pub(super) fn has_bounds(&self) -> bool {
        self.least.is_some() || self.most.is_some()
    }

    /// A sum within the bounds.
    pub(super) fn bounded(&self, sum: i128) -> i128 {
        let least = self.least.filter(|_| sum > 0).unwrap_or(sum);
        let most = self.most.unwrap_or(i128::MAX);
        sum.max(least).min(most)
    }
}

impl Naive {
    /// The facts that price an instance: on its fallback account the machine says with which quality
    /// of service (nami.md 5).
    pub(super) fn priced_facts(&self, n: usize) -> Facts {
        let instance = &self.instances[n];
        let mut facts = instance.facts.clone();
        let machine = self.machine(&instance.machine);
        let other = machine.and_then(|m| m.fallback_qos.clone());
        if let (Some(_), Some(qos)) = (instance.fallback_from, other) {
            facts.usage.qos = Some(qos);
        }
        facts
    }

    /// After an undo or a redo the next charge has the quantities of the last one that stands: those of the undone charge go
    /// if they are the present ones, and a use without a reserve has none then.
    pub(super) fn follow_quantities(&mut self, n: usize, root: usize, is_undone: bool) {
        let mut others = self.rows(n);
        others.retain(|(tx, at)| {
            let is_other = *tx != root && is_charge(self.journal[*tx].entries[*at].kind);
            is_other && self.is_effective((*tx, *at))
        });
        let last = others.last().map(|(tx, _)| *tx);
        let quantities = |facts: &Facts| {
            let mut usage = facts.usage.clone();
            usage.processors = usage.processors.filter(|own| *own != Decimal::ZERO);
            (usage, facts.counted)
        };
        let own = self.journal[root].priced.as_ref().unwrap();
        let next = if is_undone {
            if quantities(own) != quantities(&self.priced_facts(n)) {
                return;
            }
            let i = &self.instances[n];
            let is_reserved = i.began.is_some() && i.began != i.facts.start;
            match last {
                Some(tx) => quantities(self.priced_of(n, tx)),
                None if is_reserved => return,
                None => Default::default(),
            }
        } else if last.is_none_or(|last| last < root) {
            quantities(own)
        } else {
            return;
        };
        let machine = self.machine(&self.instances[n].machine);
        let of_fallback = machine.and_then(|m| m.fallback_qos.clone());
        let facts = &mut self.instances[n].facts;
        let (mut usage, counted) = next;
        if usage.qos.is_some() && usage.qos == of_fallback {
            usage.qos.clone_from(&facts.usage.qos);
        }
        (facts.usage, facts.counted) = (usage, counted);
    }

    /// The quantities of a charge; a settlement has those of the charges before it.
    fn priced_of(&self, n: usize, tx: usize) -> &Facts {
        let mut own = self.journal[..=tx].iter().rev();
        let mut own = own.by_ref().filter(|tx| tx.instance == Some(n));
        own.find_map(|tx| tx.priced.as_ref()).unwrap()
    }

    /// What an instance costs over a time, by the rates of an instant or those of its quote.
    pub(super) fn cost(&self, n: usize, seconds: i64, at: Timestamp) -> i64 {
        let instance = &self.instances[n];
        let price = self.price(&Priced {
            facts: &self.priced_facts(n),
            machine: &instance.machine,
            seconds,
            at: instance.rates_at.unwrap_or(at),
        });
        self.rounded(price.bounded(price.metered + price.once))
    }

    pub(super) fn price(&self, priced: &Priced<'_>) -> Price {
        let mut price = Price::default();
        // What a charge policy counts as processors is a fraction: everything by its denominator.
        let by = priced.facts.counted.map_or(1, |(_, below)| below);
        // In quarters per day; in quarters; factors in quarters.
        let (mut metered, mut per_use, mut fees) = (0, 0, 0);
        let (mut factors, mut many) = (1, 0);
        for (rate, value) in self.counting(priced) {
            let amount = value * quarters(rate);
            match rate.kind {
                RateKind::Vbr | RateKind::Nbr | RateKind::Mvbr => {
                    let whole = match priced.facts.counted {
                        Some((above, _)) if is_by_processors(rate) => above * quarters(rate),
                        _ => amount * by,
                    };
                    metered += whole * DAY / i128::from(rate.per.seconds());
                }
                RateKind::Vbu | RateKind::Nbu => per_use += amount,
                RateKind::Vbm | RateKind::Nbm => {
                    factors *= amount;
                    many += 1;
                }
                RateKind::Vbf | RateKind::Nbf => fees += amount,
                RateKind::Min => price.least = Some(amount * CREDIT / QUARTERS),
                RateKind::Max => price.most = Some(amount * CREDIT / QUARTERS),
            }
        }
        let below = QUARTERS * QUARTERS.pow(many);
        let grown = metered * i128::from(priced.seconds) * factors * CREDIT;
        price.metered = half_even(grown, below * DAY * by);
        let once = per_use * factors + fees * QUARTERS.pow(many);
        price.once = half_even(once * CREDIT, below);
        price.is_undefined = self.is_undefined(priced);
        price
    }

    /// A price as an amount.
    pub(super) fn rounded(&self, exact: i128) -> i64 {
        let down = exact.div_euclid(CREDIT);
        let rest = exact.rem_euclid(CREDIT);
        let up = match self.policy.rounding {
            Rounding::HalfEven => return i64::try_from(half_even(exact, CREDIT)).unwrap(),
            Rounding::HalfUp => 2 * rest >= CREDIT,
            Rounding::Ceil => rest > 0,
        };
        i64::try_from(down + i128::from(up)).unwrap()
    }

    /// An amount as an exact sum.
    pub(super) fn exact(amount: i64) -> i128 {
        i128::from(amount) * CREDIT
    }

    /// The rates that count, each with the value that it is multiplied with: of those about one
    /// property the closest instance, then that of the machine, then the newest.
    fn counting<'a>(&'a self, priced: &Priced<'_>) -> Vec<(&'a Rate, i128)> {
        let mut found: Vec<(&Rate, (u8, bool, usize), i128)> = Vec::new();
        for (number, rate) in self.rates.iter().enumerate() {
            if !rate.holds(priced) {
                continue;
            }
            if let Some((close, value)) = fit(rate, priced) {
                found.push((rate, (close, rate.machine.is_some(), number), value));
            }
        }
        let beaten = |rate: &Rate, rank: (u8, bool, usize)| {
            let mut same = found.iter().filter(|(other, ..)| other.is_about(rate));
            same.any(|(_, other, _)| *other > rank)
        };
        let counting = found.iter().filter(|(rate, rank, _)| !beaten(rate, *rank));
        counting.map(|(rate, _, value)| (*rate, *value)).collect()
    }

    fn is_undefined(&self, priced: &Priced<'_>) -> bool {
        let held = || {
            self.rates
                .iter()
                .filter(|r| r.kind == RateKind::Nbm && r.holds(priced))
        };
        held().any(|rate| {
            let mut same = held().filter(|other| other.name == rate.name);
            word(priced, &rate.name).is_some() && same.all(|other| fit(other, priced).is_none())
        })
    }
}

/// Whether a rate is about processors over time, which a charge policy may count otherwise.
fn is_by_processors(rate: &Rate) -> bool {
    matches!(rate.kind, RateKind::Vbr | RateKind::Mvbr) && rate.name == "Processors"
}

fn quarters(rate: &Rate) -> i128 {
    let billionths = i128::from(rate.value.0);
    assert_eq!(billionths % 250_000_000, 0, "a rate in quarters: {rate:?}");
    billionths / 250_000_000
}

/// How closely a rate fits the usage, and what it is multiplied with; none where it does not.
fn fit(rate: &Rate, priced: &Priced<'_>) -> Option<(u8, i128)> {
    let close = |instance: &str, value: &str| match instance {
        "" => Some(0),
        same if same == value => Some(1),
        _ => None,
    };
    match rate.kind {
        RateKind::Min | RateKind::Max => Some((0, 1)),
        kind if kind.is_name_based() => {
            let value = word(priced, &rate.name)?;
            Some((close(&rate.instance, &value)?, 1))
        }
        RateKind::Mvbr => {
            let (name, instance) = rate.instance.split_once('=').unwrap();
            let value = word(priced, name)?;
            Some((close(instance, &value)?, number(priced, &rate.name)?))
        }
        _ => Some((0, number(priced, &rate.name)?)),
    }
}

fn number(priced: &Priced<'_>, name: &str) -> Option<i128> {
    if name == "Processors" {
        let count: Option<Decimal> = priced.facts.usage.processors;
        let count = count.map(|n| n.billionths() / 1_000_000_000);
        // A finished use has at least one.
        let is_counted = priced.facts.counted.is_some_and(|(above, _)| above > 0);
        return if is_counted {
            Some(count.unwrap_or(0).max(1))
        } else {
            count
        };
    }
    attribute(priced, name)?.parse().ok()
}

fn word(priced: &Priced<'_>, name: &str) -> Option<String> {
    let facts = priced.facts;
    let found = match name {
        "Machine" => Some(priced.machine.to_owned()),
        "User" => Some(facts.user.clone()),
        "Project" => Some(facts.project.clone()),
        "QualityOfService" => facts.usage.qos.clone(),
        "Class" => facts.usage.class.clone(),
        other => attribute(priced, other),
    };
    found.filter(|text| !text.is_empty())
}

fn attribute(priced: &Priced<'_>, name: &str) -> Option<String> {
    let mut given = priced.facts.usage.attributes.iter();
    given.find(|(n, _)| n == name).map(|(_, v)| v.clone())
}

/// A fraction as a whole number, ties to even.
fn half_even(above: i128, below: i128) -> i128 {
    let (whole, rest) = (above.div_euclid(below), above.rem_euclid(below));
    match (2 * rest).cmp(&below) {
        std::cmp::Ordering::Less => whole,
        std::cmp::Ordering::Greater => whole + 1,
        std::cmp::Ordering::Equal => whole + whole % 2,
    }
}
