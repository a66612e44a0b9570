//! `bankd import FORMAT FILE…`: reads usage files and prints a summary, without a bank
//! (`--dry-run`), or imports them into a bank without a running daemon (`--data DIR`).

mod offline;

use std::cell::Cell;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use bank_api::exit::bank as exit;
use bank_api::text::{Moment, parse_time};
use bankd_ingest::{Extra, FORMATS, Options, Reader, Record, Summary, formats, open, screen};
use bankd_ledger::clock;
use chrono_tz::Tz;
use clap::builder::PossibleValuesParser;

use crate::say;
use offline::{Bank, Done};

/// Records between two progress lines on a terminal.
const PROGRESS: u64 = 100_000;

/// The largest mapping file, in bytes.
const MAPPING_MAX: u64 = 1 << 20;

/// `bankd import`.
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
#[derive(Debug, clap::Args)]
pub struct ImportArgs {
    /// Format of the files, one per run
    #[arg(value_name = "FORMAT", value_parser = PossibleValuesParser::new(FORMATS.iter().map(|f| f.name)))]
    format: String,
    /// Files or folders, plain, .gz or .zst; - is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Print a summary of the files, without a bank
    #[arg(long, required_unless_present = "data", conflicts_with = "data")]
    dry_run: bool,
    #[command(flatten)]
    target: offline::Target,
    /// Print the whole summary as JSON, with exact numbers
    #[arg(long)]
    json: bool,
    /// Exit with 1 if a record is unreadable
    #[arg(long)]
    strict: bool,
    /// Layout of sacct without a header line: xdmod26, xdmod25-2021, xdmod25-2019, xdmod26-2020
    #[arg(long, value_name = "NAME", conflicts_with = "columns")]
    layout: Option<String>,
    /// Names of columns, for sacct and csv; name=number for maui and moab-events
    #[arg(long, value_name = "A,B,C", value_delimiter = ',')]
    columns: Vec<String>,
    /// Separator of columns, for sacct and csv; one or more bytes
    #[arg(long, value_name = "TEXT")]
    delimiter: Option<String>,
    /// Time zone of times without one
    #[arg(long, value_name = "AREA/CITY", default_value = "UTC", value_parser = zone)]
    tz: Tz,
    /// File with the meaning of the columns, for csv
    #[arg(long, value_name = "FILE")]
    mapping: Option<PathBuf>,
    /// Omit usage that ended before this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    since: Option<String>,
    /// Count the complex gpu for each slot (Grid Engine)
    #[arg(long)]
    gpus_per_slot: bool,
    /// Add totals by UTC day
    #[arg(long)]
    days: bool,
}

/// An error: one line, and the exit code.
#[derive(Debug)]
pub struct Failure {
    /// The message: place and reason.
    pub why: String,
    /// An exit code of decisions.md 24.
    pub code: u8,
}

impl Failure {
    fn usage(why: impl Into<String>) -> Self {
        let (why, code) = (why.into(), exit::USAGE);
        Self { why, code }
    }
}

/// Reads all files. Returns the output and the exit code: 1 for `--strict` with unreadable
/// records, else 0.
///
/// # Errors
/// Exit code 2: an option or a file cannot be used. 1: a file does not have the format.
pub fn run(args: &ImportArgs) -> Result<(String, u8), Failure> {
    let options = options(args)?;
    let since_us = since(args)?;
    let format = formats::named(&args.format)
        .ok_or_else(|| Failure::usage(format!("no format {:?}", args.format)))?;
    let mut reader = (format.reader)(&options).map_err(Failure::usage)?;
    let mut sum = match &args.target.data {
        Some(folder) => Sum::Bank(Box::new(Bank::open(&args.target, &args.format, folder)?)),
        None if args.days => Sum::Dry(Box::new(Summary::by_day())),
        None => Sum::Dry(Box::default()),
    };
    let progress = Progress::new();
    let (files, extra) = match read(args, since_us, &mut *reader, &mut sum, &progress) {
        Ok(read) => read,
        Err(failure) => {
            sum.abandon();
            return Err(failure);
        }
    };
    let closed = sum.close(extra);
    let (summary, taken) = closed.map_err(|e| refused("temporary file or bank", &e))?;
    progress.end();
    if summary.has_overflown() {
        let why =
            "the sums exceed the range of exact numbers: a record contains an impossible value";
        let (why, code) = (why.to_owned(), exit::REFUSED);
        return Err(Failure { why, code });
    }
    let text = match (args.json, &taken) {
        (true, _) => screen::json(&summary),
        (false, Some(taken)) => screen::people(&summary, files, false) + &taken.summary(),
        (false, None) => screen::people(&summary, files, true),
    };
    if let (true, Some(taken)) = (args.json, &taken) {
        // Standard output has only the summary, so that it can be compared.
        say::complain(format_args!("{}", taken.summary()));
    }
    let is_bad = args.strict && summary.malformed() > 0;
    Ok((text, if is_bad { exit::REFUSED } else { exit::DONE }))
}

/// Reads all files. Returns their number, and the extra figures of the reader.
fn read(
    args: &ImportArgs,
    since_us: Option<i64>,
    reader: &mut dyn Reader,
    sum: &mut Sum,
    progress: &Progress,
) -> Result<(u64, Vec<Extra>), Failure> {
    let mut files = 0_u64;
    for path in &args.files {
        let unreadable = |e: io::Error| Failure::usage(format!("{}: {e}", path.display()));
        let listed = open::files(path).map_err(unreadable)?;
        if let Some(remark) = listed.remark() {
            complain!("bankd: {remark}");
        }
        for file in listed.files {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let shown = file.display().to_string();
            let unreadable = |e: io::Error| Failure::usage(format!("{shown}: {e}"));
            let mut input = open::open(&file).map_err(unreadable)?;
            sum.begin(&shown);
            let mut sink = |record: Record| {
                sum.take(record.since(since_us))?;
                progress.show(sum.records());
                Ok(())
            };
            let read = reader.file(&name, &mut *input, &mut sink);
            read.map_err(|e| refused(&shown, &e))?;
            files = files.saturating_add(1);
        }
    }
    let mut sink = |record: Record| sum.take(record.since(since_us));
    let extra = reader
        .finish(&mut sink)
        .map_err(|e| refused(&args.format, &e))?;
    Ok((files, extra))
}

/// Destination of records: a summary only, or a bank too.
enum Sum {
    Dry(Box<Summary>),
    Bank(Box<Bank>),
}

impl Sum {
    fn begin(&mut self, file: &str) {
        match self {
            Sum::Dry(summary) => summary.begin(file),
            Sum::Bank(bank) => bank.intake().place(file),
        }
    }

    fn take(&mut self, record: Record) -> io::Result<()> {
        match self {
            Sum::Dry(summary) => summary.take(&record),
            Sum::Bank(bank) => bank.intake().take(record),
        }
    }

    fn records(&mut self) -> u64 {
        match self {
            Sum::Dry(summary) => summary.records(),
            Sum::Bank(bank) => bank.intake().records(),
        }
    }

    /// Stops the import. Records that were imported remain.
    fn abandon(self) {
        if let Sum::Bank(bank) = self {
            bank.abandon();
        }
    }

    fn close(self, extra: Vec<Extra>) -> io::Result<(Summary, Option<Done>)> {
        match self {
            Sum::Dry(mut summary) => {
                summary.close(extra)?;
                Ok((*summary, None))
            }
            Sum::Bank(bank) => {
                let mut done = bank.close(extra)?;
                let summary = std::mem::take(&mut done.summary);
                Ok((summary, Some(done)))
            }
        }
    }
}

/// The error for a file that ends the run: another format, or a read error.
fn refused(place: &str, error: &io::Error) -> Failure {
    let text = error.to_string();
    let why = if text.starts_with(place) {
        text
    } else {
        format!("{place}: {text}")
    };
    let code = exit::REFUSED;
    Failure { why, code }
}

fn options(args: &ImportArgs) -> Result<Options, Failure> {
    let mapping = args.mapping.as_deref().map(mapping).transpose()?;
    if mapping.is_some() && args.format != "csv" {
        let format = &args.format;
        return Err(Failure::usage(format!(
            "--mapping: {format} has none, only csv"
        )));
    }
    Ok(Options {
        layout: args.layout.clone(),
        columns: args.columns.clone(),
        delimiter: args.delimiter.clone(),
        zone: args.tz,
        mapping,
        gpus_per_slot: args.gpus_per_slot,
    })
}

fn mapping(path: &Path) -> Result<String, Failure> {
    let shown = path.display();
    let failed = |e: io::Error| Failure::usage(format!("{shown}: {e}"));
    let size = std::fs::metadata(path).map_err(failed)?.len();
    if size > MAPPING_MAX {
        return Err(Failure::usage(format!(
            "{shown}: larger than {MAPPING_MAX} bytes"
        )));
    }
    std::fs::read_to_string(path).map_err(failed)
}

fn since(args: &ImportArgs) -> Result<Option<i64>, Failure> {
    let Some(text) = &args.since else {
        return Ok(None);
    };
    let now_us = clock::real_us();
    match parse_time(text, now_us, &args.tz) {
        Some(Moment::At(us)) => Ok(Some(us)),
        Some(Moment::Past) => Ok(None),
        _ => Err(Failure::usage(format!(
            "--since: {text:?} is not a time such as 2026-10-01 or -30d"
        ))),
    }
}

fn zone(name: &str) -> Result<Tz, String> {
    name.parse()
        .map_err(|_| "no such time zone; write a name such as Europe/Berlin".to_owned())
}

/// A progress line, if standard error is a terminal.
struct Progress {
    is_watched: bool,
    next: Cell<u64>,
}

impl Progress {
    fn new() -> Self {
        Self {
            is_watched: io::stderr().is_terminal(),
            next: Cell::new(PROGRESS),
        }
    }

    fn show(&self, records: u64) {
        if self.is_watched && records >= self.next.get() {
            say::complain(format_args!("\rread {records} records"));
            self.next.set(records.saturating_add(PROGRESS));
        }
    }

    fn end(&self) {
        if self.is_watched && self.next.get() > PROGRESS {
            say::complain(format_args!("\r\u{1b}[K"));
        }
    }
}
