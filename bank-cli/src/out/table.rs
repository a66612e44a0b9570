//! For people: aligned columns without lines, one object as a record.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, Width, presets};

use super::{Column, Form, Kind, Row, Sheet, alarming, text};
use bank_cli_picture::{figure, printable::printable};

use crate::when;

/// The rows with their column names, the unit and the lines below.
pub(super) fn rows(form: &Form, sheet: &Sheet, columns: &[&Column]) -> String {
    let mut out = String::new();
    if sheet.rows.is_empty() {
        out.push_str(&sheet.empty);
        out.push('\n');
    } else {
        let whole = all_whole(sheet, columns);
        let mut lines = Vec::new();
        if form.header {
            lines.push(
                columns
                    .iter()
                    .map(|column| column.title.clone().into_owned())
                    .collect(),
            );
        }
        for row in &sheet.rows {
            lines.push(
                columns
                    .iter()
                    .map(|column| cell(form, row, column, whole))
                    .collect(),
            );
        }
        out.push_str(&aligned(&lines, columns));
        out.push_str(&footer(form, sheet, columns, whole));
    }
    for line in &sheet.attention {
        out.push_str(&alarming(&format!("! {line}")));
        out.push('\n');
    }
    out
}

/// The first row, one field on a line.
pub(super) fn record(form: &Form, sheet: &Sheet, columns: &[&Column]) -> String {
    let Some(row) = sheet.rows.first() else {
        return format!("{}\n", sheet.empty);
    };
    let whole = all_whole(sheet, columns);
    let width = columns
        .iter()
        .map(|column| column.title.chars().count())
        .max()
        .unwrap_or(0);
    let mut out = String::new();
    for column in columns {
        let value = cell(form, row, column, whole);
        let line = format!("{:<width$}  {value}", column.title);
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out.push_str(&footer(form, sheet, columns, whole));
    for line in &sheet.attention {
        out.push_str(&alarming(&format!("! {line}")));
        out.push('\n');
    }
    out
}

/// Columns of text, two spaces apart, without spaces at the ends of lines.
fn aligned(lines: &[Vec<String>], columns: &[&Column]) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .add_rows(
            lines
                .iter()
                .map(|cells| cells.iter().map(String::as_str).collect::<Vec<_>>()),
        );
    for (at, column) in columns.iter().enumerate() {
        if let Some(drawn) = table.column_mut(at) {
            drawn.set_padding((0, 2));
            if column.width > 0 {
                let least = Width::Fixed(column.width + 2);
                drawn.set_constraint(ColumnConstraint::LowerBoundary(least));
            }
            if matches!(column.kind, Kind::Amount | Kind::Number) {
                drawn.set_cell_alignment(CellAlignment::Right);
            }
        }
    }
    let mut out = String::new();
    for line in table.lines() {
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// True where every amount on the screen is a whole number, so that the decimals say nothing.
fn all_whole(sheet: &Sheet, columns: &[&Column]) -> bool {
    let amounts = || columns.iter().filter(|column| column.kind == Kind::Amount);
    !sheet.unit.is_empty()
        && sheet
            .rows
            .iter()
            .all(|row| amounts().all(|column| figure::is_whole(&text(row, column.key()))))
}

/// The unit, the remark, and the zone where a column shows times.
fn footer(form: &Form, sheet: &Sheet, columns: &[&Column], whole: bool) -> String {
    let mut words = Vec::new();
    if !sheet.unit.is_empty() && columns.iter().any(|column| column.kind == Kind::Amount) {
        let unit = &sheet.unit;
        words.push(if whole {
            format!("Whole {unit}.")
        } else {
            format!("Amounts in {unit}.")
        });
    }
    if !sheet.remark.is_empty() {
        words.push(sheet.remark.clone());
    } else if let Some(us) = columns
        .iter()
        .filter(|column| column.kind == Kind::Time)
        .flat_map(|column| sheet.rows.iter().map(|row| text(row, column.key())))
        .find_map(|time| when::read(&time))
    {
        words.push(format!("Times {}.", form.zone.show(us).format("%z")));
    }
    if words.is_empty() {
        String::new()
    } else {
        format!("{}\n", words.join(" "))
    }
}

fn cell(form: &Form, row: &Row, column: &Column, whole: bool) -> String {
    let text = printable(&text(row, column.key()));
    if text.is_empty() {
        return if column.kind == Kind::Date {
            "-".to_owned()
        } else {
            text
        };
    }
    match column.kind {
        Kind::Text | Kind::Number => text,
        Kind::Amount => {
            let shown = if whole {
                text.split('.').next().unwrap_or_default()
            } else {
                &text
            };
            form.amount(shown)
        }
        Kind::Time => when::moment(&text, form.zone),
        Kind::Date => when::date(&text, form.zone),
        Kind::Tree => {
            let depth = row
                .get("depth")
                .and_then(serde_json::Value::as_u64)
                .unwrap_or(0);
            let depth = usize::try_from(depth.min(32)).unwrap_or(0);
            format!("{}{text}", "  ".repeat(depth))
        }
    }
}
