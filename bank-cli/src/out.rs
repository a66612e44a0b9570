//! Output: one row type, and one renderer for each form (ux.md 2.2).
//!
//! A row is the JSON object that the daemon sent, so every field can be a column; a [`Column`] says
//! how its field is shown. Renderers make text and print nothing; `main` prints.

mod fit;
mod fold;
mod hanging;
mod json;
mod message;
mod page;
mod parts;
mod scale;
mod separated;
mod table;
#[cfg(test)]
mod tests;
mod width;

use fit::no_page;
pub(crate) use hanging::{fitted, sentences};
pub(crate) use message::{failure, note, warn};
pub(crate) use parts::Parts;
#[cfg(test)]
pub(crate) use tests::every_screen::{assert_fits, filled};
pub(crate) use width::width;

use std::{
    borrow::Cow,
    io::{self, ErrorKind},
};

use serde::Serialize;
use serde_json::{Map, Value};

use bank_picture::{
    Zone,
    figure::{self, Scale},
};

use crate::{
    cli::{Color, Format, Global},
    fail::Failure,
};

/// Whether standard output was written; false where nobody reads any more, which is no failure (ux.md 2.2).
pub(crate) fn written(result: io::Result<()>) -> Result<bool, Failure> {
    match result {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => {
            let what = format!("cannot write the output: {error}");
            Err(Failure::internal(what))
        }
    }
}

/// A row: field name to value.
pub(crate) type Row = Map<String, Value>;

/// How a column's values are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// As it is, to the left.
    Text,
    /// A number that is not money, to the right.
    Number,
    /// An exact decimal: thousands separated on the screen, to the right.
    Amount,
    /// A moment: wall clock of the local zone on the screen, RFC 3339 UTC elsewhere.
    Time,
    /// A moment by which one lives: a date where it is a local midnight.
    Date,
    /// A name below its ancestors: indented by the field `depth` on the screen.
    Tree,
}

/// Where a column is shown unless `--columns` says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// On the screen and in machine forms.
    Always,
    /// On the screen only.
    Screen,
    /// In machine forms only.
    Machine,
    /// Nowhere.
    OnRequest,
}

/// One column.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    key: Cow<'static, str>,
    title: Cow<'static, str>,
    kind: Kind,
    shown: Shown,
    width: u16,
    is_secondary: bool,
}

/// A column that is always shown; `key` is the field and the name in `--columns`.
pub(crate) fn column(key: &'static str, title: &'static str, kind: Kind) -> Column {
    Column {
        key: Cow::Borrowed(key),
        title: Cow::Borrowed(title),
        kind,
        shown: Shown::Always,
        width: 0,
        is_secondary: false,
    }
}

/// A column that the daemon names.
pub(crate) fn named(name: &str, kind: Kind) -> Column {
    Column {
        key: Cow::Owned(name.to_owned()),
        title: Cow::Owned(name.to_owned()),
        ..column("", "", kind)
    }
}

/// A column of a declared field.
pub(crate) fn described(name: &str, title: &str, kind: Kind) -> Column {
    Column {
        title: Cow::Owned(title.to_owned()),
        ..named(name, kind)
    }
}

impl Column {
    /// The field that it shows.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// Its name, with that at its head where it is another.
    fn names(&self) -> String {
        let head = self.title.to_lowercase().replace(' ', "_");
        if head.is_empty() || word(&head) == word(&self.key) {
            self.key.clone().into_owned()
        } else {
            format!("{} ({head})", self.key)
        }
    }

    /// At least so many characters wide on the screen, so that screens look alike.
    pub(crate) fn wide(mut self, width: u16) -> Self {
        self.width = width;
        self
    }

    /// Left out of a table that is wider than the terminal.
    pub(crate) fn secondary(mut self) -> Self {
        self.is_secondary = true;
        self
    }

    /// Numbers are aligned on the right.
    fn is_right(&self) -> bool {
        matches!(self.kind, Kind::Amount | Kind::Number)
    }

    /// Texts and names, which may continue on the next line. Numbers and times are never broken.
    fn is_text(&self) -> bool {
        matches!(self.kind, Kind::Text | Kind::Tree)
    }

    /// Shown on the screen, but not in machine forms.
    pub(crate) fn on_screen(mut self) -> Self {
        self.shown = Shown::Screen;
        self
    }

    /// Shown in machine forms, but not on the screen.
    pub(crate) fn if_machine(mut self) -> Self {
        self.shown = Shown::Machine;
        self
    }

    /// Shown only where `--columns` names it.
    pub(crate) fn on_request(mut self) -> Self {
        self.shown = Shown::OnRequest;
        self
    }

    /// Shown in machine forms, and on the screen if `yes`.
    pub(crate) fn screen_if(self, yes: bool) -> Self {
        if yes { self } else { self.if_machine() }
    }

    /// Shown on the screen if `yes`; in machine forms only if asked for, so that scripts always
    /// see the same columns.
    pub(crate) fn on_screen_if(self, yes: bool) -> Self {
        if yes {
            self.on_screen()
        } else {
            self.on_request()
        }
    }
}

/// Rows and columns with what stands below them on the screen.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sheet {
    /// All columns, in the order of display.
    pub(crate) columns: Vec<Column>,
    /// The rows.
    pub(crate) rows: Vec<Row>,
    /// Unit of the amounts, said below the table.
    pub(crate) unit: String,
    /// What is said after the unit, on the same line.
    pub(crate) remark: String,
    /// Lines that want attention, marked `!`.
    pub(crate) attention: Vec<String>,
    /// Said in place of a table without rows.
    pub(crate) empty: Cow<'static, str>,
}

impl Sheet {
    /// A sheet of serialised answers.
    pub(crate) fn new<T: Serialize>(
        columns: Vec<Column>,
        items: &[T],
        empty: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            columns,
            rows: items.iter().map(row).collect(),
            empty: empty.into(),
            ..Self::default()
        }
    }

    /// With the unit of its amounts.
    pub(crate) fn unit(mut self, unit: &str) -> Self {
        unit.clone_into(&mut self.unit);
        self
    }
}

/// A column's name as it is compared: case and the marks between words do not count.
fn word(name: &str) -> String {
    let marks = ['_', '-', ' '];
    name.to_lowercase().replace(marks, "")
}

/// The row of an answer.
pub(crate) fn row<T: Serialize>(item: &T) -> Row {
    match serde_json::to_value(item) {
        Ok(Value::Object(map)) => map,
        _ => Row::new(),
    }
}

/// Text of a field; empty where it is absent or `null`.
pub(crate) fn text(row: &Row, key: &str) -> String {
    match row.get(key) {
        None | Some(Value::Null) => String::new(),
        Some(value) => value_text(value),
    }
}

fn value_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Array(items) => items.iter().map(value_text).collect::<Vec<_>>().join(","),
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| format!("{key}={}", value_text(value)))
            .collect::<Vec<_>>()
            .join(" "),
    }
}

/// How this call prints.
#[derive(Debug, Clone)]
pub(crate) struct Form {
    /// The form.
    pub(crate) format: Format,
    /// Column names.
    pub(crate) header: bool,
    /// Columns that were asked for; empty for the default ones.
    pub(crate) columns: Vec<String>,
    /// Separate thousands.
    pub(crate) thousands: bool,
    /// Texts of CSV as they are, even those that are formulas to a spreadsheet.
    pub(crate) raw_text: bool,
    /// Zone of the times on the screen.
    pub(crate) zone: Zone,
    /// Other units for the amounts of lists.
    pub(crate) scale: Option<Scale>,
    /// Other units for the amounts of reports, their pages and pictures too.
    pub(crate) report_scale: Option<Scale>,
    /// What used time is told in.
    pub(crate) time: Time,
    /// Columns of the terminal.
    pub(crate) width: usize,
}

/// What used time is told in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Time {
    /// Rounded once.
    Hours,
    /// Exact.
    Seconds,
}

impl Form {
    /// The form that flags and settings ask for.
    pub(crate) fn new(flags: &Global, setting: Option<&str>, zone: Zone) -> Result<Self, Failure> {
        let name = setting.unwrap_or(Format::Table.name());
        let format = <Format as clap::ValueEnum>::from_str(name, true).map_err(|_| {
            Failure::usage(format!("unknown format {name:?}"))
                .hint("table, parsable, parsable2, csv, json, jsonl, html or svg")
        })?;
        Ok(Self {
            format,
            header: !flags.no_header,
            columns: flags.columns.clone(),
            thousands: !flags.no_thousands,
            raw_text: flags.raw_text,
            zone,
            scale: None,
            report_scale: None,
            time: Time::Hours,
            width: crate::config::terminal().columns,
        })
    }

    /// True where used time is told in seconds.
    pub(crate) fn in_seconds(&self) -> bool {
        self.time == Time::Seconds
    }

    /// True where a person reads.
    pub(crate) fn is_table(&self) -> bool {
        self.format == Format::Table
    }

    /// An amount as this form shows it.
    pub(crate) fn amount(&self, text: &str) -> String {
        if self.is_table() && self.thousands {
            figure::grouped(text)
        } else {
            text.to_owned()
        }
    }

    /// A list: the sheet, or in JSON `answer` as it came.
    pub(crate) fn list<T: Serialize>(&self, answer: &T, sheet: &Sheet) -> Result<String, Failure> {
        self.shown(answer, sheet, |sheet, columns| {
            table::rows(self, sheet, columns)
        })
    }

    /// The same with another table: `rows` makes it.
    fn shown<T: Serialize>(
        &self,
        answer: &T,
        sheet: &Sheet,
        rows: impl FnOnce(&Sheet, &[&Column]) -> String,
    ) -> Result<String, Failure> {
        let scaled = self.scale.map(|scale| scale::apply(scale, sheet));
        let sheet = scaled.as_ref().unwrap_or(sheet);
        let columns = self.chosen(sheet)?;
        match self.format {
            Format::Table => Ok(rows(sheet, &columns)),
            Format::Parsable => Ok(separated::bars(self, sheet, &columns, "|\n")),
            Format::Parsable2 => Ok(separated::bars(self, sheet, &columns, "\n")),
            Format::Csv => separated::csv(self, sheet, &columns),
            Format::Json if self.columns.is_empty() => json::document(answer),
            Format::Json => json::document(&json::filtered(answer, &columns)),
            Format::Jsonl => json::lines(answer, self.columns.is_empty(), &columns),
            Format::Html | Format::Svg => Err(no_page()),
        }
    }

    /// The rows of a sheet under all its columns: for screens of several tables, which have no `--columns`.
    pub(crate) fn table(&self, sheet: &Sheet) -> String {
        let form = Self {
            header: true,
            columns: Vec::new(),
            ..self.clone()
        };
        table::lines(&form, sheet, &sheet.columns.iter().collect::<Vec<_>>())
    }

    /// A report: as [`Self::list`], but in JSON Lines a line for each row of the sheet, with what the answer
    /// says of all of them.
    pub(crate) fn report<T: Serialize>(
        &self,
        answer: &T,
        sheet: &Sheet,
    ) -> Result<String, Failure> {
        if self.format != Format::Jsonl {
            return self.list(answer, sheet);
        }
        let columns = self.chosen(sheet)?;
        json::rows(answer, &sheet.rows, self.columns.is_empty(), &columns)
    }

    /// One object: name and value on lines of their own, or as a list of one row; in JSON bare.
    pub(crate) fn one<T: Serialize>(&self, answer: &T, sheet: &Sheet) -> Result<String, Failure> {
        let columns = self.chosen(sheet)?;
        match self.format {
            Format::Table => {
                let scaled = self.scale.map(|scale| scale::apply(scale, sheet));
                Ok(table::record(
                    self,
                    scaled.as_ref().unwrap_or(sheet),
                    &columns,
                ))
            }
            Format::Json | Format::Jsonl if !self.columns.is_empty() => {
                let only = json::pick(&row(answer), &columns);
                if self.format == Format::Json {
                    json::document(&only)
                } else {
                    json::line(&only)
                }
            }
            Format::Json => json::document(answer),
            Format::Jsonl => json::line(answer),
            Format::Html | Format::Svg => Err(no_page()),
            _ => self.list(answer, sheet),
        }
    }

    /// The columns to show.
    fn chosen<'a>(&self, sheet: &'a Sheet) -> Result<Vec<&'a Column>, Failure> {
        if self.columns.is_empty() {
            let shown = |column: &&Column| match column.shown {
                Shown::Always => true,
                Shown::Screen => self.is_table(),
                Shown::Machine => !self.is_table(),
                Shown::OnRequest => false,
            };
            return Ok(sheet.columns.iter().filter(shown).collect());
        }
        let find = |name: &String| {
            let requested = word(name.trim());
            let columns = || sheet.columns.iter().filter(|_| !requested.is_empty());
            columns()
                .find(|column| word(&column.key) == requested)
                .or_else(|| columns().find(|column| word(&column.title) == requested))
                .ok_or_else(|| {
                    let known: Vec<_> = sheet.columns.iter().map(Column::names).collect();
                    Failure::usage(format!("no column {name:?}"))
                        .hint(format!("the columns are {}", known.join(", ")))
                })
        };
        self.columns.iter().map(find).collect()
    }
}

/// Whether standard output and standard error may be coloured.
pub(crate) fn colour(choice: Option<Color>) -> anstream::ColorChoice {
    match choice {
        Some(Color::Always) => anstream::ColorChoice::Always,
        Some(Color::Never) => anstream::ColorChoice::Never,
        Some(Color::Auto) | None => anstream::ColorChoice::Auto,
    }
}

/// The form of tests: a table, one hour east of Greenwich.
#[cfg(test)]
pub(crate) fn test_form() -> Form {
    let zone = Zone::Named(chrono_tz::Etc::GMTMinus1);
    Form {
        format: Format::Table,
        header: true,
        columns: Vec::new(),
        thousands: true,
        raw_text: false,
        zone,
        scale: None,
        report_scale: None,
        time: Time::Hours,
        width: 80,
    }
}

/// Text that wants attention; the colour never carries meaning alone.
pub(crate) fn alarming(text: &str) -> String {
    let style = anstyle::AnsiColor::Yellow.on_default();
    format!("{style}{text}{style:#}")
}
