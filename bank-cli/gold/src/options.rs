//! The options of Gold's commands, the parser of a command line, and its result.
//!
//! [`OPTIONS`] defines the letters; `tools` lists the options of each command. `-h` is hours, `-?` help.

use std::ffi::OsString;

use bank_picture::figure;
use clap::{
    Arg, ArgAction, ArgMatches, Command,
    error::{ContextKind, ContextValue, ErrorKind},
};

use super::{
    request::{Condition, Request},
    tools::Tool,
};

/// An option.
struct Meaning {
    /// The long word.
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
    Whole(&'static str),
    Pairs,
}
use Takes::{Amount, Nothing, Pairs, Text, Whole};

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

/// Every option. Two options share a letter only if no command has both.
#[rustfmt::skip]
static OPTIONS: &[Meaning] = &[
    option("account", 'a', Text("ACCOUNT"), "Account, by number or name"),
    option("project", 'p', Text("PROJECT"), "Project"),
    option("user", 'u', Text("USER"), "User"),
    option("machine", 'm', Text("MACHINE"), "Machine"),
    option("allocation", 'i', Whole("ID"), "Allocation, by number"),
    option("reservation", 'r', Whole("ID"), "Reservation, by number"),
    option("quote", 'q', Text("QUOTE"), "Quote, by number or TID"),
    option("jobId", 'J', Text("JOB"), "Job, by the name of the scheduler"),
    option("job", 'j', Whole("ID"), "Job, by Gold's job number"),
    option("startTime", 's', Text("TIME"), "Start: YYYY-MM-DD[ hh:mm:ss], now, -infinity"),
    option("endTime", 'e', Text("TIME"), "End: YYYY-MM-DD[ hh:mm:ss], now, infinity"),
    option("wallDuration", 't', Text("SECONDS"), "Wall duration"),
    option("amount", 'z', Amount, "Amount"),
    option("creditLimit", 'L', Amount, "Credit limit"),
    option("description", 'd', Text("TEXT"), "Description"),
    option("hours", 'h', Nothing, "Amounts in hours: credits divided by 3600"),
    option("active", 'A', Nothing, "Active"),
    option("inactive", 'I', Nothing, "Inactive, expired"),
    option("processors", 'P', Whole("N"), "Processors"),
    option("nodes", 'N', Whole("N"), "Nodes"),
    option("memory", 'M', Text("MB"), "Memory"),
    option("disk", 'D', Text("MB"), "Disk"),
    option("qualityOfService", 'Q', Text("QOS"), "Quality of service"),
    option("queue", 'C', Text("CLASS"), "Queue (class)"),
    option("type", 'T', Text("TYPE"), "Type"),
    option("state", 'S', Text("STATE"), "State"),
    option("name", 'n', Text("NAME"), "Name"),
    option("organization", 'o', Text("ORGANIZATION"), "Organization"),
    option("phone", 'F', Text("PHONE"), "Phone number"),
    option("email", 'E', Text("ADDRESS"), "E-mail address"),
    option("callType", 'c', Text("TYPE"), "Call type: Normal, Forward or Back"),
    option("object", 'O', Text("OBJECT"), "Kind of object"),
    option("action", 'A', Text("ACTION"), "Action"),
    option("transaction", 'T', Whole("ID"), "Transaction, by number"),
    option("request", 'R', Whole("ID"), "Request, by number"),
    option("actor", 'U', Text("USER"), "User who made the change"),
    option("extension", 'X', Pairs, "Other property; repeat for more"),
    option("verbose", 'v', Nothing, "Print the changed objects too"),
    option("long", 'l', Nothing, "Print one line for each value of a list"),
    option("wide", 'w', Nothing, "Print lists on one line, with commas (default)"),
    word("show", Text("A,B"), "Columns, in this order"),
    word("raw", Nothing, "Print | between columns"),
    word("quiet", Nothing, "Print no header and no message on success"),
    word("showHidden", Nothing, "Print hidden columns too"),
    word("showSpecial", Nothing, "List special objects such as ANY too"),
    word("exact-match", Nothing, "List only rows that name the project, user and machine"),
    word("total", Nothing, "Print only the sum"),
    word("available", Nothing, "Include credit limits"),
    word("guarantee", Nothing, "Create a quote that guarantees the price"),
    word("costOnly", Nothing, "Print the price without a check of the balance"),
    word("replace", Nothing, "Replace the reservations of the job"),
    word("incremental", Nothing, "The job continues: reduce its reservation"),
    word("summarize", Nothing, "Print sums only"),
    word("fromAccount", Text("ACCOUNT"), "Source account, by number or name"),
    word("toAccount", Text("ACCOUNT"), "Target account, by number or name"),
    word("fromProject", Text("PROJECT"), "Source project"),
    word("toProject", Text("PROJECT"), "Target project"),
    word("stage", Text("STAGE"), "Last stage: Quote, Create, Reserve or Charge"),
    word("arch", Text("ARCHITECTURE"), "Architecture"),
    word("opsys", Text("SYSTEM"), "Operating system"),
    word("application", Text("APPLICATION"), "Application"),
    word("executable", Text("FILE"), "Executable"),
    word("createAccount", Text("BOOLEAN"), "Create an account for the project: True or False"),
    word("addProjects", Text("PROJECTS"), "Add projects, separated by commas; -PROJECT excludes one"),
    word("addUsers", Text("USERS"), "Add users, separated by commas; -USER adds one that is inactive or excluded"),
    word("addMachines", Text("MACHINES"), "Add machines, separated by commas; -MACHINE adds one that is inactive or excluded"),
    word("delProjects", Text("PROJECTS"), "Remove projects, separated by commas"),
    word("delUsers", Text("USERS"), "Remove users, separated by commas"),
    word("delMachines", Text("MACHINES"), "Remove machines, separated by commas"),
    word("actUsers", Text("USERS"), "Activate users, separated by commas"),
    word("actMachines", Text("MACHINES"), "Activate machines, separated by commas"),
    word("deactUsers", Text("USERS"), "Deactivate users, separated by commas"),
    word("deactMachines", Text("MACHINES"), "Deactivate machines, separated by commas"),
    word("debug", Nothing, "Print the messages to standard error"),
];

/// Options with attributes of a part of the request: `--where name=Type value=Normal`.
const PARTS: [&str; 5] = ["get", "set", "where", "option", "job"];

/// The command line of a tool.
pub fn command(tool: &Tool) -> Command {
    let mut command = Command::new(tool.name)
        .about(tool.about)
        .version(env!("CARGO_PKG_VERSION"))
        .after_help(
            "A command of Gold for the bank; `bank --help` lists all commands. --get, --set, --where, --option \
             and --job add NAME=VALUE pairs to the request. Exit codes: 0 done, 2 usage, 22 no connection, \
             31 value missing, 74 refused, 78 insufficient funds.",
        )
        .infer_long_args(true)
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
        )
        .arg(
            Arg::new("version")
                .short('V')
                .long("version")
                .action(ArgAction::Version)
                .help("Print the version"),
        );
    let has = |meaning: &&Meaning| tool.takes(meaning.word) || meaning.word == "debug";
    for meaning in OPTIONS.iter().filter(has) {
        command = command.arg(argument(meaning));
    }
    if !tool.words.is_empty() {
        command = command.arg(
            Arg::new("words")
                .value_name(tool.words)
                .num_args(0..=tool.words_max())
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
        Nothing => arg.action(ArgAction::SetTrue).overrides_with(meaning.word),
        Text(name) => valued(arg, name).overrides_with(meaning.word),
        Amount => valued(arg, "AMOUNT")
            .value_parser(figure::amount)
            .overrides_with(meaning.word),
        Whole(name) => valued(arg, name)
            .value_parser(whole)
            .overrides_with(meaning.word),
        Pairs => valued(arg, "NAME=VALUE")
            .value_parser(pair)
            .action(ArgAction::Append),
    }
}

/// A pair whose name can be an element of XML.
fn pair(text: &str) -> Result<String, String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(is_part)
    };
    match text.split_once('=') {
        Some((name, _)) if is_name(name) => Ok(text.to_owned()),
        _ => Err("not NAME=VALUE".to_owned()),
    }
}

/// A command line that was read.
#[derive(Debug, Clone)]
pub struct Given {
    tool: &'static Tool,
    matches: ArgMatches,
    /// Words without an option.
    pub(super) words: Vec<String>,
    /// Parts of the request, each with its attributes.
    parts: Vec<(String, Vec<(String, String)>)>,
}

/// Reads the words after the name of a tool.
pub fn read(
    tool: &'static Tool,
    arguments: impl IntoIterator<Item = OsString>,
) -> Result<Given, clap::Error> {
    let (words, parts) = split(arguments);
    let all = std::iter::once(OsString::from(tool.name)).chain(words);
    let matches = command(tool).try_get_matches_from(all)?;
    let found = matches.try_get_many::<String>("words").ok().flatten();
    let words = found.into_iter().flatten().cloned().collect();
    Ok(Given {
        tool,
        matches,
        words,
        parts,
    })
}

type Parts = Vec<(String, Vec<(String, String)>)>;

/// The words without the parts of the request, and these.
fn split(arguments: impl IntoIterator<Item = OsString>) -> (Vec<OsString>, Parts) {
    let mut words = Vec::new();
    let mut parts: Parts = Vec::new();
    let mut is_part = false;
    for argument in arguments {
        let text = argument.to_string_lossy();
        let name = text.strip_prefix("--").filter(|name| PARTS.contains(name));
        if let Some(name) = name {
            parts.push((name.to_owned(), Vec::new()));
            is_part = true;
            continue;
        }
        let pair = text.split_once('=').filter(|(name, _)| {
            name.starts_with(|c: char| c.is_ascii_alphabetic())
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        });
        if let (true, Some((name, value)), Some((_, pairs))) = (is_part, pair, parts.last_mut()) {
            pairs.push((name.to_owned(), value.trim_matches('"').to_owned()));
            continue;
        }
        is_part = false;
        words.push(argument);
    }
    (words, parts)
}

impl Given {
    /// Whether there are words without an option.
    pub fn has_words(&self) -> bool {
        !self.words.is_empty()
    }

    /// The name of the tool.
    pub(super) fn name(&self) -> &'static str {
        self.tool.name
    }

    /// The value of an option, by its long word.
    pub(super) fn text(&self, option: &str) -> Option<&str> {
        let value = self.matches.try_get_one::<String>(option).ok()??;
        Some(value.as_str())
    }

    /// The value of an option, or the word in its place.
    pub(super) fn value(&self, option: &str) -> Option<&str> {
        let is_word = self.tool.word == option && self.words.len() == 1;
        let word = self.words.first().filter(|_| is_word);
        self.text(option).or(word.map(String::as_str))
    }

    /// False if there are more words than the tool takes.
    pub(super) fn fits(&self) -> bool {
        let is_given = self.text(self.tool.word).is_some();
        match (self.tool.words, self.tool.word) {
            // Amounts and the words of `goldsh` are checked there.
            ("", _) | (_, "") => true,
            _ => self.words.len() <= usize::from(!is_given),
        }
    }

    /// Pairs `NAME=VALUE` of the option `-X`.
    pub(super) fn pairs(&self) -> Vec<(&str, &str)> {
        let values = self
            .matches
            .try_get_many::<String>("extension")
            .ok()
            .flatten();
        let values = values.into_iter().flatten();
        values
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
            .collect()
    }

    /// Whether an option without a value was given.
    pub(super) fn flag(&self, option: &str) -> bool {
        let flag = self.matches.try_get_one::<bool>(option).ok().flatten();
        flag.copied().unwrap_or(false)
    }

    /// An amount or a credit limit in credits; with `-h` it was given in hours.
    pub(super) fn credits(&self, text: &str) -> String {
        let hours = figure::times(text, 3600).filter(|_| self.flag("hours"));
        hours.unwrap_or_else(|| text.to_owned())
    }

    /// The name of the job and Gold's number of it. A word that is no number is the name.
    pub(super) fn job(&self) -> (Option<String>, Option<String>) {
        let name = self.text("jobId").map(str::to_owned);
        let number = self.value("job").map(str::to_owned);
        match number {
            Some(word) if name.is_none() && word.parse::<i64>().is_err() => (Some(word), None),
            number => (name, number),
        }
    }

    /// The request with the parts of `--get`, `--set`, `--where`, `--option` and `--job`.
    pub(super) fn supplemented(&self, mut request: Request) -> Request {
        for (part, pairs) in &self.parts {
            let of = |name: &str| {
                let found = pairs.iter().find(|(known, _)| known == name);
                found.map_or("", |(_, value)| value.as_str())
            };
            let (name, operator, value) = (of("name"), of("op"), of("value"));
            request = match part.as_str() {
                "get" => request.get_of(of("object"), name, operator, of("alias")),
                "set" => request.set_op(name, operator, value),
                "option" => request.option_op(name, operator, value),
                "where" => request.condition(&Condition {
                    conjunction: of("conj").to_owned(),
                    group: of("group").parse().unwrap_or(0),
                    object: of("object").to_owned(),
                    name: name.to_owned(),
                    operator: operator.to_owned(),
                    subject: of("subject").to_owned(),
                    value: value.to_owned(),
                }),
                _ => pairs
                    .iter()
                    .fold(request, |request, (name, value)| request.job(name, value)),
            };
        }
        request
    }
}

/// The first line of a message about a wrong command line, as Gold words it.
pub fn complaint(error: &clap::Error) -> Option<String> {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let option = context(ContextKind::InvalidArg).unwrap_or_default();
    let option = option.split(' ').next().unwrap_or_default();
    let option = option
        .trim_start_matches('-')
        .split('=')
        .next()
        .unwrap_or_default();
    let letter = OPTIONS
        .iter()
        .find(|meaning| meaning.word == option)
        .and_then(|meaning| meaning.letter);
    let letter = letter.map_or_else(|| option.to_owned(), String::from);
    let value = context(ContextKind::InvalidValue).unwrap_or_default();
    match error.kind() {
        ErrorKind::UnknownArgument if context(ContextKind::InvalidArg)?.starts_with('-') => {
            Some(format!("Unknown option: {option}"))
        }
        ErrorKind::InvalidValue if value.is_empty() => {
            Some(format!("Option {letter} requires an argument"))
        }
        ErrorKind::ValueValidation if option == "extension" => Some(format!(
            "Value {value:?} invalid for option {letter} (NAME=VALUE expected)"
        )),
        ErrorKind::ValueValidation => Some(format!(
            "Value {value:?} invalid for option {letter} (number expected)"
        )),
        _ => None,
    }
}
