use std::collections::BTreeSet;

use super::*;

/// Every command of the tree that runs something, with the words down to it.
fn leaves(command: &clap::Command, path: &str, found: &mut BTreeSet<String>) {
    for sub in command.get_subcommands() {
        let path = format!("{path} {}", sub.get_name()).trim_start().to_owned();
        if !sub.is_subcommand_required_set() {
            found.insert(path.clone());
        }
        leaves(sub, &path, found);
    }
}

/// The words of a line, as a shell splits them at blanks and single quotes.
fn split(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (number, part) in line.split('\'').enumerate() {
        if number % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

#[test]
fn every_command_is_in_one_group() {
    let tree = Cli::command();
    let names: Vec<&str> = tree
        .get_subcommands()
        .map(clap::Command::get_name)
        .collect();
    let grouped = GROUPS
        .iter()
        .flat_map(|group| group.everyday.iter().chain(group.more));
    let mut grouped: Vec<&str> = grouped.copied().collect();
    let mut names = names;
    grouped.sort_unstable();
    names.sort_unstable();
    assert_eq!(grouped, names);
}

#[test]
fn the_first_screen_is_one_screen() {
    let text = show(&HelpArgs::default()).unwrap();
    assert!(text.lines().count() <= 45, "{} lines", text.lines().count());
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    let printed = parse(["bank", "--help"].map(Into::into).into_iter()).unwrap_err();
    assert_eq!(printed.to_string().trim_end(), text.trim_end());
}

#[test]
fn every_command_has_examples_that_parse() {
    let mut requested = BTreeSet::new();
    leaves(&Cli::command(), "", &mut requested);
    let known: BTreeSet<String> = examples::ALL
        .iter()
        .map(|(path, _)| (*path).to_owned())
        .collect();
    assert_eq!(known.len(), examples::ALL.len(), "a command is there twice");
    let missing: Vec<&String> = requested.difference(&known).collect();
    let unknown: Vec<&String> = known.difference(&requested).collect();
    assert!(
        missing.is_empty() && unknown.is_empty(),
        "without examples: {missing:?}; no commands: {unknown:?}"
    );
    let mut faults = Vec::new();
    for (path, lines) in examples::ALL {
        for line in *lines {
            let alone = line
                .split(" | ")
                .last()
                .unwrap()
                .split(" < ")
                .next()
                .unwrap();
            if !alone.starts_with(&format!("bank {path}")) {
                faults.push(format!("{line}: of {path}"));
            }
            match parse(split(alone).into_iter().map(Into::into)) {
                Ok(_) => {}
                Err(error) => faults.push(format!("{line}: {error}")),
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_help_of_a_command_has_its_examples_before_its_own_options() {
    let words = ["deposit".to_owned()];
    let text = show(&HelpArgs {
        all: false,
        words: words.to_vec(),
    })
    .unwrap();
    let place = |part: &str| {
        text.find(part)
            .unwrap_or_else(|| panic!("{part} in {text}"))
    };
    assert!(place("Usage: bank deposit") < place("Examples:"));
    assert!(place("Examples:\n  bank deposit") < place("--limit"));
    assert!(place("--limit") < place("Options of every command: bank help options"));
    assert!(!text.contains("--server"), "{text}");
    assert!(options().contains("--server"));
    assert!(options().contains("Exit codes"));
}

#[test]
fn all_commands_are_listed_and_an_unknown_one_is_an_error() {
    let all = show(&HelpArgs {
        all: true,
        words: Vec::new(),
    })
    .unwrap();
    assert!(all.contains("  gen  "), "{all}");
    let unknown = HelpArgs {
        all: false,
        words: vec!["project".into(), "frob".into()],
    };
    let failure = show(&unknown).unwrap_err();
    assert!(
        failure
            .to_string()
            .contains("no command \"bank project frob\""),
        "{failure}"
    );
}
