//! Values that the daemon refuses, with the option or argument that they were typed for: the same form as that of
//! values that the program itself refuses.

use std::ffi::OsString;

use bank_api::error::Problem;
use clap::{ArgMatches, Command, parser::ValueSource};

use crate::{fail::Failure, site};

/// An option or argument of the command line with its value.
struct Typed {
    id: String,
    /// As in the help, such as `--state <WORD>`.
    label: String,
    value: String,
}

/// Fields of requests whose option has another name.
const OTHER_NAMES: &[(&str, &[&str])] = &[
    ("credit_limit", &["limit"]),
    ("days", &["within"]),
    ("duration", &["wall"]),
    ("duration_s", &["duration", "wall"]),
    ("effective", &["at"]),
    ("end", &["until", "to"]),
    ("from", &["start", "since"]),
    ("roles", &["role"]),
    ("start", &["from", "since"]),
    ("wall_s", &["wall"]),
];

/// The failure with the options and values that it is about, if the words of the command line have them.
pub(crate) fn with_values(mut failure: Failure, words: &[OsString]) -> Failure {
    if let Some(what) = failure
        .problem
        .as_ref()
        .and_then(|problem| in_words(problem, &failure.what, words))
    {
        failure.what = what;
    }
    failure
}

fn in_words(problem: &Problem, what: &str, words: &[OsString]) -> Option<String> {
    let detail = problem.detail.as_deref()?;
    if !CODES.contains(&problem.code.as_str()) {
        return None;
    }
    let (command, matches) = site::typed(words)?;
    let (command, matches) = innermost(&command, &matches);
    match problem.code.as_str() {
        "bad_value" => {
            let (field, expected) = detail.split_once(": expected ")?;
            of_field(field, expected, command, matches)
        }
        "missing_field" => {
            let fields = detail.strip_suffix(" is missing")?;
            let labels: Option<Vec<String>> = fields
                .split(" or ")
                .map(|field| label(field, command))
                .collect();
            Some(format!("{} is missing", labels?.join(" or ")))
        }
        code => {
            let mut typed = typed(command, matches);
            let is_quoted = |typed: &&Typed| detail.contains(&format!("{:?}", typed.value));
            if let Some(Typed { label, .. }) = typed.iter().find(is_quoted) {
                return Some(format!("{what} (for '{label}')"));
            }
            typed.retain(|typed| is_of(code, detail, typed));
            let quoted = |typed: &Typed| format!("'{}' for '{}'", typed.value, typed.label);
            let all: Vec<String> = typed.iter().map(quoted).collect();
            (!all.is_empty()).then(|| format!("{what}: {}", all.join(", ")))
        }
    }
}

/// The codes of refused values.
const CODES: [&str; 11] = [
    "amount_too_large",
    "bad_amount",
    "bad_amount_syntax",
    "bad_duration",
    "bad_rate",
    "bad_value",
    "bad_window",
    "missing_field",
    "negative_charge",
    "too_many_decimals",
    "window_in_past",
];

/// Whether a refusal without a field is about this value.
fn is_of(code: &str, detail: &str, typed: &Typed) -> bool {
    let is_number = |text: &str| text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let is_negative = typed.value.strip_prefix('-').is_some_and(is_number);
    let id = typed.id.as_str();
    match code {
        "bad_amount" if detail.contains("limit") => is_negative,
        "bad_amount" => id == "amount",
        "bad_duration" => ["duration", "wall", "grace"].contains(&id),
        "bad_rate" => id == "words" || id == "rate",
        "bad_window" => ["start", "end", "from", "since", "to", "until"].contains(&id),
        "negative_charge" => is_negative,
        "window_in_past" => ["end", "until"].contains(&id),
        _ => false,
    }
}

/// A refused value of a field in the form of values that the program refuses.
fn of_field(
    field: &str,
    expected: &str,
    command: &Command,
    matches: &ArgMatches,
) -> Option<String> {
    let other = OTHER_NAMES.iter().find(|(name, _)| *name == field);
    let names = [field]
        .into_iter()
        .chain(other.map_or(&[][..], |(_, names)| names).iter().copied());
    let names: Vec<String> = names.map(|name| name.replace('-', "_")).collect();
    let found = typed(command, matches);
    let given = names
        .iter()
        .find_map(|name| found.iter().find(|typed| typed.id == *name));
    if let Some(Typed { label, value, .. }) = given {
        let expected = expected
            .strip_suffix(&format!(", not {value:?}"))
            .unwrap_or(expected);
        return Some(format!(
            "invalid value '{value}' for '{label}': expected {expected}"
        ));
    }
    let label = names.iter().find_map(|name| label(name, command))?;
    Some(format!("{label}: expected {expected}"))
}

/// The option or argument of a field, as in the help.
fn label(field: &str, command: &Command) -> Option<String> {
    let id = field.replace('-', "_");
    let mut all = command.get_arguments();
    let own = all.find(|arg| arg.get_id().as_str() == id && !arg.is_hide_set())?;
    Some(own.to_string())
}

/// The options and arguments of the command line that have a value.
fn typed(command: &Command, matches: &ArgMatches) -> Vec<Typed> {
    let arguments = command
        .get_arguments()
        .filter(|arg| arg.get_action().takes_values());
    let of = |arg: &clap::Arg| {
        let id = arg.get_id().as_str();
        let raw = matches.try_get_raw(id).ok().flatten()?;
        if matches.value_source(id) != Some(ValueSource::CommandLine) {
            return None;
        }
        let values: Vec<String> = raw
            .map(|value| value.to_string_lossy().into_owned())
            .collect();
        Some(Typed {
            id: id.to_owned(),
            label: arg.to_string(),
            value: values.join(if arg.is_positional() { " " } else { "," }),
        })
    };
    arguments.filter_map(of).collect()
}

/// The command below all others that was typed.
fn innermost<'a>(
    mut command: &'a Command,
    mut matches: &'a ArgMatches,
) -> (&'a Command, &'a ArgMatches) {
    while let Some((name, below)) = matches.subcommand() {
        let Some(own) = command.find_subcommand(name) else {
            break;
        };
        (command, matches) = (own, below);
    }
    (command, matches)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_have_the_options_and_values_of_the_command_line() {
        for (line, code, detail, expected) in [
            (
                "jobs --state lala",
                "bad_value",
                "state: expected open or closed",
                "invalid value 'lala' for '--state <",
            ),
            (
                "reserve j -A chem -u amy --procs 1 --wall 99999999999",
                "bad_duration",
                "a duration is whole seconds from 0 to ten years",
                "ten years: '99999999999' for '--wall <",
            ),
            (
                "reserve j -A chem -u amy --procs -1 --wall 1",
                "negative_charge",
                "usage cannot be below zero",
                "below zero: '-1' for '--procs <",
            ),
            (
                "deposit chem 5 --start 2027-02-01 --end 2027-01-01",
                "bad_window",
                "the start of a window must be before its end",
                "before its end: '2027-02-01' for '--start <TIME>', '2027-01-01' for '--end <TIME>'",
            ),
            (
                "deposit chem 5.12345",
                "too_many_decimals",
                "this bank keeps 3 decimals: \"5.12345\"",
                "\"5.12345\" (for '<AMOUNT>')",
            ),
            (
                "account add q --share 10",
                "bad_value",
                "parent: expected an account above",
                "--parent <",
            ),
            (
                "limit set amy",
                "missing_field",
                "per_operation or per_day is missing",
                "--per-operation <",
            ),
            (
                "deposit chem 5",
                "not_found",
                "no account \"chem\"",
                "no account \"chem\"",
            ),
        ] {
            let words: Vec<OsString> = ["bank"]
                .into_iter()
                .chain(line.split(' '))
                .map(OsString::from)
                .collect();
            let failure = Failure::problem(Problem::new(code, detail));
            let what = with_values(failure, &words).what;
            assert!(what.contains(expected), "{line}: {what}");
        }
    }
}
