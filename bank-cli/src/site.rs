//! Commands of kinds that the site added, and options for its fields. They are not in the program: where it
//! cannot read the words of the command line, or the help of a kind is requested, it fetches the kinds from the
//! daemon and reads the words again.

use std::ffi::OsString;

use bank_api::v1::List;
use bank_core::kind::{Key, Kind, Record, Value, declared, site};
use clap::error::ErrorKind;
use clap::{CommandFactory as _, FromArgMatches as _};
use serde_json::{Map, Value as Json};

use crate::{
    cli::{self, Cli, Global},
    client, config, help,
};

/// Reads the words of the command line.
pub(crate) fn parse(words: &[OsString]) -> Result<Cli, clap::Error> {
    let error = match help::parse(words.iter().cloned()) {
        Ok(cli) => return Ok(cli),
        Err(error) => error,
    };
    if !may_be_of_site(&error, words) {
        return Err(error);
    }
    let kinds = fetch(words).unwrap_or_default();
    if kinds.is_empty() {
        return Err(error);
    }
    read(words, &kinds)
}

/// Whether the error can be about a kind, or a field, of the site.
fn may_be_of_site(error: &clap::Error, words: &[OsString]) -> bool {
    let is_declared = |word: &OsString| {
        let word = word.to_str().unwrap_or_default();
        declared().iter().any(|kind| kind.is_command(word))
    };
    match error.kind() {
        ErrorKind::InvalidSubcommand => true,
        ErrorKind::UnknownArgument | ErrorKind::DisplayHelp => words.iter().any(is_declared),
        _ => false,
    }
}

/// The kinds and fields of the site. None where the daemon cannot be asked.
fn fetch(words: &[OsString]) -> Option<Vec<Kind>> {
    let mut tree = Cli::command()
        .ignore_errors(true)
        .allow_external_subcommands(true);
    let asked = words
        .iter()
        .filter(|word| *word != "--help" && *word != "-h");
    let matches = tree.try_get_matches_from_mut(asked).ok()?;
    let global = Global::from_arg_matches(&matches).ok()?;
    let client = client::for_help(&config::load(&global).ok()?).ok()?;
    let all: List<Map<String, Json>> = client.all(&["kinds"], &()).ok()?;
    Some(all.items.iter().filter_map(kind_of).collect())
}

/// The kind that a record of the kind `kind` declares.
pub(crate) fn kind_of(json: &Map<String, Json>) -> Option<Kind> {
    let name = json.get("name")?.as_str()?;
    let mut record = Record::new(site::WORD, Key::Name(name.to_owned()));
    for (field, value) in json {
        record.set(
            field,
            match value {
                Json::String(text) => Value::Text(text.clone()),
                Json::Array(list) => {
                    let texts = list.iter().filter_map(Json::as_str);
                    Value::List(texts.map(str::to_owned).collect())
                }
                _ => Value::None,
            },
        );
    }
    Some(site::kind_of(&record))
}

/// The command tree, with kinds of the site if it needs them, and what it reads from the words.
pub(crate) fn typed(words: &[OsString]) -> Option<(clap::Command, clap::ArgMatches)> {
    let mut own = help::command();
    if let Ok(matches) = own.try_get_matches_from_mut(words) {
        return Some((own, matches));
    }
    let mut tree = tree(&fetch(words)?);
    let matches = tree.try_get_matches_from_mut(words).ok()?;
    Some((tree, matches))
}

/// The command tree with the kinds of the site.
fn tree(kinds: &[Kind]) -> clap::Command {
    kinds.iter().fold(help::command(), |tree, kind| {
        let outer = declared()
            .iter()
            .find(|outer| kind.within == Some(&outer.word));
        let top = cli::kind::in_force(outer.unwrap_or(kind), kinds);
        let own = help::described(cli::kind::command(top, kinds), "");
        if tree.find_subcommand(top.command()).is_some() {
            tree.mut_subcommand(top.command(), |_| own)
        } else {
            tree.subcommand(own)
        }
    })
}

fn read(words: &[OsString], kinds: &[Kind]) -> Result<Cli, clap::Error> {
    let mut tree = tree(kinds);
    let mut matches = tree.try_get_matches_from_mut(words)?;
    let word = matches.subcommand_name().unwrap_or_default();
    let own = kinds
        .iter()
        .chain(declared())
        .find(|kind| kind.command() == word);
    let cli = match own.zip(matches.subcommand()) {
        Some((kind, (_, sub))) => cli::kind::read(kind, kinds, sub).and_then(|command| {
            Ok(Cli {
                global: Global::from_arg_matches(&matches)?,
                command: cli::Command::Kind(command),
            })
        }),
        None => Cli::from_arg_matches_mut(&mut matches),
    };
    cli.map_err(|error| error.format(&mut tree))
}
