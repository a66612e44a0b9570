//! What pictures are made of: numbers with their unit, spans of time, tables.

use std::collections::{BTreeMap, BTreeSet};

use super::number::{Number, total};
use crate::bounds::{POINTS_MAX, TooLarge, VALUES_MAX};
use crate::figure::Scale;

/// What a row is called that the daemon has added up of several. It stands behind all names.
pub const OTHERS: &str = "(all others)";
/// The name of a row of people whom the caller may not see.
pub const HIDDEN: &str = "(not shown)";
/// The name of a row that is about nobody, such as uses without a user.
pub const NOBODY: &str = "(none)";

/// Something with a length that can be drawn.
#[derive(Debug, Clone)]
pub enum Chart {
    /// Horizontal bars with their names.
    Bars(Bars),
    /// Columns over time, the series on top of each other.
    Columns(Timed),
    /// Areas over time, the series on top of each other.
    Area(Timed),
    /// A line for each series over time; with a limit, utilisation against it.
    Lines(Timed),
    /// How money is spent.
    Burn(Box<Burn>),
    /// Bars of several amounts for each name.
    Beside(Beside),
    /// Shares of a whole, for the contribution report only: bars are read better.
    Pie(Bars),
}

/// One amount for each name.
#[derive(Debug, Clone, Default)]
pub struct Bars {
    /// What the names are: `user`.
    pub what: String,
    /// Unit of the amounts, `SU`; empty for a count.
    pub unit: String,
    /// The names with their amounts, as they are to be shown from top to bottom.
    pub rows: Vec<(String, Number)>,
}

/// Several amounts for each name, such as a subscription beside a contribution.
#[derive(Debug, Clone, Default)]
pub struct Beside {
    /// What the names are: `contributor`.
    pub what: String,
    /// Unit of the amounts, `%`; empty for a count.
    pub unit: String,
    /// The names of the amounts, at most eight.
    pub series: Vec<String>,
    /// The names with their amounts in the order of `series`; none where nothing is known.
    pub rows: Vec<(String, Vec<Option<Number>>)>,
}

/// A span of time, µs since 1970 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// The start, inclusive.
    pub from: i64,
    /// The end, exclusive.
    pub to: i64,
}

/// An amount for each span of time, of one series or several.
#[derive(Debug, Clone, Default)]
pub struct Timed {
    /// What the series are: `project`; empty where there is one only.
    pub what: String,
    /// Unit of the amounts, `SU` or `%`; empty for a count.
    pub unit: String,
    /// The spans from old to new; they need not be of one length.
    pub spans: Vec<Span>,
    /// The series, the most important first.
    pub series: Vec<Series>,
    /// What the amounts are held against, with its name: `capacity`.
    pub limit: Option<(String, Number)>,
}

/// One series.
#[derive(Debug, Clone, Default)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// An amount for each span, in the order of the spans; none where nothing is known.
    pub values: Vec<Option<Number>>,
}

/// How an account's money is spent over a time.
#[derive(Debug, Clone, Default)]
pub struct Burn {
    /// Unit of the amounts.
    pub unit: String,
    /// The start of the axis, µs.
    pub from: i64,
    /// Its end, µs.
    pub to: i64,
    /// What there was from an instant on, from old to new; the last one is what there is at `now`.
    pub amount: Vec<(i64, Number)>,
    /// The amount at an instant, and what of it was held; empty where that is not known.
    pub held: Vec<(i64, Number, Number)>,
    /// A straight line from the first to the last: spent evenly.
    pub ideal: Option<[(i64, Number); 2]>,
    /// What will be, in straight pieces, as far as it is known.
    pub forecast: Vec<(i64, Number)>,
    /// What will be at an instant at the fastest of recent speeds, and at the slowest.
    pub spread: Vec<(i64, Number, Number)>,
    /// What came in, and when.
    pub deposits: Vec<(i64, Number)>,
    /// The instant up to which the amount is known.
    pub now: i64,
}

/// A table of data.
#[derive(Debug, Clone, Default)]
pub struct Table {
    /// What it shows.
    pub caption: String,
    /// The heads of its columns, and whether what stands below is a number.
    pub columns: Vec<(String, bool)>,
    /// The rows; the first cell names the row.
    pub rows: Vec<Vec<Cell>>,
    /// Rows of sums.
    pub foot: Vec<Vec<Cell>>,
}

/// One cell.
#[derive(Debug, Clone)]
pub enum Cell {
    /// A text as it is.
    Text(String),
    /// A number, with thousands separated.
    Number(Number),
    /// A share in percent.
    Percent(Number),
    /// An instant, µs: a date where it is a local midnight.
    Time(i64),
    /// Nothing is known.
    None,
}

impl Cell {
    /// A number, or nothing.
    pub fn maybe(number: Option<Number>) -> Self {
        number.map_or(Self::None, Self::Number)
    }
}

impl Burn {
    /// With its amounts in other units.
    #[must_use]
    pub fn in_units(mut self, scale: Scale) -> Self {
        let points = [&mut self.amount, &mut self.forecast, &mut self.deposits];
        for (_, number) in points.into_iter().flatten() {
            *number = number.in_units(scale);
        }
        for (_, amount, held) in &mut self.held {
            (*amount, *held) = (amount.in_units(scale), held.in_units(scale));
        }
        for (_, low, high) in &mut self.spread {
            (*low, *high) = (low.in_units(scale), high.in_units(scale));
        }
        for (_, number) in self.ideal.iter_mut().flatten() {
            *number = number.in_units(scale);
        }
        scale.word.clone_into(&mut self.unit);
        self
    }
}

impl Timed {
    /// Spans and series out of single amounts: which span (its place among `spans`), whose, how much.
    /// Amounts of one span and one name are added; the largest series comes first, that of all others
    /// last, and what no row mentions is zero.
    ///
    /// What lies outside the spans is left out. Fails where names times spans are more than
    /// a chart can have.
    pub fn gathered(
        what: &str,
        unit: &str,
        spans: Vec<Span>,
        rows: impl IntoIterator<Item = (usize, String, Number)>,
    ) -> Result<Self, TooLarge> {
        let rows: Vec<_> = rows.into_iter().collect();
        let names: BTreeSet<&str> = rows.iter().map(|(_, name, _)| name.as_str()).collect();
        let values = names.len().saturating_mul(spans.len());
        if values > VALUES_MAX {
            return Err(TooLarge::Chart {
                names: names.len(),
                spans: spans.len(),
            });
        }
        let mut found = BTreeMap::<String, Vec<Option<Number>>>::new();
        for (at, name, amount) in rows {
            let values = found
                .entry(name)
                .or_insert_with(|| vec![Some(Number::ZERO); spans.len()]);
            if let Some(value) = values.get_mut(at) {
                *value = Some(value.unwrap_or(Number::ZERO).plus(amount));
            }
        }
        let mut series: Vec<Series> = found
            .into_iter()
            .map(|(name, values)| Series { name, values })
            .collect();
        let is_rest = |series: &Series| series.name == OTHERS;
        series.sort_by(|a, b| {
            let larger = b.sum().size().compare(a.sum().size());
            is_rest(a).cmp(&is_rest(b)).then(larger)
        });
        Ok(Self {
            what: what.to_owned(),
            unit: unit.to_owned(),
            spans,
            series,
            limit: None,
        })
    }

    /// The sum of each series, in their order.
    pub fn bars(&self) -> Bars {
        let sums = self.series.iter().map(|s| (s.name.clone(), s.sum()));
        Bars {
            what: self.what.clone(),
            unit: self.unit.clone(),
            rows: sums.collect(),
        }
    }

    /// The least and the most of a day on average over seven spans that follow each other, without the first
    /// span and the last, which may be shorter than a day. None of less than seven.
    pub fn speeds(&self) -> Option<(Number, Number)> {
        let last = self.spans.len().checked_sub(1)?;
        let days: Vec<Number> = (1..last).map(|at| self.sum_at(at)).collect();
        let weeks = days.windows(7).map(|week| total(week.iter().copied()));
        let mut weeks: Vec<Number> = weeks.collect();
        weeks.sort_by(|a, b| a.compare(*b));
        let (slow, fast) = (weeks.first()?, weeks.last()?);
        Some((slow.part(1, 7), fast.part(1, 7)))
    }

    /// The same with at most so many series: those behind them added up as one.
    pub(super) fn folded(&self, most: usize) -> Self {
        if self.series.len() <= most {
            return self.clone();
        }
        let (kept, rest) = self.series.split_at(most.saturating_sub(1));
        let sum = |at: usize| {
            let values = rest.iter().filter_map(|series| series.value(at));
            Some(total(values))
        };
        let mut series = kept.to_vec();
        series.push(Series {
            name: added_up(rest.iter().map(|series| series.name.as_str())),
            values: (0..self.spans.len()).map(sum).collect(),
        });
        Self {
            series,
            ..self.clone()
        }
    }

    /// Every amount that is known.
    pub(super) fn values(&self) -> impl Iterator<Item = Number> + '_ {
        self.series
            .iter()
            .flat_map(|s| s.values.iter().flatten().copied())
    }

    /// The sum of all series in a span.
    pub(super) fn sum_at(&self, at: usize) -> Number {
        total(self.series.iter().filter_map(|series| series.value(at)))
    }

    /// From the first instant to the last.
    pub(super) fn range(&self) -> Span {
        Span {
            from: self.spans.iter().map(|s| s.from).min().unwrap_or(0),
            to: self.spans.iter().map(|s| s.to).max().unwrap_or(0),
        }
    }
}

impl Series {
    /// The amount of a span.
    pub(super) fn value(&self, at: usize) -> Option<Number> {
        self.values.get(at).copied().flatten()
    }

    /// The sum over all spans.
    pub(super) fn sum(&self) -> Number {
        total(self.values.iter().flatten().copied())
    }
}

impl Bars {
    /// The sum of all.
    pub(super) fn sum(&self) -> Number {
        total(self.rows.iter().map(|(_, amount)| *amount))
    }

    /// The same with at most so many bars: those behind them added up as one.
    pub(super) fn folded(&self, most: usize) -> Self {
        if self.rows.len() <= most {
            return self.clone();
        }
        let (kept, rest) = self.rows.split_at(most.saturating_sub(1));
        let mut bars = kept.to_vec();
        let sum = total(rest.iter().map(|(_, amount)| *amount));
        let name = added_up(rest.iter().map(|(name, _)| name.as_str()));
        bars.push((name, sum));
        Self {
            rows: bars,
            ..self.clone()
        }
    }
}

impl Beside {
    /// Every amount that is known.
    pub(super) fn values(&self) -> impl Iterator<Item = Number> + '_ {
        let rows = self.rows.iter();
        rows.flat_map(|(_, amounts)| amounts.iter().flatten().copied())
    }

    /// A bar for each amount, with both names.
    pub(super) fn flat(&self) -> Bars {
        let of = |name: &str, amounts: &[Option<Number>]| {
            let known = self.series.iter().zip(amounts);
            let known = known.filter_map(|(of, amount)| Some((of, (*amount)?)));
            let bars = known.map(|(of, amount)| (format!("{name}, {of}"), amount));
            bars.collect::<Vec<_>>()
        };
        Bars {
            what: self.what.clone(),
            unit: self.unit.clone(),
            rows: self.rows.iter().flat_map(|(n, all)| of(n, all)).collect(),
        }
    }
}

/// What is added up in a picture: how many, where that is known of all of them.
fn added_up<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut count = 0_usize;
    for name in names {
        if name == OTHERS {
            return OTHERS.to_owned();
        }
        count += 1;
    }
    format!("{count} others")
}

impl Chart {
    /// Why it cannot be drawn; `None` where it can.
    pub(super) fn obstacle(&self) -> Option<String> {
        let count = match self {
            Self::Bars(bars) | Self::Pie(bars) => bars.rows.len(),
            Self::Beside(beside) => beside.flat().rows.len(),
            Self::Columns(timed) | Self::Area(timed) | Self::Lines(timed) => {
                if timed.series.is_empty() {
                    0
                } else {
                    timed.spans.len()
                }
            }
            Self::Burn(burn) => burn.amount.len() + burn.forecast.len(),
        };
        if count == 0 {
            return Some("No data in this period.".to_owned());
        }
        // A burn-down is thinned; a pie adds up what is small.
        let thins = matches!(self, Self::Burn(_) | Self::Pie(_));
        if count > POINTS_MAX && !thins {
            return Some(format!(
                "No picture: {count} values exceed the limit of {POINTS_MAX}. The table contains every value."
            ));
        }
        if let Self::Pie(bars) = self {
            if bars.rows.iter().any(|(_, amount)| amount.is_below_zero()) {
                return Some("No picture: a share is below zero.".to_owned());
            }
            if bars.sum().is_zero() {
                return Some("No picture: all shares are zero.".to_owned());
            }
        }
        None
    }
}
