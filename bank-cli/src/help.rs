//! Help screens: the everyday commands on one screen, all commands in groups, the options of every
//! command, and examples at the head of each command's own help. A test holds the groups and the
//! examples against the command tree.

mod examples;

use std::fmt::Write as _;

use clap::{CommandFactory as _, FromArgMatches as _};

use crate::{
    cli::{Cli, HelpArgs},
    fail::Failure,
};

/// A group of commands.
struct Group {
    heading: &'static str,
    /// On the first screen.
    everyday: &'static [&'static str],
    /// In `bank help --all` too.
    more: &'static [&'static str],
}

const GROUPS: [Group; 6] = [
    Group {
        heading: "Balances and jobs",
        everyday: &["balance", "quote", "jobs", "explain", "statement"],
        more: &["lien", "journal", "query", "reserve", "charge", "batch"],
    },
    Group {
        heading: "Money",
        everyday: &["deposit", "withdraw", "transfer", "refund", "undo"],
        more: &[
            "adjust",
            "settle",
            "cycle",
            "close",
            "settlement",
            "partner",
            "request",
            "proposal",
            "approve",
            "reject",
            "limit",
        ],
    },
    Group {
        heading: "People and projects",
        everyday: &["project", "user", "account", "allocation", "machine"],
        more: &["role"],
    },
    Group {
        heading: "Prices",
        everyday: &["rate"],
        more: &["attr"],
    },
    Group {
        heading: "Usage and reports",
        everyday: &["usage", "report", "import", "export"],
        more: &[
            "collect",
            "source",
            "quarantine",
            "reconcile",
            "mapping",
            "unmapped",
            "hardware",
            "contributor",
            "contribution",
            "priority",
            "kind",
            "records",
        ],
    },
    Group {
        heading: "Operation",
        everyday: &["status", "monitor", "attention", "verify"],
        more: &[
            "what-if",
            "checkpoint",
            "clock",
            "settings",
            "key",
            "token",
            "web",
            "nami",
            "moab",
            "slurm",
            "migrate",
            "gen",
            "help",
        ],
    },
];

const TITLE: &str = "bank: the command line of the allocation bank";

const FOOTER: &str = "\
All commands: bank help --all. One command, with examples: bank COMMAND --help.
Options of every command, exit codes, times and settings: bank help options.
";

/// The help of one command. Its examples are its text before the help.
const TEMPLATE: &str = "\
{about-with-newline}
{usage-heading} {usage}

{before-help}{all-args}

Options of every command: bank help options{after-help}
";

const OPTIONS: &str = "Options of every command. Place them before or after the command.

{all-args}{after-help}
";

/// The types of fields, below the help of commands that declare them.
const FIELDS: &str = "\
Types of fields: text, number, decimal, amount, flag, time, list, words with | between them
(open|closed), or a kind that the field refers to (project, user, account, machine, ...).
NAME:TYPE! makes a field required. Text after a blank is its help.";

/// Reads the words of the command line.
pub(crate) fn parse(words: impl Iterator<Item = std::ffi::OsString>) -> Result<Cli, clap::Error> {
    let mut tree = command();
    let mut matches = tree.try_get_matches_from_mut(words)?;
    Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut tree))
}

/// The screen that `bank help` asks for.
pub(crate) fn show(requested: &HelpArgs) -> Result<String, Failure> {
    if requested.all {
        return Ok(screen(&Cli::command(), true));
    }
    let words: Vec<&str> = requested.words.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => Ok(screen(&Cli::command(), false)),
        ["options"] => Ok(options()),
        words => of_command(words),
    }
}

/// The command tree with these screens in place of the library's own.
pub(crate) fn command() -> clap::Command {
    let tree = Cli::command();
    let overview = screen(&tree, false);
    let global: Vec<clap::Id> = tree
        .get_arguments()
        .filter(|arg| arg.is_global_set())
        .map(|arg| arg.get_id().clone())
        .collect();
    // They have a screen of their own; each command's help has its own options only.
    let tree = global
        .into_iter()
        .fold(tree, |tree, id| tree.mut_arg(id, |arg| arg.hide(true)));
    with_examples(tree.override_help(overview), "")
}

/// Negative numbers are values, not options: the rule of the value refuses them.
fn with_numbers(own: clap::Command) -> clap::Command {
    own.mut_args(|arg| {
        if arg.get_action().takes_values() && !arg.is_allow_hyphen_values_set() {
            arg.allow_negative_numbers(true)
        } else {
            arg
        }
    })
}

fn with_examples(tree: clap::Command, path: &str) -> clap::Command {
    let names: Vec<String> = tree
        .get_subcommands()
        .map(|sub| sub.get_name().to_owned())
        .collect();
    names.into_iter().fold(tree, |tree, name| {
        tree.mut_subcommand(&name, |sub| described(sub, path))
    })
}

/// A command below a path, with examples at its head and below it.
pub(crate) fn described(own: clap::Command, path: &str) -> clap::Command {
    let path = format!("{path} {}", own.get_name());
    let own = match examples::of(path.trim_start()) {
        Some(lines) => own.before_help(format!("Examples:\n  {}", lines.join("\n  "))),
        None => own,
    };
    let own = match path.trim_start() {
        "kind add" | "kind set" => own.after_help(FIELDS),
        _ => own,
    };
    with_examples(
        with_numbers(own.help_template(TEMPLATE).disable_help_subcommand(true)),
        &path,
    )
}

/// The commands in their groups, each with its line from the tree.
fn screen(tree: &clap::Command, all: bool) -> String {
    let mut text = format!("{TITLE}\n\nUsage: bank [OPTIONS] COMMAND\n");
    for group in &GROUPS {
        let _ = write!(text, "\n{}:\n", group.heading);
        let more = if all { group.more } else { &[] };
        for name in group.everyday.iter().chain(more) {
            let about = tree
                .find_subcommand(name)
                .and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {name:12}  {about}");
        }
    }
    let _ = write!(text, "\n{FOOTER}");
    text
}

/// The options of every command.
fn options() -> String {
    let tree = Cli::command();
    let global = tree.get_arguments().filter(|arg| arg.is_global_set());
    let after = tree.get_after_help().cloned().unwrap_or_default();
    let mut only = clap::Command::new("bank")
        .args(global.cloned())
        .disable_help_flag(true)
        .max_term_width(100)
        .help_template(OPTIONS)
        .after_help(after);
    only.render_help().to_string()
}

/// The text that the command prints by `--help`.
fn of_command(words: &[&str]) -> Result<String, Failure> {
    let mut tree = command();
    let mut at = &tree;
    for (depth, word) in words.iter().enumerate() {
        at = at.find_subcommand(word).ok_or_else(|| {
            let path = words.get(..=depth).unwrap_or(words).join(" ");
            Failure::usage(format!(
                "no command \"bank {path}\"; bank help --all lists the commands"
            ))
        })?;
    }
    let line = ["bank"].iter().chain(words).chain(&["--help"]);
    let printed = tree.try_get_matches_from_mut(line);
    Ok(printed.map_or_else(|help| help.to_string(), |_| String::new()))
}

#[cfg(test)]
mod tests;
