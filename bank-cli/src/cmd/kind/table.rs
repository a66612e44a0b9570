//! Tables of the older program as CSV: a head line with the names of the columns, whatever their
//! order, and cells as its database prints them.

use bank_api::{text, v1::BadLine};

use super::super::read_file;
use crate::{fail::Failure, out, separated};

/// A table.
#[derive(Debug)]
pub(super) struct Table {
    /// The file's name.
    pub(super) file: String,
    heads: Vec<String>,
    /// Lines with their cells.
    pub(super) rows: Vec<(u64, Vec<String>)>,
    /// What could not be read.
    pub(super) bad: Vec<BadLine>,
}

/// A row with the names of its columns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cells<'a> {
    heads: &'a [String],
    cells: &'a [String],
}

impl Table {
    /// Reads a file; `-` is standard input. Every column of `needed` must be there.
    pub(super) fn read(file: &str, needed: &[&str]) -> Result<Table, Failure> {
        let failed = |why: String| Failure::usage(format!("{file}: {why}"));
        let bytes = read_file(file).map_err(failed)?;
        Table::of(file, &bytes, needed).map_err(failed)
    }

    /// A table out of bytes.
    pub(super) fn of(file: &str, bytes: &[u8], needed: &[&str]) -> Result<Table, String> {
        let mut reader = separated::reader(bytes, b',');
        let heads = reader.byte_headers().map_err(|e| e.to_string())?.clone();
        let heads: Vec<String> = heads.iter().map(|head| cell(head).to_lowercase()).collect();
        let missing = needed
            .iter()
            .find(|name| !heads.iter().any(|head| head == *name));
        if let Some(name) = missing {
            return Err(format!("no column {name:?}: these are {heads:?}"));
        }
        let mut table = Table {
            file: file.to_owned(),
            heads,
            rows: Vec::new(),
            bad: Vec::new(),
        };
        for record in reader.byte_records() {
            let record = record.map_err(|e| e.to_string())?;
            let line = record.position().map_or(0, csv::Position::line);
            if record.len() == table.heads.len() {
                table.rows.push((line, record.iter().map(cell).collect()));
                continue;
            }
            let (found, named) = (record.len(), table.heads.len());
            table.reject(
                line,
                "bad_line",
                format!("{found} columns, {named} have names"),
            );
        }
        Ok(table)
    }

    /// A line that is not taken in, and why.
    pub(super) fn reject(&mut self, line: u64, code: &str, detail: String) {
        out::warn(&format!("{}:{line}: {code}: {detail}", self.file));
        self.bad.push(BadLine {
            line,
            code: code.to_owned(),
            detail,
        });
    }

    /// The rows, taken out.
    pub(super) fn take(&mut self) -> (Vec<String>, Vec<(u64, Vec<String>)>) {
        (self.heads.clone(), std::mem::take(&mut self.rows))
    }
}

impl<'a> Cells<'a> {
    pub(super) fn new(heads: &'a [String], cells: &'a [String]) -> Cells<'a> {
        Cells { heads, cells }
    }

    /// A cell; none where the table has no such column, or nothing in it.
    pub(super) fn get(self, name: &str) -> Option<&'a str> {
        let place = self.heads.iter().position(|head| head == name)?;
        let text = self.cells.get(place)?.as_str();
        let is_null = text.is_empty() || text == "\\N" || text.eq_ignore_ascii_case("null");
        (!is_null).then_some(text)
    }

    /// A cell that must say something.
    pub(super) fn need(self, name: &str) -> Result<&'a str, String> {
        self.get(name).ok_or_else(|| format!("{name} is empty"))
    }

    /// A whole number.
    pub(super) fn whole(self, name: &str) -> Result<i64, String> {
        let text = self.need(name)?;
        // A database may print whole numbers as 4.0.
        let plain = text.split_once('.').map_or(text, |(whole, rest)| {
            if rest.bytes().all(|b| b == b'0') {
                whole
            } else {
                text
            }
        });
        plain
            .parse()
            .map_err(|_| format!("{name} is not a whole number: {text:?}"))
    }

    /// Yes or no; no where it says nothing.
    pub(super) fn flag(self, name: &str) -> Result<bool, String> {
        match self.get(name).map(str::to_lowercase).as_deref() {
            None | Some("0" | "\0" | "false" | "f" | "no" | "n" | "off") => Ok(false),
            Some("1" | "\u{1}" | "true" | "t" | "yes" | "y" | "on") => Ok(true),
            Some(other) => Err(format!("{name} is neither yes nor no: {other:?}")),
        }
    }

    /// A day or an instant as RFC 3339, UTC: `2012-10-01`, with a time behind it, `10/1/2012`, or
    /// seconds since 1970. None where it says nothing.
    pub(super) fn time(self, name: &str) -> Result<Option<String>, String> {
        let Some(text) = self
            .get(name)
            .filter(|text| !text.starts_with("0000-00-00"))
        else {
            return Ok(None);
        };
        let bad = || format!("{name} is not a date: {text:?}");
        if text.bytes().all(|b| b.is_ascii_digit()) && text.len() >= 9 {
            let seconds: i64 = text.parse().map_err(|_| bad())?;
            let us = seconds.checked_mul(1_000_000).ok_or_else(bad)?;
            return Ok(Some(text::format_rfc3339(us)));
        }
        let (day, clock) = text.split_once([' ', 'T']).unwrap_or((text, "00:00:00"));
        let day = american(day).unwrap_or_else(|| day.to_owned());
        let clock = clock
            .split('.')
            .next()
            .unwrap_or(clock)
            .trim_end_matches('Z');
        let us = text::parse_rfc3339(&format!("{day}T{clock}Z")).ok_or_else(bad)?;
        Ok(Some(text::format_rfc3339(us)))
    }
}

/// `10/1/2012` as `2012-10-01`.
fn american(day: &str) -> Option<String> {
    let mut parts = day.split('/').map(|part| part.parse::<u32>().ok());
    let (month, day, year) = (parts.next()??, parts.next()??, parts.next()??);
    parts
        .next()
        .is_none()
        .then(|| format!("{year:04}-{month:02}-{day:02}"))
}

fn cell(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}
