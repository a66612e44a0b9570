//! What the command line takes, and what it does not.

use clap::{CommandFactory as _, FromArgMatches as _, error::ErrorKind};

use super::*;

fn parse(line: &str) -> Result<Cli, clap::Error> {
    Cli::try_parse_from(line.split_whitespace())
}

#[test]
fn the_tree_is_sound() {
    Cli::command().debug_assert();
}

#[test]
fn accepted() {
    let lines = [
        "bank balance",
        "bank bal chem chem/gpu --tree --total -P -n",
        "bank -p balance",
        "bank deposit chem 250000 --start 2027-01-01 --end 2028-01-01 --note award --key k1",
        "bank deposit chem -5",
        "bank deposit chem 0.0001 --limit -3 --dry-run",
        "bank withdraw chem 5 --no-credit -i 3",
        "bank quote --procs 64 --wall 12:00:00 --qos high -A chem --gres gpu=2,mic:1 -X Energy=5",
        "bank quote --procs -4 --wall 600",
        "bank jobs 1632 --csv",
        "bank journal --since -30d --kind charge --follow",
        "bank project create chem --members amy,bob",
        "bank proj members rm chem amy --yes",
        "bank fund add x --projects chem,-bio/* --users MEMBERS,-dave --priority -1",
        "bank alloc modify 3 --end infinity",
        "bank rate set VBR Processors 1 --per hour",
        "bank rate set VBM QualityOfService high 1.5",
        "bank rate set VBR Processors -1",
        "bank key add moab --role scheduler --machine ia64 --out moab.key",
        "bank key set moab --active no",
        "bank lien list --state all --columns job,amount --json",
        "bank cycle add m -A chem --every month --amount 1000000 --rollover 20%",
        "bank cycle set m --rollover -1 --active no --every year",
        "bank cycle run m --dry-run",
        "bank what-if --days 7 -A chem -m ia64",
        "bank clock confirm --note slow",
        "bank status -O jsonl --color never -q",
    ];
    for line in lines {
        assert!(parse(line).is_ok(), "{line}");
    }
}

#[test]
fn usage_errors_end_with_2() {
    let lines = [
        "bank deposit chem abc",
        "bank deposit chem 1e3",
        "bank deposit chem 1,000",
        "bank deposit chem .",
        "bank deposit chem",
        "bank withdraw chem 5 --start today",
        "bank deposit chem 5 --key a#b",
        "bank quote --procs many --wall 5",
        "bank quote --gres gpu --wall 5",
        "bank project members add chem",
        "bank frobnicate",
        "bank balance --format xml",
    ];
    for line in lines {
        assert_eq!(parse(line).unwrap_err().exit_code(), 2, "{line}");
    }
    assert_eq!(
        parse("bank --help").unwrap_err().kind(),
        ErrorKind::DisplayHelp
    );
    assert_eq!(parse("bank --help").unwrap_err().exit_code(), 0);
}

#[test]
fn negative_amounts_are_values() {
    let Command::Deposit(args) = parse("bank deposit chem -12.5").unwrap().command else {
        panic!("a deposit");
    };
    assert_eq!(args.amount, "-12.5");
    let Command::Rate(RateCommand::Set(rate)) =
        parse("bank rate set VBM QualityOfService high 1.5")
            .unwrap()
            .command
    else {
        panic!("a rate");
    };
    assert_eq!(rate.words, ["QualityOfService", "high", "1.5"]);
}

#[test]
fn shorthands_win_over_the_long_form() {
    let format = |line: &str| parse(line).unwrap().global.format_name().ok();
    assert_eq!(format("bank balance"), Some(None));
    assert_eq!(format("bank balance -O csv"), Some(Some("csv")));
    assert_eq!(format("bank balance -O csv -P"), Some(Some("parsable2")));
    assert_eq!(format("bank --json balance"), Some(Some("json")));
    assert_eq!(format("bank --json balance --csv"), None);
}

/// An option with the id or the word of a global one is read as the global one too: where their
/// values have different types, the second reading panics.
#[test]
fn an_option_with_the_name_of_a_global_one_has_its_type() {
    fn words(arg: &clap::Arg) -> Vec<String> {
        let long = arg.get_long_and_visible_aliases().unwrap_or_default();
        let short = arg.get_short_and_visible_aliases().unwrap_or_default();
        let long = long.into_iter().map(|word| format!("--{word}"));
        let short = short.into_iter().map(|letter| format!("-{letter}"));
        let id = std::iter::once(arg.get_id().to_string());
        id.chain(long).chain(short).collect()
    }
    fn walk(command: &clap::Command, path: &str, global: &[clap::Arg], clashes: &mut Vec<String>) {
        for sub in command.get_subcommands() {
            let path = format!("{path} {}", sub.get_name());
            for arg in sub.get_arguments() {
                let own = words(arg);
                let clash = global.iter().find(|global| {
                    words(global).iter().any(|word| own.contains(word))
                        && global.get_value_parser().type_id() != arg.get_value_parser().type_id()
                });
                clashes.extend(clash.map(|global| format!("{path}: {}", global.get_id())));
            }
            walk(sub, &path, global, clashes);
        }
    }
    let tree = Cli::command();
    let global = tree.get_arguments().filter(|arg| arg.is_global_set());
    let global: Vec<clap::Arg> = global.cloned().collect();
    let mut clashes = Vec::new();
    walk(&tree, "bank", &global, &mut clashes);
    assert_eq!(clashes, Vec::<String>::new());
}

/// Every option of every command, with values of several kinds: refused or taken, without a panic.
#[test]
fn every_option_of_every_command_parses_without_a_panic() {
    fn values(arg: &clap::Arg) -> Vec<String> {
        let named = arg.get_possible_values();
        if named.is_empty() {
            return ["1", "a", "a=1", "2027-01-01"].map(str::to_owned).to_vec();
        }
        named.iter().map(|v| v.get_name().to_owned()).collect()
    }
    fn written(arg: &clap::Arg, value: &str) -> Vec<String> {
        let takes = arg.get_action().takes_values();
        let word = match (arg.get_long(), arg.get_short()) {
            (Some(long), _) => format!("--{long}"),
            (None, Some(short)) => format!("-{short}"),
            (None, None) => return vec![value.to_owned()],
        };
        std::iter::once(word)
            .chain(takes.then(|| value.to_owned()))
            .collect()
    }
    fn lines(command: &clap::Command, path: &[String], all: &mut Vec<Vec<String>>) {
        let is_own = |arg: &&clap::Arg| path.len() == 1 || !arg.is_global_set();
        for arg in command.get_arguments().filter(is_own) {
            let others = command.get_arguments();
            let others = others.filter(|o| o.is_required_set() && o.get_id() != arg.get_id());
            let others: Vec<&clap::Arg> = others.collect();
            let fillers: &[&str] = if others.is_empty() {
                &["1"]
            } else {
                &["1", "a=1", "2027-01-01"]
            };
            for value in values(arg) {
                for filler in fillers {
                    let mut line = path.to_vec();
                    line.extend(written(arg, &value));
                    for other in &others {
                        let first = values(other).into_iter().next().unwrap_or_default();
                        let is_free = other.get_possible_values().is_empty();
                        line.extend(written(other, if is_free { filler } else { &first }));
                    }
                    all.push(line);
                }
            }
        }
        for sub in command.get_subcommands() {
            let path = [path, &[sub.get_name().to_owned()]].concat();
            lines(sub, &path, all);
        }
    }
    let mut tree = Cli::command();
    tree.build();
    let mut all = Vec::new();
    lines(&tree, &["bank".to_owned()], &mut all);
    // One tree for all lines: making it takes longer than reading a line.
    let mut tree = Cli::command();
    let mut taken = 0;
    for line in all {
        let matches = tree.try_get_matches_from_mut(line);
        taken += usize::from(matches.is_ok_and(|found| Cli::from_arg_matches(&found).is_ok()));
    }
    assert!(taken > 1000, "{taken} lines were taken");
}

/// A kind or a field that a site adds cannot hide a command or an option of the program.
#[test]
fn words_of_the_program_are_reserved() {
    use bank_core::kind::{declared, site};
    let tree = Cli::command();
    let is_kind = |word: &str| declared().iter().any(|kind| kind.word == word);
    let mut missing = Vec::new();
    for command in tree.get_subcommands() {
        let words = command.get_all_aliases().chain([command.get_name()]);
        let words = words.map(|word| word.replace('-', "_"));
        missing.extend(words.filter(|w| !is_kind(w) && !site::RESERVED.contains(&w.as_str())));
    }
    let add = kind::command(&declared()[0], &[]);
    let own = add.get_subcommands().flat_map(clap::Command::get_arguments);
    let options = own.filter(|arg| declared()[0].field(arg.get_id().as_str()).is_none());
    for option in tree.get_arguments().chain(options) {
        let word = option.get_id().as_str().to_owned();
        if !site::RESERVED_FIELDS.contains(&word.as_str()) {
            missing.push(word);
        }
    }
    assert_eq!(missing, Vec::<String>::new());
}
