//! Separated values by a mapping file (`collectors.md` k): a site's own columns as jobs.
//!
//! [`mapping`] reads the mapping file, [`keys`] checks its keys, [`field`] turns one cell into a
//! value, and [`row`] makes a job of the values. This module splits records: lines, or several of
//! them if a quoted cell contains line breaks (RFC 4180).

mod condition;
mod field;
mod keys;
mod mapping;
mod row;

use std::collections::{HashMap, VecDeque};
use std::io::{self, BufRead};

use csv_core::ReadRecordResult;

use self::mapping::{Delimiter, Mapping, Names};
use super::job::{Found, RAW_MAX, Record};
use super::lines::Lines;
use super::options::Options;
use super::{Reader, Sink, not_of_the_format};

/// Maximum lines and bytes of one record: an unclosed quote costs no more.
const SPAN_MAX: usize = 1_000;

/// Columns of a record; later ones are left alone.
const COLUMNS_MAX: usize = 4_096;

/// Replaces a separator of several bytes during splitting. It is a control character, and those
/// never reach a record.
const PLACEHOLDER: u8 = 0x1f;

/// Reads separated values.
#[derive(Debug)]
pub(super) struct Csv(Mapping);

impl Csv {
    /// A reader by the mapping that the options hold.
    ///
    /// # Errors
    /// If there is no mapping, or it is not one; in one line, with the place.
    pub(super) fn new(options: &Options) -> Result<Self, String> {
        let text = options
            .mapping
            .as_deref()
            .ok_or("csv: no mapping; name the mapping file with --mapping FILE")?;
        Mapping::read(text, options).map(Self)
    }
}

impl Reader for Csv {
    fn file(&mut self, name: &str, input: &mut dyn BufRead, sink: &mut Sink<'_>) -> io::Result<()> {
        let mut records = Records::new(&self.0, input);
        for _ in 0..self.0.skip_lines {
            records.lines.next_line()?;
        }
        self.rest(name, records, sink)
    }

    /// A record has no lines to skip before it.
    fn again(
        &mut self,
        name: &str,
        input: &mut dyn BufRead,
        sink: &mut Sink<'_>,
    ) -> io::Result<()> {
        self.rest(name, Records::new(&self.0, input), sink)
    }
}

impl Csv {
    /// Reads what comes behind the skipped lines.
    fn rest(&self, name: &str, mut records: Records<'_>, sink: &mut Sink<'_>) -> io::Result<()> {
        let places = match &self.0.names {
            Names::Columns(names) => places(names.iter().map(String::as_str)),
            Names::Header => match records.next_record()? {
                None => return Ok(()),
                Some(Cut::Cells(_, cells)) => places(cells.iter()),
                Some(Cut::Open(..)) => {
                    return Err(not_of_the_format(format!("{name}: no header line")));
                }
            },
        };
        for column in self.0.columns() {
            if !places.contains_key(column) {
                return Err(not_of_the_format(format!(
                    "{name}: no column {column:?}{}",
                    bank_api::text::suggest(column, &sorted(&places))
                        .map_or_else(String::new, |near| format!("; is it {near:?}?"))
                )));
            }
        }
        while let Some(cut) = records.next_record()? {
            let (number, found) = match &cut {
                Cut::Cells(number, cells) => (*number, row::found(&self.0, &places, cells)),
                Cut::Open(number, why) => (*number, Found::Malformed((*why).to_owned())),
            };
            let raw = match &cut {
                Cut::Cells(_, cells) => cells.raw.as_slice(),
                Cut::Open(..) => records.open.as_slice(),
            };
            sink(Record::new(number, raw, found))?;
        }
        Ok(())
    }
}

/// Position of each column; of two with one name the first.
fn places<'a>(names: impl Iterator<Item = &'a str>) -> HashMap<String, usize> {
    let mut places = HashMap::new();
    for (at, name) in names.enumerate() {
        let name = name.trim();
        places.entry(name.to_owned()).or_insert(at);
    }
    places
}

fn sorted(places: &HashMap<String, usize>) -> Vec<&str> {
    let mut names: Vec<&str> = places.keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

/// The cells of one record.
#[derive(Debug, Default)]
pub(super) struct Cells {
    /// The raw lines.
    raw: Vec<u8>,
    text: String,
    /// Where each cell ends in the text.
    ends: Vec<usize>,
}

impl Cells {
    /// A cell; `None` behind the last one.
    pub(super) fn at(&self, place: usize) -> Option<&str> {
        let begin = match place.checked_sub(1) {
            Some(before) => *self.ends.get(before)?,
            None => 0,
        };
        self.text.get(begin..*self.ends.get(place)?)
    }

    fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len()).filter_map(|place| self.at(place))
    }

    fn len(&self) -> usize {
        self.ends.len()
    }
}

/// A record, or a line that begins one without an end; with its number.
enum Cut {
    Cells(u64, Cells),
    Open(u64, &'static str),
}

/// The records of an input.
struct Records<'a> {
    mapping: &'a Mapping,
    lines: Lines<'a>,
    /// Lines that were read in vain, to be read again one by one.
    again: VecDeque<(u64, Vec<u8>)>,
    /// The last line that began a record without an end.
    open: Vec<u8>,
}

impl<'a> Records<'a> {
    fn new(mapping: &'a Mapping, input: &'a mut dyn BufRead) -> Self {
        Self {
            mapping,
            lines: Lines::new(input),
            again: VecDeque::new(),
            open: Vec::new(),
        }
    }

    fn line(&mut self) -> io::Result<Option<(u64, Vec<u8>, bool)>> {
        if let Some((number, line)) = self.again.pop_front() {
            return Ok(Some((number, line, false)));
        }
        let line = self.lines.next_line()?;
        Ok(line.map(|line| (line.number, line.bytes.to_vec(), line.is_cut)))
    }

    fn next_record(&mut self) -> io::Result<Option<Cut>> {
        loop {
            let Some((number, line, is_cut)) = self.line()? else {
                return Ok(None);
            };
            let comment = self.mapping.comment.as_bytes();
            let is_comment = !comment.is_empty() && line.starts_with(comment);
            if is_comment || line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            if is_cut {
                self.open = line;
                return Ok(Some(Cut::Open(number, "the line is too long")));
            }
            return self.record(number, line).map(Some);
        }
    }

    /// The record that begins with a line. A quote that is open at its end goes on in the next one.
    fn record(&mut self, number: u64, line: Vec<u8>) -> io::Result<Cut> {
        let mut cutter = Cutter::new(self.mapping);
        let mut raw = line.clone();
        let mut more: Vec<(u64, Vec<u8>)> = Vec::new();
        let mut is_whole = cutter.feed(&line);
        while !is_whole && more.len() < SPAN_MAX && raw.len() < RAW_MAX {
            let Some((number, next, is_cut)) = self.line()? else {
                break;
            };
            raw.push(b'\n');
            raw.extend_from_slice(&next);
            is_whole = !is_cut && cutter.feed(&next);
            more.push((number, next));
        }
        if is_whole {
            return Ok(Cut::Cells(number, cutter.cells(raw)));
        }
        // Lines read as the rest of the record are read again, one by one.
        for line in more.into_iter().rev() {
            self.again.push_front(line);
        }
        self.open = line;
        Ok(Cut::Open(number, "a quoted cell has no end"))
    }
}

/// Cuts the lines of one record into cells.
struct Cutter<'a> {
    reader: csv_core::Reader,
    delimiter: &'a Delimiter,
    bytes: Vec<u8>,
    ends: Vec<usize>,
    used: usize,
    count: usize,
}

impl<'a> Cutter<'a> {
    fn new(mapping: &'a Mapping) -> Self {
        let delimiter = match &mapping.delimiter {
            Delimiter::Byte(byte) => *byte,
            Delimiter::Text(_) | Delimiter::Whitespace => PLACEHOLDER,
        };
        let mut builder = csv_core::ReaderBuilder::new();
        builder.delimiter(delimiter);
        match mapping.quote {
            Some(quote) => builder.quote(quote),
            None => builder.quoting(false),
        };
        Self {
            reader: builder.build(),
            delimiter: &mapping.delimiter,
            bytes: vec![0; 512],
            ends: vec![0; 64],
            used: 0,
            count: 0,
        }
    }

    /// Takes a line; `true` if the record ends with it.
    fn feed(&mut self, line: &[u8]) -> bool {
        let mut line = match self.delimiter {
            Delimiter::Byte(_) => line.to_vec(),
            Delimiter::Text(text) => replaced(line, text),
            Delimiter::Whitespace => {
                let words = line.split(u8::is_ascii_whitespace);
                let words: Vec<&[u8]> = words.filter(|word| !word.is_empty()).collect();
                words.join(&PLACEHOLDER)
            }
        };
        line.push(b'\n');
        let mut input = line.as_slice();
        loop {
            let bytes = self.bytes.get_mut(self.used..).unwrap_or_default();
            let ends = self.ends.get_mut(self.count..).unwrap_or_default();
            let (result, read, written, ended) = self.reader.read_record(input, bytes, ends);
            input = input.get(read..).unwrap_or_default();
            self.used = self.used.saturating_add(written);
            self.count = self.count.saturating_add(ended);
            match result {
                ReadRecordResult::InputEmpty | ReadRecordResult::End => return false,
                ReadRecordResult::OutputFull => {
                    self.bytes.resize(self.bytes.len().saturating_mul(2), 0);
                }
                ReadRecordResult::OutputEndsFull if self.ends.len() < COLUMNS_MAX => {
                    self.ends.resize(self.ends.len().saturating_mul(2), 0);
                }
                // Columns beyond these are dropped.
                ReadRecordResult::Record | ReadRecordResult::OutputEndsFull => return true,
            }
        }
    }

    /// The cells, as text: invalid UTF-8 becomes U+FFFD.
    fn cells(self, raw: Vec<u8>) -> Cells {
        let mut cells = Cells {
            raw,
            text: String::with_capacity(self.used),
            ends: Vec::with_capacity(self.count),
        };
        let mut begin = 0;
        for end in self.ends.iter().take(self.count) {
            let cell = self.bytes.get(begin..*end).unwrap_or_default();
            let cell = String::from_utf8_lossy(cell);
            match self.delimiter {
                // A separator inside a quoted cell is text again.
                Delimiter::Text(text) if cell.contains(char::from(PLACEHOLDER)) => {
                    let text = String::from_utf8_lossy(text);
                    let whole = cell.replace(char::from(PLACEHOLDER), &text);
                    cells.text.push_str(&whole);
                }
                _ => cells.text.push_str(&cell),
            }
            cells.ends.push(cells.text.len());
            begin = *end;
        }
        cells
    }
}

/// A line with the one-byte replacement for a separator of several bytes.
fn replaced(line: &[u8], text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some((first, left)) = rest.split_first() {
        if let Some(left) = rest.strip_prefix(text) {
            out.push(PLACEHOLDER);
            rest = left;
        } else {
            // The replacement byte in the input would be a separator: it is dropped like any
            // control character.
            out.extend(Some(*first).filter(|byte| *byte != PLACEHOLDER));
            rest = left;
        }
    }
    out
}

#[cfg(test)]
mod tests;
