//! `bank import jsonl`: finished usage from a file, in requests of a bounded size. A bad line stops no
//! other; a repeat of the whole changes nothing.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};

use bank_api::text;
use bank_api::v1::{BadLine, Imported, NewUsages, UsageItem, UsageTaken};
use serde_json::Value;
use ureq::http::Method;

use super::super::counted;
use crate::{
    cli::{ImportArgs, WriteArgs},
    client,
    context::Context,
    fail::Failure,
    out, upload,
};

/// Most records of one request.
const RECORDS_MAX: usize = 500;
/// Most bytes of their lines; the daemon takes 1 MiB.
const BYTES_MAX: usize = 512 * 1024;
/// Longest line in bytes.
const LINE_MAX: usize = 64 * 1024;

pub(super) fn run(context: &Context, args: &ImportArgs) -> Result<String, Failure> {
    let [file] = args.files.as_slice() else {
        return Err(Failure::usage("import jsonl takes one file"));
    };
    let unreadable = |error: io::Error| Failure::usage(format!("cannot read {file}: {error}"));
    let mut import = Import::new(context, args, file);
    if file == "-" {
        import.read(&mut io::stdin().lock())
    } else {
        let file = File::open(file).map_err(unreadable)?;
        import.read(&mut BufReader::new(file))
    }?;
    import.end()
}

/// An import on its way.
struct Import<'a> {
    context: &'a Context,
    args: &'a ImportArgs,
    file: &'a str,
    /// What waits to be sent, with the numbers of its lines.
    waiting: Vec<(u64, Value)>,
    bytes: usize,
    requests: u64,
    done: Imported,
    /// What was said once already.
    details: Vec<String>,
    /// Warnings with the numbers of their lines, which are printed in the order of the file.
    warnings: Vec<(u64, String)>,
}

impl<'a> Import<'a> {
    fn new(context: &'a Context, args: &'a ImportArgs, file: &'a str) -> Self {
        Self {
            context,
            args,
            file,
            waiting: Vec::new(),
            bytes: 0,
            requests: 0,
            done: Imported {
                dry_run: args.write.dry_run,
                ..Imported::default()
            },
            details: Vec::new(),
            warnings: Vec::new(),
        }
    }

    fn read(&mut self, input: &mut impl BufRead) -> Result<(), Failure> {
        let mut line = Vec::new();
        for number in 1_u64.. {
            line.clear();
            // One byte more than a line may have tells one that is too long.
            let most = u64::try_from(LINE_MAX + 2).unwrap_or(u64::MAX);
            let read = input.by_ref().take(most).read_until(b'\n', &mut line);
            let read = read
                .map_err(|error| Failure::usage(format!("cannot read {}: {error}", self.file)))?;
            if read == 0 {
                break;
            }
            if line.last() != Some(&b'\n') && line.len() > LINE_MAX {
                skip_line(input)
                    .map_err(|e| Failure::usage(format!("cannot read {}: {e}", self.file)))?;
                self.done.records += 1;
                self.bad(number, "bad_line", "longer than 65536 bytes");
                continue;
            }
            self.line(number, line.trim_ascii())?;
        }
        self.send()
    }

    fn line(&mut self, number: u64, line: &[u8]) -> Result<(), Failure> {
        if line.is_empty() {
            return Ok(());
        }
        self.done.records += 1;
        let value: Value = match serde_json::from_slice(line) {
            Ok(value @ Value::Object(_)) => value,
            Ok(_) => {
                self.bad(number, "bad_line", "no JSON object");
                return Ok(());
            }
            Err(error) => {
                let what = if error.is_eof() {
                    "no JSON: the record is not complete".to_owned()
                } else {
                    format!("no JSON from column {} on", error.column())
                };
                self.bad(number, "bad_line", &what);
                return Ok(());
            }
        };
        if self.waiting.len() >= RECORDS_MAX || self.bytes + line.len() > BYTES_MAX {
            self.send()?;
        }
        self.bytes += line.len();
        self.waiting.push((number, value));
        Ok(())
    }

    /// Sends what waits, and prints the warnings of these lines.
    fn send(&mut self) -> Result<(), Failure> {
        let sent = self.send_waiting();
        self.warnings.sort_by_key(|(line, _)| *line);
        for (line, text) in self.warnings.drain(..) {
            out::warn(&format!("{}:{line}: {text}", self.file));
        }
        self.done.bad.sort_by_key(|bad| bad.line);
        sent
    }

    fn send_waiting(&mut self) -> Result<(), Failure> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        self.requests += 1;
        self.bytes = 0;
        let (numbers, records): (Vec<u64>, Vec<Value>) =
            std::mem::take(&mut self.waiting).into_iter().unzip();
        let key = match &self.args.write.key {
            Some(key) => format!("{key}.{}", self.requests),
            None => client::new_key()?,
        };
        let write = WriteArgs {
            dry_run: self.args.write.dry_run,
            key: Some(key),
        };
        let body = NewUsages { records };
        // With the same key: what was written under load meanwhile is answered as it was.
        let sent = upload::repeated(upload::BUSY_TRIES, || {
            self.context.send(Method::POST, &["usage"], &body, &write)
        });
        let taken: UsageTaken = sent.map_err(|failure| self.broken(&numbers, failure))?;
        let sent = numbers.into_iter().zip(&body.records);
        for ((number, record), item) in sent.zip(taken.items) {
            self.took(number, record, item);
        }
        Ok(())
    }

    /// What came before stays; the same import again goes on where this one stopped.
    fn broken(&self, numbers: &[u64], failure: Failure) -> Failure {
        let (first, file) = (numbers.first().copied().unwrap_or(1), self.file);
        failure.hint(format!(
            "stopped at {file}:{first}; the same import again goes on, nothing counts twice"
        ))
    }

    fn took(&mut self, number: u64, record: &Value, item: UsageItem) {
        *self.done.outcomes.entry(item.outcome.clone()).or_default() += 1;
        let detail = item.detail.unwrap_or_default();
        if item.outcome == "refused" {
            let code = item.code.unwrap_or_default();
            self.bad(number, &code, &with_value(record, &detail));
        } else if !detail.is_empty() && !self.details.contains(&detail) {
            self.warnings
                .push((number, format!("job {}: {detail}", item.id)));
            self.details.push(detail);
        }
    }

    fn bad(&mut self, line: u64, code: &str, detail: &str) {
        if code == "bad_line" {
            *self.done.outcomes.entry("refused".to_owned()).or_default() += 1;
        }
        self.warnings.push((line, format!("{code}: {detail}")));
        self.done.bad.push(BadLine {
            line,
            code: code.to_owned(),
            detail: detail.to_owned(),
        });
    }

    fn end(self) -> Result<String, Failure> {
        let Imported {
            records,
            outcomes,
            bad,
            ..
        } = &self.done;
        let sentence = format!("{}{}", text::counted(*records, "record"), counted(outcomes));
        let bad = bad.len();
        let left_out = (bad > 0 && self.args.strict)
            .then(|| format!("{} not imported", text::counted(bad, "line")));
        let dry_run = self.args.write.dry_run;
        self.context
            .imported(&self.done, &sentence, dry_run, left_out)
    }
}

/// `start "2026-13-30": expected …`: a refusal of a value with the value.
fn with_value(record: &Value, detail: &str) -> String {
    let named = detail
        .split_once(": expected ")
        .and_then(|(field, expected)| {
            let value = record.get(field)?;
            Some(format!("{field} {value}: expected {expected}"))
        });
    named.unwrap_or_else(|| detail.to_owned())
}

/// Reads to the end of a line that is too long, without keeping it.
fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok(());
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(buffer.len(), |end| end + 1);
        input.consume(used);
        if end.is_some() {
            return Ok(());
        }
    }
}
