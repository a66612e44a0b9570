//! `bank priority`: priorities of groups from what they used, and a program that sets them. Without
//! `--yes` nothing is run: it says what would be.

use std::fmt::Write as _;
use std::io;
use std::process::Command;
use std::time::Duration;

use bank_api::exit::bank as exit;
use bank_api::v1::{PriorityQuery, PriorityReport, PriorityRow};
use serde_json::json;

use crate::{
    cli::PriorityArgs,
    collect::program::{self, Broken},
    context::Context,
    fail::Failure,
    out::{self, Kind, Sheet, column},
    when,
};

/// Longest time for one group, in seconds.
const TIMEOUT_MAX: u64 = 3_600;

pub(super) fn run(context: &Context, args: PriorityArgs) -> Result<String, Failure> {
    let words = args.run.as_deref().map(split).transpose()?;
    check_placeholders(words.as_deref().unwrap_or_default())?;
    let timeout = when::seconds(&args.timeout)?;
    let timeout = u64::try_from(timeout)
        .ok()
        .filter(|s| (1..=TIMEOUT_MAX).contains(s));
    let timeout = timeout.ok_or_else(|| Failure::usage("--timeout is 1 s to one hour"))?;
    let duration = args.duration.as_deref();
    let query = PriorityQuery {
        mode: Some(args.mode),
        min: Some(args.min),
        max: Some(args.max),
        duration_s: duration.map(when::seconds).transpose()?,
        count: Some(args.count),
        components: Some(args.components.join(",")).filter(|text| !text.is_empty()),
        by: Some(args.group_by),
        groups: Some(args.groups.join(",")).filter(|text| !text.is_empty()),
        machine: args.machine,
    };
    let report: PriorityReport = context.get(&["report", "priority"], &query)?;
    let mut failed = 0_usize;
    let mut rows = Vec::with_capacity(report.items.len());
    for row in &report.items {
        let command = words.as_ref().map(|words| filled(words, row));
        let mut became = None;
        if let (Some(command), true) = (&command, args.yes) {
            let done = executed(command, Duration::from_secs(timeout));
            if let Err(why) = &done {
                failed += 1;
                out::warn(&format!("{}: {why}", row.group));
            }
            became = Some(done.map_or_else(|why| why, |()| "done".to_owned()));
        }
        rows.push(json!({
            "group": row.group,
            "uses": row.uses,
            "resource": row.resource,
            "priority": row.priority,
            "command": command.map(|words| words.join(" ")),
            "result": became,
        }));
    }
    let message = priority_table(context, &report, &rows, args.run.is_some(), args.yes)?;
    if failed == 0 {
        return Ok(message);
    }
    let all = report.items.len();
    let mut failure = Failure::of(
        exit::REFUSED,
        format!("the program failed for {failed} of {all} groups"),
    );
    failure.before = Some(message);
    Err(failure)
}

fn priority_table(
    context: &Context,
    report: &PriorityReport,
    rows: &[serde_json::Value],
    has_program: bool,
    is_run: bool,
) -> Result<String, Failure> {
    let columns = vec![
        column("group", "Group", Kind::Text),
        column("uses", "Uses", Kind::Number),
        column("resource", "Resource", Kind::Amount),
        column("priority", "Priority", Kind::Number),
        column("command", "Command", Kind::Text).on_screen_if(has_program && !is_run),
        column("result", "Result", Kind::Text).on_screen_if(is_run),
    ];
    let mut sheet = Sheet::new(columns, rows, "no usage by any group");
    let since = report.since.as_deref();
    let since = since.map(|at| when::moment(at, context.zone));
    let since = match (since, report.count == "overlap") {
        (None, false) => "of all time".to_owned(),
        (None, true) => "of all time, running ones included".to_owned(),
        (Some(at), false) => format!("that began since {at}"),
        (Some(at), true) => format!("since {at}, running ones included"),
    };
    let mut remark = format!(
        "{} from {} to {}, by {} over uses {since}.",
        report.mode, report.min, report.max, report.by
    );
    if has_program && !is_run {
        remark.push_str("\nNothing was run. Add --yes to run the program.");
    }
    if is_run {
        // The last line says what came of it, for who reads no more than that.
        let groups = rows.len();
        let noun = if groups == 1 { "group" } else { "groups" };
        let done = rows.iter().filter(|row| row["result"] == "done").count();
        let _ = write!(remark, "\nThe program ran for {done} of {groups} {noun}.");
    }
    sheet.remark = remark;
    context
        .form
        .list(&json!({"report": report, "items": rows}), &sheet)
}

/// A command line as words: blanks between them, none inside quotes; a backslash outside of single
/// quotes takes the next letter as it is. No shell sees them.
fn split(text: &str) -> Result<Vec<String>, Failure> {
    let unended = || Failure::usage("--run has a quote, or a backslash, that does not end");
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => {
                let next = letters.next().ok_or_else(unended)?;
                word.get_or_insert_default().push(next);
            }
            (None, blank) if blank.is_whitespace() => words.extend(word.take()),
            (_, letter) => word.get_or_insert_default().push(letter),
        }
    }
    if quote.is_some() {
        return Err(unended());
    }
    words.extend(word);
    if words.is_empty() {
        return Err(Failure::usage("--run names no program"));
    }
    Ok(words)
}

/// The places that are filled for each group.
const PLACES: [&str; 3] = ["{group}", "{priority}", "{resource}"];

/// A slip of the fingers in the name of a place is told before anything runs.
fn check_placeholders(words: &[String]) -> Result<(), Failure> {
    for word in words {
        for (start, _) in word.match_indices('{') {
            let rest = word.get(start..).unwrap_or_default();
            let Some(place) = rest.find('}').and_then(|end| rest.get(..=end)) else {
                continue;
            };
            let name = place
                .get(1..place.len().saturating_sub(1))
                .unwrap_or_default();
            let is_name =
                !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
            if is_name && !PLACES.contains(&place) {
                return Err(Failure::usage(format!("--run has no value for {place}"))
                    .hint("{group}, {priority} and {resource} are filled"));
            }
        }
    }
    Ok(())
}

/// The words for one group: what stands in a name is never split, and never read again.
fn filled(words: &[String], row: &PriorityRow) -> Vec<String> {
    let priority = row.priority.to_string();
    let values = [
        ("{group}", row.group.as_str()),
        ("{priority}", &priority),
        ("{resource}", &row.resource),
    ];
    words.iter().map(|word| replaced(word, &values)).collect()
}

fn replaced(word: &str, values: &[(&str, &str)]) -> String {
    let (mut done, mut rest) = (String::new(), word);
    while let Some(place) = rest.find('{') {
        let (before, from) = rest.split_at(place);
        done.push_str(before);
        let known = values.iter().find(|(name, _)| from.starts_with(name));
        let (text, length) = known.map_or(("{", 1), |(name, value)| (*value, name.len()));
        done.push_str(text);
        rest = from.get(length..).unwrap_or_default();
    }
    done.push_str(rest);
    done
}

fn executed(words: &[String], timeout: Duration) -> Result<(), String> {
    let Some((name, arguments)) = words.split_first() else {
        return Err("no program".to_owned());
    };
    let mut command = Command::new(name);
    command.args(arguments);
    match program::run(&mut command, io::sink(), timeout) {
        Ok(_) => Ok(()),
        Err(Broken::Start(error)) => Err(format!("{name} cannot be started: {error}")),
        Err(Broken::TooLong) => Err(format!("not done after {} s", timeout.as_secs())),
        Err(Broken::Unwritten(error)) => Err(error.to_string()),
        Err(Broken::Failed(why)) => Err(why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_placeholder_is_an_error() {
        for (run, is_good) in [
            ("set {group} {priority}", true),
            ("set {grop}", false),
            ("set p={priority}{bogus}", false),
            ("set {} { } {A} '{\"a\":1}' {", true),
            ("set {{group}}", true),
        ] {
            assert_eq!(
                check_placeholders(&split(run).unwrap()).is_ok(),
                is_good,
                "{run}"
            );
        }
    }

    #[test]
    fn words_are_split_once_and_filled_once() {
        let words =
            split("set 'a b'{group} \"x\\\"y\" p={priority} \\{ {unknown} {resource}").unwrap();
        assert_eq!(
            words,
            [
                "set",
                "a b{group}",
                "x\"y",
                "p={priority}",
                "{",
                "{unknown}",
                "{resource}"
            ]
        );
        let row = PriorityRow {
            group: "ch em;{priority}".to_owned(),
            resource: "1.5".to_owned(),
            priority: -7,
            uses: 1,
        };
        assert_eq!(
            filled(&words, &row),
            [
                "set",
                "a bch em;{priority}",
                "x\"y",
                "p=-7",
                "{",
                "{unknown}",
                "1.5"
            ]
        );
        for text in ["", "  ", "'a", "a\\", "\""] {
            assert!(split(text).is_err(), "{text:?}");
        }
        assert_eq!(split("a ''").unwrap(), ["a", ""]);
    }

    #[test]
    fn a_program_that_fails_or_hangs_is_reported() {
        let long = Duration::from_mins(1);
        let run = |words: &[&str], time| {
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            executed(&words, time)
        };
        assert_eq!(run(&["true"], long), Ok(()));
        assert!(
            run(&["false"], long)
                .unwrap_err()
                .contains("exit status: 1")
        );
        assert!(
            run(&["/nowhere/at/all"], long)
                .unwrap_err()
                .contains("cannot be started")
        );
        let hangs = run(
            &["/bin/sh", "-c", "tail -f /dev/null"],
            Duration::from_millis(50),
        );
        assert!(hangs.is_err());
    }
}
