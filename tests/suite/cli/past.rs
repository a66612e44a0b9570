//! `--at` and `--recorded`: everything that people see as it was, through the daemon.

use crate::harness::{Bank, Ran, Setup, T0};

/// Runs a line that succeeds.
#[track_caller]
fn ok(bank: &Bank, line: &str) -> String {
    bank.bank_ok(&line.split_whitespace().collect::<Vec<_>>())
}

fn run(bank: &Bank, line: &str) -> Ran {
    bank.bank(&line.split_whitespace().collect::<Vec<_>>())
}

/// A moment of the first hour.
fn at(minute: i64) -> String {
    format!("--at 2026-01-01T00:{minute:02}:30Z")
}

/// A bank in which something changes each ten minutes.
fn history() -> Bank {
    let bank = Setup::new().chemistry(1000).start();
    bank.set_clock(T0 + 600);
    ok(
        &bank,
        "project add sub --parent chemistry --description first",
    );
    ok(&bank, "user add kim");
    ok(&bank, "project members add sub kim");
    ok(
        &bank,
        "reserve j1 -A chemistry -u amy --procs 1 --wall 0:10:00",
    );
    bank.set_clock(T0 + 1200);
    ok(
        &bank,
        "account set chemistry --priority 7 --description second",
    );
    ok(&bank, "rate set VBR Processors 3");
    ok(&bank, "lien extend 1 --until 2026-01-01T03:00:00Z");
    bank.set_clock(T0 + 1800);
    ok(&bank, "project set sub --parent= --active no");
    ok(&bank, "project members rm sub kim --yes");
    ok(&bank, "user set amy --phone 123");
    ok(&bank, "account rm sub --yes");
    bank.set_clock(T0 + 2400);
    // It ended at 00:25, and is told at 00:40.
    ok(
        &bank,
        "charge j1 --duration 100 --end 2026-01-01T00:25:00Z --interim",
    );
    ok(&bank, "user rm kim --yes");
    bank.set_clock(T0 + 3000);
    bank
}

#[test]
fn what_people_see_is_shown_as_it_was() {
    let mut bank = history();
    // Without what every bank of these tests has.
    let is_own = |line: &&str| {
        let others = [
            "#unbilled",
            "physics",
            "astro",
            "training",
            "freecycle",
            "Zürich",
        ];
        !others.iter().any(|name| line.starts_with(name))
    };
    let shown = |line: &str, minute: i64| -> String {
        let all = ok(&bank, &format!("{line} {}", at(minute)));
        let own: Vec<&str> = all.lines().filter(is_own).collect();
        own.iter().flat_map(|line| [*line, "\n"]).collect()
    };
    for (line, minute, expected) in [
        (
            "project ls -P -n --columns name,parent,active,members",
            5,
            "chemistry||yes|amy\n",
        ),
        (
            "project ls -P -n --columns name,parent,active,members",
            15,
            "chemistry||yes|amy\nsub|chemistry|yes|kim\n",
        ),
        (
            "project ls -P -n --columns name,parent,active,members",
            35,
            "chemistry||yes|amy\nsub||no|\n",
        ),
        (
            "project show sub -P -n --columns name,description",
            15,
            "sub|first\n",
        ),
        ("project members ls sub -P -n --columns user", 15, "kim\n"),
        ("project members ls sub -P -n --columns user", 35, ""),
        ("user show kim -P -n --columns name", 35, "kim\n"),
        ("user show amy -P -n --columns name,phone", 25, "amy|\n"),
        ("user show amy -P -n --columns name,phone", 35, "amy|123\n"),
        (
            "account ls -P -n --columns name,priority",
            15,
            "chemistry|0\nsub|0\n",
        ),
        (
            "account ls -P -n --columns name,priority",
            25,
            "chemistry|7\nsub|0\n",
        ),
        (
            "account ls -P -n --columns name,priority",
            35,
            "chemistry|7\n",
        ),
        (
            "account show chemistry -P -n --columns name,description",
            25,
            "chemistry|second\n",
        ),
        (
            "rate ls -P -n --columns kind,name,rate",
            15,
            "VBR|Processors|1\n",
        ),
        (
            "rate ls -P -n --columns kind,name,rate",
            25,
            "VBR|Processors|3\n",
        ),
        (
            "allocation ls -a chemistry -P -n --columns amount,held",
            5,
            "1000|0\n",
        ),
        (
            "allocation ls -a chemistry -P -n --columns amount,held",
            15,
            "1000|600\n",
        ),
        ("lien ls -P -n --columns id,job,amount,end", 5, ""),
    ] {
        assert_eq!(shown(line, minute), expected, "{line} at {minute}");
    }
    let tree = shown("project tree", 15);
    assert!(tree.contains("\n  sub"), "{tree}");
    bank.verify();
}

#[test]
fn money_counts_when_it_took_effect_or_as_it_was_known() {
    let mut bank = history();
    let columns = "-P -n --columns amount,held";
    let of = |minute: i64, more: &str| {
        let line = format!("allocation ls -a chemistry {columns} {} {more}", at(minute));
        ok(&bank, &line)
    };
    // Told at 00:40, for use that ended at 00:25, at the rate of 00:20.
    let before = ok(
        &bank,
        &format!("allocation ls -a chemistry {columns} {}", at(22)),
    );
    assert_eq!(of(30, "--recorded"), before);
    assert_ne!(of(30, ""), before);
    assert_eq!(of(30, ""), of(45, ""));
    assert_eq!(of(45, ""), of(45, "--recorded"));
    let balance = |more: &str| {
        let line = format!(
            "balance chemistry -P -n --columns amount,held {} {more}",
            at(30)
        );
        ok(&bank, &line)
    };
    assert_eq!(balance("--recorded"), before);
    assert_eq!(balance(""), of(30, ""));
    bank.verify();
}

#[test]
fn liens_are_shown_with_what_they_held_and_their_end_of_then() {
    let bank = history();
    let columns = "-P -n --columns id,job,amount,end,state";
    let list = |minute: i64| ok(&bank, &format!("lien ls {columns} {}", at(minute)));
    assert_eq!(list(15), "1|j1|600|2026-01-01T00:30:00Z|open\n");
    assert_eq!(list(23), "1|j1|600|2026-01-01T03:00:00Z|open\n");
    let show = |minute: i64| ok(&bank, &format!("lien show 1 {columns} {}", at(minute)));
    assert_eq!(show(15), list(15));
    let ran = run(&bank, &format!("lien show 1 {}", at(5)));
    assert_eq!(ran.exit, 4, "{}", ran.stderr);
    let ran = run(&bank, &format!("lien ls --state expired {}", at(5)));
    assert_eq!(ran.exit, 1, "{}", ran.stderr);
}

#[test]
fn a_moment_must_have_passed_and_be_one() {
    let bank = history();
    for (line, exit, expected) in [
        ("account ls --at 2030-01-01", 1, "passed"),
        ("project tree --at whenever", 2, "whenever"),
        ("rate ls --recorded", 2, "--at"),
        ("account show sub --at 2026-01-01T00:05:00Z", 4, "sub"),
        ("allocation show 99 --at 2026-01-01T00:05:00Z", 4, "99"),
    ] {
        let ran = run(&bank, line);
        assert_eq!(ran.exit, exit, "{line}: {}", ran.stderr);
        ran.expect_stderr(&[expected]);
    }
}

/// One unit is a core-second until 00:20, and a core-hour from then on.
#[test]
fn a_unit_means_what_it_meant_then() {
    let bank = Setup::new().chemistry(7200).start();
    bank.set_clock(T0 + 1200);
    ok(&bank, "rate set VBR Processors 1 --per hour");
    bank.set_clock(T0 + 1800);
    for (line, expected) in [
        (
            "balance chemistry --at 2026-01-01T00:10:30Z",
            "core-seconds",
        ),
        ("balance chemistry --at 2026-01-01T00:25:30Z", "core-hours"),
        ("balance chemistry", "core-hours"),
    ] {
        let json = ok(&bank, &format!("{line} --json"));
        let means = format!("\"unit_means\": \"{expected}\"");
        assert!(
            json.replace("\":\"", "\": \"").contains(&means),
            "{line}: {json}"
        );
    }
    let columns = "-P -n --columns amount --units hours";
    for (line, amount) in [
        ("balance chemistry --at 2026-01-01T00:10:30Z", "2.00\n"),
        ("account show chemistry --at 2026-01-01T00:10:30Z", "2.00\n"),
        (
            "allocation ls -a chemistry --at 2026-01-01T00:10:30Z",
            "2.00\n",
        ),
        ("balance chemistry", "7200.00\n"),
    ] {
        let shown = ok(&bank, &format!("{line} {columns}"));
        assert_eq!(shown, amount, "{line}");
    }
}
