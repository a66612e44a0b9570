//! For people: aligned columns without lines, one object as a record.

use super::{Column, Form, Kind, Row, Sheet, alarming, fold, text};
use bank_cli_picture::{figure, printable::printable};

use crate::when;

/// The rows with their column names, the unit and the lines below.
pub(super) fn rows(form: &Form, sheet: &Sheet, columns: &[&Column]) -> String {
    let mut out = String::new();
    if sheet.rows.is_empty() {
        out.push_str(&sheet.empty);
        out.push('\n');
    } else {
        out.push_str(&lines(form, sheet, columns));
        out.push_str(&footer(form, sheet, columns, all_whole(sheet, columns)));
    }
    for line in &sheet.attention {
        out.push_str(&alarming(&format!("! {line}")));
        out.push('\n');
    }
    out
}

/// The rows with their column names alone, and the names of the columns that are not shown.
pub(super) fn lines(form: &Form, sheet: &Sheet, columns: &[&Column]) -> String {
    let whole = all_whole(sheet, columns);
    let rows: Vec<Vec<String>> = sheet
        .rows
        .iter()
        .map(|row| cells(form, row, columns, whole))
        .collect();
    let keeps_all = !form.columns.is_empty();
    let table = fold::folded(&rows, columns, form.width, form.header, keeps_all);
    if table.left_out.is_empty() {
        return table.text;
    }
    table.text + &left_out(&table.left_out, form.width)
}

/// The first row, one field on a line.
pub(super) fn record(form: &Form, sheet: &Sheet, columns: &[&Column]) -> String {
    let Some(row) = sheet.rows.first() else {
        return format!("{}\n", sheet.empty);
    };
    let whole = all_whole(sheet, columns);
    let mut out = fold::record(&cells(form, row, columns, whole), columns, form.width);
    out.push_str(&footer(form, sheet, columns, whole));
    for line in &sheet.attention {
        out.push_str(&alarming(&format!("! {line}")));
        out.push('\n');
    }
    out
}

/// The columns that a narrow terminal has no room for.
fn left_out(titles: &[String], width: usize) -> String {
    let text = format!(
        "Not shown: {}. A wider terminal or --columns shows them.",
        titles.join(", ")
    );
    fold::wrapped(&text, width).join("\n") + "\n"
}

fn cells(form: &Form, row: &Row, columns: &[&Column], whole: bool) -> Vec<String> {
    let cell = |column: &&Column| cell(form, row, column, whole);
    columns.iter().map(cell).collect()
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
