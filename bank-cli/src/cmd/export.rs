//! `bank export`: the lines of the record files again, for any span of the past. Page by page, so that a
//! long past needs little memory.

use std::{
    fs::{self, File},
    io::{self, BufWriter, ErrorKind, Write},
    path::{Path, PathBuf},
};

use bank_api::v1::{List, RecordLine, RecordQuery, Truth};

use super::Context;
use crate::{
    cli::{ExportCommand, ExportFile, ExportUr1, SpanArgs},
    fail::Failure,
    out,
};

/// Records that the daemon looks at for one page.
const PAGE: u32 = 500;
/// What a document of usage records begins and ends with.
const DOCUMENT: (&str, &str) = (
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
     <UsageRecords xmlns=\"http://schema.ogf.org/urf/2003/09/urf\">\n",
    "</UsageRecords>\n",
);

pub(super) fn run(context: &Context, command: ExportCommand) -> Result<String, Failure> {
    let (span, query, frame) = match command {
        ExportCommand::File(args) => of_file(args),
        ExportCommand::Ur1(args) => of_ur1(args),
    };
    let query = RecordQuery {
        from: context.time(span.from.as_ref())?,
        to: context.time(span.to.as_ref())?,
        machine: span.machine,
        records: span.records,
        limit: Some(PAGE),
        ..query
    };
    let Some(path) = span.output else {
        let mut output = io::stdout().lock();
        let written = write(context, query, frame, &mut output)?;
        return match written.and_then(|_| output.flush()) {
            // Nobody reads any more, which is no failure (ux.md 2.2).
            Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(String::new()),
            Err(e) => Err(cannot("standard output", &e)),
            Ok(()) => Ok(String::new()),
        };
    };
    let count = into_file(context, query, frame, &path)?;
    let noun = if count == 1 { "record" } else { "records" };
    Ok(format!("{count} {noun} in {}\n", path.display()))
}

fn of_file(args: ExportFile) -> (SpanArgs, RecordQuery, (&'static str, &'static str)) {
    let query = RecordQuery {
        format: args.sink.is_none().then(|| "file".to_owned()),
        sink: args.sink,
        dialect: args.dialect.map(|dialect| dialect.word().to_owned()),
        interim: args.interim.map(Truth::from),
        extended: args.extended.map(Truth::from),
        escape: args.escape.map(|escape| escape.word().to_owned()),
        blank_account: args.blank_account,
        blank_user: args.blank_user,
        ..RecordQuery::default()
    };
    (args.span, query, ("", ""))
}

fn of_ur1(args: ExportUr1) -> (SpanArgs, RecordQuery, (&'static str, &'static str)) {
    let query = RecordQuery {
        format: args.sink.is_none().then(|| "ur1".to_owned()),
        sink: args.sink,
        adjustments: args.adjustments.map(Truth::from),
        ..RecordQuery::default()
    };
    let frame = if args.document { DOCUMENT } else { ("", "") };
    (args.span, query, frame)
}

/// Writes every line; the outer error is the daemon's, the inner one that of the output.
fn write(
    context: &Context,
    mut query: RecordQuery,
    frame: (&str, &str),
    output: &mut impl Write,
) -> Result<io::Result<u64>, Failure> {
    let mut count = 0;
    let mut begun = false;
    loop {
        let page: List<RecordLine> = context.get(&["records"], &query)?;
        // Nothing is written before the daemon has said yes.
        if !begun {
            begun = true;
            if let Err(e) = output.write_all(frame.0.as_bytes()) {
                return Ok(Err(e));
            }
        }
        for item in page.items {
            let Some(mut line) = item.line else {
                let key = item.rejected.unwrap_or_default();
                out::warn(&format!(
                    "record {} has no line: its {key} would be escaped",
                    item.record
                ));
                continue;
            };
            line.push('\n');
            if let Err(e) = output.write_all(line.as_bytes()) {
                return Ok(Err(e));
            }
            count += 1;
        }
        match page.next {
            Some(next) => query.after = Some(next),
            None => return Ok(output.write_all(frame.1.as_bytes()).map(|()| count)),
        }
    }
}

/// Into a file beside the one that is wanted, which takes its name when it is complete and on the
/// disk: what was there before stays whole until then.
fn into_file(
    context: &Context,
    query: RecordQuery,
    frame: (&str, &str),
    path: &Path,
) -> Result<u64, Failure> {
    let beside = beside(path)?;
    let made = (|| {
        let failed = |e: &io::Error| cannot(&beside.display().to_string(), e);
        let file = File::create_new(&beside).map_err(|e| failed(&e))?;
        let mut output = BufWriter::new(file);
        let count = write(context, query, frame, &mut output)?.map_err(|e| failed(&e))?;
        let file = output.into_inner().map_err(|e| failed(e.error()))?;
        file.sync_all().map_err(|e| failed(&e))?;
        fs::rename(&beside, path).map_err(|e| cannot(&path.display().to_string(), &e))?;
        Ok(count)
    })();
    if made.is_err() {
        // What is left of it is of no use to anybody.
        let _ = fs::remove_file(&beside);
    }
    made
}

/// `.NAME.PROCESS` in the same directory. A device or a directory must not be replaced by a file.
fn beside(path: &Path) -> Result<PathBuf, Failure> {
    let name = path
        .file_name()
        .filter(|_| path.is_file() || !path.exists());
    let name = name.ok_or_else(|| {
        Failure::usage(format!("{} is no regular file", path.display()))
            .hint("without -o the records go to standard output")
    })?;
    let name = format!(".{}.{}", name.to_string_lossy(), std::process::id());
    Ok(path.with_file_name(name))
}

fn cannot(what: &str, error: &io::Error) -> Failure {
    Failure::usage(format!("cannot write {what}: {error}"))
}
