//! For people: aligned columns without lines, one object as a record.

use super::{
    Column, Form, Kind, Row, Sheet, alarming, fitted,
    fold::{self, Layout},
    sentences, text,
};
use bank_picture::{Zone, figure, printable::printable};

use crate::when;

/// The rows with their column names, the unit and the lines below.
pub(super) fn rows(form: &Form, sheet: &Sheet, columns: &[&Column]) -> String {
    if sheet.rows.is_empty() {
        return sentences(&sheet.empty, form.width) + &attention(form, sheet);
    }
    let whole = all_whole(sheet, columns);
    lines(form, sheet, columns)
        + &footer(sheet, columns, whole).text(form)
        + &attention(form, sheet)
}

/// The rows with their column names alone, and the names of the columns that are not shown.
pub(super) fn lines(form: &Form, sheet: &Sheet, columns: &[&Column]) -> String {
    let table = folded(form, sheet, columns, all_whole(sheet, columns), &mut None);
    table.text + &left_out(&table.left_out, form.width)
}

/// A part of a list that is printed in parts.
pub(super) struct Part {
    /// Its rows, with the column names if it does not continue the part before.
    pub(super) text: String,
    /// The lines below the list, if it does not continue the part before.
    pub(super) below: Option<Below>,
    /// From the first of its times to the last.
    pub(super) times: Option<(i64, i64)>,
}

/// The lines below a list.
#[derive(Debug, Default)]
pub(super) struct Below {
    /// The columns that are not shown.
    left_out: String,
    /// The unit and the remark.
    words: Vec<String>,
    /// From the first time of the list to the last, if a line names their distance from UTC.
    times: Option<(i64, i64)>,
    /// The lines that want attention.
    attention: String,
}

impl Below {
    /// Times of a later part of the list.
    pub(super) fn reach(&mut self, later: Option<(i64, i64)>) {
        if let (Some((first, last)), Some((from, to))) = (&mut self.times, later) {
            *first = from.min(*first);
            *last = to.max(*last);
        }
    }

    /// The text.
    pub(super) fn text(mut self, form: &Form) -> String {
        if let Some((first, last)) = self.times {
            self.words
                .push(format!("Times {}.", offsets(first, last, form.zone)));
        }
        self.left_out + &sentences(&self.words.join(" "), form.width) + &self.attention
    }
}

/// The next part of a list.
pub(super) fn part(
    form: &Form,
    sheet: &Sheet,
    columns: &[&Column],
    layout: &mut Option<Layout>,
) -> Part {
    if sheet.rows.is_empty() {
        return Part {
            text: rows(form, sheet, columns),
            below: None,
            times: None,
        };
    }
    let mut part = part_lines(form, sheet, columns, layout);
    if let Some(below) = &mut part.below {
        *below = Below {
            left_out: std::mem::take(&mut below.left_out),
            attention: attention(form, sheet),
            ..footer(sheet, columns, false)
        };
    }
    part
}

/// The next part of a list; below it only the names of the columns that are not shown. Amounts keep their
/// decimals, because later parts may need them.
pub(super) fn part_lines(
    form: &Form,
    sheet: &Sheet,
    columns: &[&Column],
    layout: &mut Option<Layout>,
) -> Part {
    let table = folded(form, sheet, columns, false, layout);
    let below = || Below {
        left_out: left_out(&table.left_out, form.width),
        ..Below::default()
    };
    Part {
        below: table.is_new.then(below),
        times: times(sheet, columns),
        text: table.text,
    }
}

fn folded(
    form: &Form,
    sheet: &Sheet,
    columns: &[&Column],
    whole: bool,
    layout: &mut Option<Layout>,
) -> fold::Folded {
    let rows: Vec<Vec<String>> = sheet
        .rows
        .iter()
        .map(|row| cells(form, row, columns, whole))
        .collect();
    let keeps_all = !form.columns.is_empty();
    fold::folded(&rows, columns, form.width, form.header, keeps_all, layout)
}

/// The first row, one field on a line.
pub(super) fn record(form: &Form, sheet: &Sheet, columns: &[&Column]) -> String {
    let Some(row) = sheet.rows.first() else {
        return sentences(&sheet.empty, form.width);
    };
    let whole = all_whole(sheet, columns);
    fold::record(&cells(form, row, columns, whole), columns, form.width)
        + &footer(sheet, columns, whole).text(form)
        + &attention(form, sheet)
}

/// The lines that want attention.
fn attention(form: &Form, sheet: &Sheet) -> String {
    let lines = sheet.attention.iter();
    let lines: String = lines
        .map(|line| alarming(&format!("! {line}")) + "\n")
        .collect();
    fitted(&lines, form.width, |_| 2)
}

/// The columns that a narrow terminal has no room for.
fn left_out(titles: &[String], width: usize) -> String {
    if titles.is_empty() {
        return String::new();
    }
    let text = format!(
        "Not shown: {}. A wider terminal or --columns shows them.",
        titles.join(", ")
    );
    sentences(&text, width)
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
fn footer(sheet: &Sheet, columns: &[&Column], whole: bool) -> Below {
    let mut words = Vec::new();
    if !sheet.unit.is_empty() && columns.iter().any(|column| column.kind == Kind::Amount) {
        let unit = &sheet.unit;
        words.push(if whole {
            format!("Whole {unit}.")
        } else {
            format!("Amounts in {unit}.")
        });
    }
    let has_remark = !sheet.remark.is_empty();
    if has_remark {
        words.push(sheet.remark.clone());
    }
    Below {
        words,
        times: times(sheet, columns).filter(|_| !has_remark),
        ..Below::default()
    }
}

/// The first and the last of the times that columns show.
fn times(sheet: &Sheet, columns: &[&Column]) -> Option<(i64, i64)> {
    let shown = columns.iter().filter(|column| column.kind == Kind::Time);
    let texts = shown.flat_map(|column| sheet.rows.iter().map(|row| text(row, column.key())));
    let times = || texts.clone().filter_map(|time| when::read(&time));
    times().min().zip(times().max())
}

/// The distances from UTC of a zone between two times. Those of one season have one.
fn offsets(first: i64, last: i64, zone: Zone) -> String {
    let at = |us: i64| zone.show(us).format("%z").to_string();
    if zone.is_utc() {
        return at(first);
    }
    bank_picture::offsets(first, last, zone)
}

fn cell(form: &Form, row: &Row, column: &Column, whole: bool) -> String {
    let text = printable(&text(row, column.key()));
    // A value that is missing is an empty cell, in every table.
    if text.is_empty() {
        return text;
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
