//! Tables: separated values with a header line, read by the names of their columns.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;

use crate::fault::{Fault, too_large};
use crate::figure::Figure;

/// The largest table, in bytes.
pub(crate) const BYTES_MAX: usize = 1 << 30;
/// Most rows of a table.
const ROWS_MAX: usize = 5_000_000;
/// The largest cell, in bytes.
const CELL_MAX: usize = 64 * 1024;

/// A table with the lines of its rows.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// Its file, or its name in a database.
    pub(crate) name: String,
    /// Its columns as they are written.
    columns: Vec<String>,
    /// The same for comparison: small letters and digits only.
    keys: Vec<String>,
    rows: Vec<(u64, Vec<String>)>,
    /// Read from a database: its rows have no lines.
    is_of_database: bool,
    /// Cells that were not UTF-8 and were read as Latin-1.
    latin: Cell<usize>,
}

/// How values are separated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// CSV: `,`, `;`, `|` or tabulators, as the header line has them.
    Csv,
    /// The batch output of the client of `MySQL`: tabulators, and escapes with `\`.
    Batch,
}

impl Table {
    /// A note if fields are not UTF-8.
    pub(crate) fn note_of_latin(&self) -> Option<String> {
        let (name, latin) = (&self.name, self.latin.get());
        let note = || format!("{name}: {latin} fields are not UTF-8; they were read as Latin-1");
        (latin > 0).then(note)
    }

    /// Reads a file. It has a header line.
    pub(crate) fn read(name: &str, bytes: &[u8]) -> Result<Self, Fault> {
        let table = Self::parsed(name, bytes, Form::Csv, false)?;
        if table.columns.is_empty() {
            let hint = "export the table again: an empty table has its header line too";
            return Err(Fault::new(format!("{name}: no header line"), hint));
        }
        Ok(table)
    }

    /// Reads a table of a database. An empty one has no header line: it has any column.
    pub(crate) fn of_database(name: &str, bytes: &[u8], form: Form) -> Result<Self, Fault> {
        Self::parsed(name, bytes, form, true)
    }

    fn parsed(name: &str, bytes: &[u8], form: Form, is_of_database: bool) -> Result<Self, Fault> {
        if bytes.len() > BYTES_MAX {
            return Err(too_large(name));
        }
        let mut table = Self {
            name: name.to_owned(),
            is_of_database,
            ..Self::default()
        };
        match form {
            Form::Csv => table.read_csv(bytes)?,
            Form::Batch => table.read_batch(bytes)?,
        }
        Ok(table)
    }

    fn read_csv(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        let delimiter = delimiter(bytes);
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .delimiter(delimiter)
            .flexible(true)
            // With CRLF for one end the lines would be counted one behind the other.
            .terminator(csv::Terminator::Any(b'\n'))
            .from_reader(bytes);
        let mut record = csv::ByteRecord::new();
        // Line and place of the last row.
        let mut last = (0, 0);
        loop {
            let read = reader.read_byte_record(&mut record);
            let read = read.map_err(|error| {
                let what = format!("{}: {error}", self.name);
                Fault::new(what, "export the table again as CSV")
            })?;
            if !read {
                let row = bytes.get(last.1..).unwrap_or_default();
                return self.check_end(row, delimiter, last.0);
            }
            let line = record.position().map_or(0, csv::Position::line);
            let at = record.position().map_or(0, csv::Position::byte);
            last = (line, usize::try_from(at).unwrap_or(usize::MAX));
            let cells: Vec<&[u8]> = record.iter().collect();
            self.add(line, &cells)?;
        }
    }

    /// A quotation mark without its end makes one field of the rest of a file: rows would be lost without notice.
    fn check_end(&self, row: &[u8], delimiter: u8, line: u64) -> Result<(), Fault> {
        let (mut is_quoted, mut is_start) = (false, true);
        for byte in row {
            if *byte == b'"' && (is_quoted || is_start) {
                is_quoted = !is_quoted;
            }
            is_start = !is_quoted && (*byte == delimiter || *byte == b'\n' || *byte == b'"');
        }
        if !is_quoted {
            return Ok(());
        }
        let place = self.place(line);
        Err(Fault::new(
            format!("{place}: a quotation mark without its end"),
            "correct the line, or export the table again as CSV",
        ))
    }

    fn read_batch(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        for (line, text) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
            if text.is_empty() {
                continue;
            }
            let cells: Vec<Vec<u8>> = text.split(|byte| *byte == b'\t').map(unescaped).collect();
            let cells: Vec<&[u8]> = cells.iter().map(Vec::as_slice).collect();
            self.add(line, &cells)?;
        }
        Ok(())
    }

    /// Adds a line: the header first.
    fn add(&mut self, line: u64, cells: &[&[u8]]) -> Result<(), Fault> {
        let mut texts = Vec::with_capacity(cells.len());
        for cell in cells {
            if cell.len() > CELL_MAX {
                let place = self.place(line);
                let size = cell.len();
                return Err(Fault::new(
                    format!("{place}: a field of {size} bytes; a field has at most {CELL_MAX}"),
                    "shorten the field; a quotation mark without its end makes one field of the rest of a file",
                ));
            }
            let (text, is_latin) = decoded(cell);
            self.latin.set(self.latin.get() + usize::from(is_latin));
            texts.push(text.trim_end_matches('\r').to_owned());
        }
        if self.columns.is_empty() {
            self.columns = texts.iter().map(|text| text.trim().to_owned()).collect();
            self.keys = self.columns.iter().map(|text| key(text)).collect();
            return self.check_header();
        }
        if texts.iter().all(String::is_empty) {
            return Ok(());
        }
        let (own, head) = (texts.len(), self.columns.len());
        if own != head {
            let place = self.place(line);
            return Err(Fault::new(
                format!("{place}: {own} fields; the header line has {head}"),
                "correct the line, or export the table again: the file may be cut off, or a separator in a text may have no quotation marks",
            ));
        }
        if self.rows.len() >= ROWS_MAX {
            return Err(Fault::new(
                format!("{}: more than {ROWS_MAX} rows", self.name),
                "export fewer finished jobs, or move without them: --no-history",
            ));
        }
        self.rows.push((line, texts));
        Ok(())
    }

    /// Where a row is: file and line; in a database the number of the row in the table.
    fn place(&self, line: u64) -> String {
        let name = &self.name;
        if self.is_of_database {
            format!("table {name}, row {}", line.saturating_sub(1))
        } else {
            format!("{name}:{line}")
        }
    }

    fn check_header(&self) -> Result<(), Fault> {
        for (at, own) in self.keys.iter().enumerate() {
            if !own.is_empty() && self.keys.iter().take(at).any(|other| other == own) {
                let column = self.columns.get(at).map_or("", String::as_str);
                return Err(Fault::new(
                    format!("{}: the column {column} is there twice", self.name),
                    "remove one of the columns from the file",
                ));
            }
        }
        Ok(())
    }

    /// Fails if one of these columns is missing. An empty table of a database has no header line.
    pub(crate) fn require(&self, columns: &[&str]) -> Result<(), Fault> {
        let missing = columns.iter().find(|column| !self.has(column));
        let Some(missing) = missing.filter(|_| !self.columns.is_empty()) else {
            return Ok(());
        };
        let present = self.columns.join(", ");
        Err(Fault::new(
            format!("{}: no column {missing}", self.name),
            format!("export the table with this column; the header line has: {present}"),
        ))
    }

    pub(crate) fn has(&self, column: &str) -> bool {
        let key = key(column);
        self.keys.contains(&key)
    }

    /// The columns that are not among these.
    pub(crate) fn others(&self, known: &[&str]) -> Vec<String> {
        let known: Vec<String> = known.iter().map(|column| key(column)).collect();
        let columns = self.keys.iter().zip(&self.columns);
        let others = columns.filter(|(key, _)| !known.contains(key));
        others.map(|(_, column)| column.clone()).collect()
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|(line, cells)| Row {
            table: self,
            line: *line,
            cells,
        })
    }
}

/// A row with its line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row<'a> {
    table: &'a Table,
    line: u64,
    cells: &'a [String],
}

impl<'a> Row<'a> {
    /// Where it is: file and line, or table and row with the number that the row has in the old bank.
    pub(crate) fn place(&self) -> String {
        let place = self.table.place(self.line);
        match self.text("g_id") {
            id if self.table.is_of_database && !id.is_empty() => format!("{place} (g_id {id})"),
            _ => place,
        }
    }

    /// A text without blanks at its ends; empty if the table has no such column.
    pub(crate) fn text(&self, column: &str) -> &'a str {
        let key = key(column);
        let found = self.table.keys.iter().position(|own| *own == key);
        let cell = found.and_then(|index| self.cells.get(index));
        cell.map_or("", |cell| cell.trim())
    }

    /// The first of these columns that is not empty.
    pub(crate) fn first(&self, columns: &[&str]) -> &'a str {
        let mut texts = columns.iter().map(|column| self.text(column));
        texts.find(|text| !text.is_empty()).unwrap_or("")
    }

    /// A text that must not be empty.
    pub(crate) fn need(&self, column: &str) -> Result<&'a str, Fault> {
        match self.text(column) {
            "" => Err(self.fault(column, "is empty")),
            text => Ok(text),
        }
    }

    /// An amount; none if empty.
    pub(crate) fn figure(&self, column: &str) -> Result<Option<Figure>, Fault> {
        let text = self.text(column);
        if text.is_empty() {
            return Ok(None);
        }
        let figure = Figure::parse(text);
        let figure = figure.ok_or_else(|| self.fault(column, &format!("{text:?} is not a number")));
        let hint = "write a decimal number, such as 1250.5 or -3; the old bank has it without separators of thousands";
        figure.map_err(|fault| fault.hint(hint)).map(Some)
    }

    /// A whole number; none if empty.
    pub(crate) fn whole(&self, column: &str) -> Result<Option<i64>, Fault> {
        let text = self.text(column);
        if text.is_empty() {
            return Ok(None);
        }
        let whole = text.strip_suffix(".0").unwrap_or(text).parse().ok();
        let bad = || self.fault(column, &format!("{text:?} is not a whole number"));
        whole.ok_or_else(bad).map(Some)
    }

    /// `True` or `False`, also `t`, `f`, `1`, `0`, `yes`, `no`; the default if empty.
    pub(crate) fn flag(&self, column: &str, default: bool) -> Result<bool, Fault> {
        let text = self.text(column);
        match text.to_ascii_lowercase().as_str() {
            "" => Ok(default),
            "true" | "t" | "1" | "yes" | "y" => Ok(true),
            "false" | "f" | "0" | "no" | "n" => Ok(false),
            _ => Err(self.fault(column, &format!("{text:?} is neither True nor False"))),
        }
    }

    /// A failure of a cell.
    pub(crate) fn fault(&self, column: &str, why: &str) -> Fault {
        let what = format!("{}: {column} {why}", self.place());
        let hint = if self.table.is_of_database {
            format!("correct {column} in the database of the old bank")
        } else {
            format!("correct {column} in that line, or in the old bank and export the table again")
        };
        Fault::new(what, hint)
    }
}

/// Fails if a key appears twice.
#[derive(Debug, Default)]
pub(crate) struct Once(BTreeMap<String, String>);

impl Once {
    pub(crate) fn add(&mut self, row: &Row<'_>, column: &str, key: &str) -> Result<(), Fault> {
        match self.0.insert(key.to_owned(), row.place()) {
            None => Ok(()),
            Some(first) => {
                let fault = row.fault(column, &format!("{key:?} is in {first} too"));
                Err(fault.hint("remove one of the two rows"))
            }
        }
    }
}

/// A name of a column for comparison.
fn key(column: &str) -> String {
    let letters = column.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// The separator of the header line.
fn delimiter(bytes: &[u8]) -> u8 {
    let head = bytes.split(|byte| *byte == b'\n').next();
    let head = head.unwrap_or_default();
    let count = |byte: u8| head.split(|own| *own == byte).count();
    let most = [b'\t', b'|', b';', b',']
        .into_iter()
        .max_by_key(|byte| count(*byte));
    most.unwrap_or(b',')
}

/// Bytes as text: UTF-8, else Latin-1.
pub(crate) fn decoded(bytes: &[u8]) -> (Cow<'_, str>, bool) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (Cow::Borrowed(text), false),
        Err(_) => (bytes.iter().map(|byte| char::from(*byte)).collect(), true),
    }
}

/// A value of the batch output: `\t`, `\n`, `\\` and `\0` are escapes; `NULL` is no value.
fn unescaped(cell: &[u8]) -> Vec<u8> {
    if cell == b"NULL" {
        return Vec::new();
    }
    let mut value = Vec::with_capacity(cell.len());
    let mut bytes = cell.iter();
    while let Some(byte) = bytes.next() {
        if *byte != b'\\' {
            value.push(*byte);
            continue;
        }
        match bytes.next() {
            Some(b'n') => value.push(b'\n'),
            Some(b't') => value.push(b'\t'),
            Some(b'0') => value.push(0),
            Some(other) => value.push(*other),
            None => {}
        }
    }
    value
}
