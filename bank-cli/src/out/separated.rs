//! For scripts: columns separated by bars or commas. Names of columns are the fields' names.

use bank_api::text::is_formula;

use super::{Column, Form, Kind, Row, Sheet, text};
use crate::{fail::Failure, when};

/// `a|b|c`, with `end` after the last column. A bar or a backslash inside is preceded by a
/// backslash, a line feed becomes a space.
pub(super) fn bars(form: &Form, sheet: &Sheet, columns: &[&Column], end: &str) -> String {
    let mut out = String::new();
    if form.header {
        let names: Vec<_> = columns.iter().map(|column| column.key()).collect();
        out.push_str(&names.join("|"));
        out.push_str(end);
    }
    for row in &sheet.rows {
        let cells: Vec<_> = columns
            .iter()
            .map(|column| escaped(&cell(form, row, column)))
            .collect();
        out.push_str(&cells.join("|"));
        out.push_str(end);
    }
    out
}

/// Comma-separated values (RFC 4180), lines ended by a line feed.
pub(super) fn csv(form: &Form, sheet: &Sheet, columns: &[&Column]) -> Result<String, Failure> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let failed = |error: csv::Error| Failure::internal(format!("cannot write CSV: {error}"));
    if form.header {
        writer
            .write_record(columns.iter().map(|column| column.key()))
            .map_err(failed)?;
    }
    for row in &sheet.rows {
        let cells = columns.iter().map(|column| safe(form, row, column));
        writer.write_record(cells).map_err(failed)?;
    }
    let bytes = writer
        .into_inner()
        .map_err(|error| Failure::internal(format!("cannot write CSV: {error}")))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Puts a ' before a text that a spreadsheet would take for a formula, unless raw texts are asked for.
/// Numbers stay numbers.
fn safe(form: &Form, row: &Row, column: &Column) -> String {
    let text = cell(form, row, column);
    let is_text = matches!(column.kind, Kind::Text | Kind::Tree);
    if !form.raw_text && is_text && is_formula(&text) {
        return format!("'{text}");
    }
    text
}

fn cell(form: &Form, row: &Row, column: &Column) -> String {
    let text = text(row, column.key());
    if column.kind == Kind::Date {
        when::short(&text, form.zone)
    } else {
        text
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '|' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
