//! What each of Gold's commands takes: Gold's letters and words (ledger.md 5).
//!
//! `-h` is hours, help is `-?`. Which letters a command has stands in [`taken`]; what a letter
//! means stands once, in [`OPTIONS`].

use std::ffi::OsString;

use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::{cli, gold_tools::Tool};

/// What a letter or word means.
struct Meaning {
    /// The long word, as Gold spells it.
    word: &'static str,
    letter: Option<char>,
    takes: Takes,
    help: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    Text(&'static str),
    Amount,
    Whole,
    Id,
    Pairs,
}

const fn option(word: &'static str, letter: char, takes: Takes, help: &'static str) -> Meaning {
    let letter = Some(letter);
    Meaning {
        word,
        letter,
        takes,
        help,
    }
}

const fn word(word: &'static str, takes: Takes, help: &'static str) -> Meaning {
    Meaning {
        word,
        letter: None,
        takes,
        help,
    }
}

/// Every option there is.
#[rustfmt::skip]
static OPTIONS: &[Meaning] = &[
    option("account", 'a', Takes::Text("ACCOUNT"), "Account, by id or name"),
    option("project", 'p', Takes::Text("PROJECT"), "Project"),
    option("user", 'u', Takes::Text("USER"), "User"),
    option("machine", 'm', Takes::Text("MACHINE"), "Machine"),
    option("allocation", 'i', Takes::Id, "Allocation id"),
    option("reservation", 'r', Takes::Id, "Reservation id"),
    option("quote", 'q', Takes::Text("QUOTE"), "Quote id"),
    option("jobId", 'J', Takes::Text("JOB"), "Job id, as the scheduler names it"),
    option("job", 'j', Takes::Id, "Gold's own job number; this bank has none: use -J"),
    option("startTime", 's', Takes::Text("TIME"), "Start: YYYY-MM-DD[ hh:mm:ss], now, -infinity"),
    option("endTime", 'e', Takes::Text("TIME"), "End, exclusive: YYYY-MM-DD[ hh:mm:ss], now, infinity"),
    option("wallDuration", 't', Takes::Text("SECONDS"), "Wall duration"),
    option("amount", 'z', Takes::Amount, "Amount"),
    option("creditLimit", 'L', Takes::Amount, "Credit limit"),
    option("description", 'd', Takes::Text("TEXT"), "Description"),
    option("hours", 'h', Takes::Nothing, "Amounts in hours: credits divided by 3600"),
    option("active", 'A', Takes::Nothing, "Only what is active"),
    option("inactive", 'I', Takes::Nothing, "Only what is not active"),
    option("processors", 'P', Takes::Whole, "Processors"),
    option("nodes", 'N', Takes::Whole, "Nodes"),
    option("memory", 'M', Takes::Whole, "Memory in MB"),
    option("disk", 'D', Takes::Whole, "Disk in MB"),
    option("qualityOfService", 'Q', Takes::Text("QOS"), "Quality of service"),
    option("queue", 'C', Takes::Text("CLASS"), "Class (queue)"),
    option("type", 'T', Takes::Text("TYPE"), "Type of the object"),
    option("state", 'S', Takes::Text("STATE"), "State"),
    option("extension", 'X', Takes::Pairs, "Further property"),
    option("verbose", 'v', Takes::Nothing, "Say more"),
    option("long", 'l', Takes::Nothing, "One line for each of several values"),
    option("wide", 'w', Takes::Nothing, "Several values on one line, with commas (the default)"),
    word("show", Takes::Text("A,B"), "Only these columns, in this order"),
    word("raw", Takes::Nothing, "Columns separated by |, without their names"),
    word("quiet", Takes::Nothing, "No column names, no message on success"),
    word("showHidden", Takes::Nothing, "Hidden columns too"),
    word("total", Takes::Nothing, "Only the sum"),
    word("available", Takes::Nothing, "Only what is available"),
    word("guarantee", Takes::Nothing, "Freeze the price"),
    word("costOnly", Takes::Nothing, "Price only; do not look at the balance"),
    word("replace", Takes::Nothing, "Replace the job's reservation (this bank always does)"),
    word("incremental", Takes::Nothing, "The job goes on; its reservation shrinks"),
    word("summarize", Takes::Nothing, "Only sums, by what they are"),
    word("fromAccount", Takes::Text("ACCOUNT"), "Account that gives"),
    word("toAccount", Takes::Text("ACCOUNT"), "Account that receives"),
    word("fromProject", Takes::Text("PROJECT"), "Project whose account gives"),
    word("toProject", Takes::Text("PROJECT"), "Project whose account receives"),
];

const LISTED: &[&str] = &[
    "show",
    "raw",
    "quiet",
    "showHidden",
    "hours",
    "long",
    "wide",
];
const IGNORED: &[&str] = &["quiet", "verbose", "hours", "description"];
const JOB: &[&str] = &[
    "jobId",
    "project",
    "user",
    "machine",
    "processors",
    "nodes",
    "memory",
    "disk",
    "qualityOfService",
    "queue",
    "type",
    "state",
    "extension",
    "wallDuration",
    "startTime",
    "endTime",
];

/// What a tool takes.
struct Taken {
    tool: Tool,
    /// Options that it shares with others.
    shared: &'static [&'static [&'static str]],
    /// Options of its own.
    own: &'static [&'static str],
    /// What stands without a letter, and how many words at most.
    words: (&'static str, usize),
}

const fn taken(
    tool: Tool,
    shared: &'static [&'static [&'static str]],
    own: &'static [&'static str],
    words: (&'static str, usize),
) -> Taken {
    Taken {
        tool,
        shared,
        own,
        words,
    }
}

/// The options of every tool.
#[rustfmt::skip]
static TAKEN: &[Taken] = &[
    taken(Tool::Balance, &[LISTED],
        &["account", "project", "user", "machine", "total", "available"], ("ACCOUNT", 1)),
    taken(Tool::MyBalance, &[LISTED], &["total", "available"], ("", 0)),
    taken(Tool::Projects, &[LISTED], &["project", "active", "inactive"], ("PROJECT", 1)),
    taken(Tool::Accounts, &[LISTED],
        &["account", "project", "user", "machine", "active", "inactive"], ("ACCOUNT", 1)),
    taken(Tool::Allocations, &[LISTED],
        &["allocation", "account", "project", "active", "inactive"], ("ALLOCATION", 1)),
    taken(Tool::Reservations, &[LISTED],
        &["reservation", "jobId", "project", "user", "machine", "active", "inactive"],
        ("RESERVATION", 1)),
    taken(Tool::Deposit, &[IGNORED],
        &["account", "project", "allocation", "startTime", "endTime", "amount", "creditLimit"],
        ("ACCOUNT] [AMOUNT", 2)),
    taken(Tool::Withdraw, &[IGNORED],
        &["account", "project", "allocation", "amount"], ("ACCOUNT] [AMOUNT", 2)),
    taken(Tool::Transfer, &[IGNORED],
        &["fromAccount", "toAccount", "fromProject", "toProject", "allocation", "amount"],
        ("AMOUNT", 1)),
    taken(Tool::Refund, &[IGNORED],
        &["jobId", "job", "account", "machine", "type", "amount"], ("JOB", 1)),
    taken(Tool::Quote, &[IGNORED, JOB], &["guarantee", "costOnly"], ("", 0)),
    taken(Tool::Reserve, &[IGNORED, JOB], &["quote", "replace"], ("JOB", 1)),
    taken(Tool::Charge, &[IGNORED, JOB],
        &["quote", "reservation", "job", "amount", "incremental"], ("JOB", 1)),
    taken(Tool::Statement, &[],
        &["account", "project", "user", "machine", "startTime", "endTime", "hours", "summarize"],
        ("", 0)),
    taken(Tool::Usage, &[],
        &["project", "user", "machine", "startTime", "endTime", "hours", "show", "raw", "quiet"],
        ("PROJECT", 1)),
];

/// The command line of a tool.
pub(super) fn command(tool: Tool) -> Command {
    let own = TAKEN.iter().filter(|taken| taken.tool == tool);
    let words: Vec<&str> = own
        .clone()
        .flat_map(|taken| taken.shared.iter().copied().chain([taken.own]).flatten())
        .copied()
        .collect();
    let (positional, most) = own.map(|taken| taken.words).next().unwrap_or_default();
    let mut command = Command::new(tool.name())
        .about(about(tool))
        .after_help(
            "Gold's name for the bank; `bank --help` is the whole of it. Exit codes: 0 done, \
             2 usage, 22 no connection, 31 bad request, 74 refused, 78 insufficient funds.",
        )
        .disable_help_flag(true)
        .disable_version_flag(true)
        .max_term_width(100)
        .arg(
            Arg::new("help")
                .short('?')
                .long("help")
                .visible_alias("man")
                .action(ArgAction::Help)
                .help("Print help"),
        );
    for meaning in OPTIONS
        .iter()
        .filter(|meaning| words.contains(&meaning.word))
    {
        command = command.arg(argument(meaning));
    }
    if most > 0 {
        command = command.arg(
            Arg::new("words")
                .value_name(positional)
                .num_args(0..=most)
                .allow_negative_numbers(true),
        );
    }
    command
}

fn argument(meaning: &Meaning) -> Arg {
    let mut arg = Arg::new(meaning.word).long(meaning.word).help(meaning.help);
    if let Some(letter) = meaning.letter {
        arg = arg.short(letter);
    }
    let whole = |text: &str| match text.parse::<i64>() {
        Ok(_) => Ok(text.to_owned()),
        Err(_) => Err("not a whole number".to_owned()),
    };
    let valued = |arg: Arg, name| arg.value_name(name).allow_hyphen_values(true);
    match meaning.takes {
        Takes::Nothing => arg.action(ArgAction::SetTrue),
        Takes::Text(name) => valued(arg, name),
        Takes::Amount => valued(arg, "AMOUNT").value_parser(cli::value::amount),
        Takes::Whole => valued(arg, "N").value_parser(whole),
        Takes::Id => valued(arg, "ID").value_parser(whole),
        Takes::Pairs => valued(arg, "NAME=VALUE").action(ArgAction::Append),
    }
}

fn about(tool: Tool) -> &'static str {
    match tool {
        Tool::Balance => "Show what accounts have, hold and may still spend",
        Tool::MyBalance => "Show what the caller may spend",
        Tool::Deposit => "Put money into an account",
        Tool::Withdraw => "Take money out of an account",
        Tool::Transfer => "Move money from one account to another",
        Tool::Refund => "Give back what a job was charged",
        Tool::Quote => "Price a job",
        Tool::Reserve => "Hold money for a job",
        Tool::Charge => "Bill a job",
        Tool::Projects => "List projects",
        Tool::Accounts => "List accounts",
        Tool::Allocations => "List allocations",
        Tool::Reservations => "List reservations",
        Tool::Statement => "Show what came and went on accounts",
        Tool::Usage => "Show what users were charged, net of refunds",
    }
}

/// What was given.
#[derive(Debug, Clone)]
pub(super) struct Given(ArgMatches);

/// Reads the words after a tool's name.
pub(super) fn read(
    tool: Tool,
    arguments: impl IntoIterator<Item = OsString>,
) -> Result<Given, clap::Error> {
    let name = OsString::from(tool.name());
    let words = std::iter::once(name).chain(arguments);
    command(tool).try_get_matches_from(words).map(Given)
}

impl Given {
    /// The value of an option, by its long word.
    pub(super) fn text(&self, word: &str) -> Option<&str> {
        let value = self.0.try_get_one::<String>(word).ok()??;
        Some(value.as_str())
    }

    /// [`Self::text`] of its own.
    pub(super) fn owned(&self, word: &str) -> Option<String> {
        self.text(word).map(str::to_owned)
    }

    /// A whole number, where the option takes one.
    pub(super) fn whole(&self, word: &str) -> Option<i64> {
        self.text(word)?.parse().ok()
    }

    /// Every value of an option that may stand several times, or of what stands without a letter.
    pub(super) fn all(&self, word: &str) -> Vec<&str> {
        let values = self.0.try_get_many::<String>(word).ok().flatten();
        values.into_iter().flatten().map(String::as_str).collect()
    }

    /// Whether an option that takes nothing was given.
    pub(super) fn flag(&self, word: &str) -> bool {
        let flag = self.0.try_get_one::<bool>(word).ok().flatten();
        flag.copied().unwrap_or(false)
    }
}
