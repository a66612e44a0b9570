//! `sacct --parsable2`, with a header line or in a layout that is named (`collectors.md` a.1, a.5, a.6).

use std::io::{self, BufRead};

use chrono_tz::Tz;

use super::columns::{Column, Columns, LAYOUTS};
use super::hosts;
use super::row::{self, Moment, Parts, Row};
use super::stated::{self, Stated};
use super::tres::{self, Resources};
use crate::job::{Found, Job, Record};
use crate::lines::{LINE_MAX, Line, Lines};
use crate::number::Number;
use crate::options::Options;
use crate::split::split;
use crate::text::clock;
use crate::{Reader, Sink, not_of_the_format};

/// Why a record without its last columns is unreadable.
const TORN: &str = "the line ends before its last column";

/// Lines at the beginning that must look like the layout.
const CHECKED: usize = 100;

/// Reads `sacct`.
#[derive(Debug)]
pub(crate) struct Sacct {
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
    pub(crate) fn new(options: &Options) -> Result<Self, String> {
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
            let Some(reading) = &mut reading else {
                let text = line.text();
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
                    fresh.line(&line, sink)?;
                }
                continue;
            };
            reading.line(&line, sink)?;
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
    /// A record that goes on in the next line.
    begun: Option<Begun>,
    /// The job of the following steps.
    parent: Option<Parent>,
    parts: Parts,
    checked: usize,
    misfits: usize,
}

/// A record that lacks columns so far.
struct Begun {
    line: u64,
    text: String,
    raw: Vec<u8>,
    /// Fields that it has; a separator at the end may begin one that is none.
    fields: usize,
}

/// A job that waits for the processor time of its steps.
struct Parent {
    id: String,
    record: Record,
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
            parts: Parts::default(),
            checked: 0,
            misfits: 0,
        }
    }

    fn line(&mut self, line: &Line<'_>, sink: &mut Sink<'_>) -> io::Result<()> {
        let text = line.text();
        if let Some(columns) = Columns::later_header(&text, self.delimiter) {
            if let Some(begun) = self.begun.take() {
                self.torn(&begun)?;
                self.malformed(begun.line, &begun.raw, TORN, sink)?;
            }
            (self.columns, self.has_header) = (columns, true);
            self.has_trail = text.ends_with(self.delimiter);
            return Ok(());
        }
        let Some(mut begun) = self.begun.take() else {
            if text.trim().is_empty() {
                return Ok(());
            }
            if let Some(why) = line.too_long() {
                return self.malformed(line.number, line.bytes, &why, sink);
            }
            return self.record(line.number, &text, line.bytes, sink);
        };
        let fields = split(&text, self.delimiter, usize::MAX).len();
        let length = begun.text.len().saturating_add(text.len());
        if let Some(why) = line.too_long() {
            self.malformed(begun.line, &begun.raw, TORN, sink)?;
            return self.malformed(line.number, line.bytes, &why, sink);
        }
        // A line that is a whole record by itself does not belong to one that was torn.
        if (fields >= self.columns.len() && self.is_whole(&text)) || length > LINE_MAX {
            self.torn(&begun)?;
            self.malformed(begun.line, &begun.raw, TORN, sink)?;
            return self.record(line.number, &text, line.bytes, sink);
        }
        begun.text.push('\n');
        begun.text.push_str(&text);
        begun.raw.push(b'\n');
        begun.raw.extend_from_slice(line.bytes);
        begun.fields = begun.fields.saturating_add(fields).saturating_sub(1);
        // Lines are only counted until there may be enough: they are cut once.
        if begun.fields < self.columns.len() {
            self.begun = Some(begun);
            return Ok(());
        }
        self.record(begun.line, &begun.text, &begun.raw, sink)
    }

    fn is_whole(&self, text: &str) -> bool {
        let fields = self.fields(text);
        fields.len() >= self.columns.len() && self.columns.fit(&fields)
    }

    /// The fields of a record; a separator behind the last one is none.
    fn fields<'t>(&self, text: &'t str) -> Vec<&'t str> {
        if !self.has_header {
            return split(text, self.delimiter, self.columns.len());
        }
        let cut = text.strip_suffix(self.delimiter).filter(|_| self.has_trail);
        split(cut.unwrap_or(text), self.delimiter, usize::MAX)
    }

    /// A record that may still lack columns: then the next line is part of it.
    fn record(&mut self, line: u64, text: &str, raw: &[u8], sink: &mut Sink<'_>) -> io::Result<()> {
        let fields = self.fields(text);
        if fields.len() < self.columns.len() {
            self.begun = Some(Begun {
                line,
                text: text.to_owned(),
                raw: raw.to_vec(),
                fields: split(text, self.delimiter, usize::MAX).len(),
            });
            return Ok(());
        }
        let fields = match fields.len().cmp(&self.columns.len()) {
            std::cmp::Ordering::Greater => {
                let cut = text.strip_suffix(self.delimiter).filter(|_| self.has_trail);
                self.columns.aligned(cut.unwrap_or(text), self.delimiter)
            }
            _ if self.has_header => match self.columns.unreadable(&fields) {
                Some(why) => return self.malformed(line, raw, &why, sink),
                None => Some(fields),
            },
            _ => {
                if self.is_checking() {
                    let fits = self.columns.fit(&fields);
                    self.looked(fits)?;
                }
                Some(fields)
            }
        };
        let Some(fields) = fields else {
            return self.malformed(line, raw, "its fields fit no way of columns", sink);
        };
        let row = Fields(&self.columns, &fields);
        let id = row.text(Column::JobId);
        if id.is_empty() {
            return self.malformed(line, raw, "no job id", sink);
        }
        if id.contains('.') {
            return self.step(line, id, raw, row.used(), sink);
        }
        let row = row.row(self.zone);
        let waits = row.cpu.is_some_and(Number::is_zero);
        let record = Record::new(line, raw, self.parts.found(row));
        self.give(sink)?;
        if !waits {
            return sink(record);
        }
        self.parent = Some(Parent {
            id: id.to_owned(),
            record,
            steps: Number::ZERO,
        });
        Ok(())
    }

    /// Whether there may still be a doubt about the layout.
    fn is_checking(&self) -> bool {
        !self.has_header && self.checked < CHECKED
    }

    /// The layout of a file without a header line is never guessed: most of its first lines must look
    /// like it.
    fn looked(&mut self, fits: bool) -> io::Result<()> {
        if !self.is_checking() {
            return Ok(());
        }
        self.checked = self.checked.saturating_add(1);
        if !fits {
            self.misfits = self.misfits.saturating_add(1);
        }
        if self.checked == CHECKED {
            return self.fits_layout();
        }
        Ok(())
    }

    /// A record that lacks columns: a torn one looks like the layout up to where it ends.
    fn torn(&mut self, begun: &Begun) -> io::Result<()> {
        let mut fields = split(&begun.text, self.delimiter, self.columns.len());
        if fields.len() > 1 {
            fields.pop();
        }
        let fits = self.columns.fit(&fields);
        if fits { Ok(()) } else { self.looked(false) }
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
        line: u64,
        raw: &[u8],
        why: &str,
        sink: &mut Sink<'_>,
    ) -> io::Result<()> {
        self.give(sink)?;
        let found = Found::Malformed(why.to_owned());
        sink(Record::new(line, raw, found))
    }

    /// A step: not a job, but its processor time is the job's if the job has none.
    fn step(
        &mut self,
        line: u64,
        id: &str,
        raw: &[u8],
        used: Option<Number>,
        sink: &mut Sink<'_>,
    ) -> io::Result<()> {
        let (job, step) = id.split_once('.').unwrap_or((id, ""));
        if let Some(parent) = &mut self.parent
            && parent.id == job
            && step != "extern"
        {
            let used = used.unwrap_or_default();
            parent.steps = parent.steps.plus(used).unwrap_or(parent.steps);
        }
        sink(Record::new(line, raw, Found::Skipped("step".into())))
    }

    /// Gives the job that waited for its steps.
    fn give(&mut self, sink: &mut Sink<'_>) -> io::Result<()> {
        let Some(mut parent) = self.parent.take() else {
            return Ok(());
        };
        if let Found::Jobs(jobs) = &mut parent.record.found {
            for job in jobs {
                used(job, parent.steps);
            }
        }
        sink(parent.record)
    }

    fn end(mut self, sink: &mut Sink<'_>) -> io::Result<()> {
        let begun = self.begun.take();
        if let Some(begun) = &begun {
            self.torn(begun)?;
        }
        if self.checked < CHECKED {
            self.fits_layout()?;
        }
        if let Some(begun) = begun {
            let why = "the file ends inside a record";
            self.malformed(begun.line, &begun.raw, why, sink)?;
        }
        self.give(sink)
    }
}

/// Sets the processor time of a job.
fn used(job: &mut Job, cpu: Number) {
    job.cpu = Some(cpu);
    let stated = job.quantities.iter_mut().find(|(name, _)| name == "cpu_s");
    if let Some((_, stated)) = stated {
        *stated = cpu;
    }
}

/// The fields of one record by their columns.
struct Fields<'a, 't>(&'a Columns, &'a [&'t str]);

impl<'t> Fields<'_, 't> {
    fn stated(&self, column: Column) -> Option<&'t str> {
        self.1.get(self.0.place(column)?).copied()
    }

    fn text(&self, column: Column) -> &'t str {
        self.stated(column).unwrap_or_default()
    }

    /// Processor time: the total, or the sum of both modes; none without such a column.
    fn used(&self) -> Option<Number> {
        let time = |column| {
            self.stated(column)
                .map(|text| clock(text).unwrap_or_default())
        };
        let total = time(Column::TotalCpu);
        let parts = [time(Column::UserCpu), time(Column::SystemCpu)];
        let sum = parts.into_iter().flatten().reduce(|one, other| {
            // Both are short clocks.
            one.plus(other).unwrap_or(one)
        });
        total
            .filter(|total| total.is_above_zero())
            .or(sum)
            .or(total)
    }

    fn beyond(&self, cpus: Option<i64>, nodes: Option<i64>) -> Stated<'t> {
        let time = |column| self.stated(column).and_then(clock);
        Stated {
            uid: self.text(Column::Uid).into(),
            gid: self.text(Column::Gid).into(),
            reservation: self.text(Column::Reservation).into(),
            cpu: [time(Column::UserCpu), time(Column::SystemCpu)],
            requested: row::integer(self.text(Column::ReqCpus)),
            memory_per_node: stated::memory_per_node(self.text(Column::ReqMem), cpus, nodes),
        }
    }

    /// GPUs of the older columns.
    fn old_gpus(&self, nodes: Option<i64>) -> Result<i64, String> {
        let requested = self.stated(Column::AllocGres);
        let requested = requested.unwrap_or(self.text(Column::ReqGres));
        let gpus = tres::old_gpus(requested, nodes.unwrap_or(0));
        gpus.map_err(|part| format!("GPUs: {part:?} is not a count"))
    }

    fn row(&self, zone: Tz) -> Row<'t> {
        let text = |column| self.text(column).into();
        let moment = |column| Moment::read(self.text(column), zone);
        let count = |column| row::integer(self.text(column));
        let listed = || hosts::listed(self.text(Column::NodeList));
        let columns = [
            count(Column::NCpus).or_else(|| count(Column::AllocCpus)),
            count(Column::NNodes).or_else(listed),
        ];
        let allocated = self.stated(Column::AllocTres).map(Resources::read);
        let [cpus, nodes] = allocated.unwrap_or_default().complete(columns);
        let gpus = allocated.map_or_else(|| self.old_gpus(nodes), |known| Ok(known.gpus));
        let allocated = allocated.unwrap_or_default();
        let (memory_bytes, is_memory_decoded) = row::memory(
            &allocated,
            self.text(Column::ReqTres),
            self.text(Column::ReqMem),
            cpus,
            nodes,
        );
        let counts = [
            ("NCPUS", self.text(Column::NCpus)),
            ("AllocCPUS", self.text(Column::AllocCpus)),
            ("NNodes", self.text(Column::NNodes)),
        ];
        Row {
            unreadable: row::unreadable(&counts, self.text(Column::AllocTres), columns)
                .or(gpus.as_ref().err().cloned()),
            id: text(Column::JobId),
            raw_id: text(Column::JobIdRaw),
            is_disputed: allocated.disputes(cpus, nodes),
            user: text(Column::User),
            account: text(Column::Account),
            group: text(Column::Group),
            partition: text(Column::Partition),
            qos: text(Column::Qos),
            cluster: text(Column::Cluster),
            name: text(Column::JobName),
            hosts: text(Column::NodeList),
            state: text(Column::State),
            exit: text(Column::ExitCode),
            submit: moment(Column::Submit),
            start: moment(Column::Start),
            end: moment(Column::End),
            nodes,
            cpus,
            gpus: gpus.ok(),
            resources: self
                .stated(Column::AllocTres)
                .map(tres::others)
                .unwrap_or_default(),
            memory_bytes,
            is_memory_decoded: is_memory_decoded && memory_bytes.is_some(),
            elapsed: self.stated(Column::Elapsed).and_then(clock),
            cpu: self.used(),
            limit_s: row::limit(self.text(Column::TimeLimit)),
            has_nodes: true,
            stated: self.beyond(cpus, nodes),
            ..Row::default()
        }
    }
}
