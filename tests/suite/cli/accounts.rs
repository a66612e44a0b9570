//! Accounts at a terminal: lists of every kind, accounts below accounts, shares and overflow, and
//! what is refused.

use crate::harness::{Bank, Ran, Setup, amount};

fn refused_with(ran: &Ran, exit: i32, parts: &[&str]) {
    assert_eq!(ran.exit, exit, "{}{}", ran.stdout, ran.stderr);
    ran.expect_stderr(parts);
    assert!(
        ran.stderr.starts_with("bank: ") || exit == 2,
        "{}",
        ran.stderr
    );
}

fn column(bank: &mut Bank, account: &str, column: &str) -> String {
    let output = bank.bank_ok(&["account", "show", account, "-P", "-n", "--columns", column]);
    output.trim_end().to_owned()
}

#[test]
fn lists_of_every_kind_are_set_shown_and_tested() {
    let mut bank = Bank::new();
    bank.bank_ok(&[
        "fund",
        "set",
        "chemistry",
        "--classes",
        "batch,-debug",
        "--qos=-high",
        "-X",
        "Zone=Asia",
    ]);
    let lists = column(&mut bank, "chemistry", "constraints");
    assert_eq!(lists, "class=batch,-debug qos=-high zone=Asia");
    let quote = |bank: &mut Bank, more: &[&str]| {
        let ask = [
            "quote",
            "-A",
            "chemistry",
            "-u",
            "amy",
            "-m",
            "colony",
            "--procs",
            "1",
            "--wall",
            "10",
        ];
        bank.bank(&[&ask[..], more].concat()).exit
    };
    assert_eq!(quote(&mut bank, &[]), 1);
    assert_eq!(
        quote(&mut bank, &["--class", "batch", "-X", "Zone=Asia"]),
        0
    );
    let high = ["--class", "batch", "-X", "zone=Asia", "--qos", "high"];
    assert_eq!(quote(&mut bank, &high), 1);
    // What is not named stays; what is empty goes.
    bank.bank_ok(&[
        "account",
        "set",
        "chemistry",
        "--classes",
        "",
        "-X",
        "zone=",
    ]);
    assert_eq!(column(&mut bank, "chemistry", "constraints"), "qos=-high");
    assert_eq!(quote(&mut bank, &[]), 0);
    bank.bank_ok(&["account", "set", "chemistry", "--groups", "staff"]);
    assert_eq!(quote(&mut bank, &[]), 1);
    assert_eq!(quote(&mut bank, &["--group", "staff"]), 0);
    bank.stop();
    bank.start();
    let lists = column(&mut bank, "chemistry", "constraints");
    assert_eq!(lists, "group=staff qos=-high", "they are in the database");
    bank.verify();
}

#[test]
fn organizations_and_member_machines_are_properties_of_projects() {
    let mut bank = Bank::new();
    bank.bank_ok(&["user", "set", "amy", "--organization", "uni"]);
    bank.bank_ok(&["project", "set", "chemistry", "--machines", "colony"]);
    let lists = ["--organizations", "uni", "--machines", "MEMBERS"];
    bank.bank_ok(&[&["account", "set", "chemistry"][..], &lists].concat());
    let quote = |bank: &mut Bank| {
        let ask = ["quote", "-A", "chemistry", "-u", "amy", "-m", "colony"];
        bank.bank(&[&ask[..], &["--procs", "1", "--wall", "10"]].concat())
            .exit
    };
    assert_eq!(quote(&mut bank), 0);
    let shown = bank.bank_ok(&["project", "show", "chemistry", "--json"]);
    assert!(
        shown.contains("\"machines\": [\n    \"colony\"\n  ]"),
        "{shown}"
    );
    bank.bank_ok(&["project", "add", "chemistry/lab", "--parent", "chemistry"]);
    let columns = ["--columns", "name,active"];
    let tree = bank.bank_ok(&[&["project", "tree", "chemistry"][..], &columns].concat());
    let names: Vec<&str> = tree
        .lines()
        .skip(1)
        .map(|l| &l[..l.find(" yes").unwrap()])
        .collect();
    assert_eq!(
        names.first().map(|n| n.trim_end()),
        Some("chemistry"),
        "{tree}"
    );
    assert_eq!(
        names.get(1).map(|n| n.trim_end()),
        Some("  chemistry/lab"),
        "{tree}"
    );
    bank.bank_ok(&["project", "set", "chemistry", "--machines", ""]);
    assert_eq!(quote(&mut bank), 1);
    let organized = [
        "project",
        "set",
        "chemistry",
        "--machines",
        "colony",
        "--organization",
        "uni",
    ];
    bank.bank_ok(&organized);
    bank.bank_ok(&["user", "set", "amy", "--organization", ""]);
    assert_eq!(quote(&mut bank), 0);
    bank.bank_ok(&["project", "set", "chemistry", "--organization", "other"]);
    assert_eq!(quote(&mut bank), 1);
    bank.verify();
}

#[test]
fn a_deposit_into_a_tree_shows_where_it_went() {
    let mut bank = Setup::new().chemistry(1000).start();
    for (name, share) in [("east", "33"), ("west", "33")] {
        let place = ["--parent", "chemistry", "--share", share, "--overflow"];
        let lists = ["--projects", "chemistry", "--users", "MEMBERS"];
        bank.bank_ok(&[&["account", "add", name][..], &place, &lists].concat());
    }
    let dry = bank.bank_ok(&["deposit", "chemistry", "101", "--dry-run"]);
    assert!(dry.contains("33 to east as a new allocation"), "{dry}");
    let output = bank.bank_ok(&["deposit", "chemistry", "101"]);
    for part in [
        "101",
        ": 33 to east as allocation ",
        ", 33 to west as ",
        ", 35 to chemistry in ",
    ] {
        assert!(output.contains(part), "no {part:?} in {output}");
    }
    let json = bank.bank_ok(&["deposit", "chemistry", "10", "--no-tree", "--json"]);
    assert!(!json.contains("parts"), "{json}");
    assert_eq!(amount(&bank.account("east"), "amount"), 33);
    assert_eq!(amount(&bank.account("chemistry"), "amount"), 1045);
    let rows = bank.bank_ok(&[
        "account",
        "ls",
        "-P",
        "-n",
        "--columns",
        "name,parent,share,overflow",
    ]);
    assert!(rows.contains("west|chemistry|33|yes"), "{rows}");
    let screen = bank.bank_ok(&["account", "ls"]);
    assert!(
        screen.contains("Share") && screen.contains("Overflow"),
        "{screen}"
    );
    bank.stop();
    bank.start();
    bank.bank_ok(&["account", "set", "west", "--no-parent"]);
    assert_eq!(column(&mut bank, "west", "parent"), "");
    assert_eq!(column(&mut bank, "east", "overflow"), "yes");
    bank.verify();
}

/// A project below another: its account overflows into one that only the project above may spend from. If
/// it is short, the refusal names the command that lets it pay, and the command works.
#[test]
fn an_overflow_that_lists_hold_back_names_the_other_one() {
    let mut bank = Setup::new().chemistry(1000).start();
    bank.bank_ok(&["project", "add", "organic", "--parent", "chemistry"]);
    bank.bank_ok(&["project", "members", "add", "organic", "amy"]);
    bank.bank_ok(&[
        "account",
        "set",
        "organic",
        "--parent",
        "chemistry",
        "--overflow",
    ]);
    bank.bank_ok(&["deposit", "organic", "10"]);
    let hint = "bank account set organic --overflow-any";
    let of = [
        "-A", "organic", "-u", "amy", "-m", "colony", "--procs", "1", "--wall", "100",
    ];
    let quote = [&["quote"][..], &of].concat();
    let reserve = [&["reserve", "j1"][..], &of].concat();
    for command in [&quote, &reserve] {
        let ran = bank.bank(command);
        assert_eq!(ran.exit, 3, "{}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains(hint), "{}", ran.stderr);
    }
    bank.bank_ok(&["account", "set", "organic", "--overflow-any"]);
    for command in [&quote, &reserve] {
        bank.bank_ok(command);
    }
    bank.verify();
}

#[test]
fn what_makes_no_tree_is_refused_in_one_line() {
    let mut bank = Bank::new();
    bank.bank_ok(&[
        "account",
        "add",
        "a",
        "--parent",
        "chemistry",
        "--share",
        "60",
    ]);
    bank.bank_ok(&["account", "add", "b", "--parent", "a", "--overflow-any"]);
    let before = bank.transactions();
    for (arguments, exit, parts) in [
        (
            &[
                "account",
                "set",
                "b",
                "--parent",
                "chemistry",
                "--share",
                "41",
            ][..],
            1,
            &["refused", "chemistry", "101 percent"][..],
        ),
        (
            &["account", "set", "chemistry", "--parent", "b"],
            1,
            &["refused", "cannot be its own parent or ancestor"],
        ),
        (
            &["account", "set", "a", "--parent", "a"],
            1,
            &["its own parent"],
        ),
        (&["account", "set", "a", "--share", "-1"], 1, &["share"]),
        (
            &["account", "set", "chemistry", "--share", "5"],
            1,
            &["parent"],
        ),
        (
            &["account", "set", "a", "--overflow=perhaps"],
            2,
            &["perhaps"],
        ),
        (&["account", "set", "a", "-X", "zone"], 2, &["NAME=A,B"]),
        (
            &["account", "set", "a", "--classes", "MEMBERS"],
            1,
            &["refused"],
        ),
        (
            &["account", "set", "a", "--no-parent", "--share", "3"],
            2,
            &[],
        ),
        (&["account", "rm", "chemistry", "--yes"], 1, &["refused"]),
        (&["account", "rm", "a", "--yes"], 1, &["account b below it"]),
        (
            &["project", "set", "chemistry", "--machines", "nowhere"],
            4,
            &["nowhere"],
        ),
        (&["machine", "add", "ANY"], 1, &["refused"]),
        (&["project", "add", "MEMBERS"], 1, &["refused"]),
    ] {
        let ran = bank.bank(arguments);
        refused_with(&ran, exit, parts);
        assert_eq!(ran.stdout, "", "{arguments:?}");
    }
    assert_eq!(bank.transactions(), before, "nothing of it is written");
    bank.verify();
}

#[test]
fn the_settings_of_selection_reach_the_rules() {
    let mut bank = Setup::new()
        .chemistry(10)
        .env("BANKD_LEDGER_SELECTION_ORDER", "hierarchy-first")
        .env("BANKD_LEDGER_DISCRETE_ALLOCATIONS", "true")
        .env("BANKD_LEDGER_LIEN_REQUIRE_COVER", "true")
        .start();
    let lists = ["--projects", "chemistry", "--users", "MEMBERS"];
    bank.bank_ok(&[&["account", "add", "top"][..], &lists].concat());
    bank.bank_ok(&[
        "account",
        "set",
        "chemistry",
        "--parent",
        "top",
        "--overflow",
    ]);
    bank.bank_ok(&["deposit", "top", "100", "--no-tree", "--end", "2027-01-01"]);
    let twice = bank.bank(&["deposit", "top", "1", "--end", "2026-12-01"]);
    refused_with(&twice, 1, &["usable at the same time"]);
    let ask = ["quote", "-A", "chemistry", "-u", "amy", "-m", "colony"];
    let quote = |bank: &mut Bank, wall: &str| {
        bank.bank(&[&ask[..], &["--procs", "1", "--wall", wall, "--json"]].concat())
    };
    let near = quote(&mut bank, "50");
    assert!(
        near.stdout.contains("\"account\": \"chemistry\""),
        "{}",
        near.stdout
    );
    assert!(
        near.stdout.contains("\"available\": \"110\""),
        "{}",
        near.stdout
    );
    bank.bank_ok(&["account", "set", "top", "--discrete"]);
    assert_eq!(column(&mut bank, "top", "discrete"), "yes");
    bank.bank_ok(&["account", "set", "top", "--discrete=no"]);
    bank.verify();
}

#[test]
fn users_and_machines_have_particulars() {
    let mut bank = Bank::new();
    let site = ["--arch", "x86_64", "--opsys", "Linux"];
    bank.bank_ok(&[&["machine", "add", "blue"][..], &site].concat());
    bank.bank_ok(&[
        "user",
        "add",
        "dan",
        "--phone",
        "+49 30 1",
        "--description",
        "guest",
    ]);
    bank.bank_ok(&["user", "set", "amy", "--phone", "2"]);
    bank.bank_ok(&["machine", "set", "colony", "--opsys", "Solaris"]);
    let columns = ["-P", "-n", "--columns"];
    let user =
        |name, what| bank.bank_ok(&[&["user", "show", name][..], &columns, &[what]].concat());
    assert_eq!(user("dan", "phone,description"), "+49 30 1|guest\n");
    assert_eq!(user("amy", "phone,description"), "2|\n");
    let machines = ["name,active,architecture,operating_system,description"];
    let machines = bank.bank_ok(&[&["machine", "ls"][..], &columns, &machines].concat());
    assert_eq!(machines, "blue|yes|x86_64|Linux|\ncolony|yes||Solaris|\n");
    let screen = bank.bank_ok(&["machine", "ls"]);
    assert!(screen.contains("Architecture"), "{screen}");
    bank.bank_ok(&["user", "set", "dan", "--phone", "", "--description", ""]);
    bank.stop();
    bank.start();
    let user =
        |name, what| bank.bank_ok(&[&["user", "show", name][..], &columns, &[what]].concat());
    assert_eq!(user("dan", "phone,description"), "|\n");
    assert_eq!(user("amy", "phone"), "2\n");
    bank.verify();
}

/// An allocation that is named beside an account is one of it: the answer names both.
#[test]
fn an_allocation_of_another_account_is_not_taken() {
    let mut bank = Bank::new();
    let other = bank.items(&["allocation", "ls", "-a", "physics"]);
    let id = other[0]["id"].to_string();
    for command in ["deposit", "withdraw"] {
        let ran = bank.bank(&[command, "chemistry", "5", "-i", &id]);
        refused_with(
            &ran,
            4,
            &[&format!("account \"chemistry\" has no allocation {id}")],
        );
    }
    bank.verify();
}
