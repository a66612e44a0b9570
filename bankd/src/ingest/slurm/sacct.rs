//! `sacct --parsable2`, with a header line or in a layout that is named (`collectors.md` a.1, a.5, a.6).

use std::io::{self, BufRead};

use chrono_tz::Tz;

use super::columns::{Columns, LAYOUTS};
use super::hosts;
use super::row::{self, Moment, Order, Row};
use super::tres;
use crate::ingest::formats::Options;
use crate::ingest::job::{Found, RAW_MAX, Record};
use crate::ingest::lines::{LINE_MAX, Lines};
use crate::ingest::number::Number;
use crate::ingest::text::clock;
use crate::ingest::{Reader, Sink, not_of_the_format};

/// Lines at the beginning that must look like the layout.
const CHECKED: usize = 100;

/// Reads `sacct`.
#[derive(Debug)]
pub(in crate::ingest) struct Sacct {
    named: Option<Columns>,
    delimiter: String,
    zone: Tz,
}

impl Sacct {
    /// A reader with the layout or columns that the options name; without them a header line, else
    /// `xdmod26`.
    ///
    /// # Errors
    /// If there is no such layout.
    pub(in crate::ingest) fn new(options: &Options) -> Result<Self, String> {
        let named = match (&options.layout, options.columns.as_slice()) {
            (Some(name), []) => Some(
                Columns::layout(name)
                    .ok_or_else(|| format!("layout {name:?}: one of {}", LAYOUTS.join(", ")))?,
            ),
            (None, []) => None,
            (None, names) => Some(Columns::new(names.iter().cloned())),
            (Some(_), _) => return Err("a layout and columns: name one of them".to_owned()),
        };
        let delimiter = options.delimiter.clone().unwrap_or_else(|| "|".to_owned());
        if delimiter.is_empty() {
            return Err("the delimiter is empty".to_owned());
        }
        Ok(Self {
            named,
            delimiter,
            zone: options.zone,
        })
    }
}

impl Reader for Sacct {
    fn file(&mut self, name: &str, input: &mut dyn BufRead, sink: &mut Sink<'_>) -> io::Result<()> {
        let mut lines = Lines::new(input);
        let mut reading: Option<Reading<'_>> = None;
        while let Some(line) = lines.next_line()? {
            let text = line.text();
            let Some(reading) = &mut reading else {
                let header = Columns::header(&text, &self.delimiter);
                let is_header = header.is_some();
                let columns = match (&self.named, header) {
                    (Some(columns), None) => columns.clone(),
                    (_, Some(columns)) => columns,
                    (None, None) => {
                        Columns::layout("xdmod26").ok_or_else(|| not_of_the_format("no layout"))?
                    }
                };
                let has_trail = is_header && text.ends_with(&self.delimiter);
                let fresh = Reading::new(name, columns, is_header, has_trail, self);
                let fresh = reading.insert(fresh);
                if !is_header {
                    fresh.line(line.number, &text, sink)?;
                }
                continue;
            };
            reading.line(line.number, &text, sink)?;
        }
        reading.map_or(Ok(()), |reading| reading.end(sink))
    }
}

/// One file under way.
struct Reading<'a> {
    name: &'a str,
    columns: Columns,
    has_header: bool,
    has_trail: bool,
    delimiter: &'a str,
    zone: Tz,
    /// A record that goes on in the next line: its first line, and its text so far.
    begun: Option<(u64, String)>,
    /// The job whose steps may follow.
    parent: Option<Parent>,
    checked: usize,
    misfits: usize,
}

/// A job that waits for the processor time of its steps.
struct Parent {
    line: u64,
    raw: String,
    row: Row,
    steps: Number,
}

impl<'a> Reading<'a> {
    fn new(
        name: &'a str,
        columns: Columns,
        has_header: bool,
        has_trail: bool,
        reader: &'a Sacct,
    ) -> Self {
        Self {
            name,
            columns,
            has_header,
            has_trail,
            delimiter: &reader.delimiter,
            zone: reader.zone,
            begun: None,
            parent: None,
            checked: 0,
            misfits: 0,
        }
    }

    fn line(&mut self, number: u64, text: &str, sink: &mut Sink<'_>) -> io::Result<()> {
        let Some((begun, mut record)) = self.begun.take() else {
            if text.trim().is_empty() {
                return Ok(());
            }
            return self.record(number, text.to_owned(), sink);
        };
        // A line that is a whole record by itself does not belong to one that was torn.
        if self.is_whole(text) || record.len().saturating_add(text.len()) > LINE_MAX {
            self.malformed(begun, &record, "the line ends before its last column", sink)?;
            return self.record(number, text.to_owned(), sink);
        }
        record.push('\n');
        record.push_str(text);
        self.record(begun, record, sink)
    }

    fn is_whole(&self, text: &str) -> bool {
        let fields: Vec<&str> = self.fields(text);
        fields.len() >= self.columns.len() && self.columns.fit(&fields)
    }

    /// The fields of a record; a separator behind the last one is none.
    fn fields<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let text = if self.has_trail {
            text.strip_suffix(self.delimiter).unwrap_or(text)
        } else {
            text
        };
        if self.has_header {
            return text.split(self.delimiter).collect();
        }
        text.splitn(self.columns.len(), self.delimiter).collect()
    }

    /// A record that may still lack columns: then the next line is part of it.
    fn record(&mut self, number: u64, text: String, sink: &mut Sink<'_>) -> io::Result<()> {
        let fields = self.fields(&text);
        if fields.len() < self.columns.len() {
            self.begun = Some((number, text));
            return Ok(());
        }
        let fields = match fields.len().cmp(&self.columns.len()) {
            std::cmp::Ordering::Greater => {
                let cut = text.strip_suffix(self.delimiter).filter(|_| self.has_trail);
                let whole = cut.unwrap_or(text.as_str());
                self.columns.aligned(whole, self.delimiter)
            }
            _ if self.has_header => self.columns.fit(&fields).then_some(fields),
            _ => {
                self.check(&fields)?;
                Some(fields)
            }
        };
        let Some(fields) = fields else {
            return self.malformed(number, &text, "its fields fit no way of columns", sink);
        };
        let row = Fields(&self.columns, &fields);
        let id = row.text("jobid").to_owned();
        if id.is_empty() {
            return self.malformed(number, &text, "no job id", sink);
        }
        if id.contains('.') {
            return self.step(number, &id, &text, row.text("totalcpu"), sink);
        }
        let parent = row.row(self.zone);
        self.give(sink)?;
        self.parent = Some(Parent {
            line: number,
            raw: text.clone(),
            row: parent,
            steps: Number::ZERO,
        });
        Ok(())
    }

    /// The layout of a file without a header line is never guessed: most of its first lines must look
    /// like it.
    fn check(&mut self, fields: &[&str]) -> io::Result<()> {
        if self.checked >= CHECKED {
            return Ok(());
        }
        self.checked = self.checked.saturating_add(1);
        if !self.columns.fit(fields) {
            self.misfits = self.misfits.saturating_add(1);
        }
        if self.checked == CHECKED {
            return self.fits_layout();
        }
        Ok(())
    }

    fn fits_layout(&self) -> io::Result<()> {
        if self.misfits.saturating_mul(2) > self.checked {
            return Err(not_of_the_format(format!(
                "{}: {} of the first {} lines do not look like this layout; name it with --layout ({}) \
                 or --columns",
                self.name,
                self.misfits,
                self.checked,
                LAYOUTS.join(", ")
            )));
        }
        Ok(())
    }

    fn malformed(
        &mut self,
        number: u64,
        text: &str,
        why: &str,
        sink: &mut Sink<'_>,
    ) -> io::Result<()> {
        self.give(sink)?;
        let found = Found::Malformed(why.to_owned());
        sink(Record::new(number, text.as_bytes(), found))
    }

    /// A step: not a job, but its processor time is the job's where the job says none.
    fn step(
        &mut self,
        number: u64,
        id: &str,
        text: &str,
        total_cpu: &str,
        sink: &mut Sink<'_>,
    ) -> io::Result<()> {
        let (job, step) = id.split_once('.').unwrap_or((id, ""));
        if let Some(parent) = &mut self.parent
            && parent.row.id == job
            && step != "extern"
        {
            let cpu = clock(total_cpu).unwrap_or_default();
            parent.steps = parent.steps.plus(cpu).unwrap_or(parent.steps);
        }
        sink(Record::new(
            number,
            text.as_bytes(),
            Found::Skipped("step".into()),
        ))
    }

    /// Gives the job that waited for its steps.
    fn give(&mut self, sink: &mut Sink<'_>) -> io::Result<()> {
        let Some(mut parent) = self.parent.take() else {
            return Ok(());
        };
        if parent.row.cpu.is_some_and(Number::is_zero) {
            parent.row.cpu = Some(parent.steps);
        }
        let found = parent.row.found(Order::EndStartState);
        let raw = parent.raw.as_bytes();
        sink(Record::new(
            parent.line,
            raw.get(..RAW_MAX).unwrap_or(raw),
            found,
        ))
    }

    fn end(mut self, sink: &mut Sink<'_>) -> io::Result<()> {
        if let Some((number, text)) = self.begun.take() {
            self.malformed(number, &text, "the file ends inside a record", sink)?;
        }
        if self.checked < CHECKED {
            self.fits_layout()?;
        }
        self.give(sink)
    }
}

/// The fields of one record by the names of their columns.
struct Fields<'a, 't>(&'a Columns, &'a [&'t str]);

impl<'t> Fields<'_, 't> {
    fn stated(&self, name: &str) -> Option<&'t str> {
        self.1.get(self.0.place(name)?).copied()
    }

    fn text(&self, name: &str) -> &'t str {
        self.stated(name).unwrap_or_default()
    }

    fn row(&self, zone: Tz) -> Row {
        let text = |name: &str| self.text(name).to_owned();
        let moment = |name: &str| Moment::read(self.text(name), zone);
        let listed = || i64::try_from(hosts::count(self.text("nodelist"))?).ok();
        let nodes = row::integer(self.text("nnodes")).or_else(listed);
        let cpus =
            row::integer(self.text("ncpus")).or_else(|| row::integer(self.text("alloccpus")));
        let gpus = if let Some(allocated) = self.stated("alloctres") {
            tres::gpus(allocated)
        } else {
            let asked = self.stated("allocgres").unwrap_or(self.text("reqgres"));
            tres::old_gpus(asked).saturating_mul(nodes.unwrap_or(0))
        };
        let (memory_bytes, is_memory_decoded) = row::memory(
            self.text("alloctres"),
            self.text("reqtres"),
            self.text("reqmem"),
            cpus,
            nodes,
        );
        Row {
            id: text("jobid"),
            raw_id: text("jobidraw"),
            is_disputed: tres::disputes(self.text("alloctres"), cpus, nodes),
            user: text("user"),
            account: text("account"),
            group: text("group"),
            partition: text("partition"),
            qos: text("qos"),
            cluster: text("cluster"),
            name: text("jobname"),
            hosts: text("nodelist"),
            state: text("state"),
            exit: text("exitcode"),
            submit: moment("submit"),
            start: moment("start"),
            end: moment("end"),
            nodes,
            cpus,
            gpus: Some(gpus),
            memory_bytes,
            is_memory_decoded: is_memory_decoded && memory_bytes.is_some(),
            elapsed: self.stated("elapsed").and_then(clock),
            cpu: self
                .stated("totalcpu")
                .map(|cpu| clock(cpu).unwrap_or_default()),
            limit_s: row::limit(self.text("timelimit")),
            has_nodes: true,
        }
    }
}
