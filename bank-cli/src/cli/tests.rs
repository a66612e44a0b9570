//! What the command line takes, and what it does not.

use clap::{CommandFactory as _, error::ErrorKind};

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
    let format = |line: &str| parse(line).unwrap().global.format_name();
    assert_eq!(format("bank balance"), None);
    assert_eq!(format("bank balance -O csv"), Some("csv"));
    assert_eq!(format("bank balance -O csv -P"), Some("parsable2"));
    assert_eq!(format("bank --json balance"), Some("json"));
}
