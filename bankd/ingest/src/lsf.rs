//! LSF's `lsb.acct` (`collectors.md` d): fields between blanks, texts in quotes.

use bank_core::usage::kept;
use std::collections::BTreeSet;
use std::io::{self, BufRead};

use super::job::{Found, Job, Label, Record, State};
use super::lines::{LINE_MAX, Lines};
use super::number::Number;
use super::text::known;
use super::{Reader, Sink};

/// Lines that a mailer may have made of one; more are not joined.
const JOINED_MAX: usize = 64;

/// Reads `lsb.acct`. Only `JOB_FINISH` is charged.
#[derive(Debug, Default)]
pub(super) struct Lsf;

impl Reader for Lsf {
    fn file(&mut self, _: &str, input: &mut dyn BufRead, sink: &mut Sink<'_>) -> io::Result<()> {
        let mut lines = Lines::new(input);
        let mut waiting: Option<Joined> = None;
        let mut joined = 0;
        while let Some(line) = lines.next_line()? {
            // A mailer breaks a long line with `!`, and goes on behind a blank.
            if let Some(record) = &mut waiting
                && let Some(more) = line.bytes.strip_prefix(b" ")
                && record.raw.ends_with(b"!")
                && joined < JOINED_MAX
            {
                record.join(more, line.too_long());
                joined += 1;
                continue;
            }
            if let Some(record) = waiting.take() {
                sink(record.read())?;
            }
            if !line.is_blank() {
                joined = 0;
                waiting = Some(Joined {
                    line: line.number,
                    raw: line.bytes.to_vec(),
                    bad_line: line.too_long(),
                });
            }
        }
        waiting.map_or(Ok(()), |record| sink(record.read()))
    }
}

/// A line with those that a mailer broke off it.
struct Joined {
    line: u64,
    raw: Vec<u8>,
    /// Why it is unreadable.
    bad_line: Option<String>,
}

impl Joined {
    fn join(&mut self, more: &[u8], bad_line: Option<String>) {
        self.raw.pop();
        self.raw.extend_from_slice(more);
        let beyond = || format!("a line of more than {LINE_MAX} bytes");
        let why = bad_line.or_else(|| (self.raw.len() > LINE_MAX).then(beyond));
        self.bad_line = self.bad_line.take().or(why);
    }

    fn read(self) -> Record {
        let text = String::from_utf8_lossy(&self.raw);
        let judged = self.bad_line.map_or_else(|| judged(&text), Err);
        Record::new(self.line, &self.raw, Found::of(judged))
    }
}

/// The job, or why nothing is charged for it; in the order of the tests of `data/LAYOUT.md`.
fn judged(text: &str) -> Result<Result<Job, Label>, String> {
    if !text.trim_start().starts_with('"') {
        return Err("no type of an event in quotes".to_owned());
    }
    let fields = Fields::of(text);
    let kind = fields.text(0, "type")?;
    if kind != "JOB_FINISH" {
        return Ok(Err(format!("event_{kind}").into()));
    }
    let end: i64 = fields.number(2, "event time")?;
    let start: i64 = fields.number(10, "start time")?;
    let procs: u32 = fields.number(6, "numProcessors")?;
    let mut job = Job {
        id: fields.text(3, "job id")?.to_owned(),
        submit_us: fields
            .number::<i64>(7, "submit time")?
            .checked_mul(1_000_000),
        user: known(fields.text(11, "user")?),
        queue: known(fields.text(12, "queue")?),
        procs: Some(Number::whole(procs)),
        ..Job::default()
    };
    let (hosts, at) = fields.hosts()?;
    let at = |more: usize| at.saturating_add(more);
    let status: i64 = fields.number(at(0), "jStatus")?;
    job.nodes = nodes(hosts);
    job.hosts = known(&join(hosts));
    job.name = known(fields.text(at(2), "job name")?);
    let times = [fields.decimal(at(4))?, fields.decimal(at(5))?];
    job.account = known(fields.text(at(24), "project")?);
    job.exit = known(fields.text(at(25), "exit status")?);
    let index: i64 = fields.number(at(29), "array index")?;
    if index != 0 {
        job.id = format!("{}[{index}]", job.id);
    }
    // Fields after the index depend on the version; maxRMem is the next field.
    job.memory_bytes = fields
        .number::<i128>(at(30), "maxRMem")
        .ok()
        .filter(|kb| *kb >= 0)
        .and_then(|kb| kb.checked_mul(1024))
        .map(Number::whole);
    if start <= 0 {
        return Ok(Err("never_started".into()));
    }
    finish(job, start, end, procs, status, times).map(Ok)
}

fn finish(
    mut job: Job,
    start: i64,
    end: i64,
    procs: u32,
    status: i64,
    times: [Number; 2],
) -> Result<Job, String> {
    let beyond = || "a figure beyond the supported range".to_owned();
    let micros = |seconds: i64| seconds.checked_mul(1_000_000).ok_or_else(beyond);
    let wall = Number::whole(end.checked_sub(start).ok_or_else(beyond)?.max(0));
    let known_cpu = |cpu: Number| if cpu.is_negative() { Number::ZERO } else { cpu };
    let [user, system] = times.map(known_cpu);
    let cpu = user.plus(system).ok_or_else(beyond)?;
    job.start_us = micros(start)?;
    job.end_us = micros(end.max(start))?;
    job.wall = wall;
    job.cpu = Some(cpu);
    let parts = [(kept::CPU_USER, user), (kept::CPU_SYSTEM, system)];
    job.stated = parts.map(|(name, part)| (name, part.to_string())).into();
    job.state_word = Some(match status {
        64 => "DONE".to_owned(),
        32 => "EXIT".to_owned(),
        other => other.to_string(),
    });
    job.state = match status {
        64 => State::Completed,
        32 => State::Failed,
        _ => State::Unknown,
    };
    job.add("wall_s", wall);
    let core = wall.times(Number::whole(procs)).ok_or_else(beyond)?;
    job.add("core_s", core);
    job.add("cpu_s", cpu);
    Ok(job)
}

/// The words of a line, with a flag for quoted ones.
struct Fields(Vec<Field>);

/// A word, and whether it was quoted.
type Field = (String, bool);

impl Fields {
    /// A quote inside a quoted text is doubled; a backslash means nothing.
    fn of(text: &str) -> Self {
        let mut fields = Vec::new();
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let Some(mut inner) = rest.strip_prefix('"') else {
                let end = rest.find(|c: char| c.is_whitespace() || c == '"');
                let (word, left) = rest
                    .split_at_checked(end.unwrap_or(rest.len()))
                    .unwrap_or((rest, ""));
                fields.push((word.to_owned(), false));
                rest = left.trim_start();
                continue;
            };
            let mut value = String::new();
            while let Some((part, left)) = inner.split_once('"') {
                value.push_str(part);
                inner = left;
                match inner.strip_prefix('"') {
                    Some(left) => {
                        value.push('"');
                        inner = left;
                    }
                    None => break,
                }
            }
            fields.push((value, true));
            rest = inner.trim_start();
        }
        Self(fields)
    }

    fn text(&self, at: usize, what: &str) -> Result<&str, String> {
        let field = self.0.get(at).map(|(text, _)| text.as_str());
        field.ok_or_else(|| format!("{what}: the line is too short"))
    }

    fn number<T: std::str::FromStr>(&self, at: usize, what: &str) -> Result<T, String> {
        let text = self.text(at, what)?;
        text.parse()
            .map_err(|_| format!("{what}: {text:?} is not a number"))
    }

    fn decimal(&self, at: usize) -> Result<Number, String> {
        let text = self.text(at, "cpu time")?;
        Number::parse(text).ok_or_else(|| format!("cpu time: {text:?} is not a number"))
    }

    /// The hosts that the job ran on, and where the line goes on behind them. Where the number of
    /// asked hosts is 0 it may be fused with the next one: `02` for `0 2`.
    fn hosts(&self) -> Result<(&[Field], usize), String> {
        let first = self.text(22, "numAskedHosts")?;
        let fused = first.strip_prefix('0').filter(|rest| !rest.is_empty());
        let (count, begin) = if let Some(rest) = fused {
            let count = rest.parse::<usize>();
            let why = |_| format!("numAskedHosts: {first:?} is not a number");
            (count.map_err(why)?, 23)
        } else {
            let requested: usize = self.number(22, "numAskedHosts")?;
            let at = requested.saturating_add(23);
            (self.number(at, "numExHosts")?, at.saturating_add(1))
        };
        let end = begin.saturating_add(count);
        let hosts = self
            .0
            .get(begin..end)
            .ok_or("hosts: the line is too short")?;
        let quoted = hosts.iter().all(|(_, quoted)| *quoted);
        let behind = self.0.get(end).is_some_and(|(_, quoted)| !*quoted);
        if quoted && behind {
            Ok((hosts, end))
        } else {
            Err("numExHosts: not so many hosts follow".to_owned())
        }
    }
}

/// Distinct hosts; `16*host` is one.
fn nodes(hosts: &[(String, bool)]) -> Option<Number> {
    let name = |(host, _): &(String, bool)| match host.split_once('*') {
        Some((_, name)) => name.to_owned(),
        None => host.clone(),
    };
    let distinct: BTreeSet<String> = hosts.iter().map(name).collect();
    i128::try_from(distinct.len()).ok().map(Number::whole)
}

fn join(hosts: &[(String, bool)]) -> String {
    let names: Vec<&str> = hosts.iter().map(|(host, _)| host.as_str()).collect();
    names.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_doubled_inside_texts() {
        let Fields(fields) = Fields::of(r#"JOB 1 "a ""b"" c" "" -1"#);
        let plain = |text: &str, quoted| (text.to_owned(), quoted);
        assert_eq!(
            fields,
            [
                plain("JOB", false),
                plain("1", false),
                plain("a \"b\" c", true),
                plain("", true),
                plain("-1", false),
            ]
        );
    }
}
