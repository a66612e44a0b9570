//! The commands of declared kinds, made of the declaration: `bank hardware add`, `ls`, `show`, `set`, `rm`.

use bank_core::kind::{Field, Kind, Need, Type, Value, decimal, declared};
use clap::{
    Arg, ArgAction, ArgMatches, Args, FromArgMatches, Subcommand, ValueEnum as _, value_parser,
};
use std::num::ParseIntError;

use clap::builder::{NonEmptyStringValueParser, PossibleValue, PossibleValuesParser};

use super::{
    AtArgs, ImportTable, ImportTables, ImportUsers, MemberCommand, RemoveArgs, Switch, WriteArgs,
};

/// A command about records of a kind.
#[derive(Debug)]
pub(crate) struct KindCommand {
    /// The kind.
    pub(crate) kind: Kind,
    /// The action.
    pub(crate) action: Action,
}

/// An action on records of a kind.
#[derive(Debug)]
pub(crate) enum Action {
    /// Adds a record: its name, where the kind has names, and its values.
    Add(Option<String>, Vec<(Field, Given)>, WriteArgs),
    /// Lists records.
    Ls(AtArgs),
    /// Shows one record, by its number or name.
    Show(String, AtArgs),
    /// Changes a record.
    Set(String, Vec<(Field, Given)>, WriteArgs),
    /// Removes a record.
    Rm(String, RemoveArgs),
    /// `bank project members`
    Members(MemberCommand),
    /// `bank project tree`
    Tree(Option<String>, AtArgs),
    /// `bank user import`
    ImportUsers(ImportUsers),
    /// `bank mapping test`
    TestMapping(Vec<String>),
    /// `bank hardware import`
    ImportHardware(ImportTable),
    /// `bank contribution import`
    ImportContributions(ImportTables),
}

/// A value as it is typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Given {
    /// A text, a time or a number with decimals.
    Text(String),
    /// A whole number.
    Whole(i64),
    /// A flag.
    Flag(bool),
    /// A list; one empty text is an empty list.
    List(Vec<String>),
}

impl Subcommand for KindCommand {
    fn augment_subcommands(tree: clap::Command) -> clap::Command {
        let outer = declared().iter().filter(|kind| kind.within.is_none());
        outer.fold(tree, |tree, kind| tree.subcommand(command(kind, &[])))
    }

    fn augment_subcommands_for_update(tree: clap::Command) -> clap::Command {
        Self::augment_subcommands(tree)
    }

    fn has_subcommand(name: &str) -> bool {
        declared()
            .iter()
            .any(|kind| kind.within.is_none() && kind.is_command(name))
    }
}

impl FromArgMatches for KindCommand {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let missing = || clap::Error::new(clap::error::ErrorKind::MissingSubcommand);
        let (word, own) = matches.subcommand().ok_or_else(missing)?;
        let kind = declared().iter().find(|kind| kind.is_command(word));
        read(kind.ok_or_else(missing)?, &[], own)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The command of a kind, with those of the kinds below it. `site` are the kinds with fields of the site.
pub(crate) fn command(kind: &Kind, site: &[Kind]) -> clap::Command {
    let [add, set, remove, _] = &kind.help;
    let key = Arg::new("record")
        .value_name(kind.key_name().to_uppercase())
        .required(true);
    let key = match kind.key_name() {
        "id" => key.value_parser(value_parser!(i64)),
        _ => key,
    };
    let key = key.help(match kind.key_name() {
        "id" => format!("Number of the {}", kind.word),
        _ => format!("Name of the {}", kind.word),
    });
    let key = &key;
    // The options bring a text of their own, which is not that of the command.
    let action = |name: &'static str, alias, own: clap::Command, about: &str| {
        own.name(name).alias(alias).about(about.to_owned())
    };
    let new = || clap::Command::new("");
    let list = format!("List {}", kind.plural);
    let one = format!("Show one {}", kind.word);
    let actions = [
        action(
            "add",
            "create",
            WriteArgs::augment_args(added(kind, new(), key)),
            add,
        ),
        action("ls", "list", AtArgs::augment_args(new()), &list),
        action("show", "get", AtArgs::augment_args(new().arg(key)), &one),
        action(
            "set",
            "modify",
            WriteArgs::augment_args(changed(kind, new(), key)),
            set,
        ),
        action(
            "rm",
            "delete",
            RemoveArgs::augment_args(new().arg(key)),
            remove,
        ),
    ];
    let own = clap::Command::new(kind.command().to_owned());
    let own = match kind.command {
        Some(_) => own.alias(kind.word.clone()),
        None => own,
    };
    let own = match kind.alias {
        Some(alias) => own.visible_alias(alias),
        None => own,
    };
    let own = own
        .about(kind.about.clone())
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(actions);
    let below = declared().iter();
    let below = below.filter(|other| other.within == Some(kind.word.as_str()));
    below.fold(with_others(&kind.word, own), |own, other| {
        own.subcommand(command(in_force(other, site), site))
    })
}

/// A kind with the fields of the site, where it has some.
pub(crate) fn in_force<'a>(kind: &'a Kind, site: &'a [Kind]) -> &'a Kind {
    let own = site.iter().find(|own| own.word == kind.word);
    own.unwrap_or(kind)
}

/// The commands of a kind that others lack.
fn with_others(word: &str, own: clap::Command) -> clap::Command {
    let import = clap::Command::new("import");
    match word {
        "project" => own
            .subcommand(
                MemberCommand::augment_subcommands(clap::Command::new("members"))
                    .about("Members: users who may spend the project's credits")
                    .subcommand_required(true)
                    .arg_required_else_help(true),
            )
            .subcommand(
                AtArgs::augment_args(
                    clap::Command::new("tree").arg(
                        Arg::new("top")
                            .value_name("NAME")
                            .help("Only this project and those below it"),
                    ),
                )
                .about("Show projects as a tree"),
            ),
        "user" => own.subcommand(
            ImportUsers::augment_args(import)
                .about("Merge users from a file: adds and updates users, removes nothing"),
        ),
        "mapping" => own.subcommand(
            clap::Command::new("test")
                .about("Show the project and user for given names, and the deciding mapping")
                .arg(
                    Arg::new("names")
                        .value_name("FIELD=VALUE")
                        .required(true)
                        .action(ArgAction::Append)
                        .help(
                            "Fields: source, machine, user, group, account, queue, qos, namespace, \
                             attr.NAME",
                        ),
                ),
        ),
        "hardware" => own.subcommand(
            ImportTable::augment_args(import)
                .about("Import processor_type of Cluster Accountant: CSV with a header line"),
        ),
        "contribution" => own.subcommand(
            ImportTables::augment_args(import)
                .about("Import tables of Cluster Accountant, each as CSV with a header line"),
        ),
        _ => own,
    }
}

fn added(kind: &Kind, command: clap::Command, key: &Arg) -> clap::Command {
    let named = kind.key_name() == "name";
    let command = if named {
        command.arg(key.clone())
    } else {
        command
    };
    let command = kind.arguments.iter().fold(command, |command, field| {
        let own = argument(field, &in_new(field));
        command.arg(match field.of {
            Type::Flag => own
                .help(field.help.clone())
                .action(ArgAction::SetTrue)
                .value_parser(value_parser!(bool)),
            _ => own,
        })
    });
    let first = if named { 2 } else { 1 };
    let mut place = first;
    kind.fields.iter().fold(command, |command, field| {
        let arg = argument(field, &in_new(field)).required(field.need == Need::Required);
        // A new record has no value to clear.
        let arg = match field.of {
            Type::Texts(..) if !field.commas => arg.value_parser(NonEmptyStringValueParser::new()),
            _ => arg,
        };
        if !field.positional {
            return command.arg(arg);
        }
        let own = positional(field).index(place);
        place += 1;
        command.arg(own)
    })
}

fn changed(kind: &Kind, command: clap::Command, key: &Arg) -> clap::Command {
    let fields = kind.fields.iter().filter(|field| !field.fixed);
    fields.fold(command.arg(key), |command, field| {
        if field.positional && field.is_list() {
            let own = positional(field).index(2).required(false);
            return command.arg(own.help(format!("{}; they replace all", field.help)));
        }
        command.arg(argument(field, &in_set(field)))
    })
}

fn positional(field: &Field) -> Arg {
    let own = Arg::new(field.name.clone())
        .required(true)
        .help(field.help.clone());
    let own = own.value_name(field.name.to_uppercase());
    typed(field, own)
}

/// The option of a field; `more` goes behind its help.
fn argument(field: &Field, more: &str) -> Arg {
    let name = field
        .option
        .map_or_else(|| field.name.replace('_', "-"), str::to_owned);
    let own = Arg::new(field.name.clone())
        .long(name)
        .help(format!("{}{more}", field.help))
        .value_name(value_name(field));
    let own = match field.letter {
        Some(letter) => own.short(letter),
        None => own,
    };
    let own = match field.alias {
        Some(alias) => own.visible_alias(alias),
        None => own,
    };
    typed(field, own)
}

fn typed(field: &Field, own: Arg) -> Arg {
    match &field.of {
        Type::Flag => own.value_parser(flag),
        Type::Whole(..) => own.value_parser(whole).allow_negative_numbers(true),
        Type::Reference(_) if field.is_number_of_record() => own.value_parser(whole),
        Type::Decimal(..) | Type::Amount(..) | Type::Duration(..) => {
            own.allow_negative_numbers(true)
        }
        Type::Time => own.allow_hyphen_values(true),
        Type::Texts(..) | Type::References(..) => {
            let own = own.action(ArgAction::Append);
            if field.commas {
                own.value_delimiter(',')
            } else {
                own
            }
        }
        Type::Choice(words) => {
            let words = words.iter().map(PossibleValue::new);
            // No value, and the default where no value is stored for it.
            let others = ["", "default"].map(|word| PossibleValue::new(word).hide(true));
            let others = others.into_iter().filter(|_| field.need != Need::Required);
            own.ignore_case(true)
                .value_parser(PossibleValuesParser::new(words.chain(others)))
        }
        Type::Text(_) | Type::Reference(_) => own,
    }
}

/// A flag as it is typed; an empty text clears one.
fn flag(text: &str) -> Result<Given, &'static str> {
    if text.is_empty() {
        return Ok(Given::Text(String::new()));
    }
    let switch = Switch::from_str(text, true).map_err(|_| "yes or no is expected")?;
    Ok(Given::Flag(switch.into()))
}

/// A whole number as it is typed; an empty text clears one.
fn whole(text: &str) -> Result<Given, ParseIntError> {
    if text.is_empty() {
        return Ok(Given::Text(String::new()));
    }
    text.parse().map(Given::Whole)
}

fn value_name(field: &Field) -> String {
    match &field.of {
        Type::Texts(..) | Type::References(..) if field.commas => "A,B".to_owned(),
        Type::Text(_) | Type::Texts(..) => "TEXT".to_owned(),
        Type::Whole(..) => "N".to_owned(),
        Type::Decimal(..) => "NUMBER".to_owned(),
        Type::Amount(..) => "AMOUNT".to_owned(),
        Type::Flag => "YES|NO".to_owned(),
        Type::Time | Type::Duration(..) => "TIME".to_owned(),
        Type::Choice(_) => "WORD".to_owned(),
        Type::Reference(_) | Type::References(..) if field.is_number_of_record() => "N".to_owned(),
        Type::Reference(_) | Type::References(..) => "NAME".to_owned(),
    }
}

/// The rest of the help of an option of a new record.
fn in_new(field: &Field) -> String {
    let default = match &field.need {
        Need::Optional(meaning) => Some(meaning.clone()).filter(|text| !text.is_empty()),
        Need::Default(value) => default(field, value),
        Need::Required => None,
    };
    default.map_or_else(
        || repeatable(field).to_owned(),
        |text| format!("{} [default: {text}]", repeatable(field)),
    )
}

/// The rest of the help of an option of a change.
fn in_set(field: &Field) -> String {
    let Need::Optional(meaning) = &field.need else {
        return repeatable(field).to_owned();
    };
    let meaning = if meaning.is_empty() { "none" } else { meaning };
    match field.of {
        Type::Whole(1.., _) => format!("; 0 for {meaning}"),
        _ => format!("{}; '': {meaning}", repeatable(field)),
    }
}

fn repeatable(field: &Field) -> &'static str {
    match field.of {
        Type::Texts(..) | Type::References(..) if field.commas => "; replaces all",
        Type::Texts(..) | Type::References(..) => "; repeatable, replaces all",
        _ => "",
    }
}

fn default(field: &Field, value: &Value) -> Option<String> {
    match (&field.of, value) {
        (Type::Decimal(places, ..), Value::Whole(units)) => Some(decimal(*units, *places)),
        (_, Value::Whole(number)) => Some(number.to_string()),
        (_, Value::Text(text)) => Some(text.clone()),
        (_, Value::Flag(flag)) => Some(if *flag { "yes" } else { "no" }.to_owned()),
        _ => None,
    }
}

/// Reads the words of a command of a kind.
pub(crate) fn read(
    kind: &Kind,
    site: &[Kind],
    matches: &ArgMatches,
) -> Result<KindCommand, clap::Error> {
    let missing = || clap::Error::new(clap::error::ErrorKind::MissingSubcommand);
    let (name, own) = matches.subcommand().ok_or_else(missing)?;
    let key = || match kind.key_name() {
        "id" => own
            .get_one::<i64>("record")
            .map(ToString::to_string)
            .unwrap_or_default(),
        _ => own.get_one::<String>("record").cloned().unwrap_or_default(),
    };
    let action = match name {
        "add" => {
            let key = own.try_get_one::<String>("record").ok().flatten().cloned();
            let mut given = values(&kind.fields, own);
            given.extend(arguments(kind, own));
            Action::Add(key, given, WriteArgs::from_arg_matches(own)?)
        }
        "ls" => Action::Ls(AtArgs::from_arg_matches(own)?),
        "show" => Action::Show(key(), AtArgs::from_arg_matches(own)?),
        "set" => {
            let given = values(&kind.fields, own);
            Action::Set(key(), given, WriteArgs::from_arg_matches(own)?)
        }
        "rm" => Action::Rm(key(), RemoveArgs::from_arg_matches(own)?),
        "test" => {
            let names = own.get_many::<String>("names").into_iter().flatten();
            Action::TestMapping(names.cloned().collect())
        }
        "members" => Action::Members(MemberCommand::from_arg_matches(own)?),
        "tree" => Action::Tree(
            own.get_one::<String>("top").cloned(),
            AtArgs::from_arg_matches(own)?,
        ),
        "import" if kind.word == "user" => Action::ImportUsers(ImportUsers::from_arg_matches(own)?),
        "import" if kind.word == "hardware" => {
            Action::ImportHardware(ImportTable::from_arg_matches(own)?)
        }
        "import" => Action::ImportContributions(ImportTables::from_arg_matches(own)?),
        word => {
            let below = declared().iter().find(|other| other.is_command(word));
            return read(in_force(below.ok_or_else(missing)?, site), site, own);
        }
    };
    Ok(KindCommand {
        kind: kind.clone(),
        action,
    })
}

/// The values that are typed, in the order of the fields.
fn values(fields: &[Field], own: &ArgMatches) -> Vec<(Field, Given)> {
    let given = fields.iter().filter_map(|field| {
        let name = field.name.as_str();
        // A change has no fixed fields.
        own.try_contains_id(name).ok()?;
        let value = match &field.of {
            Type::Flag | Type::Whole(..) => own.get_one::<Given>(name)?.clone(),
            Type::Reference(_) if field.is_number_of_record() => {
                own.get_one::<Given>(name)?.clone()
            }
            Type::Texts(..) | Type::References(..) => {
                let all: Vec<String> = own.get_many::<String>(name)?.cloned().collect();
                // An empty text clears a list. Among others it is a mistake, which the daemon refuses.
                let clears = field.commas || all.iter().all(String::is_empty);
                let is_kept = |text: &String| !clears || !text.is_empty();
                Given::List(all.into_iter().filter(is_kept).collect())
            }
            _ => Given::Text(own.get_one::<String>(name)?.clone()),
        };
        Some((field.clone(), value))
    });
    given.collect()
}

/// The arguments of a new record. A flag has no value: it is named or not.
fn arguments(kind: &Kind, own: &ArgMatches) -> Vec<(Field, Given)> {
    let is_flag = |field: &&Field| field.of == Type::Flag;
    let named = kind.arguments.iter().filter(is_flag);
    let named = named.filter(|field| own.get_flag(&field.name));
    let flags = named.map(|field| (field.clone(), Given::Flag(true)));
    let others = kind.arguments.iter().filter(|field| !is_flag(field));
    let others: Vec<Field> = others.cloned().collect();
    flags.chain(values(&others, own)).collect()
}
