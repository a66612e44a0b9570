//! `HTCondor` (`collectors.md` e): history ads, and the pipe form that APEL asks for.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::{self, BufRead};

use super::job::{Found, Job, Label, RAW_MAX, Record, State};
use super::lines::{Line, Lines, each_line};
use super::number::Number;
use super::repair::{REPAIRED, span};
use super::text::known;
use super::{Reader, Sink, not_of_the_format};

/// Attributes of one ad that are kept; an ad of a real job has some 200.
const ATTRIBUTES_MAX: usize = 5_000;

/// Bytes of one ad that are kept; a longer one is unreadable.
const AD_MAX: usize = 4 << 20;

/// Attributes of the account; the first nonempty one is used.
const ACCOUNTS: [&str; 4] = [
    "accountinggroup",
    "acctgroup",
    "projectname",
    "x509userproxyvoname",
];

/// Reads ads: `Name = value` lines, a blank line or a banner between two.
#[derive(Debug, Default)]
pub(super) struct History;

impl Reader for History {
    fn file(&mut self, _: &str, input: &mut dyn BufRead, sink: &mut Sink<'_>) -> io::Result<()> {
        let mut lines = Lines::new(input);
        let mut ad = Ad::default();
        let (mut is_empty, mut has_ads) = (true, false);
        while let Some(line) = lines.next_line()? {
            if line.is_blank() || line.bytes.starts_with(b"***") {
                std::mem::take(&mut ad).give(sink)?;
            } else {
                ad.take(&line);
                has_ads |= ad.has_values();
                is_empty = false;
            }
        }
        if !is_empty && !has_ads {
            return Err(not_of_the_format("no line \"Name = value\""));
        }
        ad.give(sink)
    }
}

/// One ad. Names are case-insensitive; of a repeated one the last is used.
#[derive(Debug, Default)]
struct Ad {
    line: u64,
    raw: Vec<u8>,
    values: BTreeMap<String, String>,
    /// Depth of nested records: their attributes are not those of the job.
    depth: i64,
    /// Bytes of names and values.
    bytes: usize,
    /// Why one of its lines is unreadable.
    bad_line: Option<String>,
}

impl Ad {
    fn take(&mut self, line: &Line<'_>) {
        if self.line == 0 {
            self.line = line.number;
        }
        self.bad_line = self.bad_line.take().or_else(|| line.too_long());
        if self.raw.len() < RAW_MAX {
            self.raw.extend_from_slice(line.bytes);
            self.raw.push(b'\n');
        }
        let text = line.text();
        let is_inside = self.depth > 0;
        self.depth = self.depth.saturating_add(opened(&text)).max(0);
        if is_inside {
            return;
        }
        if let Some((name, value)) = text.split_once(" = ")
            && self.values.len() < ATTRIBUTES_MAX
        {
            self.bytes = self
                .bytes
                .saturating_add(name.len())
                .saturating_add(value.len());
            if self.bytes > AD_MAX {
                return;
            }
            let name = name.trim().to_ascii_lowercase();
            self.values.insert(name, value.trim().to_owned());
        }
    }

    fn has_values(&self) -> bool {
        !self.values.is_empty() || self.bad_line.is_some()
    }

    fn give(self, sink: &mut Sink<'_>) -> io::Result<()> {
        if !self.has_values() {
            return Ok(());
        }
        sink(Record::new(self.line, &self.raw, Found::of(self.judged())))
    }

    /// The job, or why nothing is charged for it; in the order of the tests of `data/LAYOUT.md`.
    fn judged(&self) -> Result<Result<Job, Label>, String> {
        if let Some(why) = &self.bad_line {
            return Err(why.clone());
        }
        if self.bytes > AD_MAX {
            return Err(format!("an ad of more than {AD_MAX} bytes"));
        }
        if !["jobstatus", "globaljobid"]
            .iter()
            .any(|name| self.values.contains_key(*name))
        {
            return Err("an ad without JobStatus and GlobalJobId".to_owned());
        }
        let (word, state) = match self.text("jobstatus").as_deref() {
            Some("3") => ("Removed", State::Aborted),
            Some("4") if self.ended_by_signal() => ("Completed", State::Failed),
            Some("4") => ("Completed", State::Completed),
            _ => return Ok(Err("live_state".into())),
        };
        let start = self.seconds("jobstartdate")?;
        if start == 0 {
            return Ok(Err("never_started".into()));
        }
        let end = match self.seconds("completiondate")? {
            0 => self.seconds("enteredcurrentstatus")?,
            end => end,
        };
        self.job(start, end, word, state).map(Ok)
    }

    /// Such a job has no exit code.
    fn ended_by_signal(&self) -> bool {
        let by = self.text("exitbysignal");
        by.is_some_and(|by| by.eq_ignore_ascii_case("true"))
    }

    fn job(&self, start: i64, end: i64, word: &str, state: State) -> Result<Job, String> {
        let beyond = || "a figure beyond the supported range".to_owned();
        let micros = |seconds: i64| seconds.checked_mul(1_000_000).ok_or_else(beyond);
        let mut wall = self.decimal("remotewallclocktime")?;
        let procs = self.count(["cpusprovisioned", "requestcpus"])?;
        let procs = procs.unwrap_or(Number::whole(1));
        let gpus = self
            .count(["gpusprovisioned", "requestgpus"])?
            .unwrap_or(Number::ZERO);
        let user = self.of_all_starts("cumulativeremoteusercpu", "remoteusercpu")?;
        let system = self.of_all_starts("cumulativeremotesyscpu", "remotesyscpu")?;
        let cpu = user.plus(system).ok_or_else(beyond)?;
        let account = ACCOUNTS.iter().find_map(|name| known(&self.text(name)?));
        let (start_us, end_us) = (micros(start)?, micros(end)?);
        // The run time may be that of several starts, so it repairs an end that is missing only.
        let mut times = match end {
            0 => span(Some(start_us), None, Some(wall))?,
            _ => span(Some(start_us), Some(end_us.max(start_us)), None)?,
        };
        // A missing value is not zero: a job may have been removed immediately.
        if self.text("remotewallclocktime").is_none() {
            wall = Number::seconds(times.end_us.saturating_sub(times.start_us));
            times.is_repaired = true;
        }
        let id = self.text("globaljobid").filter(|id| !id.is_empty());
        let mut job = Job {
            id: id.ok_or("GlobalJobId: missing")?,
            start_us: times.start_us,
            end_us: times.end_us,
            submit_us: micros(self.seconds("qdate")?).ok().filter(|at| *at > 0),
            wall,
            user: self.text("owner").and_then(|owner| known(&owner)),
            account,
            state_word: Some(word.to_owned()),
            state,
            exit: if self.ended_by_signal() {
                Some(format!("0:{}", self.text("exitsignal").unwrap_or_default()))
            } else {
                self.text("exitcode")
            },
            procs: Some(procs),
            gpus: Some(gpus),
            memory_bytes: self
                .mebibytes("memoryprovisioned")
                .or_else(|| self.mebibytes("requestmemory")),
            cpu: Some(cpu),
            hosts: self.text("lastremotehost").and_then(|host| known(&host)),
            ..Job::default()
        };
        job.add("wall_s", wall);
        job.add("core_s", wall.times(procs).ok_or_else(beyond)?);
        job.add("gpu_s", wall.times(gpus).ok_or_else(beyond)?);
        job.add("cpu_s", cpu);
        if times.is_repaired {
            job.flags.push(REPAIRED);
        }
        Ok(job)
    }

    /// Without the quotes of a string; `undefined` is nothing.
    fn text(&self, name: &str) -> Option<String> {
        let value = self.values.get(name)?;
        if value.eq_ignore_ascii_case("undefined") {
            return None;
        }
        let inner = value.strip_prefix('"').and_then(|v| v.strip_suffix('"'));
        Some(inner.map_or_else(|| value.clone(), |inner| inner.replace("\\\"", "\"")))
    }

    /// Epoch seconds; 0 if missing. Fractions are truncated.
    fn seconds(&self, name: &str) -> Result<i64, String> {
        let whole = self.decimal(name)?.cut(0).as_whole();
        let seconds = whole.and_then(|seconds| i64::try_from(seconds).ok());
        seconds.ok_or_else(|| format!("{name}: beyond the supported range"))
    }

    /// A number; 0 if missing.
    fn decimal(&self, name: &str) -> Result<Number, String> {
        let Some(text) = self.text(name) else {
            return Ok(Number::ZERO);
        };
        let number = Number::parse(&text).filter(|number| !number.is_negative());
        number.ok_or_else(|| format!("{name}: {text:?} is not a number"))
    }

    /// The run time is that of all starts, so the processor time is too. An ad without the sum, or with one that does
    /// not contain the last start yet, has that of the last start.
    fn of_all_starts(&self, sum: &str, last: &str) -> Result<Number, String> {
        let (sum, last) = (self.decimal(sum)?, self.decimal(last)?);
        let is_behind = last.minus(sum).is_some_and(Number::is_above_zero);
        Ok(if is_behind { last } else { sum })
    }

    /// The first that is a number, integer or real, perhaps in quotes: a request may be an expression.
    fn count(&self, names: [&str; 2]) -> Result<Option<Number>, String> {
        let is_number = |text: &str| {
            let is_part = |b: u8| b.is_ascii_digit() || b".eE".contains(&b);
            let has_digit = text.starts_with(|c: char| c.is_ascii_digit());
            Number::parse(text).is_some() || (has_digit && text.bytes().all(is_part))
        };
        let stated = names.iter().find_map(|name| {
            let text = self.text(name)?;
            (is_number(&text) && !text.starts_with('-')).then_some((name, text))
        });
        let Some((name, text)) = stated else {
            return Ok(None);
        };
        Number::parse(&text)
            .map(Some)
            .ok_or_else(|| format!("{name}: {text:?} is not a count"))
    }

    fn mebibytes(&self, name: &str) -> Option<Number> {
        let mebibytes = Number::parse(&self.text(name)?)?;
        let mebibytes = Some(mebibytes).filter(|size| !size.is_negative());
        mebibytes?.times(Number::whole(1 << 20))
    }
}

/// Brackets that a line opens and does not close, those in strings left out.
fn opened(line: &str) -> i64 {
    let (mut depth, mut is_string, mut is_escaped) = (0_i64, false, false);
    for byte in line.bytes() {
        match byte {
            b'"' if !is_escaped => is_string = !is_string,
            b'[' if !is_string => depth = depth.saturating_add(1),
            b']' if !is_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        is_escaped = byte == b'\\' && !is_escaped;
    }
    depth
}

/// Reads `GlobalJobId|Owner|wall|user CPU|system CPU|start|end|resident|image|cpus|…`. A missing value has no column, so
/// those behind it are shifted.
#[derive(Debug, Default)]
pub(super) struct Apel;

impl Reader for Apel {
    fn file(&mut self, _: &str, input: &mut dyn BufRead, sink: &mut Sink<'_>) -> io::Result<()> {
        // Columns of the readable records so far.
        let mut most = 0;
        each_line(input, sink, |line| {
            let text = line.text();
            let columns = columns(&text);
            if columns.len() < most {
                let there = columns.len();
                let why = format!("{there} columns where the lines before have {most}");
                return Some(Found::Malformed(why));
            }
            let read = piped(&columns);
            if read.is_ok() {
                most = columns.len();
            }
            Some(Found::of(read))
        })
    }
}

/// The columns of a line. Behind the last one there may be a separator too.
fn columns(line: &str) -> Vec<&str> {
    let line = line.trim();
    let line = line.strip_suffix('|').unwrap_or(line);
    line.split('|').collect()
}

fn piped(columns: &[&str]) -> Result<Result<Job, Label>, String> {
    let beyond = || "a figure beyond the supported range".to_owned();
    let number = |at: usize, what: &str| {
        let text = columns.get(at).copied().unwrap_or_default();
        let number = Number::parse(text).filter(|number| !number.is_negative());
        number.ok_or_else(|| format!("{what}: {text:?} is not a number"))
    };
    let micros = |number: Number| number.as_microseconds().ok_or_else(beyond);
    let (wall, procs) = (number(2, "wall time")?, number(9, "processors")?);
    let cpu = number(3, "user CPU")?.plus(number(4, "system CPU")?);
    let cpu = cpu.ok_or_else(beyond)?;
    let (start, end) = (number(5, "start")?, number(6, "end")?);
    if !start.is_above_zero() {
        return Ok(Err("never_started".into()));
    }
    let (start_us, end_us) = (micros(start)?, micros(end)?);
    if end_us < start_us {
        return Err("end: before the start".to_owned());
    }
    let id = columns.first().filter(|id| !id.is_empty());
    let mut job = Job {
        id: (*id.ok_or("GlobalJobId: missing")?).to_owned(),
        start_us,
        end_us,
        wall,
        user: columns.get(1).and_then(|owner| known(owner)),
        procs: Some(procs),
        cpu: Some(cpu),
        ..Job::default()
    };
    job.add("wall_s", wall);
    job.add("core_s", wall.times(procs).ok_or_else(beyond)?);
    job.add("cpu_s", cpu);
    Ok(Ok(job))
}
