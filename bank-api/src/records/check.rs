//! Reads a file of records of either kind: passes every record on with its findings, and computes totals.

use std::io::{self, BufRead, Cursor, Read as _};

use super::xml::{Broken, Elements};
use super::{Finding, Findings, file, lexical, ur1};

/// One record that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Read {
    /// A record of a FILE line.
    File(Box<file::Record>),
    /// A usage record 1.0.
    Ur1(Box<ur1::Record>),
}

/// Totals of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// Usage records 1.0, and not FILE lines.
    pub is_ur1: bool,
    /// Records with usage.
    pub records: u64,
    /// Holds and their ends (Maui), lines of the scheduler's own, adjustments left out.
    pub others: u64,
    /// Records with an error.
    pub bad: u64,
    /// Warnings.
    pub warnings: u64,
    /// An unfinished line at the end of a FILE.
    pub is_torn: bool,
    work: i128,
    amount: i128,
    amounts: u64,
}

impl Summary {
    /// Processor-seconds of all records that contain them: processors × rate × duration, or × wall time.
    pub fn processor_seconds(&self) -> String {
        lexical::text_of(self.work, 9)
    }

    /// The sum of the exact amounts, if records contain them.
    pub fn amount(&self) -> Option<String> {
        (self.amounts > 0).then(|| lexical::text_of(self.amount, 12))
    }

    fn add(&mut self, record: &Read) {
        let (work, amount) = match record {
            Read::File(record) => {
                if record.verb != Some(file::Verb::Withdrawal) {
                    self.others += 1;
                    return;
                }
                (record.processor_seconds(), record.amount)
            }
            Read::Ur1(record) => {
                let charge = record.charge.as_deref();
                (
                    work(record),
                    charge.and_then(|text| lexical::signed(text, 12)),
                )
            }
        };
        self.records += 1;
        self.work = self.work.saturating_add(work.unwrap_or(0));
        self.amount = self.amount.saturating_add(amount.unwrap_or(0));
        self.amounts += u64::from(amount.is_some());
    }

    fn note(&mut self, findings: &[Finding]) {
        let errors = findings.iter().filter(|finding| finding.is_error).count();
        self.bad += u64::from(errors > 0);
        self.warnings += (findings.len() - errors) as u64;
    }
}

/// Processor-seconds in billionths: microseconds × rate in billionths.
fn work(record: &ur1::Record) -> Option<i128> {
    let rate = record.rate.as_deref().unwrap_or("1");
    let processors = i128::from(record.processors?);
    let product = processors.checked_mul(lexical::decimal(rate, 9)?)?;
    product
        .checked_mul(i128::from(record.wall?))?
        .checked_div(1_000_000)
}

/// Reads the records of a source: usage records 1.0 if its first visible byte is `<`, FILE lines else.
/// `each` gets every record, if it could be read at all, with its findings.
///
/// # Errors
/// Read errors of the source.
pub fn check<R: BufRead>(
    mut source: R,
    mut each: impl FnMut(Option<&Read>, &[Finding]) -> io::Result<()>,
) -> io::Result<Summary> {
    let mut start = Vec::new();
    while let Some(byte) = source.fill_buf()?.first().copied() {
        let is_blank = byte.is_ascii_whitespace() || [0xEF, 0xBB, 0xBF].contains(&byte);
        if !is_blank || start.len() > file::LINE_MAX {
            break;
        }
        start.push(byte);
        source.consume(1);
    }
    let is_ur1 = source.fill_buf()?.first() == Some(&b'<');
    let whole = Cursor::new(start).chain(source);
    if is_ur1 {
        elements(whole, &mut each)
    } else {
        lines(whole, &mut each)
    }
}

type Each<'e> = &'e mut dyn FnMut(Option<&Read>, &[Finding]) -> io::Result<()>;

fn elements<R: BufRead>(source: R, each: Each<'_>) -> io::Result<Summary> {
    let mut summary = Summary {
        is_ur1: true,
        ..Summary::default()
    };
    let mut elements = Elements::new(source);
    loop {
        let root = match elements.next() {
            Ok(None) => return Ok(summary),
            Ok(Some(root)) => root,
            Err(Broken { line, text }) => {
                let mut findings = Findings::at(line);
                findings.error(format!("{text}; the rest is not read"));
                summary.note(&findings.all);
                each(None, &findings.all)?;
                return Ok(summary);
            }
        };
        let mut findings = Findings::at(root.line);
        let read = ur1::read(&root, &mut findings).map(|record| Read::Ur1(Box::new(record)));
        if let Some(record) = &read {
            summary.add(record);
        }
        summary.note(&findings.all);
        each(read.as_ref(), &findings.all)?;
    }
}

fn lines<R: BufRead>(mut source: R, each: Each<'_>) -> io::Result<Summary> {
    let mut summary = Summary::default();
    let mut buffer = Vec::new();
    for number in 1.. {
        buffer.clear();
        let most = file::LINE_MAX as u64 + 1;
        source.by_ref().take(most).read_until(b'\n', &mut buffer)?;
        if buffer.is_empty() {
            break;
        }
        let mut findings = Findings::at(number);
        let is_whole = buffer.last() == Some(&b'\n');
        if !is_whole
            && String::from_utf8_lossy(&buffer)
                .trim_matches(is_blank)
                .is_empty()
        {
            break;
        }
        if !is_whole && buffer.len() <= file::LINE_MAX {
            // Another program may still write the line. It counts once it is complete.
            summary.is_torn = true;
            findings.warn("no line feed at the end: not complete, not counted");
            summary.note(&findings.all);
            each(None, &findings.all)?;
            break;
        }
        if !is_whole {
            findings.error(format!("longer than {} bytes", file::LINE_MAX));
            skip_line(&mut source)?;
        }
        let text = String::from_utf8_lossy(&buffer);
        let text = text.trim_start_matches('\u{feff}');
        let read = match is_whole.then(|| file::read(text.trim_end_matches('\n'), &mut findings)) {
            Some(file::Line::Record(record)) => Some(Read::File(record)),
            Some(file::Line::Control(_)) => {
                summary.others += 1;
                None
            }
            Some(file::Line::Blank | file::Line::Unreadable) | None => None,
        };
        if let Some(record) = &read {
            summary.add(record);
        }
        summary.note(&findings.all);
        if read.is_some() || !findings.all.is_empty() {
            each(read.as_ref(), &findings.all)?;
        }
    }
    Ok(summary)
}

/// White space, or a byte order mark.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

/// Passes over the rest of a line.
fn skip_line<R: BufRead>(source: &mut R) -> io::Result<()> {
    loop {
        let buffer = source.fill_buf()?;
        let (length, end) = match buffer.iter().position(|byte| *byte == b'\n') {
            Some(place) => (place + 1, true),
            None => (buffer.len(), buffer.is_empty()),
        };
        source.consume(length);
        if end {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests;
