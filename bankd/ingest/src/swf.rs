//! The Standard Workload Format (`collectors.md` f.3): 18 numbers in a line, `;` before comments.

use std::io::{self, BufRead};

use super::job::{Extra, Figure, Found, Job, Label, Record, State};
use super::lines::{Line, Lines};
use super::number::Number;
use super::{Reader, Sink, not_of_the_format};

/// Columns of a record; later ones are a producer's own.
const COLUMNS: usize = 18;

/// Reads SWF. Times are relative to the `UnixStartTime` of the header, or absolute without one.
#[derive(Debug, Default)]
pub(super) struct Swf {
    /// Of the header; none without it.
    origin: Option<Number>,
    /// A header that is no number: the records have no times.
    bad_origin: Option<String>,
}

/// The line of the header with the time from which times count.
const ORIGIN: &str = "unixstarttime:";

/// Why a record by itself has no times.
const NO_HEADER: &str = "its times count from the header of its file: put the line \"; UnixStartTime: N\" of the \
    header before it (N is 0 for times since 1970)";

impl Reader for Swf {
    fn file(&mut self, _: &str, input: &mut dyn BufRead, sink: &mut Sink<'_>) -> io::Result<()> {
        let mut lines = Lines::new(input);
        let (mut is_first, mut has_names, mut has_records) = (true, false, false);
        (self.origin, self.bad_origin) = (None, None);
        while let Some(line) = lines.next_line()? {
            if line.bytes.starts_with(b";") {
                self.header(&line);
            } else if !line.is_blank() {
                // Some producers name their columns in the first line.
                let names = |b: &u8| b.is_ascii_alphabetic() || *b == b'_';
                let is_row_of_names = is_first && line.bytes.first().is_some_and(names);
                is_first = false;
                has_names |= is_row_of_names;
                if !is_row_of_names {
                    has_records |= line.text().split_whitespace().count() >= COLUMNS;
                    sink(self.record(&line))?;
                }
            }
        }
        if has_names && !has_records {
            return Err(not_of_the_format(format!("no line of {COLUMNS} columns")));
        }
        Ok(())
    }

    /// Without the header a job would be in 1970.
    fn again(
        &mut self,
        name: &str,
        input: &mut dyn BufRead,
        sink: &mut Sink<'_>,
    ) -> io::Result<()> {
        let mut records = Vec::new();
        let mut keep = |record| {
            records.push(record);
            Ok(())
        };
        self.file(name, input, &mut keep)?;
        let is_job = |record: &Record| matches!(record.found, Found::Jobs(_));
        if self.origin.is_none() && records.iter().any(is_job) {
            return Err(not_of_the_format(NO_HEADER));
        }
        records.into_iter().try_for_each(sink)
    }

    fn finish(&mut self, _: &mut Sink<'_>) -> io::Result<Vec<Extra>> {
        Ok(vec![Extra {
            key: "unix_start_time",
            value: Figure::Number(self.origin.unwrap_or_default()),
        }])
    }
}

impl Swf {
    fn header(&mut self, line: &Line<'_>) {
        let text = line.text();
        let text = text.trim_start_matches(';').trim();
        let Some((key, value)) = text.split_at_checked(ORIGIN.len()) else {
            return;
        };
        if !key.eq_ignore_ascii_case(ORIGIN) {
            return;
        }
        // Some producers add the date in words.
        let word = value.split_whitespace().next().unwrap_or_default();
        match Number::parse(word) {
            Some(origin) => (self.origin, self.bad_origin) = (Some(origin), None),
            None => self.bad_origin = Some(format!("UnixStartTime: {word:?} is not a number")),
        }
    }

    fn record(&self, line: &Line<'_>) -> Record {
        let text = line.text();
        let columns: Vec<&str> = text.split_whitespace().collect();
        let job = line.too_long().map_or_else(|| self.job(&columns), Err);
        let found = match job {
            Ok(Ok(job)) => Found::Jobs(vec![job]),
            Ok(Err(label)) => Found::Skipped(label),
            Err(why) => Found::Malformed(why),
        };
        Record::new(line.number, line.bytes, found)
    }

    /// A job; the label of a line that is none, or of a job that did not run or has no known resources.
    fn job(&self, columns: &[&str]) -> Result<Result<Job, Label>, String> {
        if columns.len() < COLUMNS {
            let there = columns.len();
            return Err(format!("{there} columns where SWF has {COLUMNS}"));
        }
        let text = |at: usize| columns.get(at).copied().unwrap_or_default();
        let number = |at: usize, what: &str| {
            let value = Number::parse(text(at));
            value.ok_or_else(|| format!("{what}: {:?} is not a number", text(at)))
        };
        let named = |at: usize| Some(text(at).to_owned()).filter(|word| word != "-1");
        // The line of the whole job, with the status 0 or 1, is before those of its parts, and has their sum.
        if ["2", "3", "4"].contains(&text(10)) {
            return Ok(Err("partial_execution".into()));
        }
        let run = number(3, "run time")?;
        let allocated = number(4, "allocated processors")?.cut(0);
        let procs = if allocated.is_above_zero() {
            allocated
        } else {
            number(7, "requested processors")?.cut(0)
        };
        let (submit, wait) = (number(1, "submit time")?, number(2, "wait time")?);
        if run.is_negative() || !procs.is_above_zero() {
            return Ok(Err("no_runtime_or_procs".into()));
        }
        let wait = if wait.is_negative() {
            Number::ZERO
        } else {
            wait
        };
        if let Some(why) = &self.bad_origin {
            return Err(why.clone());
        }
        let beyond = || "a time beyond the supported range".to_owned();
        let at = |value: Option<Number>| value.and_then(Number::as_microseconds).ok_or_else(beyond);
        let submitted = self.origin.unwrap_or_default().plus(submit);
        let start = submitted.and_then(|at| at.plus(wait));
        let end = start.and_then(|at| at.plus(run));
        let mut job = Job {
            id: text(0).to_owned(),
            submit_us: Some(at(submitted)?),
            start_us: at(start)?,
            end_us: at(end)?,
            wall: run,
            user: named(11),
            group: named(12),
            queue: named(14),
            state_word: named(10),
            state: state(text(10)),
            procs: Some(procs),
            limit_s: Number::parse(text(8))
                .filter(|limit| limit.is_above_zero())
                .and_then(|limit| i64::try_from(limit.cut(0).as_whole()?).ok()),
            cpu: Number::parse(text(5)).filter(|cpu| !cpu.is_negative()),
            ..Job::default()
        };
        job.cpu = job.cpu.and_then(|each| each.times(procs));
        job.memory_bytes = memory(columns, procs);
        job.add("wall_s", run);
        job.add("core_s", run.times(procs).ok_or_else(beyond)?);
        if ["0", "5"].contains(&text(10)) {
            job.keep_end();
        }
        Ok(Ok(job))
    }
}

/// The bytes of the job: columns 10 and 7 have kibibytes of each processor, requested and used.
fn memory(columns: &[&str], procs: Number) -> Option<Number> {
    let each = |at: usize| Number::parse(columns.get(at)?).filter(|each| each.is_above_zero());
    let each = each(9).or_else(|| each(6))?;
    each.times(Number::whole(1 << 10))?.times(procs)
}

fn state(word: &str) -> State {
    match word {
        "1" => State::Completed,
        "0" => State::Failed,
        "5" => State::Aborted,
        _ => State::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(text: &str) -> Vec<String> {
        let mut input = text.as_bytes();
        let mut results = Vec::new();
        let mut sink = |record: Record| {
            results.push(record.found.shown(|job| {
                let procs = job.procs.unwrap();
                let limit = job.limit_s.map_or(String::new(), |s| format!(" {s}"));
                let memory = job
                    .memory_bytes
                    .map_or(String::new(), |n| format!(" {n} B"));
                format!(
                    "{} {} {} {procs}{limit}{memory}",
                    job.id, job.start_us, job.wall
                )
            }));
            Ok(())
        };
        Swf::default()
            .file("log.swf", &mut input, &mut sink)
            .unwrap();
        results
    }

    #[test]
    fn variants_in_the_wild_are_read() {
        let tail = "-1 -1 8 60 -1 1 3 4 -1 -1 -1 -1 -1";
        for (text, expected) in [
            (format!("0 5 10 20 4 {tail}"), "0 15000000 20 4 60"),
            (
                format!("; UnixStartTime: 100\n1 5 10 20 4 {tail}"),
                "1 115000000 20 4 60",
            ),
            (
                format!("1 1700000000 0 2.5 4 {tail} 9 9"),
                "1 1700000000000000 2.5 4 60",
            ),
            (
                "1 5 0 20 4 -1 512 4 60 2048 1 3 4 -1 -1 -1 -1 -1".to_owned(),
                "1 5000000 20 4 60 8388608 B",
            ),
            (
                "1 5 0 20 4 -1 512 4 60 -1 1 3 4 -1 -1 -1 -1 -1".to_owned(),
                "1 5000000 20 4 60 2097152 B",
            ),
            (format!("1 5 -1 20 -1 {tail}"), "1 5000000 20 8 60"),
            (format!("1 5 0 -1 4 {tail}"), "no_runtime_or_procs"),
            (
                format!("job\tsubmit\n1\t5\t0\t20\t4\t{}", tail.replace(' ', "\t")),
                "1 5000000 20 4 60",
            ),
            (
                format!("; UnixStartTime: 100 (Thu Jan 1 1970)\n1 5 10 20 4 {tail}"),
                "1 115000000 20 4 60",
            ),
            (
                format!(
                    ";unixstarttime:100\n1 5 10 20 4 {}",
                    tail.replace("60", "-1")
                ),
                "1 115000000 20 4",
            ),
            (
                format!("; UnixStartTime: today\n1 5 10 20 4 {tail}"),
                "!UnixStartTime: \"today\" is not a number",
            ),
            (
                format!("; UnixStartTime:\n1 5 10 20 4 {tail}"),
                "!UnixStartTime: \"\" is not a number",
            ),
            ("1 2 3".to_owned(), "!3 columns where SWF has 18"),
        ] {
            assert_eq!(results(&text), [expected], "{text}");
        }
    }

    #[test]
    fn a_record_by_itself_needs_the_header_of_its_file() {
        let record = "1 5 10 20 4 -1 -1 8 60 -1 1 3 4 -1 -1 -1 -1 -1";
        let again = |text: &str| {
            let mut starts = Vec::new();
            let mut sink = |record: Record| {
                if let Found::Jobs(jobs) = record.found {
                    starts.push(jobs[0].start_us);
                }
                Ok(())
            };
            let mut input = text.as_bytes();
            let read = Swf::default().again("log.swf", &mut input, &mut sink);
            read.map(|()| starts).map_err(|error| error.to_string())
        };
        assert_eq!(again(record), Err(NO_HEADER.to_owned()));
        let whole = |origin: u64| format!("; UnixStartTime: {origin}\n{record}");
        assert_eq!(again(&whole(100)), Ok(vec![115_000_000]));
        assert_eq!(again(&whole(0)), Ok(vec![15_000_000]));
    }
}
