//! `bank batch`: commands from a file of JSON lines, many in one request.

use std::fs;
use std::io::{self, Read as _};

use bank_api::error::{Problem, row_or_internal};
use bank_api::nami;
use bank_api::v1::{
    BATCH_COMMANDS_MAX, BatchAnswer, BatchCommand, BatchDone, BatchLine, BatchLines, NewBatch,
};
use ureq::http::Method;

use crate::{
    cli::{BatchArgs, WriteArgs},
    context::Context,
    fail::Failure,
    out::{Kind, Sheet, column},
};

/// Bytes of the commands of one request: the daemon accepts 1 MiB by default.
const BYTES_MAX: usize = 900 << 10;
/// The entries of a command.
const FIELDS: [&str; 5] = ["method", "path", "key", "event_time", "body"];
/// Bytes of a file.
const FILE_MAX: u64 = 256 << 20;

pub(super) fn run(context: &Context, args: &BatchArgs) -> Result<String, Failure> {
    let lines = read(args)?;
    let pieces = pieces(&lines);
    if args.all_or_nothing && pieces.len() > 1 {
        let what = format!(
            "--all-or-nothing: {} commands are more than one request holds",
            lines.len()
        );
        let hint = format!("at most {BATCH_COMMANDS_MAX} commands and {BYTES_MAX} bytes");
        return Err(Failure::usage(what).hint(hint));
    }
    let key = crate::context::key(&args.write)?;
    let mut done = BatchLines::default();
    for (number, piece) in (1_usize..).zip(pieces) {
        let write = WriteArgs {
            // The keys of a later request must not be those of the first.
            key: Some(if number == 1 {
                key.clone()
            } else {
                format!("{key}.{number}")
            }),
            ..args.write.clone()
        };
        let batch = NewBatch {
            commands: piece.iter().map(|line| line.command.clone()).collect(),
            all_or_nothing: args.all_or_nothing,
        };
        let answers: BatchDone = context
            .send(Method::POST, &["batch"], &batch, &write)
            .map_err(|failure| interrupted(failure, &done, &key))?;
        let rows = piece.iter().zip(answers.answers);
        done.items
            .extend(rows.map(|(line, answer)| shown(line, answer)));
    }
    finished(context, args, &done)
}

/// A command with its line in the file.
struct Line {
    number: usize,
    bytes: usize,
    command: BatchCommand,
}

fn read(args: &BatchArgs) -> Result<Vec<Line>, Failure> {
    let name = args.file.display();
    let mut text = String::new();
    let input: Box<dyn io::Read> = if args.file.as_os_str() == "-" {
        Box::new(io::stdin())
    } else {
        let open = fs::File::open(&args.file);
        Box::new(open.map_err(|error| Failure::usage(format!("cannot read {name}: {error}")))?)
    };
    let size = input
        .take(FILE_MAX.saturating_add(1))
        .read_to_string(&mut text)
        .map_err(|error| Failure::usage(format!("cannot read {name}: {error}")))?;
    if u64::try_from(size).unwrap_or(u64::MAX) > FILE_MAX {
        return Err(Failure::usage(format!("{name} is larger than 256 MiB")).hint("split the file"));
    }
    let lines = (1..).zip(text.lines());
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    let lines = lines.map(|(number, line)| {
        let command = serde_json::from_str(line).map_err(|error| {
            let (column, what) = unreadable(line, &error);
            Failure::usage(format!("{name}, line {number}, column {column}: {what}"))
                .hint(r#"a line is one command: {"path": "/api/v1/deposits", "body": {…}}"#)
        })?;
        Ok(Line {
            number,
            bytes: line.len(),
            command,
        })
    });
    let lines: Vec<Line> = lines.collect::<Result<_, Failure>>()?;
    if lines.is_empty() {
        return Err(Failure::usage(format!("{name} has no commands")));
    }
    Ok(lines)
}

/// Where a line cannot be read, and why, in words of ours.
fn unreadable(line: &str, error: &serde_json::Error) -> (usize, String) {
    // The library counts bytes, people count characters.
    let bytes = line.as_bytes().get(..error.column().saturating_sub(1));
    let before = String::from_utf8_lossy(bytes.unwrap_or(line.as_bytes()));
    let column = before.chars().count().saturating_add(1);
    if error.is_eof() {
        let what = "the command is not complete: a quotation mark, a bracket or a brace is missing";
        return (line.chars().count().saturating_add(1), what.to_owned());
    }
    if error.is_syntax() {
        let rest: String = line
            .chars()
            .skip(column.saturating_sub(1))
            .take(20)
            .collect();
        return (column, format!("this is not JSON: {rest:?}"));
    }
    let value: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
    let Some(fields) = value.as_object() else {
        return (1, "a command must be an object in braces".to_owned());
    };
    let unknown = fields.keys().find(|name| !FIELDS.contains(&name.as_str()));
    let not_text = FIELDS.iter().filter(|name| **name != "body").find(|name| {
        let value = fields.get(**name);
        value.is_some_and(|value| !value.is_string())
    });
    let at = |name: &str| {
        let place = line.find(&format!("\"{name}\""));
        let before = place.and_then(|place| line.get(..place));
        before.map_or(column, |before| before.chars().count().saturating_add(1))
    };
    match (unknown, not_text) {
        (Some(name), _) => {
            let known = FIELDS.join(", ");
            (
                at(name),
                format!("{name:?} is not an entry of a command; the entries are {known}"),
            )
        }
        (None, Some(name)) => (
            at(name),
            format!("{name:?} must be text in quotation marks"),
        ),
        (None, None) if !fields.contains_key("path") => {
            (1, "the command has no \"path\"".to_owned())
        }
        (None, None) => (column, "an entry occurs twice".to_owned()),
    }
}

/// The commands of each request, in their order.
fn pieces(lines: &[Line]) -> Vec<&[Line]> {
    let mut pieces = Vec::new();
    let (mut start, mut bytes) = (0, 0_usize);
    for (place, line) in lines.iter().enumerate() {
        let is_full = place - start >= BATCH_COMMANDS_MAX || bytes + line.bytes > BYTES_MAX;
        if is_full && place > start {
            pieces.extend(lines.get(start..place));
            (start, bytes) = (place, 0);
        }
        bytes += line.bytes;
    }
    pieces.extend(lines.get(start..));
    pieces
}

fn shown(line: &Line, answer: BatchAnswer) -> BatchLine {
    let (code, result) = words(&answer);
    BatchLine {
        line: line.number,
        path: line.command.path.clone(),
        code,
        result,
        answer,
    }
}

/// The code of a refusal, and the result in words.
fn words(answer: &BatchAnswer) -> (String, String) {
    let body = answer.body.get();
    if let Ok(text) = serde_json::from_str::<String>(body) {
        let first = text.lines().next().unwrap_or_default();
        return match nami::Line::parse(first) {
            Ok(nami::Line::Refused { code, text } | nami::Line::Error { code, text }) => {
                (code, text)
            }
            _ => (String::new(), first.to_owned()),
        };
    }
    if answer.is_refused()
        && let Some(problem) = Problem::from_json(body.as_bytes())
    {
        let detail = problem.detail.unwrap_or(problem.title);
        return (problem.code, detail);
    }
    let fields: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
    let transaction = fields
        .get("transaction")
        .and_then(serde_json::Value::as_i64);
    let result = transaction.map_or_else(String::new, |number| format!("transaction {number}"));
    (String::new(), result)
}

/// The table, and a failure where a command was refused.
fn finished(context: &Context, args: &BatchArgs, done: &BatchLines) -> Result<String, Failure> {
    let columns = vec![
        column("line", "Line", Kind::Number),
        column("path", "Path", Kind::Text).wide(100),
        column("status", "Status", Kind::Number),
        column("code", "Code", Kind::Text),
        column("result", "Result", Kind::Text),
        column("replayed", "Repeat", Kind::Text).wide(120),
    ];
    let sheet = Sheet::new(columns, &done.items, "no commands");
    let table = context.form.list(done, &sheet)?;
    let mut refused = done.items.iter().filter(|row| row.answer.is_refused());
    let Some(first) = refused.next() else {
        return Ok(table);
    };
    // The cause of all, where the others only follow it.
    let own = refused
        .clone()
        .find(|row| row.code != "undone" && first.code == "undone");
    let first = own.unwrap_or(first);
    let count = refused.count().saturating_add(1);
    let what = if args.all_or_nothing {
        format!("line {}: {}; nothing was written", first.line, first.result)
    } else {
        let all = done.items.len();
        format!(
            "{count} of {all} commands were refused, the first in line {}",
            first.line
        )
    };
    let mut failure = Failure::of(row_or_internal(&first.code).bank, what);
    failure.before = Some(table);
    Err(failure)
}

/// A request without an answer: what was done, and how it goes on.
fn interrupted(mut failure: Failure, done: &BatchLines, key: &str) -> Failure {
    if let Some(last) = done.items.last() {
        failure.what = format!(
            "{}; commands up to line {} are done",
            failure.what, last.line
        );
    }
    failure.hint.get_or_insert(format!(
        "repeat with --key {key}: what was done has no second effect"
    ));
    failure
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_holds_so_many_commands_and_so_many_bytes() {
        let line = |bytes| Line {
            number: 1,
            bytes,
            command: serde_json::from_str(r#"{"path":"/api/v1/deposits"}"#).unwrap(),
        };
        let sizes = |lines: &[Line]| pieces(lines).iter().map(|p| p.len()).collect::<Vec<_>>();
        let short: Vec<Line> = (0..2001).map(|_| line(10)).collect();
        assert_eq!(sizes(&short), [1000, 1000, 1]);
        let long: Vec<Line> = (0..3).map(|_| line(500 << 10)).collect();
        assert_eq!(sizes(&long), [1, 1, 1]);
        let huge: Vec<Line> = vec![line(2 << 20), line(1)];
        assert_eq!(sizes(&huge), [1, 1]);
    }
}
