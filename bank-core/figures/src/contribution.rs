//! Usage of a shared cluster beside contributions to it (reports.md 1.7 and 1.8).
//!
//! Usage and contributions are counted in whole numbers of very small units, so that parts add up to
//! the whole; they become decimals and percentages only when they are shown, rounded once on the exact
//! fraction, half away from zero. Nothing divides by zero, and nothing is counted wrong: what does not
//! fit is `None`.

pub mod efficiency;
pub mod hardware;
mod spread;
#[cfg(test)]
mod tests;
pub mod utilisation;

use crate::natural::Natural;
use bank_core::time::{Timestamp, Window};
pub use spread::{Credit, Span, part};
use std::collections::BTreeMap;

/// Units of usage in one factored processor-hour: microseconds and billionths of the factor.
pub const USAGE_UNITS: u128 = 3_600 * SECOND_UNITS;

/// The same in one factored processor-second.
pub const SECOND_UNITS: u128 = 1_000_000 * 1_000_000_000;

/// Units of a contribution in one factored processor over one microsecond: hundredths of a percent,
/// billionths of the factor.
const CONTRIBUTION_UNITS: u128 = 10_000 * 1_000_000_000;

/// A contribution to a cluster: counts while it is installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// Processors.
    pub processors: u64,
    /// The credited part of them, in hundredths of a percent: 0 to 10,000.
    pub split: u16,
    /// The factor of a processor, in billionths.
    pub factor: u64,
    /// When it is there.
    pub valid: Window,
}

impl Installed {
    /// Its value over a period, in the units of [`Table`]; none if that does not fit.
    pub fn over(&self, period: Span) -> Option<u128> {
        let size = u128::from(self.processors).checked_mul(u128::from(self.split))?;
        let size = size.checked_mul(u128::from(self.factor))?;
        size.checked_mul(u128::from(period.shared(&self.valid)))
    }
}

/// Somebody, or a group of people, with what they used and what they gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Whether the subscription leaves them out.
    pub exempt: bool,
    /// In [`USAGE_UNITS`]; below zero if more credits were given back in the period than charged.
    pub usage: i128,
    /// As [`Installed::over`] counts.
    pub contribution: u128,
}

/// All groups with their totals, and the usage without a group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// By name.
    pub groups: BTreeMap<String, Standing>,
    /// Usage of projects without a group, in [`USAGE_UNITS`].
    pub unassigned: i128,
}

/// The used share of a contribution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subscription {
    /// Share of use over share of contribution, in whole percent.
    Percent(Natural),
    /// Used without a contribution.
    Over,
    /// Contributed and not used.
    Under,
    /// Left out.
    Exempt,
    /// Neither used nor contributed.
    Nothing,
    /// Of the row of nobody's projects.
    None,
}

/// Totals of two kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Total {
    /// In [`USAGE_UNITS`].
    pub usage: i128,
    /// As [`Installed::over`] counts.
    pub contribution: u128,
}

/// A row as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The group; none for usage and hardware without a group.
    pub group: Option<String>,
    /// Whether the subscription leaves them out.
    pub exempt: bool,
    /// Factored processor-hours, two decimals.
    pub usage: String,
    /// Percent of all usage, two decimals; empty where there is none at all.
    pub usage_share: String,
    /// Factored processors over the period, two decimals.
    pub contribution: String,
    /// Percent of all contributions, two decimals; empty where there is none at all.
    pub contribution_share: String,
    /// The subscription as a word.
    pub subscription: String,
}

/// The subscription table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Everybody by name, then what belongs to nobody.
    pub rows: Vec<Row>,
    /// Usage and contribution of the groups that are not exempt, two decimals.
    pub counted: (String, String),
    /// Usage and contribution of all, two decimals.
    pub all: (String, String),
}

impl Subscription {
    /// From the totals of one group, and those of all groups that are not exempt.
    pub fn of(standing: &Standing, counted: Total) -> Subscription {
        let Standing {
            exempt,
            usage,
            contribution,
        } = standing;
        let (usage, of_all) = (positive(*usage), positive(counted.usage));
        match (exempt, usage, contribution) {
            (true, _, _) => Subscription::Exempt,
            (false, 0, 0) => Subscription::Nothing,
            (false, 0, _) => Subscription::Under,
            (false, _, 0) => Subscription::Over,
            (false, usage, contribution) => {
                let of = |a: u128, b: u128| Natural::from(a).times(&b.into());
                let over = of(usage, counted.contribution).times(&100.into());
                let percent = over.nearest(&of(of_all, *contribution));
                percent.map_or(Subscription::Over, Subscription::Percent)
            }
        }
    }

    /// As it is shown.
    pub fn text(&self) -> String {
        match self {
            Subscription::Percent(percent) => format!("{percent}%"),
            Subscription::Over => "Over".to_owned(),
            Subscription::Under => "Under".to_owned(),
            Subscription::Exempt => "Exempt".to_owned(),
            Subscription::Nothing => "—".to_owned(),
            Subscription::None => String::new(),
        }
    }
}

impl Sums {
    /// Adds usage of somebody, or of nobody's projects; none where the sum does not fit.
    pub fn add_usage(&mut self, group: Option<&str>, usage: i128) -> Option<()> {
        let sum = match group {
            None => &mut self.unassigned,
            Some(name) => match self.groups.get_mut(name) {
                Some(standing) => &mut standing.usage,
                None => &mut self.groups.entry(name.to_owned()).or_default().usage,
            },
        };
        *sum = sum.checked_add(usage)?;
        Some(())
    }

    /// Adds a contribution that is credited to somebody; none where the sum does not fit.
    pub fn add_contribution(&mut self, group: &str, contribution: u128) -> Option<()> {
        let standing = self.groups.entry(group.to_owned()).or_default();
        standing.contribution = standing.contribution.checked_add(contribution)?;
        Some(())
    }

    /// The totals of the groups that are not exempt, and of everything with unassigned usage; none if a sum
    /// does not fit.
    pub fn totals(&self) -> Option<(Total, Total)> {
        let mut counted = Total::default();
        let mut all = Total {
            usage: self.unassigned,
            contribution: 0,
        };
        for standing in self.groups.values() {
            all = all.plus(standing)?;
            if !standing.exempt {
                counted = counted.plus(standing)?;
            }
        }
        Some((counted, all))
    }

    /// The table for a period, usage in so many units, such as [`USAGE_UNITS`]; none where a sum does not fit.
    pub fn table(&self, period: Span, unit: u128) -> Option<Table> {
        let (counted, all) = self.totals()?;
        let whole = CONTRIBUTION_UNITS.checked_mul(u128::from(period.micros()))?;
        let used = |usage| signed(usage, |usage| decimal(usage, unit, 2));
        let share = |usage| signed(usage, |usage| percent(usage, positive(all.usage)));
        let processors = |contribution: u128| decimal(contribution, whole, 2);
        let row = |group: Option<&String>, standing: &Standing| Row {
            group: group.cloned(),
            exempt: standing.exempt,
            usage: used(standing.usage),
            usage_share: share(standing.usage),
            contribution: processors(standing.contribution),
            contribution_share: percent(standing.contribution, all.contribution),
            subscription: match group {
                Some(_) => Subscription::of(standing, counted).text(),
                None => Subscription::None.text(),
            },
        };
        let mut rows: Vec<Row> = self.groups.iter().map(|(n, s)| row(Some(n), s)).collect();
        let nobody = Standing {
            usage: self.unassigned,
            ..Standing::default()
        };
        rows.push(row(None, &nobody));
        Some(Table {
            rows,
            counted: (used(counted.usage), processors(counted.contribution)),
            all: (used(all.usage), processors(all.contribution)),
        })
    }
}

impl Total {
    fn plus(self, standing: &Standing) -> Option<Total> {
        Some(Total {
            usage: self.usage.checked_add(standing.usage)?,
            contribution: self.contribution.checked_add(standing.contribution)?,
        })
    }
}

/// A part of a whole in percent with two decimals; empty where there is no whole.
pub fn percent(part: u128, whole: u128) -> String {
    let part = Natural::from(part).times(&100.into());
    fixed(&part, &whole.into(), 2).unwrap_or_default()
}

/// A number of units as a decimal, half away from zero; empty where a unit is nothing.
pub fn decimal(number: u128, unit: u128, places: u32) -> String {
    fixed(&number.into(), &unit.into(), places).unwrap_or_default()
}

/// A number that may be below zero, shown by its amount; what is shown as zero has no sign.
pub fn signed(number: i128, shown: impl Fn(u128) -> String) -> String {
    let text = shown(number.unsigned_abs());
    let has_sign = number < 0 && text.bytes().any(|b| matches!(b, b'1'..=b'9'));
    if has_sign { format!("-{text}") } else { text }
}

/// The number, or zero for one below zero.
pub fn positive(number: i128) -> u128 {
    u128::try_from(number).unwrap_or(0)
}

/// A fraction with so many decimals, half away from zero; none where it divides by zero.
pub fn fixed(over: &Natural, under: &Natural, places: u32) -> Option<String> {
    let number = over.times(&Natural::ten_to(places)).nearest(under)?;
    let places = usize::try_from(places).ok()?;
    let digits = number.to_string();
    let digits = format!("{digits:0>width$}", width = places.checked_add(1)?);
    let (whole, rest) = digits.split_at_checked(digits.len().checked_sub(places)?)?;
    Some(match rest {
        "" => whole.to_owned(),
        rest => format!("{whole}.{rest}"),
    })
}

/// Factored usage of some microseconds, with a factor in billionths. This is the only rounding of factored
/// usage: each use is cut to whole microseconds towards zero before it is spread over time. So its parts add
/// up to it, and a reversal takes back exactly the counted value.
pub fn factored(micros: i128, factor: u64) -> i128 {
    if factor == hardware::FACTOR_ONE {
        return micros;
    }
    let product = micros.saturating_mul(factor.into());
    product
        .checked_div(hardware::FACTOR_ONE.into())
        .unwrap_or(micros)
}

/// Whole microseconds of factored usage in [`USAGE_UNITS`]; none where that does not fit.
pub fn usage(micros: i128) -> Option<i128> {
    micros.checked_mul(hardware::FACTOR_ONE.into())
}

/// The period between two instants; none unless the first comes before the second.
pub fn span(from: Timestamp, to: Timestamp) -> Option<Span> {
    Span::new(from, to)
}
