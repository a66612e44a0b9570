//! Tables of data: those that a report brings, and those made of what a chart shows.

use std::fmt::Write as _;

use super::data::{Bars, Beside, Burn, Cell, Chart, Table, Timed};
use super::number::Number;
use super::words::escaped;
use crate::zone::Zone;

/// With more rows a table scrolls in a box of its own; on paper it never does.
const ROWS: usize = 24;
/// Where the columns of all series are wider, in letters, there is one row for each amount in their
/// place: numbers are never broken, and a paper has its edge.
const LETTERS: usize = 84;
/// With more columns a table has smaller letters on paper: there nothing scrolls.
const COLUMNS: usize = 7;
/// A longer word of a head is broken where the column is narrower, in letters. Others never are: the table
/// scrolls within its frame.
const WORD: usize = 18;
/// The letters that a column of names takes, of which the longer ones are broken.
const NAME: usize = 12;
/// The letters that a column of times takes.
const TIME: usize = 10;

/// The table of a chart: every amount that it was made of, those too that are added up in the picture.
pub(super) fn of_chart(chart: &Chart, caption: &str) -> Table {
    let mut table = match chart {
        Chart::Bars(bars) | Chart::Pie(bars) => of_bars(bars),
        Chart::Beside(beside) => of_beside(beside),
        Chart::Columns(timed) | Chart::Area(timed) => of_timed(timed, true),
        Chart::Lines(timed) => of_timed(timed, false),
        Chart::Burn(burn) => of_burn(burn),
    };
    table.caption.insert_str(0, caption);
    table
}

/// Behind the caption of a table that leaves zeros out.
const NO_ZEROS: &str = "; zero values are omitted";
/// The same where the heading is left out.
const NO_ZEROS_ALONE: &str = "Zero values are omitted";

fn counted(unit: &str) -> String {
    if unit.is_empty() { "count" } else { unit }.to_owned()
}

fn of_bars(bars: &Bars) -> Table {
    let whole = bars.sum();
    let below = bars.rows.iter().any(|(_, amount)| amount.is_below_zero());
    let mut columns = vec![(bars.what.clone(), false), (counted(&bars.unit), true)];
    let row = |name: &str, amount: Number| {
        let mut row = vec![Cell::Text(name.to_owned()), Cell::Number(amount)];
        if !below {
            row.push(amount.share(whole).map_or(Cell::None, Cell::Percent));
        }
        row
    };
    if !below {
        columns.push(("share".to_owned(), true));
    }
    Table {
        columns,
        rows: bars
            .rows
            .iter()
            .map(|(n, amount)| row(n, *amount))
            .collect(),
        foot: if bars.rows.len() > 1 {
            vec![row("total", whole)]
        } else {
            Vec::new()
        },
        ..Table::default()
    }
}

/// A row for each name.
fn of_beside(beside: &Beside) -> Table {
    let heads = beside.series.iter().map(|name| {
        let unit = match beside.unit.as_str() {
            "" => String::new(),
            unit => format!(", {unit}"),
        };
        (format!("{name}{unit}"), true)
    });
    let row = |(name, amounts): &(String, Vec<Option<Number>>)| {
        let cells = amounts.iter().map(|amount| Cell::maybe(*amount));
        std::iter::once(Cell::Text(name.clone()))
            .chain(cells)
            .collect()
    };
    Table {
        columns: std::iter::once((beside.what.clone(), false))
            .chain(heads)
            .collect(),
        rows: beside.rows.iter().map(row).collect(),
        ..Table::default()
    }
}

fn of_timed(timed: &Timed, adds: bool) -> Table {
    let unit = counted(&timed.unit);
    let mut table = Table::default();
    table.columns.push(("from".to_owned(), false));
    let several = timed.series.len() > 1;
    if several && letters(timed, adds) > LETTERS {
        table.columns.push((timed.what.clone(), false));
        table.columns.push((unit, true));
        for (at, span) in timed.spans.iter().enumerate() {
            for series in &timed.series {
                let Some(value) = series.value(at) else {
                    continue;
                };
                // Of many names few are anywhere at any time.
                if adds && value.is_zero() {
                    NO_ZEROS.clone_into(&mut table.caption);
                    continue;
                }
                let name = Cell::Text(series.name.clone());
                table
                    .rows
                    .push(vec![Cell::Time(span.from), name, Cell::Number(value)]);
            }
        }
        return table;
    }
    for series in &timed.series {
        let head = if several {
            series.name.clone()
        } else {
            unit.clone()
        };
        table.columns.push((head, true));
    }
    if several && adds {
        table.columns.push((format!("together, {unit}"), true));
    }
    for (at, span) in timed.spans.iter().enumerate() {
        let mut row = vec![Cell::Time(span.from)];
        row.extend(
            timed
                .series
                .iter()
                .map(|series| Cell::maybe(series.value(at))),
        );
        if several && adds {
            row.push(Cell::Number(timed.sum_at(at)));
        }
        table.rows.push(row);
    }
    if adds && timed.spans.len() > 1 {
        let mut row = vec![Cell::Text("total".to_owned())];
        row.extend(timed.series.iter().map(|series| Cell::Number(series.sum())));
        if several {
            row.push(Cell::Number(super::number::total(timed.values())));
        }
        table.foot.push(row);
    }
    table
}

/// How many letters a row takes with a column for each series.
fn letters(timed: &Timed, adds: bool) -> usize {
    let long = |number: Number| number.shown().chars().count() + 2;
    let of = |series: &super::data::Series| {
        let values = series.values.iter().flatten().copied();
        let values = values.chain(adds.then(|| series.sum()));
        values.map(long).max().unwrap_or(0).max(8)
    };
    let sum = if adds {
        long(super::number::total(timed.values()))
    } else {
        0
    };
    timed
        .series
        .iter()
        .map(of)
        .fold(12 + sum, usize::saturating_add)
}

fn of_burn(burn: &Burn) -> Table {
    let head = |text: &str, is_number| (text.to_owned(), is_number);
    let unit = counted(&burn.unit);
    let mut table = Table {
        columns: vec![head("time", false), head("kind", false), (unit, true)],
        ..Table::default()
    };
    let mut rows: Vec<(i64, &str, Number)> = Vec::new();
    let thinned = super::burn::thinned(&burn.amount);
    rows.extend(thinned.iter().map(|(us, n)| (*us, "amount", *n)));
    rows.extend(
        burn.held
            .iter()
            .map(|(us, _, held)| (*us, "held of it", *held)),
    );
    rows.extend(burn.deposits.iter().map(|(us, n)| (*us, "deposit", *n)));
    let coming = burn.forecast.iter().skip(1);
    rows.extend(coming.map(|(us, n)| (*us, "forecast", *n)));
    for (us, low, high) in burn.spread.iter().skip(1) {
        rows.push((*us, "forecast, at most", *high));
        rows.push((*us, "forecast, at least", *low));
    }
    rows.sort_by_key(|(us, ..)| *us);
    for (us, what, amount) in rows {
        let what = Cell::Text(what.to_owned());
        table
            .rows
            .push(vec![Cell::Time(us), what, Cell::Number(amount)]);
    }
    table
}

impl Table {
    /// As HTML. The caption does not repeat the heading above the table.
    pub(super) fn html(&self, heading: &str, zone: Zone) -> String {
        let rows = self.rows.len();
        let counted = |text: &str| match text {
            text if rows <= ROWS => escaped(text),
            "" => format!("{rows} rows"),
            text => escaped(&format!("{text} ({rows} rows)")),
        };
        let label = counted(if self.caption.is_empty() {
            heading
        } else {
            &self.caption
        });
        let caption = match self.caption.strip_prefix(heading) {
            Some("") => counted(""),
            Some(NO_ZEROS) => counted(NO_ZEROS_ALONE),
            _ if self.caption.is_empty() => counted(""),
            _ => label.clone(),
        };
        let caption = if caption.is_empty() {
            String::new()
        } else {
            format!("<caption>{caption}</caption>")
        };
        let tall = if self.is_tall() { " tall" } else { "" };
        let many = if self.columns.len() > COLUMNS {
            " many"
        } else {
            ""
        };
        let mut out = format!(
            "<div class=\"rows{tall}{many}\" tabindex=\"0\" role=\"region\" aria-label=\"{label}\">\
             <table>{caption}\n<thead><tr>"
        );
        for (head, is_number) in &self.columns {
            let class = match (*is_number, is_long(head)) {
                (true, true) => " class=\"n long\"",
                (true, false) => " class=\"n\"",
                (false, true) => " class=\"long\"",
                (false, false) => "",
            };
            let _ = write!(out, "<th scope=\"col\"{class}>{}</th>", escaped(head));
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        let decimals = self.decimals();
        for row in &self.rows {
            out.push_str(&self.row(row, &decimals, zone));
        }
        out.push_str("</tbody>\n");
        if !self.foot.is_empty() {
            out.push_str("<tfoot>\n");
            for row in &self.foot {
                out.push_str(&self.row(row, &decimals, zone));
            }
            out.push_str("</tfoot>\n");
        }
        out + "</table></div>\n"
    }

    /// How many letters a row takes at least: numbers and times are never broken, names are.
    pub(super) fn letters(&self) -> usize {
        let decimals = self.decimals();
        let head = |(title, _): &(String, bool)| {
            let words = title.split_whitespace().map(|word| word.chars().count());
            words.max().unwrap_or(0).min(WORD)
        };
        let mut widest: Vec<usize> = self.columns.iter().map(head).collect();
        for row in self.rows.iter().chain(&self.foot) {
            for (at, (cell, most)) in row.iter().zip(&mut widest).enumerate() {
                let long = match cell {
                    Cell::Text(text) => text.chars().count().min(NAME),
                    Cell::Time(_) => TIME,
                    _ => cell
                        .shown(decimals.get(at).copied().unwrap_or(0), Zone::Local)
                        .chars()
                        .count(),
                };
                *most = long.max(*most);
            }
        }
        widest.iter().map(|letters| letters + 2).sum()
    }

    /// Whether it scrolls in a box of its own.
    pub(super) fn is_tall(&self) -> bool {
        self.rows.len() > ROWS
    }

    /// How many decimals the numbers of each column have: those of the finest, for they are never mixed
    /// within a column (ux.md 2.2).
    pub fn decimals(&self) -> Vec<u32> {
        let mut found = vec![0; self.columns.len()];
        for row in self.rows.iter().chain(&self.foot) {
            for (cell, most) in row.iter().zip(&mut found) {
                if let Cell::Number(number) | Cell::Percent(number) = cell {
                    *most = number.decimals().max(*most);
                }
            }
        }
        found
    }

    fn row(&self, cells: &[Cell], decimals: &[u32], zone: Zone) -> String {
        let mut out = String::from("<tr>");
        for (at, cell) in cells.iter().enumerate() {
            let is_number = self
                .columns
                .get(at)
                .is_some_and(|(_, is_number)| *is_number);
            let class = match cell {
                _ if is_number => " class=\"n\"",
                Cell::Time(_) => " class=\"w\"",
                _ => "",
            };
            let text = cell.shown(decimals.get(at).copied().unwrap_or(0), zone);
            let _ = if at == 0 {
                write!(out, "<th scope=\"row\"{class}>{}</th>", escaped(&text))
            } else {
                write!(out, "<td{class}>{}</td>", escaped(&text))
            };
        }
        out + "</tr>\n"
    }
}

/// Whether a head has a word that must be broken: a name of theirs, and none of our words.
fn is_long(head: &str) -> bool {
    head.split_whitespace()
        .any(|word| word.chars().count() > WORD)
}

impl Cell {
    /// As text, a number with so many decimals.
    pub fn shown(&self, decimals: u32, zone: Zone) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) => number.shown_to(decimals),
            Self::Percent(number) => format!("{} %", number.shown_to(decimals)),
            Self::Time(us) => zone.date(*us),
            Self::None => "\u{2014}".to_owned(),
        }
    }
}
