//! `bank records check`: what is wrong with a file of usage records, line by line, then how many there
//! are and what they come to.

use std::{
    fmt::Write as _,
    fs::File,
    io::{self, BufRead, BufReader},
    path::Path,
};

use bank_api::exit::bank as exit;
use bank_api::records::{Summary, check};

use crate::{cli::RecordsCommand, fail::Failure};

/// Goes through the file. Findings are printed as they come; what is returned is the summary.
pub(crate) fn run(command: RecordsCommand) -> Result<String, Failure> {
    let RecordsCommand::Check { file, errors } = command;
    let failed = |e: &io::Error| Failure::usage(format!("cannot read {}: {e}", file.display()));
    let source: Box<dyn BufRead> = if file == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(BufReader::new(File::open(&file).map_err(|e| failed(&e))?))
    };
    let summary = check(source, |_, findings| {
        let mut message = String::new();
        for finding in findings.iter().filter(|f| f.is_error || !errors) {
            let word = if finding.is_error { "error" } else { "warning" };
            // Writing to a string cannot fail.
            let _ = writeln!(message, "line {}: {word}: {}", finding.line, finding.text);
        }
        if message.is_empty() {
            return Ok(());
        }
        // Where nobody reads any more the exit code still tells.
        crate::print(&message)
            .map(drop)
            .map_err(|e| io::Error::other(e.what))
    });
    let summary = summary.map_err(|e| failed(&e))?;
    let text = summary_text(&summary);
    if summary.bad == 0 {
        return Ok(text);
    }
    let noun = if summary.bad == 1 {
        "record is"
    } else {
        "records are"
    };
    let mut failure = Failure::usage(format!("{} {noun} not valid", summary.bad));
    failure.exit = exit::REFUSED;
    failure.before = Some(text);
    Err(failure)
}

fn summary_text(summary: &Summary) -> String {
    let kind = if summary.is_ur1 {
        "usage records 1.0"
    } else {
        "FILE withdrawals"
    };
    let mut text = format!("{} {kind}", summary.records);
    for (count, what) in [
        (summary.others, "other lines"),
        (summary.bad, "with errors"),
        (summary.warnings, "warnings"),
    ] {
        if count > 0 {
            let _ = write!(text, ", {count} {what}");
        }
    }
    let _ = write!(
        text,
        "\nprocessor-seconds {}\n",
        summary.processor_seconds()
    );
    if let Some(amount) = summary.amount() {
        let _ = writeln!(text, "amount {amount}");
    }
    text
}
