//! Tables as Gold prints them: names, dashes, one line for each row, a space behind every column.

use std::fmt::Write as _;

use bank_picture::{figure, printable::printable};

use super::{
    clock::{Clock, is_time},
    response::Row,
};

/// Names of columns that are amounts. They are aligned to the right.
const AMOUNTS: [&str; 8] = [
    "Amount",
    "Available",
    "Balance",
    "Charge",
    "CreditLimit",
    "Delta",
    "Deposited",
    "Reserved",
];

/// How to print a table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style {
    /// `|` between columns.
    pub(super) is_raw: bool,
    /// No header.
    pub(super) is_quiet: bool,
    /// Amounts in hours.
    pub(super) is_hours: bool,
    pub(super) clock: Clock,
}

impl Style {
    /// Rows as a table; nothing without rows.
    pub(super) fn table(&self, rows: &[Row]) -> String {
        let Some(first) = rows.first() else {
            return String::new();
        };
        let names: Vec<String> = first.iter().map(|(name, _)| printable(name)).collect();
        let cells = |row: &Row| -> Vec<String> {
            row.iter()
                .map(|(name, value)| self.cell(name, value))
                .collect()
        };
        let lines: Vec<Vec<String>> = rows.iter().map(cells).collect();
        if self.is_raw {
            let header = (!self.is_quiet).then_some(&names);
            let all = header.into_iter().chain(&lines);
            return all.map(|line| line.join("|") + "\n").collect();
        }
        self.aligned(&names, &lines)
    }

    fn cell(&self, name: &str, value: &str) -> String {
        if is_time(name) {
            return printable(&self.clock.shown(value));
        }
        if AMOUNTS.contains(&name) {
            return printable(&self.amount(value));
        }
        printable(value)
    }

    /// An amount without zeros at its end, or in hours with two decimals.
    pub(super) fn amount(&self, value: &str) -> String {
        if self.is_hours && !value.is_empty() {
            return figure::hours(value).unwrap_or_else(|| value.to_owned());
        }
        if !value.contains('.') || figure::minor(value).is_none() {
            return value.to_owned();
        }
        let short = value.trim_end_matches('0');
        short.trim_end_matches('.').to_owned()
    }

    fn aligned(&self, names: &[String], lines: &[Vec<String>]) -> String {
        let widths: Vec<usize> = names
            .iter()
            .enumerate()
            .map(|(at, name)| {
                let cells = lines.iter().filter_map(|line| line.get(at));
                let widest = cells.map(|cell| cell.chars().count()).max();
                name.chars().count().max(widest.unwrap_or(0))
            })
            .collect();
        let mut out = String::new();
        let mut line = |cells: &[String], is_row: bool| {
            for ((cell, width), name) in cells.iter().zip(&widths).zip(names) {
                let _ = if is_row && AMOUNTS.contains(&name.as_str()) {
                    write!(out, "{cell:>width$} ")
                } else {
                    write!(out, "{cell:<width$} ")
                };
            }
            out.push('\n');
        };
        if !self.is_quiet {
            let dashes: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
            line(names, false);
            line(&dashes, false);
        }
        for cells in lines {
            line(cells, true);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use bank_picture::Zone;

    use super::*;

    fn style() -> Style {
        let zone = Zone::Named(chrono_tz::UTC);
        Style {
            is_raw: false,
            is_quiet: false,
            is_hours: false,
            clock: Clock { now_us: 0, zone },
        }
    }

    fn rows() -> Vec<Row> {
        let row = |cells: [&str; 3]| {
            let names = ["Name", "Amount", "EndTime"].map(str::to_owned);
            names.into_iter().zip(cells.map(str::to_owned)).collect()
        };
        vec![
            row(["Zürich", "97550", "1798761600"]),
            row(["a|b", "-7.500", "2147483647"]),
            row(["", "", ""]),
        ]
    }

    #[test]
    fn columns_are_as_wide_as_their_values() {
        let expected = "Name   Amount EndTime    \n\
                        ------ ------ ---------- \n\
                        Zürich  97550 2027-01-01 \n\
                        a|b      -7.5 infinity   \n                         \n";
        assert_eq!(style().table(&rows()), expected);
        assert_eq!(style().table(&[]), "");
    }

    #[test]
    fn raw_quiet_and_hours() {
        let raw = Style {
            is_raw: true,
            is_hours: true,
            ..style()
        };
        let lines = "Zürich|27.10|2027-01-01\na|b|0.00|infinity\n||\n";
        assert_eq!(raw.table(&rows()), format!("Name|Amount|EndTime\n{lines}"));
        let quiet = Style {
            is_quiet: true,
            ..raw
        };
        assert_eq!(quiet.table(&rows()), lines);
        let quiet = Style {
            is_quiet: true,
            ..style()
        };
        let table = quiet.table(&rows());
        assert!(table.starts_with("Zürich  97550 2027-01-01 \n"), "{table}");
    }
}
