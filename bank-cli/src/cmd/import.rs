//! `bank import`: usage files of any format into the bank. The daemon reads them; here they are
//! found, named and sent, and what it said is shown.

mod jsonl;
mod progress;

use std::fs::File;
use std::io::{self, IsTerminal as _, Read};
use std::path::{Path, PathBuf};

use bank_api::text;
use bank_api::v1::{ImportDone, ReadOptions};

use self::progress::Progress;
use crate::{
    cli::{ImportArgs, ReadArgs},
    context::Context,
    fail::Failure,
    out,
    upload::{self, Upload},
};
use bank_files::folder::Listed;

/// The largest mapping file, in bytes; the daemon takes 1 MiB with all that is around it.
const MAPPING_MAX: u64 = 512 << 10;
/// How often an import begins again after the daemon has lost it.
const RESTARTS: u32 = 5;

pub(super) fn run(context: &Context, args: &ImportArgs) -> Result<String, Failure> {
    if args.kind == "jsonl" {
        only_for_files(args)?;
        return jsonl::run(context, args);
    }
    if args.write.key.is_some() {
        return Err(Failure::usage("--key is for `bank import jsonl`")
            .hint("a repeat of an import changes nothing in any case"));
    }
    let files = files(&args.files)?;
    let upload = Upload {
        source: source(args),
        format: args.kind.clone(),
        machine: args.machine.clone(),
        options: options(&args.kind, &args.read)?,
        since: since(context, args)?,
        days: args.days,
        dry_run: args.write.dry_run,
        strict: args.strict,
        no_raw: args.no_raw,
    };
    // Pipes and other special files can be read only once.
    let is_stream = files.iter().any(|file| !file.is_file());
    for _ in 0..RESTARTS {
        match sent(context, &upload, &files) {
            Err(failure) if upload::is_gone(&failure) && !is_stream => {
                out::warn(
                    "the import is gone, probably because the daemon was restarted: it begins \
                     again; nothing counts twice",
                );
            }
            done => return outcome(context, &done.map_err(again)?),
        }
    }
    outcome(context, &sent(context, &upload, &files).map_err(again)?)
}

/// Sends the files from their beginning, with a line of progress where somebody watches.
fn sent(context: &Context, upload: &Upload, files: &[PathBuf]) -> Result<ImportDone, Failure> {
    let inputs = files.iter().map(|file| {
        let input: Box<dyn Read> = Box::new(Input::of(file));
        (file.display().to_string(), input)
    });
    if !io::stderr().is_terminal() {
        return upload::send(context, upload, inputs);
    }
    let mut progress = Progress::new(total(files));
    let done = upload::send_shown(context, upload, inputs, &mut |sent| progress.show(sent));
    progress.end();
    done
}

/// An import that the daemon no longer has, with the command that runs it again.
fn again(failure: Failure) -> Failure {
    if !upload::is_gone(&failure) {
        return failure;
    }
    let words: Vec<String> = std::env::args().map(|word| quoted(&word)).collect();
    let command = words.join(" ");
    failure.hint(format!("run it again, nothing counts twice: {command}"))
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Prints what an import came to.
fn outcome(context: &Context, done: &ImportDone) -> Result<String, Failure> {
    let message = if context.is_json() {
        // Exact numbers as they came, which may be larger than any machine word.
        format!("{}\n", done.summary.get())
    } else {
        done.said.clone()
    };
    if done.ok {
        return Ok(message);
    }
    let rejected = done.rejected;
    let mut failure = Failure::of(
        bank_api::exit::bank::REFUSED,
        format!("{} could not be read", text::counted(rejected, "record")),
    );
    failure = failure.hint(format!(
        "`bank quarantine ls --source {}` lists them",
        done.source
    ));
    failure.before = Some(message);
    Err(failure)
}

/// What `jsonl` has no use for is a mistake.
fn only_for_files(args: &ImportArgs) -> Result<(), Failure> {
    let read = &args.read;
    let given = [
        (args.source.is_some(), "--source"),
        (args.machine.is_some(), "--machine"),
        (args.since.is_some(), "--since"),
        (args.days, "--days"),
        (args.no_raw, "--no-raw"),
        (read.layout.is_some(), "--layout"),
        (!read.columns.is_empty(), "--columns"),
        (read.delimiter.is_some(), "--delimiter"),
        (read.tz.is_some(), "--tz"),
        (read.mapping.is_some(), "--mapping"),
        (read.gpus_per_slot, "--gpus-per-slot"),
    ];
    match given.iter().find(|(is_given, _)| *is_given) {
        Some((_, option)) => Err(Failure::usage(format!("{option} is not for jsonl"))
            .hint("a line of jsonl names its source, machine and figures itself")),
        None => Ok(()),
    }
}

/// The collector: as given, else by the format and the machine, as `bankd import` has it. The
/// host says nothing here: the same file from two hosts must be the same usage.
fn source(args: &ImportArgs) -> String {
    match (&args.source, &args.machine) {
        (Some(source), _) => source.clone(),
        (None, Some(machine)) => format!("{}:{machine}", args.kind),
        (None, None) => args.kind.clone(),
    }
}

fn since(context: &Context, args: &ImportArgs) -> Result<Option<String>, Failure> {
    let since = context.time(args.since.as_ref())?;
    match since.as_deref() {
        Some("infinity") => Err(Failure::usage("--since: nothing ends after that")),
        Some("-infinity") => Ok(None),
        _ => Ok(since),
    }
}

/// How files are read, with the text of the mapping.
pub(super) fn options(format: &str, args: &ReadArgs) -> Result<ReadOptions, Failure> {
    let mapping = args.mapping.as_deref().map(mapping).transpose()?;
    if mapping.is_some() && format != "csv" {
        return Err(Failure::usage(format!(
            "--mapping: {format} has none, only csv"
        )));
    }
    Ok(ReadOptions {
        layout: args.layout.clone(),
        columns: args.columns.clone(),
        delimiter: args.delimiter.clone(),
        tz: args.tz.clone(),
        mapping,
        gpus_per_slot: args.gpus_per_slot,
    })
}

fn mapping(path: &Path) -> Result<String, Failure> {
    let failed =
        |error: io::Error| Failure::usage(format!("cannot read {}: {error}", path.display()));
    let mut text = String::new();
    let file = File::open(path).map_err(failed)?;
    let read = file.take(MAPPING_MAX + 1).read_to_string(&mut text);
    let read = read.map_err(failed)?;
    if u64::try_from(read).unwrap_or(u64::MAX) > MAPPING_MAX {
        return Err(Failure::usage(format!(
            "{}: larger than {MAPPING_MAX} bytes",
            path.display()
        )));
    }
    Ok(text)
}

/// The files that the arguments stand for: of a folder everything below it, by the names of the files,
/// for those of snapshots are their times, in whichever folder they lie.
fn files(arguments: &[String]) -> Result<Vec<PathBuf>, Failure> {
    let mut all = Vec::new();
    for argument in arguments {
        let path = Path::new(argument);
        let failed =
            |error: io::Error| Failure::usage(format!("cannot read {}: {error}", path.display()));
        if argument != "-" && path.metadata().map_err(failed)?.is_dir() {
            let mut listed = Listed::below(path).map_err(failed)?;
            if let Some(remark) = listed.remark() {
                out::warn(&remark);
            }
            all.append(&mut listed.files);
        } else {
            all.push(path.to_owned());
        }
    }
    Ok(all)
}

/// Bytes of all files, where all of them have a length.
fn total(files: &[PathBuf]) -> Option<u64> {
    let length = |file: &PathBuf| {
        let about = std::fs::metadata(file).ok()?;
        about.is_file().then_some(about.len())
    };
    files.iter().map(length).sum()
}

/// A file that is opened when it is its turn, and closed at its end.
enum Input {
    Waiting(PathBuf),
    Open(Box<dyn Read>),
}

impl Input {
    fn of(path: &Path) -> Self {
        Self::Waiting(path.to_owned())
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Self::Waiting(path) = self {
            let input: Box<dyn Read> = if path == Path::new("-") {
                Box::new(io::stdin())
            } else {
                Box::new(File::open(path)?)
            };
            *self = Self::Open(input);
        }
        match self {
            Self::Open(input) => input.read(buffer),
            Self::Waiting(_) => Ok(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_read_by_the_names_of_its_files() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b/1", "a/2", "a/c/0", "3"] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, name).unwrap();
        }
        let arguments = [folder.path().to_str().unwrap().to_owned()];
        let found = files(&arguments).unwrap();
        let names: Vec<_> = found.iter().map(|f| f.file_name().unwrap()).collect();
        assert_eq!(names, ["0", "1", "2", "3"]);
        assert_eq!(total(&found), Some(3 + 3 + 5 + 1));
        let with_stdin = [found, vec![PathBuf::from("-")]].concat();
        assert_eq!(total(&with_stdin), None);
        let missing = files(&["/nowhere/at/all".to_owned()]).unwrap_err();
        assert_eq!(missing.exit, 2);
    }
}
