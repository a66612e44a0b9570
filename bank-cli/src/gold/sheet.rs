//! Tables as Gold prints them: names, a dashed underline, columns of fixed width to the left.

use super::options::Given;
use bank_cli_picture::{figure, printable::printable};

use crate::fail::Failure;

/// One column.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    /// Gold's name of it.
    pub(super) name: &'static str,
    /// Whether its values are money.
    pub(super) amount: bool,
}

/// A column of text.
pub(super) const fn text(name: &'static str) -> Column {
    Column {
        name,
        amount: false,
    }
}

/// A column of money.
pub(super) const fn money(name: &'static str) -> Column {
    Column { name, amount: true }
}

/// The value of one column of one row; several only where a thing has a list.
pub(super) type Cell = Vec<String>;

/// A cell with one value.
pub(super) fn one(value: impl Into<String>) -> Cell {
    vec![value.into()]
}

/// Rows under their columns, in the form that was asked for.
pub(super) fn print(
    given: &Given,
    columns: &[Column],
    rows: &[Vec<Cell>],
) -> Result<String, Failure> {
    let chosen = chosen(given, columns)?;
    let shown = |column: Column, value: &String| {
        let value = printable(value);
        match figure::hours(&value) {
            Some(hours) if column.amount && given.flag("hours") => hours,
            _ => value,
        }
    };
    let cells = |row: &Vec<Cell>| -> Vec<Cell> {
        chosen
            .iter()
            .map(|(at, column)| {
                let cell = row.get(*at).into_iter().flatten();
                cell.map(|value| shown(*column, value)).collect()
            })
            .collect()
    };
    let rows: Vec<Vec<Cell>> = rows.iter().map(cells).collect();
    if given.flag("raw") {
        let line = |row: &Vec<Cell>| {
            let cells: Vec<String> = row.iter().map(|cell| cell.join(",")).collect();
            cells.join("|") + "\n"
        };
        return Ok(rows.iter().map(line).collect());
    }
    let mut lines: Vec<Vec<String>> = Vec::new();
    for row in &rows {
        lines.extend(drawn(row, given.flag("long")));
    }
    let names: Vec<&str> = chosen.iter().map(|(_, column)| column.name).collect();
    Ok(aligned(&names, &lines, !given.flag("quiet")))
}

/// The columns wanted, each with its place in a row.
fn chosen(given: &Given, columns: &[Column]) -> Result<Vec<(usize, Column)>, Failure> {
    let placed = columns.iter().copied().enumerate();
    let Some(names) = given.text("show") else {
        return Ok(placed.collect());
    };
    let find = |name: &str| {
        let name = name.trim();
        let same = |(_, column): &(usize, Column)| column.name.eq_ignore_ascii_case(name);
        placed.clone().find(same).ok_or_else(|| {
            let known: Vec<_> = columns.iter().map(|column| column.name).collect();
            Failure::usage(format!(
                "there is no column {name:?}; the columns are {}",
                known.join(",")
            ))
        })
    };
    names.split(',').map(find).collect()
}

/// The lines of a row: one, or with `long` as many as its longest list has values.
fn drawn(row: &[Cell], long: bool) -> Vec<Vec<String>> {
    if !long {
        return vec![row.iter().map(|cell| cell.join(",")).collect()];
    }
    let height = row.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let line = |at: usize| {
        let cells = row.iter().map(|cell| cell.get(at).cloned());
        cells.map(Option::unwrap_or_default).collect()
    };
    (0..height).map(line).collect()
}

fn aligned(names: &[&str], lines: &[Vec<String>], header: bool) -> String {
    let widths: Vec<usize> = (0..names.len())
        .map(|at| {
            let name = names.get(at).map_or(0, |name| name.chars().count());
            let cells = lines.iter().filter_map(|line| line.get(at));
            let widest = cells.map(|cell| cell.chars().count()).max().unwrap_or(0);
            name.max(widest)
        })
        .collect();
    let line = |cells: &mut dyn Iterator<Item = String>| {
        let padded: Vec<String> = cells
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:<width$}"))
            .collect();
        padded.join(" ").trim_end().to_owned() + "\n"
    };
    let mut out = String::new();
    if header {
        out += &line(&mut names.iter().map(|name| (*name).to_owned()));
        out += &line(&mut widths.iter().map(|width| "-".repeat(*width)));
    }
    for row in lines {
        out += &line(&mut row.iter().cloned());
    }
    out
}
