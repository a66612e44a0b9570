//! Charts in plain characters: bars and sparklines.

use std::fmt::Write as _;

use super::data::{Bars, Burn, Chart, Timed};
use super::number::{Number, total};
use super::scale::Scale;
use super::words::{cells, fitted};
use crate::{printable::printable, zone::Zone};

/// Eighths of a block, from the left and from below.
const LEFT: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];
const BELOW: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// The same heights in ASCII, by how much ink they have.
const INK: [char; 8] = ['.', ':', '-', '=', '+', '*', '%', '@'];

/// The width of a terminal and the characters that it can show.
#[derive(Debug, Clone, Copy)]
pub struct Terminal {
    /// Characters of a line, 20 and more.
    pub columns: usize,
    /// Whether it shows more than ASCII.
    pub unicode: bool,
}

impl Terminal {
    /// A chart with its title.
    pub(super) fn chart(self, title: &str, chart: &Chart, zone: Zone) -> String {
        let mut out = format!("{}\n", self.name(title));
        if let Some(why) = chart.obstacle() {
            let _ = writeln!(out, "{why}");
            return out;
        }
        out + &match chart {
            Chart::Bars(bars) | Chart::Pie(bars) => self.bars(bars),
            Chart::Beside(beside) => self.bars(&beside.flat()),
            Chart::Columns(timed) | Chart::Area(timed) => self.timed(timed, true, zone),
            Chart::Lines(timed) => self.timed(timed, false, zone),
            Chart::Burn(burn) => self.burn(burn, zone),
        }
    }

    /// A name with nothing in it that a terminal would obey (that stands there escaped); without more than ASCII what is not
    /// becomes `?`.
    fn name(self, text: &str) -> String {
        let is_shown = |c: char| self.unicode || c.is_ascii();
        let text = printable(text);
        text.chars()
            .map(|c| if is_shown(c) { c } else { '?' })
            .collect()
    }

    /// The amount; the minus of the typesetter is none of ASCII.
    fn amount(self, number: Number) -> String {
        let text = number.shown();
        if self.unicode {
            text
        } else {
            text.replace('\u{2212}', "-")
        }
    }

    fn bars(self, bars: &Bars) -> String {
        let columns = self.columns.max(20);
        let names: Vec<String> = bars.rows.iter().map(|(name, _)| self.name(name)).collect();
        let amounts: Vec<String> = bars.rows.iter().map(|(_, n)| self.amount(*n)).collect();
        let widest = |texts: &[String]| texts.iter().map(|t| cells(t)).max().unwrap_or(0);
        let mark = if self.unicode { '…' } else { '~' };
        let (left, right) = (widest(&names).min(columns / 3), widest(&amounts));
        let room = columns.saturating_sub(left + right + 4).max(4);
        let scale = Scale::of(bars.rows.iter().map(|(_, n)| n.size()));
        let mut out = String::new();
        for ((name, amount), (_, number)) in names.iter().zip(&amounts).zip(&bars.rows) {
            let name = fitted(name, left, mark);
            let gap = " ".repeat(left - cells(&name).min(left));
            let bar = self.bar(*number, &scale, room);
            let line = format!("{name}{gap}  {amount:>right$}  {bar}");
            let _ = writeln!(out, "{}", line.trim_end());
        }
        let _ = writeln!(out, "{}", unit_of(&bars.unit));
        out
    }

    /// A bar of blocks, to an eighth of one; what is below zero has another sign, and what is there
    /// is seen, be it ever so little.
    fn bar(self, number: Number, scale: &Scale, room: usize) -> String {
        let eighths = i64::try_from(room.saturating_mul(8)).unwrap_or(8);
        let long = scale.at(number.size(), eighths);
        let long = usize::try_from(long).unwrap_or(0);
        let long = if number.is_zero() { 0 } else { long.max(1) };
        let (whole, rest) = (long / 8, long % 8);
        if number.is_below_zero() || !self.unicode {
            let sign = match (number.is_below_zero(), self.unicode) {
                (true, true) => "░",
                (true, false) => "-",
                (false, _) => "#",
            };
            return sign.repeat((whole + usize::from(rest >= 4)).max(usize::from(long > 0)));
        }
        let mut bar = "█".repeat(whole);
        bar.extend(rest.checked_sub(1).and_then(|at| LEFT.get(at)));
        bar
    }

    /// A sparkline for each series with its least and its greatest amount.
    fn timed(self, timed: &Timed, adds: bool, zone: Zone) -> String {
        let mut rows: Vec<(String, Vec<Option<Number>>)> = Vec::new();
        let several = timed.series.len() > 1;
        if several && adds {
            let sums = (0..timed.spans.len()).map(|at| Some(timed.sum_at(at)));
            rows.push(("together".to_owned(), sums.collect()));
        }
        for series in &timed.series {
            let name = if several {
                self.name(&series.name)
            } else {
                String::new()
            };
            rows.push((name, series.values.clone()));
        }
        let (mut out, together) = self.sparks(&rows, adds);
        if together > 1 {
            let how = if adds { "the sum" } else { "the greatest" };
            let _ = writeln!(out, "a sign is {how} of {together} values");
        }
        let range = timed.range();
        let _ = writeln!(
            out,
            "from {} to {} (exclusive), {}",
            zone.date(range.from),
            zone.date(range.to),
            unit_of(&timed.unit)
        );
        out
    }

    /// The lines, and how many values a sign stands for.
    fn sparks(self, rows: &[(String, Vec<Option<Number>>)], adds: bool) -> (String, usize) {
        let columns = self.columns.max(20);
        let mark = if self.unicode { '…' } else { '~' };
        let left = rows.iter().map(|(name, _)| cells(name)).max().unwrap_or(0);
        let left = left.min(columns / 3);
        let row = |values: &[Option<Number>]| {
            let known = || values.iter().flatten();
            let least = known().min_by(|a, b| a.compare(**b)).copied();
            let most = known().max_by(|a, b| a.compare(**b)).copied();
            let ends = least
                .zip(most)
                .map(|(least, most)| format!("{} to {}", self.amount(least), self.amount(most)));
            ends.unwrap_or_else(|| "nothing known".to_owned())
        };
        let right = rows.iter().map(|(_, v)| cells(&row(v))).max().unwrap_or(0);
        let room = columns.saturating_sub(left + right + 4).max(8);
        let longest = rows.iter().map(|(_, values)| values.len()).max();
        let together = longest.unwrap_or(0).div_ceil(room).max(1);
        let mut out = String::new();
        for (name, values) in rows {
            let name = fitted(name, left, mark);
            let gap = " ".repeat(left - cells(&name).min(left));
            let space = if left == 0 { "" } else { "  " };
            let shown = gathered(values, together, adds);
            let _ = writeln!(
                out,
                "{name}{gap}{space}{}  {}",
                self.spark(&shown),
                row(values)
            );
        }
        (out, together)
    }

    /// One character for each amount: its height between zero and the greatest.
    fn spark(self, values: &[Option<Number>]) -> String {
        let heights = if self.unicode { BELOW } else { INK };
        let scale = Scale::of(values.iter().flatten().copied());
        let (zero, full) = (scale.zero(8_000), 8_000);
        let height = |value: &Option<Number>| match value {
            None => ' ',
            Some(value) if value.is_zero() => '_',
            Some(value) => {
                let range = (full - zero).max(zero).max(1);
                let above = (scale.at(*value, full) - zero).abs() * 8 / range;
                let at = usize::try_from(above.clamp(1, 8)).unwrap_or(1) - 1;
                if value.is_below_zero() {
                    'v'
                } else {
                    heights.get(at).copied().unwrap_or('?')
                }
            }
        };
        values.iter().map(height).collect()
    }

    fn burn(self, burn: &Burn, zone: Zone) -> String {
        let room = self.columns.clamp(20, 100) - 16;
        let count = i64::try_from(room).unwrap_or(8).max(1);
        let from = burn.amount.first().map_or(burn.from, |(us, _)| *us);
        let length = burn.now.saturating_sub(from).max(1);
        let step = (length / count).max(1);
        let at = |n: i64| from.saturating_add(step.saturating_mul(n + 1));
        let level = |n: i64| {
            let before = burn.amount.iter().rev().find(|(us, _)| *us <= at(n));
            before.map(|(_, amount)| *amount)
        };
        let values: Vec<_> = (0..count).map(level).collect();
        let mut out = format!("{}\n", self.spark(&values));
        let mut say = |what: &str, point: Option<&(i64, Number)>| {
            if let Some((us, number)) = point {
                let (amount, unit) = (self.amount(*number), &burn.unit);
                let _ = writeln!(out, "{what:<9} {}  {amount} {unit}", zone.date(*us));
            }
        };
        say("from", burn.amount.first());
        say(
            "now",
            burn.amount.last().map(|(_, n)| (burn.now, *n)).as_ref(),
        );
        say("forecast", burn.forecast.get(1..).and_then(<[_]>::last));
        if let Some((_, _, held)) = burn.held.last() {
            let _ = writeln!(out, "held now  {} {}", self.amount(*held), burn.unit);
        }
        out
    }
}

/// `in SU`.
fn unit_of(unit: &str) -> String {
    if unit.is_empty() {
        "counted".to_owned()
    } else {
        format!("in {unit}")
    }
}

/// So many neighbours together, added up or the greatest of them.
fn gathered(values: &[Option<Number>], together: usize, adds: bool) -> Vec<Option<Number>> {
    let one = |part: &[Option<Number>]| {
        let known = part.iter().flatten().copied();
        if part.iter().all(Option::is_none) {
            None
        } else if adds {
            Some(total(known))
        } else {
            known.max_by(|a, b| a.compare(*b))
        }
    };
    values.chunks(together.max(1)).map(one).collect()
}
