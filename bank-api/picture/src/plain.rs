//! A report as plain text: for mail, for a terminal, and as rows for programs. Charts are left out: their
//! tables have the same amounts.

use std::fmt::Write as _;

use super::data::{Cell, Table};
use super::page::Report;
use super::words::cells;
use crate::{printable::printable, zone::Zone};

/// The text of a report.
pub(super) fn text(report: &Report) -> String {
    let zone = report.zone;
    let mut out = format!("{}\n", printable(&report.title));
    // Writing to a string cannot fail.
    if let Some(period) = report.period {
        let _ = writeln!(out, "{}", super::page::period_text(period, zone));
    }
    let made = zone.show(report.generated).format("%Y-%m-%d %H:%M %z");
    let _ = writeln!(out, "Generated {made}.");
    for remark in &report.remarks {
        let _ = writeln!(out, "{}", printable(remark));
    }
    for section in report.sections() {
        let _ = writeln!(out, "\n{}", printable(section.heading()));
        match section.shown_table().filter(|table| !table.rows.is_empty()) {
            Some(table) => out.push_str(&aligned(table, zone)),
            None => out.push_str("No data in this period.\n"),
        }
        for note in section.remarks() {
            let _ = writeln!(out, "{}", printable(note));
        }
    }
    out
}

/// The amounts of a report: the section, the first cell of the row, the head of the column, and the amount.
pub(super) fn figures(report: &Report) -> Vec<[String; 4]> {
    let mut found = Vec::new();
    for section in report.sections() {
        let Some(table) = section.shown_table() else {
            continue;
        };
        for row in table.rows.iter().chain(&table.foot) {
            let names: Vec<String> = row.iter().filter_map(name).collect();
            let name = names.join(" ");
            for (cell, (head, _)) in row.iter().zip(&table.columns) {
                if let Some(amount) = amount(cell, report.zone) {
                    let section = section.heading().to_owned();
                    found.push([section, name.clone(), head.clone(), amount]);
                }
            }
        }
    }
    found
}

fn name(cell: &Cell) -> Option<String> {
    match cell {
        Cell::Text(text) => Some(text.clone()),
        _ => None,
    }
}

fn amount(cell: &Cell, zone: Zone) -> Option<String> {
    match cell {
        Cell::Number(number) | Cell::Percent(number) => Some(number.raw()),
        Cell::Time(us) => Some(zone.date(*us)),
        Cell::Text(_) | Cell::None => None,
    }
}

/// A table with aligned columns, numbers on the right.
fn aligned(table: &Table, zone: Zone) -> String {
    let decimals = table.decimals();
    let heads = table.columns.iter().map(|(head, _)| printable(head));
    let mut lines: Vec<Vec<String>> = vec![heads.collect()];
    for row in table.rows.iter().chain(&table.foot) {
        let cells = row.iter().zip(&decimals);
        let texts = cells.map(|(cell, decimals)| printable(&cell.shown(*decimals, zone)));
        lines.push(texts.collect());
    }
    let mut widths = vec![0; table.columns.len()];
    for line in &lines {
        for (text, width) in line.iter().zip(&mut widths) {
            *width = cells(text).max(*width);
        }
    }
    let mut out = String::new();
    for line in &lines {
        let columns = line.iter().zip(&widths).zip(&table.columns);
        let texts = columns.map(|((text, width), (_, is_number))| {
            let blanks = " ".repeat(width.saturating_sub(cells(text)));
            if *is_number {
                blanks + text
            } else {
                text.clone() + &blanks
            }
        });
        let texts: Vec<String> = texts.collect();
        let _ = writeln!(out, "  {}", texts.join("  ").trim_end());
    }
    out
}
