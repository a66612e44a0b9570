//! Gold's names, letters, tables and exit codes.

use bank_api::error::Problem;

use super::*;
use super::{
    options::read,
    sheet::{money, one, print, text},
};
use crate::gold_tools::TOOLS;

fn given(tool: Tool, line: &str) -> Given {
    read(tool, line.split_whitespace().map(Into::into)).unwrap()
}

#[test]
fn every_command_line_is_sound() {
    for (_, tool) in TOOLS {
        options::command(tool).debug_assert();
    }
}

#[test]
fn letters_are_those_of_gold() {
    for (tool, line) in [
        (
            Tool::Balance,
            "-u amy -p chem -m colony -a 3 -h --total --raw --quiet",
        ),
        (Tool::MyBalance, "-h"),
        (
            Tool::Deposit,
            "-a 1 -z 100 -s 2026-01-01 -e infinity -i 4 -L 5 -d note -h -v",
        ),
        (Tool::Withdraw, "-p chem -z -5"),
        (Tool::Projects, "-A -l --show Name,Users chem"),
        (Tool::Accounts, "-p chem -u amy -m colony -w"),
        (Tool::Allocations, "-a 1 -I --showHidden"),
        (Tool::Reservations, "-J j.1 -A -r 3"),
        (
            Tool::Quote,
            "-p chem -u amy -m colony -P 16 -N 2 -M 5 -D 6 -Q high -C batch -t 3600 --guarantee",
        ),
        (
            Tool::Quote,
            "-T job -S running -X a=b -X c=d -t 5 --costOnly",
        ),
        (Tool::Reserve, "-J j.1 -p chem -q 3 -t 5 --replace"),
        (Tool::Charge, "-J j.1 -p chem -r 3 -q 3 -t 5 --incremental"),
        (Tool::Refund, "-J j.1 -z 5 -a 1"),
        (Tool::Transfer, "--fromAccount 1 --toAccount 2 -z 5"),
    ] {
        let words = line.split_whitespace().map(Into::into);
        assert!(read(tool, words).is_ok(), "{} {line}", tool.name());
    }
    for (tool, line, exit) in [
        (Tool::Deposit, "-a 1 -z abc", 2),
        (Tool::Deposit, "-a 1 -z 1e3", 2),
        (Tool::Balance, "--nonsense", 2),
        (Tool::Quote, "-P many -t 5", 2),
        (Tool::Balance, "-?", 0),
        (Tool::Balance, "--help", 0),
    ] {
        let words = line.split_whitespace().map(Into::into);
        assert_eq!(read(tool, words).unwrap_err().exit_code(), exit, "{line}");
    }
}

fn sample() -> (Vec<sheet::Column>, Vec<Vec<sheet::Cell>>) {
    let columns = vec![text("Id"), text("Name"), money("Amount"), text("Users")];
    let row = |id: &str, name: &str, amount: &str, users: &[&str]| {
        let users = users.iter().map(ToString::to_string).collect();
        vec![one(id), one(name), one(amount), users]
    };
    let rows = vec![
        row("1", "biology", "360000000.000", &["amy", "bob"]),
        row("12", "chem", "-1800.000", &[]),
    ];
    (columns, rows)
}

#[test]
fn tables_have_a_dashed_underline() {
    let (columns, rows) = sample();
    let shown = |line: &str| print(&given(Tool::Accounts, line), &columns, &rows).unwrap();
    assert_eq!(
        shown(""),
        "\
Id Name    Amount        Users
-- ------- ------------- -------
1  biology 360000000.000 amy,bob
12 chem    -1800.000
"
    );
    assert_eq!(
        shown("-l -h"),
        "\
Id Name    Amount    Users
-- ------- --------- -----
1  biology 100000.00 amy
                     bob
12 chem    -0.50
"
    );
    assert_eq!(shown("--raw --show name,ID"), "biology|1\nchem|12\n");
    assert_eq!(shown("--quiet --show Id"), "1\n12\n");
    let odd = print(&given(Tool::Accounts, "--show Nonsense"), &columns, &rows);
    assert_eq!(odd.unwrap_err().exit, 2);
}

#[test]
fn exit_codes_are_golds() {
    let of = |code: &str| message::exit(&Failure::problem(Problem::new(code, "x")));
    for (code, exit) in [
        ("insufficient_funds", 78),
        ("account_blocked", 78),
        ("not_found", 74),
        ("bad_amount", 74),
        ("not_a_member", 74),
        ("missing_field", 31),
        ("not_allowed", 44),
        ("unauthorized", 42),
        ("busy", 72),
    ] {
        assert_eq!(of(code), exit, "{code}");
    }
    assert_eq!(message::exit(&Failure::unreachable("gone")), 22);
    assert_eq!(message::exit(&Failure::usage("odd")), 2);
}

#[test]
fn a_lack_of_money_has_the_message_of_gold() {
    let mut problem = Problem::new("insufficient_funds", "x");
    problem.needed = Some("7200".to_owned());
    problem.available = Some("100".to_owned());
    let failure = Failure::problem(problem);
    let answer_text = |tool, line: &str| message::failed(tool, &given(tool, line), &failure);
    assert_eq!(
        answer_text(Tool::Reserve, "-J j.1 -t 7200"),
        "greserve: Insufficient balance to reserve job j.1 (needed 7200, available 100)"
    );
    assert_eq!(
        answer_text(Tool::Withdraw, "1 7200"),
        "gwithdraw: Insufficient balance to withdraw (needed 7200, available 100)"
    );
}
