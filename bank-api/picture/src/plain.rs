//! A report as plain text: for mail, for a terminal, and as rows for programs. Charts are left out: their
//! tables have the same amounts.

use super::data::{Cell, Table};
use super::page::Report;
use crate::{printable::printable, zone::Zone};

/// A section of a report as texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plain {
    /// Its heading.
    pub heading: String,
    /// The heads of its columns, and whether a column has numbers.
    pub columns: Vec<(String, bool)>,
    /// A text for each column; none without data.
    pub rows: Vec<Vec<String>>,
    /// Sentences below the table.
    pub remarks: Vec<String>,
}

/// The lines above the sections of a report: title, period, time, remarks.
pub(super) fn head(report: &Report) -> String {
    let zone = report.zone;
    let made = zone.show(report.generated).format("%Y-%m-%d %H:%M %z");
    let mut lines = vec![printable(&report.title)];
    let period = report.period;
    lines.extend(period.map(|period| super::page::period_text(period, zone)));
    lines.push(format!("Generated {made}."));
    lines.extend(report.remarks.iter().map(|remark| printable(remark)));
    lines.join("\n")
}

/// The sections of a report.
pub(super) fn sections(report: &Report) -> Vec<Plain> {
    let sections = report.sections().map(|section| {
        let table = section.shown_table();
        let texts = |text: &String| printable(text);
        Plain {
            heading: printable(section.heading()),
            columns: table.map_or_else(Vec::new, heads),
            rows: table.map_or_else(Vec::new, |table| rows(table, report.zone)),
            remarks: section.remarks().iter().map(texts).collect(),
        }
    });
    sections.collect()
}

fn heads(table: &Table) -> Vec<(String, bool)> {
    let columns = table.columns.iter();
    columns
        .map(|(head, is_number)| (printable(head), *is_number))
        .collect()
}

/// The rows and the foot; a foot without rows is none.
fn rows(table: &Table, zone: Zone) -> Vec<Vec<String>> {
    if table.rows.is_empty() {
        return Vec::new();
    }
    let decimals = table.decimals();
    let row = |row: &Vec<Cell>| {
        let cells = row.iter().zip(&decimals);
        cells
            .map(|(cell, decimals)| printable(&cell.shown(*decimals, zone)))
            .collect()
    };
    table.rows.iter().chain(&table.foot).map(row).collect()
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
